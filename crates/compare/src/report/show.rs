//! Values in the canonical form that reports show.

use std::fmt::Write;

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
    let mut shown = String::new();
    match &decoded.values {
        Values::Bytes(bytes) => write_shown_bytes(column.kind, bytes.value(row), &mut shown),
        _ => write_shown_number(column.kind, decoded.number(row, column.encoding)?, &mut shown),
    }
    Some(shown)
}

/// Appends a number, truth value, date or time in canonical form.
pub(crate) fn write_shown_number(kind: Kind, number: Number, out: &mut String) {
    let temporal = match kind {
        Kind::Boolean => return out.push_str(if number == Number::ZERO { "false" } else { "true" }),
        Kind::Null | Kind::Number | Kind::Text | Kind::Binary => {
            return write!(out, "{number}").expect("a text takes all that is written");
        }
        Kind::Date => TemporalKind::Date,
        Kind::Timestamp => TemporalKind::Timestamp,
        Kind::Instant => TemporalKind::Instant,
        Kind::Time => TemporalKind::Time,
    };
    out.push_str(&display_seconds(number, temporal));
}

/// Appends text as it is, binary in hexadecimal.
pub(crate) fn write_shown_bytes(kind: Kind, bytes: &[u8], out: &mut String) {
    if kind != Kind::Binary {
        return out.push_str(&String::from_utf8_lossy(bytes));
    }
    let digit = |nibble: u8| char::from(b"0123456789abcdef"[usize::from(nibble)]);
    out.extend(bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]));
}
