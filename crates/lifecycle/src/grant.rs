//! The right to move a run on: a claim for executors, a lease for workers.

use trueup_events::RunId;

use crate::state::Epoch;

/// The right of one executor to submit a run; only claiming it gives one.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Claim {
    pub(crate) run_id: RunId,
    pub(crate) epoch: Epoch,
    pub(crate) executor: String,
}

impl Claim {
    /// Who claimed it.
    pub fn executor(&self) -> &str {
        &self.executor
    }

    /// The run that was claimed.
    pub fn run_id(&self) -> RunId {
        self.run_id
    }

    /// The owner's number; a run that has another was claimed again since.
    pub fn epoch(&self) -> Epoch {
        self.epoch
    }
}

/// The right of one worker to run an attempt and to say how it ended; only taking the run gives one.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Lease {
    pub(crate) run_id: RunId,
    pub(crate) epoch: Epoch,
    pub(crate) worker: String,
    pub(crate) deadline_at_ms: i64,
}

impl Lease {
    /// Who took it.
    pub fn worker(&self) -> &str {
        &self.worker
    }

    /// The run that was taken.
    pub fn run_id(&self) -> RunId {
        self.run_id
    }

    /// The owner's number; a run that has another was taken again since.
    pub fn epoch(&self) -> Epoch {
        self.epoch
    }

    /// When the run has had its time, by the store's clock.
    pub fn deadline_at_ms(&self) -> i64 {
        self.deadline_at_ms
    }
}
