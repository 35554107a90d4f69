//! A job from its first source to its verdict.

use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use trueup_compare::{BreaksFile, Comparison, Limits, Progress, Stage};
use trueup_events::Payload;
use trueup_events::outcome::{ErrorCode, Reason, RunError, Verdict};
use trueup_events::payload::{
    ComparisonErrored, ComparisonStarted, ExtractionCompleted, ExtractionErrored, ExtractionStarted,
    RowsProcessed, StageCompleted, StageErrored, StageStarted,
};
use trueup_job::{Arguments, Job, Reference};

use crate::input::{Input, compare};
use crate::plan::{Comparing, Plan};
use crate::{failure, summary};

/// How often it is looked at how far a comparison is.
const LOOK: Duration = Duration::from_millis(50);

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
    /// `MATCHED` when every stage is.
    pub verdict: Verdict,
    /// What each stage found, by its name, in order.
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
/// stage has read all sources whole. Later stages read them again, which is not told. The comparison is all stages
/// together; its numbers are those of the last stage, the finest, and its findings those of all. A stage or comparison
/// that started is told to have completed or errored, unless it is cancelled.
///
/// `progress` has as many sources as the job; cancelling it ends all of it.
pub fn carry_out(
    work: &Work<'_>,
    progress: &Progress,
    tell: &mut dyn FnMut(Payload),
) -> Result<Carried, Stopped> {
    let plan = Plan::new(work)?;
    for stage in &plan.stages {
        BreaksFile::check(&stage.breaks).map_err(|error| {
            let hint = error.hint().map(|hint| format!("; {hint}")).unwrap_or_default();
            RunError::new(Reason::ComparisonFailed, format!("{error}{hint}"))
        })?;
    }
    let mut telling = Telling {
        progress,
        tell,
        extracted: false,
        sources: plan.sources.len(),
        rows: 0,
        tick: work.tick,
        last: Instant::now(),
    };
    let inputs = telling.open(&plan, &work.limits.temp_dir)?;
    telling.say(ComparisonStarted { input_source_count: number(inputs.len()) });
    let mut stages = Vec::with_capacity(plan.stages.len());
    for stage in &plan.stages {
        match telling.carry_out(&inputs, stage, work.limits) {
            Ok(comparison) => stages.push((stage.name.clone(), comparison)),
            Err(stopped) => {
                if let Stopped::Failed(error) = &stopped {
                    telling.say(ComparisonErrored { error: failure::of_phase(error) });
                }
                return Err(stopped);
            }
        }
    }
    let all_match = stages.iter().all(|(_, comparison)| summary::verdict(comparison) == Verdict::Matched);
    let verdict = if all_match { Verdict::Matched } else { Verdict::Unmatched };
    if let Some((_, finest)) = stages.last() {
        telling.say(summary::completed(finest, summary::findings(&stages), verdict));
    }
    Ok(Carried { verdict, stages })
}

/// What has been told so far.
struct Telling<'a> {
    progress: &'a Progress,
    tell: &'a mut dyn FnMut(Payload),
    /// Whether the sources were read whole.
    extracted: bool,
    sources: usize,
    /// Rows that were told of the present stage: a comparison that starts over does not take them back.
    rows: u64,
    tick: Duration,
    last: Instant,
}

impl Telling<'_> {
    fn say(&mut self, payload: impl Into<Payload>) {
        (self.tell)(payload.into());
    }

    fn open(&mut self, plan: &Plan, temp_dir: &Path) -> Result<Vec<Input>, Stopped> {
        let progress = self.progress;
        let mut inputs = Vec::with_capacity(plan.sources.len());
        for (index, source) in plan.sources.iter().enumerate() {
            if self.progress.is_cancelled() {
                return Err(Stopped::Cancelled);
            }
            self.say(ExtractionStarted {
                extraction_index: number(index),
                connection_type: source.kind.name().to_owned(),
                source_name: Some(source.name.clone()),
            });
            let opened = source.open(temp_dir, true, &|| progress.is_cancelled());
            let mut input = opened.map_err(|error| {
                let Some(error) = failure::of_source(&error) else { return Stopped::Cancelled };
                self.say(ExtractionErrored {
                    extraction_index: number(index),
                    error: failure::of_phase(&error),
                });
                Stopped::Failed(error)
            })?;
            input.declared = source.declared.clone();
            inputs.push(input);
        }
        Ok(inputs)
    }

    fn carry_out(
        &mut self,
        inputs: &[Input],
        stage: &Comparing,
        limits: &Limits,
    ) -> Result<Comparison, Stopped> {
        self.say(StageStarted { stage_name: stage.name.clone() });
        self.progress.restart();
        (self.rows, self.last) = (0, Instant::now());
        let progress = self.progress;
        let compared = std::thread::scope(|scope| {
            let (done, ended) = channel();
            let comparing = scope.spawn(move || {
                let compared = compare(inputs, &stage.spec, limits, progress, Some(&stage.breaks));
                drop(done);
                compared
            });
            self.watch(stage, &ended);
            comparing.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        });
        let comparison = compared.map_err(|error| self.failed(inputs, stage, &error))?;
        self.say_rows(stage, comparison.rows_unmatched);
        self.say(StageCompleted {
            stage_name: stage.name.clone(),
            result: summary::verdict(&comparison),
            tolerances: summary::tolerances(&comparison),
        });
        Ok(comparison)
    }

    /// Tells how far a comparison is, until it has ended.
    fn watch(&mut self, stage: &Comparing, ended: &Receiver<()>) {
        let mut reading = true;
        loop {
            let over = ended.recv_timeout(LOOK) != Err(RecvTimeoutError::Timeout);
            if reading && self.progress.stage() != Stage::Reading {
                reading = false;
                self.say_rows(stage, 0);
                self.say_extracted();
            }
            if over {
                return;
            }
            if self.last.elapsed() >= self.tick {
                self.say_rows(stage, 0);
            }
        }
    }

    fn say_rows(&mut self, stage: &Comparing, mismatch_count: u64) {
        let rows = (0..self.sources).map(|source| self.progress.rows(source)).sum();
        self.rows = self.rows.max(rows);
        self.last = Instant::now();
        let (stage_name, row_count) = (stage.name.clone(), self.rows);
        self.say(RowsProcessed { stage_name, row_count, mismatch_count });
    }

    /// Tells once that every source was read whole.
    fn say_extracted(&mut self) {
        if std::mem::replace(&mut self.extracted, true) {
            return;
        }
        for source in 0..self.sources {
            let rows_extracted = self.progress.rows(source);
            self.say(ExtractionCompleted { extraction_index: number(source), rows_extracted });
        }
    }

    fn failed(&mut self, inputs: &[Input], stage: &Comparing, error: &trueup_compare::Error) -> Stopped {
        let Some(run_error) = failure::of_comparison(error) else { return Stopped::Cancelled };
        let at_fault = failure::source_at_fault(error)
            .and_then(|name| inputs.iter().position(|input| input.name == name))
            .filter(|_| !self.extracted && run_error.code() == ErrorCode::QueryFailed);
        if let Some(source) = at_fault {
            let error = failure::of_phase(&run_error);
            self.say(ExtractionErrored { extraction_index: number(source), error });
        }
        self.say(StageErrored { stage_name: stage.name.clone(), error: failure::of_phase(&run_error) });
        Stopped::Failed(run_error)
    }
}

/// How many, as events have it; a job of more sources than that cannot be written.
fn number(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}
