//! The columns of a run's row that its life changes, and what they mean.

use serde::{Deserialize, Serialize, de::DeserializeOwned};
use trueup_events::Ids;
use trueup_events::outcome::{Outcome, RunError, Verdict};
use trueup_lifecycle::{
    Cancel, Ending, Epoch, Finished, Hold, Policy, Run, Running, Scheduled, Scheduling, State, Status,
};

use crate::error::StoreError;
use crate::key::KeyRole;

/// A run's life as its row holds it; either dialect reads and writes just these.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Columns {
    pub(crate) state: String,
    pub(crate) epoch: i64,
    pub(crate) executor: Option<String>,
    pub(crate) due_at_ms: Option<i64>,
    pub(crate) submits: Option<i64>,
    pub(crate) attempt: Option<i64>,
    pub(crate) worker: Option<String>,
    pub(crate) deadline_at_ms: Option<i64>,
    pub(crate) finished_at_ms: Option<i64>,
    pub(crate) verdict: Option<String>,
    pub(crate) error: Option<String>,
    pub(crate) cancel: Option<String>,
    pub(crate) beside: Option<String>,
}

#[derive(Serialize, Deserialize)]
struct CancelFields {
    by: String,
    at_ms: i64,
    reason: Option<String>,
}

impl Columns {
    pub(crate) fn of(run: &Run) -> Self {
        let life = Self {
            state: run.state.status().name().to_owned(),
            epoch: run.epoch.0.cast_signed(),
            cancel: run.cancel.as_ref().map(write_cancel),
            beside: run.beside.as_ref().map(json),
            ..Self::default()
        };
        match &run.state {
            State::Requested => life,
            State::Scheduling(Scheduling { hold, submits, attempt, deadline_at_ms }) => {
                let (executor, due_at_ms) = match hold {
                    Hold::Claimed { executor, stale_at_ms } => (Some(executor.clone()), *stale_at_ms),
                    Hold::BackingOff { until_ms } => (None, *until_ms),
                };
                Self {
                    executor,
                    due_at_ms: Some(due_at_ms),
                    submits: Some((*submits).into()),
                    attempt: Some((*attempt).into()),
                    deadline_at_ms: *deadline_at_ms,
                    ..life
                }
            }
            State::Scheduled(Scheduled { submits, attempt, since_ms, deadline_at_ms }) => Self {
                due_at_ms: Some(*since_ms),
                submits: Some((*submits).into()),
                attempt: Some((*attempt).into()),
                deadline_at_ms: *deadline_at_ms,
                ..life
            },
            State::Running(running) => Self {
                due_at_ms: Some(running.lease_until_ms),
                submits: Some(running.submits.into()),
                attempt: Some(running.attempt.into()),
                worker: Some(running.worker.clone()),
                deadline_at_ms: Some(running.deadline_at_ms),
                ..life
            },
            State::Finished(Finished { at_ms, ending }) => {
                let (verdict, error) = match ending {
                    Ending::Cancelled => (None, None),
                    Ending::Concluded(Outcome::Result(verdict)) => (Some(verdict.name().to_owned()), None),
                    Ending::Concluded(Outcome::Error(error)) => (None, Some(json(error))),
                };
                Self { finished_at_ms: Some(*at_ms), verdict, error, ..life }
            }
        }
    }

    pub(crate) fn run(&self, ids: Ids, policy: Policy) -> Result<Run, StoreError> {
        Ok(Run {
            ids,
            policy,
            epoch: Epoch(self.epoch.cast_unsigned()),
            state: self.life()?,
            cancel: self.cancel.as_deref().map(read_cancel).transpose()?,
            beside: self.beside.as_deref().map(|text| read("beside", text)).transpose()?,
        })
    }

