//! The executor: claims runs that wait, submits them to the engine, and hands them off.

use std::sync::Arc;

use futures_util::stream::{self, StreamExt};
use trueup_events::outcome::{Reason, RunError};
use trueup_lifecycle::{Claim, Refusal};
use trueup_store::{Claimed, Record, Store, StoreError};

use crate::engine::Engine;
use crate::patience::insist;
use crate::stopping::Stopping;

/// How many submits are under way at once.
const SUBMITS_AT_ONCE: usize = 16;

/// One executor, under a name that no other has while it lives.
#[derive(Debug)]
pub(crate) struct Executor<E> {
    pub(crate) store: Arc<Store>,
    pub(crate) engine: Arc<E>,
    pub(crate) name: String,
    pub(crate) stopping: Stopping,
}

impl<E: Engine> Executor<E> {
    /// Submits all that it claimed; one that fails holds up no other.
    pub(crate) async fn submit_all(&self, claimed: Vec<Claimed>) {
        stream::iter(claimed)
            .for_each_concurrent(SUBMITS_AT_ONCE, |claimed| async move { self.submit(claimed).await })
            .await;
    }

    /// Submits a run and hands it off. What goes wrong with the store meanwhile leaves a stale claim, which a sweep takes over.
    pub(crate) async fn submit(&self, claimed: Claimed) {
        let Claimed { claim, record } = claimed;
        let run_id = record.id();
        let written = match self.engine.submit(&record).await {
            Ok(()) => self.hand_off(claim, &record).await,
            Err(error) => self.submit_failed(claim, &error).await,
        };
        match written {
            Ok(()) => {}
            Err(StoreError::Refused(refusal)) => {
                tracing::info!(%run_id, executor = self.name, %refusal, "the run went on without this executor");
            }
            Err(error) => {
                tracing::error!(%run_id, executor = self.name, %error, "the claim is left to the next sweep");
            }
        }
    }

    async fn hand_off(&self, claim: Claim, record: &Record) -> Result<(), StoreError> {
        let handed = insist(&self.stopping, "handing a run off", || self.store.hand_off(claim.clone())).await;
        match handed {
            // Cancelled in mid-submit: what was submitted is withdrawn. One that another executor has by now is left alone, since the engine knows both by one name.
            Err(StoreError::Refused(refusal @ Refusal::Finished(_))) => {
                if let Err(error) = self.engine.cancel(record).await {
                    tracing::warn!(run_id = %record.id(), %error, "a run that has ended is still with the engine");
                }
                Err(refusal.into())
            }
            handed => handed.map(drop),
        }
    }

    async fn submit_failed(&self, claim: Claim, error: &RunError) -> Result<(), StoreError> {
        tracing::warn!(run_id = %claim.run_id(), %error, "the engine did not take a run");
        let error = RunError::new(error.reason().unwrap_or(Reason::QueueRejected), error.message());
        insist(&self.stopping, "noting a failed submit", || {
            self.store.submit_failed(claim.clone(), error.clone())
        })
        .await
        .map(drop)
    }
}
