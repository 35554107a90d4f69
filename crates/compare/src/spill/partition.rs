//! Scatters records into partitions by bits of their fingerprint, spilling to disk when memory is short.

use std::cmp::Reverse;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use crate::error::Error;
use crate::ingest::record::append;

/// Small enough that many partitions can be open at once, large enough to write in one go.
const CHUNK_WORDS: usize = 2048;

/// A chunk on disk is read in one go.
const DISK_CHUNK_WORDS: usize = 1 << 16;
/// What is copied before it is written, so that a long chain is not in memory twice.
const WRITE_BYTES: usize = 1 << 20;

/// The memory that chunks may take, shared by all threads.
#[derive(Debug)]
pub(crate) struct Budget {
    bytes: i64,
    left: AtomicI64,
    directory: PathBuf,
}

impl Budget {
    pub(crate) fn new(bytes: u64, directory: &Path) -> Self {
        let bytes = i64::try_from(bytes).unwrap_or(i64::MAX);
        Self { bytes, left: AtomicI64::new(bytes), directory: directory.to_path_buf() }
    }

    /// Takes everything back, when all chunks are gone.
    pub(crate) fn restart(&self) {
        self.left.store(self.bytes, Ordering::Relaxed);
    }

    /// Takes the bytes even if there are none left; says whether there were.
    fn take(&self, bytes: usize) -> bool {
        let bytes = bytes.cast_signed() as i64;
        self.left.fetch_sub(bytes, Ordering::Relaxed) >= bytes
    }

    fn give(&self, bytes: usize) {
        self.left.fetch_add(bytes.cast_signed() as i64, Ordering::Relaxed);
    }

    pub(crate) fn spill_error(&self, error: std::io::Error) -> Error {
        Error::Spill { directory: self.directory.display().to_string(), error }
    }

    /// A file that is gone when it is closed, however the process ends.
    pub(crate) fn temporary(&self) -> Result<File, Error> {
        tempfile::tempfile_in(&self.directory).map_err(|error| self.spill_error(error))
    }
}

/// Which bits of a fingerprint choose the partition: `bits` of them after the first `consumed`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Radix {
    pub(crate) consumed: u32,
    pub(crate) bits: u32,
}

impl Radix {
    pub(crate) fn partitions(self) -> usize {
        1 << self.bits
    }

    pub(crate) fn partition(self, fingerprint: u128) -> usize {
        if self.bits == 0 {
            return 0;
        }
        ((fingerprint << self.consumed) >> (128 - self.bits)) as usize
    }
}

/// Some records, in memory or on disk.
#[derive(Debug)]
pub(crate) enum Chunk {
    Memory(Vec<u32>),
    Disk { file: Arc<File>, offset: u64, used: usize },
}

impl Chunk {
    pub(crate) fn words(&self) -> usize {
        match self {
            Self::Memory(words) => words.len(),
            Self::Disk { used, .. } => *used,
        }
    }

    /// The records, read into the buffer if they are on disk.
    pub(crate) fn read<'a>(&'a self, buffer: &'a mut Vec<u32>, budget: &Budget) -> Result<&'a [u32], Error> {
        match self {
            Self::Memory(words) => Ok(words),
            Self::Disk { file, offset, used } => {
                let mut bytes = vec![0; used * 4];
                file.read_exact_at(&mut bytes, *offset).map_err(|error| budget.spill_error(error))?;
                buffer.clear();
                buffer.extend(bytes.as_chunks::<4>().0.iter().map(|word| u32::from_le_bytes(*word)));
                Ok(buffer)
            }
        }
    }

    /// The same records in memory.
    pub(crate) fn load(self, budget: &Budget) -> Result<Self, Error> {
        if matches!(self, Self::Memory(_)) {
            return Ok(self);
        }
        let mut words = Vec::new();
        self.read(&mut words, budget)?;
        budget.take(words.capacity() * 4);

        Ok(Self::Memory(words))
    }

    /// The records of a chunk that is in memory.
    pub(crate) fn in_memory(&self) -> &[u32] {
        match self {
            Self::Memory(words) => words,
            Self::Disk { .. } => &[],
        }
    }

    /// Frees its memory.
    pub(crate) fn release(self, budget: &Budget) {
        if let Self::Memory(words) = self {
            budget.give(words.capacity() * 4);
        }
    }
}

