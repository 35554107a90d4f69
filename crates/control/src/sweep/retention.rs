//! Retention: what ended long ago is deleted, the engine's record first and the row last.

use std::sync::Arc;
use std::time::Duration;

use trueup_events::RunId;
use trueup_store::StoreError;

use crate::engine::Engine;
use crate::executor::Executor;
use crate::settings::millis;
use crate::task::{Tally, Task};

/// Forgets runs and observed executions that ended longer ago than they are kept, and what processes did that are gone.
pub(crate) struct Retention<E> {
    pub(crate) executor: Arc<Executor<E>>,
    pub(crate) kept_for: Duration,
    pub(crate) reports_kept_for: Duration,
    pub(crate) batch: u32,
}

impl<E: Engine> Task for Retention<E> {
    const NAME: &'static str = "retention";

    async fn pass(&self) -> Result<Tally, StoreError> {
        let mut tally = Tally::default();
        self.executor.store.forget_passes(millis(self.reports_kept_for)).await?;
        // What the engine cannot delete is passed, until the next time.
        let mut last = None;
        while !self.executor.stopping.has_begun() {
            let (store, kept_ms) = (&self.executor.store, millis(self.kept_for));
            let found = store.sweep_finished(kept_ms, last.as_ref(), self.batch).await?;
            let mut deleted = Vec::new();
            for record in found.iter().take_while(|_| !self.executor.stopping.has_begun()) {
                let id = record.id();
                match self.executor.engine.delete(&id.workflow_name()).await {
                    Ok(()) => deleted.push(id),
                    Err(error) => tally.note = Some(format!("{id}: {error}")),
                }
            }
            tally.seen += found.len() as u64;
            tally.done += deleted.len() as u64;
            store.forget(deleted).await?;
            if found.len() < self.batch as usize {
                break;
            }
            last = found.into_iter().last();
        }
        while !self.executor.stopping.has_begun() {
            let store = &self.executor.store;
            let forgotten = store.forget_observed(millis(self.kept_for), self.batch).await?;
            tally.seen += forgotten;
            tally.done += forgotten;
            if forgotten < u64::from(self.batch) {
                break;
            }
        }
        Ok(tally)
    }
}

/// Deletes what the engine keeps of runs that nobody remembers.
pub(crate) struct Orphans<E> {
    pub(crate) executor: Arc<Executor<E>>,
    pub(crate) kept_for: Duration,
    pub(crate) batch: u32,
}

impl<E: Engine> Task for Orphans<E> {
    const NAME: &'static str = "orphans";

    async fn pass(&self) -> Result<Tally, StoreError> {
        let mut tally = Tally::default();
        let mut after: Option<String> = None;
        while !self.executor.stopping.has_begun() {
            let kept = match self.executor.engine.list(after.as_deref(), self.batch as usize).await {
                Ok(kept) => kept,
                Err(error) => return Ok(Tally { note: Some(error.to_string()), ..tally }),
            };
            let Some(last) = kept.last() else { break };
            after = Some(last.name.clone());
            for record in kept {
                if self.executor.stopping.has_begun() {
                    break;
                }
                tally.seen += 1;
                let is_old = record.ended_ms_ago.is_some_and(|age| age > millis(self.kept_for));
                let Some(run_id) = RunId::of_workflow(&record.name).filter(|_| is_old) else { continue };
                if self.executor.store.remembers(run_id).await? {
                    continue;
                }
                match self.executor.engine.delete(&record.name).await {
                    Ok(()) => tally.done += 1,
                    Err(error) => tally.note = Some(format!("{}: {error}", record.name)),
                }
            }
        }
        Ok(tally)
    }
}
