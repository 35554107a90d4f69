//! What a history of events amounts to, whatever order it arrives in.

use trueup_events::Payload;
use trueup_events::outcome::Outcome;

use crate::state::{Ending, Epoch, Status};

/// What the events of a run say about it, put together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Folded {
    /// How far the run has come. A claim is no event, so a run that is being submitted counts as what it was before.
    pub status: Status,
    /// The latest owner that an event speaks of.
    pub epoch: Epoch,
    /// How it ended; the first to be committed stands.
    pub ending: Option<Ending>,
    /// Another end that was told after it, beside the first.
    pub beside: Option<Ending>,
}

/// Folds a history, in the order of the log.
pub fn fold<'a>(history: impl IntoIterator<Item = &'a Payload>) -> Folded {
    let mut folded =
        Folded { status: Status::Requested, epoch: Epoch::default(), ending: None, beside: None };
    history.into_iter().for_each(|event| folded.apply(event));
    folded
}

impl Folded {
    /// Takes one more event into account; a run that has ended stays as it is.
    ///
    /// Only `run.finalised` and `run.cancelled` end it: what an attempt reports becomes one of them in the transaction that accepts it.
    pub fn apply(&mut self, event: &Payload) {
        match event {
            Payload::Finalised(finalised) => self.end(Ending::Concluded(finalised.outcome.clone())),
            Payload::Cancelled(_) => self.end(Ending::Cancelled),
            Payload::Completed(completed) => self.report(Outcome::Result(completed.result)),
            Payload::Errored(errored) => self.report(Outcome::Error(errored.error.clone())),
            Payload::ExecutionScheduled(scheduled) => self.advance(scheduled.epoch, Status::Scheduled),
            Payload::ExecutionStatusChanged(changed) => {
                if let Some(status) = Status::named(&changed.state) {
                    self.advance(changed.epoch, status);
                }
            }
            // Progress, and what leads to a state without being one.
            _ => {}
        }
    }

    fn end(&mut self, ending: Ending) {
        if self.ending.is_none() {
            self.status = ending.status();
            self.ending = Some(ending);
        } else {
            self.tell_beside(ending);
        }
    }

    fn report(&mut self, outcome: Outcome) {
        if self.ending.is_some() {
            self.tell_beside(Ending::Concluded(outcome));
        }
    }

    fn tell_beside(&mut self, ending: Ending) {
        if self.beside.is_none() && self.ending.as_ref() != Some(&ending) {
            self.beside = Some(ending);
        }
    }

    fn advance(&mut self, epoch: u64, status: Status) {
        let epoch = Epoch(epoch);
        let is_later = (epoch, status) > (self.epoch, self.status);
        self.epoch = self.epoch.max(epoch);
        if self.ending.is_none() && is_later && !status.is_terminal() {
            self.status = status;
        }
    }
}
