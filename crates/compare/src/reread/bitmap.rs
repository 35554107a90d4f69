//! A bit per row, set from any thread.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};

use arrow_buffer::{BooleanBuffer, BooleanBufferBuilder};

use crate::ingest::Block;
use crate::ingest::record::{fingerprint, locator};
use crate::table::Selection;

/// A bit per row of a source, by locator.
pub(crate) struct Bitmap {
    words: Vec<AtomicU64>,
    keys: AtomicU64,
}

/// Rows to be read again.
#[derive(Debug, Clone, Default)]
pub(crate) struct Chosen {
    pub(crate) rows: Selection,
    /// The sum of the fingerprints of their keys, to tell whether the same rows are found again.
    pub(crate) keys: Option<u64>,
}

impl Bitmap {
    pub(crate) fn new(rows: u64) -> Self {
        Self { words: (0..rows.div_ceil(64)).map(|_| AtomicU64::new(0)).collect(), keys: AtomicU64::new(0) }
    }

    /// Sets the row of a record.
    pub(crate) fn set(&self, record: &[u32]) {
        if self.set_row(locator(record)) {
            self.keys.fetch_add(fingerprint(record) as u64, Ordering::Relaxed);
        }
    }

    /// Sets a row whose key does not matter; says whether it was not set yet.
    pub(crate) fn set_row(&self, locator: u32) -> bool {
        let bit = 1 << (locator % 64);
        self.words[locator as usize / 64].fetch_or(bit, Ordering::Relaxed) & bit == 0
    }

    /// The rows that are set.
    pub(crate) fn chosen(&self, blocks: &[Block]) -> Chosen {
        let mut rows = Selection::new();
        let mut by_part: Vec<&Block> = blocks.iter().collect();
        by_part.sort_unstable_by_key(|block| (block.part, block.offset));
        for blocks in by_part.chunk_by(|a, b| a.part == b.part) {
            let mut bits = BooleanBufferBuilder::new(blocks.iter().map(|block| block.rows as usize).sum());
            let mut any = false;
            for block in blocks {
                any |= self.append(block, &mut bits);
            }
            if any {
                rows.insert(blocks[0].part, bits.finish());
            }
        }
        Chosen { rows, keys: Some(self.keys.load(Ordering::Relaxed)) }
    }

    /// Appends the bits of a block, many at once where none is set; says whether any is.
    fn append(&self, block: &Block, bits: &mut BooleanBufferBuilder) -> bool {
        let (mut at, end) = (block.first, block.first + block.rows);
        let mut any = false;
        while at < end {
            let word = self.words[at as usize / 64].load(Ordering::Relaxed);
            let next = (at - at % 64).saturating_add(64).min(end);
            if word == 0 {
                bits.append_n((next - at) as usize, false);
            } else {
                any = true;
                (at..next).for_each(|locator| bits.append(word & (1 << (locator % 64)) != 0));
            }
            at = next;
        }
        any
    }
}

/// Every row there is.
pub(crate) fn all_rows(blocks: &[Block]) -> Chosen {
    let mut parts: HashMap<usize, usize> = HashMap::new();
    blocks.iter().for_each(|block| *parts.entry(block.part).or_default() += block.rows as usize);
    let rows = parts.into_iter().map(|(part, rows)| (part, BooleanBuffer::new_set(rows))).collect();
    Chosen { rows, keys: None }
}
