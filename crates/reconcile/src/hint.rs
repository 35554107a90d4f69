//! Which field of a job helps when it cannot be carried out.

use std::io::ErrorKind;

use trueup_compare::{BreaksFileError, ValueProblem};
use trueup_extract::{Problem, Refused, Scheme};

/// What to write into the job when a source cannot be read.
pub(crate) fn of_source(error: &trueup_extract::Error) -> Option<String> {
    let hint = match error {
        trueup_extract::Error::UnknownFormat { .. } => {
            "set the `format` of the source, or take only some files of a directory with a glob"
        }
        trueup_extract::Error::Columns { .. } => "take only some files of a directory with a glob",
        trueup_extract::Error::Encoding { .. } => "correct the `encoding` of the source",
        trueup_extract::Error::Empty { .. } => "an empty source is a header without rows",
        trueup_extract::Error::Text { problem, .. } | trueup_extract::Error::Cell { problem, .. } => {
            of_text(problem)?
        }
        trueup_extract::Error::Store { scheme, kind: Refused::Connection, .. } => {
            return Some(of_store(*scheme));
        }
        _ => return None,
    };
    Some(hint.to_owned())
}

fn of_store(scheme: Scheme) -> String {
    match scheme {
        Scheme::Http => "if it asks who reads, name a `connection` of type http".to_owned(),
        other => format!("check the `connection` of the source or, without one, {}", other.credentials()),
    }
}

fn of_text(problem: &Problem) -> Option<&'static str> {
    match problem {
        Problem::Ragged { .. } | Problem::TooLong { .. } => Some(
            "if something else is between or around the fields, set `delimiter` or `quote` of the source",
        ),
        Problem::Unclosed | Problem::AfterQuote => {
            Some("if quotes mean nothing in it, set `quote` of the source to a character that is not in it")
        }
        Problem::Utf8 | Problem::Encoding(_) => Some("set the `encoding` of the source, such as latin1"),
        Problem::EmptyName(_) | Problem::SameName(_) => {
            Some("if the first line is data, set `no_header: true` of the source")
        }
        Problem::Json(_) => Some("if it is no JSON, set the `format` of the source"),
        Problem::JsonArray => Some("write one object a line: `jq -c '.[]' FILE`"),
        Problem::SameKey(_) | Problem::Formula(_) | Problem::NoDate(_) | Problem::Beside => None,
    }
}

/// What to do when the sources cannot be compared.
pub(crate) fn of_comparison(error: &trueup_compare::Error) -> Option<String> {
    match error {
        trueup_compare::Error::Read { error, .. } => of_source(error.downcast_ref()?),
        trueup_compare::Error::Value { column, problem, .. } => of_value(column, problem),
        trueup_compare::Error::Breaks(error) => error.downcast_ref::<BreaksFileError>()?.hint(),
        trueup_compare::Error::Spill { error, .. } if error.kind() == ErrorKind::StorageFull => {
            Some("free some space there, or raise `memory`".to_owned())
        }
        trueup_compare::Error::MissingKey { near: Some(near), column, .. } => {
            Some(format!("it has `{near}`: add `columns: {{{near}: {column}}}` to the source"))
        }
        other => other.hint(),
    }
}

fn of_value(column: &str, problem: &ValueProblem) -> Option<String> {
    match problem {
        ValueProblem::DayOrMonth => {
            Some(format!("declare it for the source: `date_formats: {{{column}: \"%d/%m/%Y\"}}`"))
        }
        ValueProblem::DateFormat => Some("correct the `date_formats` of the source".to_owned()),
        ValueProblem::TooLong => Some("a number may have 38 digits".to_owned()),
        other => other.hint().map(str::to_owned),
    }
}
