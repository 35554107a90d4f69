//! The stream of a binary `COPY`, kept in a file that is cut into parts between rows.

use std::fs::File;
use std::io::Write;

use arrow_array::{BooleanArray, RecordBatch, RecordBatchOptions};
use arrow_schema::{ArrowError, Field};
use arrow_select::filter::filter_record_batch;

use super::Column;
use super::cell::{Cell, Undecoded};
use crate::database::Database;
use crate::error::{Error, Refused};
use crate::input::{Bytes, Input};
use crate::table::{Found, Part, Parts, Source, Wanted};

/// What every stream starts with: the signature, no flags, no extension.
const HEADER: &[u8] = b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0";
/// What stands in place of a number of fields at the end.
const TRAILER: i16 = -1;
/// How many bytes make a part.
const PART_BYTES: usize = 1 << 20;

/// A stream that is not what it should be.
#[derive(Debug, Clone, Copy)]
pub(super) struct Malformed;

/// A stream while it comes in.
pub(super) struct Spool<'a> {
    database: &'a Database<'a>,
    file: File,
    columns: Vec<Column>,
    /// What is not written yet.
    pending: Vec<u8>,
    /// How much of it is whole rows.
    whole: usize,
    rows: u64,
    written_rows: u64,
    has_begun: bool,
    has_ended: bool,
    written: u64,
    parts: Vec<Stretch>,
}

/// Where a part is, and how many rows it has.
#[derive(Debug, Clone, Copy)]
struct Stretch {
    at: u64,
    len: u64,
    rows: u64,
}

impl<'a> Spool<'a> {
    pub(super) fn new(database: &'a Database<'a>, columns: Vec<Column>) -> Result<Self, Error> {
        let file = tempfile::tempfile_in(database.temp_dir).map_err(|source| database.unkept(source))?;
        Ok(Self {
            database,
            file,
            columns,
            pending: Vec::with_capacity(PART_BYTES * 2),
            whole: 0,
            rows: 0,
            written_rows: 0,
            has_begun: false,
            has_ended: false,
            written: 0,
            parts: Vec::new(),
        })
    }

    /// Takes what came next, which may end anywhere.
    pub(super) fn take(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.pending.extend_from_slice(bytes);
        self.read().map_err(|Malformed| self.malformed())?;
        if self.whole >= PART_BYTES { self.write() } else { Ok(()) }
    }

    /// Looks at the rows that are there whole.
    fn read(&mut self) -> Result<(), Malformed> {
        if !self.has_begun {
            let Some((header, _)) = self.pending.split_at_checked(HEADER.len()) else { return Ok(()) };
            if header != HEADER {
                return Err(Malformed);
            }
            self.pending.drain(..HEADER.len());
            self.has_begun = true;
        }
        while !self.has_ended {
            let mut rest = &self.pending[self.whole..];
            match Row::read(&mut rest, self.columns.len())? {
                None => break,
                Some(Row::End) => self.has_ended = true,
                Some(Row::Cells(mut cells)) => {
                    for column in &mut self.columns {
                        let bytes = cells.next().ok_or(Malformed)?;
                        if let (Cell::Numeric(extent), Some(bytes)) = (&mut column.cell, bytes) {
                            extent.widen(bytes)?;
                        }
                    }
                    self.whole = self.pending.len() - rest.len();
                    self.rows += 1;
                }
            }
        }
        Ok(())
    }

    fn write(&mut self) -> Result<(), Error> {
        let part = &self.pending[..self.whole];
        self.file.write_all(part).map_err(|source| self.database.unkept(source))?;
        self.parts.push(Stretch { at: self.written, len: part.len() as u64, rows: self.rows });
        self.written += part.len() as u64;
        self.pending.drain(..self.whole);
        self.written_rows += self.rows;
        (self.whole, self.rows) = (0, 0);
        (self.database.tell)(self.written_rows);
        Ok(())
    }

    /// What has been kept, and how many bytes it has.
    pub(super) fn finish(mut self) -> Result<(Kept, u64), Error> {
        if !self.has_ended {
            return Err(self.malformed());
        }
        if self.rows > 0 {
            self.write()?;
        }
        let input = Input::kept(self.database.place, self.file, self.written);
        Ok((Kept { input, columns: self.columns, parts: self.parts }, self.written))
    }

    fn malformed(&self) -> Error {
        self.database.refused(Refused::Connection, "what it sent is not what was asked for".to_owned())
    }
}

/// One row of the stream.
enum Row<'a> {
    Cells(Cells<'a>),
    End,
}

/// The cells of a row, one after the other.
struct Cells<'a>(&'a [u8]);

impl<'a> Row<'a> {
    /// Takes the next row off the bytes; there is none when it is not there whole.
    fn read(bytes: &mut &'a [u8], columns: usize) -> Result<Option<Self>, Malformed> {
        let start = *bytes;
        let Some((count, mut rest)) = start.split_first_chunk() else { return Ok(None) };
        match i16::from_be_bytes(*count) {
            TRAILER => return Ok(Some(Self::End)),
            count if usize::try_from(count) != Ok(columns) => return Err(Malformed),
            _ => {}
        }
        let cells = rest;
        for _ in 0..columns {
            let Some((len, behind)) = rest.split_first_chunk() else { return Ok(None) };
            // NULL has a length of −1, and no bytes.
            let len = usize::try_from(i32::from_be_bytes(*len)).unwrap_or(0);
            let Some((_, behind)) = behind.split_at_checked(len) else { return Ok(None) };
            rest = behind;
        }
        *bytes = rest;
        Ok(Some(Self::Cells(Cells(&cells[..cells.len() - rest.len()]))))
    }
}

