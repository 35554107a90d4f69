//! What may be asked of a run, by whom, and what they get for it.

use trueup_events::Ids;
use trueup_events::outcome::{Outcome, RunError};
use trueup_events::payload::{ExecutionRequested, Mode, Triggered};

use crate::grant::{Claim, Lease};
use crate::run::{Cancel, Policy, Run, Settings};
use crate::state::{Epoch, State};
use crate::step::{Change, Event, Refusal, step};

/// What a worker says when it is done with a run.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Report {
    /// The attempt came to an end of its own.
    Ended(Outcome),
    /// The worker stopped it before that.
    Stopped,
}

/// What became of a wish to cancel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CancelAnswer {
    /// The run is cancelled.
    Cancelled,
    /// Its worker will be told, and its answer decides.
    Asked,
}

/// Who wanted a run, and where it waits.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Request {
    /// Whether somebody asked or its time had come.
    pub mode: Mode,
    /// The user, or `scheduled`.
    pub by: String,
    /// The queue it waits in.
    pub queue: String,
}

impl Run {
    /// A new run: the intent, to be committed.
    pub fn request(ids: Ids, policy: Policy, request: &Request) -> Change {
        let run = Self {
            ids,
            policy,
            epoch: Epoch::default(),
            state: State::Requested,
            cancel: None,
            beside: None,
        };
        let triggered = Triggered { mode: request.mode, triggered_by: request.by.clone() };
        let requested = ExecutionRequested { queue: request.queue.clone() };
        Change { run, events: vec![triggered.into(), requested.into()] }
    }

    /// Gives a waiting run to an executor.
    pub fn claim(
        &self,
        executor: &str,
        now_ms: i64,
        settings: &Settings,
    ) -> Result<(Change, Claim), Refusal> {
        let change = step(self, Event::Claim { executor }, now_ms, settings)?;
        let claim = Claim { run_id: self.ids.run_id, epoch: change.run.epoch, executor: executor.to_owned() };
        Ok((change, claim))
    }

    /// Gives a run that its executor or the engine has lost to another executor; none is given when it has been tried too often.
    pub fn take_over(
        &self,
        executor: &str,
        now_ms: i64,
        settings: &Settings,
    ) -> Result<(Change, Option<Claim>), Refusal> {
        let change = step(self, Event::TakeOver { executor }, now_ms, settings)?;
        let is_claimed = matches!(change.run.state, State::Scheduling(_));
        let claim = Claim { run_id: self.ids.run_id, epoch: change.run.epoch, executor: executor.to_owned() };
        Ok((change, is_claimed.then_some(claim)))
    }

    /// Hands a submitted run to the worker side.
    pub fn hand_off(&self, claim: &Claim, now_ms: i64, settings: &Settings) -> Result<Change, Refusal> {
        step(self, Event::HandOff(claim), now_ms, settings)
    }

    /// Notes that the engine did not take it: it is tried again later, or fails.
    pub fn submit_failed(
        &self,
        claim: &Claim,
        error: &RunError,
        now_ms: i64,
        settings: &Settings,
    ) -> Result<Change, Refusal> {
        step(self, Event::SubmitFailed(claim, error), now_ms, settings)
    }

    /// Gives a scheduled run to a worker.
    pub fn take(&self, worker: &str, now_ms: i64, settings: &Settings) -> Result<(Change, Lease), Refusal> {
        let change = step(self, Event::Take { worker }, now_ms, settings)?;
        let State::Running(running) = &change.run.state else {
            unreachable!("a run that was taken is running")
        };
        let lease = Lease {
            run_id: self.ids.run_id,
            epoch: change.run.epoch,
            worker: worker.to_owned(),
            deadline_at_ms: running.deadline_at_ms,
        };
        Ok((change, lease))
    }

    /// Prolongs the lease of a worker that is alive.
    pub fn heartbeat(&self, lease: &Lease, now_ms: i64, settings: &Settings) -> Result<Change, Refusal> {
        step(self, Event::Heartbeat(lease), now_ms, settings)
    }

    /// Applies what a worker says of the end of its attempt.
    pub fn report(
        &self,
        lease: &Lease,
        report: &Report,
        now_ms: i64,
        settings: &Settings,
    ) -> Result<Change, Refusal> {
        step(self, Event::Report(lease, report), now_ms, settings)
    }

    /// Gives a run back that its worker cannot finish: another starts the same attempt anew.
    pub fn hand_back(&self, lease: &Lease, now_ms: i64, settings: &Settings) -> Result<Change, Refusal> {
        step(self, Event::HandBack(lease), now_ms, settings)
    }

    /// Applies what an engine says of the end of a run whose worker was not heard of.
    pub fn answer(&self, report: &Report, now_ms: i64, settings: &Settings) -> Result<Change, Refusal> {
        step(self, Event::Answer(report), now_ms, settings)
    }

    /// Ends or retries a run whose lease ran out, or ends one whose deadline passed while it waited for another attempt.
    pub fn expire(&self, now_ms: i64, settings: &Settings) -> Result<Change, Refusal> {
        step(self, Event::Expire, now_ms, settings)
    }

    /// Cancels a run, or asks its worker to stop.
    pub fn cancel(&self, cancel: &Cancel, settings: &Settings) -> Result<(Change, CancelAnswer), Refusal> {
        let change = step(self, Event::Cancel(cancel), cancel.at_ms, settings)?;
        let is_over = change.run.state.status().is_terminal();
        Ok((change, if is_over { CancelAnswer::Cancelled } else { CancelAnswer::Asked }))
    }
}
