//! Byte strings on disk, one after the other.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::FileExt;
use std::sync::Arc;

use crate::error::Error;
use crate::spill::partition::Budget;

/// What is gathered before it is written.
const WRITE_BYTES: usize = 1 << 18;
/// What a reader holds.
pub(crate) const READ_BYTES: usize = 1 << 16;

/// A temporary file that byte strings are appended to.
pub(crate) struct Spool<'a> {
    budget: &'a Budget,
    file: Arc<File>,
    unwritten: Vec<u8>,
    written: u64,
    /// Where what was not given out yet starts.
    start: u64,
}

impl<'a> Spool<'a> {
    pub(crate) fn new(budget: &'a Budget) -> Result<Self, Error> {
        let file = Arc::new(budget.temporary()?);
        Ok(Self { budget, file, unwritten: Vec::new(), written: 0, start: 0 })
    }

    /// Appends a byte string.
    pub(crate) fn push(&mut self, string: &[u8]) -> Result<(), Error> {
        self.unwritten.extend((string.len() as u64).to_le_bytes());
        self.unwritten.extend(string);
        if self.unwritten.len() >= WRITE_BYTES {
            self.flush()?;
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<(), Error> {
        let written = self.file.write_all_at(&self.unwritten, self.written);
        written.map_err(|error| self.budget.spill_error(error))?;
        self.written += self.unwritten.len() as u64;
        self.unwritten.clear();
        Ok(())
    }

    /// What was appended since this was last asked for.
    pub(crate) fn stretch(&mut self) -> Result<Stretch<'a>, Error> {
        self.flush()?;
        self.unwritten = Vec::new();
        let start = std::mem::replace(&mut self.start, self.written);
        Ok(Stretch { budget: self.budget, file: Arc::clone(&self.file), start, end: self.written })
    }
}

/// Some byte strings of a spool; the file lives as long as one of its stretches.
pub(crate) struct Stretch<'a> {
    budget: &'a Budget,
    file: Arc<File>,
    start: u64,
    end: u64,
}

impl<'a> Stretch<'a> {
    pub(crate) fn read(self) -> Strings<'a> {
        Strings { budget: self.budget, reader: BufReader::with_capacity(READ_BYTES, self) }
    }
}

impl Read for Stretch<'_> {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        let most = into.len().min(usize::try_from(self.end - self.start).unwrap_or(usize::MAX));
        let read = self.file.read_at(&mut into[..most], self.start)?;
        self.start += read as u64;
        Ok(read)
    }
}

/// The byte strings of a stretch, in the order in which they were appended.
pub(crate) struct Strings<'a> {
    budget: &'a Budget,
    reader: BufReader<Stretch<'a>>,
}

impl Strings<'_> {
    /// Puts the next byte string in place of what is given; says whether there was one.
    pub(crate) fn next(&mut self, string: &mut Vec<u8>) -> Result<bool, Error> {
        self.read(string).map_err(|error| self.budget.spill_error(error))
    }

    fn read(&mut self, string: &mut Vec<u8>) -> std::io::Result<bool> {
        if self.reader.fill_buf()?.is_empty() {
            return Ok(false);
        }
        let mut length = [0; 8];
        self.reader.read_exact(&mut length)?;
        string.resize(u64::from_le_bytes(length) as usize, 0);
        self.reader.read_exact(string)?;
        Ok(true)
    }
}
