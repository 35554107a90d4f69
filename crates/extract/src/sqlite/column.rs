//! A column of SQLite, whose values may be of any class, as one type that holds all of them exactly.

use std::str::{Utf8Error, from_utf8};
use std::sync::Arc;

use arrow_array::builder::{BinaryViewBuilder, Float64Builder, Int64Builder, StringViewBuilder};
use arrow_array::{ArrayRef, new_null_array};
use arrow_schema::DataType;
use rusqlite::types::ValueRef;

use crate::keep::Filled;

const HEX: [u8; 16] = *b"0123456789abcdef";

/// The whole numbers that a float tells apart.
const EXACT: u64 = 1 << 53;

/// What all values of a column so far can be held by.
#[derive(Debug, Clone, Copy, Default)]
pub(super) enum Seen {
    #[default]
    Nothing,
    Integers {
        /// Whether some are beyond what a float tells apart.
        are_long: bool,
    },
    Numbers,
    Blobs,
    Anything,
}

impl Seen {
    pub(super) fn look_at(&mut self, value: ValueRef<'_>) {
        let is_long = |number: i64| number.unsigned_abs() > EXACT;
        *self = match (*self, value) {
            (seen, ValueRef::Null) => seen,
            (Self::Nothing, ValueRef::Integer(number)) => Self::Integers { are_long: is_long(number) },
            (Self::Integers { are_long }, ValueRef::Integer(number)) => {
                Self::Integers { are_long: are_long || is_long(number) }
            }
            (Self::Numbers, ValueRef::Integer(number)) if !is_long(number) => Self::Numbers,
            (Self::Nothing | Self::Numbers | Self::Integers { are_long: false }, ValueRef::Real(_)) => {
                Self::Numbers
            }
            (Self::Nothing | Self::Blobs, ValueRef::Blob(_)) => Self::Blobs,
            _ => Self::Anything,
        };
    }

    /// The type that holds all of it; text, where there is no other.
    pub(super) fn data_type(self) -> DataType {
        match self {
            Self::Nothing => DataType::Null,
            Self::Integers { .. } => DataType::Int64,
            Self::Numbers => DataType::Float64,
            Self::Blobs => DataType::BinaryView,
            Self::Anything => DataType::Utf8View,
        }
    }
}

/// Why a value cannot be added to a column.
#[derive(Debug, thiserror::Error)]
pub(super) enum Unheld {
    /// It is no text.
    #[error(transparent)]
    Utf8(#[from] Utf8Error),
    /// Nothing like it was there at the first reading, though both are of the same moment.
    #[error("the query gives other values each time, as with random(); make it give the same")]
    Changed,
}

/// The values of a part.
pub(super) enum Column {
    Null(usize),
    Integers(Int64Builder),
    Floats(Float64Builder),
    Text(StringViewBuilder),
    Blobs(BinaryViewBuilder),
}

impl Column {
    pub(super) fn of(seen: Seen) -> Self {
        match seen {
            Seen::Nothing => Self::Null(0),
            Seen::Integers { .. } => Self::Integers(Int64Builder::new()),
            Seen::Numbers => Self::Floats(Float64Builder::new()),
            Seen::Blobs => Self::Blobs(BinaryViewBuilder::new()),
            Seen::Anything => Self::Text(StringViewBuilder::new()),
        }
    }

    /// Adds a value.
    pub(super) fn push(&mut self, value: ValueRef<'_>) -> Result<(), Unheld> {
        match (self, value) {
            (Self::Null(count), ValueRef::Null) => *count += 1,
            (Self::Integers(values), ValueRef::Null) => values.append_null(),
            (Self::Integers(values), ValueRef::Integer(number)) => values.append_value(number),
            (Self::Floats(values), ValueRef::Null) => values.append_null(),
            (Self::Floats(values), ValueRef::Integer(number)) => values.append_value(number as f64),
            (Self::Floats(values), ValueRef::Real(real)) => values.append_value(real),
            (Self::Blobs(values), ValueRef::Null) => values.append_null(),
            (Self::Blobs(values), ValueRef::Blob(bytes)) => values.append_value(bytes),
            (Self::Text(values), ValueRef::Null) => values.append_null(),
            (Self::Text(values), ValueRef::Text(text)) => values.append_value(from_utf8(text)?),
            (Self::Text(values), ValueRef::Integer(number)) => values.append_value(number.to_string()),
            (Self::Text(values), ValueRef::Real(real)) => values.append_value(format!("{real:?}")),
            (Self::Text(values), ValueRef::Blob(bytes)) => {
                let digits = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
                values.append_value(
                    digits.map(|digit| char::from(HEX[usize::from(digit)])).collect::<String>(),
                );
            }
            _ => return Err(Unheld::Changed),
        }
        Ok(())
    }
}

impl Filled for Column {
    fn finish(&mut self) -> ArrayRef {
        match self {
            Self::Null(count) => new_null_array(&DataType::Null, std::mem::take(count)),
            Self::Integers(values) => Arc::new(values.finish()),
            Self::Floats(values) => Arc::new(values.finish()),
            Self::Text(values) => Arc::new(values.finish()),
            Self::Blobs(values) => Arc::new(values.finish()),
        }
    }
}
