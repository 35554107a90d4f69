//! The modelled store: runs that change only by a transaction that loads, asks `lifecycle`, and writes.

use std::sync::Arc;

use trueup_events::outcome::{Reason, RunError};
use trueup_events::payload::CancelRequested;
use trueup_lifecycle::{
    Cancel, CancelAnswer, Change, Claim, Finished, Lease, Refusal, Report, Run, Scheduled, State, Status,
};

use crate::model::{Defect, System};
use crate::world::World;

/// What is to be done to a run, by the verbs of `lifecycle`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Deed {
    Claim(&'static str),
    TakeOver(&'static str),
    HandOff(Claim),
    SubmitFailed(Claim),
    Take(&'static str),
    Heartbeat(Lease),
    Report(Lease, Report),
    HandBack(Lease),
    Answer(Report),
    Expire,
    Cancel,
}

/// A transaction between its load and its write.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Transaction {
    pub run: usize,
    pub deed: Deed,
    pub loaded: Arc<Run>,
    /// The time of the load.
    pub now_ms: i64,
    /// The slots that were in use, where a new one is about to be taken.
    counted: Option<i8>,
}

/// What the winner of a write has got by it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Grant {
    Nothing,
    Claim(Claim),
    Lease(Lease),
    /// What a heartbeat hears.
    Stop,
    /// The run is cancelled: whoever asked tells the engine.
    Withdraw,
}

impl System {
    /// Loads a run and asks what becomes of it; a refusal ends the transaction.
    pub(crate) fn load(&self, world: &World, run: usize, deed: Deed) -> Result<Transaction, Refusal> {
        let loaded = Arc::clone(&world.rows[run].run);
        let takes_slot = matches!(deed, Deed::Claim(_)) && !loaded.state.status().holds_slot();
        let counted = takes_slot.then_some(world.slots);
        let transaction = Transaction { run, deed, loaded, now_ms: world.now_ms, counted };
        self.answer(&transaction).map(|_| transaction)
    }

    /// Writes what was asked for, with its events and its slot, if nobody wrote in between; none says that the writer has lost.
    pub(crate) fn write(&self, world: &mut World, transaction: &Transaction) -> Option<Grant> {
        let (change, grant) = self.answer(transaction).ok()?;
        let is_queue_as_counted = transaction.counted.is_none_or(|counted| counted == world.slots);
        if !is_queue_as_counted && self.defect != Some(Defect::QueueNotLocked) {
            return None;
        }
        let row = &mut world.rows[transaction.run];
        if !self.is_as_loaded(&row.run, &transaction.loaded) {
            return None;
        }
        let holds = |run: &Run| i8::from(run.state.status().holds_slot());
        world.slots += holds(&change.run) - holds(&row.run);
        row.run = Arc::new(without_end_time(change.run));
        row.log.append(&change.events);
        Some(grant)
    }

    /// Whether a row may be written over: what was loaded must still be there.
    ///
    /// The store locks what it loads, so that a writer who finds it changed is one who could not have loaded it so; the epoch and the
    /// status alone would not do, since neither a cancel of a running run nor a heartbeat changes them.
    fn is_as_loaded(&self, row: &Run, loaded: &Run) -> bool {
        match self.defect {
            Some(Defect::NoEpochCheck) => true,
            Some(Defect::RowNotLocked) => {
                row.epoch == loaded.epoch && row.state.status() == loaded.state.status()
            }
            _ => row == loaded,
        }
    }

    fn answer(&self, transaction: &Transaction) -> Result<(Change, Grant), Refusal> {
        let Transaction { deed, loaded: run, now_ms, .. } = transaction;
        let (now_ms, settings) = (*now_ms, &self.settings);
        match deed {
            Deed::Claim(executor) => {
                let (change, claim) = run.claim(executor, now_ms, settings)?;
                Ok((change, Grant::Claim(claim)))
            }
            Deed::TakeOver(executor) => {
                let (change, claim) = run.take_over(executor, now_ms, settings)?;
                Ok((change, claim.map_or(Grant::Nothing, Grant::Claim)))
            }
            Deed::HandOff(claim) => Ok((run.hand_off(claim, now_ms, settings)?, Grant::Nothing)),
            Deed::SubmitFailed(claim) => {
                let error = RunError::new(Reason::QueueRejected, "no answer");
                Ok((run.submit_failed(claim, &error, now_ms, settings)?, Grant::Nothing))
            }
            Deed::Take(worker) => {
                let (change, lease) = self.as_taken(run).take(worker, now_ms, settings)?;
                Ok((change, Grant::Lease(lease)))
            }
            Deed::Heartbeat(lease) => {
                let change = run.heartbeat(lease, now_ms, settings)?;
                let grant = if change.run.cancel.is_some() { Grant::Stop } else { Grant::Nothing };
                Ok((change, grant))
            }
            Deed::Report(lease, report) => Ok((run.report(lease, report, now_ms, settings)?, Grant::Nothing)),
            Deed::HandBack(lease) => Ok((self.hand_back(run, lease, now_ms)?, Grant::Nothing)),
            Deed::Answer(report) => Ok((run.answer(report, now_ms, settings)?, Grant::Nothing)),
            Deed::Expire => Ok((run.expire(now_ms, settings)?, Grant::Nothing)),
            Deed::Cancel => self.cancel(run),
        }
    }

    /// The run as its taker sees it, who may be blind to its deadline.
    fn as_taken(&self, run: &Run) -> Run {
        match &run.state {
            State::Scheduled(scheduled) if self.defect == Some(Defect::TakenPastDeadline) => {
                let state = State::Scheduled(Scheduled { deadline_at_ms: None, ..scheduled.clone() });
                Run { state, ..run.clone() }
            }
            _ => run.clone(),
        }
    }

    /// The wish to cancel may be lost on the way.
    fn hand_back(&self, run: &Run, lease: &Lease, now_ms: i64) -> Result<Change, Refusal> {
        if self.defect != Some(Defect::CancelLostByHandBack) {
            return run.hand_back(lease, now_ms, &self.settings);
        }
        let mut change = Run { cancel: None, ..run.clone() }.hand_back(lease, now_ms, &self.settings)?;
        change.run.cancel.clone_from(&run.cancel);
        Ok(change)
    }

    fn cancel(&self, run: &Run) -> Result<(Change, Grant), Refusal> {
        let cancel = Cancel { by: "ann".to_owned(), at_ms: 0, reason: None };
        let is_before_start =
            matches!(run.state.status(), Status::Requested | Status::Scheduling | Status::Scheduled);
        if is_before_start && self.defect == Some(Defect::CancelLostBeforeStart) {
            let asked = CancelRequested { cancelled_by: cancel.by.clone(), reason: String::new() };
            let run = Run { cancel: Some(cancel), ..run.clone() };
            return Ok((Change { run, events: vec![asked.into()] }, Grant::Nothing));
        }
        let (change, answer) = run.cancel(&cancel, &self.settings)?;
        let grant = if answer == CancelAnswer::Cancelled { Grant::Withdraw } else { Grant::Nothing };
        Ok((change, grant))
    }
}

/// Nothing is decided by when a run ended, so states that differ only in that are one.
fn without_end_time(run: Run) -> Run {
    match run.state {
        State::Finished(Finished { ending, .. }) => {
            Run { state: State::Finished(Finished { at_ms: 0, ending }), ..run }
        }
        _ => run,
    }
}
