//! Writes every break to a file, one line per measure that is outside.

mod csv;
mod jsonl;
mod layout;
mod parquet;

use std::fs;
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};

use ::parquet::errors::ParquetError;
use tempfile::NamedTempFile;

use layout::Layout;

use crate::report::{Break, BreakHeader};

/// What a break file is written as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BreaksFormat {
    /// Apache Parquet, Snappy-compressed.
    Parquet,
    /// Comma-separated, with NULL as an empty field and the empty text as `""`.
    Csv,
    /// One JSON object per line.
    JsonLines,
}

impl BreaksFormat {
    /// Chooses the format by the extension of a path.
    ///
    /// # Errors
    /// When the extension is none of `parquet`, `csv` and `jsonl`.
    pub fn of(path: &Path) -> Result<Self, BreaksFileError> {
        let extension = path.extension().map(|extension| extension.to_string_lossy().to_ascii_lowercase());
        match extension.as_deref() {
            Some("parquet") => Ok(Self::Parquet),
            Some("csv") => Ok(Self::Csv),
            Some("jsonl" | "ndjson") => Ok(Self::JsonLines),
            _ => Err(BreaksFileError::UnknownFormat { path: path.to_owned() }),
        }
    }
}

/// Why a break file cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum BreaksFileError {
    /// The extension says nothing.
    #[error("cannot tell from {} how to write the breaks", path.display())]
    UnknownFormat {
        /// As given.
        path: PathBuf,
    },
    /// The disk is full, the directory is missing, …
    #[error("cannot write the breaks to {}: {source}", path.display())]
    Io {
        /// As given.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// A break does not have one cell for each measure.
    #[error("a break has {found} measures where {expected} were announced")]
    MeasureCount {
        /// What [`BreaksFile::create`] was given.
        expected: usize,
        /// What the break has.
        found: usize,
    },
}

impl BreaksFileError {
    /// What the person can do about it.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::UnknownFormat { .. } => Some("use a name that ends in .parquet, .csv or .jsonl".to_owned()),
            Self::Io { source, .. } => match source.kind() {
                io::ErrorKind::StorageFull => Some("free some space, or write to another disk".to_owned()),
                io::ErrorKind::NotFound => Some("make the directory first".to_owned()),
                io::ErrorKind::IsADirectory => Some("name a file in it".to_owned()),
                io::ErrorKind::NotADirectory
                | io::ErrorKind::PermissionDenied
                | io::ErrorKind::ReadOnlyFilesystem => {
                    Some("choose a directory that can be written to".to_owned())
                }
                _ => None,
            },
            Self::MeasureCount { .. } => None,
        }
    }
}

/// A break file being written: beside its target until [`BreaksFile::finish`], gone if that is never reached.
pub struct BreaksFile {
    path: PathBuf,
    layout: Layout,
    sink: Sink,
}

type Output = BufWriter<NamedTempFile>;

enum Sink {
    Parquet(Box<parquet::Sink<Output>>),
    Csv(csv::Sink<Output>),
    JsonLines(jsonl::Sink<Output>),
}

impl BreaksFile {
    /// Tells before a long comparison what would keep its breaks from being written.
    ///
    /// # Errors
    /// When the extension is unknown, the path is a directory, or its directory cannot be written to.
    pub fn check(path: &Path) -> Result<(), BreaksFileError> {
        BreaksFormat::of(path)?;
        if path.is_dir() {
            return Err(io_error(path, io::ErrorKind::IsADirectory.into()));
        }
        temporary_beside(path).map(drop).map_err(|source| io_error(path, source))
    }

    /// Starts a file in the format of its extension.
    ///
    /// # Errors
    /// When the extension is unknown or the directory cannot be written to.
    pub fn create(path: &Path, header: &BreakHeader) -> Result<Self, BreaksFileError> {
        let format = BreaksFormat::of(path)?;
        let layout = Layout::new(header);
        let sink = temporary_beside(path)
            .and_then(|file| Sink::start(format, BufWriter::new(file), layout.columns()))
            .map_err(|source| io_error(path, source))?;
        Ok(Self { path: path.to_owned(), layout, sink })
    }

    /// Adds a break.
    ///
    /// # Errors
    /// When the disk is full or the break is not of the announced shape.
    pub fn write(&mut self, found: &Break) -> Result<(), BreaksFileError> {
        let expected = self.layout.measure_count();
        if found.cells.len() != expected {
            return Err(BreaksFileError::MeasureCount { expected, found: found.cells.len() });
        }
        let sink = &mut self.sink;
        self.layout.each_row(found, |row| sink.write(row)).map_err(|source| io_error(&self.path, source))
    }

    /// Completes the file and gives it its name.
    ///
    /// # Errors
    /// When the disk is full or the name cannot be taken.
    pub fn finish(self) -> Result<(), BreaksFileError> {
        self.sink
            .finish()
            .and_then(|buffered| buffered.into_inner().map_err(io::IntoInnerError::into_error))
            .and_then(|file| file.persist(&self.path).map_err(|failed| failed.error))
            .map(drop)
            .map_err(|source| io_error(&self.path, source))
    }
}

impl Sink {
    fn start(format: BreaksFormat, output: Output, header: &[String]) -> io::Result<Self> {
        Ok(match format {
            BreaksFormat::Parquet => Self::Parquet(Box::new(parquet::Sink::start(output, header)?)),
            BreaksFormat::Csv => Self::Csv(csv::Sink::start(output, header)?),
            BreaksFormat::JsonLines => Self::JsonLines(jsonl::Sink::start(output, header)),
        })
    }

    fn write(&mut self, row: &[Option<&str>]) -> io::Result<()> {
        match self {
            Self::Parquet(sink) => sink.write(row),
            Self::Csv(sink) => sink.write(row),
            Self::JsonLines(sink) => sink.write(row),
        }
    }

    fn finish(self) -> io::Result<Output> {
        match self {
            Self::Parquet(sink) => sink.finish(),
            Self::Csv(sink) => Ok(sink.finish()),
            Self::JsonLines(sink) => Ok(sink.finish()),
        }
    }
}

fn temporary_beside(path: &Path) -> io::Result<NamedTempFile> {
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if !fs::metadata(directory)?.is_dir() {
        return Err(io::ErrorKind::NotADirectory.into());
    }
    let mut builder = tempfile::Builder::new();
    builder.prefix(".trueup-breaks-");
    // A temporary file is private by default; what gets the target's name should be as readable as any new file.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    // The error itself would name a temporary file that nobody has heard of.
    builder.tempfile_in(directory).map_err(|error| error.kind().into())
}

fn io_error(path: &Path, source: io::Error) -> BreaksFileError {
    BreaksFileError::Io { path: path.to_owned(), source }
}

fn parquet_error(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(inner) => match inner.downcast::<io::Error>() {
            Ok(inner) => *inner,
            Err(inner) => io::Error::other(inner),
        },
        other => io::Error::other(other),
    }
}

#[cfg(test)]
mod tests;
