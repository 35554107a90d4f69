//! Break files as Parquet.

use std::io::{self, Write};
use std::sync::Arc;

use arrow_array::builder::{Int64Builder, StringBuilder};
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef};
use arrow_schema::{DataType, Field, Schema};
use arrow_select::concat::concat;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_writer::{
    ArrowColumnChunk, ArrowColumnWriter, ArrowRowGroupWriterFactory, compute_leaves,
};
use parquet::basic::Compression;
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::ColumnPath;

use super::layout::{Value, repeats};
use super::parquet_error;

const ROW_GROUP_ROWS: usize = 64 << 10;
const ROW_GROUP_BYTES: usize = 16 << 20;

/// Some rows.
pub(crate) struct Columns(Vec<Builder>);

enum Builder {
    Texts(StringBuilder),
    Numbers(Int64Builder),
}

impl Columns {
    pub(super) fn new(fields: &[Field]) -> Self {
        let builder = |field: &Field| match field.data_type() {
            DataType::Int64 => Builder::Numbers(Int64Builder::new()),
            _ => Builder::Texts(StringBuilder::new()),
        };
        Self(fields.iter().map(builder).collect())
    }

    pub(super) fn push(&mut self, row: &[Value<'_>]) {
        for (column, value) in self.0.iter_mut().zip(row) {
            match (column, *value) {
                (Builder::Texts(texts), Value::Text(text)) => texts.append_value(text),
                (Builder::Texts(texts), _) => texts.append_null(),
                (Builder::Numbers(numbers), Value::Number(number)) => {
                    numbers.append_option(i64::try_from(number).ok());
                }
                (Builder::Numbers(numbers), _) => numbers.append_null(),
            }
        }
    }

    pub(super) fn finish(self) -> Vec<ArrayRef> {
        let finish = |column| match column {
            Builder::Texts(mut texts) => Arc::new(texts.finish()) as ArrayRef,
            Builder::Numbers(mut numbers) => Arc::new(numbers.finish()),
        };
        self.0.into_iter().map(finish).collect()
    }
}

/// Writes columns in row groups that depend on the rows alone, not on how they were cut into batches.
pub(super) struct Sink<W: Write + Send> {
    fields: Vec<Field>,
    threads: usize,
    writer: SerializedFileWriter<W>,
    factory: ArrowRowGroupWriterFactory,
    groups: usize,
    /// The rows of the next row group: batches of columns.
    batches: Vec<Vec<ArrayRef>>,
    rows: usize,
    bytes: usize,
}

impl<W: Write + Send> Sink<W> {
    pub(super) fn start(output: W, fields: Vec<Field>, threads: usize) -> io::Result<Self> {
        // The library's version would otherwise be part of the file, and change its bytes.
        let common = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .set_created_by("trueup".to_owned());
        // Hashing values that hardly repeat costs more than a dictionary of them saves.
        let varied = fields.iter().filter(|field| !repeats(field));
        let properties = varied
            .fold(common, |properties, field| {
                let column = ColumnPath::new(vec![field.name().clone()]);
                properties.set_column_dictionary_enabled(column, false)
            })
            .build();
        let schema = Arc::new(Schema::new(fields.clone()));
        let (writer, factory) = ArrowWriter::try_new(output, schema, Some(properties))
            .and_then(ArrowWriter::into_serialized_writer)
            .map_err(parquet_error)?;
        Ok(Self { fields, threads, writer, factory, groups: 0, batches: Vec::new(), rows: 0, bytes: 0 })
    }

    /// Adds some rows.
    pub(super) fn append(&mut self, mut columns: Vec<ArrayRef>) -> io::Result<()> {
        loop {
            let rows = columns[0].len();
            let bytes = columns.iter().map(|column| text_bytes(column, rows)).sum::<usize>();
            if self.rows + rows < ROW_GROUP_ROWS && self.bytes + bytes < ROW_GROUP_BYTES {
                self.batches.push(columns);
                self.rows += rows;
                self.bytes += bytes;
                return Ok(());
            }
            let fits = |rows: usize| {
                let bytes: usize = columns.iter().map(|column| text_bytes(column, rows)).sum();
                self.rows + rows < ROW_GROUP_ROWS && self.bytes + bytes < ROW_GROUP_BYTES
            };
            // The first row that fills the group is its last.
            let numbers: Vec<usize> = (0..rows).collect();
            let last = numbers.partition_point(|row| fits(row + 1)) + 1;
            self.batches.push(columns.iter().map(|column| column.slice(0, last)).collect());
            self.write_group()?;
            columns = columns.iter().map(|column| column.slice(last, rows - last)).collect();
        }
    }

    fn write_group(&mut self) -> io::Result<()> {
        let batches = std::mem::take(&mut self.batches);
        (self.rows, self.bytes) = (0, 0);
        let writers = self.factory.create_column_writers(self.groups).map_err(parquet_error)?;
        self.groups += 1;
        let mut jobs: Vec<(usize, &Field, ArrowColumnWriter)> = (self.fields.iter().zip(writers).enumerate())
            .map(|(column, (field, writer))| (column, field, writer))
            .collect();
        let mut chunks: Vec<(usize, Result<ArrowColumnChunk, ParquetError>)> = Vec::new();
        std::thread::scope(|scope| {
            let each = jobs.len().div_ceil(self.threads);
            let mut threads = Vec::new();
            while !jobs.is_empty() {
                let own = jobs.split_off(jobs.len().saturating_sub(each));
                let batches = &batches;
                let encode = move || -> Vec<_> {
                    own.into_iter()
                        .map(|(column, field, writer)| (column, encode(column, field, writer, batches)))
                        .collect()
                };
                threads.push(scope.spawn(encode));
            }
            for thread in threads {
                match thread.join() {
                    Ok(encoded) => chunks.extend(encoded),
                    Err(panic) => std::panic::resume_unwind(panic),
                }
            }
        });
        chunks.sort_unstable_by_key(|(column, _)| *column);
        let mut group = self.writer.next_row_group().map_err(parquet_error)?;
        for (_, chunk) in chunks {
            chunk.and_then(|chunk| chunk.append_to_row_group(&mut group)).map_err(parquet_error)?;
        }
        group.close().map(drop).map_err(parquet_error)
    }

    pub(super) fn finish(mut self) -> io::Result<W> {
        if self.rows > 0 {
            self.write_group()?;
        }
        self.writer.into_inner().map_err(parquet_error)
    }
}

/// Encodes a column of a row group in one piece: where it is cut into pages must not depend on the batches.
fn encode(
    column: usize,
    field: &Field,
    mut writer: ArrowColumnWriter,
    batches: &[Vec<ArrayRef>],
) -> Result<ArrowColumnChunk, ParquetError> {
    let pieces: Vec<&dyn Array> = batches.iter().map(|batch| batch[column].as_ref()).collect();
    let whole = concat(&pieces)?;
    for leaf in compute_leaves(field, &whole)? {
        writer.write(&leaf)?;
    }
    writer.close()
}

/// The text in the first rows of a column; numbers have none.
fn text_bytes(column: &ArrayRef, rows: usize) -> usize {
    let Some(texts) = column.as_string_opt::<i32>() else {
        return 0;
    };
    let offsets = texts.value_offsets();
    (offsets[rows] - offsets[0]).cast_unsigned() as usize
}
