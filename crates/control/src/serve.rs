//! Everything together, until it is told to stop.

use std::sync::Arc;

use crate::bounded::Bounded;
use crate::child::Child;
use crate::engine::Engine;
use crate::executor::Executor;
use crate::local::Local;
use crate::perform::Perform;
use crate::settings::Settings;
use crate::station::Station;
use crate::sweep::{Cancels, HandOffs, Leases, Misses, Orphans, Pauses, Retention, StaleClaims, Waiting};
use crate::task::{Background, OnChange, Rhythm, Task};
use crate::worker::{AtWork, Worker};

/// What a process does for runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Roles {
    /// Whether it submits them, and sweeps.
    pub executor: bool,
    /// How many it executes at once; none if no worker is wanted.
    pub places: u32,
}

/// How many times its longest pause a process may be silent before its reports are forgotten.
const SILENT_PAUSES: u32 = 10;

/// Starts what a process does for runs; it goes on until [`Stopping::finish`](crate::Stopping::finish).
pub fn serve<E: Engine, P: Perform>(engine: &Arc<E>, station: Station<P>, roles: Roles, settings: Settings) {
    let (store, name, stopping) = (&station.store, &station.name, &station.stopping);
    let bounded = Bounded { engine: Arc::clone(engine), patience: settings.engine_patience };
    let executor = Arc::new(Executor::new(store, bounded, name, stopping));
    let background =
        Background { store: Arc::clone(store), instance: name.clone(), stopping: stopping.clone() };
    // Wherever runs are executed they leave something behind.
    let Settings { retention: kept_for, retention_interval, batch, .. } = settings;
    let orphans = Orphans { executor: Arc::clone(&executor), kept_for, batch };
    background.start(orphans, Rhythm { interval: Some(retention_interval), on_change: OnChange::Nothing });
    if roles.executor {
        execute(&executor, &background, settings);
    }
    if roles.places > 0 {
        let stopping = stopping.clone();
        let worker = Arc::new(Worker::new(station, roles.places));
        // A look into memory, as seldom as reports are written.
        let now_and_then = Rhythm { interval: Some(settings.lease / 3), on_change: OnChange::Nothing };
        background.start(AtWork(Arc::clone(&worker)), now_and_then);
        stopping.spawn(worker.work());
    }
}

/// Whether a task of that name, by which it reports, is one that only servers have.
pub fn is_of_servers(task: &str) -> bool {
    ![<Orphans<Local>>::NAME, <AtWork<Child>>::NAME].contains(&task)
}

fn execute<E: Engine>(executor: &Arc<Executor<E>>, background: &Background, settings: Settings) {
    let Settings { reconcile_interval, lease, retention, retention_interval, batch, .. } = settings;
    let own = || Arc::clone(executor);
    let sweep = Rhythm { interval: reconcile_interval, on_change: OnChange::Nothing };
    background.start(Waiting { executor: own(), batch }, Rhythm { on_change: OnChange::AtOnce, ..sweep });
    background.start(StaleClaims { executor: own(), batch }, sweep);
    background.start(HandOffs { executor: own(), batch, misses: Misses::default() }, sweep);
    // A pause or a cancel is no lost start: that they are noticed does not depend on the sweep for those.
    let soon = Rhythm { interval: None, on_change: OnChange::Soon };
    background.start(Pauses { executor: own(), batch }, soon);
    let often = Rhythm { interval: Some(lease / 3), on_change: OnChange::Nothing };
    background.start(Cancels { executor: own(), batch }, Rhythm { on_change: OnChange::Soon, ..often });
    // Nor is a lost worker.
    background.start(Leases::new(own(), batch, lease), often);
    let seldom = Rhythm { interval: Some(retention_interval), on_change: OnChange::Nothing };
    let reports_kept_for = lease.max(retention_interval) * SILENT_PAUSES;
    background.start(Retention { executor: own(), kept_for: retention, reports_kept_for, batch }, seldom);
}
