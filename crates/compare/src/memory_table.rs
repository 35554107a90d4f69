//! A table that is in memory already.

use std::sync::atomic::{AtomicUsize, Ordering};

use arrow_array::{BooleanArray, RecordBatch};
use arrow_schema::SchemaRef;
use arrow_select::filter::filter_record_batch;

use crate::table::{Part, Scan, Selection, Table, TableError};

/// A table that is in memory already, as parts of batches.
#[derive(Debug, Clone)]
pub struct MemoryTable {
    parts: Vec<Vec<RecordBatch>>,
    schema: SchemaRef,
}

impl MemoryTable {
    /// Takes batches that all have the given schema.
    #[must_use]
    pub fn new(parts: Vec<Vec<RecordBatch>>, schema: SchemaRef) -> Self {
        Self { parts, schema }
    }
}

impl Table for MemoryTable {
    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    fn rows_hint(&self) -> Option<u64> {
        Some(self.parts.iter().flatten().map(|batch| batch.num_rows() as u64).sum())
    }

    fn scan<'a>(
        &'a self,
        columns: &[usize],
        only: Option<&'a Selection>,
    ) -> Result<Box<dyn Scan<'a> + 'a>, TableError> {
        Ok(Box::new(MemoryScan { table: self, columns: columns.to_vec(), only, next: AtomicUsize::new(0) }))
    }

    fn place(&self, part: usize, row: usize) -> Result<String, TableError> {
        let before: usize = self.parts.iter().take(part).flatten().map(RecordBatch::num_rows).sum();
        Ok(format!("row {}", before + row + 1))
    }
}

struct MemoryScan<'a> {
    table: &'a MemoryTable,
    columns: Vec<usize>,
    only: Option<&'a Selection>,
    next: AtomicUsize,
}

impl<'a> Scan<'a> for MemoryScan<'a> {
    fn next_part(&self) -> Result<Option<Part<'a>>, TableError> {
        loop {
            let number = self.next.fetch_add(1, Ordering::Relaxed);
            let Some(batches) = self.table.parts.get(number) else {
                return Ok(None);
            };
            let wanted = match self.only {
                None => None,
                Some(only) => match only.get(&number) {
                    None => continue,
                    wanted => wanted,
                },
            };
            let columns = self.columns.clone();
            let mut row = 0;
            let batches = batches.iter().map(move |batch| -> Result<RecordBatch, TableError> {
                let batch_columns = batch.project(&columns)?;
                let first = row;
                row += batch.num_rows();
                let Some(wanted) = wanted else {
                    return Ok(batch_columns);
                };
                let mask = BooleanArray::new(wanted.slice(first, batch.num_rows()), None);
                Ok(filter_record_batch(&batch_columns, &mask)?)
            });
            return Ok(Some(Part { number, batches: Box::new(batches) }));
        }
    }
}
