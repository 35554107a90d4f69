//! Values in the canonical form that reports show.

use crate::decode::{Decoded, Values, display_seconds};
use crate::kind::Kind;
use crate::number::Number;
use crate::plan::Column;
use crate::temporal::TemporalKind;

/// The value at a row in canonical form; `None` for NULL.
pub(crate) fn show(column: &Column, decoded: &Decoded, row: usize) -> Option<String> {
    if decoded.is_null(row) {
        return None;
    }
    match &decoded.values {
        Values::Bytes(bytes) => Some(show_bytes(column.kind, bytes.value(row))),
        _ => decoded.number(row, column.encoding).map(|number| show_number(column.kind, number)),
    }
}

/// A number, truth value, date or time in canonical form.
pub(crate) fn show_number(kind: Kind, number: Number) -> String {
    match kind {
        Kind::Boolean => (number != Number::ZERO).to_string(),
        Kind::Date => display_seconds(number, TemporalKind::Date),
        Kind::Timestamp => display_seconds(number, TemporalKind::Timestamp),
        Kind::Instant => display_seconds(number, TemporalKind::Instant),
        Kind::Time => display_seconds(number, TemporalKind::Time),
        Kind::Null | Kind::Number | Kind::Text | Kind::Binary => number.to_string(),
    }
}

/// Text as it is, binary in hexadecimal.
pub(crate) fn show_bytes(kind: Kind, bytes: &[u8]) -> String {
    if kind != Kind::Binary {
        return String::from_utf8_lossy(bytes).into_owned();
    }
    let digit = |nibble: u8| char::from(b"0123456789abcdef"[usize::from(nibble)]);
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}
