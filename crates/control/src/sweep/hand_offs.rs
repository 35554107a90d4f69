//! Hand-offs that no worker has taken: the engine is asked whether it knows them.

use std::sync::Arc;

use trueup_store::{Record, StoreError};

use super::Misses;
use crate::engine::{Answer, Engine};
use crate::executor::Executor;
use crate::task::{Tally, Task};

/// Submits again, under the same name, what the engine does not know.
pub(crate) struct HandOffs<E> {
    pub(crate) executor: Arc<Executor<E>>,
    pub(crate) batch: u32,
    pub(crate) misses: Misses,
}

impl<E: Engine> HandOffs<E> {
    /// Asks the engine about one run; says whether something became of it.
    async fn look(&self, record: &Record) -> Result<bool, StoreError> {
        let Executor { store, engine, name, .. } = &*self.executor;
        match engine.ask(record).await {
            Answer::NotFound => {
                if self.misses.count(record) < engine.misses_until_lost() || !engine.is_well().await {
                    return Ok(false);
                }
                self.misses.forget(record);
                if let Some(claimed) = store.take_over(record.id(), name).await? {
                    self.executor.submit_all(vec![claimed]).await;
                }
                Ok(true)
            }
            Answer::Ended(report) => {
                self.misses.forget(record);
                store.answer(record.id(), name, report).await.map(|_| true)
            }
            Answer::Running => {
                self.misses.forget(record);
                Ok(false)
            }
            // Not to know is not to be lost.
            Answer::Expired | Answer::ProbeError(_) => Ok(false),
        }
    }
}

impl<E: Engine> Task for HandOffs<E> {
    const NAME: &'static str = "hand-offs";

    async fn pass(&self) -> Result<Tally, StoreError> {
        let mut tally = Tally::default();
        for record in self.executor.store.sweep_hand_offs(self.batch).await? {
            if self.executor.stopping.has_begun() {
                break;
            }
            tally.seen += 1;
            tally.done += u64::from(super::settled(&record, self.look(&record).await)?);
        }
        Ok(tally)
    }
}
