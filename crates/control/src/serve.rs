//! Everything together, until it is told to stop.

use std::sync::Arc;

use trueup_store::Store;

use crate::bounded::Bounded;
use crate::engine::Engine;
use crate::executor::Executor;
use crate::perform::Perform;
use crate::settings::Settings;
use crate::station::Station;
use crate::stopping::Stopping;
use crate::sweep::{Cancels, HandOffs, Leases, Misses, Orphans, Pauses, Retention, StaleClaims, Waiting};
use crate::task::{Background, OnChange, Rhythm};
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
    let bounded = Bounded { engine: Arc::clone(engine), patience: settings.engine_patience };
    let executor = Arc::new(Executor::new(store, bounded, name, stopping));
    let background =
        Background { store: Arc::clone(store), instance: name.to_owned(), stopping: stopping.clone() };
    let own = || Arc::clone(&executor);
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
    let leases =
        Leases { executor: own(), batch, misses: Misses::default(), lease, store_was_away: <_>::default() };
    background.start(leases, often);
    let seldom = Rhythm { interval: Some(retention_interval), on_change: OnChange::Nothing };
    background.start(Retention { executor: own(), kept_for: retention, batch }, seldom);
    background.start(Orphans { executor: own(), kept_for: retention, batch }, seldom);
}
