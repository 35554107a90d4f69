//! What a verb can do about executions that something else started.

use trueup_events::{RunId, TenantId};

use crate::error::StoreError;
use crate::observed::Observed;
use crate::tx::Note;

/// What events may be about: runs of ours, and what else a tenant has heard of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Subjects {
    /// The runs of ours, whosever they are.
    pub(crate) runs: Vec<Owner>,
    pub(crate) observed: Vec<Observed>,
}

/// Whose a run is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Owner {
    pub(crate) run_id: RunId,
    pub(crate) tenant_id: TenantId,
    pub(crate) is_over: bool,
}

/// A transaction, as far as it is about executions that something else started.
pub(crate) trait Sightings: Send {
    /// Loads what is there under these ids.
    fn subjects(
        &mut self,
        tenant_id: TenantId,
        ids: &[RunId],
    ) -> impl Future<Output = Result<Subjects, StoreError>> + Send;

    /// Adds an execution, or changes it where its row still is what it was loaded as, with what is told of that.
    fn put_observed(
        &mut self,
        observed: &Observed,
        note: Option<&Note>,
    ) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Deletes those that ended before a time, the first to end first, with their events; says how many.
    fn forget_observed(
        &mut self,
        before_ms: i64,
        limit: u32,
    ) -> impl Future<Output = Result<u64, StoreError>> + Send;
}