    fn life(&self) -> Result<State, StoreError> {
        let status = Status::named(&self.state)
            .ok_or_else(|| damaged(format!("a run is {:?}, which is no state", self.state)))?;
        Ok(match status {
            Status::Requested => State::Requested,
            Status::Scheduling => {
                let due = needed("due_at_ms", self.due_at_ms)?;
                let hold = match self.executor.clone() {
                    Some(executor) => Hold::Claimed { executor, stale_at_ms: due },
                    None => Hold::BackingOff { until_ms: due },
                };
                State::Scheduling(Scheduling {
                    hold,
                    submits: count("submits", self.submits)?,
                    attempt: count("attempt", self.attempt)?,
                    deadline_at_ms: self.deadline_at_ms,
                })
            }
            Status::Scheduled => State::Scheduled(Scheduled {
                submits: count("submits", self.submits)?,
                attempt: count("attempt", self.attempt)?,
                since_ms: needed("due_at_ms", self.due_at_ms)?,
                deadline_at_ms: self.deadline_at_ms,
            }),
            Status::Running => State::Running(Running {
                worker: needed("worker", self.worker.clone())?,
                submits: count("submits", self.submits)?,
                attempt: count("attempt", self.attempt)?,
                lease_until_ms: needed("due_at_ms", self.due_at_ms)?,
                deadline_at_ms: needed("deadline_at_ms", self.deadline_at_ms)?,
            }),
            Status::Completed | Status::Failed | Status::Timeout | Status::Cancelled | Status::Abandoned => {
                State::Finished(Finished {
                    at_ms: needed("finished_at_ms", self.finished_at_ms)?,
                    ending: self.ending(status)?,
                })
            }
        })
    }

    fn ending(&self, status: Status) -> Result<Ending, StoreError> {
        let ending = match (&self.verdict, &self.error) {
            (None, None) => Ending::Cancelled,
            (Some(verdict), None) => {
                let verdict: Verdict =
                    verdict.parse().map_err(|error| damaged(format!("verdict: {error}")))?;
                Ending::Concluded(Outcome::Result(verdict))
            }
            (None, Some(error)) => Ending::Concluded(Outcome::Error(read::<RunError>("error", error)?)),
            (Some(_), Some(_)) => return Err(damaged("a run has both a verdict and an error")),
        };
        if ending.status() == status {
            Ok(ending)
        } else {
            Err(damaged(format!("a run is {status}, and its end says {}", ending.status())))
        }
    }
}

/// The JSON of a wish that something end.
pub(crate) fn write_cancel(cancel: &Cancel) -> String {
    let Cancel { by, at_ms, reason } = cancel.clone();
    json(&CancelFields { by, at_ms, reason })
}

pub(crate) fn read_cancel(text: &str) -> Result<Cancel, StoreError> {
    let CancelFields { by, at_ms, reason } = read("cancel", text)?;
    Ok(Cancel { by, at_ms, reason })
}

/// The JSON of something that has text, numbers and lists alone, and so cannot fail to have one.
pub(crate) fn json(of: &impl Serialize) -> String {
    serde_json::to_string(of)
        .unwrap_or_else(|error| unreachable!("text and numbers have a JSON form: {error}"))
}

pub(crate) fn read<T: DeserializeOwned>(column: &str, text: &str) -> Result<T, StoreError> {
    serde_json::from_str(text).map_err(|error| damaged(format!("{column}: {error}")))
}

pub(crate) fn damaged(problem: impl Into<String>) -> StoreError {
    StoreError::Damaged { problem: problem.into() }
}

/// The role of a key, as its column spells it.
pub(crate) fn role(name: &str) -> Result<KeyRole, StoreError> {
    KeyRole::named(name).ok_or_else(|| damaged(format!("a key is for {name:?}, which is no role")))
}

fn needed<T>(column: &str, value: Option<T>) -> Result<T, StoreError> {
    value.ok_or_else(|| damaged(format!("a run's {column} is missing")))
}

fn count(column: &str, value: Option<i64>) -> Result<u32, StoreError> {
    let value = needed(column, value)?;
    u32::try_from(value).map_err(|_| damaged(format!("a run's {column} is {value}")))
}
