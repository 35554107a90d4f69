//! A comparison from start to end: plan, ingest, join, read again, report.

use crate::bitmap::Bitmap;
use crate::census::Census;
use crate::decide::{Decider, Sink};
use crate::encode::Shape;
use crate::entry::Entry;
use crate::error::Error;
use crate::fingerprint::Seeds;
use crate::ingest::{Ingested, Reading, Stop};
use crate::join::{Join, Joined, Tally};
use crate::learn::{first_rows, learn};
use crate::merge::{aggregate_rows, pair_rows};
use crate::partition::{Budget, Radix};
use crate::plan::{How, Plan};
use crate::progress::{Progress, Stage};
use crate::report::{Break, Comparison};
use crate::reread::{Reread, selection_of};
use crate::sorter::Sorter;
use crate::spec::{Duplicates, Limits, Source, Spec};
use crate::summary::summary;
use crate::table::{Selection, TableError};
use crate::value::read_sorted;

/// What a partition should take, so that all its sources stay in the cache while they are joined.
const PARTITION_BYTES: u64 = 512 << 10;
/// Beyond this many partitions the open chunks themselves no longer fit the cache.
const MOST_PARTITION_BITS: u32 = 11;
/// What a thread's chunks of all partitions may take before any is full.
const OPEN_CHUNK_BYTES: u64 = 8 << 10;
/// Decoding buffers and the rest of the process, which `Limits::memory` covers too.
const BASE_BYTES: u64 = 24 << 20;
const THREAD_BYTES: u64 = 12 << 20;
/// A rough size of a broken aggregated group in memory, per source and measure.
const GROUP_BREAK_BYTES: u64 = 160;
/// How many repeated keys an error names.
const EXAMPLES: usize = 3;

/// Knobs that never change an answer; tests turn them.
#[derive(Debug, Clone)]
pub struct Tuning {
    /// Bits of a fingerprint that choose its partition, instead of as many as the rows call for.
    pub partition_bits: Option<u32>,
    /// Bits that choose a bucket within a partition, at most.
    pub bucket_bits: u32,
    /// Bits of a fingerprint that count; fewer than 128 make collisions.
    pub fingerprint_bits: u32,
}

impl Default for Tuning {
    fn default() -> Self {
        Self {
            partition_bits: None,
            bucket_bits: 16,
            fingerprint_bits: 128,
        }
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
}

/// What one attempt came to.
enum Attempt {
    Done(Box<Comparison>),
    Misfit((usize, usize, crate::decode::Misfit)),
    TooMany,
}

/// The bitmaps of every source.
struct Flags {
    broken: Vec<Bitmap>,
    undecided: Vec<Bitmap>,
}

impl<'a> Run<'a> {
    pub(crate) fn new(
        sources: &'a [Source<'a>],
        spec: &'a Spec,
        limits: &Limits,
        progress: &'a Progress,
        tuning: &'a Tuning,
    ) -> Self {
        let threads = limits.threads.max(1);
        let rest = BASE_BYTES + THREAD_BYTES * threads as u64;
        let budget_bytes = (limits.memory / 10 * 9)
            .saturating_sub(rest)
            .max(limits.memory / 4);
        let budget = Budget::new(budget_bytes, &limits.temp_dir);
        Self {
            sources,
            spec,
            threads,
            progress,
            tuning,
            budget,
            budget_bytes,
        }
    }

    /// Compares, starting over whenever the data disproves an assumption.
    pub(crate) fn compare(&self, mut sink: Option<Sink<'_>>) -> Result<Comparison, Error> {
        for (number, source) in self.sources.iter().enumerate() {
            self.progress
                .expect(number, source.table.rows_hint().unwrap_or(0));
        }
        let mut learnt = first_rows(self.sources)?;
        let mut wide = false;
        loop {
            self.progress.restart();
            let plan = Plan::new(self.sources, self.spec, &learnt)?;
            match self.attempt(&plan, wide, &mut sink)? {
                Attempt::Done(comparison) => return Ok(*comparison),
                Attempt::TooMany => wide = true,
                Attempt::Misfit(misfit) => learn(&mut learnt, self.sources, &plan, misfit)?,
            }
        }
    }

