//! Claims: runs that wait, and claims whose executor is lost.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use trueup_store::StoreError;

use crate::engine::Engine;
use crate::executor::Executor;
use crate::task::{Tally, Task};

/// Claims and submits what waits, whether or not anybody said so.
pub(crate) struct Waiting<E> {
    pub(crate) executor: Arc<Executor<E>>,
    pub(crate) batch: u32,
}

impl<E: Engine> Task for Waiting<E> {
    const NAME: &'static str = "executor";

    async fn pass(&self) -> Result<Tally, StoreError> {
        let executor = &self.executor;
        let mut tally = Tally::default();
        while !executor.stopping.has_begun() {
            let claimed = executor.store.claim_for_scheduling(&executor.name, self.batch).await?;
            if claimed.is_empty() {
                break;
            }
            tally.seen += claimed.len() as u64;
            tally.done += claimed.len() as u64;
            executor.submit_all(claimed).await;
        }
        Ok(tally)
    }
}

/// Takes over claims whose executor was not heard of again; at the start those in its own name, too, which it cannot remember.
pub(crate) struct StaleClaims<E> {
    pub(crate) executor: Arc<Executor<E>>,
    pub(crate) batch: u32,
    pub(crate) has_started: AtomicBool,
}

impl<E: Engine> Task for StaleClaims<E> {
    const NAME: &'static str = "stale-claims";

    async fn pass(&self) -> Result<Tally, StoreError> {
        let executor = &self.executor;
        let mut tally = Tally::default();
        while !executor.stopping.has_begun() {
            let own = !self.has_started.load(Ordering::Relaxed);
            let claimed = executor.store.sweep_stale_claims(&executor.name, own, self.batch).await?;
            if claimed.is_empty() {
                self.has_started.store(true, Ordering::Relaxed);
                break;
            }
            tally.seen += claimed.len() as u64;
            tally.done += claimed.len() as u64;
            executor.submit_all(claimed).await;
        }
        Ok(tally)
    }
}
