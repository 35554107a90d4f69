//! The executor: claims runs that wait, submits them to the engine, and hands them off.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use futures_util::stream::{self, StreamExt};
use trueup_events::outcome::{Reason, RunError};
use trueup_lifecycle::{Claim, Refusal};
use trueup_store::{Claimed, Record, Store, StoreError};

use crate::bounded::Bounded;
use crate::engine::Engine;
use crate::patience::insist;
use crate::stopping::Stopping;

/// How many submits are under way at once.
const SUBMITS_AT_ONCE: usize = 16;

/// One executor, under a name that no other has while it lives.
#[derive(Debug)]
pub(crate) struct Executor<E> {
    pub(crate) store: Arc<Store>,
    pub(crate) engine: Bounded<E>,
    pub(crate) name: String,
    pub(crate) stopping: Stopping,
    /// Whether what it had claimed in an earlier life is dealt with: until then it makes no claims that could be taken for those.
    pub(crate) has_started: AtomicBool,
}

impl<E: Engine> Executor<E> {
    pub(crate) fn new(store: &Arc<Store>, engine: Bounded<E>, name: &str, stopping: &Stopping) -> Self {
        Self {
            store: Arc::clone(store),
            engine,
            name: name.to_owned(),
            stopping: stopping.clone(),
            has_started: AtomicBool::new(false),
        }
    }

    /// Submits all that it claimed, hands off what the engine takes as it does, and says how many that were. What goes wrong with the store meanwhile leaves stale claims, which a sweep takes over.
    pub(crate) async fn submit_all(&self, claimed: Vec<Claimed>) -> u64 {
        let together = claimed.len().max(1);
        let submits = stream::iter(claimed).map(|Claimed { claim, record }| async move {
            let submitted = self.engine.submit(&record).await;
            (claim, record, submitted)
        });
        let mut answered = pin!(submits.buffer_unordered(SUBMITS_AT_ONCE).ready_chunks(together));
        let mut handed_off = 0;
        while let Some(submits) = answered.next().await {
            let mut taken = Vec::new();
            for (claim, record, submitted) in submits {
                match submitted {
                    Ok(()) => taken.push((claim, record)),
                    Err(error) => {
                        let written = self.submit_failed(claim, &error).await;
                        self.note(&record, written);
                    }
                }
            }
            handed_off += self.hand_off(taken).await;
        }
        handed_off
    }

    /// Hands off what the engine has taken, in one transaction; says how many it could.
    async fn hand_off(&self, taken: Vec<(Claim, Record)>) -> u64 {
        let (claims, records): (Vec<Claim>, Vec<Record>) = taken.into_iter().unzip();
        if claims.is_empty() {
            return 0;
        }
        let handed =
            insist(&self.stopping, "handing runs off", || self.store.hand_off_all(claims.clone())).await;
        match handed {
            Ok(answers) => {
                let handed_off = answers.iter().filter(|answer| answer.is_ok()).count();
                for (record, answer) in records.iter().zip(answers) {
                    if let Err(StoreError::Refused(Refusal::Finished(_))) = answer {
                        self.withdraw(record).await;
                    }
                    self.note(record, answer.map(drop));
                }
                handed_off as u64
            }
            Err(error) => {
                records.iter().for_each(|record| self.note(record, Err(error.clone())));
                0
            }
        }
    }

    /// Takes back what ended in mid-submit. One that another executor has by now is left alone, since the engine knows both by one name.
    async fn withdraw(&self, record: &Record) {
        if let Err(error) = self.engine.cancel(record).await {
            tracing::warn!(run_id = %record.id(), %error, "a run that has ended is still with the engine");
        }
    }

    /// Says what became of a submit, unless it is as it should be.
    fn note(&self, record: &Record, written: Result<(), StoreError>) {
        let (run_id, executor) = (record.id(), &self.name);
        match written {
            Ok(()) => {}
            Err(StoreError::Refused(refusal)) => {
                tracing::info!(%run_id, executor, %refusal, "the run went on without this executor");
            }
            Err(error) => tracing::error!(%run_id, executor, %error, "the claim is left to the next sweep"),
        }
    }

    async fn submit_failed(&self, claim: Claim, error: &RunError) -> Result<(), StoreError> {
        tracing::warn!(run_id = %claim.run_id(), %error, "the engine did not take a run");
        let error = RunError::new(error.reason().unwrap_or(Reason::QueueRejected), error.message());
        let note = || self.store.submit_failed(claim.clone(), error.clone());
        let record = insist(&self.stopping, "noting a failed submit", note).await?;
        if record.run.state.status().is_terminal() {
            // One whose answer was lost may be there.
            self.withdraw(&record).await;
        }
        Ok(())
    }
}
