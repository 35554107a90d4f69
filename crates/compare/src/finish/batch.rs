//! Cuts sorted rows into batches of whole keys, and decides them.

use crate::error::Error;
use crate::finish::decide::Decider;
use crate::finish::merge::{aggregate_rows, count_key, pair_rows};
use crate::reread::bitmap::Bitmap;
use crate::reread::entry::Entry;
use crate::spill::distinct::Room;
use crate::spill::sorter::Merge;
use crate::spill::spool::Spool;

/// What a batch may take before it is cut at the next key.
const BATCH_ROWS: usize = 4096;
const BATCH_BYTES: usize = 1 << 20;

/// Some sorted rows, one behind the other.
#[derive(Default)]
pub(crate) struct Rows {
    bytes: Vec<u8>,
    /// Where each row ends.
    ends: Vec<usize>,
}

impl Rows {
    fn get(&self, row: usize) -> Entry<'_> {
        let start = if row == 0 { 0 } else { self.ends[row - 1] };
        Entry::new(self.bytes[start..self.ends[row]].into())
    }

    fn iter(&self) -> impl Iterator<Item = Entry<'_>> {
        (0..self.ends.len()).map(|row| self.get(row))
    }

    /// Adds the next row of a merge; says whether there was one.
    fn append(&mut self, entries: &mut Merge<'_>) -> Result<bool, Error> {
        let appended = entries.append_next(&mut self.bytes)?;
        self.ends.extend(appended.then_some(self.bytes.len()));
        Ok(appended)
    }

    /// Whether the last row has another key than the one before it.
    fn ends_with_new_key(&self) -> bool {
        let last = self.ends.len() - 1;
        last > 0 && self.get(last - 1).key() != self.get(last).key()
    }

    /// Takes the first rows out.
    fn take_first(&mut self, rows: usize) -> Self {
        let size = self.ends[rows - 1];
        let (bytes, ends) = (self.bytes.split_off(size), self.ends.split_off(rows));
        let rest = Self { bytes, ends: ends.into_iter().map(|end| end - size).collect() };
        std::mem::replace(self, rest)
    }
}

/// Cuts sorted rows into batches of whole keys.
pub(crate) struct Cutter<'a> {
    entries: Merge<'a>,
    rows: Rows,
    /// Where the last key among the rows starts.
    last_key: usize,
}

impl<'a> Cutter<'a> {
    pub(crate) fn new(entries: Merge<'a>) -> Self {
        Self { entries, rows: Rows::default(), last_key: 0 }
    }

    /// The rows of the next keys; none at the end, and where a key has too many.
    pub(crate) fn keys(&mut self) -> Result<Option<Rows>, Error> {
        while self.rows.ends.len() < BATCH_ROWS && self.rows.bytes.len() < BATCH_BYTES {
            if !self.rows.append(&mut self.entries)? {
                self.last_key = 0;
                let rows = std::mem::take(&mut self.rows);
                return Ok(Some(rows).filter(|rows| !rows.ends.is_empty()));
            }
            if self.rows.ends_with_new_key() {
                self.last_key = self.rows.ends.len() - 1;
            }
        }
        let whole = std::mem::take(&mut self.last_key);
        Ok((whole > 0).then(|| self.rows.take_first(whole)))
    }

    /// The rows of the key that has too many, one by one; `None` at the end.
    pub(crate) fn long_key(
        &mut self,
    ) -> Option<impl FnMut() -> Result<Option<Entry<'static>>, Error> + use<'_, 'a>> {
        let rows = std::mem::take(&mut self.rows);
        let key = rows.iter().next()?.key().to_vec();
        let mut given = 0;
        let mut at_end = false;
        Some(move || {
            if given < rows.ends.len() {
                given += 1;
                return Ok(Some(rows.get(given - 1).into_owned()));
            }
            if at_end {
                return Ok(None);
            }
            let row = self.entries.next()?.map(|bytes| Entry::new(bytes.into()));
            at_end = row.as_ref().is_none_or(|row| row.key() != key);
            if !at_end {
                return Ok(row);
            }
            if let Some(row) = row {
                self.rows.bytes.extend_from_slice(row.bytes());
                self.rows.ends.push(row.bytes().len());
            }
            Ok(None)
        })
    }
}

