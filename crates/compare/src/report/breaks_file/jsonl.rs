//! Break files as JSON lines.

use super::layout::Value;

/// Appends an object, every value a string, a number or null, always in the same order; names are quoted already.
pub(super) fn line(names: &[Vec<u8>], row: &[Value<'_>], out: &mut Vec<u8>) {
    let mut separator = b'{';
    for (name, value) in names.iter().zip(row) {
        out.push(separator);
        out.extend(name);
        out.push(b':');
        match value {
            Value::Null => out.extend(b"null"),
            Value::Text(text) => quote(text, out),
            Value::Number(number) => out.extend(number.to_string().into_bytes()),
        }
        separator = b',';
    }
    out.extend(b"}\n");
}

/// Appends a text as a JSON string.
pub(super) fn quote(text: &str, out: &mut Vec<u8>) {
    out.push(b'"');
    let is_plain = |byte: &u8| *byte >= b' ' && !matches!(byte, b'"' | b'\\');
    if text.as_bytes().iter().all(is_plain) {
        out.extend(text.as_bytes());
    } else {
        text.bytes().for_each(|byte| match byte {
            b'"' => out.extend(b"\\\""),
            b'\\' => out.extend(b"\\\\"),
            b'\n' => out.extend(b"\\n"),
            b'\r' => out.extend(b"\\r"),
            b'\t' => out.extend(b"\\t"),
            control if control < b' ' => out.extend(format!("\\u{control:04x}").into_bytes()),
            other => out.push(other),
        });
    }
    out.push(b'"');
}
