//! Cancels: the engine is told of each, and again while it does not answer.

use std::sync::Arc;

use futures_util::stream::{self, StreamExt};
use trueup_store::{Record, StoreError};

use crate::engine::Engine;
use crate::executor::Executor;
use crate::task::{Tally, Task};

/// How many are told at once, so that one that is not answered holds up few.
const AT_ONCE: usize = 16;

/// Asks the engine to stop what somebody wants to end, and to drop what ended without its word: cancelled before it began, past its deadline, or lost.
pub(crate) struct Cancels<E> {
    pub(crate) executor: Arc<Executor<E>>,
    pub(crate) batch: u32,
}

impl<E: Engine> Task for Cancels<E> {
    const NAME: &'static str = "cancels";

    async fn pass(&self) -> Result<Tally, StoreError> {
        let Executor { store, engine, .. } = &*self.executor;
        let found = store.sweep_cancels(self.batch).await?;
        let mut tally = Tally { seen: found.len() as u64, ..Tally::default() };
        let tell = async |record: Record| (record.id(), engine.cancel(&record).await);
        let wanted = found.into_iter().take_while(|_| !self.executor.stopping.has_begun());
        let mut answers = std::pin::pin!(stream::iter(wanted).map(tell).buffer_unordered(AT_ONCE));
        let mut told = Vec::new();
        while let Some((run_id, answer)) = answers.next().await {
            match answer {
                Ok(()) => told.push(run_id),
                Err(error) => tally.note = Some(format!("{run_id}: {error}")),
            }
        }
        tally.done = told.len() as u64;
        if !told.is_empty() {
            store.withdrawn(told).await?;
        }
        Ok(tally)
    }
}
