//! What a comparison reads from: tables that can be scanned in parallel, and scanned again for chosen rows.

use std::collections::HashMap;

use arrow_array::RecordBatch;
use arrow_buffer::BooleanBuffer;
use arrow_schema::SchemaRef;

/// The error of whatever is behind a [`Table`]; it names file, line and column itself.
pub type TableError = Box<dyn std::error::Error + Send + Sync>;

/// The batches of one part, in order.
pub type Batches<'a> = Box<dyn Iterator<Item = Result<RecordBatch, TableError>> + Send + 'a>;

/// The rows wanted of each part, by part number; parts not listed are not wanted at all.
pub type Selection = HashMap<usize, BooleanBuffer>;

/// A table that can be read more than once, each time in the same parts with the same rows in the same order.
pub trait Table: Send + Sync {
    /// The columns, before any renaming.
    fn schema(&self) -> SchemaRef;

    /// How many rows to expect, where that is known or can be guessed; only sizes depend on it.
    fn rows_hint(&self) -> Option<u64>;

    /// Starts reading the given columns (indices into the schema, in that order), all rows or only the chosen.
    ///
    /// # Errors
    /// Whatever keeps the table from being opened.
    fn scan<'a>(
        &'a self,
        columns: &[usize],
        only: Option<&'a Selection>,
    ) -> Result<Box<dyn Scan<'a> + 'a>, TableError>;

    /// Where a row of a part is, for people: `bank.csv, line 17`; asked for a few rows only.
    ///
    /// # Errors
    /// Whatever keeps the row from being found again.
    fn place(&self, part: usize, row: usize) -> Result<String, TableError>;
}

/// One reading of a table, shared by the threads that do it.
pub trait Scan<'a>: Send + Sync {
    /// The next part that nobody has taken yet.
    ///
    /// # Errors
    /// Whatever keeps the part from being found.
    fn next_part(&self) -> Result<Option<Part<'a>>, TableError>;
}

/// A piece of a table that one thread reads.
pub struct Part<'a> {
    /// The same for the same rows in every scan of the table.
    pub number: usize,
    /// The rows, in order; with a selection, only the chosen ones.
    pub batches: Batches<'a>,
}
