//! What a run is, who owns it at each stage, and which changes are legal.
//!
//! Pure: no IO, no clock, no async. A store loads a [`Run`] and locks it, asks it for a [`Change`] by one of its verbs, and writes the
//! change where the row's epoch and state are still those it loaded; without the lock that would not do, since neither a cancel of a
//! running run nor a heartbeat changes either. A [`Claim`] and a [`Lease`] come from claiming and taking alone, and every
//! later verb of that owner asks for them, so that code that does not own a run cannot move it.

mod admission;
mod classify;
mod end;
mod fold;
mod grant;
mod observe;
mod run;
mod state;
mod step;
mod steps;
#[cfg(test)]
mod table;
mod verbs;

pub use admission::{Limits, QueueFull};
pub use classify::{Fact, classify, is_passing};
pub use fold::{Folded, fold};
pub use grant::{Claim, Lease};
pub use observe::Observation;
pub use run::{Cancel, Policy, Run, Settings};
pub use state::{Ending, Epoch, Finished, Hold, Running, Scheduled, Scheduling, State, Status};
pub use step::{Change, IllegalTransition, Refusal};
pub use steps::{Progress, Step, StepState, Steps};
pub use verbs::{CancelAnswer, Report, Request};
