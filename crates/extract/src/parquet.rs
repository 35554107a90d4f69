//! Parquet files; a part is a row group.

use std::sync::Arc;

use arrow_array::{BooleanArray, RecordBatch};
use arrow_schema::{DataType, Field, Fields, Schema, TimeUnit};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder, RowSelection,
};
use parquet::basic::Type as Physical;
use parquet::errors::ParquetError;

use crate::error::{Error, guarded};
use crate::input::{Bytes, Input};
use crate::table::{Batches, Found, Part, Parts, Source, Wanted};

const BATCH_ROWS: usize = 8192;
/// Text in a batch keeps the pages it was read from, so a batch of few chosen rows is from no more rows than these.
const SPAN_ROWS: usize = 8 * BATCH_ROWS;

/// A Parquet file whose metadata has been read.
pub(crate) struct ParquetFile {
    input: Input,
    metadata: ArrowReaderMetadata,
    fields: Vec<Field>,
}

impl ParquetFile {
    pub(crate) fn open(input: Input) -> Result<Self, Error> {
        let bytes = input.open()?;
        let metadata = guarded(|| metadata(&bytes)).map_err(|problem| input.damaged(problem))?;
        let fields = metadata
            .schema()
            .fields()
            .iter()
            .map(|field| Field::new(field.name(), field.data_type().clone(), true))
            .collect();
        Ok(Self { input, metadata, fields })
    }

    fn batches<'a>(
        &'a self,
        bytes: Bytes,
        group: usize,
        wanted: &Wanted<'a>,
    ) -> Result<Batches<'a>, ParquetError> {
        let mask = ProjectionMask::roots(self.metadata.parquet_schema(), wanted.columns.iter().copied());
        let mut builder = ParquetRecordBatchReaderBuilder::new_with_metadata(bytes, self.metadata.clone())
            .with_batch_size(BATCH_ROWS)
            .with_row_groups(vec![group])
            .with_projection(mask);
        if let Some(rows) = wanted.chosen(group) {
            let filter = BooleanArray::new(rows.clone(), None);
            let batch_rows = (SPAN_ROWS * filter.true_count()).div_ceil(filter.len().max(1));
            builder = builder
                .with_row_selection(RowSelection::from_filters(&[filter]))
                .with_batch_size(batch_rows.clamp(1, BATCH_ROWS));
        }
        let mut reader = builder.build()?;
        // The reader yields columns in the order of the file, each once.
        let mut sorted = wanted.columns.clone();
        sorted.sort_unstable();
        sorted.dedup();
        let order: Vec<usize> =
            wanted.columns.iter().filter_map(|column| sorted.binary_search(column).ok()).collect();
        let schema = wanted.schema(&self.fields);
        let mut failed = false;
        let next = move || {
            if failed {
                return None;
            }
            let batch = guarded(|| reader.next().transpose().map_err(ParquetError::from)).transpose()?;
            let ordered = batch.and_then(|batch| {
                let columns = order.iter().map(|&place| Arc::clone(batch.column(place))).collect();
                let options = arrow_array::RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
                RecordBatch::try_new_with_options(Arc::clone(&schema), columns, &options)
                    .map_err(|error| error.to_string())
            });
            failed = ordered.is_err();
            Some(ordered.map_err(|problem| self.input.damaged(problem)))
        };
        Ok(Box::new(std::iter::from_fn(next)))
    }
}

impl Source for ParquetFile {
    fn fields(&self) -> &[Field] {
        &self.fields
    }

    fn rows_hint(&self) -> Option<u64> {
        u64::try_from(self.metadata.metadata().file_metadata().num_rows()).ok()
    }

    fn described(&self) -> String {
        "Parquet".to_owned()
    }

