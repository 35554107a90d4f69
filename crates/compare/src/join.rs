//! The second step: joins all sources partition by partition and finds the groups that break.

pub(crate) mod aggregate;
mod bucket;
mod judge;
pub(crate) mod kept;
mod one_key;

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::error::Error;
use crate::ingest::encode::Shape;
use crate::ingest::on_threads;
use crate::ingest::record::{fingerprint, locator};
use crate::join::aggregate::{Aggregator, NoValues};
use crate::join::bucket::{Buckets, Group};
use crate::join::judge::{Closeness, Judge, Largest};
use crate::join::kept::Kept;
use crate::number::Quantity;
use crate::plan::Plan;
use crate::progress::Progress;
use crate::reread::bitmap::Bitmap;
use crate::spec::{Duplicates, Rule};
use crate::spill::distinct::Room;
use crate::spill::partition::{Budget, Chunk, Radix, Scatter};
use crate::tolerance::check;

/// How finely a partition that is too large is split again.
const SPLIT_BITS: u32 = 6;
/// Rows to have seen before judging how many break.
const SAMPLE_ROWS: u64 = 20_000;
/// More than one broken row in so many is too much to read again.
pub(crate) const FEW: u64 = 50;

/// A broken group of an aggregated comparison.
pub(crate) struct GroupBreak {
    /// A row of the group in each source that has it, to read the key from.
    pub(crate) locators: Vec<Option<u32>>,
    pub(crate) rows: u64,
    /// By measure, then source.
    pub(crate) values: Vec<Vec<Option<Quantity>>>,
}

/// What joining has counted.
#[derive(Default)]
pub(crate) struct Tally {
    /// Groups present everywhere with every measure within.
    pub(crate) matched: u64,
    /// Groups present everywhere with a measure outside, as far as records could tell.
    pub(crate) outside_groups: u64,
    /// Groups absent somewhere, as far as records could tell.
    pub(crate) unmatched_groups: u64,
    pub(crate) unmatched_by_source: Vec<u64>,
    pub(crate) distinct_keys: Vec<u64>,
    pub(crate) duplicated_keys: Vec<u64>,
    pub(crate) outside: Vec<u64>,
    pub(crate) largest: Vec<Largest>,
    /// Keys with too many rows left to look for the best pairs.
    pub(crate) paired_in_order: u64,
    /// Rows in the groups that records could decide.
    pub(crate) broken_rows: u64,
    pub(crate) breaks: Vec<GroupBreak>,
    pub(crate) kept: Kept,
    /// The first source with a group that overflows; only its values tell which.
    pub(crate) overflowed: Option<usize>,
}

impl Tally {
    pub(crate) fn new(sources: usize, measures: usize) -> Self {
        Self {
            unmatched_by_source: vec![0; sources],
            distinct_keys: vec![0; sources],
            duplicated_keys: vec![0; sources],
            outside: vec![0; measures],
            largest: vec![Largest::default(); measures],
            ..Self::default()
        }
    }

    pub(crate) fn merge(&mut self, other: Self) {
        self.matched += other.matched;
        self.outside_groups += other.outside_groups;
        self.unmatched_groups += other.unmatched_groups;
        self.paired_in_order += other.paired_in_order;
        self.broken_rows += other.broken_rows;
        let add =
            |to: &mut Vec<u64>, from: Vec<u64>| to.iter_mut().zip(from).for_each(|(to, from)| *to += from);
        add(&mut self.unmatched_by_source, other.unmatched_by_source);
        add(&mut self.distinct_keys, other.distinct_keys);
        add(&mut self.duplicated_keys, other.duplicated_keys);
        add(&mut self.outside, other.outside);
        self.largest.iter_mut().zip(&other.largest).for_each(|(to, from)| to.merge(from));
        self.breaks.extend(other.breaks);
        self.kept.append(other.kept);
        self.overflowed = self.overflowed.into_iter().chain(other.overflowed).min();
    }
}

/// What all threads share.
pub(crate) struct Join<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) shape: &'a Shape,
    pub(crate) budget: &'a Budget,
    pub(crate) progress: &'a Progress,
    pub(crate) threads: usize,
    pub(crate) sources: usize,
    /// Words of a partition beyond which it is split.
    pub(crate) most_words: usize,
    /// Bits that choose a bucket, at most.
    pub(crate) bucket_bits: u32,
    /// Whether records tell all that is asked of a group with at most one row per source.
    pub(crate) decides: bool,
    /// Rows of groups that broke, as records could tell, or all but their long texts could, per source.
    pub(crate) broken: &'a [Bitmap],
    /// Rows of groups that only their values can decide, per source.
    pub(crate) undecided: &'a [Bitmap],
    /// Rows of keys that repeat but must not, per source.
    pub(crate) repeated: &'a [Bitmap],
    /// Whether a key whose rows are not all equal is left undecided as a whole.
    pub(crate) whole_keys: bool,
    /// Gives up when more than a few rows are undecided.
    pub(crate) gives_up: bool,
    /// Broken groups of an aggregated comparison that are kept; with more, all is decided by value.
    pub(crate) most_breaks: usize,
    /// Rows that a thread keeps the words of long texts of.
    pub(crate) most_kept: usize,
}