/// How the rows of a key are decided.
pub(crate) struct Decision<'a> {
    pub(crate) aggregates: bool,
    /// Whether nothing was counted yet, neither groups nor keys.
    pub(crate) counts: bool,
    /// Where rows and values go that one key has too many of.
    pub(crate) room: Room<'a>,
    /// Gets the rows of keys that break, row by row, per source; if anybody asks for them.
    pub(crate) unmatched: Option<&'a [Bitmap]>,
}

impl Decision<'_> {
    /// Decides rows of any number of keys, one by one.
    pub(crate) fn rows<'e>(
        &self,
        next: impl FnMut() -> Result<Option<Entry<'e>>, Error>,
        decider: &mut Decider<'_>,
    ) -> Result<(), Error> {
        if self.aggregates {
            return aggregate_rows(next, decider, self.counts, self.room);
        }
        pair_rows(next, decider, self.counts, self.room.budget, self.room.progress)
    }

    /// Decides a batch.
    pub(crate) fn batch(&self, rows: &Rows, decider: &mut Decider<'_>) -> Result<(), Error> {
        self.room.progress.check()?;
        if self.aggregates {
            let mut rows = rows.iter();
            return self.rows(|| Ok(rows.next()), decider);
        }
        let rows: Vec<Entry<'_>> = rows.iter().collect();
        for key in rows.chunk_by(|one, other| one.key() == other.key()) {
            if let Some(tuple) = one_each(key, decider.sources.len()) {
                if self.counts {
                    let rows: Vec<u64> = tuple.iter().map(|row| u64::from(row.is_some())).collect();
                    count_key(decider, &rows);
                }
                decider.tuple(&tuple, None, &mut 0)?;
            } else {
                let mut rows = key.iter().cloned();
                self.rows(|| Ok(rows.next()), decider)?;
            }
            if let Some(unmatched) = self.unmatched.filter(|_| std::mem::take(&mut decider.broke)) {
                for row in key {
                    unmatched[row.source()].set_row(row.locator());
                }
            }
        }
        Ok(())
    }

    /// Decides the rows of a key that has too many for a batch, one by one.
    pub(crate) fn long_key<'e>(
        &self,
        mut next: impl FnMut() -> Result<Option<Entry<'e>>, Error>,
        decider: &mut Decider<'_>,
    ) -> Result<(), Error> {
        let Some(unmatched) = self.unmatched else { return self.rows(next, decider) };
        // Only at the end is it known whether they are to be marked, and they may be more than fit into memory.
        let mut places = Spool::new(self.room.budget)?;
        let noted = || {
            let row = next()?;
            if let Some(row) = &row {
                let place = u64::from(row.locator()) << 32 | row.source() as u64;
                places.push(&place.to_le_bytes())?;
            }
            Ok(row)
        };
        self.rows(noted, decider)?;
        let (mut places, mut place) = (places.stretch()?.read(), Vec::new());
        while decider.broke && places.next(&mut place)? {
            let place = place.first_chunk().map_or(0, |place| u64::from_le_bytes(*place));
            unmatched[place as u32 as usize].set_row((place >> 32) as u32);
        }
        Ok(())
    }
}

/// The rows of a key by source, if none has two.
fn one_each<'a, 'e>(key: &'a [Entry<'e>], sources: usize) -> Option<Vec<Option<&'a Entry<'e>>>> {
    let mut tuple = vec![None; sources];
    for row in key {
        if tuple[row.source()].replace(row).is_some() {
            return None;
        }
    }
    Some(tuple)
}