    fn attempt(&self, plan: &Plan, wide: bool, sink: &mut Option<Sink<'_>>) -> Result<Attempt, Error> {
        let shape = Shape::new(plan, wide);
        let mask = u128::MAX << (128 - self.tuning.fingerprint_bits).min(127);
        let seeds = Seeds::new(plan.columns.len(), mask);
        let radix = self.radix(&shape);
        let reading = Reading {
            sources: self.sources,
            plan,
            shape: &shape,
            seeds: &seeds,
            budget: &self.budget,
            progress: self.progress,
            radix,
            threads: self.threads,
        };
        let mut ingested = match reading.ingest() {
            Ok(ingested) => ingested,
            Err(Stop::Failed(error)) => return Err(error),
            Err(Stop::Misfit {
                source,
                column,
                misfit,
            }) => return Ok(Attempt::Misfit((source, column, misfit))),
        };
        self.check_order_of_dates(plan, &ingested)?;
        self.progress.enter(Stage::Comparing);
        let bitmaps = || ingested.rows.iter().map(|rows| Bitmap::new(*rows)).collect();
        let flags = Flags {
            broken: bitmaps(),
            undecided: bitmaps(),
        };
        let by_records = wide || (!shape.layout.has_digest() && sink.is_none());
        let decides = !self.spec.verify && (plan.aggregates() || by_records);
        let join = Join {
            plan,
            shape: &shape,
            budget: &self.budget,
            progress: self.progress,
            threads: self.threads,
            sources: self.sources.len(),
            most_words: (self.budget_bytes as usize / (8 * self.threads) / 4).max(1 << 14),
            bucket_bits: self.tuning.bucket_bits,
            decides,
            broken: &flags.broken,
            undecided: &flags.undecided,
            gives_up: !decides && sink.is_none() && !self.spec.verify,
            most_breaks: self.most_breaks(plan),
        };
        let partitions = std::mem::take(&mut ingested.partitions);
        let mut tally = match join.join(partitions, radix.bits)? {
            Joined::TooMany => return Ok(Attempt::TooMany),
            Joined::All(tally) => tally,
        };
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
        self.check_duplicates(plan, &tally, &flags, &reread, &mut census)?;
        let breaks = self.third_step(plan, &reread, &flags, &mut tally, &mut census, sink, decides)?;
        self.progress.enter(Stage::Done);
        Ok(Attempt::Done(Box::new(summary(
            self.sources,
            plan,
            &ingested,
            &census,
            &tally,
            breaks,
        )?)))
    }

    /// As many partitions as keep each in the cache, but no more than can be open at once.
    fn radix(&self, shape: &Shape) -> Radix {
        let rows: u64 = self
            .sources
            .iter()
            .map(|source| source.table.rows_hint().unwrap_or(1 << 20))
            .sum();
        let bytes = rows * shape.layout.stride() as u64 * 4;
        let wanted = (bytes / PARTITION_BYTES).max(1).next_power_of_two().ilog2();
        let open = self.budget_bytes / (4 * OPEN_CHUNK_BYTES * self.threads as u64);
        let most = open.max(1).ilog2().min(MOST_PARTITION_BITS);
        Radix {
            consumed: 0,
            bits: self.tuning.partition_bits.unwrap_or(wanted.min(most)),
        }
    }

    fn most_breaks(&self, plan: &Plan) -> usize {
        let each = GROUP_BREAK_BYTES * (self.sources.len() * (plan.measures.len() + 1)) as u64;
        (self.budget_bytes / 8 / each / self.threads as u64) as usize
    }

    /// A date such as 01/02/2024 means nothing until a column shows which part is the day.
    fn check_order_of_dates(&self, plan: &Plan, ingested: &Ingested) -> Result<(), Error> {
        for (source, evidence) in ingested.evidence.iter().enumerate() {
            for (column, evidence) in plan.columns.iter().zip(evidence) {
                let How::TextTemporal(shape) = &column.readers[source].how else {
                    continue;
                };
                if ingested.rows[source] > 0 && !evidence.proves(shape) {
                    let (source, column) = (&self.sources[source].name, &column.name);
                    return Err(Error::Value {
                        source_name: source.clone(),
                        column: column.clone(),
                        what: "its dates may be day first or month first: no value is above 12".into(),
                        hint: Some(format!(
                            "declare it, as in --date-format {source}:{column}=%d/%m/%Y"
                        )),
                    });
                }
            }
        }
        Ok(())
    }

    fn check_duplicates(
        &self,
        plan: &Plan,
        tally: &Tally,
        flags: &Flags,
        reread: &Reread<'_>,
        census: &mut Census,
    ) -> Result<(), Error> {
        let Some(source) = tally.duplicated_keys.iter().position(|count| *count > 0) else {
            return Ok(());
        };
        if plan.duplicates != Duplicates::Error {
            return Ok(());
        }
        let mut selections = vec![Selection::new(); self.sources.len()];
        selections[source] = flags.broken[source].selection(None, &reread.blocks[source]);
        let keys = reread.first_keys(&selections, EXAMPLES, census)?;
        let show = |mut key: &[u8]| {
            let parts = plan.key.iter().map(|part| {
                let column = &plan.columns[*part];
                let value = read_sorted(&mut key).map_or("NULL".into(), |value| value.show(column));
                format!("{}={value}", column.name)
            });
            parts.collect::<Vec<_>>().join(" ")
        };
        let examples = keys.keys().map(|key| show(key)).collect::<Vec<_>>().join(", ");
        let count = tally.duplicated_keys[source];
        Err(Error::Duplicates {
            source_name: self.sources[source].name.clone(),
            count,
            examples,
        })
    }

