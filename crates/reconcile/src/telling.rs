//! What is told of a job while it is carried out.

use std::panic::resume_unwind;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use trueup_compare::{Comparison, Progress, Stage};
use trueup_events::Payload;
use trueup_events::outcome::{ErrorCode, RunError};
use trueup_events::payload::{
    ExtractionCompleted, ExtractionErrored, ExtractionStarted, PhaseError, Reading, RowsProcessed,
    StageCompleted, StageErrored, StageStarted,
};

use crate::carry_out::Stopped;
use crate::input::Input;
use crate::plan::Plan;
use crate::pruning::{self, Unpruned};
use crate::reading::{Came, Unopened};
use crate::stages::LOOK;
use crate::{failure, summary};

/// What has been told so far.
pub(crate) struct Telling<'a> {
    progress: &'a Progress,
    tell: &'a mut dyn FnMut(Payload),
    /// Whether the sources were read whole.
    extracted: bool,
    sources: usize,
    tick: Duration,
}

/// What has been told of a stage.
pub(crate) struct Told {
    name: String,
    is_reading: bool,
    /// A comparison that starts over does not take back the rows that were told.
    rows: u64,
    last: Instant,
}

impl<'a> Telling<'a> {
    pub(crate) fn new(
        progress: &'a Progress,
        tell: &'a mut dyn FnMut(Payload),
        sources: usize,
        tick: Duration,
    ) -> Self {
        Self { progress, tell, extracted: false, sources, tick }
    }

    pub(crate) fn say(&mut self, payload: impl Into<Payload>) {
        (self.tell)(payload.into());
    }

    /// Whether somebody asked it to stop.
    pub(crate) fn is_cancelled(&self) -> bool {
        self.progress.is_cancelled()
    }

    /// Opens the sources.
    pub(crate) fn open(&mut self, plan: &mut Plan, temp_dir: &Path) -> Result<Vec<Input>, Stopped> {
        let progress = self.progress;
        if plan.prunes {
            (0..plan.sources.len()).for_each(|index| self.say_opening(plan, index));
            let pruned = pruning::read(plan, temp_dir, &|| progress.is_cancelled());
            let pruned = pruned.map_err(|Unpruned { source, error }| self.unopened(source, &error))?;
            if let Some(inputs) = pruned {
                return Ok(inputs);
            }
        }
        let mut inputs = Vec::with_capacity(plan.sources.len());
        for (index, source) in plan.sources.iter().enumerate() {
            if self.is_cancelled() {
                return Err(Stopped::Cancelled);
            }
            self.say_opening(plan, index);
            let came = Came::default();
            let open = || source.open(temp_dir, true, &|| progress.is_cancelled(), &came);
            let opened = self.meanwhile(open, |telling| telling.say_came(plan, index, &came));
            inputs.push(opened.map_err(|error| self.unopened(index, &error))?);
        }
        Ok(inputs)
    }

    /// Does something, and tells how far it is whenever it is time.
    fn meanwhile<T: Send>(&mut self, act: impl FnOnce() -> T + Send, say: impl Fn(&mut Self)) -> T {
        thread::scope(|scope| {
            let (done, ended) = channel::<()>();
            let acting = scope.spawn(move || {
                let acted = act();
                drop(done);
                acted
            });
            let mut last = Instant::now();
            while ended.recv_timeout(LOOK) == Err(RecvTimeoutError::Timeout) {
                if last.elapsed() >= self.tick {
                    last = Instant::now();
                    say(self);
                }
            }
            acting.join().unwrap_or_else(|panic| resume_unwind(panic))
        })
    }

    /// Tells what has come of a source that is kept first; a file is read while it is compared.
    fn say_came(&mut self, plan: &Plan, index: usize, came: &Came) {
        let counted = |count: &AtomicU64| Some(count.load(Ordering::Relaxed)).filter(|count| *count > 0);
        let (rows_read, bytes_read) = (counted(&came.rows), counted(&came.bytes));
        let Some(stage) = plan.stages.first().filter(|_| rows_read.or(bytes_read).is_some()) else { return };
        let extraction_index = number(index);
        let bytes_expected = counted(&came.expected);
        let reading = Some(Reading { extraction_index, rows_read, bytes_read, bytes_expected });
        let stage_name = stage.name.clone();
        self.say(RowsProcessed { stage_name, row_count: 0, mismatch_count: 0, reading });
    }

    fn say_opening(&mut self, plan: &Plan, index: usize) {
        let source = &plan.sources[index];
        self.say(ExtractionStarted {
            extraction_index: number(index),
            connection_type: source.kind.name().to_owned(),
            source_name: Some(source.name.clone()),
        });
    }

    fn unopened(&mut self, index: usize, error: &Unopened) -> Stopped {
        let Some(error) = failure::of_source(error) else { return Stopped::Cancelled };
        self.say(ExtractionErrored { extraction_index: number(index), error: failure::of_phase(&error) });
        Stopped::Failed(error)
    }

    pub(crate) fn started(&mut self, stage: &str) -> Told {
        self.say(StageStarted { stage_name: stage.to_owned() });
        Told { name: stage.to_owned(), is_reading: true, rows: 0, last: Instant::now() }
    }

    /// Tells how far a stage is, if it is time.
    pub(crate) fn look_at(&mut self, stage: &mut Told, progress: &Progress) {
        if stage.is_reading && progress.stage() != Stage::Reading {
            stage.is_reading = false;
            self.say_rows(stage, progress, 0);
            self.say_extracted(progress);
        } else if stage.last.elapsed() >= self.tick {
            self.say_rows(stage, progress, 0);
        }
    }

    pub(crate) fn completed(&mut self, stage: &mut Told, progress: &Progress, comparison: &Comparison) {
        self.say_rows(stage, progress, comparison.rows_unmatched);
        self.say(StageCompleted {
            stage_name: stage.name.clone(),
            result: summary::verdict(comparison),
            tolerances: summary::tolerances(comparison),
        });
    }

    fn say_rows(&mut self, stage: &mut Told, progress: &Progress, mismatch_count: u64) {
        let rows = (0..self.sources).map(|source| progress.rows(source)).sum();
        stage.rows = stage.rows.max(rows);
        stage.last = Instant::now();
        let (stage_name, row_count) = (stage.name.clone(), stage.rows);
        self.say(RowsProcessed { stage_name, row_count, mismatch_count, reading: None });
    }

    /// Tells once that every source was read whole.
    fn say_extracted(&mut self, progress: &Progress) {
        if std::mem::replace(&mut self.extracted, true) {
            return;
        }
        for source in 0..self.sources {
            let rows_extracted = progress.rows(source);
            self.say(ExtractionCompleted { extraction_index: number(source), rows_extracted });
        }
    }

    /// Tells why a stage failed; nothing when it was cancelled.
    pub(crate) fn failed(
        &mut self,
        stage: &Told,
        inputs: &[Input],
        error: &trueup_compare::Error,
    ) -> Stopped {
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

    /// Tells that a stage was called off because another failed.
    pub(crate) fn called_off(&mut self, stage: &Told, cause: &RunError) {
        let PhaseError { code, message } = failure::of_phase(cause);
        let error =
            PhaseError { code, message: format!("called off, since another stage failed: {message}") };
        self.say(StageErrored { stage_name: stage.name.clone(), error });
    }
}

/// How many, as events have it; a job of more sources than that cannot be written.
pub(crate) fn number(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}
