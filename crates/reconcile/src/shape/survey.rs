//! Finds the text columns that hold nothing but numbers, in a source that writes them in a way of its own.
//!
//! A comparison reads text as a number only if all of its column are numbers, so a value cannot be rewritten before all are known.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};

use arrow_array::cast::AsArray;
use arrow_array::{Array, RecordBatch};
use trueup_compare::{Number, NumeralError, Scan as _, TableError, single};

use super::{Shape, is_text};

/// What is known of a text column so far.
struct Column {
    index: usize,
    has_number: AtomicBool,
    is_text: AtomicBool,
}

impl Shape {
    /// Reads the rows that are kept once, if there is a need to, so that numbers are known as such.
    pub(crate) fn survey(
        &mut self,
        table: &trueup_extract::Table,
        is_stopped: &(dyn Fn() -> bool + Sync),
    ) -> Result<(), TableError> {
        if self.numerals.are_plain() {
            return Ok(());
        }
        let is_open = |index: &usize| {
            let is_text = is_text(self.schema.field(*index).data_type());
            is_text && !self.casts.contains_key(index) && !self.dates.contains(index)
        };
        let indices: Vec<usize> = (0..self.schema.fields().len()).filter(is_open).collect();
        let columns: Vec<Column> = indices.iter().map(|index| Column::new(*index)).collect();
        let scan = self.scan(table, &indices, None)?;
        let read = || -> Result<(), TableError> {
            while let Some(part) = scan.next_part()? {
                for batch in part.batches {
                    if is_stopped() {
                        return Err(trueup_extract::Error::Stopped.into());
                    }
                    self.observe(&columns, &batch?)?;
                }
            }
            Ok(())
        };
        std::thread::scope(|scope| {
            let readers: Vec<_> = (0..self.threads.max(1)).map(|_| scope.spawn(read)).collect();
            let ends = readers
                .into_iter()
                .map(|reader| reader.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
            ends.collect::<Result<(), TableError>>()
        })?;
        drop(scan);
        self.numeral_columns =
            columns.iter().filter(|column| column.holds_numbers()).map(|it| it.index).collect::<HashSet<_>>();
        Ok(())
    }

    fn observe(&self, columns: &[Column], batch: &RecordBatch) -> Result<(), TableError> {
        for (column, array) in columns.iter().zip(batch.columns()) {
            if column.is_text.load(Ordering::Relaxed) || array.null_count() == array.len() {
                continue;
            }
            let array = single::plain(array)?;
            for text in array.as_string_view().iter().flatten() {
                match self.numerals.read(text) {
                    Ok(Number::Finite(_))
                    | Err(NumeralError::TooManyDigits | NumeralError::ExponentOutOfRange) => {
                        column.has_number.store(true, Ordering::Relaxed);
                    }
                    Ok(_) => {}
                    Err(_) => {
                        column.is_text.store(true, Ordering::Relaxed);
                        break;
                    }
                }
            }
        }
        Ok(())
    }
}

impl Column {
    fn new(index: usize) -> Self {
        Self { index, has_number: AtomicBool::new(false), is_text: AtomicBool::new(false) }
    }

    fn holds_numbers(&self) -> bool {
        self.has_number.load(Ordering::Relaxed) && !self.is_text.load(Ordering::Relaxed)
    }
}
