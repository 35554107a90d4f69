//! Which option helps when a source cannot be read.

use std::io::ErrorKind;

use trueup_extract::{Error, Problem, Refused, Scheme};

/// What to write on the command line, for the source of this name.
pub(crate) fn of(source: &str, error: &Error) -> Option<String> {
    match error {
        Error::UnknownFormat { .. } => Some(format!(
            "--input-format {source}:csv, if that is what it is; of a directory, a glob takes only some files: {source}='…/*.csv'"
        )),
        Error::Columns { .. } => {
            Some(format!("a glob takes only some files of a directory: {source}='…/*.csv'"))
        }
        Error::Encoding { .. } => Some(format!("--encoding {source}:latin1")),
        Error::Text { problem, .. } | Error::Cell { problem, .. } => of_text(source, problem),
        Error::Store { scheme, kind: Refused::Connection, .. } => of_store(*scheme),
        Error::Empty { .. } => Some("an empty source is a header without rows".to_owned()),
        Error::Spool { source: cause, .. } => of_temporary_files(cause.kind()),
        _ => None,
    }
}

fn of_text(source: &str, problem: &Problem) -> Option<String> {
    match problem {
        Problem::Ragged { .. } | Problem::TooLong { .. } => Some(format!(
            "if something else is between or around the fields: --delimiter '{source}:;', --quote \"{source}:'\""
        )),
        Problem::Unclosed | Problem::AfterQuote => Some(format!(
            "if quotes mean nothing in it, name a character that is not in it: --quote '{source}:^'"
        )),
        Problem::Utf8 | Problem::Encoding(_) => Some(format!("--encoding {source}:latin1, or another")),
        Problem::EmptyName(_) | Problem::SameName(_) => {
            Some(format!("if the first line is data: --no-header={source}"))
        }
        Problem::JsonArray => Some(
            "JSON lines are expected, one object a line, which `jq -c '.[]'` makes of an array".to_owned(),
        ),
        Problem::Json(_) => Some(format!("if it is no JSON: --input-format {source}:csv")),
        Problem::SameKey(_) | Problem::Formula(_) | Problem::NoDate(_) | Problem::Beside => None,
    }
}

fn of_store(scheme: Scheme) -> Option<String> {
    (scheme != Scheme::Http).then(|| format!("set {}", scheme.credentials()))
}

/// What helps when temporary files cannot be written.
pub(crate) fn of_temporary_files(kind: ErrorKind) -> Option<String> {
    match kind {
        ErrorKind::NotFound
        | ErrorKind::NotADirectory
        | ErrorKind::PermissionDenied
        | ErrorKind::ReadOnlyFilesystem => {
            Some("set TMPDIR to a directory that can be written to".to_owned())
        }
        ErrorKind::StorageFull => Some("free some space there, or set TMPDIR to another disk".to_owned()),
        _ => None,
    }
}
