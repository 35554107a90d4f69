//! A run, or an execution that something else started, in the shape that clients of other engines read.

use serde::Serialize;
use serde_json::Value;
use trueup_events::outcome::Outcome;
use trueup_events::{Details, Event, Mark};
use trueup_lifecycle::{Ending, Finished, Progress, State, Status};
use trueup_store::{Execution, Observed, Record};
use utoipa::ToSchema;

use super::moment;

/// Where an execution is, the same in every view of it.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[schema(as = ExecutionStanding)]
struct Standing {
    /// Its id.
    execution_id: String,
    /// Where it is in its life, in capitals.
    status: String,
    /// Whether it was cancelled.
    is_cancelled: bool,
    /// Whether it has ended, however it did.
    completed: bool,
    /// Whether it ended without coming to its end, and nobody cancelled it.
    failed: bool,
    /// What it failed of, if that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

/// An execution in a list.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[schema(as = Execution)]
pub(crate) struct Listed {
    #[serde(flatten)]
    standing: Standing,
    /// What is executed: the name of a job, or what its events call it.
    path: Option<String>,
    /// When it was asked for, or first heard of.
    #[schema(format = DateTime)]
    started_at: String,
    /// When it ended.
    #[schema(format = DateTime)]
    completed_at: Option<String>,
}

/// How far an execution has come.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[schema(as = ExecutionCourse)]
pub(crate) struct Course {
    #[serde(flatten)]
    standing: Standing,
    /// The step that began last of those under way.
    current_step: Option<String>,
    /// How many steps there are, as far as they were heard of.
    progress: Counts,
    /// The steps that came to their end.
    completed_steps: Vec<String>,
}

/// How many steps an execution has.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[schema(as = ExecutionProgress)]
#[expect(clippy::struct_field_names, reason = "they are the names that clients read")]
struct Counts {
    /// That were heard of.
    total_steps: usize,
    /// That came to their end.
    completed_steps: usize,
    /// That are under way.
    running_steps: usize,
    /// That failed.
    failed_steps: usize,
}

/// All that is known of an execution.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[schema(as = ExecutionDetail)]
pub(crate) struct Detailed {
    #[serde(flatten)]
    listed: Listed,
    /// The step that began last of those under way.
    current_step: Option<String>,
    /// How many steps there are, as far as they were heard of.
    progress: Counts,
    /// The steps that came to their end.
    completed_steps: Vec<String>,
    /// What the job was given; what others were given is not known.
    #[schema(value_type = Option<Object>)]
    workload: Option<Value>,
}

/// An event of an execution, by the names of the envelope.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Told {
    event_id: String,
    execution_id: String,
    pub(crate) position: Option<u64>,
    event_type: String,
    created_at: String,
    payload: Value,
    #[serde(flatten)]
    details: Option<Box<Details>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mark: Option<Mark>,
}

/// An event of an execution, as the description of the API has it.
#[derive(ToSchema)]
#[schema(as = ExecutionEvent)]
#[expect(dead_code, reason = "it describes what `Told` writes")]
pub(crate) struct DescribedTold {
    /// Its id.
    event_id: String,
    /// The execution that it is about.
    execution_id: String,
    /// Its place in the log.
    position: Option<u64>,
    /// What it is called.
    event_type: String,
    /// When it happened.
    #[schema(format = DateTime)]
    created_at: String,
    /// What it says.
    payload: Value,
    /// The step that it is about, if it came in the envelope, as all that follows.
    step: Option<String>,
    /// What it says of that step.
    status: Option<String>,
    /// Who did the work.
    worker_id: Option<String>,
    /// Where the result is.
    result_kind: Option<String>,
    /// Whether it may move the execution.
    actionable: Option<bool>,
    /// Whether people may want to read it.
    informative: Option<bool>,
    /// What it says about itself.
    #[schema(value_type = Option<Object>)]
    meta: Option<Value>,
    /// Why it is only kept, and moved nothing: it is `illegal`, `stale`, or only to be `noted`.
    mark: Option<String>,
}

/// A status as these views spell it.
pub(crate) fn capitals(status: Status) -> String {
    status.name().to_ascii_uppercase()
}

impl Standing {
    fn of(execution: &Execution) -> Self {
        let status = execution.status();
        Self {
            execution_id: execution.id().to_string(),
            status: capitals(status),
            is_cancelled: status == Status::Cancelled,
            completed: status.is_terminal(),
            failed: matches!(status, Status::Failed | Status::Timeout | Status::Abandoned),
            error: error(execution),
        }
    }
}

/// What a run of ours failed of; others say so in their events alone.
fn error(execution: &Execution) -> Option<String> {
    match execution {
        Execution::Run(Record { run, .. }) => match &run.state {
            State::Finished(Finished { ending: Ending::Concluded(Outcome::Error(error)), .. }) => {
                Some(error.to_string())
            }
            _ => None,
        },
        Execution::Observed(_) => None,
    }
}

impl Listed {
    /// Tells what a row says, with the name of the job if it is a run of ours.
    pub(crate) fn new(execution: &Execution, path: Option<String>) -> Self {
        let (started_at_ms, completed_at_ms) = match execution {
            Execution::Run(record) => (record.requested_at_ms, finished_at_ms(&record.run.state)),
            Execution::Observed(Observed { opened_at_ms, finished_at_ms, .. }) => {
                (*opened_at_ms, *finished_at_ms)
            }
        };
        Self {
            standing: Standing::of(execution),
            path,
            started_at: moment(started_at_ms),
            completed_at: completed_at_ms.map(moment),
        }
    }
}

fn finished_at_ms(state: &State) -> Option<i64> {
    match state {
        State::Finished(Finished { at_ms, .. }) => Some(*at_ms),
        _ => None,
    }
}

impl Counts {
    fn of(progress: &Progress) -> Self {
        Self {
            total_steps: progress.total_steps,
            completed_steps: progress.completed_steps.len(),
            running_steps: progress.running_steps,
            failed_steps: progress.failed_steps,
        }
    }
}

impl Course {
    pub(crate) fn new(execution: &Execution, progress: Progress) -> Self {
        Self {
            standing: Standing::of(execution),
            progress: Counts::of(&progress),
            current_step: progress.current_step,
            completed_steps: progress.completed_steps,
        }
    }
}

impl Detailed {
    pub(crate) fn new(execution: &Execution, path: Option<String>, progress: Progress) -> Self {
        let workload = match execution {
            // What is no JSON fails the run, and is shown as it is.
            Execution::Run(Record { params, .. }) => {
                Some(serde_json::from_str(params).unwrap_or_else(|_| params.clone().into()))
            }
            Execution::Observed(_) => None,
        };
        Self {
            listed: Listed::new(execution, path),
            progress: Counts::of(&progress),
            current_step: progress.current_step,
            completed_steps: progress.completed_steps,
            workload,
        }
    }
}

impl From<Event> for Told {
    fn from(event: Event) -> Self {
        Self {
            event_id: event.event_id.to_string(),
            execution_id: event.run_id.to_string(),
            position: event.position,
            event_type: event.name.as_str().to_owned(),
            created_at: event.time.to_string(),
            payload: event.data,
            details: event.details,
            mark: event.mark,
        }
    }
}
