//! A bit per row, set from any thread.

use std::sync::atomic::{AtomicU64, Ordering};

use arrow_buffer::BooleanBufferBuilder;

use crate::ingest::Block;
use crate::table::Selection;

/// A bit per row of a source, by locator.
pub(crate) struct Bitmap(Vec<AtomicU64>);

impl Bitmap {
    pub(crate) fn new(rows: u64) -> Self {
        Self((0..rows.div_ceil(64)).map(|_| AtomicU64::new(0)).collect())
    }

    pub(crate) fn set(&self, locator: u32) {
        self.0[locator as usize / 64].fetch_or(1 << (locator % 64), Ordering::Relaxed);
    }

    pub(crate) fn set_all(&self) {
        self.0
            .iter()
            .for_each(|word| word.store(u64::MAX, Ordering::Relaxed));
    }

    fn get(&self, locator: u32) -> bool {
        self.0[locator as usize / 64].load(Ordering::Relaxed) & (1 << (locator % 64)) != 0
    }

    /// The rows set in this or another bitmap, by part.
    pub(crate) fn selection(&self, other: Option<&Self>, blocks: &[Block]) -> Selection {
        let is_set = |locator: u32| self.get(locator) || other.is_some_and(|other| other.get(locator));
        let mut by_part: Vec<&Block> = blocks.iter().collect();
        by_part.sort_unstable_by_key(|block| (block.part, block.offset));
        let mut selection = Selection::new();
        for blocks in by_part.chunk_by(|a, b| a.part == b.part) {
            let mut rows = BooleanBufferBuilder::new(0);
            let mut any = false;
            for block in blocks {
                for locator in block.first..block.first + block.rows {
                    let wanted = is_set(locator);
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
}
