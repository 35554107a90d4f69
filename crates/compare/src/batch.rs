//! Cuts sorted rows into batches of whole keys, and decides them.

use crate::decide::Decider;
use crate::distinct::Room;
use crate::entry::Entry;
use crate::error::Error;
use crate::merge::{aggregate_rows, count_key, pair_rows};
use crate::sorter::Merge;

/// What a batch may take before it is cut at the next key.
const BATCH_ROWS: usize = 4096;
const BATCH_BYTES: usize = 1 << 20;

/// Cuts sorted rows into batches of whole keys.
pub(crate) struct Cutter<'a> {
    entries: Merge<'a>,
    rows: Vec<Entry>,
    bytes: usize,
    /// Where the last key among the rows starts.
    last_key: usize,
}

impl<'a> Cutter<'a> {
    pub(crate) fn new(entries: Merge<'a>) -> Self {
        Self { entries, rows: Vec::new(), bytes: 0, last_key: 0 }
    }

    fn next(&mut self) -> Result<Option<Entry>, Error> {
        Ok(self.entries.next()?.map(Entry::new))
    }

    /// The rows of the next keys; none at the end, and where a key has too many.
    pub(crate) fn keys(&mut self) -> Result<Option<Vec<Entry>>, Error> {
        while self.rows.len() < BATCH_ROWS && self.bytes < BATCH_BYTES {
            let Some(row) = self.next()? else {
                self.last_key = 0;
                let rows = std::mem::take(&mut self.rows);
                return Ok(Some(rows).filter(|rows| !rows.is_empty()));
            };
            if self.rows.last().is_some_and(|last| last.key() != row.key()) {
                self.last_key = self.rows.len();
            }
            self.bytes += row.size();
            self.rows.push(row);
        }
        if self.last_key == 0 {
            return Ok(None);
        }
        let rest = self.rows.split_off(std::mem::take(&mut self.last_key));
        self.bytes = rest.iter().map(Entry::size).sum();
        Ok(Some(std::mem::replace(&mut self.rows, rest)))
    }

    /// The rows of the key that has too many, one by one; `None` at the end.
    pub(crate) fn long_key(&mut self) -> Option<impl FnMut() -> Result<Option<Entry>, Error> + use<'_, 'a>> {
        let key = self.rows.first()?.key().to_vec();
        let mut rows = std::mem::take(&mut self.rows).into_iter();
        self.bytes = 0;
        let mut at_end = false;
        Some(move || {
            if let Some(row) = rows.next() {
                return Ok(Some(row));
            }
            if at_end {
                return Ok(None);
            }
            let row = self.next()?;
            at_end = row.as_ref().is_none_or(|row| row.key() != key);
            if !at_end {
                return Ok(row);
            }
            self.rows.extend(row);
            self.bytes = self.rows.iter().map(Entry::size).sum();
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
}

impl Decision<'_> {
    /// Decides rows of any number of keys, one by one.
    pub(crate) fn rows(
        &self,
        next: impl FnMut() -> Result<Option<Entry>, Error>,
        decider: &mut Decider<'_>,
    ) -> Result<(), Error> {
        if self.aggregates {
            return aggregate_rows(next, decider, self.counts, self.room);
        }
        pair_rows(next, decider, self.counts, self.room.budget, self.room.progress)
    }

    /// Decides a batch.
    pub(crate) fn batch(&self, rows: Vec<Entry>, decider: &mut Decider<'_>) -> Result<(), Error> {
        self.room.progress.check()?;
        if self.aggregates {
            let mut rows = rows.into_iter();
            return self.rows(|| Ok(rows.next()), decider);
        }
        for key in rows.chunk_by(|one, other| one.key() == other.key()) {
            let Some(tuple) = one_each(key, decider.sources) else {
                let mut rows = key.iter().cloned();
                self.rows(|| Ok(rows.next()), decider)?;
                continue;
            };
            if self.counts {
                let rows: Vec<u64> = tuple.iter().map(|row| u64::from(row.is_some())).collect();
                count_key(decider, &rows);
            }
            decider.tuple(&tuple, &mut 0)?;
        }
        Ok(())
    }
}

/// The rows of a key by source, if none has two.
fn one_each(key: &[Entry], sources: usize) -> Option<Vec<Option<&Entry>>> {
    let mut tuple = vec![None; sources];
    for row in key {
        if tuple[row.source()].replace(row).is_some() {
            return None;
        }
    }
    Some(tuple)
}
