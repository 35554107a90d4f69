//! Where reports go.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use tempfile::NamedTempFile;

use crate::failure::Failure;

/// Writes to standard output; a reader that has left is no error.
pub(crate) fn print(text: &str) -> io::Result<()> {
    let mut output = io::stdout().lock();
    match output.write_all(text.as_bytes()).and_then(|()| output.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        result => result,
    }
}

/// Writes what a command has to say, which is all that it does.
pub(crate) fn say(text: &str) -> Result<ExitCode, Failure> {
    print(text).map_err(|source| Failure::Report { target: "standard output".to_owned(), source })?;
    Ok(ExitCode::SUCCESS)
}

/// A report file that is complete or not there; what is no ordinary file, such as a pipe, is written to directly.
pub(crate) struct ReportFile {
    path: PathBuf,
    beside: Option<NamedTempFile>,
}

impl ReportFile {
    /// Takes a place beside the target, so that a long comparison does not end where nothing can be written.
    pub(crate) fn create(path: &Path) -> io::Result<Self> {
        match fs::metadata(path) {
            Ok(found) if found.is_dir() => return Err(io::ErrorKind::IsADirectory.into()),
            Ok(found) if !found.is_file() => return Ok(Self { path: path.to_owned(), beside: None }),
            _ => {}
        }
        let directory =
            path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        if !fs::metadata(directory)?.is_dir() {
            return Err(io::ErrorKind::NotADirectory.into());
        }
        let mut builder = tempfile::Builder::new();
        builder.prefix(".trueup-report-");
        // A temporary file is private by default; a report should be as readable as any new file.
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        // The error itself would name a temporary file that nobody has heard of.
        let beside = builder.tempfile_in(directory).map_err(|error| io::Error::from(error.kind()))?;
        Ok(Self { path: path.to_owned(), beside: Some(beside) })
    }

    /// The path, for messages.
    pub(crate) fn target(&self) -> String {
        self.path.display().to_string()
    }

    /// Writes the report and gives the file its name.
    pub(crate) fn write(self, text: &str) -> io::Result<()> {
        let Some(mut file) = self.beside else {
            return fs::write(&self.path, text);
        };
        file.write_all(text.as_bytes())?;
        file.persist(&self.path).map(drop).map_err(|failed| failed.error)
    }
}
