//! What a database delivers, kept on disk in columns while it is compared.

use std::fs::File;
use std::io::BufWriter;
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch};
use arrow_ipc::writer::FileWriter;
use arrow_schema::{ArrowError, Field, Schema};

use crate::database::Database;
use crate::error::{Error, Refused};
use crate::input::Input;
use crate::ipc::IpcFile;
use crate::table::Table;

/// How many rows make a part, and how many bytes, if they are long.
pub(crate) const PART_ROWS: u64 = 8192;
pub(crate) const PART_BYTES: usize = 1 << 20;

/// A file that is written part by part.
pub(crate) struct Keep<'a> {
    database: &'a Database<'a>,
    writer: FileWriter<BufWriter<File>>,
    /// The rows of all parts so far, and of the one that is being filled.
    rows: u64,
    part_rows: u64,
    part_bytes: usize,
    written_rows: u64,
}

impl<'a> Keep<'a> {
    pub(crate) fn new(database: &'a Database<'a>, fields: Vec<Field>) -> Result<Self, Error> {
        let file = tempfile::tempfile_in(database.temp_dir).map_err(|source| database.unkept(source))?;
        let writer = FileWriter::try_new_buffered(file, &Schema::new(fields))
            .map_err(|error| unwritten(database, error))?;
        Ok(Self { database, writer, rows: 0, part_rows: 0, part_bytes: 0, written_rows: 0 })
    }

    /// The name of a column.
    pub(crate) fn name(&self, column: usize) -> &str {
        self.writer.schema().field(column).name()
    }

    /// The number of the row that comes next, from 1.
    pub(crate) fn next_row(&self) -> u64 {
        self.rows + 1
    }

    /// Counts a row of so many bytes, and says whether it makes the part full.
    fn is_filled_by(&mut self, bytes: usize) -> bool {
        self.rows += 1;
        self.part_rows += 1;
        self.part_bytes += bytes;
        self.part_rows == PART_ROWS || self.part_bytes >= PART_BYTES
    }

    /// Whether rows have been counted that are not written.
    fn has_rest(&self) -> bool {
        self.part_rows > 0
    }

    /// Adds a part, given by its columns.
    pub(crate) fn write(&mut self, columns: Vec<ArrayRef>) -> Result<(), Error> {
        (self.part_rows, self.part_bytes) = (0, 0);
        let written = RecordBatch::try_new(Arc::clone(self.writer.schema()), columns)
            .and_then(|batch| self.writer.write(&batch).map(|()| batch.num_rows()));
        self.written_rows += written.map_err(|error| unwritten(self.database, error))? as u64;
        (self.database.tell)(self.written_rows);
        Ok(())
    }

    /// All parts as a table, which came from the kind of database that is named.
    pub(crate) fn finish(self, kind: &'static str) -> Result<Table, Error> {
        let database = self.database;
        let written = self.writer.into_inner().map_err(|error| unwritten(database, error))?;
        let file = written.into_inner().map_err(|error| database.unkept(error.into_error()))?;
        let len = file.metadata().map_err(|source| database.unkept(source))?.len();
        let kept = IpcFile::open(Input::kept(database.place, file, len))?.described_as(kind);
        Ok(Table::of(database.place, Box::new(kept), len))
    }
}

/// A column of the part that is being filled.
pub(crate) trait Filled {
    /// The values so far, of which nothing is left in it.
    fn finish(&mut self) -> ArrayRef;
}

/// Rows while they are written down, a part at a time.
pub(crate) struct Spool<'a, C> {
    pub(crate) database: &'a Database<'a>,
    pub(crate) keep: Keep<'a>,
    pub(crate) columns: Vec<C>,
}

impl<C: Filled> Spool<'_, C> {
    /// Counts a row of so many bytes that is in the columns now.
    pub(crate) fn count(&mut self, bytes: usize) -> Result<(), Error> {
        if self.keep.is_filled_by(bytes) { self.write() } else { Ok(()) }
    }

    fn write(&mut self) -> Result<(), Error> {
        self.keep.write(self.columns.iter_mut().map(Filled::finish).collect())
    }

    /// All rows as a table, which came from the kind of database that is named.
    pub(crate) fn finish(mut self, kind: &'static str) -> Result<Table, Error> {
        if self.keep.has_rest() {
            self.write()?;
        }
        self.keep.finish(kind)
    }
}

fn unwritten(database: &Database<'_>, error: ArrowError) -> Error {
    match error {
        ArrowError::IoError(_, source) => database.unkept(source),
        other => database.refused(Refused::Query, other.to_string()),
    }
}
