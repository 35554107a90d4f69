//! Builds text columns whose values point into the chunk they were read from.

use std::sync::Arc;

use arrow_array::builder::make_view;
use arrow_array::{ArrayRef, RecordBatch, RecordBatchOptions, StringViewArray};
use arrow_buffer::{BooleanBufferBuilder, Buffer, NullBuffer, ScalarBuffer};
use arrow_schema::{ArrowError, SchemaRef};

/// A value of up to so many bytes is held by its view.
const INLINE: usize = 12;

/// After so many rows it is remembered where the next one starts.
pub(crate) const LANDMARK_ROWS: usize = 64;

/// Marks a field of the file that nobody asked for.
const UNWANTED: usize = usize::MAX;

/// The bits that a value of so many bytes has.
const MASKS: [u128; INLINE + 1] = {
    let mut masks = [0; INLINE + 1];
    let mut len = 1;
    while len <= INLINE {
        masks[len] = (1 << (8 * len)) - 1;
        len += 1;
    }
    masks
};

/// Which fields of a file become which columns.
pub(crate) struct Layout {
    /// The column that a field fills, or [`UNWANTED`].
    slots: Vec<usize>,
    /// The column that comes at each place of the batch; one may come twice.
    order: Vec<usize>,
    columns: usize,
    schema: SchemaRef,
}

impl Layout {
    pub(crate) fn new(fields: usize, wanted: &[usize], schema: SchemaRef) -> Self {
        let mut slots = vec![UNWANTED; fields];
        let mut columns = 0;
        for &field in wanted {
            if slots[field] == UNWANTED {
                slots[field] = columns;
                columns += 1;
            }
        }
        let order = wanted.iter().map(|&field| slots[field]).collect();
        Self { slots, order, columns, schema }
    }

    pub(crate) fn fields(&self) -> usize {
        self.slots.len()
    }
}

#[derive(Default)]
struct Column {
    views: Vec<u128>,
    /// The rows that are NULL, which are few or none in most columns.
    nulls: Vec<usize>,
}

/// The columns of one chunk.
pub(crate) struct Columns<'l> {
    layout: &'l Layout,
    filled: Vec<Column>,
    /// Values that are not in the chunk as they are meant, such as those with escapes.
    rewritten: Vec<u8>,
    rows: usize,
    /// Where every [`LANDMARK_ROWS`]th row starts, but for the first.
    landmarks: Vec<u32>,
}

impl<'l> Columns<'l> {
    /// Starts with room for the rows that a chunk of that many bytes may have.
    pub(crate) fn new(layout: &'l Layout, chunk_len: usize) -> Self {
        let rows = chunk_len / (8 * layout.fields().max(1));
        let column = || Column { views: Vec::with_capacity(rows), nulls: Vec::new() };
        Self {
            layout,
            filled: (0..layout.columns).map(|_| column()).collect(),
            rewritten: Vec::new(),
            rows: 0,
            landmarks: Vec::new(),
        }
    }

    /// How many fields a record of the file has.
    pub(crate) fn fields(&self) -> usize {
        self.layout.fields()
    }

    /// Whether a field was asked for.
    #[inline]
    pub(crate) fn wants(&self, field: usize) -> bool {
        self.slot(field) < self.filled.len()
    }

    #[inline]
    fn slot(&self, field: usize) -> usize {
        self.layout.slots.get(field).copied().unwrap_or(UNWANTED)
    }

    /// Adds `chunk[start..end]`, after which there are 16 more bytes.
    #[inline]
    pub(crate) fn push(&mut self, field: usize, chunk: &[u8], start: usize, end: usize) {
        let slot = self.slot(field);
        if let Some(column) = self.filled.get_mut(slot) {
            column.views.push(view(chunk, start, end - start));
        }
    }

    #[inline]
    pub(crate) fn push_null(&mut self, field: usize) {
        let slot = self.slot(field);
        if let Some(column) = self.filled.get_mut(slot) {
            column.nulls.push(column.views.len());
            column.views.push(0);
        }
    }

    /// Adds a value that `write` appends to the bytes it gets.
    pub(crate) fn push_rewritten<T>(&mut self, field: usize, write: impl FnOnce(&mut Vec<u8>) -> T) -> T {
        let start = self.rewritten.len();
        let written = write(&mut self.rewritten);
        let slot = self.slot(field);
        if let Some(column) = self.filled.get_mut(slot) {
            column.views.push(make_view(&self.rewritten[start..], 1, offset(start)));
        }
        written
    }

