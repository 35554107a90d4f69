//! Claims: runs that wait, and claims whose executor is lost.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use trueup_store::{Claimed, StoreError};

use crate::engine::Engine;
use crate::executor::Executor;
use crate::task::{Tally, Task};

/// Claims and submits what waits, whether or not anybody said so; at first what it had claimed before it was started anew, which it cannot remember.
pub(crate) struct Waiting<E> {
    pub(crate) executor: Arc<Executor<E>>,
    pub(crate) batch: u32,
    /// Whether what it had claimed in an earlier life is dealt with: until then it makes no claims that could be taken for those.
    pub(crate) has_started: AtomicBool,
}

impl<E: Engine> Task for Waiting<E> {
    const NAME: &'static str = "executor";

    async fn pass(&self) -> Result<Tally, StoreError> {
        let Executor { store, name, .. } = &*self.executor;
        let mut tally = Tally::default();
        if !self.has_started.load(Ordering::Relaxed) {
            let own = || store.sweep_stale_claims(name, true, self.batch);
            submit(&self.executor, &mut tally, own).await?;
            self.has_started.store(true, Ordering::Relaxed);
        }
        if self.executor.engine.reads_hand_offs() {
            self.schedule(&mut tally).await?;
        } else {
            submit(&self.executor, &mut tally, || store.claim_for_scheduling(name, self.batch)).await?;
        }
        Ok(tally)
    }
}

impl<E: Engine> Waiting<E> {
    /// Schedules until nothing is left to.
    async fn schedule(&self, tally: &mut Tally) -> Result<(), StoreError> {
        let Executor { store, name, stopping, .. } = &*self.executor;
        while !stopping.has_begun() {
            let count = store.schedule(name, self.batch).await?;
            tally.seen += count as u64;
            tally.done += count as u64;
            if count < self.batch as usize {
                break;
            }
        }
        Ok(())
    }
}

/// Takes over claims whose executor was not heard of again.
pub(crate) struct StaleClaims<E> {
    pub(crate) executor: Arc<Executor<E>>,
    pub(crate) batch: u32,
}

impl<E: Engine> Task for StaleClaims<E> {
    const NAME: &'static str = "stale-claims";

    async fn pass(&self) -> Result<Tally, StoreError> {
        let Executor { store, name, .. } = &*self.executor;
        let mut tally = Tally::default();
        submit(&self.executor, &mut tally, || store.sweep_stale_claims(name, false, self.batch)).await?;
        Ok(tally)
    }
}

/// Submits what is claimed until nothing is left to claim.
async fn submit<E: Engine, F: Future<Output = Result<Vec<Claimed>, StoreError>>>(
    executor: &Executor<E>,
    tally: &mut Tally,
    claim: impl Fn() -> F,
) -> Result<(), StoreError> {
    while !executor.stopping.has_begun() {
        let claimed = claim().await?;
        if claimed.is_empty() {
            break;
        }
        tally.seen += claimed.len() as u64;
        tally.done += claimed.len() as u64;
        executor.submit_all(claimed).await;
    }
    Ok(())
}
