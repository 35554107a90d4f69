//! The steps that the checker tries in every order.

use trueup_events::outcome::{ErrorCode, Outcome, RunError, Verdict};
use trueup_lifecycle::Report;

use crate::world::{Actor, EngineId, Message};

/// A step; a load and its write are two, so that others come between.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Action {
    /// The store's clock goes on.
    Tick,
    /// A person wants a run to end, and its row is loaded.
    Cancel(usize),
    /// An executor finds a waiting run, and loads it.
    Claim(usize),
    /// An executor finds a stale claim, or its own, and loads it.
    SweepClaims(usize),
    /// An executor finds an old hand-off and asks the engine for it.
    SweepHandOffs(usize),
    /// An executor finds a lease that has run out.
    SweepLeases(usize),
    /// An executor asks the engine about a run that is silent, and hears how it ended.
    Hear(usize, Said),
    /// An executor loads the run to note what the engine said.
    Answer(usize),
    /// An executor calls the engine.
    Submit(usize),
    /// The engine has answered that it has the run; its row is loaded for the hand-off.
    Accepted(usize),
    /// The engine has not answered; the row is loaded to note that.
    NoAnswer(usize),
    /// The engine starts a run at a worker, which loads it.
    Start(usize, usize),
    /// A worker loads its run to prolong its lease.
    Heartbeat(usize),
    /// A worker that has to go loads its run to give it back.
    HandBack(usize),
    /// A worker loads its run to say how the attempt ended.
    Report(usize, Said),
    /// A worker that was not answered says it again.
    ReportAgain(usize),
    /// A transaction writes what it loaded for.
    Write(Actor),
    /// A worker's report is written, and the acknowledgement is lost.
    WriteUnheard(usize),
    /// A process dies, and forgets.
    Crash(Actor),
    Deliver(Message),
    Lose(Message),
    /// A message arrives, and will arrive again.
    Repeat(Message),
    /// The engine loses what it knew of a run.
    Forget(EngineId),
}

/// How an attempt ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Said {
    Matched,
    Crashed,
    Stopped,
}

impl Said {
    pub(crate) fn report(self) -> Report {
        match self {
            Self::Matched => Report::Ended(Outcome::Result(Verdict::Matched)),
            Self::Crashed => Report::Ended(Outcome::Error(RunError::of_code(ErrorCode::Crashed, "signal 9"))),
            Self::Stopped => Report::Stopped,
        }
    }
}
