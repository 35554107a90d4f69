//! Executions that something else started, and what a listing has beside runs.

use serde::{Deserialize, Serialize};
use trueup_events::{EventId, Mark, RunId, TenantId};
use trueup_lifecycle::{Observation, Status, Step, StepState, Steps};

use crate::columns::{damaged, json, read, read_cancel, write_cancel};
use crate::error::StoreError;
use crate::record::Record;

/// An execution that something else started, as its events tell of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Observed {
    /// What whoever started it calls it.
    pub id: RunId,
    /// Whose it is.
    pub tenant_id: TenantId,
    /// Its place in the order in which runs were asked for and executions first heard of.
    pub number: i64,
    /// What its events amount to.
    pub seen: Observation,
    /// When it was first heard of.
    pub opened_at_ms: i64,
    /// When it was last heard of before its end.
    pub updated_at_ms: i64,
    /// When its end was heard of.
    pub finished_at_ms: Option<i64>,
    /// Counts the writes of its row.
    pub(crate) changes: i64,
}

/// What is executed or was: a run of ours, or an execution that something else started.
#[derive(Debug, Clone, PartialEq)]
pub enum Execution {
    /// A run of ours.
    Run(Record),
    /// One that something else started.
    Observed(Observed),
}

/// What became of an event from outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ingested {
    /// Its id in the log.
    pub event_id: EventId,
    /// Whether the log did not have it before.
    pub is_new: bool,
    /// Why it is only kept, if it is new and moves nothing.
    pub mark: Option<Mark>,
}

impl Execution {
    /// The id of the run or execution.
    pub fn id(&self) -> RunId {
        match self {
            Self::Run(record) => record.id(),
            Self::Observed(observed) => observed.id,
        }
    }

    /// Its place in the one order of both kinds.
    pub fn number(&self) -> i64 {
        match self {
            Self::Run(record) => record.number,
            Self::Observed(observed) => observed.number,
        }
    }

    /// How far it has come.
    pub fn status(&self) -> Status {
        match self {
            Self::Run(record) => record.run.state.status(),
            Self::Observed(observed) => observed.seen.status,
        }
    }
}

impl Observed {
    /// One of which nothing was heard yet.
    pub(crate) fn opened(tenant_id: TenantId, id: RunId, now_ms: i64) -> Self {
        Self {
            id,
            tenant_id,
            number: 0,
            seen: Observation::default(),
            opened_at_ms: now_ms,
            updated_at_ms: now_ms,
            finished_at_ms: None,
            changes: 0,
        }
    }

    /// Whether its row is still to be made; the database gives it its number then.
    pub(crate) fn is_new(&self) -> bool {
        self.number == 0
    }

    /// What its row is to say of a change at a time.
    pub(crate) fn changed(mut self, now_ms: i64) -> Self {
        self.changes += 1;
        self.updated_at_ms = now_ms;
        self.finished_at_ms = self.seen.status.is_terminal().then_some(now_ms);
        self
    }
}

/// What was seen of an execution, as its row holds it; either dialect reads and writes just these.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SeenColumns {
    pub(crate) name: Option<String>,
    pub(crate) state: String,
    pub(crate) steps: String,
    pub(crate) cancel: Option<String>,
}

/// A step as JSON: its name and its state.
#[derive(Serialize, Deserialize)]
struct StepFields(String, String);

impl SeenColumns {
    pub(crate) fn of(seen: &Observation) -> Self {
        let step = |step: &Step| StepFields(step.name.clone(), step.state.name().to_owned());
        Self {
            name: seen.name.clone(),
            state: seen.status.name().to_owned(),
            steps: json(&seen.steps.0.iter().map(step).collect::<Vec<_>>()),
            cancel: seen.cancel.as_ref().map(write_cancel),
        }
    }

    pub(crate) fn seen(self) -> Result<Observation, StoreError> {
        let unknown = |state: &str| damaged(format!("an observed execution is {state:?}, which is no state"));
        let step = |StepFields(name, state)| {
            let state = StepState::named(&state).ok_or_else(|| unknown(&state))?;
            Ok(Step { name, state })
        };
        let steps: Vec<StepFields> = read("steps", &self.steps)?;
        Ok(Observation {
            status: Status::named(&self.state).ok_or_else(|| unknown(&self.state))?,
            name: self.name,
            steps: Steps(steps.into_iter().map(step).collect::<Result<_, StoreError>>()?),
            cancel: self.cancel.as_deref().map(read_cancel).transpose()?,
        })
    }
}
