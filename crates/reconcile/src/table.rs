//! Lets a comparison read what `extract` opened.

use arrow_schema::SchemaRef;
use trueup_compare::{Part, Scan, Selection, Table, TableError};

use crate::shape::Shape;

/// A table that `extract` opened, in the shape that a job gives it.
pub(crate) struct SourceTable {
    pub(crate) opened: trueup_extract::Table,
    pub(crate) shape: Option<Shape>,
}

struct SourceScan<'a>(trueup_extract::Scan<'a>);

impl Table for SourceTable {
    fn schema(&self) -> SchemaRef {
        self.shape.as_ref().map_or_else(|| self.opened.schema(), Shape::schema)
    }

    fn rows_hint(&self) -> Option<u64> {
        self.opened.rows_hint()
    }

    fn scan<'a>(
        &'a self,
        columns: &[usize],
        only: Option<&'a Selection>,
    ) -> Result<Box<dyn Scan<'a> + 'a>, TableError> {
        match &self.shape {
            Some(shape) => Ok(Box::new(shape.scan(&self.opened, columns, only)?)),
            None => Ok(Box::new(SourceScan(self.opened.scan(columns, only)?))),
        }
    }

    fn place(&self, part: usize, row: usize) -> Result<String, TableError> {
        let row = match &self.shape {
            Some(shape) => shape.row(&self.opened, part, row)?,
            None => row,
        };
        Ok(self.opened.place(part, row)?)
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
