//! A run, as its row has it.

use serde::Serialize;
use serde_json::Value;
use trueup_events::outcome::{Outcome, RunError, Verdict};
use trueup_events::payload::Mode;
use trueup_lifecycle::{Ending, Finished, Hold, State};
use trueup_store::Record;
use utoipa::ToSchema;

use super::moment;

/// A run, as its row has it.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Run {
    /// Its id.
    #[schema(value_type = Uuid)]
    pub run_id: String,
    /// The name of its job.
    pub job: String,
    /// The id of its job.
    #[schema(value_type = Uuid)]
    pub job_id: String,
    /// Whose it is.
    #[schema(value_type = Uuid)]
    pub tenant_id: String,
    /// The revision of the job that it executes.
    pub revision: u32,
    /// Where it is in its life.
    #[schema(value_type = Status)]
    pub status: &'static str,
    /// The queue that it waits in.
    pub queue: String,
    /// What the job was given.
    #[schema(value_type = Object)]
    pub params: Value,
    /// How it came to be.
    #[schema(value_type = String)]
    pub mode: Mode,
    /// Who asked for it.
    pub triggered_by: String,
    /// When.
    #[schema(format = DateTime)]
    pub requested_at: String,
    /// Counts its owners.
    pub epoch: u64,
    /// How long it may take.
    pub deadline_ms: i64,
    /// How often it is tried again.
    pub retries: u32,
    /// What is true of it only in the state that it is in.
    #[serde(flatten)]
    pub state: Now,
    /// The first cancel that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cancel: Option<Cancel>,
    /// Another outcome that was reported after its end.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub beside: Option<Outcome>,
}

/// The names of the states.
#[derive(ToSchema)]
#[schema(rename_all = "lowercase")]
#[expect(dead_code, reason = "it describes the names that `lifecycle` gives")]
enum Status {
    Requested,
    Scheduling,
    Scheduled,
    Running,
    Completed,
    Failed,
    Timeout,
    Cancelled,
    Abandoned,
}

/// What is true of a run only in the state that it is in.
#[derive(Debug, Clone, Default, PartialEq, Serialize, ToSchema)]
pub struct Now {
    /// The number of the attempt, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    attempt: Option<u32>,
    /// How often it was submitted for the attempt.
    #[serde(skip_serializing_if = "Option::is_none")]
    submits: Option<u32>,
    /// Who submits it.
    #[serde(skip_serializing_if = "Option::is_none")]
    executor: Option<String>,
    /// Until when nobody else may.
    #[serde(skip_serializing_if = "Option::is_none")]
    claim_until: Option<String>,
    /// Until when it pauses between submits or attempts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pauses_until: Option<String>,
    /// Since when it waits for a worker.
    #[serde(skip_serializing_if = "Option::is_none")]
    scheduled_at: Option<String>,
    /// Who runs it.
    #[serde(skip_serializing_if = "Option::is_none")]
    worker: Option<String>,
    /// Until when the worker need not be heard of.
    #[serde(skip_serializing_if = "Option::is_none")]
    lease_until: Option<String>,
    /// When its time is over.
    #[serde(skip_serializing_if = "Option::is_none")]
    deadline_at: Option<String>,
    /// When it ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    finished_at: Option<String>,
    /// What it found.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    result: Option<Verdict>,
    /// What it failed of.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    error: Option<RunError>,
}

/// A wish that a run end.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Cancel {
    /// Who asked.
    by: String,
    /// When.
    #[schema(format = DateTime)]
    at: String,
    /// Why.
    reason: Option<String>,
}

impl Run {
    /// Tells all that a row says.
    pub fn new(record: &Record, job: String) -> Self {
        let run = &record.run;
        Self {
            run_id: record.id().to_string(),
            job,
            job_id: run.ids.job_id.to_string(),
            tenant_id: run.ids.tenant_id.to_string(),
            revision: record.revision,
            status: run.state.status().name(),
            queue: record.queue.clone(),
            // What is no JSON fails the run, and is shown as it is.
            params: serde_json::from_str(&record.params).unwrap_or_else(|_| record.params.clone().into()),
            mode: record.mode,
            triggered_by: record.triggered_by.clone(),
            requested_at: moment(record.requested_at_ms),
            epoch: run.epoch.0,
            deadline_ms: run.policy.deadline_ms,
            retries: run.policy.retries,
            state: Now::of(&run.state),
            cancel: run.cancel.as_ref().map(|cancel| Cancel {
                by: cancel.by.clone(),
                at: moment(cancel.at_ms),
                reason: cancel.reason.clone(),
            }),
            beside: run.beside.clone(),
        }
    }
}

impl Now {
    fn of(state: &State) -> Self {
        match state {
            State::Requested => Self::default(),
            State::Scheduling(scheduling) => {
                let counted = Self {
                    attempt: Some(scheduling.attempt),
                    submits: Some(scheduling.submits),
                    deadline_at: scheduling.deadline_at_ms.map(moment),
                    ..Self::default()
                };
                match &scheduling.hold {
                    Hold::Claimed { executor, stale_at_ms } => Self {
                        executor: Some(executor.clone()),
                        claim_until: Some(moment(*stale_at_ms)),
                        ..counted
                    },
                    Hold::BackingOff { until_ms } => {
                        Self { pauses_until: Some(moment(*until_ms)), ..counted }
                    }
                }
            }
            State::Scheduled(scheduled) => Self {
                attempt: Some(scheduled.attempt),
                submits: Some(scheduled.submits),
                scheduled_at: Some(moment(scheduled.since_ms)),
                deadline_at: scheduled.deadline_at_ms.map(moment),
                ..Self::default()
            },
            State::Running(running) => Self {
                attempt: Some(running.attempt),
                submits: Some(running.submits),
                worker: Some(running.worker.clone()),
                lease_until: Some(moment(running.lease_until_ms)),
                deadline_at: Some(moment(running.deadline_at_ms)),
                ..Self::default()
            },
            State::Finished(Finished { at_ms, ending }) => {
                let ended = Self { finished_at: Some(moment(*at_ms)), ..Self::default() };
                match ending {
                    Ending::Concluded(Outcome::Result(result)) => Self { result: Some(*result), ..ended },
                    Ending::Concluded(Outcome::Error(error)) => Self { error: Some(error.clone()), ..ended },
                    Ending::Cancelled => ended,
                }
            }
        }
    }
}
