//! Brings the records of a partition together by key: a counting sort on a few bits, then small sorts.

use crate::error::Error;
use crate::partition::{Budget, Chunk, Radix};
use crate::record::fingerprint;

/// Records a bucket should hold on average: few enough that sorting one is cheap, many enough that few are empty.
const RECORDS_PER_BUCKET: usize = 2;

/// The records of one partition, each followed by a word for its source, ordered by bucket.
#[derive(Default)]
pub(crate) struct Buckets {
    words: Vec<u32>,
    width: usize,
    ends: Vec<u32>,
    order: Vec<u32>,
}

impl Buckets {
    /// Takes the records of all sources and frees their chunks.
    pub(crate) fn fill(
        &mut self,
        sources: Vec<Vec<Chunk>>,
        stride: usize,
        consumed: u32,
        most_bits: u32,
        budget: &Budget,
    ) -> Result<(), Error> {
        let mut chunks: Vec<(u32, Chunk)> = Vec::new();
        for (source, of_source) in sources.into_iter().enumerate() {
            for chunk in of_source {
                chunks.push((source as u32, chunk.load(budget)?));
            }
        }
        let records = chunks.iter().map(|(_, chunk)| chunk.words()).sum::<usize>() / stride;
        let wanted_bits = (records / RECORDS_PER_BUCKET).max(1).ilog2();
        let radix = Radix {
            consumed,
            bits: wanted_bits.min(most_bits).min(128 - consumed),
        };
        self.width = stride + 1;
        self.ends.clear();
        self.ends.resize(radix.partitions(), 0);
        for (_, chunk) in &chunks {
            for record in chunk.in_memory().chunks_exact(stride) {
                self.ends[radix.partition(fingerprint(record))] += 1;
            }
        }
        let mut sum = 0;
        for end in &mut self.ends {
            let count = *end;
            *end = sum;
            sum += count;
        }
        // No need to clear: every place is written, since the counts add up.
        self.words.resize(records * self.width, 0);
        for (source, chunk) in chunks {
            for record in chunk.in_memory().chunks_exact(stride) {
                let next = &mut self.ends[radix.partition(fingerprint(record))];
                let at = *next as usize * self.width;
                *next += 1;
                self.words[at..at + stride].copy_from_slice(record);
                self.words[at + stride] = source;
            }
            chunk.release(budget);
        }
        Ok(())
    }

    /// Calls with each group: records of one key, by source.
    pub(crate) fn groups(
        &mut self,
        mut call: impl FnMut(Group<'_>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let mut order = std::mem::take(&mut self.order);
        let mut start = 0;
        for &end in &self.ends {
            order.clear();
            order.extend(start..end);
            start = end;
            order.sort_unstable_by_key(|record| (self.fingerprint(*record), self.source(*record)));
            for group in order.chunk_by_mut(|a, b| self.fingerprint(*a) == self.fingerprint(*b)) {
                call(Group {
                    buckets: self,
                    records: group,
                })?;
            }
        }
        self.order = order;
        Ok(())
    }

    fn fingerprint(&self, record: u32) -> u128 {
        fingerprint(&self.words[record as usize * self.width..])
    }

    fn source(&self, record: u32) -> u32 {
        self.words[(record as usize + 1) * self.width - 1]
    }
}

/// The records of one key, by source.
pub(crate) struct Group<'a> {
    buckets: &'a Buckets,
    records: &'a mut [u32],
}

impl<'a> Group<'a> {
    pub(crate) fn len(&self) -> usize {
        self.records.len()
    }

    pub(crate) fn source(&self, index: usize) -> usize {
        self.buckets.source(self.records[index]) as usize
    }

    pub(crate) fn record(&self, index: usize) -> &'a [u32] {
        let width = self.buckets.width;
        let start = self.records[index] as usize * width;
        &self.buckets.words[start..start + width - 1]
    }

    /// Sorts by what is compared, then by source.
    pub(crate) fn sort_by_content(&mut self, layout: &crate::record::Layout) {
        let buckets = self.buckets;
        let width = buckets.width;
        let content = |record: u32| layout.content(&buckets.words[record as usize * width..]);
        self.records.sort_unstable_by(|a, b| {
            content(*a)
                .cmp(content(*b))
                .then_with(|| buckets.source(*a).cmp(&buckets.source(*b)))
        });
    }
}
