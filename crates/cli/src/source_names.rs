//! The names of the sources, and options that are for one of them.

use std::path::Path;

use trueup_compare::near_miss;

use crate::failure::Failure;

/// The sources of the command line, named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SourceNames {
    names: Vec<String>,
}

/// Splits `NAME=PATH`; what exists under the whole text is a path, whatever it contains.
pub(crate) fn parse(sources: &[String]) -> Result<(SourceNames, Vec<String>), Failure> {
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
    pub(crate) fn all(&self) -> &[String] {
        &self.names
    }

    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        self.names.len()
    }

    /// The number of a source given by name or number.
    pub(crate) fn find(&self, source: &str) -> Result<usize, Failure> {
        self.known(source).ok_or_else(|| {
            let near = near_miss(source, self.names.iter().map(String::as_str))
                .map(|name| format!("did you mean `{name}`?"));
            let hint = near.unwrap_or_else(|| format!("the sources are {}", self.names.join(", ")));
            Failure::usage_hint(format!("there is no source `{source}`"), hint)
        })
    }

    fn known(&self, source: &str) -> Option<usize> {
        let by_name = self.names.iter().position(|name| name == source);
        // `parse` takes a sign as well, and `+01` is the hour of an offset.
        let is_number = source.bytes().all(|byte| byte.is_ascii_digit());
        by_name.or_else(|| source.parse().ok().filter(|&number| is_number && number < self.names.len()))
    }

    /// Splits `SRC:REST` where SRC is a source; otherwise all of it is for every source.
    pub(crate) fn scoped<'a>(&self, text: &'a str) -> (Option<usize>, &'a str) {
        let known = text.split_once(':').and_then(|(source, rest)| Some((self.known(source)?, rest)));
        known.map_or((None, text), |(source, rest)| (Some(source), rest))
    }

    /// As [`Self::scoped`], for values that have no colon of their own, except alone: what is before one must be a source.
    fn scoped_value<'a>(&self, text: &'a str) -> Result<(Option<usize>, &'a str), Failure> {
        match text.split_once(':') {
            Some((source, rest)) if !source.is_empty() => Ok((Some(self.find(source)?), rest)),
            _ => Ok((None, text)),
        }
    }

    /// The zone that each source gets; `+01:00` as a whole is one for all.
    pub(crate) fn assign_zones(&self, given: &[String]) -> Result<Vec<Option<String>>, Failure> {
        let scoped = |text| if is_offset(text) { Ok((None, text)) } else { self.scoped_value(text) };
        self.assign_scoped("--timezone", given, scoped, zone)
    }

    /// The value that each source gets from options of the form `[SRC:]VALUE`; one for a source beats one for all.
    pub(crate) fn assign<T: Clone>(
        &self,
        option: &str,
        given: &[String],
        parse: impl Fn(&str) -> Result<T, Failure>,
    ) -> Result<Vec<Option<T>>, Failure> {
        self.assign_scoped(option, given, |text| self.scoped_value(text), parse)
    }

    fn assign_scoped<'a, T: Clone>(
        &self,
        option: &str,
        given: &'a [String],
        scoped: impl Fn(&'a str) -> Result<(Option<usize>, &'a str), Failure>,
        parse: impl Fn(&str) -> Result<T, Failure>,
    ) -> Result<Vec<Option<T>>, Failure> {
        let mut once = Once::default();
        let mut own = vec![None; self.count()];
        let mut shared = None;
        for text in given {
            let (source, value) = scoped(text)?;
            let value = parse(value)?;
            once.take(option, source, text)?;
            match source {
                Some(source) => own[source] = Some(value),
                None => shared = Some(value),
            }
        }
        Ok(own.into_iter().map(|value| value.or_else(|| shared.clone())).collect())
    }
}

/// What has been said, so that nothing is said twice.
#[derive(Default)]
pub(crate) struct Once<'a, T>(Vec<(T, &'a str)>);

impl<'a, T: PartialEq> Once<'a, T> {
    /// Refuses a second text about the same thing.
    pub(crate) fn take(&mut self, option: &str, about: T, text: &'a str) -> Result<(), Failure> {
        if let Some((_, first)) = self.0.iter().find(|(known, _)| *known == about) {
            return Err(Failure::usage_hint(
                format!("{option} {first} and {option} {text} are about the same"),
                "leave out one of them",
            ));
        }
        self.0.push((about, text));
        Ok(())
    }
}

/// Whether it is a zone like `+01:00`, whose colon comes after no source.
fn is_offset(text: &str) -> bool {
    text.starts_with(['+', '-'])
}

fn zone(text: &str) -> Result<String, Failure> {
    trueup_compare::check_timezone(text).map_err(|what| Failure::usage(format!("--timezone: {what}")))?;
    Ok(text.to_owned())
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
        let assigned = found.assign("--delimiter", &given, |value| Ok(value.to_owned())).unwrap();
        assert_eq!(assigned, [Some("tab".to_owned()), Some(";".to_owned())]);
        let unknown = found.assign("--delimiter", &["bnak:;".to_owned()], |value| Ok(value.to_owned()));
        assert_eq!(unknown.unwrap_err().to_string(), "there is no source `bnak`");
        let colon = found.assign("--delimiter", &[":".to_owned()], |value| Ok(value.len()));
        assert_eq!(colon.unwrap(), [Some(1), Some(1)]);
    }

    #[test]
    fn zones_are_for_all_or_for_one() {
        let (found, _) = names(&["ledger=a.csv", "bank=b.csv"]).unwrap();
        let zones = |given: &[&str]| {
            let given: Vec<String> = given.iter().map(|&text| text.to_owned()).collect();
            let zones = found.assign_zones(&given).map_err(|failure| failure.to_string())?;
            Ok::<_, String>(zones.into_iter().map(Option::unwrap_or_default).collect::<Vec<_>>())
        };
        let cases: [(&[&str], [&str; 2]); 7] = [
            (&["+01:00"], ["+01:00", "+01:00"]),
            (&["-0530"], ["-0530", "-0530"]),
            (&["UTC"], ["UTC", "UTC"]),
            (&["Z"], ["Z", "Z"]),
            (&["bank:+01:00"], ["", "+01:00"]),
            (&["1:Europe/Berlin", "+01:00"], ["+01:00", "Europe/Berlin"]),
            (&["Europe/Berlin", "0:UTC"], ["UTC", "Europe/Berlin"]),
        ];
        for (given, expected) in cases {
            assert_eq!(zones(given).unwrap(), expected, "{given:?}");
        }
        let refused = [
            ("bnak:UTC", "there is no source `bnak`"),
            ("2:UTC", "there is no source `2`"),
            ("Europe/Berln", "--timezone: time zone `Europe/Berln` is not known"),
            ("bank:Europe/Berln", "--timezone: time zone `Europe/Berln` is not known"),
            ("+25:00", "--timezone: time zone `+25:00` is not known"),
        ];
        for (given, message) in refused {
            let error = zones(&[given]).unwrap_err();
            assert!(error.starts_with(message), "{error}");
        }
    }
}