/// One thread's way to put records into partitions.
pub(crate) struct Scatter<'a> {
    radix: Radix,
    chunk_words: usize,
    open: Vec<Vec<u32>>,
    chains: Vec<Vec<Chunk>>,
    /// The chains of the sources before, which are spilled as well.
    done: Vec<Vec<Vec<Chunk>>>,
    /// Chunks that were spilled, to be filled again: an allocator would mix them with other memory, and keep more than the budget.
    spare: Vec<Vec<u32>>,
    budget: &'a Budget,
    spill: Option<Spill>,
    /// Where the next row of each partition goes while rows are ordered.
    places: Vec<u32>,
}

struct Spill {
    file: Arc<File>,
    offset: u64,
    bytes: Vec<u8>,
}

impl<'a> Scatter<'a> {
    pub(crate) fn new(radix: Radix, stride: usize, budget: &'a Budget) -> Self {
        let partitions = radix.partitions();
        Self {
            radix,
            chunk_words: (CHUNK_WORDS / stride).max(4) * stride,
            open: (0..partitions).map(|_| Vec::new()).collect(),
            chains: (0..partitions).map(|_| Vec::new()).collect(),
            done: Vec::new(),
            spare: Vec::new(),
            budget,
            spill: None,
            places: Vec::new(),
        }
    }

    /// Orders rows by partition: written one after the other, the ends of the open chunks stay in the nearest cache.
    pub(crate) fn order(&mut self, fingerprints: &[u128], rows: &mut Vec<u32>) {
        self.places.clear();
        self.places.resize(self.radix.partitions(), 0);
        for fingerprint in fingerprints {
            self.places[self.radix.partition(*fingerprint)] += 1;
        }
        let mut sum = 0;
        for place in &mut self.places {
            sum += std::mem::replace(place, sum);
        }
        rows.clear();
        rows.resize(fingerprints.len(), 0);
        for (row, fingerprint) in fingerprints.iter().enumerate() {
            let place = &mut self.places[self.radix.partition(*fingerprint)];
            rows[*place as usize] = row as u32;
            *place += 1;
        }
    }

    /// Adds a record.
    pub(crate) fn push(&mut self, fingerprint: u128, record: &[u32]) -> Result<(), Error> {
        let partition = self.radix.partition(fingerprint);
        let open = &mut self.open[partition];
        if open.len() + record.len() <= open.capacity() {
            append(record, open);
            return Ok(());
        }
        self.seal(partition)?;
        self.open[partition].extend_from_slice(record);
        Ok(())
    }

    /// Puts a full chunk into its chain and opens a fresh one.
    #[cold]
    fn seal(&mut self, partition: usize) -> Result<(), Error> {
        let full = std::mem::take(&mut self.open[partition]);
        if !full.is_empty() {
            self.chains[partition].push(Chunk::Memory(full));
        }
        self.open[partition] = self.fresh()?;
        Ok(())
    }

    /// An empty chunk: one that was spilled or, as long as there is memory, a new one.
    fn fresh(&mut self) -> Result<Vec<u32>, Error> {
        let bytes = self.chunk_words * 4;
        if self.spare.is_empty() && !self.budget.take(bytes) {
            self.spill_largest()?;
            if !self.spare.is_empty() {
                self.budget.give(bytes);
            }
        }
        Ok(self.spare.pop().unwrap_or_else(|| Vec::with_capacity(self.chunk_words)))
    }

    /// Writes the longest chains of this thread to disk, a quarter of what it holds, so that each write is long.
    fn spill_largest(&mut self) -> Result<(), Error> {
        if self.spill.is_none() {
            let file = Arc::new(self.budget.temporary()?);
            self.spill = Some(Spill { file, offset: 0, bytes: Vec::new() });
        }
        let Some(spill) = &mut self.spill else { return Ok(()) };
        let all = self.done.iter_mut().flatten().chain(&mut self.chains);
        let mut chains: Vec<(usize, &mut Vec<Chunk>)> = all.map(|chain| (in_memory(chain), chain)).collect();
        chains.sort_by_key(|(chunks, _)| Reverse(*chunks));
        let wanted = chains.iter().map(|(chunks, _)| chunks).sum::<usize>().div_ceil(4);
        let mut written = 0;
        for (chunks, chain) in chains {
            if written >= wanted {
                break;
            }
            written += chunks;
            spill.write(chain, &mut self.spare, self.budget)?;
        }
        Ok(())
    }

