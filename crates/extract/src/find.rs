//! Finds the files that a path stands for.

use std::fs;
use std::path::{Component, Path, PathBuf};

use glob::{MatchOptions, Pattern};
use strsim::osa_distance;

use crate::error::Error;
use crate::input::Input;
use crate::{Options, format};

pub(crate) const WILDCARDS: [char; 3] = ['*', '?', '['];

/// As in a directory, and in a shell, what starts with a dot has to be asked for.
pub(crate) const MATCHING: MatchOptions =
    MatchOptions { case_sensitive: true, require_literal_separator: true, require_literal_leading_dot: true };

/// The files of a source: one file, all files below a directory, or what a glob matches; sorted.
pub(crate) fn inputs(path: &str, options: &Options) -> Result<Vec<Input>, Error> {
    let mut paths = Vec::new();
    for place in places(path)? {
        if place.is_dir() {
            paths.append(&mut below(&place, options)?);
        } else {
            paths.push(place);
        }
    }
    paths.sort();
    paths.dedup();
    if paths.is_empty() {
        let (place, path) = (Path::new(path), path.to_owned());
        return Err(if place.exists() {
            Error::NoData { path }
        } else if path.contains(WILDCARDS) {
            Error::NoMatch { path }
        } else {
            Error::Missing { path, near: near(place) }
        });
    }
    paths.iter().map(|path| Input::at(path, &options.temp_dir)).collect()
}

/// One part of the path of a glob.
enum Step<'a> {
    Named(Component<'a>),
    Matching(Pattern),
    /// `**`: any number of directories.
    AnyDepth,
}

/// The file or directory that a path names, or those that it matches as a glob; none where there is nothing.
///
/// # Errors
/// When a glob cannot be understood, or a directory that it leads through cannot be read.
pub fn places(path: &str) -> Result<Vec<PathBuf>, Error> {
    if Path::new(path).exists() {
        return Ok(vec![path.into()]);
    }
    let mut places = Vec::new();
    if path.contains(WILDCARDS) {
        walk(PathBuf::new(), &steps(path)?, &mut places)?;
    }
    Ok(places)
}

fn steps(pattern: &str) -> Result<Vec<Step<'_>>, Error> {
    let mut steps = Vec::new();
    for part in Path::new(pattern).components() {
        steps.push(match part.as_os_str().to_str() {
            Some("**") => Step::AnyDepth,
            Some(name) if name.contains(WILDCARDS) => Step::Matching(
                Pattern::new(name).map_err(|source| Error::Pattern { path: pattern.to_owned(), source })?,
            ),
            _ => Step::Named(part),
        });
    }
    Ok(steps)
}

/// Finds what the steps lead to; a name that is not UTF-8 is matched as it is shown.
fn walk(at: PathBuf, steps: &[Step<'_>], found: &mut Vec<PathBuf>) -> Result<(), Error> {
    let Some((step, rest)) = steps.split_first() else {
        found.push(at);
        return Ok(());
    };
    let pattern = match step {
        Step::Named(part) => {
            let next = at.join(part);
            return if next.exists() { walk(next, rest, found) } else { Ok(()) };
        }
        Step::AnyDepth => {
            walk(at.clone(), rest, found)?;
            None
        }
        Step::Matching(pattern) => Some(pattern),
    };
    let directory = if at.as_os_str().is_empty() { Path::new(".") } else { &at };
    if !directory.is_dir() {
        return Ok(());
    }
    let read = |source| Error::Read { path: directory.display().to_string(), source };
    for entry in fs::read_dir(directory).map_err(read)? {
        let entry = entry.map_err(read)?;
        let (name, next) = (entry.file_name(), at.join(entry.file_name()));
        let name = name.to_string_lossy();
        match pattern {
            Some(pattern) if pattern.matches_with(&name, MATCHING) && (rest.is_empty() || next.is_dir()) => {
                walk(next, rest, found)?;
            }
            None if !name.starts_with('.') && entry.file_type().map_err(read)?.is_dir() => {
                walk(next, steps, found)?;
            }
            _ => {}
        }
    }
    Ok(())
}

/// The files below a directory; what is only about them (`_SUCCESS`, `.crc`) is none of them, and what no one can read is not
/// passed over, for a comparison without it could come to another verdict.
fn below(directory: &Path, options: &Options) -> Result<Vec<PathBuf>, Error> {
    let mut found = Vec::new();
    let mut open = vec![directory.to_owned()];
    while let Some(directory) = open.pop() {
        let read = |source| Error::Read { path: directory.display().to_string(), source };
        for entry in fs::read_dir(&directory).map_err(read)? {
            let entry = entry.map_err(read)?;
            let path = entry.path();
            if is_hidden(&entry.file_name().to_string_lossy()) {
                continue;
            }
            // Directories behind links are left alone, since those can go round in circles.
            if entry.file_type().map_err(read)?.is_dir() {
                open.push(path);
            } else if (path.is_file() || !path.exists()) && (options.format.is_some() || !is_about(&path)) {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}

/// Whether a file is only about others, by its name.
pub(crate) fn is_about(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default();
    name.as_encoded_bytes().starts_with(b"_") && !format::is_data(path)
}

/// Whether a name is left alone unless asked for; Excel keeps such a file beside each that is open.
pub(crate) fn is_hidden(name: &str) -> bool {
    name.starts_with('.') || name.starts_with("~$")
}

/// The names beside a missing file that differ from its own by little.
fn near(missing: &Path) -> Vec<String> {
    let (Some(name), Some(directory)) =
        (missing.file_name().and_then(|name| name.to_str()), missing.parent())
    else {
        return Vec::new();
    };
    let directory = if directory.as_os_str().is_empty() { Path::new(".") } else { directory };
    // A directory that cannot be listed has no hints to offer; the error is about the missing file.
    let Ok(entries) = fs::read_dir(directory) else {
        return Vec::new();
    };
    let beside = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let full = |name: String| missing.with_file_name(name).display().to_string();
    alike(name, beside).into_iter().map(full).collect()
}

/// The three names that differ from a missing one by least, if by little.
pub(crate) fn alike(missing: &str, names: impl Iterator<Item = String>) -> Vec<String> {
    let stem = |name: &str| name.split_once('.').map_or(name, |(stem, _)| stem).to_lowercase();
    let mut near: Vec<(usize, String)> = names
        .map(|other| (osa_distance(&missing.to_lowercase(), &other.to_lowercase()), other))
        .filter(|(distance, other)| {
            *distance <= 1 + missing.len() / 5 || (!stem(missing).is_empty() && stem(missing) == stem(other))
        })
        .collect();
    near.sort();
    near.into_iter().take(3).map(|(_, name)| name).collect()
}
