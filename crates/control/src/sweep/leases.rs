//! Leases that ran out: the engine is asked what became of the run, before it is called lost.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;
use trueup_lifecycle::State;
use trueup_store::{Record, StoreError};

use super::Misses;
use crate::engine::{Answer, Engine};
use crate::executor::Executor;
use crate::settings::millis;
use crate::task::{Tally, Task};

/// Ends or retries what was lost.
pub(crate) struct Leases<E> {
    executor: Arc<Executor<E>>,
    batch: u32,
    misses: Misses,
    lease: Duration,
    store_was_away: StoreWasAway,
}

impl<E: Engine> Leases<E> {
    /// One that has seen nothing yet.
    pub(crate) fn new(executor: Arc<Executor<E>>, batch: u32, lease: Duration) -> Self {
        Self { executor, batch, misses: Misses::default(), lease, store_was_away: StoreWasAway::default() }
    }

    /// Whether the database has just started, which a process that is as new has not seen by itself.
    async fn store_is_new(&self, found: &[Record]) -> Result<bool, StoreError> {
        Ok(!found.is_empty() && self.executor.store.up_for_ms().await? < millis(self.lease))
    }

    async fn look(&self, record: &Record) -> Result<bool, StoreError> {
        let Executor { store, engine, name, .. } = &*self.executor;
        let is_lost = match engine.ask(record).await {
            Answer::NotFound => {
                self.misses.count(record) >= engine.misses_until_lost() && engine.is_well().await
            }
            Answer::Ended(report) => {
                self.misses.forget(record);
                return store.answer(record.id(), name, report).await.map(|_| true);
            }
            Answer::Running => {
                self.misses.forget(record);
                false
            }
            Answer::Expired | Answer::ProbeError(_) => false,
        };
        // Whatever the engine says: nothing is waited for past its deadline.
        if is_lost || store.now_ms().await? >= deadline_at_ms(record) {
            self.misses.forget(record);
            // Should the engine still have it, it is told by the sweep of cancels, which finds what has ended like that.
            let Some(expired) = store.expire(record.id(), name).await? else { return Ok(false) };
            tracing::warn!(run_id = %record.id(), status = %expired.run.state.status(), "a run was lost, or past its deadline");
            return Ok(true);
        }
        Ok(false)
    }
}

impl<E: Engine> Task for Leases<E> {
    const NAME: &'static str = "leases";

    async fn pass(&self) -> Result<Tally, StoreError> {
        let mut tally = Tally::default();
        let found = self.executor.store.sweep_leases(self.batch).await;
        if let Err(error) = &found {
            self.store_was_away.note(error);
        }
        let found = found?;
        // While the store was away no worker could be heard of: they are given a lease's time to show that they live.
        if self.store_was_away.until_within(self.lease) || self.store_is_new(&found).await? {
            let note = Some("the store was away; workers have a lease's time to be heard of".to_owned());
            return Ok(Tally { seen: found.len() as u64, note, ..tally });
        }
        for record in found {
            if self.executor.stopping.has_begun() {
                break;
            }
            tally.seen += 1;
            tally.done += u64::from(super::settled(&record, self.look(&record).await)?);
        }
        Ok(tally)
    }
}

fn deadline_at_ms(record: &Record) -> i64 {
    let deadline_at_ms = match &record.run.state {
        State::Running(running) => Some(running.deadline_at_ms),
        State::Scheduled(scheduled) => scheduled.deadline_at_ms,
        State::Scheduling(scheduling) => scheduling.deadline_at_ms,
        State::Requested | State::Finished(_) => None,
    };
    deadline_at_ms.unwrap_or(i64::MAX)
}

/// Since when the store answers again, if it did not once.
#[derive(Debug, Default)]
struct StoreWasAway {
    back: Mutex<Option<Back>>,
}

#[derive(Debug, Clone, Copy)]
enum Back {
    NotYet,
    Since(Instant),
}

impl StoreWasAway {
    fn note(&self, error: &StoreError) {
        if error.is_passing() {
            *self.back.lock().unwrap_or_else(PoisonError::into_inner) = Some(Back::NotYet);
        }
    }

    /// Whether the store, which answers now, has done so again for less than a time.
    fn until_within(&self, time: Duration) -> bool {
        let mut back = self.back.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(Back::NotYet) = *back {
            *back = Some(Back::Since(Instant::now()));
        }
        matches!(*back, Some(Back::Since(since)) if since.elapsed() < time)
    }
}
