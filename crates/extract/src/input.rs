//! The bytes of one file, read by position so that threads do not disturb each other.

use std::fs::{self, File};
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use ::bytes::Bytes as Block;
use ::parquet::errors::ParquetError;
use ::parquet::file::reader::{ChunkReader, Length};

use crate::error::Error;

/// One file of a source, which stays the same from scan to scan.
pub(crate) struct Input {
    name: String,
    place: Place,
    len: u64,
    modified: Option<SystemTime>,
}

enum Place {
    Path(PathBuf),
    /// A temporary file without a name: it is gone with the process, however that ends.
    Spool(Arc<File>),
    /// A part of such a file, with what a store has under a name.
    Fetched {
        file: Arc<File>,
        start: u64,
        path: PathBuf,
    },
}

impl Input {
    /// Takes a file, or a pipe, which is spooled since it can be read only once.
    pub(crate) fn at(path: &Path, temp_dir: &Path) -> Result<Self, Error> {
        let name = path.display().to_string();
        let read = |source| Error::Read { path: name.clone(), source };
        let metadata = fs::metadata(path).map_err(read)?;
        if metadata.is_file() {
            let modified = metadata.modified().ok(); // Some file systems keep no times; the length is checked still.
            return Ok(Self { place: Place::Path(path.to_owned()), len: metadata.len(), modified, name });
        }
        let mut pipe = File::open(path).map_err(read)?;
        Self::spool(&name, &mut pipe, temp_dir)
    }

    /// Keeps all that a reader delivers in a temporary file.
    pub(crate) fn spool(name: &str, reader: &mut dyn Read, temp_dir: &Path) -> Result<Self, Error> {
        let spooled = |source| Error::Spool {
            path: name.to_owned(),
            directory: temp_dir.display().to_string(),
            source,
        };
        let mut file = tempfile::tempfile_in(temp_dir).map_err(spooled)?;
        let len = io::copy(reader, &mut file).map_err(spooled)?;
        Ok(Self::kept(name, file, len))
    }

    /// Takes a temporary file without a name that has been written.
    pub(crate) fn kept(name: &str, file: File, len: u64) -> Self {
        Self { name: name.to_owned(), place: Place::Spool(Arc::new(file)), len, modified: None }
    }

    /// Takes what was fetched under a name, into a file that has more in it.
    pub(crate) fn fetched(name: &str, file: &Arc<File>, start: u64, len: u64) -> Self {
        let place = Place::Fetched { file: Arc::clone(file), start, path: name.into() };
        Self { name: name.to_owned(), place, len, modified: None }
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn len(&self) -> u64 {
        self.len
    }

    /// The path, for what has one.
    pub(crate) fn path(&self) -> Option<&Path> {
        match &self.place {
            Place::Path(path) | Place::Fetched { path, .. } => Some(path),
            Place::Spool(_) => None,
        }
    }

    /// Opens the file anew, and refuses when it is no longer the same.
    pub(crate) fn open(&self) -> Result<Bytes, Error> {
        let file = match &self.place {
            Place::Fetched { file, start, .. } => {
                return Ok(Bytes { file: Arc::clone(file), start: *start, len: self.len });
            }
            Place::Spool(file) => Arc::clone(file),
            Place::Path(path) => {
                let file = File::open(path).map_err(|source| self.unreadable(source))?;
                let metadata = file.metadata().map_err(|source| self.unreadable(source))?;
                if metadata.len() != self.len || metadata.modified().ok() != self.modified {
                    return Err(self.changed());
                }
                Arc::new(file)
            }
        };
        Ok(Bytes { file, start: 0, len: self.len })
    }

    /// The first and the last few bytes.
    pub(crate) fn ends(&self) -> Result<(Vec<u8>, Vec<u8>), Error> {
        let bytes = self.open()?;
        let count = self.len.min(16);
        let read = |at| bytes.exact(at, count).map_err(|source| self.unreadable(source));
        Ok((read(0)?, read(self.len - count)?))
    }

    pub(crate) fn unreadable(&self, source: io::Error) -> Error {
        Error::Read { path: self.name.clone(), source }
    }

    pub(crate) fn changed(&self) -> Error {
        Error::Changed { path: self.name.clone() }
    }

    pub(crate) fn damaged(&self, problem: impl std::fmt::Display) -> Error {
        Error::Damaged { path: self.name.clone(), problem: problem.to_string() }
    }
}

/// An open file that is read by position only.
#[derive(Clone)]
pub(crate) struct Bytes {
    file: Arc<File>,
    /// Where it begins in the file.
    start: u64,
    len: u64,
}

impl Bytes {
    pub(crate) fn len(&self) -> u64 {
        self.len
    }

    /// Reads exactly the given range, having checked that it can be there before any memory is asked for.
    pub(crate) fn exact(&self, at: u64, count: u64) -> io::Result<Vec<u8>> {
        if at.checked_add(count).is_none_or(|end| end > self.len) {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let count = usize::try_from(count).map_err(|_| io::ErrorKind::OutOfMemory)?;
        let mut buffer = vec![0; count];
        self.reader(at).read_exact(&mut buffer)?;
        Ok(buffer)
    }

    /// Reads on from a position up to the length the file had at first.
    pub(crate) fn reader(&self, at: u64) -> Reader {
        Reader { bytes: self.clone(), at }
    }

    #[cfg(unix)]
    fn read_at(&self, buffer: &mut [u8], at: u64) -> io::Result<usize> {
        std::os::unix::fs::FileExt::read_at(&*self.file, buffer, self.start + at)
    }

    #[cfg(windows)]
    fn read_at(&self, buffer: &mut [u8], at: u64) -> io::Result<usize> {
        std::os::windows::fs::FileExt::seek_read(&*self.file, buffer, self.start + at)
    }
}

/// Writes all bytes at a position of a file.
#[cfg(unix)]
pub(crate) fn write_at(file: &File, bytes: &[u8], at: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::write_all_at(file, bytes, at)
}

/// Writes all bytes at a position of a file.
#[cfg(windows)]
pub(crate) fn write_at(file: &File, mut bytes: &[u8], mut at: u64) -> io::Result<()> {
    while !bytes.is_empty() {
        let count = std::os::windows::fs::FileExt::seek_write(file, bytes, at)?;
        (bytes, at) = (&bytes[count..], at + count as u64);
    }
    Ok(())
}

/// One reading of [`Bytes`], with a position of its own.
#[derive(Clone)]
pub(crate) struct Reader {
    bytes: Bytes,
    at: u64,
}

impl Read for Reader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = usize::try_from(self.bytes.len.saturating_sub(self.at)).unwrap_or(usize::MAX);
        let wanted = left.min(buffer.len());
        let count = self.bytes.read_at(&mut buffer[..wanted], self.at)?;
        self.at += count as u64;
        Ok(count)
    }
}

impl Seek for Reader {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let at = match to {
            SeekFrom::Start(at) => Some(at),
            SeekFrom::End(by) => self.bytes.len.checked_add_signed(by),
            SeekFrom::Current(by) => self.at.checked_add_signed(by),
        };
        self.at = at.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.at)
    }
}

impl Length for Bytes {
    fn len(&self) -> u64 {
        self.len
    }
}

impl ChunkReader for Bytes {
    type T = BufReader<Reader>;

    fn get_read(&self, start: u64) -> Result<Self::T, ParquetError> {
        // Only page headers are read this way, and they are short.
        Ok(BufReader::with_capacity(512, self.reader(start)))
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Block, ParquetError> {
        Ok(self.exact(start, length as u64)?.into())
    }
}
