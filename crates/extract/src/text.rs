//! The text of one file: unpacked, decoded to UTF-8, and cut into chunks of whole records that are parsed in parallel.

mod chunks;
mod decode;
mod parts;

use std::io::{BufReader, Read};

use encoding_rs::Encoding;

use crate::error::{Error, Fault, Problem};
use crate::format::Compression;
use crate::input::{Bytes, Input};

pub(crate) use chunks::{Chunk, Cut, PADDING};
pub(crate) use parts::{Chosen, Grammar, Records, Shape, TextFile};

/// What UTF-32 begins with; the first would pass for UTF-16.
const UTF_32_MARKS: [[u8; 4]; 2] = [[0xff, 0xfe, 0, 0], [0, 0, 0xfe, 0xff]];

/// A file as UTF-8 text; offsets into it are of decoded bytes, after the BOM.
pub(crate) struct Text {
    pub input: Input,
    compression: Compression,
    /// What the text has to be decoded from, unless it is UTF-8.
    encoding: Option<&'static Encoding>,
    bom: usize,
}

impl Text {
    pub(crate) fn new(input: Input, encoding: Option<&str>) -> Result<Self, Error> {
        let compression = Compression::of(&input.ends()?.0);
        let named = match encoding {
            None => None,
            Some(name) => Some(Encoding::for_label(name.trim().as_bytes()).ok_or_else(|| {
                Error::Encoding { path: input.name().to_owned(), encoding: name.to_owned() }
            })?),
        };
        let first = first_bytes(&input, compression)?;
        if UTF_32_MARKS.iter().any(|mark| first.starts_with(mark)) {
            let problem = "UTF-32, which is not read; save it as UTF-8".to_owned();
            return Err(Error::Format { path: input.name().to_owned(), problem });
        }
        let marked = Encoding::for_bom(&first);
        let encoding =
            marked.map(|(encoding, _)| encoding).or(named).filter(|encoding| *encoding != encoding_rs::UTF_8);
        let bom = marked.map_or(0, |(_, length)| length);
        Ok(Self { input, compression, encoding, bom })
    }

    /// Starts reading the decoded text.
    pub(crate) fn open(&self) -> Result<Box<dyn Read + Send>, Error> {
        let bytes = self.input.open()?;
        let mut unpacked =
            unpack(&bytes, self.compression).map_err(|source| self.input.unreadable(source))?;
        let mut bom = [0; 3];
        unpacked.read_exact(&mut bom[..self.bom]).map_err(|source| self.input.unreadable(source))?;
        Ok(match self.encoding {
            None => unpacked,
            Some(encoding) => Box::new(decode::Decoded::new(unpacked, encoding)),
        })
    }

    /// The open file and where the text starts in it, for text that can be read from any offset.
    pub(crate) fn seekable(&self) -> Result<Option<(Bytes, u64)>, Error> {
        if self.compression != Compression::Plain || self.encoding.is_some() {
            return Ok(None);
        }
        Ok(Some((self.input.open()?, self.bom as u64)))
    }

    /// About how many bytes the decoded text has; four times the file when it is compressed.
    pub(crate) fn len_hint(&self) -> u64 {
        if self.compression == Compression::Plain {
            self.input.len()
        } else {
            self.input.len().saturating_mul(4)
        }
    }

    /// `UTF-8`, or `UTF-16LE, gzip`.
    pub(crate) fn described(&self) -> String {
        let packed = match self.compression {
            Compression::Plain => "",
            Compression::Gzip => ", gzip",
            Compression::Zstd => ", zstd",
        };
        format!("{}{packed}", self.encoding.map_or("UTF-8", Encoding::name))
    }

    /// Turns a fault at an offset of the text into an error with the line, for which the text up to there is read again.
    pub(crate) fn error(&self, offset: u64, fault: Fault, terminator: u8) -> Error {
        let place = self.position(offset + fault.at as u64, terminator);
        match place {
            Err(error) => error,
            Ok((line, column)) => {
                Error::Text { path: self.input.name().to_owned(), line, column, problem: fault.problem }
            }
        }
    }

    /// Turns a failed reading into an error; malformed text under another encoding arrives this way too.
    pub(crate) fn unreadable(&self, source: std::io::Error) -> Error {
        match source.get_ref().and_then(|inner| inner.downcast_ref::<decode::Malformed>()) {
            None => self.input.unreadable(source),
            Some(malformed) => Error::Text {
                path: self.input.name().to_owned(),
                line: malformed.line,
                column: malformed.column,
                problem: Problem::Encoding(malformed.encoding.to_owned()),
            },
        }
    }

    /// The line, from 1, of an offset of the text.
    pub(crate) fn line(&self, offset: u64, terminator: u8) -> Result<u64, Error> {
        self.position(offset, terminator).map(|(line, _)| line)
    }

    fn position(&self, offset: u64, terminator: u8) -> Result<(u64, u64), Error> {
        let mut stream = self.open()?.take(offset);
        let (mut line, mut column) = (1, 1);
        let mut buffer = vec![0; 1 << 16];
        loop {
            let count = stream.read(&mut buffer).map_err(|source| self.unreadable(source))?;
            if count == 0 {
                return Ok((line, column));
            }
            let read = &buffer[..count];
            line += memchr::memchr_iter(terminator, read).count() as u64;
            column =
                memchr::memrchr(terminator, read).map_or(column + count as u64, |at| (count - at) as u64);
        }
    }
}

/// The first unpacked bytes, enough for a BOM and for a guess at the format.
pub(crate) fn first_bytes(input: &Input, compression: Compression) -> Result<Vec<u8>, Error> {
    let mut first = Vec::new();
    let read = |stream: Box<dyn Read + Send>| stream.take(64).read_to_end(&mut first);
    unpack(&input.open()?, compression).and_then(read).map_err(|source| input.unreadable(source))?;
    Ok(first)
}

fn unpack(bytes: &Bytes, compression: Compression) -> std::io::Result<Box<dyn Read + Send>> {
    let packed = bytes.reader(0);
    Ok(match compression {
        Compression::Plain => Box::new(packed),
        Compression::Gzip => {
            Box::new(flate2::bufread::MultiGzDecoder::new(BufReader::with_capacity(1 << 17, packed)))
        }
        Compression::Zstd => {
            Box::new(zstd::stream::read::Decoder::with_buffer(BufReader::with_capacity(1 << 17, packed))?)
        }
    })
}
