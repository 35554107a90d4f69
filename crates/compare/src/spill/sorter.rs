//! Sorts byte strings, more of them than memory holds.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

use crate::error::Error;
use crate::progress::Progress;
use crate::spill::partition::Budget;
use crate::spill::spool::{READ_BYTES, Spool, Stretch, Strings};

/// Sorted runs that are read at once: each has a buffer, and more than these gain little.
const LEAST_FAN_IN: usize = 16;
const MOST_FAN_IN: usize = 256;

/// What is allocated at a time.
const BLOCK_BYTES: usize = 1 << 16;

/// Sorts byte strings; those beyond its memory go to disk in sorted runs.
pub(crate) struct Sorter<'a> {
    budget: &'a Budget,
    limit: usize,
    held: Held,
    spool: Option<Spool<'a>>,
    runs: Vec<Stretch<'a>>,
}

impl<'a> Sorter<'a> {
    /// Holds at most about `limit` bytes in memory.
    pub(crate) fn new(limit: usize, budget: &'a Budget) -> Self {
        Self { budget, limit, held: Held::default(), spool: None, runs: Vec::new() }
    }

    /// Adds what the closure appends to the buffer it is given.
    pub(crate) fn push(&mut self, write: impl FnOnce(&mut Vec<u8>)) -> Result<(), Error> {
        if self.held.size() >= self.limit {
            self.spill()?;
        }
        self.held.push(write);
        Ok(())
    }

    fn spill(&mut self) -> Result<(), Error> {
        self.held.sort();
        let spool = match &mut self.spool {
            Some(spool) => spool,
            none => none.insert(Spool::new(self.budget)?),
        };
        self.held.entries.iter().try_for_each(|entry| spool.push(entry.of(&self.held.blocks)))?;
        self.held.clear();
        self.runs.push(spool.stretch()?);
        Ok(())
    }

    /// Ends the adding, on a thread each; the memory of those that did not hold everything is freed.
    pub(crate) fn close(sorters: &mut [Self]) -> Result<(), Error> {
        std::thread::scope(|scope| {
            let closing: Vec<_> =
                sorters.iter_mut().map(|sorter| scope.spawn(|| sorter.close_one())).collect();
            closing
                .into_iter()
                .try_for_each(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
        })
    }

    fn close_one(&mut self) -> Result<(), Error> {
        if self.runs.is_empty() {
            self.held.sort();
            return Ok(());
        }
        if !self.held.entries.is_empty() {
            self.spill()?;
        }
        (self.held, self.spool) = (Held::default(), None);
        Ok(())
    }

    /// All entries of all the sorters, in order.
    pub(crate) fn merge(mut sorters: Vec<Self>, progress: &Progress) -> Result<Merge<'a>, Error> {
        let limit: usize = sorters.iter().map(|sorter| sorter.limit).sum();
        let fan_in = (limit / READ_BYTES).clamp(LEAST_FAN_IN, MOST_FAN_IN);
        Self::close(&mut sorters)?;
        let mut on_disk: Vec<_> = sorters.iter_mut().flat_map(|sorter| sorter.runs.drain(..)).collect();
        if let Some(sorter) = sorters.first() {
            merge_to(fan_in, &mut on_disk, sorter.budget, progress)?;
        }
        let in_memory = sorters
            .into_iter()
            .map(|Self { held, .. }| Run::Memory { blocks: held.blocks, entries: held.entries.into_iter() });
        Merge::new(on_disk.into_iter().map(|run| Run::Disk(run.read())).chain(in_memory).collect())
    }
}

/// The byte strings that a sorter holds in memory.
#[derive(Default)]
struct Held {
    /// Each small enough to be made of memory that was freed, and never moved to grow; the last is being filled.
    blocks: Vec<Vec<u8>>,
    bytes: usize,
    entries: Vec<Place>,
    next: Vec<u8>,
}

/// Where a byte string is.
#[derive(Clone, Copy)]
struct Place {
    /// Its first bytes, which mostly tell its order already.
    first: u64,
    block: u32,
    start: u32,
    length: usize,
}

impl Place {
    fn of(self, blocks: &[Vec<u8>]) -> &[u8] {
        &blocks[self.block as usize][self.start as usize..][..self.length]
    }
}

impl Held {
    fn size(&self) -> usize {
        self.bytes + self.entries.len() * size_of::<Place>()
    }

    fn push(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        self.next.clear();
        write(&mut self.next);
        let length = self.next.len();
        if self.blocks.last().is_none_or(|block| block.capacity() - block.len() < length) {
            self.blocks.push(Vec::with_capacity(BLOCK_BYTES.max(length)));
        }
        self.bytes += length;
        let at = self.blocks.len() - 1;
        let (first, start) = (first_bytes(&self.next), self.blocks[at].len() as u32);
        self.entries.push(Place { first, block: at as u32, start, length });
        self.blocks[at].extend_from_slice(&self.next);
    }

    fn sort(&mut self) {
        let blocks = &self.blocks;
        self.entries
            .sort_unstable_by(|a, b| a.first.cmp(&b.first).then_with(|| a.of(blocks).cmp(b.of(blocks))));
    }

    fn clear(&mut self) {
        self.blocks.clear();
        self.entries.clear();
        self.bytes = 0;
    }
}

fn first_bytes(string: &[u8]) -> u64 {
    let mut first = [0; 8];
    let length = string.len().min(8);
    first[..length].copy_from_slice(&string[..length]);
    u64::from_be_bytes(first)
}

