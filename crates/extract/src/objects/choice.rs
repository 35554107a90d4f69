//! Which objects a path stands for, by the rules that files have.

use std::collections::HashSet;
use std::path::Path;

use glob::{Pattern, PatternError};
use object_store::ObjectMeta;

use crate::find::{self, MATCHING, WILDCARDS};
use crate::format;

pub(super) fn is_pattern(key: &str) -> bool {
    key.contains(WILDCARDS)
}

/// What all keys that a path can stand for are below.
pub(super) fn prefix(key: &str) -> &str {
    match key.find(WILDCARDS) {
        None => key.trim_end_matches('/'),
        Some(at) => key[..at].rsplit_once('/').map_or("", |(folder, _)| folder),
    }
}

/// The objects that are meant, sorted by name: all data below the path, or what a pattern matches and all data below that.
pub(super) fn of(
    key: &str,
    mut listed: Vec<ObjectMeta>,
    is_format_known: bool,
) -> Result<Vec<ObjectMeta>, PatternError> {
    // Some tools mark a folder by an object without content, also one that has nothing in it.
    listed.retain(|object| object.size > 0 || format::is_data(Path::new(object.location.as_ref())));
    let names: Vec<String> = listed.iter().map(|object| object.location.to_string()).collect();
    let takes = chooser(key, &names, is_format_known)?;
    let mut chosen: Vec<(String, ObjectMeta)> =
        names.iter().cloned().zip(listed).filter(|(name, _)| takes(name)).collect();
    chosen.sort_by(|(one, _), (other, _)| Path::new(one).cmp(Path::new(other)));
    Ok(chosen.into_iter().map(|(_, object)| object).collect())
}

fn chooser<'a>(
    key: &'a str,
    names: &'a [String],
    is_format_known: bool,
) -> Result<impl Fn(&str) -> bool + 'a, PatternError> {
    let is_literal = !is_pattern(key) || names.iter().any(|name| name == key);
    let pattern = Pattern::new(if is_literal { "" } else { key })?;
    let folders: HashSet<&str> =
        names.iter().flat_map(|name| name.match_indices('/').map(|(at, _)| &name[..at])).collect();
    let is_data = move |below: &str, name: &str| {
        !below.split('/').any(find::is_hidden) && (is_format_known || !find::is_about(Path::new(name)))
    };
    Ok(move |name: &str| {
        if folders.contains(name) {
            return false;
        }
        if is_literal {
            let folder = key.trim_end_matches('/');
            let below = if folder.is_empty() { Some(name) } else { below(folder, name) };
            return name == key || below.is_some_and(|below| is_data(below, name));
        }
        if pattern.matches_with(name, MATCHING) {
            return true;
        }
        name.match_indices('/')
            .any(|(at, _)| pattern.matches_with(&name[..at], MATCHING) && is_data(&name[at + 1..], name))
    })
}

/// The rest of a name that is below a folder.
fn below<'a>(folder: &str, name: &'a str) -> Option<&'a str> {
    name.strip_prefix(folder)?.strip_prefix('/')
}

#[cfg(test)]
mod tests {
    use super::{chooser, prefix};

    #[test]
    fn objects_are_chosen_as_files_are() {
        let names: Vec<String> = [
            "a.csv",
            "day",
            "day/_SUCCESS",
            "day/.part.csv",
            "day/1.csv.gz",
            "day/notes.txt",
            "day/sub/.tmp/4.csv",
            "day/sub/2.parquet",
            "day/sub/~$3.xlsx",
            "day2/5.csv",
            "x[1].csv",
        ]
        .map(str::to_owned)
        .to_vec();
        let table: [(&str, &str, bool, &[&str]); 13] = [
            (
                "",
                "",
                false,
                &["a.csv", "day/1.csv.gz", "day/notes.txt", "day/sub/2.parquet", "day2/5.csv", "x[1].csv"],
            ),
            ("day", "day", false, &["day/1.csv.gz", "day/notes.txt", "day/sub/2.parquet"]),
            ("day/", "day", false, &["day/1.csv.gz", "day/notes.txt", "day/sub/2.parquet"]),
            ("day", "day", true, &["day/_SUCCESS", "day/1.csv.gz", "day/notes.txt", "day/sub/2.parquet"]),
            ("*.csv", "", false, &["a.csv", "x[1].csv"]),
            ("day/*.gz", "day", false, &["day/1.csv.gz"]),
            ("day/*.txt", "day", false, &["day/notes.txt"]),
            ("day/s*", "day", false, &["day/sub/2.parquet"]),
            ("day?/5.csv", "", false, &["day2/5.csv"]),
            ("da[xy]*/*.csv*", "", false, &["day/1.csv.gz", "day2/5.csv"]),
            ("**/*.csv", "", false, &["a.csv", "day2/5.csv", "x[1].csv"]),
            ("x[1].csv", "", false, &["x[1].csv"]),
            ("day/*.json", "day", false, &[]),
        ];
        for (key, folder, is_format_known, expected) in table {
            assert_eq!(prefix(key), folder, "{key}");
            let takes = chooser(key, &names, is_format_known).unwrap();
            let found: Vec<&String> = names.iter().filter(|name| takes(name)).collect();
            assert_eq!(found, expected, "{key} {is_format_known}");
        }
        assert!(chooser("day/[*.csv", &names, false).is_err());
    }
}