    /// Ends a row, every column of which has a value; the next one starts there in the chunk.
    #[inline]
    pub(crate) fn end_row(&mut self, next: usize) {
        self.rows += 1;
        if self.rows.is_multiple_of(LANDMARK_ROWS) {
            self.landmarks.push(offset(next));
        }
    }

    /// Where every [`LANDMARK_ROWS`]th row starts, but for the first, if every row was read.
    pub(crate) fn landmarks(&self) -> &[u32] {
        &self.landmarks
    }

    /// Gives the fields that the row in progress lacks a NULL, and ends it.
    pub(crate) fn fill_row(&mut self) {
        for column in &mut self.filled {
            if column.views.len() == self.rows {
                column.nulls.push(self.rows);
                column.views.push(0);
            }
        }
        self.rows += 1;
    }

    /// Makes the batch, whose text is in the given chunk.
    pub(crate) fn finish(self, chunk: &Buffer) -> Result<RecordBatch, ArrowError> {
        let buffers: Arc<[Buffer]> = if self.rewritten.is_empty() {
            [chunk.clone()].into()
        } else {
            [chunk.clone(), Buffer::from_vec(self.rewritten)].into()
        };
        let array = |column: Column| {
            let nulls = nulls(column.views.len(), &column.nulls);
            text_array(column.views, Arc::clone(&buffers), nulls)
        };
        let arrays: Vec<ArrayRef> =
            self.filled.into_iter().map(|column| Arc::new(array(column)) as ArrayRef).collect();
        let ordered = self.layout.order.iter().map(|&slot| Arc::clone(&arrays[slot])).collect();
        let options = RecordBatchOptions::new().with_row_count(Some(self.rows));
        RecordBatch::try_new_with_options(Arc::clone(&self.layout.schema), ordered, &options)
    }
}

/// An array of views that were made here, without checking each of them once more.
///
/// Checking took 41 % of the time that reading a CSV file takes (`perf record`, 1 million rows of 8 columns).
#[expect(unsafe_code, reason = "every chunk is checked as a whole; `checked_again` proves it in tests")]
fn text_array(views: Vec<u128>, buffers: Arc<[Buffer]>, nulls: Option<NullBuffer>) -> StringViewArray {
    debug_assert!(checked_again(&views, &buffers), "a view is out of its buffer, or cuts a character");
    // SAFETY: each view is zero (the empty text of a NULL) or was made by `view` or `make_view` from a range of the chunk
    // or of `rewritten`, so it is in bounds and its prefix is right; neither is longer than `MOST_CHUNK_BYTES` and a record,
    // so offsets fit; both are UTF-8 as a whole, and the ranges begin and end beside ASCII delimiters.
    unsafe { StringViewArray::new_unchecked(ScalarBuffer::from(views), buffers, nulls) }
}

/// What is left unchecked in a release build; every test of a text format goes through here.
fn checked_again(views: &[u128], buffers: &Arc<[Buffer]>) -> bool {
    StringViewArray::try_new(ScalarBuffer::from(views.to_vec()), Arc::clone(buffers), None).is_ok()
}

/// The view of a value in the chunk: one load of 16 bytes instead of a copy of as many as there are.
#[inline]
fn view(chunk: &[u8], start: usize, len: usize) -> u128 {
    let Some(head) = chunk[start..].first_chunk::<16>() else {
        return make_view(&chunk[start..start + len], 0, offset(start));
    };
    let head = u128::from_le_bytes(*head);
    match MASKS.get(len) {
        Some(mask) => ((head & mask) << 32) | len as u128,
        None => (u128::from(offset(start)) << 96) | ((head & MASKS[4]) << 32) | len as u128,
    }
}

/// Chunks and what is rewritten of them stay far below 4 GiB, since records are limited.
#[inline]
fn offset(start: usize) -> u32 {
    debug_assert!(u32::try_from(start).is_ok(), "a chunk has less than 4 GiB");
    #[expect(clippy::cast_possible_truncation, reason = "a chunk has less than 4 GiB")]
    let offset = start as u32;
    offset
}

fn nulls(rows: usize, at: &[usize]) -> Option<NullBuffer> {
    if at.is_empty() {
        return None;
    }
    let mut present = BooleanBufferBuilder::new(rows);
    present.append_n(rows, true);
    for &row in at {
        present.set_bit(row, false);
    }
    Some(NullBuffer::new(present.finish()))
}
