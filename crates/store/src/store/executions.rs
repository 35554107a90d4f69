//! Runs and what others execute, side by side, and the events that others tell.

use trueup_events::{Event, RunId, TenantId};
use trueup_lifecycle::{Progress, Steps};

use super::{Backend, Store};
use crate::error::StoreError;
use crate::filter::RunFilter;
use crate::observed::{Execution, Ingested, Observed};
use crate::text::{refuse_nul, texts_of};
use crate::verbs;

impl Store {
    /// Takes events from outside in, all or none, and moves the executions that they are about; those that are in the log already add nothing.
    ///
    /// A run of ours has an owner, which alone moves it; what is told of one is kept, and marked where it could not be true.
    pub async fn ingest(&self, tenant_id: TenantId, events: Vec<Event>) -> Result<Vec<Ingested>, StoreError> {
        refuse_nul(events.iter().flat_map(texts_of))?;
        self.transact(verbs::Ingest { tenant_id, events }).await
    }

    /// An execution that something else started, if the tenant has heard of it.
    pub async fn observed(&self, tenant_id: TenantId, id: RunId) -> Result<Option<Observed>, StoreError> {
        ask!(self, backend => backend.observed(tenant_id, id).await)
    }

    /// A run of the tenant's, or what it has heard of under that id.
    pub async fn execution(&self, tenant_id: TenantId, id: RunId) -> Result<Option<Execution>, StoreError> {
        match self.run(tenant_id, id).await? {
            Some(record) => Ok(Some(Execution::Run(record))),
            None => Ok(self.observed(tenant_id, id).await?.map(Execution::Observed)),
        }
    }

    /// Runs and observed executions in their one order, the latest first.
    pub async fn executions(&self, filter: &RunFilter) -> Result<Vec<Execution>, StoreError> {
        let runs = self.runs(filter).await?;
        // What others execute is of no job here, and has no verdict.
        let observed = if filter.job_id.is_some() || !filter.verdicts.is_empty() {
            Vec::new()
        } else {
            ask!(self, backend => backend.observed_in(filter).await)?
        };
        let runs = runs.into_iter().map(Execution::Run);
        let mut both: Vec<Execution> = runs.chain(observed.into_iter().map(Execution::Observed)).collect();
        both.sort_by_key(|execution| std::cmp::Reverse(execution.number()));
        both.truncate(filter.limit as usize);
        Ok(both)
    }

    /// How far an execution has come in steps, which are the stages of a run of ours.
    pub async fn progress(&self, tenant_id: TenantId, of: &Execution) -> Result<Progress, StoreError> {
        let is_over = of.status().is_terminal();
        match of {
            Execution::Observed(observed) => Ok(observed.seen.steps.progress(is_over)),
            Execution::Run(record) => {
                let mut steps = Steps::default();
                let told = ask!(self, backend => backend.stages_of(tenant_id, record.id()).await)?;
                told.iter().for_each(|event| steps.hear_event(event));
                Ok(steps.progress(is_over))
            }
        }
    }

    /// Those of a tenant's runs and observed executions that have not ended and of which nothing was heard since a time, the oldest of each kind first.
    pub async fn silent_since(
        &self,
        tenant_id: TenantId,
        before_ms: i64,
        limit: u32,
    ) -> Result<Vec<Execution>, StoreError> {
        let (runs, observed) = ask!(self, backend => backend.silent(tenant_id, before_ms, limit).await)?;
        let runs = ask!(self, backend => verbs::readable(backend.context(), runs));
        let runs = runs.into_iter().map(Execution::Run);
        Ok(runs.chain(observed.into_iter().map(Execution::Observed)).take(limit as usize).collect())
    }

    /// Cancels an execution that something else started: it counts as ended here, whatever is told of it later.
    pub async fn cancel_observed(
        &self,
        tenant_id: TenantId,
        id: RunId,
        by: &str,
        reason: Option<&str>,
    ) -> Result<Observed, StoreError> {
        let (by, reason) = (by.to_owned(), reason.map(str::to_owned));
        self.transact(verbs::CancelObserved { tenant_id, id, by, reason }).await
    }

    /// Deletes observed executions that ended longer ago than they are kept, with their events, no more than so many; says how many.
    pub async fn forget_observed(&self, retention_ms: i64, limit: u32) -> Result<u64, StoreError> {
        self.transact(verbs::ForgetObserved { retention_ms, limit }).await
    }
}
