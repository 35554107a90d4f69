//! One attempt in a worker's hands: from the lease to the report.

use std::collections::VecDeque;
use std::pin::pin;
use std::time::Duration;

use futures_util::future::{Fuse, FusedFuture, FutureExt};
use tokio::sync::mpsc;
use tokio::time::{Instant, MissedTickBehavior, interval_at, sleep_until};
use tokio_util::sync::CancellationToken;
use trueup_events::attempt::Assignment;
use trueup_events::outcome::{Outcome, Reason, RunError};
use trueup_events::{Payload, Time};
use trueup_lifecycle::{Cancel, Fact, Lease, Report, State, classify};
use trueup_store::{Finish, Record, StoreError, Taken};

use crate::finisher::Finisher;
use crate::jobs::Jobs;
use crate::patience::{before_the_end, insist};
use crate::perform::{Perform, Performed, Told};
use crate::settings::millis;
use crate::station::Station;

/// How many things an attempt may tell before the store has taken the first of them; it waits then.
const TOLD_MAX: usize = 256;
/// How often a run is handed back before it is left to a sweep, and the pause between.
const HAND_BACKS: u32 = 3;
const HAND_BACK_PAUSE: Duration = Duration::from_millis(300);
/// How long what was told may wait for more.
const TELL_INTERVAL: Duration = Duration::from_millis(500);

/// Why an attempt was told to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stop {
    /// Somebody wants the run to end.
    Cancel,
    /// It has had its time.
    Deadline,
    /// The worker has to go.
    Leaving,
    /// The run has another owner, or an end.
    LeaseLost,
}

/// What an attempt needs beside its lease.
#[derive(Debug)]
pub(crate) struct Attempt<'a, P> {
    pub(crate) station: &'a Station<P>,
    pub(crate) finisher: &'a Finisher,
    pub(crate) jobs: &'a Jobs,
    /// Fires when somebody wants the run to end.
    pub(crate) cancelled: CancellationToken,
}

