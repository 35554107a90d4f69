//! The rows of a sheet while they are written down.

use std::fs::File;
use std::io::BufWriter;
use std::sync::Arc;

use arrow_array::builder::StringViewBuilder;
use arrow_array::{ArrayRef, RecordBatch};
use arrow_ipc::writer::FileWriter;
use arrow_schema::{ArrowError, DataType, Field, Schema};
use calamine::DataRef;

use super::{Sheet, cell};
use crate::error::{Error, Problem};
use crate::header::{self, RECORDS};
use crate::input::Input;
use crate::ipc::IpcFile;
use crate::keep::PART_BYTES;
use crate::{Empty, Options};

/// How many rows make a part, unless they are long.
const PART_ROWS: usize = 1 << 14;

/// A row that has some text: its number from 0, and its cells by column.
#[derive(Default)]
struct Row {
    number: u32,
    cells: Vec<(u32, String)>,
}

/// The rows of one sheet, of which the first are held back until it is known whether they begin with a header.
pub(super) struct Rows<'a> {
    input: &'a Input,
    sheet: &'a str,
    from_1904: bool,
    options: &'a Options,
    row: Row,
    head: Vec<Row>,
    kept: Option<Kept>,
}

impl<'a> Rows<'a> {
    pub(super) fn new(input: &'a Input, sheet: &'a str, from_1904: bool, options: &'a Options) -> Self {
        Self { input, sheet, from_1904, options, row: Row::default(), head: Vec::new(), kept: None }
    }

    pub(super) fn take(&mut self, row: u32, column: u32, value: &DataRef<'_>) -> Result<(), Error> {
        if row < self.row.number {
            return Err(self.input.damaged(format!("row {} comes after {}", row + 1, self.row.number + 1)));
        }
        if row > self.row.number {
            self.end_row()?;
            self.row.number = row;
        }
        if self.row.cells.last().is_some_and(|(last, _)| *last >= column) {
            return Err(self.input.damaged(format!("cell {} comes too late", cell::name(row, column))));
        }
        let text = cell::text(value, self.from_1904).map_err(|problem| self.wrong(row, column, problem))?;
        if let Some(text) = text {
            self.row.cells.push((column, text.into_owned()));
        }
        Ok(())
    }

    pub(super) fn finish(mut self) -> Result<Sheet, Error> {
        self.end_row()?;
        self.settle()?;
        let Some(kept) = self.kept.take() else {
            let problem = format!("the sheet {} is empty; not even a header is there", self.sheet);
            return Err(Error::Format { path: self.input.name().to_owned(), problem });
        };
        let (has_header, runs) = (kept.has_header, kept.runs.clone());
        let (file, len) = kept.finish().map_err(|error| self.unkept(error))?;
        let kept = IpcFile::open(Input::kept(self.input.name(), file, len))?;
        Ok(Sheet { name: self.sheet.to_owned(), kept, has_header, runs })
    }

    fn end_row(&mut self) -> Result<(), Error> {
        let row = std::mem::take(&mut self.row);
        if row.cells.iter().all(|(_, text)| text.is_empty()) {
            return Ok(());
        }
        if self.kept.is_some() {
            return self.keep(&row);
        }
        self.head.push(row);
        if self.head.len() == RECORDS { self.settle() } else { Ok(()) }
    }

    /// Decides what the first rows are, and keeps them.
    fn settle(&mut self) -> Result<(), Error> {
        let head = std::mem::take(&mut self.head);
        let Some(first) = head.first() else { return Ok(()) };
        let mut used = first.cells.iter().filter(|(_, text)| !text.is_empty()).map(|(column, _)| *column);
        let start = used.next().unwrap_or_default();
        let end = used.next_back().unwrap_or(start) + 1;
        let records: Vec<Vec<&[u8]>> =
            head.iter().map(|row| (start..end).map(|column| row.text(column).as_bytes()).collect()).collect();
        let has_header = self.options.header.unwrap_or_else(|| header::is_first(&records));
        let names = if has_header {
            self.names(first, start..end)?
        } else {
            (0..end - start).map(|n| format!("column_{n}")).collect()
        };
        let kept = Kept::new(&names, start, has_header, self.options).map_err(|error| self.unkept(error))?;
        self.kept = Some(kept);
        head.iter().skip(usize::from(has_header)).try_for_each(|row| self.keep(row))
    }

    fn names(&self, first: &Row, columns: std::ops::Range<u32>) -> Result<Vec<String>, Error> {
        let mut names: Vec<String> = Vec::new();
        for column in columns.clone() {
            let name = first.text(column);
            let problem = if name.is_empty() {
                Problem::EmptyName((column - columns.start) as usize + 1)
            } else if names.iter().any(|other| other == name) {
                Problem::SameName(name.to_owned())
            } else {
                names.push(name.to_owned());
                continue;
            };
            return Err(self.wrong(first.number, column, problem));
        }
        Ok(names)
    }

