//! The envelope in which workers and tools elsewhere report events, with its aliases and lax ids.

mod answer;
mod batch;
mod fields;
mod status;

use std::collections::BTreeMap;

use serde_json::{Value, json};

pub use answer::{Accepted, BatchAccepted};
pub use batch::read_batch;

use self::fields::Fields;
use crate::event::{Details, Event, Status};
use crate::id::{RunId, TenantId};
use crate::mask::{mask, mask_members};
use crate::payload::Payload;
use crate::problem::Problem;
use crate::snowflake::EventId;
use crate::time::Time;
use crate::vocabulary::{EventName, Kind};

/// One event as a producer reports it, read and checked.
#[derive(Debug, Clone, PartialEq)]
pub struct Envelope {
    /// The run, or the execution that something else started.
    pub execution_id: RunId,
    /// What it is called.
    pub event_type: EventName,
    /// What it says.
    pub payload: Value,
    /// What it says about itself.
    pub details: Details,
    /// The producer's id of it.
    pub event_id: Option<EventId>,
    /// When it happened, if the producer says so.
    pub created_at: Option<Time>,
}

/// Reads one event from the body of a request.
pub fn read(body: &[u8]) -> Result<Envelope, Problem> {
    Envelope::from_json(parse(body)?)
}

fn parse(body: &[u8]) -> Result<Value, Problem> {
    serde_json::from_slice(body).map_err(|error| Problem::new(400, format!("the body is not JSON: {error}")))
}

impl Envelope {
    /// Reads one event, whichever of its names the fields have.
    pub fn from_json(value: Value) -> Result<Self, Problem> {
        let Value::Object(members) = value else {
            return Err(Problem::new(422, "an event must be an object"));
        };
        let mut fields = Fields::new(members);
        let execution_id = fields.required("execution_id", RunId::from_json)?;
        let step = fields.required_text("step", "node_name")?;
        let event_type = fields.event_type()?;
        let payload = fields.take("payload", "context")?.unwrap_or_else(|| json!({}));
        check(execution_id, &event_type, &payload)?;
        let event_id = fields.optional("event_id", EventId::from_json)?;
        let created_at = fields.time("created_at")?;
        let status = fields.optional("status", status::read)?;
        let details = Details {
            step,
            status: status.unwrap_or_else(|| Status::of_name(event_type.as_str())),
            worker_id: fields.optional_text("worker_id")?,
            result: fields.result()?,
            actionable: fields.flag("actionable")?,
            informative: fields.flag("informative")?,
            meta: fields.into_meta()?,
        };
        Ok(Self { execution_id, event_type, payload, details, event_id, created_at })
    }

    /// Writes it as it is best sent: by the first name of each field, with ids as text.
    pub fn to_json(&self) -> Value {
        let Ok(Value::Object(mut members)) = serde_json::to_value(&self.details) else {
            unreachable!("details are an object of text, truth values and JSON");
        };
        members.insert("execution_id".to_owned(), json!(self.execution_id));
        members.insert("event_type".to_owned(), json!(self.event_type));
        members.insert("payload".to_owned(), self.payload.clone());
        members.extend(self.event_id.map(|id| ("event_id".to_owned(), json!(id))));
        members.extend(self.created_at.as_ref().map(|time| ("created_at".to_owned(), json!(time))));
        Value::Object(members)
    }

    /// Makes it an event of the log, with its secrets masked.
    ///
    /// The id and the time are taken where the producer gave none; the source says who reports.
    pub fn into_event(mut self, tenant_id: TenantId, id: EventId, now: Time, source: &str) -> Event {
        mask(&mut self.payload);
        mask_members(&mut self.details.meta);
        Event {
            event_id: self.event_id.unwrap_or(id),
            position: None,
            tenant_id,
            run_id: self.execution_id,
            name: self.event_type,
            source: source.to_owned(),
            stamped_here: self.created_at.is_none(),
            time: self.created_at.unwrap_or(now),
            data: self.payload,
            causation_id: None,
            traceparent: None,
            extensions: BTreeMap::new(),
            details: Some(Box::new(self.details)),
            mark: None,
        }
    }
}

/// Holds the payload of a type of ours against what that type says.
///
/// Other systems call their events `execution.…` too; only for runs of ours are those the ones between executor and worker.
fn check(execution_id: RunId, name: &EventName, payload: &Value) -> Result<(), Problem> {
    let is_observed = matches!(execution_id, RunId::Number(_));
    let ours = name.event_type().filter(|event_type| !(is_observed && event_type.kind() == Kind::Execution));
    let Some(event_type) = ours else { return Ok(()) };
    Payload::read(event_type, payload)
        .map_err(|error| Problem::of_field("payload", format!("is {error}")))?;
    match payload.get("run_id").map(RunId::from_json) {
        Some(named) if named != Ok(execution_id) => {
            Err(Problem::of_field("payload", "has a run_id that is not the execution_id"))
        }
        _ => Ok(()),
    }
}
