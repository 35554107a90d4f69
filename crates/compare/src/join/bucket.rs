//! Brings the records of a partition together by key: a counting sort on a few bits, then small sorts.

use crate::error::Error;
use crate::ingest::record::{Layout, copy, fingerprint};
use crate::spill::partition::{Budget, Chunk, Radix};

/// Records a bucket should hold on average: few enough that sorting one is cheap, many enough that few are empty.
const RECORDS_PER_BUCKET: usize = 2;

/// The records of one partition, each followed by a word for its source, ordered by bucket.
#[derive(Default)]
pub(crate) struct Buckets {
    words: Vec<u32>,
    width: usize,
    ends: Vec<u32>,
    places: Vec<Place>,
}

/// Where a record is, with what it is sorted by: fingerprint, then source.
type Place = (u128, u32, u32);

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
        let radix = Radix { consumed, bits: wanted_bits.min(most_bits).min(128 - consumed) };
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
                copy(record, &mut self.words[at..at + stride]);
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
        let mut places = std::mem::take(&mut self.places);
        let mut start = 0;
        for &end in &self.ends {
            places.clear();
            places.extend((start..end).map(|record| self.place(record)));
            start = end;
            sort(&mut places);
            for group in places.chunk_by_mut(|a, b| a.0 == b.0) {
                call(Group { buckets: self, places: group })?;
            }
        }
        self.places = places;
        Ok(())
    }

    fn place(&self, record: u32) -> Place {
        let at = record as usize * self.width;
        let words = &self.words[at..at + self.width];
        (fingerprint(words), words[self.width - 1], record)
    }
}

/// Few elements nearly always, for which insertion is quickest.
fn sort(places: &mut [Place]) {
    if places.len() > 16 {
        places.sort_unstable();
        return;
    }
    for next in 1..places.len() {
        let mut at = next;
        while at > 0 && places[at] < places[at - 1] {
            places.swap(at, at - 1);
            at -= 1;
        }
    }
}

/// The records of one key, by source.
pub(crate) struct Group<'a> {
    buckets: &'a Buckets,
    places: &'a mut [Place],
}

impl<'a> Group<'a> {
    pub(crate) fn len(&self) -> usize {
        self.places.len()
    }

    pub(crate) fn source(&self, index: usize) -> usize {
        self.places[index].1 as usize
    }

    pub(crate) fn record(&self, index: usize) -> &'a [u32] {
        let width = self.buckets.width;
        let start = self.places[index].2 as usize * width;
        &self.buckets.words[start..start + width - 1]
    }

    /// Sorts by what is compared, then by source.
    pub(crate) fn sort_by_content(&mut self, layout: &Layout) {
        let buckets = self.buckets;
        let content = |place: &Place| layout.content(&buckets.words[place.2 as usize * buckets.width..]);
        self.places.sort_unstable_by(|a, b| content(a).cmp(content(b)).then_with(|| a.1.cmp(&b.1)));
    }
}