    fn keep(&mut self, row: &Row) -> Result<(), Error> {
        let Some(kept) = &mut self.kept else { return Ok(()) };
        match kept.push(row, self.options.empty) {
            Ok(()) => Ok(()),
            Err(Unkept::Beside(column)) => Err(self.wrong(row.number, column, Problem::Beside)),
            Err(Unkept::Arrow(error)) => Err(self.unkept(error)),
        }
    }

    fn wrong(&self, row: u32, column: u32, problem: Problem) -> Error {
        let cell = format!("{}!{}", self.sheet, cell::name(row, column));
        Error::Cell { path: self.input.name().to_owned(), cell, problem }
    }

    fn unkept(&self, error: ArrowError) -> Error {
        let source = match error {
            ArrowError::IoError(_, source) => source,
            other => std::io::Error::other(other),
        };
        let directory = self.options.temp_dir.display().to_string();
        Error::Spool { path: self.input.name().to_owned(), directory, source }
    }
}

impl Row {
    fn text(&self, column: u32) -> &str {
        self.cells.iter().find(|(at, _)| *at == column).map_or("", |(_, text)| text)
    }
}

/// Why a row cannot be kept.
enum Unkept {
    /// It has a value in a column that is none.
    Beside(u32),
    Arrow(ArrowError),
}

impl From<ArrowError> for Unkept {
    fn from(error: ArrowError) -> Self {
        Self::Arrow(error)
    }
}

/// What has been written.
struct Kept {
    writer: FileWriter<BufWriter<File>>,
    columns: Vec<StringViewBuilder>,
    /// The column of the sheet that is the first of the table.
    start: u32,
    has_header: bool,
    rows: u64,
    part_rows: usize,
    part_bytes: usize,
    runs: Vec<(u64, u64)>,
}

impl Kept {
    fn new(names: &[String], start: u32, has_header: bool, options: &Options) -> Result<Self, ArrowError> {
        let fields: Vec<Field> =
            names.iter().map(|name| Field::new(name, DataType::Utf8View, true)).collect();
        let file = tempfile::tempfile_in(&options.temp_dir)?;
        let writer = FileWriter::try_new_buffered(file, &Schema::new(fields))?;
        let columns = names.iter().map(|_| StringViewBuilder::new()).collect();
        Ok(Self {
            writer,
            columns,
            start,
            has_header,
            rows: 0,
            part_rows: 0,
            part_bytes: 0,
            runs: Vec::new(),
        })
    }

    fn push(&mut self, row: &Row, empty: Empty) -> Result<(), Unkept> {
        let end = self.start + self.columns.len() as u32;
        let is_beside =
            |(column, text): &&(u32, String)| !(self.start..end).contains(column) && !text.is_empty();
        if let Some((column, _)) = row.cells.iter().find(is_beside) {
            return Err(Unkept::Beside(*column));
        }
        let mut cells = row.cells.iter().peekable();
        while cells.next_if(|(column, _)| *column < self.start).is_some() {}
        for (column, values) in (self.start..).zip(&mut self.columns) {
            match (cells.next_if(|(at, _)| *at == column), empty) {
                (Some((_, text)), Empty::Null) if text.is_empty() => values.append_null(),
                (Some((_, text)), _) => values.append_value(text),
                (None, Empty::Text) => values.append_value(""),
                (None, Empty::Quoted | Empty::Null) => values.append_null(),
            }
        }
        self.rows += 1;
        self.part_rows += 1;
        self.part_bytes += row.cells.iter().map(|(_, text)| text.len()).sum::<usize>();
        let number = u64::from(row.number) + 1;
        let follows = self.runs.last().is_some_and(|(first, at)| self.rows - first == number - at);
        if !follows {
            self.runs.push((self.rows, number));
        }
        let is_full = self.part_rows == PART_ROWS || self.part_bytes >= PART_BYTES;
        if is_full { Ok(self.write()?) } else { Ok(()) }
    }

    fn write(&mut self) -> Result<(), ArrowError> {
        (self.part_rows, self.part_bytes) = (0, 0);
        let arrays = self.columns.iter_mut().map(|values| Arc::new(values.finish()) as ArrayRef).collect();
        let batch = RecordBatch::try_new(Arc::clone(self.writer.schema()), arrays)?;
        self.writer.write(&batch)
    }

    fn finish(mut self) -> Result<(File, u64), ArrowError> {
        if self.part_rows > 0 {
            self.write()?;
        }
        let file = self.writer.into_inner()?.into_inner().map_err(std::io::IntoInnerError::into_error)?;
        let len = file.metadata()?.len();
        Ok((file, len))
    }
}
