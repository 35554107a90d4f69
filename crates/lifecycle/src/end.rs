//! How a run ends, and what is told then: exactly one of `run.finalised` and `run.cancelled`.

use trueup_events::Payload;
use trueup_events::outcome::Outcome;
use trueup_events::payload::{CancelRequested, Cancelled, Completed, Errored, ExecutionCompleted, Finalised};

use crate::run::{Cancel, Run};
use crate::state::{Ending, Finished, State};
use crate::step::{Change, status_changed};

/// Ends a run with an outcome of its own.
pub(crate) fn concluded(run: &Run, outcome: &Outcome, now_ms: i64) -> Change {
    let told = Finalised { outcome: outcome.clone() };
    finished(run, Ending::Concluded(outcome.clone()), told.into(), now_ms)
}

/// Ends a run by a cancel.
pub(crate) fn cancelled(run: &Run, cancel: &Cancel, now_ms: i64) -> Change {
    finished(run, Ending::Cancelled, cancelled_by(cancel), now_ms)
}

/// What is told of a cancel that took effect.
pub(crate) fn cancelled_by(cancel: &Cancel) -> Payload {
    Cancelled { cancelled_by: cancel.by.clone(), reason: cancel.reason.clone().unwrap_or_default() }.into()
}

fn finished(run: &Run, ending: Ending, told: Payload, now_ms: i64) -> Change {
    let status = ending.status();
    let mut events = vec![told];
    if matches!(run.state, State::Scheduled(_) | State::Running(_)) {
        events.push(status_changed(status, run.epoch));
    }
    events.push(ExecutionCompleted { state: status.name().to_owned() }.into());
    Change { run: Run { state: State::Finished(Finished { at_ms: now_ms, ending }), ..run.clone() }, events }
}

/// What the worker side says of an attempt that ended.
pub(crate) fn infrastructure(run: &Run, outcome: &Outcome) -> Payload {
    let workflow_name = run.ids.run_id.workflow_name();
    match outcome {
        Outcome::Result(result) => Completed { workflow_name, result: *result }.into(),
        Outcome::Error(error) => Errored { workflow_name, error: error.clone() }.into(),
    }
}

pub(crate) fn cancel_requested(cancel: &Cancel) -> Payload {
    CancelRequested { cancelled_by: cancel.by.clone(), reason: cancel.reason.clone().unwrap_or_default() }
        .into()
}
