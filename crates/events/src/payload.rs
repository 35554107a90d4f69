//! What events of each type say beyond the ids.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::comparison::Tolerance;
use crate::id::{JobId, RunId, TenantId};
use crate::outcome::{Outcome, RunError, Verdict};
use crate::vocabulary::EventType;
pub use crate::vocabulary::Payload;
use crate::word::words;

/// A payload that is not what its type says.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not the payload of {event_type}: {problem}")]
pub struct PayloadError {
    /// The type whose payload it should be.
    pub event_type: EventType,
    /// What is wrong with it; it names the field.
    pub problem: String,
}

/// The ids that every payload of ours carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Ids {
    /// The run.
    pub run_id: RunId,
    /// Its job.
    pub job_id: JobId,
    /// Whose it is.
    pub tenant_id: TenantId,
}

impl Payload {
    /// The `data` of an event: the ids and the payload, side by side.
    pub fn data(&self, ids: &Ids) -> Value {
        let mut data = object(ids);
        data.extend(object(self));
        Value::Object(data)
    }
}

/// The fields of something that is known to have some.
fn object(of: &impl Serialize) -> Map<String, Value> {
    match serde_json::to_value(of) {
        Ok(Value::Object(fields)) => fields,
        other => unreachable!("a payload is an object of text, numbers and lists, not {other:?}"),
    }
}

words! {
    /// How a run came to be.
    Mode {
        /// Somebody asked for it.
        Immediate = "IMMEDIATE",
        /// Its time had come.
        Scheduled = "SCHEDULED",
    }
}

/// See [`EventType::Triggered`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Triggered {
    /// How the run came to be.
    pub mode: Mode,
    /// The id of a user, or `scheduled`.
    pub triggered_by: String,
}

/// See [`EventType::Queued`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Queued {
    /// What the engine knows the run by.
    pub workflow_name: String,
    /// The same once more, when the engine is Argo.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub argo_workflow_name: Option<String>,
}

/// See [`EventType::QueueErrored`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct QueueErrored {
    /// What the engine said.
    pub reason: String,
    /// Which attempt to submit it was, from 1; older producers leave it out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attempt: Option<u32>,
}

/// See [`EventType::CancelRequested`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CancelRequested {
    /// The id of a user, or what did it.
    pub cancelled_by: String,
    /// Why.
    #[serde(default)]
    pub reason: String,
}

/// See [`EventType::Cancelled`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cancelled {
    /// The id of a user, or what did it.
    pub cancelled_by: String,
    /// Why.
    #[serde(default)]
    pub reason: String,
}

/// See [`EventType::Completed`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Completed {
    /// What the engine knows the run by.
    pub workflow_name: String,
    /// What the comparison found.
    pub result: Verdict,
}

/// See [`EventType::Errored`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Errored {
    /// What the engine knows the run by.
    pub workflow_name: String,
    /// Why there is no verdict.
    pub error: RunError,
}

/// See [`EventType::Finalised`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finalised {
    /// How the run ended.
    #[serde(flatten)]
    pub outcome: Outcome,
}

/// See [`EventType::RowsProcessed`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RowsProcessed {
    /// The stage of the job.
    pub stage_name: String,
    /// Rows that are done.
    pub row_count: u64,
    /// Those of them that differ.
    pub mismatch_count: u64,
    /// What is being read before the stage can begin.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reading: Option<Reading>,
}

/// How far a source is whose rows are kept before any of them is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reading {
    /// The number of the source, from 0.
    pub extraction_index: u32,
    /// Rows that a database has delivered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows_read: Option<u64>,
    /// Bytes that a store has sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes_read: Option<u64>,
    /// Bytes that it is to send.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes_expected: Option<u64>,
}

/// Why a part of an attempt failed; the codes are open, unlike those of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PhaseError {
    /// Such as `QUERY_FAILED` or `COMPARISON_FAILED`.
    pub code: String,
    /// What happened, for a person.
    pub message: String,
}

/// See [`EventType::ExtractionStarted`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExtractionStarted {
    /// The number of the source, from 0.
    pub extraction_index: u32,
    /// Such as `postgres` or `csv`.
    pub connection_type: String,
    /// The name of the source; older producers leave it out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source_name: Option<String>,
}

/// See [`EventType::ExtractionCompleted`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExtractionCompleted {
    /// The number of the source, from 0.
    pub extraction_index: u32,
    /// Rows that were read.
    pub rows_extracted: u64,
}

/// See [`EventType::ExtractionErrored`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExtractionErrored {
    /// The number of the source, from 0.
    pub extraction_index: u32,
    /// Why it could not be read whole.
    pub error: PhaseError,
}

/// See [`EventType::ComparisonStarted`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ComparisonStarted {
    /// How many sources are compared.
    pub input_source_count: u32,
}

/// See [`EventType::ComparisonErrored`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ComparisonErrored {
    /// Why they could not be compared.
    pub error: PhaseError,
}

/// See [`EventType::StageStarted`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StageStarted {
    /// The stage of the job.
    pub stage_name: String,
}

/// See [`EventType::StageCompleted`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StageCompleted {
    /// The stage of the job.
    pub stage_name: String,
    /// What it found.
    pub result: Verdict,
    /// How each measure fared.
    #[serde(default)]
    pub tolerances: Vec<Tolerance>,
}

/// See [`EventType::StageErrored`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StageErrored {
    /// The stage of the job.
    pub stage_name: String,
    /// Why it has no result.
    pub error: PhaseError,
}

/// See [`EventType::ExecutionRequested`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExecutionRequested {
    /// The queue that it waits in.
    pub queue: String,
}

/// See [`EventType::ExecutionScheduled`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExecutionScheduled {
    /// What the engine knows the run by.
    pub workflow_name: String,
    /// The epoch that was handed over.
    pub epoch: u64,
}

/// See [`EventType::ExecutionStatusChanged`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExecutionStatusChanged {
    /// The state that the run is in now, by its name in the lifecycle.
    pub state: String,
    /// The epoch of the lease that it changed under.
    pub epoch: u64,
}

/// See [`EventType::ExecutionCompleted`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExecutionCompleted {
    /// The state that the run ended in, by its name in the lifecycle.
    pub state: String,
}
