//! A job from its first source to its verdict.

use std::path::Path;
use std::time::Duration;

use trueup_compare::{BreaksFile, Comparison, Limits, Progress};
use trueup_events::Payload;
use trueup_events::outcome::{Reason, RunError, Verdict};
use trueup_events::payload::{ComparisonErrored, ComparisonStarted};
use trueup_job::{Arguments, Job, Reference, Strategy};

use crate::plan::Plan;
use crate::telling::{Telling, number};
use crate::{failure, stages, summary};

/// What is to be carried out, and with what.
pub struct Work<'a> {
    /// The job.
    pub job: &'a Job,
    /// The values of its parameters.
    pub arguments: &'a Arguments,
    /// Says what a reference to a credential stands for, or what keeps it from being known.
    pub look_up: &'a dyn Fn(&Reference) -> Result<String, String>,
    /// What the comparisons may use.
    pub limits: &'a Limits,
    /// A folder that gets a file of breaks for each stage, see [`crate::breaks::file`].
    pub breaks_dir: &'a Path,
    /// How many breaks of each stage are kept in its [`Comparison`].
    pub breaks_kept: usize,
    /// How often it is told how far a stage is.
    pub tick: Duration,
}

/// What a job came to.
#[derive(Debug)]
pub struct Carried {
    /// `MATCHED` when every stage is or, drilling down, the first.
    pub verdict: Verdict,
    /// What each stage that was reached found, by its name, in order.
    pub stages: Vec<(String, Comparison)>,
}

/// Why a job has no verdict.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Stopped {
    /// Somebody asked it to stop.
    #[error("cancelled")]
    Cancelled,
    /// It cannot be carried out.
    #[error("{0}")]
    Failed(RunError),
}

impl From<RunError> for Stopped {
    fn from(error: RunError) -> Self {
        Self::Failed(error)
    }
}

/// Carries out a job, and tells on the caller's thread what happens.
///
/// Sources are read while they are compared: the extraction of a source begins when it is opened, and is completed when the first
/// stage has read all sources whole. Other stages read them again, which is not told. The comparison is all stages
/// together; its numbers are those of the last stage, the finest, or, drilling down, of the first, which alone looks at everything, and its
/// findings those of all. A stage or comparison that started is told to have completed or errored, unless it is cancelled.
///
/// Cancelling `progress` ends all of it.
pub fn carry_out(
    work: &Work<'_>,
    progress: &Progress,
    tell: &mut dyn FnMut(Payload),
) -> Result<Carried, Stopped> {
    let mut plan = Plan::new(work)?;
    for stage in &plan.stages {
        BreaksFile::check(&stage.breaks).map_err(|error| {
            let hint = error.hint().map(|hint| format!("; {hint}")).unwrap_or_default();
            RunError::new(Reason::ComparisonFailed, format!("{error}{hint}"))
        })?;
    }
    let mut telling = Telling::new(progress, tell, plan.sources.len(), work.tick);
    let inputs = telling.open(&mut plan, &work.limits.temp_dir)?;
    telling.say(ComparisonStarted { input_source_count: number(inputs.len()) });
    let compared = stages::compare(&mut telling, &inputs, &plan, work.limits);
    let stages = compared.inspect_err(|stopped| {
        if let Stopped::Failed(error) = stopped {
            telling.say(ComparisonErrored { error: failure::of_phase(error) });
        }
    })?;
    let deciding = if plan.strategy == Strategy::DrillDownOnFailure { &stages[..1] } else { &stages };
    let all_match = deciding.iter().all(|(_, comparison)| summary::verdict(comparison) == Verdict::Matched);
    let verdict = if all_match { Verdict::Matched } else { Verdict::Unmatched };
    if let Some((_, told)) = deciding.last() {
        telling.say(summary::completed(told, summary::findings(&stages), verdict));
    }
    Ok(Carried { verdict, stages })
}
