//! A table made of one or more files, and its scans.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::RecordBatch;
use arrow_buffer::BooleanBuffer;
use arrow_schema::{Field, Schema, SchemaRef};

use crate::error::Error;
use crate::format::{self, Compression, Format};
use crate::input::Input;
use crate::{Options, csv, excel, ipc, json, parquet};

/// The rows wanted of each part, by part number; parts not listed are not wanted at all.
pub type Selection = HashMap<usize, BooleanBuffer>;

/// The batches of one part, in order.
pub type Batches<'a> = Box<dyn Iterator<Item = Result<RecordBatch, Error>> + Send + 'a>;

/// A piece of a table that one thread reads.
pub struct Part<'a> {
    /// The same for the same rows in every scan of the table.
    pub number: usize,
    /// The rows, in order; with a selection, only the chosen ones.
    pub batches: Batches<'a>,
}

/// What is asked of one file.
#[derive(Clone)]
pub(crate) struct Wanted<'a> {
    /// Indices into the file's own fields, in the order in which they are to come.
    pub columns: Vec<usize>,
    /// The number of the file's first part.
    pub first: usize,
    pub only: Option<&'a Selection>,
}

impl<'a> Wanted<'a> {
    /// Whether any rows of the file's nth part are wanted.
    pub(crate) fn takes(&self, nth: usize) -> bool {
        self.only.is_none_or(|only| only.contains_key(&(self.first + nth)))
    }

    /// The rows chosen of the file's nth part; without a selection there are none, and all are wanted.
    pub(crate) fn chosen(&self, nth: usize) -> Option<&'a BooleanBuffer> {
        self.only?.get(&(self.first + nth))
    }

    /// The fields of the batches to come.
    pub(crate) fn schema(&self, fields: &[Field]) -> SchemaRef {
        Arc::new(Schema::new(self.columns.iter().map(|&index| fields[index].clone()).collect::<Vec<_>>()))
    }
}

/// One file that can be read in parts.
pub(crate) trait Source: Send + Sync {
    /// The columns, all of them nullable and without metadata.
    fn fields(&self) -> &[Field];
    fn rows_hint(&self) -> Option<u64>;
    /// What was found out about the file, for people.
    fn described(&self) -> String;
    /// Finds a row of the nth part again.
    fn place(&self, nth: usize, row: usize) -> Result<Found, Error>;
    fn parts<'a>(&'a self, wanted: Wanted<'a>) -> Result<Box<dyn Parts<'a> + 'a>, Error>;
}

/// Where a row of a file is.
pub(crate) enum Found {
    /// On this line, from 1.
    Line(u64),
    /// This many rows down, from 1, in a file without lines.
    Row(u64),
    /// In this row of a sheet, from 1.
    InSheet(String, u64),
    /// In a file after this one, which has only so many parts.
    Beyond { parts: usize },
}

/// The parts of one file in order; called by one thread at a time.
pub(crate) trait Parts<'a>: Send {
    fn next(&mut self) -> Result<Option<Part<'a>>, Error>;
    /// How many parts the file has; asked once `next` has returned `None`.
    fn count(&self) -> usize;
}

/// A table that can be scanned by many threads at once, and again and again.
pub struct Table {
    files: Vec<OneFile>,
    schema: SchemaRef,
    bytes: u64,
}

struct OneFile {
    name: String,
    source: Box<dyn Source>,
    /// Where each column of the table is in this file.
    places: Vec<usize>,
}

impl Table {
    pub(crate) fn new(path: &str, inputs: Vec<Input>, options: &Options) -> Result<Self, Error> {
        let bytes = inputs.iter().map(Input::len).sum();
        let mut files: Vec<OneFile> = Vec::with_capacity(inputs.len());
        for input in inputs {
            let name = input.name().to_owned();
            let source = source(input, options)?;
            let places = match files.first() {
                None => (0..source.fields().len()).collect(),
                Some(reference) => places(reference.source.fields(), source.fields()).map_err(|problem| {
                    Error::Columns { path: name.clone(), first: reference.name.clone(), problem }
                })?,
            };
            files.push(OneFile { name, source, places });
        }
        let Some(reference) = files.first() else {
            return Err(Error::NoData { path: path.to_owned() });
        };
        let schema = Arc::new(Schema::new(reference.source.fields().to_vec()));
        Ok(Self { files, schema, bytes })
    }

    /// A table of one source that is no file.
    pub(crate) fn of(name: &str, source: Box<dyn Source>, bytes: u64) -> Self {
        let schema = Arc::new(Schema::new(source.fields().to_vec()));
        let places = (0..source.fields().len()).collect();
        Self { files: vec![OneFile { name: name.to_owned(), source, places }], schema, bytes }
    }

    /// The columns.
    #[must_use]
    pub fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    /// How many rows to expect: exact for Parquet, Arrow and JSON lines, a guess for CSV.
    #[must_use]
    pub fn rows_hint(&self) -> Option<u64> {
        let mut hints = self.files.iter().map(|file| file.source.rows_hint());
        // The numbers are what the files claim, damaged ones included.
        hints.try_fold(0, |rows: u64, hint| Some(rows.saturating_add(hint?)))
    }

    /// How many bytes the files have on disk.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// What was detected, for people: `CSV, delimiter ';', UTF-8, header`.
    #[must_use]
    pub fn described(&self) -> String {
        let mut kinds: Vec<(String, usize)> = Vec::new();
        for described in self.files.iter().map(|file| file.source.described()) {
            match kinds.iter_mut().find(|(kind, _)| *kind == described) {
                Some((_, count)) => *count += 1,
                None => kinds.push((described, 1)),
            }
        }
        let with_count = |(kind, count): &(String, usize)| {
            if *count > 1 { format!("{count} files: {kind}") } else { kind.clone() }
        };
        kinds.iter().map(with_count).collect::<Vec<_>>().join("; ")
    }

