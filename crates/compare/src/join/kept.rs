//! The words of long texts in rows that broke, so that the texts need not be read to decide them.

use crate::ingest::encode::MOST_LONG;

/// A word for each long text of a row, `None` for NULL.
pub(crate) type Words = [Option<u64>; MOST_LONG];

/// The words of rows that broke.
#[derive(Default)]
pub(crate) struct Kept(Vec<(u32, u32, Words)>);

impl Kept {
    /// What a row takes.
    pub(crate) const ROW_BYTES: usize = size_of::<(u32, u32, Words)>();

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn push(&mut self, source: usize, locator: u32, words: Words) {
        self.0.push((source as u32, locator, words));
    }

    pub(crate) fn append(&mut self, mut other: Self) {
        self.0.append(&mut other.0);
    }

    /// Makes rows quick to find.
    pub(crate) fn sort(&mut self) {
        self.0.sort_unstable_by_key(|(source, locator, _)| (*source, *locator));
    }

    /// The words of a row, once they are sorted; none for a row that is not kept.
    pub(crate) fn get(&self, source: usize, locator: u32) -> &[Option<u64>] {
        let place = (source as u32, locator);
        let found = self.0.binary_search_by_key(&place, |(source, locator, _)| (*source, *locator));
        found.map_or(&[], |at| &self.0[at].2)
    }
}
