//! Background tasks: each looks at the store, does what is to be done, and leaves a report.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;
use trueup_store::{Pass, Store, StoreError};

use crate::patience::Patience;
use crate::settings::millis;
use crate::stopping::Stopping;

/// What one pass came to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    /// How many it looked at.
    pub(crate) seen: u64,
    /// How many of them it changed something of.
    pub(crate) done: u64,
    /// Why it left the rest.
    pub(crate) note: Option<String>,
    /// When it is to look again, if sooner than it would.
    pub(crate) again_in: Option<Duration>,
}

/// Something that is done again and again; it takes no input, so that it may run twice, and on two machines.
pub(crate) trait Task: Send + Sync + 'static {
    /// What it is called in reports.
    const NAME: &'static str;

    /// Looks, and does what is to be done.
    fn pass(&self) -> impl Future<Output = Result<Tally, StoreError>> + Send;
}

/// When a task is done again.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rhythm {
    /// After so long, at the latest.
    pub(crate) interval: Option<Duration>,
    /// Whether also whenever the store has changed.
    pub(crate) on_change: OnChange,
}

/// What a change of the store is to a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OnChange {
    /// No reason to look.
    Nothing,
    /// A reason to look at once.
    AtOnce,
    /// A reason to look, though not more than once in a while.
    Soon,
}

/// Where and by whom tasks are done.
#[derive(Debug, Clone)]
pub(crate) struct Background {
    pub(crate) store: Arc<Store>,
    pub(crate) instance: String,
    pub(crate) stopping: Stopping,
}

impl Background {
    /// Does a task until everything stops.
    pub(crate) fn start(&self, task: impl Task, rhythm: Rhythm) {
        let background = self.clone();
        self.stopping.spawn(async move { background.repeat(task, rhythm).await });
    }

    async fn repeat<T: Task>(&self, task: T, rhythm: Rhythm) {
        let mut changes = self.store.changes();
        let mut patience = Patience::default();
        let mut last = Report::default();
        while !self.stopping.has_begun() {
            changes.mark_unchanged();
            let started = Instant::now();
            let passed = tokio::select! {
                passed = task.pass() => passed,
                () = self.stopping.given_up() => return,
            };
            let interval = match passed {
                Ok(tally) => {
                    patience = Patience::default();
                    let again_in = tally.again_in;
                    last.note::<T>(self, tally, started).await;
                    self.gather(rhythm.on_change).await;
                    rhythm.interval.into_iter().chain(again_in).min()
                }
                Err(error) => {
                    tracing::warn!(task = T::NAME, %error, "a pass could not be finished; trying again");
                    last.note_failure::<T>(self, &error, started).await;
                    patience.wait(&self.stopping).await;
                    continue;
                }
            };
            tokio::select! {
                changed = changes.changed(), if rhythm.on_change != OnChange::Nothing => {
                    if changed.is_err() {
                        // The store is closing, and everything with it.
                        return;
                    }
                }
                () = pause(interval) => {}
                () = self.stopping.begun() => {}
            }
        }
    }

    /// Lets what comes gather: many are done together in nearly the time of one.
    async fn gather(&self, on_change: OnChange) {
        let time = match on_change {
            OnChange::AtOnce => GATHER,
            OnChange::Soon => SOON,
            OnChange::Nothing => return,
        };
        tokio::select! {
            () = tokio::time::sleep(time) => {}
            () = self.stopping.begun() => {}
        }
    }
}

/// Waits so long, or for ever.
async fn pause(interval: Option<Duration>) {
    match interval {
        Some(interval) => tokio::time::sleep(interval).await,
        None => std::future::pending().await,
    }
}

/// How long a task that is done at every change lets changes gather after a pass: what comes meanwhile is done together, in nearly the time of one.
const GATHER: Duration = Duration::from_millis(3);
/// How long one waits that need not look at once.
const SOON: Duration = Duration::from_millis(500);

/// How long a report stands before the same is reported again: what is done at every change would otherwise be mostly reports.
const REPORT_INTERVAL: Duration = Duration::from_secs(10);
/// How long it stands while there is nothing to report, so that doing nothing costs the database next to nothing.
const QUIET_INTERVAL: Duration = Duration::from_mins(1);

/// How the report of a pass that failed begins.
const FAILED: &str = "failed: ";

/// When a task last reported.
#[derive(Default)]
struct Report {
    at: Option<Instant>,
    unreported: Tally,
}

impl Report {
    /// Reports a pass; those that follow at once are reported together.
    async fn note<T: Task>(&mut self, background: &Background, tally: Tally, started: Instant) {
        self.unreported.seen += tally.seen;
        self.unreported.done += tally.done;
        self.unreported.note = tally.note.or_else(|| self.unreported.note.take());
        let is_quiet = self.unreported == Tally::default();
        let interval = if is_quiet { QUIET_INTERVAL } else { REPORT_INTERVAL };
        if self.at.is_none_or(|at| at.elapsed() >= interval) {
            self.write::<T>(background, started).await;
        }
    }

    /// Reports that a pass failed, at once; a store that is away cannot be told, and its next pass says more.
    async fn note_failure<T: Task>(&mut self, background: &Background, error: &StoreError, started: Instant) {
        self.unreported.note = Some(format!("{FAILED}{error}"));
        if !matches!(error, StoreError::Away { .. }) {
            self.write::<T>(background, started).await;
        }
    }

    async fn write<T: Task>(&mut self, background: &Background, started: Instant) {
        let Tally { seen, done, note, .. } = self.unreported.clone();
        let has_failed = note.as_ref().is_some_and(|note| note.starts_with(FAILED));
        let pass = Pass {
            task: T::NAME.to_owned(),
            instance: background.instance.clone(),
            at_ms: 0,
            took_ms: millis(started.elapsed()),
            seen,
            done,
            note,
        };
        match background.store.note_pass(pass).await {
            Ok(()) => {
                self.unreported = Tally::default();
                // What a pass says after one that failed is reported at once.
                self.at = (!has_failed).then(Instant::now);
            }
            // The next pass reports it with its own.
            Err(error) => tracing::warn!(task = T::NAME, %error, "a report was not written"),
        }
    }
}

#[cfg(test)]
mod tests {
    use trueup_store::{Options, Place, Role};

    use super::*;

    /// A task that cannot be done.
    struct Hopeless;

    impl Task for Hopeless {
        const NAME: &'static str = "hopeless";

        async fn pass(&self) -> Result<Tally, StoreError> {
            Err(StoreError::Failed { doing: "testing", problem: "no hope".to_owned() })
        }
    }

    #[tokio::test]
    async fn a_pass_that_fails_is_reported() {
        let folder = tempfile::tempdir().unwrap();
        let place = Place::Sqlite(folder.path().join("trueup.db"));
        let store = Arc::new(Store::open(&place, Role::Server, Options::default()).await.unwrap());
        let stopping = Stopping::default();
        let background =
            Background { store: Arc::clone(&store), instance: "one".to_owned(), stopping: stopping.clone() };
        background.start(Hopeless, Rhythm { interval: None, on_change: OnChange::Nothing });
        let look = async || store.passes().await.unwrap();
        let passes = trueup_testkit::until(store.changes(), look, |passes| !passes.is_empty()).await;
        assert_eq!(
            passes[0].note.as_deref(),
            Some("failed: the store failed while testing: no hope"),
            "{passes:?}"
        );
        stopping.finish(Duration::ZERO).await;
    }
}
