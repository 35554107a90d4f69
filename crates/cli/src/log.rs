//! What is logged, a line each, to standard error.

use std::io::{self, Write, stderr};

use tracing_subscriber::filter::LevelFilter;

/// Logs from now on what is at least so grave.
pub(crate) fn start(level: LevelFilter) {
    tracing_subscriber::fmt()
        .with_max_level(level)
        .with_target(false)
        .with_ansi(false)
        .with_writer(|| OneLine)
        .init();
}

/// Standard error, on which a record stays one line whatever an error or a child process said.
struct OneLine;

impl Write for OneLine {
    /// Takes a whole record, as it is given one.
    fn write(&mut self, record: &[u8]) -> io::Result<usize> {
        stderr().lock().write_all(&one_line(record))?;
        Ok(record.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        stderr().lock().flush()
    }
}

fn one_line(record: &[u8]) -> Vec<u8> {
    let text = record.strip_suffix(b"\n").unwrap_or(record);
    let mut line: Vec<u8> = text.split(|byte| *byte == b'\n').collect::<Vec<_>>().join(&b"\\n"[..]);
    line.push(b'\n');
    line
}

#[cfg(test)]
mod tests {
    use super::one_line;

    #[test]
    fn a_record_is_one_line() {
        let table = [("it broke\n", "it broke\n"), ("it said:\nno\n", "it said:\\nno\n"), ("", "\n")];
        for (record, line) in table {
            assert_eq!(String::from_utf8(one_line(record.as_bytes())).unwrap(), line);
        }
    }
}
