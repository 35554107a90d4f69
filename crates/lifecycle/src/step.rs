//! The one function that says what becomes of a run: every pair of a state and an event has one answer.

use trueup_events::Payload;
use trueup_events::outcome::{ErrorCode, Outcome, Reason, RunError};
use trueup_events::payload::{ExecutionScheduled, ExecutionStatusChanged, QueueErrored, Queued};

use crate::classify::{Fact, classify, is_passing, worker_lost};
use crate::end::{cancelled, concluded, infrastructure};
use crate::grant::{Claim, Lease};
use crate::run::{Cancel, Run, Settings};
use crate::state::{Ending, Epoch, Finished, Hold, Running, Scheduled, Scheduling, State, Status};
use crate::verbs::Report;

/// What happens to a run: what an owner does, what a sweep finds, what a person wants.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Event<'a> {
    /// An executor wants to submit it.
    Claim { executor: &'a str },
    /// A sweep finds that its executor, or the engine, has lost it.
    TakeOver { executor: &'a str },
    /// The engine has taken it.
    HandOff(&'a Claim),
    /// The engine has not.
    SubmitFailed(&'a Claim, &'a RunError),
    /// A worker wants to run it.
    Take { worker: &'a str },
    /// Its worker is alive.
    Heartbeat(&'a Lease),
    /// Its worker says how the attempt ended.
    Report(&'a Lease, &'a Report),
    /// Its worker has to go before the attempt has ended.
    HandBack(&'a Lease),
    /// The engine says how a run ended of which nothing else was heard.
    Answer(&'a Report),
    /// A sweep finds that its lease, or its time, ran out.
    Expire,
    /// Somebody wants it to end.
    Cancel(&'a Cancel),
}

impl Event<'_> {
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Claim { .. } => "claim",
            Self::TakeOver { .. } => "take over",
            Self::HandOff(_) => "hand off",
            Self::SubmitFailed(..) => "submit failed",
            Self::Take { .. } => "take",
            Self::Heartbeat(_) => "heartbeat",
            Self::Report(..) => "report",
            Self::HandBack(_) => "hand back",
            Self::Answer(_) => "answer",
            Self::Expire => "expire",
            Self::Cancel(_) => "cancel",
        }
    }

    /// The owner's number that it is done under, if only an owner may do it.
    fn epoch(&self) -> Option<Epoch> {
        match self {
            Self::HandOff(claim) | Self::SubmitFailed(claim, _) => Some(claim.epoch),
            Self::Heartbeat(lease) | Self::Report(lease, _) | Self::HandBack(lease) => Some(lease.epoch),
            _ => None,
        }
    }
}

/// What a run becomes, and what is told of it; both commit together or not at all.
#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    /// The run from now on.
    pub run: Run,
    /// What to append to the log, in this order.
    pub events: Vec<Payload>,
}

/// A change that no state allows at this point.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a run that is {state} knows no `{event}`")]
pub struct IllegalTransition {
    /// The state that the run is in.
    pub state: Status,
    /// What was to happen.
    pub event: &'static str,
}

/// Why a run was not changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// It makes no sense in this state.
    #[error(transparent)]
    Illegal(#[from] IllegalTransition),
    /// Another owner has the run by now; the one who asked stops.
    #[error("the run has another owner by now: it is {status} at epoch {}", epoch.0)]
    Lost {
        /// What the run is now.
        status: Status,
        /// The number of its owner now.
        epoch: Epoch,
    },
    /// The owner's time is not over.
    #[error("the owner of the run has time until {until_ms} ms")]
    Early {
        /// When it will be.
        until_ms: i64,
    },
    /// Its time is over, so that nobody may go on with it.
    #[error("the run had time until {deadline_at_ms} ms")]
    Overdue {
        /// When it was over.
        deadline_at_ms: i64,
    },
    /// It has ended already.
    #[error("the run is {} already", .0.ending.status())]
    Finished(Finished),
}

/// Answers an event at a time of the store's clock.
pub(crate) fn step(run: &Run, event: Event<'_>, now_ms: i64, settings: &Settings) -> Result<Change, Refusal> {
    let is_owner = event.epoch().is_none_or(|epoch| epoch == run.epoch);
    match (&run.state, event) {
        (State::Requested, Event::Claim { executor }) => {
            Ok(claim(run, Submission::FIRST, executor, now_ms, settings))
        }
        (State::Scheduling(scheduling), Event::Claim { executor }) => match scheduling.hold {
            Hold::BackingOff { until_ms } if now_ms >= until_ms => {
                refuse_overdue(scheduling.deadline_at_ms, now_ms)?;
                Ok(claim(run, Submission::from(scheduling).next(), executor, now_ms, settings))
            }
            Hold::BackingOff { until_ms } | Hold::Claimed { stale_at_ms: until_ms, .. } => {
                Err(Refusal::Early { until_ms })
            }
        },
        (State::Scheduling(scheduling), Event::TakeOver { executor }) => {
            take_over_claim(run, scheduling, executor, now_ms, settings)
        }
        (State::Scheduled(scheduled), Event::TakeOver { executor }) => {
            take_over_hand_off(run, scheduled, executor, now_ms, settings)
        }
        (State::Scheduling(scheduling), Event::HandOff(_)) if is_owner && scheduling.is_claimed() => {
            Ok(hand_off(run, scheduling, now_ms))
        }
        (State::Scheduling(failed), Event::SubmitFailed(_, error)) if is_owner && failed.is_claimed() => {
            Ok(submit_failed(run, failed.into(), error, now_ms, settings))
        }
        (State::Scheduled(scheduled), Event::Take { worker }) => {
            refuse_overdue(scheduled.deadline_at_ms, now_ms)?;
            Ok(take(run, scheduled, worker, now_ms, settings))
        }
        (State::Running(running), Event::Heartbeat(_)) if is_owner => {
            Ok(heartbeat(run, running, now_ms, settings))
        }
        (State::Running(running), Event::Report(_, report)) if is_owner => {
            Ok(report_end(run, running, report, now_ms, settings))
        }
        (State::Running(running), Event::HandBack(_)) if is_owner => Ok(hand_back(run, running, now_ms)),
        (State::Scheduled(_), Event::Answer(report)) => Ok(answered(run, report, now_ms)),
        (State::Running(running), Event::Answer(report)) => {
            lease_is_out(running, now_ms).map(|()| report_end(run, running, report, now_ms, settings))
        }
        (State::Running(running), Event::Expire) => expire(run, running, now_ms, settings),
        (
            State::Scheduled(Scheduled { deadline_at_ms: Some(deadline_at_ms), .. })
            | State::Scheduling(Scheduling { deadline_at_ms: Some(deadline_at_ms), .. }),
            Event::Expire,
        ) => expire_waiting(run, *deadline_at_ms, now_ms),
        (State::Running(_), Event::Cancel(cancel)) => Ok(ask_to_stop(run, cancel)),
        (State::Requested | State::Scheduling(_) | State::Scheduled(_), Event::Cancel(cancel)) => {
            let Change { run, mut events } = ask_to_stop(run, cancel);
            let ended = cancelled(&run, cancel, now_ms);
            events.extend(ended.events);
            Ok(Change { run: ended.run, events })
        }
        // The first cancel took effect; a second one is told the same.
        (State::Finished(Finished { ending: Ending::Cancelled, .. }), Event::Cancel(_)) => Ok(unchanged(run)),
        (State::Finished(finished), Event::Report(_, report) | Event::Answer(report)) => {
            beside(run, finished, report)
        }
        (State::Finished(finished), _) => Err(Refusal::Finished(finished.clone())),
        // Somebody else took it while the engine was asked about it.
        (State::Running(_), Event::TakeOver { .. }) | (State::Scheduling(_), Event::Answer(_)) => {
            Err(Refusal::Lost { status: run.state.status(), epoch: run.epoch })
        }
        (state, _) if !is_owner => Err(Refusal::Lost { status: state.status(), epoch: run.epoch }),
        (state, event) => Err(IllegalTransition { state: state.status(), event: event.name() }.into()),
    }
}

fn unchanged(run: &Run) -> Change {
    Change { run: run.clone(), events: Vec::new() }
}

fn moved(run: &Run, epoch: Epoch, state: State, events: Vec<Payload>) -> Change {
    Change { run: Run { epoch, state, ..run.clone() }, events }
}

/// Which submit it is, and of which attempt: a run that waits for another one keeps its deadline.
#[derive(Debug, Clone, Copy)]
struct Submission {
    submits: u32,
    attempt: u32,
    deadline_at_ms: Option<i64>,
}

impl Submission {
    const FIRST: Self = Self { submits: 1, attempt: 1, deadline_at_ms: None };

    fn next(self) -> Self {
        Self { submits: self.submits.saturating_add(1), ..self }
    }

    fn held(self, hold: Hold) -> State {
        let Self { submits, attempt, deadline_at_ms } = self;
        State::Scheduling(Scheduling { hold, submits, attempt, deadline_at_ms })
    }
}

impl From<&Scheduling> for Submission {
    fn from(scheduling: &Scheduling) -> Self {
        let Scheduling { submits, attempt, deadline_at_ms, .. } = *scheduling;
        Self { submits, attempt, deadline_at_ms }
    }
}

impl From<&Scheduled> for Submission {
    fn from(scheduled: &Scheduled) -> Self {
        let Scheduled { submits, attempt, deadline_at_ms, .. } = *scheduled;
        Self { submits, attempt, deadline_at_ms }
    }
}

fn claim(run: &Run, submission: Submission, executor: &str, now_ms: i64, settings: &Settings) -> Change {
    let stale_at_ms = now_ms.saturating_add(settings.reconcile_grace_ms);
    let hold = Hold::Claimed { executor: executor.to_owned(), stale_at_ms };
    moved(run, run.epoch.next(), submission.held(hold), Vec::new())
}

/// An executor that asks for a claim of its own has lost it in a restart, so it need not wait.
fn take_over_claim(
    run: &Run,
    scheduling: &Scheduling,
    executor: &str,
    now_ms: i64,
    settings: &Settings,
) -> Result<Change, Refusal> {
    match &scheduling.hold {
        Hold::BackingOff { until_ms } => Err(Refusal::Early { until_ms: *until_ms }),
        Hold::Claimed { executor: holder, stale_at_ms } if now_ms < *stale_at_ms && holder != executor => {
            Err(Refusal::Early { until_ms: *stale_at_ms })
        }
        Hold::Claimed { executor: holder, .. } => {
            let error = RunError::new(
                Reason::QueueRejected,
                format!("the executor {holder} claimed the run and was not heard of again"),
            );
            Ok(submit_again(run, scheduling.into(), &error, executor, now_ms, settings))
        }
    }
}

fn take_over_hand_off(
    run: &Run,
    scheduled: &Scheduled,
    executor: &str,
    now_ms: i64,
    settings: &Settings,
) -> Result<Change, Refusal> {
    let until_ms = scheduled.since_ms.saturating_add(settings.reconcile_grace_ms);
    if now_ms < until_ms {
        return Err(Refusal::Early { until_ms });
    }
    let error =
        RunError::new(Reason::QueueRejected, "the engine does not know the run that was handed to it");
    Ok(submit_again(run, scheduled.into(), &error, executor, now_ms, settings))
}

fn submit_again(
    run: &Run,
    failed: Submission,
    error: &RunError,
    executor: &str,
    now_ms: i64,
    settings: &Settings,
) -> Change {
    if refuse_overdue(failed.deadline_at_ms, now_ms).is_err() {
        return timed_out(run, now_ms);
    }
    if failed.submits >= settings.max_submit_attempts {
        return submit_failed(run, failed, error, now_ms, settings);
    }
    let mut change = claim(run, failed.next(), executor, now_ms, settings);
    change.events.push(queue_errored(error, failed.submits));
    change
}

fn queue_errored(error: &RunError, submits: u32) -> Payload {
    QueueErrored { reason: error.message().to_owned(), attempt: Some(submits) }.into()
}

fn hand_off(run: &Run, scheduling: &Scheduling, now_ms: i64) -> Change {
    let workflow_name = run.ids.run_id.workflow_name();
    let queued = Queued { workflow_name: workflow_name.clone(), argo_workflow_name: None };
    let scheduled = ExecutionScheduled { workflow_name, epoch: run.epoch.0 };
    let Submission { submits, attempt, deadline_at_ms } = scheduling.into();
    let state = Scheduled { submits, attempt, since_ms: now_ms, deadline_at_ms };
    moved(run, run.epoch, State::Scheduled(state), vec![queued.into(), scheduled.into()])
}

fn submit_failed(
    run: &Run,
    failed: Submission,
    error: &RunError,
    now_ms: i64,
    settings: &Settings,
) -> Change {
    let submits = failed.submits;
    let mut change = if submits < settings.max_submit_attempts && is_passing(error) {
        let hold = Hold::BackingOff { until_ms: now_ms.saturating_add(settings.pause_ms(submits)) };
        moved(run, run.epoch, failed.held(hold), Vec::new())
    } else {
        concluded(run, &Outcome::Error(error.clone()), now_ms)
    };
    change.events.insert(0, queue_errored(error, submits));
    change
}

fn take(run: &Run, scheduled: &Scheduled, worker: &str, now_ms: i64, settings: &Settings) -> Change {
    let deadline_at_ms =
        scheduled.deadline_at_ms.unwrap_or_else(|| now_ms.saturating_add(run.policy.deadline_ms));
    let running = Running {
        worker: worker.to_owned(),
        submits: scheduled.submits,
        attempt: scheduled.attempt,
        lease_until_ms: now_ms.saturating_add(settings.lease_ms),
        deadline_at_ms,
    };
    let epoch = run.epoch.next();
    moved(run, epoch, State::Running(running), vec![status_changed(Status::Running, epoch)])
}

pub(crate) fn status_changed(status: Status, epoch: Epoch) -> Payload {
    ExecutionStatusChanged { state: status.name().to_owned(), epoch: epoch.0 }.into()
}

/// A lease is not prolonged past the deadline, so that a worker that hangs but beats loses the run in the end.
fn heartbeat(run: &Run, running: &Running, now_ms: i64, settings: &Settings) -> Change {
    let lease_until_ms = now_ms.min(running.deadline_at_ms).saturating_add(settings.lease_ms);
    let running = Running { lease_until_ms, ..running.clone() };
    moved(run, run.epoch, State::Running(running), Vec::new())
}

fn report_end(run: &Run, running: &Running, report: &Report, now_ms: i64, settings: &Settings) -> Change {
    let outcome = match (report, &run.cancel) {
        // It did as it was asked; there is nothing to tell beside that.
        (Report::Stopped, Some(cancel)) => return cancelled(run, cancel, now_ms),
        (report, _) => outcome_of(report),
    };
    let mut change = match (&outcome, &run.cancel) {
        (Outcome::Result(_), _) => concluded(run, &outcome, now_ms),
        (Outcome::Error(_), Some(cancel)) => cancelled(run, cancel, now_ms),
        (Outcome::Error(error), None) => attempt_died(run, running, error, now_ms, settings),
    };
    change.events.insert(0, infrastructure(run, &outcome));
    change
}

fn outcome_of(report: &Report) -> Outcome {
    match report {
        Report::Ended(outcome) => outcome.clone(),
        Report::Stopped => Outcome::Error(RunError::of_code(
            ErrorCode::Crashed,
            "it was stopped before it had ended, and nobody had asked for that",
        )),
    }
}

/// Ends a run that no worker of ours took, as the engine that has it says.
fn answered(run: &Run, report: &Report, now_ms: i64) -> Change {
    let outcome = outcome_of(report);
    let mut change = concluded(run, &outcome, now_ms);
    change.events.insert(0, infrastructure(run, &outcome));
    change
}

/// Lets another worker run the attempt from its start; one that somebody wants to end has thereby ended.
fn hand_back(run: &Run, running: &Running, now_ms: i64) -> Change {
    if let Some(cancel) = &run.cancel {
        return cancelled(run, cancel, now_ms);
    }
    let &Running { submits, attempt, deadline_at_ms, .. } = running;
    let deadline_at_ms = Some(deadline_at_ms);
    begin_again(run, State::Scheduled(Scheduled { submits, attempt, since_ms: now_ms, deadline_at_ms }))
}

/// Lets others go on with a run that its worker has let go of.
fn begin_again(run: &Run, state: State) -> Change {
    let (epoch, status) = (run.epoch.next(), state.status());
    moved(run, epoch, state, vec![status_changed(status, epoch)])
}

/// Ends the run, or lets it be submitted for another attempt after a pause, if the fault may pass and the job allows that.
fn attempt_died(run: &Run, running: &Running, error: &RunError, now_ms: i64, settings: &Settings) -> Change {
    let &Running { attempt, deadline_at_ms, .. } = running;
    let left_ms = deadline_at_ms.saturating_sub(now_ms);
    if attempt > run.policy.retries || left_ms <= 0 || !is_passing(error) {
        return concluded(run, &Outcome::Error(error.clone()), now_ms);
    }
    // Half of what is left, at most: no pause costs the attempt that it is for.
    let until_ms = now_ms.saturating_add(settings.pause_ms(attempt).min(left_ms / 2));
    let again =
        Submission { submits: 0, attempt: attempt.saturating_add(1), deadline_at_ms: Some(deadline_at_ms) };
    begin_again(run, again.held(Hold::BackingOff { until_ms }))
}

/// While its worker may still be heard of, nobody else speaks for a run.
fn lease_is_out(running: &Running, now_ms: i64) -> Result<(), Refusal> {
    if now_ms < running.lease_until_ms {
        return Err(Refusal::Early { until_ms: running.lease_until_ms });
    }
    Ok(())
}

fn expire(run: &Run, running: &Running, now_ms: i64, settings: &Settings) -> Result<Change, Refusal> {
    lease_is_out(running, now_ms)?;
    if let Some(cancel) = &run.cancel {
        return Ok(cancelled(run, cancel, now_ms));
    }
    if now_ms >= running.deadline_at_ms {
        return Ok(timed_out(run, now_ms));
    }
    Ok(attempt_died(run, running, &worker_lost(&running.worker), now_ms, settings))
}

/// Ends a run whose time ran out between two attempts; an executor keeps what it has claimed until that is stale.
fn expire_waiting(run: &Run, deadline_at_ms: i64, now_ms: i64) -> Result<Change, Refusal> {
    let until_ms = match &run.state {
        State::Scheduling(Scheduling { hold: Hold::Claimed { stale_at_ms, .. }, .. }) => {
            deadline_at_ms.max(*stale_at_ms)
        }
        _ => deadline_at_ms,
    };
    if now_ms < until_ms { Err(Refusal::Early { until_ms }) } else { Ok(timed_out(run, now_ms)) }
}

/// Refuses to go on with a run past the deadline that an earlier attempt has set.
fn refuse_overdue(deadline_at_ms: Option<i64>, now_ms: i64) -> Result<(), Refusal> {
    match deadline_at_ms {
        Some(deadline_at_ms) if now_ms >= deadline_at_ms => Err(Refusal::Overdue { deadline_at_ms }),
        _ => Ok(()),
    }
}

fn timed_out(run: &Run, now_ms: i64) -> Change {
    concluded(run, &Outcome::Error(classify(&[Fact::DeadlinePassed])), now_ms)
}

/// Notes who wants it to end; the first to ask is the one who is named.
fn ask_to_stop(run: &Run, cancel: &Cancel) -> Change {
    if run.cancel.is_some() {
        return unchanged(run);
    }
    let events = vec![crate::end::cancel_requested(cancel)];
    Change { run: Run { cancel: Some(cancel.clone()), ..run.clone() }, events }
}

/// Keeps a second outcome beside the first; the same one again, or a third, adds nothing.
fn beside(run: &Run, finished: &Finished, report: &Report) -> Result<Change, Refusal> {
    let is_another = |outcome: &Outcome| match (&finished.ending, outcome) {
        (Ending::Concluded(first), _) => first != outcome,
        // An error is how a worker answers a cancel, and its answer may come twice.
        (Ending::Cancelled, outcome) => matches!(outcome, Outcome::Result(_)),
    };
    match report {
        Report::Ended(outcome) if run.beside.is_none() && is_another(outcome) => {
            let events = vec![infrastructure(run, outcome)];
            Ok(Change { run: Run { beside: Some(outcome.clone()), ..run.clone() }, events })
        }
        _ => Err(Refusal::Finished(finished.clone())),
    }
}
