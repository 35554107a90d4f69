//! Rows of one key that wait to be paired, more of them than memory holds.

use crate::error::Error;
use crate::reread::entry::Entry;
use crate::spill::partition::Budget;
use crate::spill::spool::{Spool, Stretch, Strings};

/// What of a queue waits in memory.
const MEMORY_BYTES: usize = 1 << 18;
/// What a row takes beside its own bytes.
const ROW_BYTES: usize = 80;

/// Rows in the order in which they came; those beyond its memory are on disk.
pub(crate) struct Queue<'a> {
    budget: &'a Budget,
    len: u64,
    spool: Option<Spool<'a>>,
    /// Rows after those on disk; those that are alike to the letter are counted, not kept.
    rows: Vec<(Entry<'static>, u64)>,
    bytes: usize,
}

impl<'a> Queue<'a> {
    pub(crate) fn new(budget: &'a Budget) -> Self {
        Self { budget, len: 0, spool: None, rows: Vec::new(), bytes: 0 }
    }

    pub(crate) fn len(&self) -> u64 {
        self.len
    }

    /// Appends a row so many times.
    pub(crate) fn push(&mut self, row: Entry<'_>, count: u64) -> Result<(), Error> {
        self.len += count;
        match self.rows.last_mut() {
            Some((last, known)) if last.is_same(&row) => *known += count,
            _ => {
                self.bytes += row.bytes().len() + ROW_BYTES;
                self.rows.push((row.into_owned(), count));
            }
        }
        if self.bytes > MEMORY_BYTES {
            self.spill()?;
        }
        Ok(())
    }

    fn spill(&mut self) -> Result<(), Error> {
        let spool = match &mut self.spool {
            Some(spool) => spool,
            none => none.insert(Spool::new(self.budget)?),
        };
        for (row, count) in self.rows.drain(..) {
            spool.push(&[row.bytes(), &count.to_le_bytes()].concat())?;
        }
        self.bytes = 0;
        Ok(())
    }

    /// Everything that waits; the queue is empty afterwards.
    pub(crate) fn take(&mut self) -> Result<Waiting<'a>, Error> {
        (self.len, self.bytes) = (0, 0);
        let stretch = self.spool.take().map(|mut spool| spool.stretch()).transpose()?;
        let in_memory = std::mem::take(&mut self.rows).into_iter();
        Ok(Waiting { on_disk: stretch.map(Stretch::read), in_memory, next: None })
    }
}

/// What waited in a queue.
pub(crate) struct Waiting<'a> {
    on_disk: Option<Strings<'a>>,
    in_memory: std::vec::IntoIter<(Entry<'static>, u64)>,
    next: Option<(Entry<'static>, u64)>,
}

impl Waiting<'_> {
    /// The next row.
    pub(crate) fn next(&mut self) -> Result<Option<Entry<'static>>, Error> {
        let Some((row, count)) = self.next_alike()? else { return Ok(None) };
        if count > 1 {
            self.next = Some((row.clone(), count - 1));
        }
        Ok(Some(row))
    }

    /// The next row, and how many of its like there are.
    pub(crate) fn next_alike(&mut self) -> Result<Option<(Entry<'static>, u64)>, Error> {
        if let Some(next) = self.next.take() {
            return Ok(Some(next));
        }
        if let Some(strings) = &mut self.on_disk {
            let mut string = Vec::new();
            if strings.next(&mut string)? {
                let count = string.split_off(string.len() - size_of::<u64>());
                let count = count.first_chunk().map_or(0, |count| u64::from_le_bytes(*count));
                return Ok(Some((Entry::new(string.into()), count)));
            }
            self.on_disk = None;
        }
        Ok(self.in_memory.next())
    }
}
