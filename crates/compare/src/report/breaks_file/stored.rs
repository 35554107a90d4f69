//! Break files of Parquet, read back a batch at a time.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Array, ArrayRef};
use parquet::arrow::arrow_reader::{ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder};

use super::layout::Value;
use super::{csv, jsonl, parquet_error};

/// Few enough that a batch of long texts is still small.
const BATCH_ROWS: usize = 1 << 10;

/// Why stored breaks cannot be shown.
#[derive(Debug, thiserror::Error)]
pub enum StoredBreaksError {
    /// The file is missing, damaged, or none of breaks.
    #[error("cannot read the breaks in {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// Whoever takes them does not.
    #[error("cannot write the breaks: {0}")]
    Write(io::Error),
}

/// A complete break file of Parquet; memory holds a few rows of it at a time.
pub struct StoredBreaks {
    path: PathBuf,
    columns: Vec<String>,
    reader: ParquetRecordBatchReader,
}

impl StoredBreaks {
    /// Opens a file.
    ///
    /// # Errors
    /// When it is missing or no Parquet file.
    pub fn open(path: &Path) -> Result<Self, StoredBreaksError> {
        let unreadable = |source| StoredBreaksError::Read { path: path.to_owned(), source };
        let file = File::open(path).map_err(unreadable)?;
        let builder = ParquetRecordBatchReaderBuilder::try_new(file)
            .and_then(|builder| builder.with_batch_size(BATCH_ROWS).build());
        let reader = builder.map_err(|error| unreadable(parquet_error(error)))?;
        let schema = arrow_array::RecordBatchReader::schema(&reader);
        let columns = schema.fields().iter().map(|field| field.name().clone()).collect();
        Ok(Self { path: path.to_owned(), columns, reader })
    }

    /// The names of its columns: the key, what is wrong, and the value in each source.
    #[must_use]
    pub fn columns(&self) -> &[String] {
        &self.columns
    }

    /// Writes at most so many rows as CSV, as a break file of CSV has them.
    ///
    /// # Errors
    /// When the file is damaged, or they cannot be written.
    pub fn write_csv(self, rows: usize, out: &mut dyn Write) -> Result<(), StoredBreaksError> {
        let names: Vec<Value<'_>> = self.columns.iter().map(|name| Value::Text(name)).collect();
        let mut header = Vec::new();
        csv::line(&names, &mut header);
        out.write_all(&header).map_err(StoredBreaksError::Write)?;
        self.write(rows, out, csv::line)
    }

    /// Writes at most so many rows as JSON lines, as a break file of JSON lines has them.
    ///
    /// # Errors
    /// When the file is damaged, or they cannot be written.
    pub fn write_json_lines(self, rows: usize, out: &mut dyn Write) -> Result<(), StoredBreaksError> {
        let quoted = |name: &String| {
            let mut json = Vec::new();
            jsonl::quote(name, &mut json);
            json
        };
        let names: Vec<Vec<u8>> = self.columns.iter().map(quoted).collect();
        self.write(rows, out, |row, line| jsonl::line(&names, row, line))
    }

    /// The first rows, as text; `None` is NULL.
    ///
    /// # Errors
    /// When the file is damaged.
    pub fn first(self, rows: usize) -> Result<Vec<Vec<Option<String>>>, StoredBreaksError> {
        let mut first = Vec::new();
        let text = |value: &Value<'_>| match value {
            Value::Null => None,
            Value::Text(text) => Some((*text).to_owned()),
            Value::Number(number) => Some(number.to_string()),
        };
        self.each_row(rows, |row| {
            first.push(row.iter().map(text).collect());
            Ok(())
        })?;
        Ok(first)
    }

    fn write(
        self,
        rows: usize,
        out: &mut dyn Write,
        line: impl Fn(&[Value<'_>], &mut Vec<u8>),
    ) -> Result<(), StoredBreaksError> {
        let mut bytes = Vec::new();
        self.each_row(rows, |row| {
            bytes.clear();
            line(row, &mut bytes);
            out.write_all(&bytes)
        })
    }

    fn each_row(
        self,
        rows: usize,
        mut take: impl FnMut(&[Value<'_>]) -> io::Result<()>,
    ) -> Result<(), StoredBreaksError> {
        let mut left = rows;
        for batch in self.reader {
            let batch = batch.map_err(|error| StoredBreaksError::Read {
                path: self.path.clone(),
                source: io::Error::other(error),
            })?;
            for row in 0..batch.num_rows() {
                if left == 0 {
                    return Ok(());
                }
                left -= 1;
                let values: Vec<Value<'_>> =
                    batch.columns().iter().map(|column| value(column, row)).collect();
                take(&values).map_err(StoredBreaksError::Write)?;
            }
        }
        Ok(())
    }
}

/// A value of a column, which is text or, for `occurrence`, a number.
fn value(column: &ArrayRef, row: usize) -> Value<'_> {
    if column.is_null(row) {
        return Value::Null;
    }
    if let Some(texts) = column.as_string_opt::<i32>() {
        return Value::Text(texts.value(row));
    }
    let number = column.as_primitive_opt::<Int64Type>().map(|numbers| numbers.value(row));
    number.and_then(|number| u64::try_from(number).ok()).map_or(Value::Null, Value::Number)
}
