//! Break files as CSV.

use std::io::{self, Write};

/// Writes lines of RFC 4180; NULL is an empty field, the empty text a quoted one.
pub(super) struct Sink<W> {
    output: W,
}

impl<W: Write> Sink<W> {
    pub(super) fn start(output: W, header: &[String]) -> io::Result<Self> {
        let mut sink = Self { output };
        let names: Vec<Option<&str>> = header.iter().map(|name| Some(name.as_str())).collect();
        sink.write(&names)?;
        Ok(sink)
    }

    pub(super) fn write(&mut self, row: &[Option<&str>]) -> io::Result<()> {
        for (position, field) in row.iter().enumerate() {
            if position > 0 {
                self.output.write_all(b",")?;
            }
            if let Some(text) = field {
                self.field(text)?;
            }
        }
        self.output.write_all(b"\n")
    }

    fn field(&mut self, text: &str) -> io::Result<()> {
        // White space at the ends is quoted too: many readers strip it from bare fields.
        let bare =
            !text.is_empty() && text.trim().len() == text.len() && !text.contains([',', '"', '\n', '\r']);
        if bare {
            return self.output.write_all(text.as_bytes());
        }
        write!(self.output, "\"{}\"", text.replace('"', "\"\""))
    }

    pub(super) fn finish(self) -> W {
        self.output
    }
}
