//! What can keep a source from being read, said to the person who has to mend it.

use std::cell::Cell;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::objects::Scheme;

/// Why a source cannot be read; it names the file or the database.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Nothing is there.
    #[error("{path}: no such file or directory{}", did_you_mean(near))]
    Missing {
        /// The path as it was given.
        path: String,
        /// Names in that directory that look alike.
        near: Vec<String>,
    },
    /// A glob matches no file.
    #[error(
        "{path}: no file matches; quote the pattern so that the shell leaves it alone, and check the directory"
    )]
    NoMatch {
        /// The pattern as it was given.
        path: String,
    },
    /// A glob is malformed.
    #[error("{path}: not a pattern: {source}")]
    Pattern {
        /// The pattern as it was given.
        path: String,
        /// What is wrong with it.
        source: glob::PatternError,
    },
    /// A directory holds nothing that can be read.
    #[error(
        "{path}: no data files below this directory; known are .csv .tsv .jsonl .parquet .arrow .xlsx, text also with .gz or .zst"
    )]
    NoData {
        /// The directory as it was given.
        path: String,
    },
    /// The format cannot be told.
    #[error("{path}: cannot tell the format; say which it is: csv, tsv, jsonl, parquet, arrow or excel")]
    UnknownFormat {
        /// The file.
        path: String,
    },
    /// The content is not what the format says.
    #[error("{path}: {problem}")]
    Format {
        /// The file.
        path: String,
        /// What is wrong with it.
        problem: String,
    },
    /// The operating system refuses.
    #[error("{path}: cannot be read: {source}")]
    Read {
        /// The file.
        path: String,
        /// What the system says.
        source: io::Error,
    },
    /// Standard input or a pipe cannot be kept on disk.
    #[error(
        "{path}: cannot be kept in {directory} while it is read: {source}; free some space or choose another temporary directory"
    )]
    Spool {
        /// What was being read.
        path: String,
        /// The temporary directory.
        directory: String,
        /// What the system says.
        source: io::Error,
    },
    /// The file is another one than at the start.
    #[error("{path}: the file changed while it was being read; run again when nobody writes to it")]
    Changed {
        /// The file.
        path: String,
    },
    /// The file has no bytes at all.
    #[error("{path}: the file is empty; not even a header is there")]
    Empty {
        /// The file.
        path: String,
    },
    /// No encoding has this name.
    #[error("{path}: no encoding is called {encoding:?}; try utf-8, utf-16le, latin1 or windows-1252")]
    Encoding {
        /// The file.
        path: String,
        /// The name as it was given.
        encoding: String,
    },
    /// The files of one source do not have the same columns.
    #[error("{path}: {problem}, unlike {first}; all files of one source need the same columns")]
    Columns {
        /// The odd file.
        path: String,
        /// The file it was compared with.
        first: String,
        /// How it differs.
        problem: String,
    },
    /// A text is malformed.
    #[error("{path}, line {line}, column {column}: {problem}")]
    Text {
        /// The file.
        path: String,
        /// The line, from 1.
        line: u64,
        /// The byte in the line, from 1.
        column: u64,
        /// What is wrong there.
        problem: Problem,
    },
    /// A database refuses.
    #[error("{place}: {problem}")]
    Database {
        /// The database.
        place: String,
        /// What kind of refusal it is.
        kind: Refused,
        /// What it says.
        problem: String,
    },
    /// An object store refuses.
    #[error("{path}: {problem}")]
    Store {
        /// The object, or what was asked for, with its scheme.
        path: String,
        /// What kind of store it is.
        scheme: Scheme,
        /// What kind of refusal it is.
        kind: Refused,
        /// What it says.
        problem: String,
    },
    /// No sheet of a workbook has that name.
    #[error("{path}: there is no sheet {sheet:?}; {others}")]
    Sheet {
        /// The workbook.
        path: String,
        /// The name as it was given.
        sheet: String,
        /// Which sheets there are, and which of them may have been meant.
        others: String,
    },
    /// A cell of a workbook is malformed.
    #[error("{path}, {cell}: {problem}")]
    Cell {
        /// The workbook.
        path: String,
        /// The cell, such as `May!B17`.
        cell: String,
        /// What is wrong there.
        problem: Problem,
    },
    /// Somebody asked it to stop.
    #[error("stopped")]
    Stopped,
    /// A Parquet, Arrow or Excel file is damaged.
    #[error("{path}: damaged or not supported: {problem}; check that the file was written to its end")]
    Damaged {
        /// The file.
        path: String,
        /// What the decoder says.
        problem: String,
    },
}