    /// Where a row of a part is, for people: `bank.csv, line 17`, `bank.parquet, row 16` or `bank.xlsx, May, row 17`.
    ///
    /// The file may be read up to there once more.
    ///
    /// # Errors
    /// When the file can no longer be read, or has changed.
    pub fn place(&self, part: usize, row: usize) -> Result<String, Error> {
        let mut nth = part;
        for OneFile { name, source, .. } in &self.files {
            match source.place(nth, row)? {
                Found::Line(line) => return Ok(format!("{name}, line {line}")),
                Found::Row(row) => return Ok(format!("{name}, row {row}")),
                Found::InSheet(sheet, row) => return Ok(format!("{name}, {sheet}, row {row}")),
                Found::Beyond { parts } => nth -= parts,
            }
        }
        Err(Error::Changed { path: self.files[0].name.clone() })
    }

    /// Starts reading the given columns (indices into the schema, in that order), all rows or only the chosen.
    ///
    /// # Errors
    /// When a column is not there, or the first file can no longer be opened.
    pub fn scan<'a>(&'a self, columns: &[usize], only: Option<&'a Selection>) -> Result<Scan<'a>, Error> {
        let known = self.schema.fields().len();
        if let Some(column) = columns.iter().find(|column| **column >= known) {
            let problem = format!("there is no column {column} among {known}");
            return Err(Error::Format { path: self.files[0].name.clone(), problem });
        }
        let scan = Scan {
            table: self,
            columns: columns.to_vec(),
            only,
            state: Mutex::new(State { file: 0, first: 0, parts: None }),
        };
        scan.state.lock().unwrap_or_else(PoisonError::into_inner).parts = scan.start(0, 0)?;
        Ok(scan)
    }
}

/// One reading of a table, shared by the threads that do it.
pub struct Scan<'a> {
    table: &'a Table,
    columns: Vec<usize>,
    only: Option<&'a Selection>,
    state: Mutex<State<'a>>,
}

struct State<'a> {
    file: usize,
    first: usize,
    /// The parts of the current file; `None` once there is no further file, or after an error.
    parts: Option<Box<dyn Parts<'a> + 'a>>,
}

impl<'a> Scan<'a> {
    /// The next part that nobody has taken yet.
    ///
    /// # Errors
    /// Whatever keeps the part from being found; the scan is over then.
    pub fn next_part(&self) -> Result<Option<Part<'a>>, Error> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        while let Some(mut parts) = state.parts.take() {
            if let Some(part) = parts.next()? {
                state.parts = Some(parts);
                return Ok(Some(part));
            }
            state.first += parts.count();
            state.file += 1;
            state.parts = self.start(state.file, state.first)?;
        }
        Ok(None)
    }

    fn start(&self, file: usize, first: usize) -> Result<Option<Box<dyn Parts<'a> + 'a>>, Error> {
        let Some(file) = self.table.files.get(file) else {
            return Ok(None);
        };
        let columns = self.columns.iter().map(|&column| file.places[column]).collect();
        file.source.parts(Wanted { columns, first, only: self.only }).map(Some)
    }
}

fn source(input: Input, options: &Options) -> Result<Box<dyn Source>, Error> {
    if input.len() == 0 {
        return Err(empty(&input, options));
    }
    let format = options.format.map_or_else(|| format::of(&input), Ok)?;
    if options.sheet.is_some() && format != Format::Excel {
        let problem = format!("it has no sheets, for it is {format}; leave out the sheet");
        return Err(Error::Format { path: input.name().to_owned(), problem });
    }
    let is_whole = matches!(format, Format::Parquet | Format::Arrow | Format::Excel);
    if is_whole && Compression::of(&input.ends()?.0) != Compression::Plain {
        let problem = format!("a {format} file that is compressed as a whole; unpack it first");
        return Err(Error::Format { path: input.name().to_owned(), problem });
    }
    Ok(match format {
        Format::Csv | Format::Tsv => Box::new(csv::open(input, format, options)?),
        Format::JsonLines => Box::new(json::open(input, options)?),
        Format::Parquet => Box::new(parquet::ParquetFile::open(input)?),
        Format::Arrow => Box::new(ipc::IpcFile::open(input)?),
        Format::Excel => Box::new(excel::open(&input, options)?),
    })
}

/// Why a file without bytes is no table: only where there are headers could one be missed.
fn empty(input: &Input, options: &Options) -> Error {
    let path = input.name().to_owned();
    match options.format.or_else(|| input.path().and_then(format::by_name)) {
        Some(Format::Csv | Format::Tsv) | None => Error::Empty { path },
        Some(format) => {
            let problem = format!("the file is empty; there are no columns without any {format} in it");
            Error::Format { path, problem }
        }
    }
}

/// Where each of the first file's columns is in another file, whose order may differ.
fn places(reference: &[Field], fields: &[Field]) -> Result<Vec<usize>, String> {
    if let Some(extra) =
        fields.iter().find(|field| reference.iter().all(|other| other.name() != field.name()))
    {
        return Err(format!("it has a column {:?}", extra.name()));
    }
    let place = |field: &Field| {
        let place = fields.iter().position(|other| other.name() == field.name());
        let place = place.ok_or_else(|| format!("it has no column {:?}", field.name()))?;
        if fields[place].data_type() == field.data_type() {
            return Ok(place);
        }
        Err(format!(
            "its column {:?} is {} and not {}",
            field.name(),
            fields[place].data_type(),
            field.data_type()
        ))
    };
    reference.iter().map(place).collect()
}
