//! A run, and what governs it.

use trueup_events::Ids;
use trueup_events::outcome::Outcome;

use crate::state::{Epoch, State};

/// One execution of one revision of a job.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Run {
    /// Which run, of which job, of which tenant.
    pub ids: Ids,
    /// What its job allows it.
    pub policy: Policy,
    /// The number of its present owner.
    pub epoch: Epoch,
    /// Where it is in its life.
    pub state: State,
    /// The first cancel that was asked for.
    pub cancel: Option<Cancel>,
    /// Another outcome that was reported after the end; it stands beside the first, never over it.
    pub beside: Option<Outcome>,
}

/// What a job allows its runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Policy {
    /// How long a run may take, from the start of its first attempt.
    pub deadline_ms: i64,
    /// How many further attempts it gets when one dies.
    pub retries: u32,
}

impl Default for Policy {
    fn default() -> Self {
        Self { deadline_ms: 3_600_000, retries: 0 }
    }
}

/// A wish that a run end.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Cancel {
    /// Who asked.
    pub by: String,
    /// When.
    pub at_ms: i64,
    /// Why.
    pub reason: Option<String>,
}

/// What governs every run of a deployment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Settings {
    /// How long a worker may be silent.
    pub lease_ms: i64,
    /// How old a claim, or a hand-off that the engine does not know, must be before another executor takes it over.
    pub reconcile_grace_ms: i64,
    /// How often a run is submitted before it fails.
    pub max_submit_attempts: u32,
    /// The pause after the first submit that failed, and after the first attempt that died; it doubles with each.
    pub backoff_ms: i64,
}

impl Default for Settings {
    fn default() -> Self {
        Self { lease_ms: 30_000, reconcile_grace_ms: 300_000, max_submit_attempts: 5, backoff_ms: 1_000 }
    }
}

impl Settings {
    /// The pause after so many submits failed, or attempts died; it stops growing at the grace of a claim.
    pub(crate) fn pause_ms(&self, tries: u32) -> i64 {
        let doubled = 1_i64.checked_shl(tries.saturating_sub(1)).unwrap_or(i64::MAX);
        self.backoff_ms.saturating_mul(doubled).min(self.reconcile_grace_ms)
    }
}
