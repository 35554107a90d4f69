//! What the events of an execution that something else started amount to, whatever order they arrive in.
//!
//! Nobody here owns it, so that its events alone move it: each takes it further or nowhere, and the first end that is told stands.

use trueup_events::payload::{CancelRequested, Payload};
use trueup_events::{Event, EventType, Mark, Status as Told};

use crate::end::{cancel_requested, cancelled_by};
use crate::run::Cancel;
use crate::state::{Ending, Status};
use crate::steps::{StepState, Steps, cut};

/// What names an execution, where producers say what an event is about.
const EXECUTIONS: [&str; 4] = ["execution", "playbook", "workflow", "run"];
/// Fields in which an event about an execution says what is executed.
const NAMES: [&str; 4] = ["path", "job", "playbook", "job_id"];

/// An execution as its events tell of it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Observation {
    /// How far it has come.
    pub status: Status,
    /// What is executed: the first path or job that an event named.
    pub name: Option<String>,
    /// The steps that were heard of.
    pub steps: Steps,
    /// The first cancel that was asked for, here or elsewhere.
    pub cancel: Option<Cancel>,
}

impl Default for Observation {
    fn default() -> Self {
        Self { status: Status::Requested, name: None, steps: Steps::default(), cancel: None }
    }
}

/// What an event is about, and what it says of that.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Said<'a> {
    /// The execution has come so far, or has ended so.
    Execution(Status),
    /// A step is in a state, so that the execution runs.
    Step(&'a str, StepState),
    /// That it runs, and no more.
    Life,
}

impl Observation {
    /// Takes one more event into account, in the order of arrival; of one that moves nothing, says why.
    pub fn observe(&mut self, event: &Event) -> Option<Mark> {
        if self.status.is_terminal() {
            return Some(Mark::Stale);
        }
        if event.details.as_ref().is_some_and(|details| !details.actionable) {
            return Some(Mark::Noted);
        }
        let reached = match said(event) {
            Said::Execution(status) => {
                self.name = self.name.take().or_else(|| named(event));
                status
            }
            Said::Step(step, state) => {
                self.steps.hear(step, state);
                Status::Running
            }
            Said::Life => Status::Running,
        };
        self.status = self.status.max(reached);
        self.cancel = self.cancel.take().or_else(|| wish(event));
        None
    }

    /// Cancels it, and says what is told then; one that has ended stays as it did.
    pub fn cancel(&mut self, cancel: Cancel) -> Result<[Payload; 2], Status> {
        if self.status.is_terminal() {
            return Err(self.status);
        }
        let told = [cancel_requested(&cancel), cancelled_by(&cancel)];
        self.status = Status::Cancelled;
        self.cancel.get_or_insert(cancel);
        Ok(told)
    }
}

impl Steps {
    /// Takes into account what an event of a run of ours says of its stages.
    pub fn hear_event(&mut self, event: &Event) {
        if let Said::Step(step, state) = said(event) {
            self.hear(step, state);
        }
    }
}

fn said(event: &Event) -> Said<'_> {
    let stage = |state| {
        let name = event.data.get("stage_name").and_then(|name| name.as_str());
        name.map_or(Said::Life, |name| Said::Step(name, state))
    };
    let Some(event_type) = event.name.event_type() else { return said_elsewhere(event) };
    match event_type {
        EventType::Triggered | EventType::CancelRequested | EventType::ExecutionRequested => {
            Said::Execution(Status::Requested)
        }
        EventType::Queued | EventType::QueueErrored | EventType::ExecutionScheduled => {
            Said::Execution(Status::Scheduled)
        }
        EventType::ExecutionStatusChanged => {
            let status = state(event).filter(|status| !status.is_terminal());
            Said::Execution(status.unwrap_or(Status::Running))
        }
        EventType::StageStarted => stage(StepState::Running),
        EventType::StageCompleted => stage(StepState::Completed),
        EventType::StageErrored => stage(StepState::Failed),
        EventType::Cancelled => Said::Execution(Status::Cancelled),
        EventType::Finalised => Said::Execution(match Payload::read(event_type, &event.data) {
            Ok(Payload::Finalised(finalised)) => Ending::Concluded(finalised.outcome).status(),
            _ => ended(event),
        }),
        EventType::ExecutionCompleted => {
            let status = state(event).filter(|status| status.is_terminal());
            Said::Execution(status.unwrap_or_else(|| ended(event)))
        }
        // How an attempt ended, which another may follow, and how far it is.
        _ => Said::Life,
    }
}

/// What an event says whose name is none of ours: it is about the execution if all but the last word of its name are.
fn said_elsewhere(event: &Event) -> Said<'_> {
    let words: Vec<&str> = event.name.as_str().split(['.', '_']).collect();
    let is_execution = |word: &&str| EXECUTIONS.iter().any(|name| name.eq_ignore_ascii_case(word));
    if words.len() > 1 && words[..words.len() - 1].iter().all(is_execution) {
        let ends = !matches!(Told::of_name(event.name.as_str()), Told::Started | Told::Running);
        return Said::Execution(if ends { ended(event) } else { Status::Running });
    }
    match &event.details {
        Some(details) => Said::Step(&details.step, step_state(details.status)),
        None => Said::Life,
    }
}

/// How an execution ended, by the status that its last event was given, or else by its name.
fn ended(event: &Event) -> Status {
    let given = event.details.as_ref().map(|details| details.status);
    let ends = |status: &Told| !matches!(status, Told::Started | Told::Running);
    match given.filter(ends).unwrap_or_else(|| Told::of_name(event.name.as_str())) {
        Told::Failed => Status::Failed,
        Told::Cancelled => Status::Cancelled,
        Told::Completed | Told::Started | Told::Running => Status::Completed,
    }
}

fn step_state(told: Told) -> StepState {
    match told {
        Told::Started | Told::Running => StepState::Running,
        Told::Completed => StepState::Completed,
        Told::Failed => StepState::Failed,
        Told::Cancelled => StepState::Cancelled,
    }
}

/// The state that an event names.
fn state(event: &Event) -> Option<Status> {
    event.data.get("state").and_then(|state| state.as_str()).and_then(Status::named)
}

/// What is executed, if an event about the execution says so: in a field, or as the step of an event of a playbook.
fn named(event: &Event) -> Option<String> {
    let field = NAMES.iter().find_map(|field| event.data.get(field)?.as_str());
    let is_playbook = event.name.as_str().starts_with("playbook");
    let step = event.details.as_ref().filter(|_| is_playbook).map(|details| details.step.as_str());
    field.or(step).filter(|name| !name.is_empty() && !name.contains('\0')).map(|name| cut(name).to_owned())
}

/// A cancel that was asked for elsewhere.
fn wish(event: &Event) -> Option<Cancel> {
    let event_type = event.name.event_type().filter(|of| *of == EventType::CancelRequested)?;
    match Payload::read(event_type, &event.data) {
        Ok(Payload::CancelRequested(CancelRequested { cancelled_by, reason })) => Some(Cancel {
            by: cancelled_by,
            at_ms: event.time.unix_us() / 1000,
            reason: Some(reason).filter(|reason| !reason.is_empty()),
        }),
        _ => None,
    }
}
