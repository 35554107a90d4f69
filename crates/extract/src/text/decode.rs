//! Turns text of another encoding into UTF-8 while it is read.

use std::fmt;
use std::io::{self, Read};

use encoding_rs::{Decoder, DecoderResult, Encoding};

/// A reader of UTF-8 over a reader of another encoding.
pub(super) struct Decoded {
    inner: Box<dyn Read + Send>,
    encoding: &'static Encoding,
    decoder: Decoder,
    raw: Vec<u8>,
    raw_start: usize,
    raw_end: usize,
    ended: bool,
    out: Vec<u8>,
    out_start: usize,
    out_end: usize,
    line: u64,
    column: u64,
}

/// A byte sequence that the encoding does not have.
#[derive(Debug)]
pub(super) struct Malformed {
    pub encoding: &'static str,
    pub line: u64,
    pub column: u64,
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "not {} at line {}, column {}", self.encoding, self.line, self.column)
    }
}

impl std::error::Error for Malformed {}

impl Decoded {
    pub(super) fn new(inner: Box<dyn Read + Send>, encoding: &'static Encoding) -> Self {
        Self {
            inner,
            encoding,
            decoder: encoding.new_decoder_without_bom_handling(),
            raw: vec![0; 1 << 16],
            raw_start: 0,
            raw_end: 0,
            ended: false,
            out: vec![0; 1 << 17],
            out_start: 0,
            out_end: 0,
            line: 1,
            column: 1,
        }
    }

    /// Decodes until something comes out or the input is over.
    fn refill(&mut self) -> io::Result<()> {
        while self.out_start == self.out_end {
            if self.raw_start == self.raw_end {
                if self.ended {
                    return Ok(());
                }
                (self.raw_start, self.raw_end) = (0, self.inner.read(&mut self.raw)?);
                self.ended = self.raw_end == 0;
            }
            let raw = &self.raw[self.raw_start..self.raw_end];
            let (result, read, written) =
                self.decoder.decode_to_utf8_without_replacement(raw, &mut self.out, self.ended);
            self.raw_start += read;
            (self.out_start, self.out_end) = (0, written);
            let decoded = &self.out[..written];
            self.line += memchr::memchr_iter(b'\n', decoded).count() as u64;
            self.column = memchr::memrchr(b'\n', decoded)
                .map_or(self.column + written as u64, |at| (written - at) as u64);
            if matches!(result, DecoderResult::Malformed(..)) {
                let malformed =
                    Malformed { encoding: self.encoding.name(), line: self.line, column: self.column };
                return Err(io::Error::new(io::ErrorKind::InvalidData, malformed));
            }
        }
        Ok(())
    }
}

impl Read for Decoded {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.refill()?;
        let count = buffer.len().min(self.out_end - self.out_start);
        buffer[..count].copy_from_slice(&self.out[self.out_start..self.out_start + count]);
        self.out_start += count;
        Ok(count)
    }
}