impl<P: Perform> Attempt<'_, P> {
    /// Runs an attempt to its end and reports it.
    pub(crate) async fn run(self, taken: Taken) {
        let Taken { lease, record } = taken;
        let run_id = record.id();
        match self.attempt(&lease, &record).await {
            Ok(Some(Finish::Accepted(record))) => {
                tracing::info!(%run_id, status = %record.run.state.status(), "an attempt has ended");
            }
            Ok(Some(Finish::Late(record))) => {
                tracing::warn!(%run_id, worker = lease.worker(), status = %record.run.state.status(),
                    "the report was refused: the run had ended already");
            }
            Ok(None) => tracing::info!(%run_id, "the run was handed back"),
            Err(StoreError::Refused(refusal)) => {
                tracing::warn!(%run_id, worker = lease.worker(), %refusal, "the lease is lost: the write was refused, and the result is dropped");
            }
            Err(error) => tracing::error!(%run_id, %error, "the run is left to the next sweep"),
        }
    }

    async fn attempt(&self, lease: &Lease, record: &Record) -> Result<Option<Finish>, StoreError> {
        let deadline = deadline(lease, record, self.station.lease);
        let (job_id, revision) = (record.run.ids.job_id, record.revision);
        let read = || self.jobs.revision(&self.station.store, job_id, revision);
        let job = insist(&self.station.stopping, "reading a job", read).await?;
        let Some(job) = job else {
            let error = RunError::new(Reason::InvalidJob, format!("revision {revision} of its job is gone"));
            return self.finish(lease, Report::Ended(Outcome::Error(error))).await.map(Some);
        };
        let attempt = match &record.run.state {
            State::Running(running) => running.attempt,
            _ => 1,
        };
        let folder = self.station.means.runs_dir.join(record.id().workflow_name());
        let assignment = Assignment {
            ids: record.run.ids,
            job: job.document.document.clone(),
            params: record.params.clone(),
            requested_at_ms: record.requested_at_ms,
            breaks_dir: folder.join(attempt.to_string()),
            memory_bytes: self.station.means.memory_bytes,
            threads: self.station.means.threads,
        };
        let (performed, stop) = self.perform(lease, assignment, deadline).await;
        match (performed, stop) {
            // What came to its end is told though the lease is lost: a run that was given up meanwhile keeps it beside its end.
            (Performed::Ended(outcome), Some(Stop::LeaseLost)) => {
                self.finish(lease, Report::Ended(outcome)).await.map(Some)
            }
            (_, Some(Stop::LeaseLost)) => {
                // Asked once more, so that what stands is told.
                let beat = self.station.store.heartbeat(lease);
                before_the_end(&self.station.stopping, "asking what became of a run", beat).await?;
                Ok(None)
            }
            // Whoever ends a whole service may have ended the attempt as well, which says nothing of the run.
            (Performed::Stopped, Some(Stop::Leaving))
            | (Performed::Died { .. }, None | Some(Stop::Leaving))
                if self.station.stopping.has_begun() =>
            {
                self.hand_back(lease).await.map(|()| None)
            }
            (performed, stop) => self.finish(lease, report(performed, stop)).await.map(Some),
        }
    }

    /// Gives the run back; tried a few times, since everything else has been given up by now.
    async fn hand_back(&self, lease: &Lease) -> Result<(), StoreError> {
        let Station { store, stopping, .. } = self.station;
        let hand_back = || before_the_end(stopping, "handing a run back", store.hand_back(lease.clone()));
        let mut handed = hand_back().await;
        for _ in 1..HAND_BACKS {
            if !handed.as_ref().is_err_and(StoreError::is_passing) {
                break;
            }
            tokio::time::sleep(HAND_BACK_PAUSE).await;
            handed = hand_back().await;
        }
        handed.map(drop)
    }

    async fn finish(&self, lease: &Lease, report: Report) -> Result<Finish, StoreError> {
        self.finisher.finish(lease.clone(), report).await
    }

    /// Lets the work be done; tells the store what it tells, keeps the lease alive, and stops it when it has to.
    async fn perform(
        &self,
        lease: &Lease,
        assignment: Assignment,
        deadline: Instant,
    ) -> (Performed, Option<Stop>) {
        let (tell, told) = mpsc::channel(TOLD_MAX);
        let stop = CancellationToken::new();
        let mut work = pin!(self.station.performer.perform(assignment, tell, stop.clone()));
        let mut account = Account { told, unsaid: VecDeque::new(), is_open: true, is_unheard: false };
        // Beside everything else: a store that hangs holds up no deadline, no cancel and no end.
        let mut telling = pin!(Fuse::terminated());
        let mut why = None;
        let beat = self.station.lease / 3;
        let mut beats = interval_at(Instant::now() + beat, beat);
        let mut tells = interval_at(Instant::now() + TELL_INTERVAL, TELL_INTERVAL);
        tells.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let performed = loop {
            let wish = tokio::select! {
                biased;
                performed = &mut work => break performed,
                () = self.cancelled.cancelled(), if why.is_none() => Some(Stop::Cancel),
                () = sleep_until(deadline), if why.is_none() => Some(Stop::Deadline),
                () = self.station.stopping.given_up(), if why.is_none() => Some(Stop::Leaving),
                answer = &mut telling => account.note(lease, answer),
                () = account.listen(why.is_some()) => None,
                _ = beats.tick(), if telling.is_terminated() => {
                    telling.set(self.say(lease, account.all()).fuse());
                    None
                }
                // A store that did not hear is told again with the next beat.
                _ = tells.tick(), if telling.is_terminated() && !account.is_unheard && !account.unsaid.is_empty() => {
                    telling.set(self.say(lease, account.all()).fuse());
                    None
                }
            };
            if let (Some(wish), true) = (wish, why.is_none() || wish == Some(Stop::LeaseLost)) {
                why = Some(wish);
                stop.cancel();
            }
        };
        account.drain().await;
        if !telling.is_terminated() && account.note(lease, telling.await) == Some(Stop::LeaseLost) {
            why = Some(Stop::LeaseLost);
        }
        if why != Some(Stop::LeaseLost) && self.say_the_rest(lease, &account).await == Some(Stop::LeaseLost) {
            why = Some(Stop::LeaseLost);
        }
        (performed, why)
    }

    /// Tells the store what was not told yet before the end is; what an attempt found is not lost because the store was away for a moment.
    async fn say_the_rest(&self, lease: &Lease, account: &Account) -> Option<Stop> {
        if account.unsaid.is_empty() {
            return None;
        }
        let tell = || self.station.store.tell(lease, account.all());
        match insist(&self.station.stopping, "telling how a run went", tell).await {
            Err(StoreError::Refused(_) | StoreError::NoSuchRun(_)) => Some(Stop::LeaseLost),
            Err(error) => {
                tracing::error!(run_id = %lease.run_id(), %error, "what a run told at its end is not in the log");
                None
            }
            Ok(_) => None,
        }
    }

    /// Tells the store what there is to tell; says how much that was, and what it says back.
    async fn say(&self, lease: &Lease, told: Vec<(Time, Payload)>) -> Answer {
        let count = told.len();
        let tell = self.station.store.tell(lease, told);
        (count, before_the_end(&self.station.stopping, "telling how a run goes on", tell).await)
    }
}

