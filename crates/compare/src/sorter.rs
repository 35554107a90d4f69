//! Sorts byte strings, more of them than memory holds.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{BufReader, BufWriter, Read, Seek, Write};

use crate::error::Error;
use crate::partition::Budget;

/// The first bytes of an entry, which mostly tell its order already, and its start and end.
type Place = (u64, usize, usize);

/// Sorts byte strings; those beyond its memory go to disk in sorted runs.
pub(crate) struct Sorter<'a> {
    budget: &'a Budget,
    limit: usize,
    bytes: Vec<u8>,
    entries: Vec<Place>,
    runs: Vec<File>,
}

impl<'a> Sorter<'a> {
    /// Holds at most about `limit` bytes in memory.
    pub(crate) fn new(limit: usize, budget: &'a Budget) -> Self {
        Self { budget, limit, bytes: Vec::new(), entries: Vec::new(), runs: Vec::new() }
    }

    /// Adds what the closure appends to the buffer it is given.
    pub(crate) fn push(&mut self, write: impl FnOnce(&mut Vec<u8>)) -> Result<(), Error> {
        if self.bytes.len() + self.entries.len() * size_of::<Place>() >= self.limit {
            self.spill()?;
        }
        let start = self.bytes.len();
        write(&mut self.bytes);
        self.entries.push((first_bytes(&self.bytes[start..]), start, self.bytes.len()));
        Ok(())
    }

    fn sort(&mut self) {
        let bytes = &self.bytes;
        self.entries
            .sort_unstable_by(|a, b| a.0.cmp(&b.0).then_with(|| bytes[a.1..a.2].cmp(&bytes[b.1..b.2])));
    }

    fn spill(&mut self) -> Result<(), Error> {
        self.sort();
        let run = self.write_run().map_err(|error| self.budget.spill_error(error))?;
        self.runs.push(run?);
        self.bytes.clear();
        self.entries.clear();
        Ok(())
    }

    fn write_run(&self) -> std::io::Result<Result<File, Error>> {
        let file = match self.budget.temporary() {
            Ok(file) => file,
            Err(error) => return Ok(Err(error)),
        };
        let mut writer = BufWriter::with_capacity(1 << 18, file);
        for &(_, start, end) in &self.entries {
            writer.write_all(&((end - start) as u64).to_le_bytes())?;
            writer.write_all(&self.bytes[start..end])?;
        }
        let mut file = writer.into_inner().map_err(std::io::IntoInnerError::into_error)?;
        file.rewind()?;
        Ok(Ok(file))
    }

    /// All entries of all the sorters, in order.
    pub(crate) fn merge(mut sorters: Vec<Self>) -> Result<Merge<'a>, Error> {
        let mut merge = Merge { runs: Vec::new(), heap: BinaryHeap::new(), budget: None };
        std::thread::scope(|scope| {
            sorters.iter_mut().for_each(|sorter| drop(scope.spawn(|| sorter.sort())));
        });
        for mut sorter in sorters {
            merge.budget = Some(sorter.budget);
            merge
                .runs
                .extend(sorter.runs.drain(..).map(|file| Run::Disk(BufReader::with_capacity(1 << 16, file))));
            let entries = std::mem::take(&mut sorter.entries).into_iter();
            merge.runs.push(Run::Memory { bytes: sorter.bytes, entries });
        }
        for run in 0..merge.runs.len() {
            merge.refill(run)?;
        }
        Ok(merge)
    }
}

fn first_bytes(entry: &[u8]) -> u64 {
    let mut first = [0; 8];
    let length = entry.len().min(8);
    first[..length].copy_from_slice(&entry[..length]);
    u64::from_be_bytes(first)
}

/// The entries of several sorters, in order.
pub(crate) struct Merge<'a> {
    runs: Vec<Run>,
    heap: BinaryHeap<Reverse<(Vec<u8>, usize)>>,
    budget: Option<&'a Budget>,
}

enum Run {
    Memory { bytes: Vec<u8>, entries: std::vec::IntoIter<Place> },
    Disk(BufReader<File>),
}

impl Run {
    fn next(&mut self) -> std::io::Result<Option<Vec<u8>>> {
        match self {
            Self::Memory { bytes, entries } => {
                Ok(entries.next().map(|(_, start, end)| bytes[start..end].to_vec()))
            }
            Self::Disk(reader) => {
                let mut length = [0; 8];
                match reader.read_exact(&mut length) {
                    Ok(()) => {}
                    Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => return Ok(None),
                    Err(error) => return Err(error),
                }
                let mut entry = vec![0; u64::from_le_bytes(length) as usize];
                reader.read_exact(&mut entry)?;
                Ok(Some(entry))
            }
        }
    }
}

impl Merge<'_> {
    fn refill(&mut self, run: usize) -> Result<(), Error> {
        let entry = self.runs[run].next().map_err(|error| match self.budget {
            Some(budget) => budget.spill_error(error),
            None => Error::Spill { directory: String::new(), error },
        })?;
        self.heap.extend(entry.map(|entry| Reverse((entry, run))));
        Ok(())
    }

    /// The next entry, smallest first.
    pub(crate) fn next(&mut self) -> Result<Option<Vec<u8>>, Error> {
        let Some(Reverse((entry, run))) = self.heap.pop() else {
            return Ok(None);
        };
        self.refill(run)?;
        Ok(Some(entry))
    }
}
