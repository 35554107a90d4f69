//! The worker: takes runs that were handed off, and runs as many at once as it has places.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{Notify, Semaphore, watch};
use tokio_util::sync::CancellationToken;
use trueup_events::RunId;
use trueup_lifecycle::Epoch;
use trueup_store::{StoreError, Taken};

use crate::attempt::Attempt;
use crate::finisher::Finisher;
use crate::jobs::Jobs;
use crate::patience::Patience;
use crate::perform::Perform;
use crate::station::Station;
use crate::task::{Tally, Task, illegal};

/// The least time between two looks for runs to stop, well below the second within which they are.
const STOP_INTERVAL: Duration = Duration::from_millis(200);
/// How often a worker looks for work that it was not told of.
const LOOK_INTERVAL: Duration = Duration::from_secs(15);

/// Attempts by run and epoch: one that lost its run may still be ending when the next of the same run has begun here.
type UnderWay = HashMap<(RunId, Epoch), CancellationToken>;

/// A worker with so many places.
#[derive(Debug)]
pub(crate) struct Worker<P> {
    station: Station<P>,
    finisher: Finisher,
    jobs: Jobs,
    places: u32,
    free: Arc<Semaphore>,
    /// The attempts under way, and what tells each that its run is to end.
    under_way: Mutex<UnderWay>,
    has_begun_one: Notify,
    /// How many runs it has taken, and why it can take none, for its reports.
    taken: AtomicU64,
    trouble: Mutex<Option<String>>,
}

impl<P: Perform> Worker<P> {
    pub(crate) fn new(station: Station<P>, places: u32) -> Self {
        let free = Arc::new(Semaphore::new(places as usize));
        let finisher = Finisher::start(Arc::clone(&station.store), &station.stopping);
        Self {
            station,
            finisher,
            jobs: Jobs::default(),
            places,
            free,
            under_way: Mutex::default(),
            has_begun_one: Notify::new(),
            taken: AtomicU64::new(0),
            trouble: Mutex::default(),
        }
    }

    /// Works until everything stops, and what is under way has ended.
    pub(crate) async fn work(self: Arc<Self>) {
        tokio::select! {
            () = self.watch_cancels() => {}
            () = self.take_while_wanted() => {}
        }
    }

    async fn take_while_wanted(self: &Arc<Self>) {
        let mut changes = self.station.store.changes();
        let mut patience = Patience::default();
        while !self.station.stopping.has_begun() {
            let taken = self.take().await;
            self.taken.fetch_add(*taken.as_ref().unwrap_or(&0) as u64, Ordering::Relaxed);
            *self.trouble() = taken.as_ref().err().map(ToString::to_string);
            match taken {
                Ok(0) => self.rest(&mut changes).await,
                Ok(_) => patience = Patience::default(),
                Err(error) => {
                    tracing::warn!(worker = self.station.name, %error, "no runs could be taken; trying again");
                    patience.wait(&self.station.stopping).await;
                }
            }
        }
        // All places are free again when the last attempt has ended.
        drop(self.free.acquire_many(self.places).await);
    }

    /// Takes as many runs as there are places, once there is one.
    async fn take(self: &Arc<Self>) -> Result<usize, StoreError> {
        let place = tokio::select! {
            place = self.free.acquire() => place,
            () = self.station.stopping.begun() => return Ok(0),
        };
        drop(place);
        // Attempts that were reported together let go of their places one after the other.
        tokio::task::yield_now().await;
        let taken = self
            .station
            .store
            .take(&self.station.name, self.free.available_permits().try_into().unwrap_or(u32::MAX))
            .await?;
        let count = taken.len();
        for taken in taken {
            self.begin(taken);
        }
        Ok(count)
    }

    /// Waits until there may be something to take.
    async fn rest(&self, changes: &mut watch::Receiver<u64>) {
        tokio::select! {
            changed = changes.changed() => {
                if changed.is_err() {
                    // The store is closing, and everything with it.
                    self.station.stopping.begun().await;
                }
            }
            () = tokio::time::sleep(LOOK_INTERVAL) => {}
            () = self.station.stopping.begun() => {}
        }
    }

    /// Runs an attempt beside the others.
    fn begin(self: &Arc<Self>, taken: Taken) {
        // There is one: only this worker's own loop takes them, and it asked for no more runs than there were.
        let place = Arc::clone(&self.free).try_acquire_owned();
        let worker = Arc::clone(self);
        self.station.stopping.spawn(async move {
            worker.attempt(taken).await;
            drop(place);
        });
    }

    /// Runs an attempt to its end.
    pub(crate) async fn attempt(&self, taken: Taken) {
        let cancelled = CancellationToken::new();
        let attempt = (taken.record.id(), taken.record.run.epoch);
        self.under_way().insert(attempt, cancelled.clone());
        self.has_begun_one.notify_one();
        Attempt { station: &self.station, finisher: &self.finisher, jobs: &self.jobs, cancelled }
            .run(taken)
            .await;
        self.under_way().remove(&attempt);
    }

    /// Tells attempts when somebody wants their run to end; ends only with the store.
    pub(crate) async fn watch_cancels(&self) {
        let mut changes = self.station.store.changes();
        loop {
            tokio::select! {
                changed = changes.changed() => {
                    if changed.is_err() {
                        break;
                    }
                }
                // What was asked for just before it began would be missed otherwise.
                () = self.has_begun_one.notified() => {}
            }
            if self.under_way().is_empty() {
                continue;
            }
            match self.station.store.to_stop(&self.station.name).await {
                Ok(runs) => {
                    let under_way = self.under_way();
                    let to_stop = under_way.iter().filter(|((run_id, _), _)| runs.contains(run_id));
                    to_stop.for_each(|(_, cancelled)| cancelled.cancel());
                }
                // A heartbeat brings the wish as well.
                Err(error) => {
                    tracing::warn!(worker = self.station.name, %error, "could not look for cancels");
                }
            }
            tokio::time::sleep(STOP_INTERVAL).await;
        }
        std::future::pending::<()>().await;
    }

    fn trouble(&self) -> std::sync::MutexGuard<'_, Option<String>> {
        self.trouble.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn under_way(&self) -> std::sync::MutexGuard<'_, UnderWay> {
        // A map cannot be left half-changed by a panic elsewhere.
        self.under_way.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Reports what a worker is at: how many runs it executes, how many it took, and why it can take none.
pub(crate) struct AtWork<P>(pub(crate) Arc<Worker<P>>);

impl<P: Perform> Task for AtWork<P> {
    const NAME: &'static str = "worker";
    const IS_GAUGE: bool = true;

    async fn pass(&self) -> Result<Tally, StoreError> {
        let seen = self.0.under_way().len() as u64;
        let done = self.0.taken.swap(0, Ordering::Relaxed);
        let trouble = self.0.trouble().clone();
        let note = trouble.or_else(|| illegal(&self.0.station.store));
        Ok(Tally { seen, done, note, again_in: None })
    }
}