    fn place(&self, nth: usize, row: usize) -> Result<Found, Error> {
        let groups = self.metadata.metadata().row_groups();
        if nth >= groups.len() {
            return Ok(Found::Beyond { parts: groups.len() });
        }
        let before = groups[..nth].iter().map(|group| group.num_rows().unsigned_abs());
        Ok(Found::Row(before.fold(row as u64 + 1, u64::saturating_add)))
    }

    fn parts<'a>(&'a self, wanted: Wanted<'a>) -> Result<Box<dyn Parts<'a> + 'a>, Error> {
        Ok(Box::new(RowGroups { file: self, bytes: self.input.open()?, wanted, next: 0 }))
    }
}

struct RowGroups<'a> {
    file: &'a ParquetFile,
    bytes: Bytes,
    wanted: Wanted<'a>,
    next: usize,
}

impl<'a> Parts<'a> for RowGroups<'a> {
    fn next(&mut self) -> Result<Option<Part<'a>>, Error> {
        while self.next < self.file.metadata.metadata().num_row_groups() {
            let (file, group) = (self.file, self.next);
            self.next += 1;
            if !self.wanted.takes(group) {
                continue;
            }
            let (bytes, wanted) = (self.bytes.clone(), self.wanted.clone());
            // The first pages are read on the way to a reader, so that is left to the thread that has the part.
            let mut batches = None;
            let next = move || match &mut batches {
                Some(batches) => Iterator::next(batches),
                None => match guarded(|| file.batches(bytes.clone(), group, &wanted)) {
                    Ok(opened) => batches.insert(opened).next(),
                    Err(problem) => {
                        batches = Some(Box::new(std::iter::empty()));
                        Some(Err(file.input.damaged(problem)))
                    }
                },
            };
            return Ok(Some(Part {
                number: self.wanted.first + group,
                batches: Box::new(std::iter::from_fn(next)),
            }));
        }
        Ok(None)
    }

    fn count(&self) -> usize {
        self.next
    }
}

/// Reads the footer and settles the types: text and bytes as views, no dictionaries, everything else as it was written.
fn metadata(bytes: &Bytes) -> Result<ArrowReaderMetadata, ParquetError> {
    let written = ArrowReaderMetadata::load(bytes, ArrowReaderOptions::new());
    if let Ok(written) = written
        && let Ok(settled) = settle(&written)
    {
        return Ok(settled);
    }
    // The Arrow schema that the writer embedded does not fit its own file: what Parquet itself says does.
    settle(&ArrowReaderMetadata::load(bytes, ArrowReaderOptions::new().with_skip_arrow_metadata(true))?)
}

fn settle(written: &ArrowReaderMetadata) -> Result<ArrowReaderMetadata, ParquetError> {
    let roots = written.parquet_schema().root_schema().get_fields();
    let settled = |(nth, field): (usize, &Arc<Field>)| {
        let int96 = roots
            .get(nth)
            .is_some_and(|root| root.is_primitive() && root.get_physical_type() == Physical::INT96);
        let data_type = match field.data_type() {
            // Nanoseconds reach from 1677 to 2262 only, and 9999-12-31 is a common value: it would wrap around silently.
            DataType::Timestamp(TimeUnit::Nanosecond, zone) if int96 => {
                DataType::Timestamp(TimeUnit::Microsecond, zone.clone())
            }
            other => viewed(other),
        };
        field.as_ref().clone().with_data_type(data_type)
    };
    let fields: Fields = written.schema().fields().iter().enumerate().map(settled).collect();
    let schema = Arc::new(Schema::new_with_metadata(fields, written.schema().metadata().clone()));
    ArrowReaderMetadata::try_new(
        Arc::clone(written.metadata()),
        ArrowReaderOptions::new().with_schema(schema),
    )
}

fn viewed(data_type: &DataType) -> DataType {
    match data_type {
        DataType::Utf8 | DataType::LargeUtf8 => DataType::Utf8View,
        DataType::Binary | DataType::LargeBinary => DataType::BinaryView,
        DataType::Dictionary(_, values) => viewed(values),
        other => other.clone(),
    }
}