impl Join<'_> {
    /// Joins the partitions, chunks by partition and source; `None` if so many rows break that a record should tell more.
    pub(crate) fn join(
        &self,
        partitions: Vec<Vec<Vec<Chunk>>>,
        consumed: u32,
    ) -> Result<Option<Tally>, Error> {
        let waiting = Mutex::new(partitions);
        let too_many = AtomicBool::new(false);
        let seen = (AtomicU64::new(0), AtomicU64::new(0));
        let tallies = on_threads(self.threads, |stop| -> Result<Tally, Error> {
            let mut worker = Worker::new(self);
            while !stop.load(Ordering::Relaxed) && !too_many.load(Ordering::Relaxed) {
                self.progress.check()?;
                let next = waiting.lock().unwrap_or_else(std::sync::PoisonError::into_inner).pop();
                let Some(partition) = next else { break };
                worker.rows = (0, 0);
                worker.partition(partition, consumed)?;
                let rows = seen.0.fetch_add(worker.rows.0, Ordering::Relaxed) + worker.rows.0;
                let flagged = seen.1.fetch_add(worker.rows.1, Ordering::Relaxed) + worker.rows.1;
                if self.gives_up && rows >= SAMPLE_ROWS && flagged * FEW > rows {
                    too_many.store(true, Ordering::Relaxed);
                }
            }
            Ok(worker.tally)
        })?;
        if too_many.into_inner() {
            return Ok(None);
        }
        let mut all = Tally::new(self.sources, self.plan.measures.len());
        tallies.into_iter().for_each(|tally| all.merge(tally));
        Ok(Some(all))
    }
}

/// One thread of a join.
struct Worker<'a> {
    join: &'a Join<'a>,
    judge: Judge<'a>,
    buckets: Buckets,
    aggregators: Vec<Aggregator<'a>>,
    tally: Tally,
    /// Rows seen and rows undecided in this partition.
    rows: (u64, u64),
}

impl<'a> Worker<'a> {
    fn new(join: &'a Join<'a>) -> Self {
        let Join { plan, budget, progress, .. } = *join;
        let room = Room { bytes: join.most_words * 4, budget, progress }.shared(plan, join.sources);
        let aggregator = |_| Aggregator::new(plan, Some(join.shape), room);
        Self {
            join,
            judge: Judge::new(join.plan, join.shape),
            buckets: Buckets::default(),
            aggregators: (0..join.sources).map(aggregator).collect(),
            tally: Tally::new(join.sources, join.plan.measures.len()),
            rows: (0, 0),
        }
    }

    fn partition(&mut self, sources: Vec<Vec<Chunk>>, consumed: u32) -> Result<(), Error> {
        let stride = self.join.shape.layout.stride();
        let words: usize = sources.iter().flatten().map(Chunk::words).sum();
        if words > self.join.most_words {
            return self.too_large(sources, consumed);
        }
        self.rows.0 += (words / stride) as u64;
        let mut buckets = std::mem::take(&mut self.buckets);
        buckets.fill(sources, stride, consumed, self.join.bucket_bits, self.join.budget)?;
        buckets.groups(|group| {
            if self.join.plan.aggregates {
                return self.aggregate(&group);
            }
            self.pair(group);
            Ok(())
        })?;
        self.buckets = buckets;
        Ok(())
    }

    /// Splits a partition that does not fit, unless all of it is one key.
    fn too_large(&mut self, sources: Vec<Vec<Chunk>>, consumed: u32) -> Result<(), Error> {
        let budget = self.join.budget;
        let stride = self.join.shape.layout.stride();
        if consumed + SPLIT_BITS > 128 || is_one_key(&sources, stride, budget)? {
            return match self.join.plan.duplicates {
                Duplicates::Error => self.name_one_key(sources),
                _ if self.join.plan.aggregates => self.aggregate_one_key(sources),
                _ => self.pair_one_key(sources),
            };
        }
        let radix = Radix { consumed, bits: SPLIT_BITS };
        let mut parts: Vec<Vec<Vec<Chunk>>> = (0..radix.partitions()).map(|_| Vec::new()).collect();
        let mut buffer = Vec::new();
        let mut scatter = Scatter::new(radix, stride, budget);
        for chunks in sources {
            for chunk in chunks {
                for record in chunk.read(&mut buffer, budget)?.chunks_exact(stride) {
                    scatter.push(fingerprint(record), record)?;
                }
                chunk.release(budget);
            }
            scatter.end_source();
        }
        for chains in scatter.into_chains() {
            parts.iter_mut().zip(chains).for_each(|(part, chunks)| part.push(chunks));
        }
        for part in parts {
            self.join.progress.check()?;
            self.partition(part, consumed + SPLIT_BITS)?;
        }
        Ok(())
    }

