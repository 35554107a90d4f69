//! The one list of the types of events: each name, who says it, what it is for, and what its payload is.

use std::fmt;

use serde::de::{Deserialize, DeserializeOwned, Deserializer};
use serde::{Serialize, Serializer};
use serde_json::Value;

use crate::comparison::Completed as ComparisonCompleted;
use crate::payload::{
    CancelRequested, Cancelled, ComparisonErrored, ComparisonStarted, Completed, Errored, ExecutionCompleted,
    ExecutionRequested, ExecutionScheduled, ExecutionStatusChanged, ExtractionCompleted, ExtractionErrored,
    ExtractionStarted, Finalised, PayloadError, QueueErrored, Queued, RowsProcessed, StageCompleted,
    StageErrored, StageStarted, Triggered,
};
use crate::word::words;

/// What stands before a name in the `type` of a CloudEvent, unless configured otherwise.
pub const PREFIX: &str = "io.datarecs.reconciliation.";

/// Prefixes that are read beside the configured one.
const PREFIXES: [&str; 3] = [PREFIX, "com.datarecs.reconciliation.", "reconciliation."];

words! {
    /// Who says an event.
    Origin {
        /// The server, before the hand-off and at the end.
        Core = "core",
        /// The worker side, from the hand-off on.
        Worker = "worker",
    }
}

words! {
    /// What an event is for.
    Kind {
        /// Says what became of a run; others build on it.
        Platform = "platform",
        /// As platform, and kept for the record of who did what.
        Audit = "platform (audit)",
        /// Reports how an attempt ended; the completion step answers it.
        Infrastructure = "infrastructure",
        /// Tells how far an attempt has come; changes nothing.
        Progress = "progress",
        /// Passes between executor and worker; safe to receive twice.
        Execution = "execution",
    }
}

