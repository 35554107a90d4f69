//! More rows of one key than fit into memory.

use super::{Join, Worker};
use crate::error::Error;
use crate::ingest::record::{HEAD_WORDS, head, locator};
use crate::join::aggregate::Aggregator;
use crate::spill::partition::Chunk;
use crate::spill::sorter::Sorter;

/// Equal rows that are remembered until it is known whether every source has as many; more are decided by value.
const MOST_EQUAL_ROWS: usize = 1 << 18;
/// What says where a row is: its source, and the start of its record.
const PLACE_WORDS: usize = 1 + HEAD_WORDS;

/// Rows of one key that are equal to each other.
#[derive(Default)]
struct Equal {
    content: Vec<u8>,
    /// Source and start of the record of each, as long as they are few.
    rows: Vec<(usize, [u32; HEAD_WORDS])>,
    counts: Vec<u64>,
    are_many: bool,
    /// The sources that have rows left.
    left: Vec<bool>,
    /// The first rows that every source has as many of.
    matched: Vec<(usize, [u32; HEAD_WORDS])>,
}

impl Worker<'_> {
    /// Marks the rows of a key that must not repeat, so that it can be named.
    pub(super) fn name_one_key(&mut self, sources: Vec<Vec<Chunk>>) -> Result<(), Error> {
        self.stream(sources, |worker, source, record| {
            worker.join.repeated[source].set(record);
            Ok(())
        })
    }

    /// Aggregates the rows as they stream by, once more if they are to be marked.
    pub(super) fn aggregate_one_key(&mut self, sources: Vec<Vec<Chunk>>) -> Result<(), Error> {
        let join = self.join;
        let mut locators = vec![None; join.sources];
        self.aggregators.iter_mut().for_each(Aggregator::clear);
        self.count_one_key(&sources);
        each_record(join, &sources, |source, record| {
            locators[source] = Some(locator(record));
            self.aggregators[source].add_record(join.shape, record)
        })?;
        self.judge_aggregates(locators, &|| {
            each_record(join, &sources, |source, record| {
                join.undecided[source].set(record);
                Ok(())
            })
        })?;
        sources.into_iter().flatten().for_each(|chunk| chunk.release(join.budget));
        Ok(())
    }

    /// Brings equal rows together on disk, and takes out those that every source has as many of.
    pub(super) fn pair_one_key(&mut self, sources: Vec<Vec<Chunk>>) -> Result<(), Error> {
        if self.join.whole_keys {
            return self.stream(sources, |worker, source, record| {
                worker.join.undecided[source].set(record);
                Ok(())
            });
        }
        let mut sorter = Sorter::new(self.join.most_words * 4, self.join.budget);
        self.stream(sources, |worker, source, record| {
            sorter.push(|out| {
                let content = worker.join.shape.layout.content(record);
                out.extend(content.iter().flat_map(|word| word.to_be_bytes()));
                out.extend((source as u32).to_be_bytes());
                out.extend(head(record).iter().flat_map(|word| word.to_be_bytes()));
            })
        })?;
        let mut rows = Sorter::merge(vec![sorter], self.join.progress)?;
        let sources = self.join.sources;
        let mut equal = Equal { counts: vec![0; sources], left: vec![false; sources], ..Equal::default() };
        while let Some(entry) = rows.next()? {
            let (content, place) = entry.split_at(entry.len() - PLACE_WORDS * 4);
            let mut words = place.as_chunks::<4>().0.iter().map(|word| u32::from_be_bytes(*word));
            if content != equal.content {
                self.join.progress.check()?;
                self.take_equal(&mut equal);
                equal.content = content.to_vec();
            }
            let mut next = || words.next().expect("a place has a source and the start of a record");
            let source = next() as usize;
            equal.counts[source] += 1;
            equal.rows.push((source, std::array::from_fn(|_| next())));
            if equal.rows.len() >= MOST_EQUAL_ROWS {
                equal.are_many = true;
                self.leave(&mut equal);
            }
        }
        self.take_equal(&mut equal);
        // Where no row of a source is left, some that match show that it has the key all the same.
        if equal.left.contains(&true) && equal.left.contains(&false) {
            self.tally.matched -= (equal.matched.len() / sources) as u64;
            equal.rows = std::mem::take(&mut equal.matched);
            self.leave(&mut equal);
        }
        Ok(())
    }

    fn take_equal(&mut self, equal: &mut Equal) {
        let everywhere = equal.counts.iter().all(|count| *count == equal.counts[0]);
        if everywhere && !equal.are_many {
            self.tally.matched += equal.counts[0];
            if equal.matched.is_empty() {
                std::mem::swap(&mut equal.matched, &mut equal.rows);
            }
            equal.rows.clear();
        } else {
            self.leave(equal);
        }
        equal.counts.fill(0);
        equal.are_many = false;
    }

    /// Leaves rows to be decided by value.
    fn leave(&mut self, equal: &mut Equal) {
        self.rows.1 += equal.rows.len() as u64;
        for (source, record) in equal.rows.drain(..) {
            self.join.undecided[source].set(&record);
            equal.left[source] = true;
        }
    }

    fn count_one_key(&mut self, sources: &[Vec<Chunk>]) {
        let stride = self.join.shape.layout.stride();
        for (source, chunks) in sources.iter().enumerate() {
            let rows = (chunks.iter().map(Chunk::words).sum::<usize>() / stride) as u64;
            self.count_key(source, rows);
            self.rows.0 += rows;
        }
    }

    /// Calls with every record, frees it, and counts the key.
    fn stream(
        &mut self,
        sources: Vec<Vec<Chunk>>,
        mut call: impl FnMut(&mut Self, usize, &[u32]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let (budget, stride) = (self.join.budget, self.join.shape.layout.stride());
        let mut buffer = Vec::new();
        self.count_one_key(&sources);
        for (source, chunks) in sources.into_iter().enumerate() {
            for chunk in chunks {
                self.join.progress.check()?;
                for record in chunk.read(&mut buffer, budget)?.chunks_exact(stride) {
                    call(self, source, record)?;
                }
                chunk.release(budget);
            }
        }
        Ok(())
    }
}

/// Calls with every record and its source.
fn each_record(
    join: &Join<'_>,
    sources: &[Vec<Chunk>],
    mut call: impl FnMut(usize, &[u32]) -> Result<(), Error>,
) -> Result<(), Error> {
    let mut buffer = Vec::new();
    for (source, chunk) in
        sources.iter().enumerate().flat_map(|(at, chunks)| chunks.iter().map(move |it| (at, it)))
    {
        join.progress.check()?;
        for record in chunk.read(&mut buffer, join.budget)?.chunks_exact(join.shape.layout.stride()) {
            call(source, record)?;
        }
    }
    Ok(())
}
