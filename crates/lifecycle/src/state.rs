//! The states of a run; each carries what is true only while it lasts.

use std::fmt;

use trueup_events::outcome::{ErrorCode, Outcome, Reason, RunError};

/// Counts the owners that a run has had; a write by an earlier one is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Epoch(pub u64);

impl Epoch {
    pub(crate) fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }
}

/// Where a run is in its life.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum State {
    /// The intent is committed; nothing has started.
    Requested,
    /// An executor is admitting and submitting it.
    Scheduling(Scheduling),
    /// It was submitted and waits for a worker.
    Scheduled(Scheduled),
    /// A worker runs an attempt.
    Running(Running),
    /// It has ended, for good.
    Finished(Finished),
}

/// What is true of a run while it is being submitted.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Scheduling {
    /// Who may go on with it, and from when others may.
    pub hold: Hold,
    /// How often it was submitted for this attempt, this time included.
    pub submits: u32,
    /// The number of the attempt that it is submitted for, from 1.
    pub attempt: u32,
    /// The deadline, which an earlier attempt has set.
    pub deadline_at_ms: Option<i64>,
}

impl Scheduling {
    /// Whether an executor has it, rather than a pause.
    pub(crate) fn is_claimed(&self) -> bool {
        matches!(self.hold, Hold::Claimed { .. })
    }
}

/// Who may go on with submitting.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Hold {
    /// One executor, until its claim is stale.
    Claimed {
        /// The executor's name.
        executor: String,
        /// From when on the claim counts as stale.
        stale_at_ms: i64,
    },
    /// Any executor, but only after a pause: the last submit failed, or the last attempt died.
    BackingOff {
        /// When the pause ends.
        until_ms: i64,
    },
}

/// What is true of a run while it waits for a worker.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Scheduled {
    /// How often it was submitted for this attempt.
    pub submits: u32,
    /// The number of the attempt that the next worker runs, from 1.
    pub attempt: u32,
    /// Since when it waits.
    pub since_ms: i64,
    /// The deadline, which an earlier attempt has set.
    pub deadline_at_ms: Option<i64>,
}

/// What is true of a run while a worker runs it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Running {
    /// The worker's name.
    pub worker: String,
    /// How often the run was submitted for this attempt.
    pub submits: u32,
    /// The number of the attempt, from 1.
    pub attempt: u32,
    /// Until when the worker need not be heard of.
    pub lease_until_ms: i64,
    /// When the run has had its time; set by the first attempt.
    pub deadline_at_ms: i64,
}

/// What is true of a run for ever after.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Finished {
    /// When it ended.
    pub at_ms: i64,
    /// How it ended.
    pub ending: Ending,
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Ending {
    /// By itself, with a result or an error.
    Concluded(Outcome),
    /// By a cancel, which the run keeps.
    Cancelled,
}

/// The names of the states, as the store, the API and people spell them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Status {
    /// Committed, not started.
    Requested,
    /// Being submitted.
    Scheduling,
    /// Waiting for a worker.
    Scheduled,
    /// Being run.
    Running,
    /// It compared.
    Completed,
    /// It could not run to its end.
    Failed,
    /// It ran past its deadline.
    Timeout,
    /// A cancel took effect.
    Cancelled,
    /// Its worker was lost and nothing says how it ended.
    Abandoned,
}

impl Status {
    /// Every status, in the order of a life.
    pub const ALL: [Self; 9] = [
        Self::Requested,
        Self::Scheduling,
        Self::Scheduled,
        Self::Running,
        Self::Completed,
        Self::Failed,
        Self::Timeout,
        Self::Cancelled,
        Self::Abandoned,
    ];

    /// The one spelling of it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Requested => "requested",
            Self::Scheduling => "scheduling",
            Self::Scheduled => "scheduled",
            Self::Running => "running",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Timeout => "timeout",
            Self::Cancelled => "cancelled",
            Self::Abandoned => "abandoned",
        }
    }

    /// The status of that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.name() == name)
    }

    /// Whether a run stays so for ever.
    pub const fn is_terminal(self) -> bool {
        !matches!(self, Self::Requested | Self::Scheduling | Self::Scheduled | Self::Running)
    }

    /// Whether a run takes up one of its queue's slots: from the claim to the end.
    pub const fn holds_slot(self) -> bool {
        matches!(self, Self::Scheduling | Self::Scheduled | Self::Running)
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl State {
    /// The state's name.
    pub fn status(&self) -> Status {
        match self {
            Self::Requested => Status::Requested,
            Self::Scheduling(_) => Status::Scheduling,
            Self::Scheduled(_) => Status::Scheduled,
            Self::Running(_) => Status::Running,
            Self::Finished(finished) => finished.ending.status(),
        }
    }
}

impl Ending {
    /// The terminal status that belongs to it; a lost worker is what `abandoned` means.
    pub fn status(&self) -> Status {
        match self {
            Self::Cancelled => Status::Cancelled,
            Self::Concluded(Outcome::Result(_)) => Status::Completed,
            Self::Concluded(Outcome::Error(error)) => status_of(error),
        }
    }
}

fn status_of(error: &RunError) -> Status {
    match (error.code(), error.reason()) {
        (ErrorCode::TimedOut, _) => Status::Timeout,
        (_, Some(Reason::WorkerLost)) => Status::Abandoned,
        _ => Status::Failed,
    }
}
