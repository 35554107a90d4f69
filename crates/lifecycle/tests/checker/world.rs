//! One state of the modelled system: the store, who works on it, the engine, and what may still go wrong.

use std::collections::BTreeSet;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use trueup_events::Payload;
use trueup_lifecycle::{Claim, Epoch, Folded, Lease, Report, Run, Status};

use crate::action::Said;
use crate::store::Transaction;

pub(crate) const EXECUTORS: [&str; 2] = ["executor-1", "executor-2"];
pub(crate) const WORKERS: [&str; 2] = ["worker-1", "worker-2"];

/// Everything there is at one moment.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct World {
    /// The store's clock; nobody decides by another.
    pub now_ms: i64,
    /// The runs, in the order they were triggered.
    pub rows: Vec<Row>,
    /// The runs in the order in which sweeps look at them: the one that was not looked at for longest first.
    pub checked: Vec<usize>,
    /// How many slots of the queue are in use.
    pub slots: i8,
    pub executors: [Executor; 2],
    pub workers: [Worker; 2],
    /// A person's wish to cancel that is about to be written.
    pub person: Option<Transaction>,
    pub engine: Engine,
    pub left: Left,
}

/// A run as the store remembers it, with its log.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Row {
    pub run: Arc<Run>,
    pub log: Log,
}

/// The log of a run, as far as the properties ask: what it folds to, and how often it tells what.
///
/// Folding event by event is what `fold` does, so that the log itself need not be a part of the state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Log {
    pub folded: Folded,
    pub finalised: u8,
    pub cancelled: u8,
    pub cancel_requested: u8,
    pub execution_completed: u8,
    pub attempts: u8,
}

impl Log {
    pub(crate) fn new(events: &[Payload]) -> Self {
        let folded = trueup_lifecycle::fold([]);
        let mut log = Self {
            folded,
            finalised: 0,
            cancelled: 0,
            cancel_requested: 0,
            execution_completed: 0,
            attempts: 0,
        };
        log.append(events);
        log
    }

    pub(crate) fn append(&mut self, events: &[Payload]) {
        for event in events {
            self.folded.apply(event);
            match event {
                Payload::Finalised(_) => self.finalised += 1,
                Payload::Cancelled(_) => self.cancelled += 1,
                Payload::CancelRequested(_) => self.cancel_requested += 1,
                Payload::ExecutionCompleted(_) => self.execution_completed += 1,
                Payload::ExecutionStatusChanged(changed) if changed.state == Status::Running.name() => {
                    self.attempts += 1;
                }
                _ => {}
            }
        }
    }
}

impl Hash for Log {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let Folded { status, epoch, ending, beside } = &self.folded;
        (status, epoch, ending, beside).hash(state);
        (self.finalised, self.cancelled, self.cancel_requested, self.execution_completed).hash(state);
        self.attempts.hash(state);
    }
}

/// What an executor is about.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Executor {
    Idle,
    /// It has loaded a run and is about to write it.
    Writes(Transaction),
    /// The engine has told it how a run ended.
    Hears(usize, Said),
    /// Its claim is committed, and nothing is submitted.
    Holds(Claim),
    /// It has called the engine and waits for the answer.
    Submits(Claim),
}

impl Executor {
    pub(crate) fn has_loaded(&self, run: usize) -> bool {
        matches!(self, Self::Writes(transaction) if transaction.run == run)
    }
}

/// What a worker is about.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Worker {
    Idle,
    /// It has loaded a run and is about to write it.
    Writes(Transaction),
    /// It runs an attempt.
    Works {
        lease: Lease,
        is_told_to_stop: bool,
    },
    /// It has said how the attempt ended, does not know whether that was heard, and says it again.
    Repeats(Lease, Report),
}

/// Somebody who writes to the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Actor {
    Executor(usize),
    Worker(usize),
    Person,
}

/// What the engine knows, and what is on its way to it, in no order.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub(crate) struct Engine {
    pub knows: BTreeSet<EngineId>,
    pub mail: BTreeSet<Message>,
}

impl Engine {
    pub(crate) fn knows_run(&self, run: usize) -> bool {
        self.knows.iter().any(|id| id.run == run)
    }
}

/// The name that the engine knows a run by: of the run alone, unless that is what is broken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct EngineId {
    pub run: usize,
    pub salt: Option<Epoch>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Message {
    Submit(EngineId),
    Withdraw(EngineId),
}

/// What may still happen; it bounds the search.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(crate) struct Left {
    /// Crashes, lost and repeated messages, lost answers, and runs that the engine forgets.
    pub faults: u8,
    pub cancels: u8,
    /// Workers that go before their attempt has ended.
    pub leaves: u8,
    /// Runs that the engine says the end of.
    pub answers: u8,
    pub ticks: u8,
}
