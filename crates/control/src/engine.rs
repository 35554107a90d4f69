//! What runs are submitted to: the seam behind which engines differ.

use std::future::Future;

use trueup_events::outcome::RunError;
use trueup_lifecycle::Report;
use trueup_store::Record;

/// What an engine says of one execution.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// It has it, and it has not ended.
    Running,
    /// It has ended.
    Ended(Report),
    /// It does not know it; only this, again and again, makes a run lost.
    NotFound,
    /// It keeps no records that old.
    Expired,
    /// It could not be asked.
    ProbeError(String),
}

/// A record that an engine keeps of an execution.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kept {
    /// What the engine knows it by.
    pub name: String,
    /// For how long it has ended; none while it lives.
    pub ended_ms_ago: Option<i64>,
}

/// Something that an engine could not do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the engine: {0}")]
pub struct EngineError(pub String);

/// Where runs are executed.
///
/// A run is known to it by a name that follows from the run's id ([`trueup_events::RunId::workflow_name`]), so that a submit that is repeated is recognised.
pub trait Engine: Send + Sync + 'static {
    /// How many times in a row it must not know a run before that run counts as lost.
    fn misses_until_lost(&self) -> u32 {
        3
    }

    /// Whether it learns of a run from the hand-off itself and is told nothing before: claim and hand-off then need but one transaction.
    fn reads_hand_offs(&self) -> bool {
        false
    }

    /// Takes a run; one that it has already is taken again without effect.
    fn submit(&self, run: &Record) -> impl Future<Output = Result<(), RunError>> + Send;

    /// Says what became of a run.
    fn ask(&self, run: &Record) -> impl Future<Output = Answer> + Send;

    /// Stops a run, or drops it before it starts; one that it does not know is no error.
    fn cancel(&self, run: &Record) -> impl Future<Output = Result<(), EngineError>> + Send;

    /// Lists what it keeps, by name, after a name, no more than asked.
    fn list(
        &self,
        after: Option<&str>,
        limit: usize,
    ) -> impl Future<Output = Result<Vec<Kept>, EngineError>> + Send;

    /// Deletes what it keeps of an execution that has ended; what is gone already is no error.
    fn delete(&self, name: &str) -> impl Future<Output = Result<(), EngineError>> + Send;
}
