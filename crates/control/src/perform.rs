//! What a worker lets do the work of an attempt.

use std::future::Future;
use std::num::NonZeroUsize;
use std::path::PathBuf;

use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use trueup_events::attempt::Assignment;
use trueup_events::outcome::Outcome;
use trueup_events::{Payload, Time};
use trueup_lifecycle::Fact;

/// Something that an attempt tells while it goes on.
#[derive(Debug, Clone, PartialEq)]
pub struct Told {
    /// When it happened.
    pub time: Time,
    /// What.
    pub payload: Payload,
}

/// What a worker gives every attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Means {
    /// Where runs leave their files, each in a folder of its own.
    pub runs_dir: PathBuf,
    /// How much memory an attempt may use, unless its job says so.
    pub memory_bytes: Option<u64>,
    /// How many threads it may use, unless its job says so.
    pub threads: Option<NonZeroUsize>,
}

/// How an attempt came to its end.
#[derive(Debug, Clone, PartialEq)]
pub enum Performed {
    /// It said so itself.
    Ended(Outcome),
    /// It was stopped, as it was told to.
    Stopped,
    /// It died without a word; this was seen of it.
    Died {
        /// The facts.
        facts: Vec<Fact>,
        /// Its last words, for people.
        last_words: String,
    },
}

/// Does the work of attempts.
pub trait Perform: Send + Sync + 'static {
    /// Does it, tells as it goes on, and ends within a second of being told to stop.
    fn perform(
        &self,
        assignment: Assignment,
        tell: mpsc::Sender<Told>,
        stop: CancellationToken,
    ) -> impl Future<Output = Performed> + Send;
}
