//! Writes every break to a file, one line per measure that is outside.

mod csv;
mod jsonl;
mod layout;
mod parquet;
mod stored;

use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ::parquet::errors::ParquetError;
use arrow_schema::Field;
use tempfile::NamedTempFile;

use layout::{Layout, Value};
pub use stored::{StoredBreaks, StoredBreaksError};

use crate::report::BreakHeader;
use crate::report::shown::Shown;

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
        }
    }
}

/// A break file being written: beside its target until it is finished, gone if that is never reached.
pub struct BreaksFile {
    path: PathBuf,
    sink: Sink,
}

type Output = BufWriter<NamedTempFile>;

enum Sink {
    Parquet(Box<parquet::Sink<Output>>),
    Lines(Output),
}

/// Breaks that need only be appended.
pub(crate) enum Rendered {
    Columns(parquet::Columns),
    Lines(Vec<u8>),
}

/// Renders breaks, on any thread.
#[derive(Clone)]
pub(crate) struct Renderer {
    format: BreaksFormat,
    layout: Arc<Layout>,
    /// The names of the columns as JSON lines have them.
    names: Arc<[Vec<u8>]>,
}

impl Renderer {
    fn new(format: BreaksFormat, header: &BreakHeader) -> Self {
        let layout = Layout::new(header);
        let quoted = |column: &Field| {
            let mut json = Vec::new();
            jsonl::quote(column.name(), &mut json);
            json
        };
        let names = layout.columns().iter().map(quoted).collect();
        Self { format, layout: Arc::new(layout), names }
    }

    /// What breaks can be rendered into.
    pub(crate) fn start(&self) -> Rendered {
        match self.format {
            BreaksFormat::Parquet => Rendered::Columns(parquet::Columns::new(self.layout.columns())),
            BreaksFormat::Csv | BreaksFormat::JsonLines => Rendered::Lines(Vec::new()),
        }
    }

    /// Appends the lines of a break.
    pub(crate) fn render(&self, found: &Shown, into: &mut Rendered) {
        self.layout.each_row(found, |row| match into {
            Rendered::Columns(columns) => columns.push(row),
            Rendered::Lines(lines) if self.format == BreaksFormat::Csv => csv::line(row, lines),
            Rendered::Lines(lines) => jsonl::line(&self.names, row, lines),
        });
    }
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
    pub(crate) fn create(
        path: &Path,
        header: &BreakHeader,
        threads: usize,
    ) -> Result<(Self, Renderer), BreaksFileError> {
        let format = BreaksFormat::of(path)?;
        let renderer = Renderer::new(format, header);
        let sink = temporary_beside(path)
            .and_then(|file| Sink::start(format, BufWriter::new(file), renderer.layout.columns(), threads))
            .map_err(|source| io_error(path, source))?;
        Ok((Self { path: path.to_owned(), sink }, renderer))
    }

    /// Adds breaks.
    pub(crate) fn append(&mut self, rendered: Rendered) -> Result<(), BreaksFileError> {
        match (&mut self.sink, rendered) {
            (Sink::Parquet(sink), Rendered::Columns(columns)) => sink.append(columns.finish()),
            (Sink::Lines(output), Rendered::Lines(lines)) => output.write_all(&lines),
            _ => unreachable!("the renderer is of the file's format"),
        }
        .map_err(|source| io_error(&self.path, source))
    }

    /// Completes the file and gives it its name.
    pub(crate) fn finish(self) -> Result<(), BreaksFileError> {
        let finished = match self.sink {
            Sink::Parquet(sink) => sink.finish(),
            Sink::Lines(output) => Ok(output),
        };
        finished
            .and_then(|buffered| buffered.into_inner().map_err(io::IntoInnerError::into_error))
            .and_then(|file| file.persist(&self.path).map_err(|failed| failed.error))
            .map(drop)
            .map_err(|source| io_error(&self.path, source))
    }
}

impl Sink {
    fn start(
        format: BreaksFormat,
        mut output: Output,
        columns: &[Field],
        threads: usize,
    ) -> io::Result<Self> {
        match format {
            BreaksFormat::Parquet => {
                return Ok(Self::Parquet(Box::new(parquet::Sink::start(output, columns.to_vec(), threads)?)));
            }
            BreaksFormat::Csv => {
                let names: Vec<Value<'_>> = columns.iter().map(|column| Value::Text(column.name())).collect();
                let mut line = Vec::new();
                csv::line(&names, &mut line);
                output.write_all(&line)?;
            }
            BreaksFormat::JsonLines => {}
        }
        Ok(Self::Lines(output))
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
