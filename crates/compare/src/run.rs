//! A comparison from start to end: plan, ingest, join, read again, report.

use crate::BreakSink;
use crate::error::Error;
use crate::fingerprint::Seeds;
use crate::finish::{Finish, Flags};
use crate::ingest::encode::{OwnWords, Shape};
use crate::ingest::{Ingested, Reading, Stop, Surprise, count};
use crate::join::Join;
use crate::join::kept::Kept;
use crate::plan::learn::{first_rows, learn, unproven_date};
use crate::plan::stray;
use crate::plan::survey::Survey;
use crate::plan::{How, Learnt, Plan};
use crate::progress::{Progress, Stage};
use crate::report::Comparison;
use crate::report::census::Census;
use crate::report::summary::summary;
use crate::reread::Reread;
use crate::reread::bitmap::Bitmap;
use crate::spec::{Limits, Source, Spec};
use crate::spill::partition::{Budget, Radix};
use crate::table::Selection;

/// What a partition should take, so that all its sources stay in the cache while they are joined.
const PARTITION_BYTES: u64 = 1 << 20;
/// Beyond this many partitions the open chunks themselves no longer fit the cache.
const MOST_PARTITION_BITS: u32 = 11;
/// What a thread's chunks of all partitions may take before any is full.
const OPEN_CHUNK_BYTES: u64 = 8 << 10;
/// Decoding buffers and the rest of the process, which `Limits::memory` covers too.
const BASE_BYTES: u64 = 24 << 20;
const THREAD_BYTES: u64 = 12 << 20;
/// A rough size of a broken aggregated group in memory, per source and measure.
const GROUP_BREAK_BYTES: u64 = 160;

/// Knobs for tests.
#[derive(Debug, Clone)]
pub struct Tuning {
    /// Bits of a fingerprint that choose its partition, instead of as many as the rows call for.
    pub partition_bits: Option<u32>,
    /// Bits that choose a bucket within a partition, at most.
    pub bucket_bits: u32,
    /// Whether records have a word for each column from the start, where no break sink needs more.
    pub wide: bool,
    /// Bits of a fingerprint that count; fewer than 128 make collisions, which only `verify` notices.
    pub fingerprint_bits: u32,
}

impl Default for Tuning {
    fn default() -> Self {
        Self { partition_bits: None, bucket_bits: 16, wide: false, fingerprint_bits: 128 }
    }
}

/// One comparison.
pub(crate) struct Run<'a> {
    pub(crate) sources: &'a [Source<'a>],
    pub(crate) spec: &'a Spec,
    pub(crate) threads: usize,
    pub(crate) progress: &'a Progress,
    pub(crate) tuning: &'a Tuning,
    pub(crate) budget: Budget,
    pub(crate) budget_bytes: u64,
    /// The rows to look at, per source; all without it.
    pub(crate) within: Option<&'a [Selection]>,
    /// Whether somebody asks for the rows of groups that do not match.
    pub(crate) gives_rows: bool,
}

/// What a comparison found.
pub(crate) struct Found {
    pub(crate) comparison: Comparison,
    /// The rows of groups that do not match, per source, if somebody asks for them.
    pub(crate) unmatched: Vec<Selection>,
}

/// What decides groups that are not the same and have at most one row per source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DecidedBy {
    Records,
    Values,
    /// Values, as long as few rows have to be read for it.
    FewValues,
}

/// What one attempt came to.
enum Attempt {
    Done(Box<Found>),
    Surprised(Box<Surprise>),
    TooMany,
}

