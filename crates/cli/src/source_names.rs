//! The names of the sources, and options that are for one of them.

use std::path::Path;

use trueup_compare::near_miss;

use crate::failure::Failure;

/// The sources of the command line, named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceNames {
    names: Vec<String>,
}

/// Splits `NAME=PATH`; what exists under the whole text is a path, whatever it contains.
pub fn parse(sources: &[String]) -> Result<(SourceNames, Vec<String>), Failure> {
    if sources.len() < 2 {
        return Err(Failure::usage_hint(
            "a comparison needs at least two sources",
            "trueup diff ledger.csv bank.csv --key id",
        ));
    }
    let mut names: Vec<String> = Vec::new();
    let mut paths = Vec::new();
    for (number, given) in sources.iter().enumerate() {
        let (name, path) = match given.split_once('=').filter(|_| !Path::new(given).exists()) {
            Some((name, path)) if !name.is_empty() && !name.contains(['/', '\\', '*', '?', '[']) => {
                check_name(name)?;
                (name.to_owned(), path)
            }
            _ => (format!("source_{number}"), given.as_str()),
        };
        if names.contains(&name) {
            return Err(Failure::usage_hint(
                format!("two sources are named `{name}`"),
                format!("give each its own name: {name}_2={path}"),
            ));
        }
        names.push(name);
        paths.push(path.to_owned());
    }
    if paths.iter().filter(|path| *path == "-").count() > 1 {
        return Err(Failure::usage("only one source can be standard input"));
    }
    Ok((SourceNames { names }, paths))
}

/// Names must not be mistaken for numbers, nor for what options put around them.
fn check_name(name: &str) -> Result<(), Failure> {
    let is_number = name.bytes().all(|byte| byte.is_ascii_digit());
    if is_number || name.contains([':', ',']) || matches!(name, "larger" | "smaller" | "mean") {
        return Err(Failure::usage_hint(
            format!("`{name}` cannot be the name of a source"),
            "use a word without : and , that is not a number nor larger, smaller or mean",
        ));
    }
    Ok(())
}

impl SourceNames {
    /// All of them, in order.
    pub fn all(&self) -> &[String] {
        &self.names
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.names.len()
    }

    /// The number of a source given by name or number.
    pub fn find(&self, source: &str) -> Result<usize, Failure> {
        self.known(source).ok_or_else(|| {
            let near = near_miss(source, self.names.iter().map(String::as_str))
                .map(|name| format!("did you mean `{name}`?"));
            let hint = near.unwrap_or_else(|| format!("the sources are {}", self.names.join(", ")));
            Failure::usage_hint(format!("there is no source `{source}`"), hint)
        })
    }

    fn known(&self, source: &str) -> Option<usize> {
        let by_name = self.names.iter().position(|name| name == source);
        by_name.or_else(|| source.parse().ok().filter(|&number| number < self.names.len()))
    }

    /// Splits `SRC:REST` where SRC is a source; otherwise all of it is for every source.
    pub fn scoped<'a>(&self, text: &'a str) -> (Option<usize>, &'a str) {
        let known = text.split_once(':').and_then(|(source, rest)| Some((self.known(source)?, rest)));
        known.map_or((None, text), |(source, rest)| (Some(source), rest))
    }

    /// The value that each source gets from options of the form `[SRC:]VALUE`; one for a source beats one for all.
    pub fn assign<T: Clone>(
        &self,
        given: &[String],
        parse: impl Fn(&str) -> Result<T, Failure>,
    ) -> Result<Vec<Option<T>>, Failure> {
        let mut own = vec![None; self.count()];
        let mut shared = None;
        for text in given {
            let (source, value) = self.scoped(text);
            let value = parse(value)?;
            match source {
                Some(source) => own[source] = Some(value),
                None => shared = Some(value),
            }
        }
        Ok(own.into_iter().map(|value| value.or_else(|| shared.clone())).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::{SourceNames, parse};

    fn names(sources: &[&str]) -> Result<(SourceNames, Vec<String>), String> {
        let sources: Vec<String> = sources.iter().map(|&source| source.to_owned()).collect();
        parse(&sources).map_err(|failure| failure.to_string())
    }

    #[test]
    fn names_and_paths() {
        let (found, paths) = names(&["ledger=a.csv", "b=c=d.csv", "./x=y.csv", "-"]).unwrap();
        assert_eq!(found.all(), ["ledger", "b", "source_2", "source_3"]);
        assert_eq!(paths, ["a.csv", "c=d.csv", "./x=y.csv", "-"]);
    }

    #[test]
    fn an_existing_path_is_not_split() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("day=1.csv");
        std::fs::write(&path, "id\n").unwrap();
        let path = path.to_str().unwrap();
        assert_eq!(names(&[path, "b"]).unwrap().1[0], path);
    }

    #[test]
    fn what_cannot_be_a_name() {
        let cases = [
            (["a=x", "a=y"], "two sources are named `a`"),
            (["0=x", "b=y"], "`0` cannot be the name of a source"),
            (["a:b=x", "b=y"], "`a:b` cannot be the name of a source"),
            (["-", "-"], "only one source can be standard input"),
        ];
        for (sources, message) in cases {
            assert_eq!(names(&sources).unwrap_err(), message);
        }
    }

    #[test]
    fn sources_are_found_by_name_and_number() {
        let (found, _) = names(&["ledger=a.csv", "bank=b.csv"]).unwrap();
        assert_eq!(found.find("bank").unwrap(), 1);
        assert_eq!(found.find("0").unwrap(), 0);
        let cases = [("ledgr:x=y", (None, "ledgr:x=y")), ("1:a:b", (Some(1), "a:b")), (":", (None, ":"))];
        for (text, expected) in cases {
            assert_eq!(found.scoped(text), expected);
        }
        let given = ["tab".to_owned(), "bank:;".to_owned()];
        let assigned = found.assign(&given, |value| Ok(value.to_owned())).unwrap();
        assert_eq!(assigned, [Some("tab".to_owned()), Some(";".to_owned())]);
    }
}
