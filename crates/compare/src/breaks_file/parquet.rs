//! Break files as Parquet.

use std::io::{self, Write};
use std::sync::Arc;

use arrow_array::builder::StringBuilder;
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::file::properties::WriterProperties;

use super::parquet_error;

const BATCH_ROWS: usize = 4096;
const BATCH_BYTES: usize = 8 << 20;
const ROW_GROUP_ROWS: usize = 64 << 10;
const ROW_GROUP_BYTES: usize = 64 << 20;

/// Writes text columns in row groups that are bounded in rows and in bytes.
pub(super) struct Sink<W: Write + Send> {
    schema: SchemaRef,
    columns: Vec<StringBuilder>,
    rows: usize,
    bytes: usize,
    writer: ArrowWriter<W>,
}

impl<W: Write + Send> Sink<W> {
    pub(super) fn start(output: W, header: &[String]) -> io::Result<Self> {
        let fields: Vec<Field> = header.iter().map(|name| Field::new(name, DataType::Utf8, true)).collect();
        let schema = Arc::new(Schema::new(fields));
        // The library's version would otherwise be part of the file, and change its bytes.
        let properties = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .set_max_row_group_row_count(Some(ROW_GROUP_ROWS))
            .set_created_by("trueup".to_owned())
            .build();
        let writer =
            ArrowWriter::try_new(output, Arc::clone(&schema), Some(properties)).map_err(parquet_error)?;
        Ok(Self {
            schema,
            columns: header.iter().map(|_| StringBuilder::new()).collect(),
            rows: 0,
            bytes: 0,
            writer,
        })
    }

    pub(super) fn write(&mut self, row: &[Option<&str>]) -> io::Result<()> {
        for (column, field) in self.columns.iter_mut().zip(row) {
            column.append_option(*field);
            self.bytes += field.map_or(0, str::len);
        }
        self.rows += 1;
        if self.rows >= BATCH_ROWS || self.bytes >= BATCH_BYTES {
            self.flush()?;
        }
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        let columns: Vec<ArrayRef> =
            (self.columns.iter_mut()).map(|column| Arc::new(column.finish()) as ArrayRef).collect();
        self.rows = 0;
        self.bytes = 0;
        let batch = RecordBatch::try_new(Arc::clone(&self.schema), columns).map_err(io::Error::other)?;
        self.writer.write(&batch).map_err(parquet_error)?;
        if self.writer.in_progress_size() >= ROW_GROUP_BYTES {
            self.writer.flush().map_err(parquet_error)?;
        }
        Ok(())
    }

    pub(super) fn finish(mut self) -> io::Result<W> {
        if self.rows > 0 {
            self.flush()?;
        }
        self.writer.into_inner().map_err(parquet_error)
    }
}
