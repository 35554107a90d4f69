//! One run, executed by who asked for it.

use std::sync::Arc;
use std::time::Duration;

use trueup_events::{RunId, TenantId};
use trueup_store::{Record, StoreError};

use crate::bounded::Bounded;
use crate::engine::Engine;
use crate::executor::Executor;
use crate::patience::insist;
use crate::perform::Perform;
use crate::settings::Settings;
use crate::station::Station;
use crate::sweep::{Leases, SWEPT_AT_ONCE};
use crate::task::Task;
use crate::worker::Worker;

/// How often a run is looked at that somebody else moves, or that waits for its turn.
const LOOK_INTERVAL: Duration = Duration::from_secs(1);

/// Sees one run to its end and no other, and says what that is; none if it was told to stop before. Beside a server, whoever comes first moves it on.
pub async fn see_through<E: Engine, P: Perform>(
    engine: &Arc<E>,
    station: Station<P>,
    tenant_id: TenantId,
    run_id: RunId,
) -> Result<Option<Record>, StoreError> {
    let lease = station.lease;
    let alone = Alone::new(engine, station, run_id);
    tokio::select! {
        ended = alone.go_on(tenant_id) => ended,
        () = alone.sweep(lease) => Ok(None),
        () = alone.worker.watch_cancels() => Ok(None),
    }
}

struct Alone<E, P> {
    run_id: RunId,
    executor: Arc<Executor<E>>,
    worker: Worker<P>,
}

impl<E: Engine, P: Perform> Alone<E, P> {
    fn new(engine: &Arc<E>, station: Station<P>, run_id: RunId) -> Self {
        let patience = Settings::default().engine_patience;
        let bounded = Bounded { engine: Arc::clone(engine), patience };
        let executor = Executor::new(&station.store, bounded, &station.name, &station.stopping);
        let executor = Arc::new(executor);
        Self { run_id, executor, worker: Worker::new(station, 1) }
    }

    async fn go_on(&self, tenant_id: TenantId) -> Result<Option<Record>, StoreError> {
        let (run_id, Executor { store, stopping, .. }) = (self.run_id, &*self.executor);
        let mut changes = store.changes();
        loop {
            changes.mark_unchanged();
            let record = insist(stopping, "reading a run", || store.run(tenant_id, run_id)).await?;
            let record = record.ok_or(StoreError::NoSuchRun(run_id))?;
            if record.run.state.status().is_terminal() {
                return Ok(Some(record));
            }
            if stopping.has_begun() {
                return Ok(None);
            }
            self.step().await?;
            tokio::select! {
                _ = changes.changed() => {}
                () = tokio::time::sleep(LOOK_INTERVAL) => {}
                () = stopping.begun() => {}
            }
        }
    }

    /// Ends what stands before the run and has lost its worker: there may be no server that does.
    async fn sweep(&self, lease: Duration) {
        // One for all passes: it remembers what it has seen, such as that the store was away.
        let leases = Leases::new(Arc::clone(&self.executor), SWEPT_AT_ONCE, lease);
        loop {
            tokio::time::sleep(lease / 3).await;
            if let Err(error) = leases.pass().await {
                tracing::warn!(%error, "could not look for lost workers");
            }
        }
    }

    /// Moves the run on as far as this process may.
    async fn step(&self) -> Result<(), StoreError> {
        let (run_id, Executor { store, name, stopping, .. }) = (self.run_id, &*self.executor);
        if let Some(claimed) = insist(stopping, "claiming a run", || store.claim_run(run_id, name)).await? {
            self.executor.submit_all(vec![claimed]).await;
        }
        if let Some(taken) = insist(stopping, "taking a run", || store.take_run(run_id, name)).await? {
            self.worker.attempt(taken).await;
        }
        Ok(())
    }
}