macro_rules! vocabulary {
    ($($variant:ident = $name:literal $origin:ident $kind:ident, $doc:literal;)*) => {
        /// The type of an event.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum EventType {
            $(#[doc = $doc] $variant,)*
        }

        impl EventType {
            /// Every type there is.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            /// Its one name, without a prefix.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// Who says it.
            pub const fn origin(self) -> Origin {
                match self { $(Self::$variant => Origin::$origin,)* }
            }

            /// What it is for.
            pub const fn kind(self) -> Kind {
                match self { $(Self::$variant => Kind::$kind,)* }
            }
        }

        /// What an event of a type says beyond the ids.
        #[derive(Debug, Clone, PartialEq, Serialize)]
        #[serde(untagged)]
        pub enum Payload {
            $(#[doc = $doc] $variant($variant),)*
        }

        impl Payload {
            /// The type of the event that it is the payload of.
            pub const fn event_type(&self) -> EventType {
                match self { $(Self::$variant(_) => EventType::$variant,)* }
            }

            /// Reads the payload of a type; fields that it does not know are left alone.
            pub fn read(event_type: EventType, data: &Value) -> Result<Self, PayloadError> {
                match event_type {
                    $(EventType::$variant => fields(event_type, data).map(Self::$variant),)*
                }
            }
        }

        $(impl From<$variant> for Payload {
            fn from(payload: $variant) -> Self {
                Self::$variant(payload)
            }
        })*
    };
}

vocabulary! {
    Triggered = "run.triggered" Core Platform, "Somebody or a schedule asked for a run.";
    Queued = "run.queued" Core Platform, "An engine has taken the run.";
    QueueErrored = "run.queue_errored" Core Platform, "An attempt to submit the run failed.";
    CancelRequested = "run.cancel_requested" Core Audit, "Somebody asked for the run to be cancelled.";
    Cancelled = "run.cancelled" Core Platform, "A cancel took effect; the run is over.";
    Completed = "run.completed" Worker Infrastructure, "The attempt compared.";
    Errored = "run.errored" Worker Infrastructure, "The attempt could not run to its end.";
    Finalised = "run.finalised" Core Platform, "The run is over, and its outcome can be read.";
    RowsProcessed = "run.rows_processed" Worker Progress, "So many rows of a stage are done.";
    ExtractionStarted = "run.extraction.started" Worker Progress, "A source is being read.";
    ExtractionCompleted = "run.extraction.completed" Worker Progress, "A source was read whole.";
    ExtractionErrored = "run.extraction.errored" Worker Progress, "A source could not be read whole.";
    ComparisonStarted = "run.comparison.started" Worker Progress, "The sources are being compared.";
    ComparisonCompleted = "run.comparison.completed" Worker Progress, "The sources were compared.";
    ComparisonErrored = "run.comparison.errored" Worker Progress, "The sources could not be compared.";
    StageStarted = "run.stage.started" Worker Progress, "A stage of the job began.";
    StageCompleted = "run.stage.completed" Worker Progress, "A stage of the job has a result.";
    StageErrored = "run.stage.errored" Worker Progress, "A stage of the job could not run to its end.";
    ExecutionRequested = "execution.requested" Core Execution, "The intent to run is committed.";
    ExecutionScheduled = "execution.scheduled" Core Execution, "The run is handed to the worker side.";
    ExecutionStatusChanged = "execution.status_changed" Worker Execution, "The run changed after the hand-off.";
    ExecutionCompleted = "execution.completed" Worker Execution, "The run is over: its slot is free.";
}

fn fields<T: DeserializeOwned>(event_type: EventType, data: &Value) -> Result<T, PayloadError> {
    // By reference, so that the fields of a large payload are not copied first.
    T::deserialize(data).map_err(|error| PayloadError { event_type, problem: error.to_string() })
}

impl EventType {
    /// Reads a name, bare or with a prefix that is read by default.
    pub fn parse(text: &str) -> Option<Self> {
        Self::parse_with(PREFIX, text)
    }

    /// Reads a name, bare, with the configured prefix, or with one that is read by default.
    pub fn parse_with(prefix: &str, text: &str) -> Option<Self> {
        let stripped = std::iter::once(prefix).chain(PREFIXES).find_map(|prefix| text.strip_prefix(prefix));
        let name = stripped.unwrap_or(text);
        Self::ALL.iter().copied().find(|event_type| event_type.name() == name)
    }
}

impl fmt::Display for EventType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What an event is called: one of our types, or whatever a producer elsewhere says.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum EventName {
    /// A type of ours; its payload is checked.
    Ours(EventType),
    /// Any other text.
    Foreign(String),
}

impl EventName {
    /// The type, if it is one of ours.
    pub fn event_type(&self) -> Option<EventType> {
        match self {
            Self::Ours(event_type) => Some(*event_type),
            Self::Foreign(_) => None,
        }
    }

    /// The name without a prefix, as the log holds it.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Ours(event_type) => event_type.name(),
            Self::Foreign(name) => name,
        }
    }
}

impl From<EventType> for EventName {
    fn from(event_type: EventType) -> Self {
        Self::Ours(event_type)
    }
}

impl From<&str> for EventName {
    fn from(text: &str) -> Self {
        EventType::parse(text).map_or_else(|| Self::Foreign(text.to_owned()), Self::Ours)
    }
}

impl fmt::Display for EventName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for EventName {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for EventName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(|text| text.as_str().into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_read_with_and_without_a_prefix() {
        for event_type in EventType::ALL {
            for prefix in ["", "reconciliation.", "com.datarecs.reconciliation.", PREFIX, "org.acme."] {
                let text = format!("{prefix}{event_type}");
                assert_eq!(EventType::parse_with("org.acme.", &text), Some(*event_type), "{text}");
            }
            assert_eq!(EventType::parse(&format!("org.acme.{event_type}")), None);
        }
    }

    #[test]
    fn other_names_are_foreign() {
        for text in
            ["", "step.enter", "Run.completed", "run.completed ", "reconciliation.", "x.run.completed"]
        {
            assert_eq!(EventName::from(text), EventName::Foreign(text.to_owned()));
        }
    }
}
