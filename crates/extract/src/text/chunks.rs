//! Cuts a text into chunks of whole records.

use std::io::{self, Read};
use std::sync::{Mutex, PoisonError};

use arrow_buffer::Buffer;

use crate::error::{Error, Fault, Problem};

use super::Text;

/// How many readable bytes follow a chunk's text, so that it can be looked at in whole blocks.
pub(crate) const PADDING: usize = 80;

/// How long one record may be; past it, a quote that is never closed would have the whole file read into memory.
const RECORD_LIMIT: usize = 64 << 20;

/// Whole records of a text.
pub(crate) struct Chunk {
    /// Where the chunk starts in the text.
    pub offset: u64,
    /// The text, which always ends with a terminator, and then [`PADDING`] bytes of anything.
    pub bytes: Vec<u8>,
    /// How long the text is.
    pub len: usize,
}

/// Where a text of several records can be cut.
pub(crate) enum Cut {
    /// After the last whole record.
    At(usize),
    /// Nowhere, since the first record has no end yet.
    Nowhere,
    /// Nowhere, since the quote opened there is not closed yet.
    Unclosed(usize),
}

/// Buffers whose last user may be done with them, so that fresh memory is rarely needed.
#[derive(Default)]
pub(crate) struct Pool {
    buffers: Mutex<Vec<Buffer>>,
}

impl Pool {
    /// How many chunks may be under way before their buffers are forgotten.
    const KEPT: usize = 16;

    /// A buffer that nobody uses any more, if there is one.
    pub(super) fn take(&self) -> Vec<u8> {
        let mut buffers = self.buffers.lock().unwrap_or_else(PoisonError::into_inner);
        for _ in 0..buffers.len() {
            match buffers.remove(0).into_vec() {
                Ok(free) => return free,
                Err(used) => buffers.push(used),
            }
        }
        Vec::new()
    }

    /// Remembers a buffer that is in use still.
    pub(super) fn remember(&self, buffer: &Buffer) {
        let mut buffers = self.buffers.lock().unwrap_or_else(PoisonError::into_inner);
        if buffers.len() == Self::KEPT {
            buffers.remove(0);
        }
        buffers.push(buffer.clone());
    }
}

/// The chunks of a text, one after the other; where they are cut depends on the text and the size alone.
pub(crate) struct Chunks<'t> {
    text: &'t Text,
    stream: Box<dyn Read + Send>,
    offset: u64,
    size: usize,
    terminator: u8,
    rest: Vec<u8>,
}

impl<'t> Chunks<'t> {
    pub(super) fn new(text: &'t Text, start: u64, size: usize, terminator: u8) -> Result<Self, Error> {
        let mut stream = text.open()?;
        io::copy(&mut stream.by_ref().take(start), &mut io::sink())
            .map_err(|source| text.unreadable(source))?;
        Ok(Self { text, stream, offset: start, size: size.max(1), terminator, rest: Vec::new() })
    }

    /// The next chunk, in a buffer that is used again.
    pub(super) fn next(
        &mut self,
        mut bytes: Vec<u8>,
        cut: impl Fn(&[u8]) -> Cut,
    ) -> Result<Option<Chunk>, Error> {
        let mut len = self.rest.len();
        let mut target = self.size.max(len);
        make_room(&mut bytes, target);
        bytes[..len].copy_from_slice(&self.rest);
        self.rest.clear();
        loop {
            let ended = self.fill(&mut bytes, &mut len, target)?;
            if ended && len == 0 {
                return Ok(None);
            }
            if ended {
                let whole = terminate(&mut bytes, len, self.terminator);
                let chunk = self.chunk(bytes, len);
                return Ok(Some(Chunk { len: whole, ..chunk }));
            }
            let fault = match cut(&bytes[..len]) {
                Cut::At(end) => {
                    self.rest.extend_from_slice(&bytes[end..len]);
                    return Ok(Some(self.chunk(bytes, end)));
                }
                Cut::Unclosed(at) if len >= RECORD_LIMIT => Fault::at(at, Problem::Unclosed),
                Cut::Nowhere if len >= RECORD_LIMIT => Fault::at(0, Problem::TooLong { limit: RECORD_LIMIT }),
                Cut::Unclosed(_) | Cut::Nowhere => {
                    target = len * 2;
                    make_room(&mut bytes, target);
                    continue;
                }
            };
            return Err(self.text.error(self.offset, fault, self.terminator));
        }
    }

    /// Reads the chunk of a known place further on, without looking for its end.
    pub(super) fn exactly(&mut self, mut bytes: Vec<u8>, offset: u64, len: usize) -> Result<Chunk, Error> {
        let skip = offset - self.offset;
        io::copy(&mut self.stream.by_ref().take(skip), &mut io::sink())
            .map_err(|source| self.text.unreadable(source))?;
        self.offset = offset;
        make_room(&mut bytes, len);
        self.stream.read_exact(&mut bytes[..len]).map_err(|source| self.text.unreadable(source))?;
        let whole = terminate(&mut bytes, len, self.terminator);
        let chunk = self.chunk(bytes, len);
        Ok(Chunk { len: whole, ..chunk })
    }

    /// Where the next chunk starts, which after the last one is the text's length.
    pub(super) fn offset(&self) -> u64 {
        self.offset
    }

    fn chunk(&mut self, bytes: Vec<u8>, len: usize) -> Chunk {
        let offset = self.offset;
        self.offset += len as u64;
        Chunk { offset, bytes, len }
    }

    fn fill(&mut self, bytes: &mut [u8], len: &mut usize, target: usize) -> Result<bool, Error> {
        while *len < target {
            match self.stream.read(&mut bytes[*len..target]) {
                Ok(0) => return Ok(true),
                Ok(count) => *len += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(self.text.unreadable(error)),
            }
        }
        Ok(false)
    }
}

/// Gives the last record of a file the terminator that it may lack, and returns the text's new length.
pub(super) fn terminate(bytes: &mut [u8], len: usize, terminator: u8) -> usize {
    if len > 0 && bytes[len - 1] == terminator {
        return len;
    }
    bytes[len] = terminator;
    len + 1
}

/// Makes room for so many bytes of text, a terminator, and the padding.
pub(super) fn make_room(bytes: &mut Vec<u8>, len: usize) {
    let room = len + 1 + PADDING;
    if bytes.len() < room {
        bytes.resize(room, 0);
    }
}