/// What a database or a store has against being read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refused {
    /// Its address makes no sense.
    Url,
    /// It is not there, is gone, or lets nobody in.
    Connection,
    /// What is asked for is not there.
    Missing,
    /// It will not do what it is asked, or fails half-way.
    Query,
}

/// What is wrong at one place of a text.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Problem {
    /// A record has too few or too many fields.
    #[error(
        "{} where {expected} {} expected; fields that hold the delimiter or a newline must be quoted",
        if *found == 1 { "1 field".to_owned() } else { format!("{found} fields") },
        if *expected == 1 { "is" } else { "are" }
    )]
    Ragged {
        /// How many there are.
        found: usize,
        /// How many the header has.
        expected: usize,
    },
    /// A quoted field never ends.
    #[error("the quote opened here is never closed")]
    Unclosed,
    /// A quoted field ends, and goes on.
    #[error("text after a closing quote; a quote inside a quoted field is written twice")]
    AfterQuote,
    /// A record does not end within reason.
    #[error("no end of this record within {} MiB; is this a text file with lines?", limit >> 20)]
    TooLong {
        /// The bytes a record may have.
        limit: usize,
    },
    /// A byte sequence is not UTF-8.
    #[error("not UTF-8; set the encoding, for example latin1")]
    Utf8,
    /// A byte sequence is not what the encoding allows.
    #[error("not {0}; set another encoding")]
    Encoding(String),
    /// A column has no name, and what it would be called by its place is taken.
    #[error("the name of column {0} is empty; name it, or say that there is no header")]
    EmptyName(usize),
    /// Two columns share a name.
    #[error("two columns are called {0:?}; rename one, or say that there is no header")]
    SameName(String),
    /// A line starts an array, as a file does that is one JSON value.
    #[error("a JSON array; each line must be one JSON object")]
    JsonArray,
    /// A line is not a JSON object.
    #[error("{0}")]
    Json(&'static str),
    /// An object has a key twice.
    #[error("the key {0:?} occurs twice in one object")]
    SameKey(String),
    /// A cell holds what a formula failed of.
    #[error("the error {0}; mend the formula, or clear the cell")]
    Formula(String),
    /// A number that is shown as a date is none.
    #[error("{0} is shown as a date, and is none")]
    NoDate(f64),
    /// A value is beside the columns.
    #[error("a value outside the columns of the first row; clear the cell, or name its column")]
    Beside,
}

/// A problem at an offset of a chunk of text, before the line is known.
#[derive(Debug)]
pub(crate) struct Fault {
    pub at: usize,
    pub problem: Problem,
}

impl Fault {
    pub(crate) fn at(at: usize, problem: Problem) -> Self {
        Self { at, problem }
    }
}

thread_local! {
    static GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Whether a panic of this thread would end as an [`Error::Damaged`], so that a panic hook need not speak of it.
#[must_use]
pub fn catches_panics() -> bool {
    GUARDED.get()
}

/// Runs a decoder, which panics on some damaged files where it should fail.
pub(crate) fn guarded<T, E: ToString>(decode: impl FnOnce() -> Result<T, E>) -> Result<T, String> {
    let outer = GUARDED.replace(true);
    let decoded = catch_unwind(AssertUnwindSafe(decode));
    GUARDED.set(outer);
    match decoded {
        Ok(result) => result.map_err(|error| error.to_string()),
        Err(_) => Err("the decoder gave up on it".to_owned()),
    }
}

fn did_you_mean(near: &[String]) -> String {
    if near.is_empty() { String::new() } else { format!("; did you mean {}?", near.join(" or ")) }
}