/// Merges runs into longer ones until at most so many are left; the oldest first, which are the shortest.
fn merge_to<'a>(
    fan_in: usize,
    runs: &mut Vec<Stretch<'a>>,
    budget: &'a Budget,
    progress: &Progress,
) -> Result<(), Error> {
    while runs.len() > fan_in {
        let some = fan_in.min(runs.len() - fan_in + 1);
        let mut merge = Merge::new(runs.drain(..some).map(|run| Run::Disk(run.read())).collect())?;
        let mut spool = Spool::new(budget)?;
        let mut entry = Vec::new();
        while merge.append_next(&mut entry)? {
            progress.check()?;
            spool.push(&entry)?;
            entry.clear();
        }
        runs.push(spool.stretch()?);
    }
    Ok(())
}

/// The entries of several sorters, in order.
pub(crate) struct Merge<'a> {
    runs: Vec<Run<'a>>,
    heads: BinaryHeap<Reverse<Head>>,
}

/// The smallest entry of a run, in a buffer that its next ones are put into.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Head {
    /// Its first bytes, which mostly tell its order already.
    first: u64,
    entry: Vec<u8>,
    run: usize,
}

enum Run<'a> {
    Memory { blocks: Vec<Vec<u8>>, entries: std::vec::IntoIter<Place> },
    Disk(Strings<'a>),
}

/// Entries in memory that are asked for at once.
const ASKED_AT_ONCE: usize = 16;

/// Brings entries close to the processor: they lie all over the memory, and waiting for many takes little longer than for one.
fn ask_for(entries: &[Place], blocks: &[Vec<u8>]) {
    let ends = entries.iter().map(|entry| entry.of(blocks)).map(|bytes| (bytes.first(), bytes.last()));
    std::hint::black_box(ends.fold(0, |sum, (first, last)| sum ^ first.unwrap_or(&0) ^ last.unwrap_or(&0)));
}

impl Run<'_> {
    /// Puts the next entry in place of what is given; says whether there was one.
    fn next(&mut self, into: &mut Vec<u8>) -> Result<bool, Error> {
        match self {
            Self::Memory { blocks, entries } => {
                if entries.len().is_multiple_of(ASKED_AT_ONCE) {
                    let next = entries.as_slice();
                    ask_for(&next[..next.len().min(ASKED_AT_ONCE)], blocks);
                }
                let Some(place) = entries.next() else { return Ok(false) };
                into.clear();
                into.extend_from_slice(place.of(blocks));
                Ok(true)
            }
            Self::Disk(strings) => strings.next(into),
        }
    }
}

impl<'a> Merge<'a> {
    fn new(runs: Vec<Run<'a>>) -> Result<Self, Error> {
        let mut merge = Self { heads: BinaryHeap::with_capacity(runs.len()), runs };
        for (run, entries) in merge.runs.iter_mut().enumerate() {
            let mut entry = Vec::new();
            if entries.next(&mut entry)? {
                merge.heads.push(Reverse(Head { first: first_bytes(&entry), entry, run }));
            }
        }
        Ok(merge)
    }

    /// The next entry, smallest first.
    pub(crate) fn next(&mut self) -> Result<Option<Vec<u8>>, Error> {
        let mut entry = Vec::new();
        Ok(self.append_next(&mut entry)?.then_some(entry))
    }

    /// Appends the next entry to a buffer; says whether there was one.
    pub(crate) fn append_next(&mut self, out: &mut Vec<u8>) -> Result<bool, Error> {
        let Some(mut smallest) = self.heads.peek_mut() else {
            return Ok(false);
        };
        let Reverse(head) = &mut *smallest;
        out.extend_from_slice(&head.entry);
        if self.runs[head.run].next(&mut head.entry)? {
            head.first = first_bytes(&head.entry);
        } else {
            PeekMut::pop(smallest);
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::{LEAST_FAN_IN, Sorter};
    use crate::progress::Progress;
    use crate::spill::partition::Budget;

    const STRINGS: u32 = 50_000;

    fn string(number: u32) -> Vec<u8> {
        let word = number.wrapping_mul(0x9e37_79b9).to_be_bytes();
        word.repeat(1 + number as usize % 5)
    }

    #[test]
    fn many_runs_are_merged_in_passes() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let budget = Budget::new(0, directory.path());
        let mut sorters = [1 << 10, 1 << 12, 1 << 20].map(|limit| Sorter::new(limit, &budget));
        let mut expected: Vec<Vec<u8>> = (0..STRINGS).map(string).collect();
        for (number, string) in expected.iter().enumerate() {
            sorters[number % 3].push(|out| out.extend(string)).expect("a disk");
        }
        let runs = sorters.each_ref().map(|sorter| sorter.runs.len());
        assert!(runs[0] > LEAST_FAN_IN * LEAST_FAN_IN && runs[1] > LEAST_FAN_IN && runs[2] == 0, "{runs:?}");
        expected.sort_unstable();
        let mut merge = Sorter::merge(sorters.into(), &Progress::new(1)).expect("a disk");
        assert!(merge.runs.len() <= LEAST_FAN_IN + 3, "{} runs are open", merge.runs.len());
        for string in expected {
            assert_eq!(merge.next().expect("a disk"), Some(string));
        }
        assert_eq!(merge.next().expect("a disk"), None);
    }
}
