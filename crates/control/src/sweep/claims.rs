//! Claims: runs that wait, and claims whose executor is lost.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::time::timeout;
use trueup_store::{Claimed, StoreError};

use crate::engine::Engine;
use crate::executor::Executor;
use crate::task::{Tally, Task, illegal};

/// How long submits hold up what comes after them; those that take longer go on beside it.
const SUBMIT_SOON: Duration = Duration::from_secs(1);
/// How soon it is looked again when a pause is over: others may be as well.
const PAUSE_LEAST: Duration = Duration::from_secs(1);

/// Claims and submits what waits, whether or not anybody said so; at first what it had claimed before it was started anew, which it cannot remember.
pub(crate) struct Waiting<E> {
    pub(crate) executor: Arc<Executor<E>>,
    pub(crate) batch: u32,
}

impl<E: Engine> Task for Waiting<E> {
    const NAME: &'static str = "executor";

    async fn pass(&self) -> Result<Tally, StoreError> {
        let Executor { store, name, has_started, .. } = &*self.executor;
        let mut tally = Tally::default();
        if !has_started.load(Ordering::Relaxed) {
            let own = || store.sweep_stale_claims(name, true, self.batch);
            submit(&self.executor, &mut tally, own).await?;
            has_started.store(true, Ordering::Relaxed);
        }
        start(&self.executor, &mut tally, self.batch).await?;
        tally.note = tally.note.or_else(|| illegal(store));
        Ok(tally)
    }
}

/// Claims and submits what has paused since a submit that failed or an attempt that died: nobody says when a pause is over.
pub(crate) struct Pauses<E> {
    pub(crate) executor: Arc<Executor<E>>,
    pub(crate) batch: u32,
}

impl<E: Engine> Task for Pauses<E> {
    const NAME: &'static str = "pauses";

    async fn pass(&self) -> Result<Tally, StoreError> {
        let Executor { store, has_started, .. } = &*self.executor;
        let mut tally = Tally::default();
        let Some(left_ms) = store.next_pause_ms().await? else { return Ok(tally) };
        if left_ms <= 0 && has_started.load(Ordering::Relaxed) {
            start(&self.executor, &mut tally, self.batch).await?;
        }
        let left = Duration::from_millis(left_ms.max(0).cast_unsigned());
        tally.again_in = Some(left.max(PAUSE_LEAST));
        Ok(tally)
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

/// Claims and hands over what may start, until nothing is left to; an engine that reads hand-offs need not be told before.
async fn start<E: Engine>(
    executor: &Arc<Executor<E>>,
    tally: &mut Tally,
    batch: u32,
) -> Result<(), StoreError> {
    let Executor { store, engine, name, stopping, .. } = &**executor;
    if !engine.reads_hand_offs() {
        return submit(executor, tally, || store.claim_for_scheduling(name, batch)).await;
    }
    while !stopping.has_begun() {
        let count = store.schedule(name, batch).await?;
        tally.seen += count as u64;
        tally.done += count as u64;
        if count < batch as usize {
            break;
        }
    }
    Ok(())
}

/// Submits what is claimed until nothing is left to claim; one that hangs holds up no other.
async fn submit<E: Engine, F: Future<Output = Result<Vec<Claimed>, StoreError>>>(
    executor: &Arc<Executor<E>>,
    tally: &mut Tally,
    claim: impl Fn() -> F,
) -> Result<(), StoreError> {
    while !executor.stopping.has_begun() {
        let claimed = claim().await?;
        if claimed.is_empty() {
            break;
        }
        tally.seen += claimed.len() as u64;
        let submitting = Arc::clone(executor);
        let submits = executor.stopping.spawn(async move { submitting.submit_all(claimed).await });
        match timeout(SUBMIT_SOON, submits).await {
            Ok(handed_off) => tally.done += handed_off.unwrap_or(0),
            Err(_) => tally.note = Some("some submits take long, and go on".to_owned()),
        }
    }
    Ok(())
}