impl<'a> Run<'a> {
    pub(crate) fn new(
        sources: &'a [Source<'a>],
        spec: &'a Spec,
        limits: &Limits,
        progress: &'a Progress,
        tuning: &'a Tuning,
    ) -> Self {
        // A thread costs memory of its own, so a small cap has room for few.
        let affordable = (limits.memory / 2).saturating_sub(BASE_BYTES) / THREAD_BYTES;
        let threads = limits.threads.min(usize::try_from(affordable).unwrap_or(usize::MAX)).max(1);
        let rest = BASE_BYTES + THREAD_BYTES * threads as u64;
        let budget_bytes = (limits.memory / 10 * 9).saturating_sub(rest).max(limits.memory / 4);
        let budget = Budget::new(budget_bytes, &limits.temp_dir);
        Self {
            sources,
            spec,
            threads,
            progress,
            tuning,
            budget,
            budget_bytes,
            within: None,
            gives_rows: false,
        }
    }

    /// Compares, starting over whenever the data disproves an assumption.
    pub(crate) fn compare(&self, mut sink: Option<BreakSink<'_>>) -> Result<Found, Error> {
        for number in 0..self.sources.len() {
            self.progress.expect(number, self.rows_hint(number).unwrap_or(0));
        }
        let mut learnt = first_rows(self.sources)?;
        let mut wide = self.tuning.wide && sink.is_none() && !self.spec.verify;
        loop {
            self.progress.restart();
            self.budget.restart();
            let plan = self.plan(&learnt)?;
            match self.attempt(&plan, wide, &mut sink)? {
                Attempt::Done(found) => return Ok(*found),
                Attempt::TooMany => wide = true,
                Attempt::Surprised(surprise) => {
                    let Self { sources, threads, progress, .. } = *self;
                    let survey = Survey { sources, plan: &plan, threads, progress };
                    learn(&mut learnt, &survey, *surprise)?;
                }
            }
        }
    }

    /// Plans; whoever expects numbers in a column that a few values make text is told of those.
    fn plan(&self, learnt: &Learnt) -> Result<Plan, Error> {
        match Plan::new(self.sources, self.spec, learnt) {
            Err(Error::Unfit { what, column, kind, hint }) if !self.spec.texts.contains(&column) => {
                let strays = stray::notes(self.sources, learnt, &column, self.progress)?;
                let hint = if strays.is_empty() { hint } else { strays.join("; ") };
                Err(Error::Unfit { what, column, kind, hint })
            }
            planned => planned,
        }
    }

    fn attempt(&self, plan: &Plan, wide: bool, sink: &mut Option<BreakSink<'_>>) -> Result<Attempt, Error> {
        let lean = sink.is_none() && !self.spec.verify && !self.gives_rows;
        let own_words = match (wide, lean) {
            (true, _) => OwnWords::All,
            (false, true) => OwnWords::LongText,
            (false, false) => OwnWords::None,
        };
        let shape = Shape::new(plan, own_words);
        let mask = u128::MAX << (128 - self.tuning.fingerprint_bits).min(127);
        let seeds = Seeds::new(plan.columns.len(), mask);
        let radix = self.radix(&shape);
        let mut reading = Reading {
            sources: self.sources,
            plan,
            shape: &shape,
            seeds: &seeds,
            budget: &self.budget,
            progress: self.progress,
            radix,
            threads: self.threads,
            probe: None,
            within: self.within,
        };
        if lean && !wide && shape.layout.has_digest() {
            reading.probe = reading.probe()?;
        }
        let mut ingested = match reading.ingest() {
            Ok(ingested) => ingested,
            Err(Stop::Failed(error)) => return Err(error),
            Err(Stop::TooMany) => return Ok(Attempt::TooMany),
            Err(Stop::Surprise(surprise)) => return Ok(Attempt::Surprised(surprise)),
        };
        self.check_order_of_dates(plan, &ingested)?;
        self.progress.enter(Stage::Comparing);
        let bitmaps = || ingested.located.iter().map(|rows| Bitmap::new(*rows)).collect();
        let unmatched = (self.gives_rows && !plan.aggregates).then(bitmaps);
        let flags = Flags { broken: bitmaps(), undecided: bitmaps(), repeated: bitmaps(), unmatched };
        let by_records = wide || (!shape.layout.has_digest() && sink.is_none() && !self.gives_rows);
        let decided_by = self.decided_by(plan.aggregates || by_records, lean);
        let join = self.join(plan, &shape, &flags, decided_by);
        let partitions = std::mem::take(&mut ingested.partitions);
        let Some(mut tally) = join.join(partitions, radix.bits)? else { return Ok(Attempt::TooMany) };
        self.progress.enter(Stage::ReadingAgain);
        let mut census = std::mem::replace(&mut ingested.census, Census::new(plan));
        let reread = Reread {
            sources: self.sources,
            plan,
            seeds: &seeds,
            budget: &self.budget,
            progress: self.progress,
            threads: self.threads,
            blocks: &ingested.blocks,
            sort_bytes: self.budget_bytes as usize / 2,
        };
        let finish = Finish {
            spec: self.spec,
            reread: &reread,
            flags: &flags,
            decided: decided_by == DecidedBy::Records,
            most_breaks: self.most_breaks(plan),
            long: &shape.long,
        };
        let breaks = finish.tell(&mut tally, &mut census, sink)?;
        let mut comparison = summary(self.sources, plan, &ingested, &census, &tally, breaks);
        ingested.watch.tell(self.sources, plan, &mut comparison.columns)?;
        let unmatched = self.unmatched(&flags, &ingested);
        self.progress.enter(Stage::Done);
        Ok(Attempt::Done(Box::new(Found { comparison, unmatched })))
    }

    fn decided_by(&self, by_records: bool, lean: bool) -> DecidedBy {
        match lean {
            _ if !self.spec.verify && by_records => DecidedBy::Records,
            true => DecidedBy::FewValues,
            false => DecidedBy::Values,
        }
    }

    /// The rows of groups that do not match; aggregated groups are flagged as a whole.
    fn unmatched(&self, flags: &Flags, ingested: &Ingested) -> Vec<Selection> {
        if !self.gives_rows {
            return Vec::new();
        }
        let flagged = flags.unmatched.as_ref().unwrap_or(&flags.undecided).iter().zip(&ingested.blocks);
        flagged.map(|(rows, blocks)| rows.chosen(blocks).rows).collect()
    }

    fn join<'b>(
        &'b self,
        plan: &'b Plan,
        shape: &'b Shape,
        flags: &'b Flags,
        decided_by: DecidedBy,
    ) -> Join<'b> {
        Join {
            plan,
            shape,
            budget: &self.budget,
            progress: self.progress,
            threads: self.threads,
            sources: self.sources.len(),
            most_words: (self.budget_bytes as usize / (8 * self.threads) / 4).max(1 << 14),
            bucket_bits: self.tuning.bucket_bits,
            decides: decided_by == DecidedBy::Records,
            broken: &flags.broken,
            undecided: &flags.undecided,
            repeated: &flags.repeated,
            whole_keys: self.gives_rows,
            gives_up: decided_by == DecidedBy::FewValues,
            most_breaks: self.most_breaks(plan),
            most_kept: self.budget_bytes as usize / (8 * self.threads) / Kept::ROW_BYTES,
        }
    }

    /// As many partitions as keep each in the cache, but no more than can be open at once.
    fn radix(&self, shape: &Shape) -> Radix {
        let hints = (0..self.sources.len()).map(|source| self.rows_hint(source).unwrap_or(1 << 20));
        let rows = hints.fold(0, u64::saturating_add);
        let bytes = rows.saturating_mul(shape.layout.stride() as u64 * 4);
        let wanted = (bytes / PARTITION_BYTES).clamp(1, 1 << MOST_PARTITION_BITS).next_power_of_two().ilog2();
        let open = self.budget_bytes / (4 * OPEN_CHUNK_BYTES * self.threads as u64);
        let most = open.max(1).ilog2().min(MOST_PARTITION_BITS);
        Radix { consumed: 0, bits: self.tuning.partition_bits.unwrap_or(wanted.min(most)) }
    }

    /// How many rows of a source to expect.
    fn rows_hint(&self, source: usize) -> Option<u64> {
        match self.within {
            None => self.sources[source].table.rows_hint(),
            Some(within) => Some(count(&within[source])),
        }
    }

    fn most_breaks(&self, plan: &Plan) -> usize {
        let each = GROUP_BREAK_BYTES * (self.sources.len() * (plan.measures.len() + 1)) as u64;
        (self.budget_bytes / 8 / each / self.threads as u64) as usize
    }

    /// A date such as 01/02/2024 means nothing until a column shows which part is the day.
    fn check_order_of_dates(&self, plan: &Plan, ingested: &Ingested) -> Result<(), Error> {
        for (source, evidence) in ingested.evidence.iter().enumerate() {
            for (index, (column, evidence)) in plan.columns.iter().zip(evidence).enumerate() {
                let How::TextTemporal(shape) = &column.readers[source].how else {
                    continue;
                };
                let clear = evidence.proves(*shape) || plan.is_only_counted(index);
                if ingested.located[source] > 0 && !clear {
                    return Err(unproven_date(&self.sources[source], column, source)?);
                }
            }
        }
        Ok(())
    }
}
