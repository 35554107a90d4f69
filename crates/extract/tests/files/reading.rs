//! Reads tables whole, as rows of text, so that tests can say what they expect.

use std::collections::HashMap;
use std::ops::Deref;
use std::path::Path;

use arrow_array::cast::AsArray;
use arrow_array::{Array, RecordBatch};
use arrow_buffer::BooleanBuffer;
use tempfile::TempDir;
use trueup_extract::{Error, Options, Selection, Table, open, open_reader};

pub(crate) type Rows = Vec<Vec<Option<String>>>;

/// The rows of a part, by its number.
pub(crate) type Numbered = Vec<(usize, Rows)>;

/// The part sizes that every text has to read the same with.
pub(crate) const CHUNKS: [usize; 6] = [1, 7, 64, 65, 1000, 1 << 20];

/// Nothing declared.
pub(crate) fn detected() -> Options {
    Options::new(std::env::temp_dir())
}

pub(crate) fn options(chunk_bytes: usize) -> Options {
    Options { chunk_bytes, ..detected() }
}

/// Writes a file into a directory and gives its path.
pub(crate) fn write(directory: &Path, name: &str, bytes: &[u8]) -> String {
    let path = directory.join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, bytes).unwrap();
    path.to_str().unwrap().to_owned()
}

/// A table, and the directory that its file is in.
pub(crate) struct Kept {
    table: Table,
    _directory: TempDir,
}

impl Deref for Kept {
    type Target = Table;

    fn deref(&self) -> &Table {
        &self.table
    }
}

/// Opens bytes as a file of that name.
pub(crate) fn table(name: &str, bytes: &[u8], options: &Options) -> Result<Kept, Error> {
    let directory = tempfile::tempdir().unwrap();
    let path = write(directory.path(), name, bytes);
    Ok(Kept { table: open(&path, options)?, _directory: directory })
}

pub(crate) fn names(table: &Table) -> Vec<String> {
    table.schema().fields().iter().map(|field| field.name().clone()).collect()
}

/// The values of a batch of text columns.
pub(crate) fn texts(batch: &RecordBatch) -> Rows {
    let value = |row, column| {
        let values = batch.column(column).as_string_view();
        values.is_valid(row).then(|| values.value(row).to_owned())
    };
    (0..batch.num_rows())
        .map(|row| (0..batch.num_columns()).map(|column| value(row, column)).collect())
        .collect()
}

/// Every part of a scan.
pub(crate) fn parts(table: &Table, columns: &[usize], only: Option<&Selection>) -> Result<Numbered, Error> {
    let scan = table.scan(columns, only)?;
    let mut parts = Vec::new();
    while let Some(part) = scan.next_part()? {
        let mut rows = Vec::new();
        for batch in part.batches {
            rows.append(&mut texts(&batch?));
        }
        parts.push((part.number, rows));
    }
    Ok(parts)
}

/// All rows of all columns, which two scans agree on.
pub(crate) fn rows(table: &Table) -> Result<Rows, Error> {
    let columns: Vec<usize> = (0..table.schema().fields().len()).collect();
    let first = parts(table, &columns, None)?;
    assert_eq!(first, parts(table, &columns, None)?, "a second scan differs");
    Ok(first.into_iter().flat_map(|(_, rows)| rows).collect())
}

/// What a file says, as rows or as an error without the directory.
pub(crate) fn outcome(name: &str, bytes: &[u8], options: &Options) -> Result<Rows, String> {
    let opened = open_reader(name, bytes, options).and_then(|table| rows(&table));
    opened.map_err(|error| error.to_string())
}

pub(crate) fn some(values: &[&[&str]]) -> Rows {
    let value = |value: &&str| (*value != "NULL").then(|| (*value).to_owned());
    values.iter().map(|row| row.iter().map(value).collect()).collect()
}

/// Chooses rows of some parts, few of them for a seed of 2, and gives what a scan of them must yield.
pub(crate) fn chosen(parts: &Numbered, seed: usize) -> (Selection, Numbered) {
    let mut selection = HashMap::new();
    let mut expected = Vec::new();
    for (number, rows) in parts {
        if (number + seed).is_multiple_of(3) {
            continue;
        }
        let bits: Vec<bool> =
            (0..rows.len()).map(|row| (row * 7 + seed) % [5, 5, 331][seed % 3] < 2).collect();
        let kept = rows.iter().zip(&bits).filter(|(_, kept)| **kept).map(|(row, _)| row.clone()).collect();
        expected.push((*number, kept));
        selection.insert(*number, BooleanBuffer::from(bits));
    }
    (selection, expected)
}