    fn count_key(&mut self, source: usize, rows: u64) {
        self.tally.distinct_keys[source] += u64::from(rows > 0);
        self.tally.duplicated_keys[source] += u64::from(rows > 1);
    }

    /// Compares the rows of a key, source by source.
    fn pair(&mut self, mut group: Group<'_>) {
        let sources = self.join.sources;
        let single = (1..group.len()).all(|index| group.source(index) != group.source(index - 1));
        if !single {
            self.duplicates(&mut group);
            return;
        }
        (0..group.len()).for_each(|index| self.count_key(group.source(index), 1));
        if group.len() < sources {
            if self.join.decides {
                self.tally.unmatched_groups += 1;
                (0..group.len()).for_each(|index| self.tally.unmatched_by_source[group.source(index)] += 1);
            }
            self.flag_single(&group);
            return;
        }
        with_records(&group, |records| match self.judge.closeness(records) {
            Closeness::Same => self.tally.matched += 1,
            Closeness::Within => {
                self.tally.matched += 1;
                self.judge.measure(records, &mut self.tally.largest);
            }
            Closeness::Outside => {
                if self.join.decides {
                    self.tally.outside_groups += 1;
                    self.judge.count(records, &mut self.tally.outside, &mut self.tally.largest);
                }
                self.flag_single(&group);
            }
        });
    }

    /// Marks the rows of a group that has at most one per source.
    fn flag_single(&mut self, group: &Group<'_>) {
        let shape = self.join.shape;
        let is_full = self.tally.kept.len() >= self.join.most_kept;
        if self.join.decides || shape.long.is_empty() || is_full {
            // Without words, rows are decided by their values, as those that repeat are.
            self.flag(group, 0..group.len(), self.join.decides);
            return;
        }
        self.rows.1 += group.len() as u64;
        for index in 0..group.len() {
            let (source, record) = (group.source(index), group.record(index));
            self.join.broken[source].set(record);
            let word = |at: usize| shape.word(*shape.long.get(at)?, record);
            self.tally.kept.push(source, locator(record), std::array::from_fn(word));
        }
    }

    /// Takes out rows that are equal in every source; the rest of such a key is decided by value.
    fn duplicates(&mut self, group: &mut Group<'_>) {
        let layout = &self.join.shape.layout;
        let mut rows = vec![0; self.join.sources];
        (0..group.len()).for_each(|index| rows[group.source(index)] += 1);
        (0..rows.len()).for_each(|source| self.count_key(source, rows[source]));
        if self.join.plan.duplicates == Duplicates::Error {
            // Nothing is compared any more; the rows are read again to name some keys.
            self.name(group);
            return;
        }
        group.sort_by_content(layout);
        let mut left = vec![false; self.join.sources];
        let mut first_matched = None;
        let (mut start, mut matched) = (0, 0);
        while start < group.len() {
            let content = layout.content(group.record(start));
            let mut end = start;
            let mut equal = vec![0; self.join.sources];
            while end < group.len() && layout.content(group.record(end)) == content {
                equal[group.source(end)] += 1;
                end += 1;
            }
            if equal.iter().all(|count| *count == equal[0]) {
                matched += equal[0];
                first_matched.get_or_insert((start..end, equal[0]));
            } else if self.join.whole_keys {
                self.flag(group, 0..group.len(), false);
                return;
            } else {
                self.flag(group, start..end, false);
                left.iter_mut().zip(&equal).for_each(|(left, count)| *left |= *count > 0);
            }
            start = end;
        }
        // Where no row of a source is left, some that match show that it has the key all the same.
        if let Some((rows, count)) = first_matched.filter(|_| left.contains(&true) && left.contains(&false)) {
            matched -= count;
            self.flag(group, rows, false);
        }
        self.tally.matched += matched;
    }

    /// Marks the rows of a key that must not repeat, in the sources where it does.
    fn name(&self, group: &Group<'_>) {
        for index in 1..group.len() {
            if group.source(index - 1) == group.source(index) {
                self.join.repeated[group.source(index)].set(group.record(index - 1));
                self.join.repeated[group.source(index)].set(group.record(index));
            }
        }
    }