/// How many things the store was told, and what it said.
type Answer = (usize, Result<Option<Cancel>, StoreError>);

/// What an attempt has told and the store has not taken yet.
struct Account {
    told: mpsc::Receiver<Told>,
    unsaid: VecDeque<Told>,
    is_open: bool,
    /// Whether the store did not hear the last time.
    is_unheard: bool,
}

impl Account {
    /// What the store has not taken yet.
    fn all(&self) -> Vec<(Time, Payload)> {
        self.unsaid.iter().cloned().map(|told| (told.time, told.payload)).collect()
    }

    /// Notes what the store has taken; what it said may be a reason to stop.
    fn note(&mut self, lease: &Lease, (count, answer): Answer) -> Option<Stop> {
        match answer {
            Ok(cancel) => {
                self.unsaid.drain(..count);
                self.is_unheard = false;
                cancel.map(|_| Stop::Cancel)
            }
            Err(StoreError::Refused(_) | StoreError::NoSuchRun(_)) => Some(Stop::LeaseLost),
            Err(error) => {
                // The work goes on: should the lease run out meanwhile, the store says so when it is back.
                tracing::warn!(run_id = %lease.run_id(), %error, "the store did not hear how a run goes on");
                self.is_unheard = true;
                None
            }
        }
    }

    /// Takes the next thing that is told; waits for ever when there can be none, or too much waits already. Whoever is to stop is heard to the end, which it could not come to otherwise.
    async fn listen(&mut self, is_stopping: bool) {
        if !self.is_open || (self.unsaid.len() >= TOLD_MAX && !is_stopping) {
            return std::future::pending().await;
        }
        match self.told.recv().await {
            Some(told) => self.unsaid.push_back(told),
            None => self.is_open = false,
        }
    }

    /// Takes all that was told before the work ended.
    async fn drain(&mut self) {
        while let Some(told) = self.told.recv().await {
            self.unsaid.push_back(told);
        }
    }
}

/// When the run has had its time, by this machine's clock; how long that is, the store's has said.
fn deadline(lease: &Lease, record: &Record, lease_time: Duration) -> Instant {
    let State::Running(running) = &record.run.state else { return Instant::now() };
    let taken_at_ms = running.lease_until_ms.saturating_sub(millis(lease_time));
    let left_ms = lease.deadline_at_ms().saturating_sub(taken_at_ms).max(0);
    Instant::now() + Duration::from_millis(left_ms.cast_unsigned())
}

/// What is reported of an attempt that ended.
fn report(performed: Performed, stop: Option<Stop>) -> Report {
    match (performed, stop) {
        (Performed::Ended(outcome), _) => Report::Ended(outcome),
        (Performed::Stopped | Performed::Died { .. }, Some(Stop::Deadline)) => {
            Report::Ended(Outcome::Error(classify(&[Fact::DeadlinePassed])))
        }
        (Performed::Stopped, _) | (Performed::Died { .. }, Some(Stop::Cancel | Stop::LeaseLost)) => {
            Report::Stopped
        }
        (Performed::Died { facts, last_words }, None | Some(Stop::Leaving)) => {
            let error = classify(&facts);
            let said = if last_words.is_empty() { "" } else { "; its last words: " };
            let message = format!("{}{said}{last_words}", error.message());
            Report::Ended(Outcome::Error(match error.reason() {
                Some(reason) => RunError::new(reason, message),
                None => RunError::of_code(error.code(), message),
            }))
        }
    }
}
