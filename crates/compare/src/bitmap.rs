//! A bit per row, set from any thread.

use std::sync::atomic::{AtomicU64, Ordering};

use arrow_buffer::BooleanBufferBuilder;

use crate::ingest::Block;
use crate::record::{fingerprint, locator};
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
        let (word, bit) = (locator(record) as usize / 64, 1 << (locator(record) % 64));
        if self.words[word].fetch_or(bit, Ordering::Relaxed) & bit == 0 {
            self.keys.fetch_add(fingerprint(record) as u64, Ordering::Relaxed);
        }
    }

    fn get(&self, locator: u32) -> bool {
        self.words[locator as usize / 64].load(Ordering::Relaxed) & (1 << (locator % 64)) != 0
    }

    /// The rows that are set.
    pub(crate) fn chosen(&self, blocks: &[Block]) -> Chosen {
        Chosen {
            rows: select(blocks, |locator| self.get(locator)),
            keys: Some(self.keys.load(Ordering::Relaxed)),
        }
    }
}

/// The rows of the blocks that are wanted, by part.
pub(crate) fn select(blocks: &[Block], is_wanted: impl Fn(u32) -> bool) -> Selection {
    let mut by_part: Vec<&Block> = blocks.iter().collect();
    by_part.sort_unstable_by_key(|block| (block.part, block.offset));
    let mut selection = Selection::new();
    for blocks in by_part.chunk_by(|a, b| a.part == b.part) {
        let mut rows = BooleanBufferBuilder::new(0);
        let mut any = false;
        for block in blocks {
            for locator in block.first..block.first + block.rows {
                let wanted = is_wanted(locator);
                any |= wanted;
                rows.append(wanted);
            }
        }
        if any {
            selection.insert(blocks[0].part, rows.finish());
        }
    }
    selection
}