    /// Marks rows as broken or, when records cannot tell, as undecided.
    fn flag(&mut self, group: &Group<'_>, rows: std::ops::Range<usize>, decided: bool) {
        let bitmaps = if decided { self.join.broken } else { self.join.undecided };
        let count = rows.len() as u64;
        if decided {
            self.tally.broken_rows += count;
        } else {
            self.rows.1 += count;
        }
        rows.for_each(|index| bitmaps[group.source(index)].set(group.record(index)));
    }

    fn aggregate(&mut self, group: &Group<'_>) -> Result<(), Error> {
        let mut locators = vec![None; self.join.sources];
        self.aggregators.iter_mut().for_each(Aggregator::clear);
        for index in 0..group.len() {
            let (source, record) = (group.source(index), group.record(index));
            locators[source] = Some(locator(record));
            self.aggregators[source].add_record(self.join.shape, record)?;
        }
        for source in 0..self.join.sources {
            self.count_key(source, self.aggregators[source].rows);
        }
        let repeats = self.aggregators.iter().any(|aggregator| aggregator.rows > 1);
        if repeats && self.join.plan.duplicates == Duplicates::Error {
            // Nothing is compared any more; the rows are read again to name some keys.
            self.name(group);
            return Ok(());
        }
        let undecided = self.join.undecided;
        self.judge_aggregates(locators, &|| {
            (0..group.len()).for_each(|index| undecided[group.source(index)].set(group.record(index)));
            Ok(())
        })
    }

    /// Holds the sources' aggregates against each other; `mark` is called for a group that breaks or overflows.
    fn judge_aggregates(
        &mut self,
        locators: Vec<Option<u32>>,
        mark: &dyn Fn() -> Result<(), Error>,
    ) -> Result<(), Error> {
        let plan = self.join.plan;
        let rows = self.aggregators.iter().map(|aggregator| aggregator.rows).sum();
        let mut by_source = Vec::with_capacity(self.join.sources);
        for (source, aggregator) in self.aggregators.iter_mut().enumerate() {
            match aggregator.values() {
                Ok(values) => by_source.push(values),
                Err(NoValues::Overflow { .. }) => {
                    self.tally.overflowed = self.tally.overflowed.into_iter().chain([source]).min();
                    return mark();
                }
                Err(NoValues::Failed(error)) => return Err(error),
            }
        }
        let mut broke = false;
        let mut values: Vec<Vec<Option<Quantity>>> = Vec::with_capacity(plan.measures.len());
        for measure in 0..plan.measures.len() {
            values.push(by_source.iter().map(|of_source| of_source[measure].clone()).collect());
        }
        if locators.contains(&None) {
            broke = true;
            self.tally.unmatched_groups += 1;
            let present = locators.iter().enumerate().filter(|(_, locator)| locator.is_some());
            present.for_each(|(source, _)| self.tally.unmatched_by_source[source] += 1);
        } else {
            for (measure, values) in values.iter().enumerate() {
                let (within, difference) = judge_values(&plan.measures[measure].rule, plan.reference, values);
                difference.iter().for_each(|it| self.tally.largest[measure].offer_difference(it));
                if !within {
                    broke = true;
                    self.tally.outside[measure] += 1;
                }
            }
            if broke {
                self.tally.outside_groups += 1;
            } else {
                self.tally.matched += 1;
            }
        }
        if broke {
            self.tally.broken_rows += rows;
            mark()?;
            if self.tally.breaks.len() <= self.join.most_breaks {
                self.tally.breaks.push(GroupBreak { locators, rows, values });
            }
        }
        Ok(())
    }
}

fn judge_values(
    rule: &Rule,
    reference: Option<usize>,
    values: &[Option<Quantity>],
) -> (bool, Option<Quantity>) {
    if values.iter().all(|value| *value == values[0]) {
        return (true, None);
    }
    let outcome = check(rule, reference, values);
    (outcome.within, outcome.difference)
}

fn is_one_key(sources: &[Vec<Chunk>], stride: usize, budget: &Budget) -> Result<bool, Error> {
    let mut buffer = Vec::new();
    let mut first = None;
    for chunk in sources.iter().flatten() {
        for record in chunk.read(&mut buffer, budget)?.chunks_exact(stride) {
            let fingerprint = fingerprint(record);
            if *first.get_or_insert(fingerprint) != fingerprint {
                return Ok(false);
            }
        }
    }
    Ok(true)
}

/// Calls with the group's records as a slice, on the stack for as many sources as there usually are.
fn with_records(group: &Group<'_>, call: impl FnOnce(&[&[u32]])) {
    let mut few: [&[u32]; 8] = [&[]; 8];
    if group.len() > few.len() {
        let many: Vec<&[u32]> = (0..group.len()).map(|index| group.record(index)).collect();
        return call(&many);
    }
    (0..group.len()).for_each(|index| few[index] = group.record(index));
    call(&few[..group.len()]);
}
