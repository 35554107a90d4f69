//! What is said to whoever sent events that were taken.

use serde::Serialize;

use crate::snowflake::EventId;

/// The answer to one event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Accepted {
    status: &'static str,
    /// Its id in the log: the producer's, or ours where there was none.
    pub event_id: EventId,
    /// How many commands it led to.
    pub commands_generated: u64,
}

impl Accepted {
    /// Says that an event is on stable storage.
    pub fn new(event_id: EventId) -> Self {
        Self { status: "ok", event_id, commands_generated: 0 }
    }
}

/// The answer to a batch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct BatchAccepted {
    status: &'static str,
    /// The ids in the log, in the order of the batch.
    pub event_ids: Vec<EventId>,
    /// How many commands they led to.
    pub commands_generated: u64,
}

impl BatchAccepted {
    /// Says that the events are on stable storage.
    pub fn new(event_ids: Vec<EventId>) -> Self {
        Self { status: "ok", event_ids, commands_generated: 0 }
    }
}
