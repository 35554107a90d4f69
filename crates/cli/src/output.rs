//! Where reports go.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

/// Writes to standard output; a reader that has left is no error.
pub fn print(text: &str) -> io::Result<()> {
    let mut output = io::stdout().lock();
    match output.write_all(text.as_bytes()).and_then(|()| output.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        result => result,
    }
}

/// Writes a file that is complete or not there; what is no ordinary file, such as a pipe, is written to directly.
pub fn write_file(path: &Path, text: &str) -> io::Result<()> {
    if fs::metadata(path).is_ok_and(|found| !found.is_file()) {
        return fs::write(path, text);
    }
    let directory = path
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    // The error of a temporary file would name a path that nobody has heard of.
    fs::metadata(directory)?;
    let mut builder = tempfile::Builder::new();
    builder.prefix(".trueup-report-");
    // A temporary file is private by default; a report should be as readable as any new file.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let mut file = builder.tempfile_in(directory)?;
    file.write_all(text.as_bytes())?;
    file.persist(path).map(drop).map_err(|failed| failed.error)
}
