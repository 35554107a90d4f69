//! Everything together, until it is told to stop.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use trueup_store::Store;

use crate::engine::Engine;
use crate::executor::Executor;
use crate::perform::Perform;
use crate::settings::Settings;
use crate::station::Station;
use crate::stopping::Stopping;
use crate::sweep::{HandOffs, Leases, Misses, Orphans, Retention, StaleClaims, Waiting};
use crate::task::{Background, Rhythm};
use crate::worker::Worker;

/// What a process does for runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Roles {
    /// Whether it submits them, and sweeps.
    pub executor: bool,
    /// How many it executes at once; none if no worker is wanted.
    pub places: u32,
}

/// Starts what a process does for runs; it goes on until [`Stopping::finish`].
pub fn serve<E: Engine, P: Perform>(engine: &Arc<E>, station: Station<P>, roles: Roles, settings: Settings) {
    let (store, name, stopping) =
        (Arc::clone(&station.store), station.name.clone(), station.stopping.clone());
    if roles.executor {
        execute(&store, engine, &name, settings, &stopping);
    }
    if roles.places > 0 {
        stopping.spawn(Arc::new(Worker::new(station, roles.places)).work());
    }
}

fn execute<E: Engine>(
    store: &Arc<Store>,
    engine: &Arc<E>,
    name: &str,
    settings: Settings,
    stopping: &Stopping,
) {
    let Settings { reconcile_interval, lease, retention, retention_interval, batch, .. } = settings;
    let executor = Arc::new(Executor {
        store: Arc::clone(store),
        engine: Arc::clone(engine),
        name: name.to_owned(),
        stopping: stopping.clone(),
    });
    let background =
        Background { store: Arc::clone(store), instance: name.to_owned(), stopping: stopping.clone() };
    let sweep = Rhythm { interval: reconcile_interval, on_change: false };
    let own = || Arc::clone(&executor);
    let waiting = Waiting { executor: own(), batch, has_started: AtomicBool::new(false) };
    background.start(waiting, Rhythm { on_change: true, ..sweep });
    background.start(StaleClaims { executor: own(), batch }, sweep);
    background.start(HandOffs { executor: own(), batch, misses: Misses::default() }, sweep);
    // A lost worker is no lost start: that it is noticed does not depend on the sweep for those.
    let rhythm = Rhythm { interval: Some(lease / 3), on_change: false };
    let leases =
        Leases { executor: own(), batch, misses: Misses::default(), lease, store_was_away: <_>::default() };
    background.start(leases, rhythm);
    let rhythm = Rhythm { interval: Some(retention_interval), on_change: false };
    background.start(Retention { executor: own(), kept_for: retention, batch }, rhythm);
    background.start(Orphans { executor: own(), kept_for: retention, batch }, rhythm);
}