impl<'a> Iterator for Cells<'a> {
    type Item = Option<&'a [u8]>;

    fn next(&mut self) -> Option<Self::Item> {
        let (len, behind) = self.0.split_first_chunk()?;
        let Ok(len) = usize::try_from(i32::from_be_bytes(*len)) else {
            self.0 = behind;
            return Some(None);
        };
        let (cell, rest) = behind.split_at_checked(len)?;
        self.0 = rest;
        Some(Some(cell))
    }
}

/// All of a stream.
pub(super) struct Kept {
    input: Input,
    columns: Vec<Column>,
    parts: Vec<Stretch>,
}

/// A stream that was kept, as a source.
pub(super) struct CopyFile {
    kept: Kept,
    fields: Vec<Field>,
}

impl CopyFile {
    pub(super) fn new(kept: Kept) -> Self {
        let field = |column: &Column| Field::new(&column.name, column.cell.data_type(), true);
        let fields = kept.columns.iter().map(field).collect();
        Self { kept, fields }
    }
}

impl Source for CopyFile {
    fn fields(&self) -> &[Field] {
        &self.fields
    }

    fn rows_hint(&self) -> Option<u64> {
        Some(self.kept.parts.iter().map(|part| part.rows).sum())
    }

    fn described(&self) -> String {
        "PostgreSQL".to_owned()
    }

    fn place(&self, nth: usize, row: usize) -> Result<Found, Error> {
        let parts = self.kept.parts.len();
        if nth >= parts {
            return Ok(Found::Beyond { parts });
        }
        let before: u64 = self.kept.parts[..nth].iter().map(|part| part.rows).sum();
        Ok(Found::Row(before + row as u64 + 1))
    }

    fn parts<'a>(&'a self, wanted: Wanted<'a>) -> Result<Box<dyn Parts<'a> + 'a>, Error> {
        Ok(Box::new(Stretches { bytes: self.kept.input.open()?, file: self, wanted, next: 0 }))
    }
}

struct Stretches<'a> {
    file: &'a CopyFile,
    bytes: Bytes,
    wanted: Wanted<'a>,
    next: usize,
}

impl<'a> Parts<'a> for Stretches<'a> {
    fn next(&mut self) -> Result<Option<Part<'a>>, Error> {
        let count = self.file.kept.parts.len();
        let Some(nth) = (self.next..count).find(|nth| self.wanted.takes(*nth)) else {
            self.next = count;
            return Ok(None);
        };
        self.next = nth + 1;
        let (file, bytes, wanted) = (self.file, self.bytes.clone(), self.wanted.clone());
        let batches = std::iter::once_with(move || decode(file, &bytes, &wanted, nth));
        Ok(Some(Part { number: self.wanted.first + nth, batches: Box::new(batches) }))
    }

    fn count(&self) -> usize {
        self.file.kept.parts.len()
    }
}

fn decode(file: &CopyFile, bytes: &Bytes, wanted: &Wanted<'_>, nth: usize) -> Result<RecordBatch, Error> {
    let Kept { input, columns, parts } = &file.kept;
    let Stretch { at, len, rows } = parts[nth];
    let part = bytes.exact(at, len).map_err(|source| input.unreadable(source))?;
    let rows = rows as usize;
    let mut cells: Vec<Vec<Option<&[u8]>>> = columns.iter().map(|_| Vec::new()).collect();
    let mut is_wanted = vec![false; columns.len()];
    for &column in &wanted.columns {
        is_wanted[column] = true;
        cells[column].reserve(rows);
    }
    let mut rest = part.as_slice();
    while let Ok(Some(Row::Cells(row))) = Row::read(&mut rest, columns.len()) {
        for ((cell, cells), is_wanted) in row.zip(&mut cells).zip(&is_wanted) {
            if *is_wanted {
                cells.push(cell);
            }
        }
    }
    let array = |&column: &usize| {
        let Column { name, cell, .. } = &columns[column];
        cell.decode(&cells[column]).map_err(|undecoded| match undecoded {
            Undecoded::Malformed => input.damaged(format!("the values of {name}")),
            Undecoded::Endless => Error::Format {
                path: input.name().to_owned(),
                problem: format!("{name} holds infinity, or a date too far away; write `{name}::text as {name}` in the query"),
            },
        })
    };
    let arrays = wanted.columns.iter().map(array).collect::<Result<Vec<_>, _>>()?;
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    let batch = RecordBatch::try_new_with_options(wanted.schema(&file.fields), arrays, &options);
    let chosen = batch.and_then(|batch| match wanted.chosen(nth) {
        None => Ok(batch),
        Some(rows) => filter_record_batch(&batch, &BooleanArray::new(rows.clone(), None)),
    });
    chosen.map_err(|error: ArrowError| input.damaged(error))
}
