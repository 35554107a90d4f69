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
    /// Whether it sees the same runs again in every pass, so that they are not to be counted together.
    const IS_GAUGE: bool = false;

    /// Looks, and does what is to be done.
    fn pass(&self) -> impl Future<Output = Result<Tally, StoreError>> + Send;
}

/// Tells of changes that this process asked for and that no state allows: it has a fault then.
pub(crate) fn illegal(store: &Store) -> Option<String> {
    let count = store.illegal_transitions();
    (count > 0).then(|| format!("illegal transitions refused so far: {count}; the log has them"))
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

/// When a task last reported, and what.
#[derive(Default)]
struct Report {
    at: Option<Instant>,
    reported: Tally,
    unreported: Tally,
}

impl Report {
    /// Reports a pass; those that follow at once are reported together, unless there is something new to say.
    async fn note<T: Task>(&mut self, background: &Background, tally: Tally, started: Instant) {
        let Self { at, reported, unreported } = self;
        unreported.seen = if T::IS_GAUGE { tally.seen } else { unreported.seen + tally.seen };
        unreported.done += tally.done;
        unreported.note = tally.note;
        let is_news = unreported.note != reported.note || (T::IS_GAUGE && unreported.seen != reported.seen);
        let is_quiet = *unreported == Tally::default();
        let interval = if is_quiet { QUIET_INTERVAL } else { REPORT_INTERVAL };
        if is_news || at.is_none_or(|at| at.elapsed() >= interval) {
            self.write::<T>(background, started).await;
        }
    }

    /// Reports that a pass failed, at once; a store that is away cannot be told, and its next pass says more.
    async fn note_failure<T: Task>(&mut self, background: &Background, error: &StoreError, started: Instant) {
        self.unreported.note = Some(format!("failed: {error}"));
        if !matches!(error, StoreError::Away { .. }) {
            self.write::<T>(background, started).await;
        }
    }

    async fn write<T: Task>(&mut self, background: &Background, started: Instant) {
        let Tally { seen, done, note, .. } = self.unreported.clone();
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
                self.reported = std::mem::take(&mut self.unreported);
                self.at = Some(Instant::now());
            }
            // The next pass reports it with its own.
            Err(error) => tracing::warn!(task = T::NAME, %error, "a report was not written"),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

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

    /// A task that tells how things stand.
    struct Gauge;

    impl Task for Gauge {
        const NAME: &'static str = "gauge";
        const IS_GAUGE: bool = true;

        async fn pass(&self) -> Result<Tally, StoreError> {
            Ok(Tally::default())
        }
    }

    /// A store in a folder, for tasks to work on.
    async fn background(folder: &Path) -> Background {
        let place = Place::Sqlite(folder.join("trueup.db"));
        let store = Arc::new(Store::open(&place, Role::Server, Options::default()).await.unwrap());
        Background { store, instance: "one".to_owned(), stopping: Stopping::default() }
    }

    /// Notes passes, and says what the store knows after each: how many were seen and done, and why the rest were left.
    async fn reported<T: Task>(
        background: &Background,
        tallies: &[(u64, u64, Option<&str>)],
    ) -> Vec<(u64, u64, Option<String>)> {
        let (mut last, mut reports) = (Report::default(), Vec::new());
        for &(seen, done, note) in tallies {
            let tally = Tally { seen, done, note: note.map(str::to_owned), again_in: None };
            last.note::<T>(background, tally, Instant::now()).await;
            let passes = background.store.passes().await.unwrap();
            let pass = passes.iter().find(|pass| pass.task == T::NAME).unwrap();
            reports.push((pass.seen, pass.done, pass.note.clone()));
        }
        reports
    }

    #[tokio::test]
    async fn what_is_new_is_reported_at_once_and_the_rest_together() {
        let folder = tempfile::tempdir().unwrap();
        let background = background(folder.path()).await;
        let away = || Some("away".to_owned());
        let counted = [(2, 1, None), (2, 0, None), (2, 1, Some("away")), (0, 0, Some("away")), (0, 0, None)];
        let expected = [(2, 1, None), (2, 1, None), (4, 1, away()), (4, 1, away()), (0, 0, None)];
        assert_eq!(reported::<Hopeless>(&background, &counted).await, expected);
        let gauged = [(2, 1, None), (2, 1, None), (2, 0, Some("away")), (2, 0, None), (0, 0, None)];
        let expected = [(2, 1, None), (2, 1, None), (2, 1, away()), (2, 0, None), (0, 0, None)];
        assert_eq!(reported::<Gauge>(&background, &gauged).await, expected);
    }

    #[tokio::test]
    async fn a_pass_that_fails_is_reported() {
        let folder = tempfile::tempdir().unwrap();
        let background = background(folder.path()).await;
        let (store, stopping) = (Arc::clone(&background.store), background.stopping.clone());
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
