//! An entry of the log.

use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

/// An entry of the log.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Event)]
pub(crate) struct LogEntry {
    /// Its id.
    event_id: String,
    /// Its place in the log.
    pub(crate) position: Option<u64>,
    /// The run that it is about.
    run_id: String,
    /// What it is called.
    #[serde(rename = "type")]
    name: String,
    /// Who says it.
    source: String,
    /// When it happened.
    #[schema(format = DateTime)]
    time: String,
    /// What it says.
    #[schema(value_type = Object)]
    data: Value,
    /// The event that led to it.
    #[serde(skip_serializing_if = "Option::is_none")]
    causation_id: Option<String>,
}

impl From<trueup_events::Event> for LogEntry {
    fn from(event: trueup_events::Event) -> Self {
        Self {
            event_id: event.event_id.to_string(),
            position: event.position,
            run_id: event.run_id.to_string(),
            name: event.name.as_str().to_owned(),
            source: event.source,
            time: event.time.to_string(),
            data: event.data,
            causation_id: event.causation_id.map(|id| id.to_string()),
        }
    }
}
