//! Lets a comparison read what `extract` opened.

use arrow_schema::SchemaRef;
use trueup_compare::{Part, Scan, Selection, Table, TableError};

/// A table that `extract` opened.
pub(crate) struct SourceTable(pub trueup_extract::Table);

struct SourceScan<'a>(trueup_extract::Scan<'a>);

impl Table for SourceTable {
    fn schema(&self) -> SchemaRef {
        self.0.schema()
    }

    fn rows_hint(&self) -> Option<u64> {
        self.0.rows_hint()
    }

    fn scan<'a>(
        &'a self,
        columns: &[usize],
        only: Option<&'a Selection>,
    ) -> Result<Box<dyn Scan<'a> + 'a>, TableError> {
        Ok(Box::new(SourceScan(self.0.scan(columns, only)?)))
    }

    fn place(&self, part: usize, row: usize) -> Result<String, TableError> {
        Ok(self.0.place(part, row)?)
    }
}

impl<'a> Scan<'a> for SourceScan<'a> {
    fn next_part(&self) -> Result<Option<Part<'a>>, TableError> {
        let part = self.0.next_part()?;
        Ok(part.map(|part| Part {
            number: part.number,
            batches: Box::new(part.batches.map(|batch| batch.map_err(TableError::from))),
        }))
    }
}
