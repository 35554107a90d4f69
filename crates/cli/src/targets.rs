//! Keeps what is written away from what is read.

use std::fs;
use std::path::{Path, PathBuf};

use crate::failure::Failure;
use crate::source_names::SourceNames;

/// Refuses targets that are, or lie among, the files of a source, and targets that are the same file.
pub(crate) fn check(
    targets: &[(&str, &Path)],
    sources: &SourceNames,
    paths: &[String],
) -> Result<(), Failure> {
    let places: Vec<(String, PathBuf)> = (targets.iter())
        .filter_map(|(option, path)| Some((format!("{option} {}", path.display()), place(path)?)))
        .collect();
    for (target, place) in &places {
        for (name, path) in sources.all().iter().zip(paths) {
            if read_from(path).iter().any(|read| place.starts_with(read)) {
                return Err(Failure::usage_hint(
                    format!("{target}: this would be written over, or among, the files of source `{name}`"),
                    "write to a file that no source reads, in another directory if the source is one",
                ));
            }
        }
    }
    if let [(first, place), (second, other)] = &places[..]
        && place == other
    {
        return Err(Failure::usage_hint(
            format!("{first} and {second} are the same file"),
            "give each its own name",
        ));
    }
    Ok(())
}

/// Where a file is or will be; none for what is no ordinary file, such as a pipe, or is in no directory yet.
fn place(path: &Path) -> Option<PathBuf> {
    if let Ok(found) = fs::metadata(path) {
        // Whoever creates the file says what is wrong with a path that cannot be resolved.
        return path.canonicalize().ok().filter(|_| found.is_file());
    }
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let directory = directory.canonicalize().ok().filter(|directory| directory.is_dir())?;
    Some(directory.join(path.file_name()?))
}

/// The files and directories that a source is read from; what cannot be resolved fails when it is opened.
fn read_from(path: &str) -> Vec<PathBuf> {
    if path == "-" {
        return Vec::new();
    }
    if let Ok(found) = Path::new(path).canonicalize() {
        return vec![found];
    }
    let matching = glob::glob(path).into_iter().flatten();
    matching.filter_map(|found| found.ok()?.canonicalize().ok()).collect()
}
