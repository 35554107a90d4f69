//! Scatters records into partitions by bits of their fingerprint, spilling to disk when memory is short.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use crate::error::Error;
use crate::record::append;

/// Small enough that many partitions can be open at once, large enough to write in one go.
const CHUNK_WORDS: usize = 2048;

/// The memory that chunks may take, shared by all threads.
#[derive(Debug)]
pub(crate) struct Budget {
    left: AtomicI64,
    directory: PathBuf,
}

impl Budget {
    pub(crate) fn new(bytes: u64, directory: &Path) -> Self {
        Self {
            left: AtomicI64::new(i64::try_from(bytes).unwrap_or(i64::MAX)),
            directory: directory.to_path_buf(),
        }
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
    budget: &'a Budget,
    spill: Option<Spill>,
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
            budget,
            spill: None,
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
        if !self.budget.take(self.chunk_words * 4) {
            self.spill_largest()?;
        }
        self.open[partition] = Vec::with_capacity(self.chunk_words);
        Ok(())
    }

    /// Writes the longest chains of this thread to disk, a quarter of what it holds, so that each write is long.
    fn spill_largest(&mut self) -> Result<(), Error> {
        let mut in_memory: Vec<(usize, usize)> =
            self.chains.iter().enumerate().map(|(partition, chain)| (in_memory(chain), partition)).collect();
        in_memory.sort_unstable_by(|a, b| b.cmp(a));
        let wanted = in_memory.iter().map(|(chunks, _)| chunks).sum::<usize>().div_ceil(4);
        let mut written = 0;
        for (chunks, partition) in in_memory {
            if written >= wanted {
                break;
            }
            written += chunks;
            self.spill_chain(partition)?;
        }
        Ok(())
    }

    fn spill_chain(&mut self, partition: usize) -> Result<(), Error> {
        if self.spill.is_none() {
            self.spill =
                Some(Spill { file: Arc::new(self.budget.temporary()?), offset: 0, bytes: Vec::new() });
        }
        let Some(spill) = self.spill.as_mut() else {
            return Ok(());
        };
        spill.bytes.clear();
        for chunk in &mut self.chains[partition] {
            let Chunk::Memory(words) = chunk else { continue };
            let offset = spill.offset + spill.bytes.len() as u64;
            spill.bytes.extend(words.iter().flat_map(|word| word.to_le_bytes()));
            self.budget.give(words.capacity() * 4);
            *chunk = Chunk::Disk { file: Arc::clone(&spill.file), offset, used: words.len() };
        }
        spill
            .file
            .write_all_at(&spill.bytes, spill.offset)
            .map_err(|error| self.budget.spill_error(error))?;
        spill.offset += spill.bytes.len() as u64;
        Ok(())
    }

    /// Every partition's chunks; the scatter is empty afterwards.
    pub(crate) fn drain(&mut self) -> Vec<Vec<Chunk>> {
        for (open, chain) in self.open.iter_mut().zip(&mut self.chains) {
            let open = std::mem::take(open);
            if !open.is_empty() {
                chain.push(Chunk::Memory(open));
            }
        }
        self.chains.iter_mut().map(std::mem::take).collect()
    }
}

fn in_memory(chain: &[Chunk]) -> usize {
    chain.iter().filter(|chunk| matches!(chunk, Chunk::Memory(_))).count()
}
