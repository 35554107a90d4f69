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
    let places = trueup_extract::places(path).unwrap_or_default();
    places.iter().filter_map(|found| found.canonicalize().ok()).collect()
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::ffi::OsStr;
    use std::fs;
    use std::os::unix::ffi::OsStrExt;

    use super::read_from;

    #[test]
    fn a_source_is_read_from_what_its_path_matches_whatever_that_is_called() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        let odd = root.join(OsStr::from_bytes(b"\xff-day"));
        fs::create_dir(&odd).unwrap();
        fs::write(root.join("[1]-day"), "").unwrap();
        let cases = [
            ("*-day", vec![root.join("[1]-day"), odd]),
            ("[1]-day", vec![root.join("[1]-day")]),
            ("*-night", vec![]),
            ("[", vec![]),
        ];
        for (path, expected) in cases {
            let mut found = read_from(root.join(path).to_str().unwrap());
            found.sort();
            assert_eq!(found, expected, "{path}");
        }
    }
}
