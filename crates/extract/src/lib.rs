//! Turns a source (a file, a directory, a glob, standard input, objects of a store, a query of a database) into Arrow batches.
//!
//! A [`Table`] is read in parts, by many threads at once and as often as needed; every scan yields the same parts with the
//! same rows in the same order. Text formats deliver `Utf8View` columns only, so a numeral stays exactly as it was written.

mod checksum;
mod column;
mod csv;
mod database;
mod decimal;
mod error;
mod excel;
mod find;
mod format;
mod header;
mod input;
mod ipc;
mod json;
mod keep;
mod mysql;
mod objects;
#[cfg(feature = "odbc")]
mod odbc;
mod parquet;
mod postgres;
mod reach;
mod sqlite;
mod table;
mod text;

use std::path::PathBuf;

pub use checksum::{Checksum, Pair, Pruned, Side, SideError};
pub use database::{Database, Engine, Query, Value};
pub use error::{Error, Problem, Refused, catches_panics};
pub use find::places;
pub use format::{Format, UnknownFormat};
pub use objects::{Access, Objects, Scheme};
pub use table::{Batches, Part, Scan, Selection, Table};

/// Views of text have offsets of 32 bits; a chunk grows by at most one record, of 64 MiB, beyond this.
const MOST_CHUNK_BYTES: usize = 1 << 30;

/// How a source is to be read; whatever is left open is detected.
#[derive(Debug, Clone)]
pub struct Options {
    /// The format; otherwise told by the first bytes and the file's extension.
    pub format: Option<Format>,
    /// The delimiter of a CSV file; otherwise one of `,` `;` tab `|`.
    pub delimiter: Option<u8>,
    /// The quote of a CSV file; otherwise `"`, or `'` where the first records leave no doubt.
    pub quote: Option<u8>,
    /// The sheet of a workbook; otherwise its first that can be seen.
    pub sheet: Option<String>,
    /// Whether the first record of a CSV file or a sheet names the columns; otherwise it does, unless numbers in it go on below. Columns
    /// without names are `column_0`, ….
    pub header: Option<bool>,
    /// The encoding of a text file by its WHATWG label (`latin1`, `utf-16le`); otherwise by its BOM, or UTF-8.
    pub encoding: Option<String>,
    /// What an empty CSV field or cell means.
    pub empty: Empty,
    /// Where standard input and pipes are kept while they are read.
    pub temp_dir: PathBuf,
    /// How many threads may look for the keys of JSON lines while a file is opened.
    pub threads: usize,
    /// How many bytes of text make a part; only tests have a reason to change it.
    #[doc(hidden)]
    pub chunk_bytes: usize,
}

impl Options {
    /// Everything is detected, by one thread; pipes are kept in the given directory.
    #[must_use]
    pub fn new(temp_dir: impl Into<PathBuf>) -> Self {
        Self {
            format: None,
            delimiter: None,
            quote: None,
            sheet: None,
            header: None,
            encoding: None,
            empty: Empty::Quoted,
            temp_dir: temp_dir.into(),
            threads: 1,
            chunk_bytes: 1 << 20,
        }
    }
}

/// What an empty CSV field or cell means; a cell without anything is unquoted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Empty {
    /// Unquoted it is NULL, quoted it is the empty text.
    #[default]
    Quoted,
    /// It is NULL, quoted or not.
    Null,
    /// It is the empty text, quoted or not.
    Text,
}

/// Opens a file, a directory, a glob, or `-` for standard input.
///
/// # Errors
/// When there is nothing to read, when it cannot be told what it is, or when its files do not have the same columns.
pub fn open(path: &str, options: &Options) -> Result<Table, Error> {
    let inputs = if path == "-" {
        vec![input::Input::spool("standard input", &mut std::io::stdin().lock(), &options.temp_dir)?]
    } else {
        find::inputs(path, options)?
    };
    Table::new(path, inputs, options)
}

/// Opens what a reader delivers, as [`open`] does with standard input; `name` stands for it in errors.
///
/// # Errors
/// As [`open`].
pub fn open_reader(name: &str, mut reader: impl std::io::Read, options: &Options) -> Result<Table, Error> {
    let spooled = input::Input::spool(name, &mut reader, &options.temp_dir)?;
    Table::new(name, vec![spooled], options)
}
