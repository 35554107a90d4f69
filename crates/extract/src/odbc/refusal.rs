//! What a driver has against it, in its own words, and without the secrets that it may repeat.

use odbc_api::handles::Record;

use crate::error::Refused;

/// How words begin that are not the driver's.
const MANAGER: &str = "[Driver Manager]";

/// Why nothing comes.
pub(super) struct Refusal {
    pub(super) kind: Refused,
    pub(super) problem: String,
}

impl Refusal {
    /// What is wrong with a query, in our words.
    pub(super) fn of_query(problem: String) -> Self {
        Self { kind: Refused::Query, problem }
    }

    /// What a driver says while somebody is connected.
    pub(super) fn of(error: &odbc_api::Error, connection_string: &str) -> Self {
        let Some(record) = record(error) else {
            return Self::of_query(without_secrets(&error.to_string(), connection_string));
        };
        let words = words(record);
        let kind = kind_of(record.state.as_str(), &words);
        Self { kind, problem: without_secrets(&words, connection_string) }
    }

    /// What a driver says, or the driver manager in its place, when a connection is to be made.
    pub(super) fn of_connecting(error: &odbc_api::Error, connection_string: &str) -> Self {
        let refusal = Self::of(error, connection_string);
        let kind = match refusal.kind {
            // It is not installed, or nothing has that name.
            _ if refusal.problem.contains(MANAGER) => Refused::Url,
            Refused::Missing => Refused::Missing,
            Refused::Url | Refused::Connection | Refused::Query => Refused::Connection,
        };
        Self { kind, ..refusal }
    }
}

fn record(error: &odbc_api::Error) -> Option<&Record> {
    use odbc_api::Error;
    match error {
        Error::Diagnostics { record, .. }
        | Error::UnsupportedOdbcApiVersion(record)
        | Error::InvalidRowArraySize { record, .. }
        | Error::UnableToRepresentNull(record)
        | Error::OracleOdbcDriverDoesNotSupport64Bit(record) => Some(record),
        _ => None,
    }
}

/// Whether a driver does not have what it is asked for.
pub(super) fn is_unknown(error: &odbc_api::Error) -> bool {
    record(error).is_some_and(|record| matches!(record.state.as_str(), "HYC00" | "HY092" | "IM001"))
}

fn words(record: &Record) -> String {
    let message = String::from_utf16_lossy(&record.message);
    let lines: Vec<&str> = message.lines().map(str::trim).collect();
    format!("{} ({})", lines.join(" "), record.state.as_str())
}

/// What a refusal is about, by its SQLSTATE: those of ODBC, and those of PostgreSQL that come as they are.
fn kind_of(state: &str, words: &str) -> Refused {
    match state {
        "42S02" | "42S22" | "42P01" | "42703" | "42883" | "3D000" | "3F000" => Refused::Missing,
        // SQLite has one state for all that is wrong with a statement.
        "HY000" if words.contains("no such table") || words.contains("no such column") => Refused::Missing,
        "HYT00" | "HYT01" => Refused::Connection,
        _ if ["08", "28", "53", "57P"].iter().any(|class| state.starts_with(class)) => Refused::Connection,
        _ => Refused::Query,
    }
}

/// Words without any value of the connection string that is nobody's business.
fn without_secrets(words: &str, connection_string: &str) -> String {
    let secrets = attributes(connection_string).filter(|(name, value)| is_secret(name) && !value.is_empty());
    secrets.fold(words.to_owned(), |words, (_, secret)| {
        // Drivers repeat it as it was given, or as they understand it.
        words.replace(&format!("{{{}}}", secret.replace('}', "}}")), "…").replace(&secret, "…")
    })
}

fn is_secret(name: &str) -> bool {
    let name = name.to_lowercase();
    ["pwd", "pass", "secret", "token", "key"].iter().any(|part| name.contains(part))
}

/// The attributes of a connection string: names, and values that are in braces if they hold a semicolon.
fn attributes(connection_string: &str) -> impl Iterator<Item = (&str, String)> {
    let mut rest = connection_string;
    std::iter::from_fn(move || {
        let (name, behind) = rest.split_once('=')?;
        let (value, behind) = value(behind);
        rest = behind;
        Some((name.trim(), value))
    })
}

fn value(text: &str) -> (String, &str) {
    let Some(braced) = text.strip_prefix('{') else {
        let (value, behind) = text.split_once(';').unwrap_or((text, ""));
        return (value.to_owned(), behind);
    };
    let mut value = String::new();
    let mut rest = braced;
    while let Some((part, behind)) = rest.split_once('}') {
        value.push_str(part);
        let Some(behind) = behind.strip_prefix('}') else {
            return (value, behind.trim_start_matches(';'));
        };
        value.push('}');
        rest = behind;
    }
    (value + rest, "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_left_out_of_words() {
        let table = [
            ("DSN=erp;UID=ann;PWD=hunter2", "no entry for PWD=hunter2; ann", "no entry for PWD=…; ann"),
            ("Pwd={hun;ter2}};DSN=erp", "PWD={hun;ter2}}", "PWD={hun;ter2}}"),
            ("Pwd={hun;ter}}2};UID=ann", "hun;ter}2 and {hun;ter}}2} of ann", "… and … of ann"),
            ("AccessToken=abc;Driver={x};Password=def", "abc def x", "… … x"),
            ("DSN=erp;PWD=", "nothing", "nothing"),
            ("hunter2", "hunter2", "hunter2"),
        ];
        for (connection_string, words, expected) in table {
            assert_eq!(without_secrets(words, connection_string), expected, "{connection_string}");
        }
    }
}