    /// Ends the chains of a source; the records of the next go into new ones.
    pub(crate) fn end_source(&mut self) {
        for (open, chain) in self.open.iter_mut().zip(&mut self.chains) {
            let open = std::mem::take(open);
            if !open.is_empty() {
                chain.push(Chunk::Memory(open));
            }
        }
        self.done.push(self.chains.iter_mut().map(std::mem::take).collect());
    }

    /// The chunks of every source that ended, by partition.
    pub(crate) fn into_chains(self) -> Vec<Vec<Vec<Chunk>>> {
        self.spare.into_iter().for_each(|words| Chunk::Memory(words).release(self.budget));
        self.done
    }
}

impl Spill {
    /// Moves a chain to disk and empties its chunks: neighbours become one chunk, as long as it is quickly read.
    fn write(
        &mut self,
        chain: &mut Vec<Chunk>,
        spare: &mut Vec<Vec<u32>>,
        budget: &Budget,
    ) -> Result<(), Error> {
        let mut moved: Vec<Chunk> = Vec::new();
        for chunk in chain.drain(..) {
            let Chunk::Memory(mut words) = chunk else {
                moved.push(chunk);
                continue;
            };
            let offset = self.offset + self.bytes.len() as u64;
            self.bytes.extend(words.iter().flat_map(|word| word.to_le_bytes()));
            match moved.last_mut() {
                Some(Chunk::Disk { offset: start, used, .. })
                    if *start + *used as u64 * 4 == offset && *used + words.len() <= DISK_CHUNK_WORDS =>
                {
                    *used += words.len();
                }
                _ => moved.push(Chunk::Disk { file: Arc::clone(&self.file), offset, used: words.len() }),
            }
            words.clear();
            spare.push(words);
            if self.bytes.len() >= WRITE_BYTES {
                self.flush(budget)?;
            }
        }
        *chain = moved;
        self.flush(budget)
    }

    fn flush(&mut self, budget: &Budget) -> Result<(), Error> {
        self.file.write_all_at(&self.bytes, self.offset).map_err(|error| budget.spill_error(error))?;
        self.offset += self.bytes.len() as u64;
        self.bytes.clear();
        Ok(())
    }
}

fn in_memory(chain: &[Chunk]) -> usize {
    chain.iter().filter(|chunk| matches!(chunk, Chunk::Memory(_))).count()
}

#[cfg(test)]
mod tests {
    use super::{Budget, CHUNK_WORDS, Chunk, Radix, Scatter};
    use crate::ingest::record::fingerprint;

    const STRIDE: usize = 8;
    const SOURCES: usize = 3;
    const RECORDS: u32 = 100_000;

    #[test]
    fn every_source_is_spilled_in_long_pieces() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let radix = Radix { consumed: 0, bits: 4 };
        let budget = Budget::new(128 * CHUNK_WORDS as u64 * 4, directory.path());
        let mut scatter = Scatter::new(radix, STRIDE, &budget);
        for source in 0..SOURCES as u32 {
            for number in 0..RECORDS {
                let record = [source, 0, 0, number.wrapping_mul(0x9e37_79b9), number, 0, 0, 0];
                scatter.push(fingerprint(&record), &record).expect("a disk");
            }
            scatter.end_source();
        }
        let mut buffer = Vec::new();
        for (source, chains) in scatter.into_chains().iter().enumerate() {
            let mut sum = 0;
            for (partition, chunk) in
                chains.iter().enumerate().flat_map(|(at, chain)| chain.iter().map(move |it| (at, it)))
            {
                for record in chunk.read(&mut buffer, &budget).expect("a disk").chunks_exact(STRIDE) {
                    assert_eq!(
                        (record[0] as usize, radix.partition(fingerprint(record))),
                        (source, partition)
                    );
                    sum += u64::from(record[4]);
                }
            }
            assert_eq!(sum, u64::from(RECORDS) * u64::from(RECORDS - 1) / 2, "source {source}");
            let on_disk = |chunk: &&Chunk| matches!(chunk, Chunk::Disk { .. });
            let lengths: Vec<usize> = chains.iter().flatten().filter(on_disk).map(Chunk::words).collect();
            let average = lengths.iter().sum::<usize>() / lengths.len();
            assert!(average >= 2 * CHUNK_WORDS, "source {source}: {average} words");
        }
    }
}
