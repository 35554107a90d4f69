//! Break files as CSV.

use super::layout::Value;

/// Appends a line of RFC 4180; NULL is an empty field, the empty text a quoted one.
pub(super) fn line(row: &[Value<'_>], out: &mut Vec<u8>) {
    for (position, value) in row.iter().enumerate() {
        if position > 0 {
            out.push(b',');
        }
        match value {
            Value::Null => {}
            Value::Text(text) => field(text, out),
            Value::Number(number) => out.extend(number.to_string().into_bytes()),
        }
    }
    out.push(b'\n');
}

fn field(text: &str, out: &mut Vec<u8>) {
    // White space at the ends is quoted too: many readers strip it from bare fields.
    let special = |byte: &u8| matches!(byte, b',' | b'"' | b'\n' | b'\r');
    if !text.is_empty() && text.trim().len() == text.len() && !text.as_bytes().iter().any(special) {
        out.extend(text.as_bytes());
        return;
    }
    out.push(b'"');
    for (number, piece) in text.split('"').enumerate() {
        if number > 0 {
            out.extend(b"\"\"");
        }
        out.extend(piece.as_bytes());
    }
    out.push(b'"');
}