    fn third_step(
        &self,
        plan: &Plan,
        reread: &Reread<'_>,
        flags: &Flags,
        tally: &mut Tally,
        census: &mut Census,
        sink: &mut Option<Sink<'_>>,
        decides: bool,
    ) -> Result<Vec<Break>, Error> {
        if self.spec.verify {
            flags.undecided.iter().for_each(Bitmap::set_all);
            *tally = Tally::new(self.sources.len(), plan.measures.len());
        }
        let group_breaks = std::mem::take(&mut tally.breaks);
        let kept_all = !self.spec.verify && group_breaks.len() <= self.most_breaks(plan);
        let chosen = |bitmaps: &[Bitmap]| -> Vec<Selection> {
            bitmaps
                .iter()
                .zip(reread.blocks)
                .map(|(bitmap, blocks)| bitmap.selection(None, blocks))
                .collect()
        };
        let mut sorters: Vec<Sorter<'_>> = Vec::new();
        if !plan.aggregates() || !kept_all {
            sorters = reread.entries(&chosen(&flags.undecided), false)?;
        }
        if decides && !plan.aggregates() {
            let first = reread.first_keys(&chosen(&flags.broken), self.spec.limit, census)?;
            let places = |source: usize| {
                let all = first.values().flatten().filter(move |place| place.0 == source);
                all.map(|(_, part, position)| (*part, *position))
            };
            let listed: Vec<Selection> = (reread.blocks.iter().enumerate())
                .map(|(source, blocks)| selection_of(places(source), blocks))
                .collect();
            sorters.extend(reread.entries(&listed, true)?);
        }
        let mut decider = Decider {
            plan,
            seeds: reread.seeds,
            sources: self.sources.len(),
            tally,
            census,
            sink: sink
                .as_mut()
                .map(|sink| &mut **sink as &mut dyn FnMut(&Break) -> Result<(), TableError>),
            limit: self.spec.limit,
            breaks: Vec::new(),
        };
        if !plan.aggregates() {
            pair_rows(
                Sorter::merge(sorters)?,
                &mut decider,
                self.spec.verify,
                self.progress,
            )?;
        } else if kept_all {
            self.group_breaks(plan, reread, group_breaks, &mut decider)?;
        } else {
            aggregate_rows(
                Sorter::merge(sorters)?,
                &mut decider,
                self.spec.verify,
                self.progress,
            )?;
        }
        Ok(decider.breaks)
    }

    /// Reads the keys of broken aggregated groups, and tells of them in order.
    fn group_breaks(
        &self,
        plan: &Plan,
        reread: &Reread<'_>,
        breaks: Vec<crate::join::GroupBreak>,
        decider: &mut Decider<'_, '_>,
    ) -> Result<(), Error> {
        let shown_by = |broken: &crate::join::GroupBreak| {
            broken
                .locators
                .iter()
                .enumerate()
                .find_map(|(source, locator)| Some((source, (*locator)?)))
        };
        let bitmaps: Vec<Bitmap> = reread
            .blocks
            .iter()
            .map(|blocks| Bitmap::new(blocks.iter().map(|block| u64::from(block.rows)).sum()))
            .collect();
        breaks
            .iter()
            .filter_map(shown_by)
            .for_each(|(source, locator)| bitmaps[source].set(locator));
        let selections: Vec<Selection> = bitmaps
            .iter()
            .zip(reread.blocks)
            .map(|(bitmap, blocks)| bitmap.selection(None, blocks))
            .collect();
        let mut keys = reread.keys(&selections)?;
        let mut breaks: Vec<_> = breaks
            .into_iter()
            .filter_map(|broken| Some((keys.remove(&shown_by(&broken)?)?, broken)))
            .collect();
        breaks.sort_unstable_by(|a, b| a.0.cmp(&b.0));
        for (key, broken) in breaks {
            let key = Entry::key_of(plan, &key);
            for (part, value) in plan.key.iter().zip(&key) {
                decider.count_broken_value(*part, value.as_ref(), broken.rows);
            }
            let by_source: Vec<_> = (broken.locators.iter().enumerate())
                .map(|(source, locator)| {
                    locator.map(|_| {
                        broken
                            .values
                            .iter()
                            .map(|values| values[source].clone())
                            .collect()
                    })
                })
                .collect();
            decider.aggregates(decider.shown_key(&key), &by_source, true)?;
        }
        Ok(())
    }
}
