//! Reads a table in its shape, so that part and row mean the same in every scan.

use std::sync::{Arc, OnceLock, PoisonError};

use arrow_array::cast::AsArray;
use arrow_array::{ArrayRef, BooleanArray, RecordBatch, RecordBatchOptions};
use arrow_buffer::{BooleanBuffer, BooleanBufferBuilder};
use arrow_schema::{Schema, SchemaRef};
use arrow_select::filter::FilterBuilder;
use trueup_compare::{Part, Scan, Selection, TableError};

use super::cast::rewritten;
use super::{Chosen, Shape, text_reader::NotRead};

/// A value that a cast or a filter can make nothing of.
#[derive(Debug, thiserror::Error)]
#[error("{place}: {problem}")]
pub(crate) struct WrongValue {
    place: String,
    problem: String,
}

impl Shape {
    /// Starts reading columns of a table; chosen rows are counted among those kept.
    pub(crate) fn scan<'a>(
        &'a self,
        table: &'a trueup_extract::Table,
        columns: &[usize],
        only: Option<&'a Selection>,
    ) -> Result<ShapedScan<'a>, TableError> {
        let only = match only {
            Some(only) if self.condition.is_some() => Some(self.chosen(only)?),
            only => only,
        };
        let mut read = columns.to_vec();
        let mut looked_at = Vec::new();
        let condition = self.condition.as_ref().filter(|_| only.is_none());
        for column in condition.map_or(&[][..], |condition| condition.columns()) {
            looked_at.push(read.iter().position(|known| known == column).unwrap_or(read.len()));
            if !read.contains(column) {
                read.push(*column);
            }
        }
        let fields: Vec<_> =
            columns.iter().map(|column| Arc::clone(&self.schema.fields()[*column])).collect();
        let schema = Arc::new(Schema::new(fields));
        let inner = table.scan(&read, only)?;
        Ok(ShapedScan { shape: self, table, inner, read, looked_at, schema, only })
    }

    /// The row of the table that a row among those kept is.
    pub(crate) fn row(
        &self,
        table: &trueup_extract::Table,
        part: usize,
        row: usize,
    ) -> Result<usize, TableError> {
        if self.condition.is_none() {
            return Ok(row);
        }
        let found = |shape: &Self| shape.kept(part).and_then(|kept| kept.set_indices().nth(row));
        if let Some(row) = found(self) {
            return Ok(row);
        }
        // Whoever asks may not have come to the end of the part yet.
        let scan = self.scan(table, &[], None)?;
        while let Some(Part { number, batches }) = scan.next_part()? {
            if number == part {
                for batch in batches {
                    batch?;
                }
                break;
            }
        }
        found(self).ok_or_else(|| "the row is no longer there".into())
    }

    fn kept(&self, part: usize) -> Option<BooleanBuffer> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).get(&part).cloned()
    }

    /// Rows chosen among those kept as rows of the table.
    fn chosen(&self, only: &Selection) -> Result<&Selection, TableError> {
        let mut rows = Selection::with_capacity(only.len());
        for (part, chosen) in only {
            let kept = self.kept(*part).ok_or("rows were chosen before they were read")?;
            let mut of_table = BooleanBufferBuilder::new(kept.len());
            of_table.append_n(kept.len(), false);
            for (nth, row) in kept.set_indices().enumerate() {
                if nth < chosen.len() && chosen.value(nth) {
                    of_table.set_bit(row, true);
                }
            }
            rows.insert(*part, of_table.finish());
        }
        Ok(self.remember(rows))
    }

    fn remember(&self, rows: Selection) -> &Selection {
        let mut link = Box::new(Chosen { rows, next: OnceLock::new() });
        let mut slot = &self.chosen;
        loop {
            match slot.set(link) {
                Ok(()) => return &slot.wait().rows,
                Err(back) => link = back,
            }
            slot = &slot.wait().next;
        }
    }
}

/// One reading of a table in its shape.
pub(crate) struct ShapedScan<'a> {
    shape: &'a Shape,
    table: &'a trueup_extract::Table,
    inner: trueup_extract::Scan<'a>,
    /// The columns that are wanted, and behind them others that the filter looks at.
    read: Vec<usize>,
    /// Where the filter finds its columns among these.
    looked_at: Vec<usize>,
    /// The columns that are wanted.
    schema: SchemaRef,
    only: Option<&'a Selection>,
}

impl<'a> Scan<'a> for ShapedScan<'a> {
    fn next_part(&self) -> Result<Option<Part<'a>>, TableError> {
        let Some(trueup_extract::Part { number, batches }) = self.inner.next_part()? else { return Ok(None) };
        let filters = self.shape.condition.is_some() && self.only.is_none();
        let batches = ShapedBatches {
            shape: self.shape,
            table: self.table,
            inner: batches,
            read: self.read.clone(),
            looked_at: self.looked_at.clone(),
            schema: Arc::clone(&self.schema),
            part: number,
            row: 0,
            kept: filters.then(|| BooleanBufferBuilder::new(0)),
            only: self.only.and_then(|only| only.get(&number)),
        };
        Ok(Some(Part { number, batches: Box::new(batches) }))
    }
}

