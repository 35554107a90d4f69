//! Break files as JSON lines.

use std::io::{self, Write};

/// Writes one object per line, every value a string or null, always in the same order.
pub(super) struct Sink<W> {
    output: W,
    names: Vec<String>,
}

impl<W: Write> Sink<W> {
    pub(super) fn start(output: W, header: &[String]) -> Self {
        let names = header.iter().map(|name| quoted(name)).collect();
        Self { output, names }
    }

    pub(super) fn write(&mut self, row: &[Option<&str>]) -> io::Result<()> {
        let mut separator = '{';
        for (name, field) in self.names.iter().zip(row) {
            let value = field.map_or_else(|| "null".to_owned(), quoted);
            write!(self.output, "{separator}{name}:{value}")?;
            separator = ',';
        }
        self.output.write_all(b"}\n")
    }

    pub(super) fn finish(self) -> W {
        self.output
    }
}

fn quoted(text: &str) -> String {
    let mut json = String::with_capacity(text.len() + 2);
    json.push('"');
    for character in text.chars() {
        match character {
            '"' => json.push_str("\\\""),
            '\\' => json.push_str("\\\\"),
            '\n' => json.push_str("\\n"),
            '\r' => json.push_str("\\r"),
            '\t' => json.push_str("\\t"),
            control if control < ' ' => json.extend([format!("\\u{:04x}", u32::from(control))]),
            other => json.push(other),
        }
    }
    json.push('"');
    json
}
