//! What a failed run is told to have failed of: a function of the evidence, whatever order it came in.

use trueup_events::outcome::{ErrorCode, Reason, RunError};

/// One thing that was seen of a failure.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Fact {
    /// The deadline had passed.
    DeadlinePassed,
    /// The system, or a limit, refused memory.
    OutOfMemory,
    /// The attempt said why it ended.
    Said {
        /// What kind of failure it named.
        reason: Reason,
        /// Its own words.
        message: String,
    },
    /// The process was ended by a signal.
    Signalled(i32),
    /// The process ended with a code and no word.
    Exited(i32),
    /// The process could not be started or watched; this is why.
    Unseen(String),
    /// The worker was not heard of, and nothing else is known.
    WorkerSilent,
}

/// The error that the evidence amounts to; no evidence is an error too, of unknown cause.
pub fn classify(facts: &[Fact]) -> RunError {
    // The order of the variants is the order of weight: a process killed at its deadline timed out, one killed for its memory ran out of it.
    match facts.iter().min() {
        Some(Fact::DeadlinePassed) => {
            RunError::new(Reason::DeadlineExceeded, "the run did not end before its deadline")
        }
        Some(Fact::OutOfMemory) => {
            RunError::new(Reason::OutOfMemory, "the run needed more memory than it may use")
        }
        Some(Fact::Said { reason, message }) => RunError::new(*reason, message),
        Some(Fact::Signalled(signal)) => {
            RunError::of_code(ErrorCode::Crashed, format!("the process was ended by signal {signal}"))
        }
        Some(Fact::Exited(code)) => RunError::of_code(
            ErrorCode::Crashed,
            format!("the process ended with exit code {code} and said nothing"),
        ),
        Some(Fact::Unseen(problem)) => {
            RunError::of_code(ErrorCode::Crashed, format!("the attempt could not be seen through: {problem}"))
        }
        Some(Fact::WorkerSilent) => worker_lost("the worker"),
        None => RunError::of_code(ErrorCode::Unknown, "the run ended, and nothing says why"),
    }
}

/// The error of a run whose worker was not heard of again.
pub(crate) fn worker_lost(worker: &str) -> RunError {
    RunError::new(
        Reason::WorkerLost,
        format!("{worker} was not heard of again, and nothing says how the run ended"),
    )
}

/// Whether trying again may help: the fault may pass. What would fail again in the same way ends a run at once.
pub fn is_passing(error: &RunError) -> bool {
    match error.reason() {
        Some(Reason::ConnectionFailed | Reason::OutOfMemory | Reason::QueueRejected | Reason::WorkerLost) => {
            true
        }
        Some(
            Reason::ComparisonFailed
            | Reason::DeadlineExceeded
            | Reason::InvalidJob
            | Reason::SourceInvalid
            | Reason::SourceMissing,
        ) => false,
        None => error.code() == ErrorCode::Crashed,
    }
}