/// The batches of a part.
struct ShapedBatches<'a> {
    shape: &'a Shape,
    table: &'a trueup_extract::Table,
    inner: trueup_extract::Batches<'a>,
    read: Vec<usize>,
    looked_at: Vec<usize>,
    schema: SchemaRef,
    part: usize,
    /// How many rows were read.
    row: usize,
    /// Which of them are kept, where that is not known before.
    kept: Option<BooleanBufferBuilder>,
    /// The rows that are read, if not all are.
    only: Option<&'a BooleanBuffer>,
}

impl Iterator for ShapedBatches<'_> {
    type Item = Result<RecordBatch, TableError>;

    fn next(&mut self) -> Option<Self::Item> {
        let shaped = match self.inner.next() {
            Some(Ok(batch)) => self.shaped(&batch),
            Some(Err(error)) => Err(error.into()),
            None => {
                if let Some(mut kept) = self.kept.take() {
                    let mut known = self.shape.kept.lock().unwrap_or_else(PoisonError::into_inner);
                    known.insert(self.part, kept.finish());
                }
                return None;
            }
        };
        if shaped.is_err() {
            self.kept = None;
        }
        Some(shaped)
    }
}

impl ShapedBatches<'_> {
    fn shaped(&mut self, batch: &RecordBatch) -> Result<RecordBatch, TableError> {
        let rows = batch.num_rows();
        let mut arrays = Vec::with_capacity(self.read.len());
        for (index, array) in self.read.iter().zip(batch.columns()) {
            arrays.push(self.cast(*index, array)?);
        }
        let kept = self.filter(&arrays, rows)?;
        self.row += rows;
        arrays.truncate(self.schema.fields().len());
        let mut count = rows;
        if let Some(kept) = kept.filter(|kept| kept.count_set_bits() < rows) {
            count = kept.count_set_bits();
            let filter = FilterBuilder::new(&BooleanArray::new(kept, None)).optimize().build();
            for array in &mut arrays {
                *array = filter.filter(array)?;
            }
        }
        for (index, array) in self.read.iter().zip(&mut arrays) {
            if self.shape.numeral_columns.contains(index) {
                *array = self.numerals(array)?;
            }
        }
        let options = RecordBatchOptions::new().with_row_count(Some(count));
        Ok(RecordBatch::try_new_with_options(Arc::clone(&self.schema), arrays, &options)?)
    }

    fn cast(&self, index: usize, array: &ArrayRef) -> Result<ArrayRef, TableError> {
        let Some(cast) = self.shape.casts.get(&index) else { return Ok(Arc::clone(array)) };
        cast.read(array).map_err(|uncast| {
            let column = &self.shape.names[index];
            let problem = format!("column `{column}`: `{}` {}", uncast.value, uncast.problem);
            self.wrong(uncast.row, problem)
        })
    }

    /// Which rows are kept, unless that is known already.
    fn filter(&mut self, arrays: &[ArrayRef], rows: usize) -> Result<Option<BooleanBuffer>, TableError> {
        let (Some(condition), Some(before)) = (&self.shape.condition, &mut self.kept) else {
            return Ok(None);
        };
        let columns: Vec<ArrayRef> = self.looked_at.iter().map(|at| Arc::clone(&arrays[*at])).collect();
        match condition.kept(&columns, rows) {
            Ok(kept) => {
                before.append_buffer(&kept);
                Ok(Some(kept))
            }
            Err(undecided) => Err(self.wrong(undecided.row, format!("filter: {}", undecided.problem))),
        }
    }

    /// A column of numbers as everybody else writes them here.
    fn numerals(&self, array: &ArrayRef) -> Result<ArrayRef, TableError> {
        let texts = trueup_compare::single::plain(array)?;
        let numerals = rewritten(texts.as_string_view(), |text| {
            self.shape.numerals.plain(text).ok_or_else(|| NotRead(String::new()))
        });
        // A survey of the whole column has found nothing but numbers.
        Ok(Arc::new(numerals.map_err(|_| "it changed while it was being read")?))
    }

    fn wrong(&self, row: usize, problem: String) -> TableError {
        let row = self.row + row;
        let of_table = self.only.map_or(Some(row), |only| only.set_indices().nth(row));
        match self.table.place(self.part, of_table.unwrap_or(row)) {
            Ok(place) => WrongValue { place, problem }.into(),
            Err(error) => error.into(),
        }
    }
}
