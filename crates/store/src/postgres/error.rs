//! Which kind of error each error of PostgreSQL is.

use std::error::Error as _;

use tokio_postgres::Error;

use crate::error::StoreError;

/// Says what an error of the driver means for what was being done.
pub(crate) fn failed(error: &Error, doing: &'static str) -> StoreError {
    match error.as_db_error() {
        Some(told) => {
            let hint = told.hint().map(|hint| format!(" ({hint})")).unwrap_or_default();
            kind(told.code().code(), told.constraint(), format!("{}{hint}", told.message()), doing)
        }
        None if is_connection_lost(error) => StoreError::Away { doing, problem: problem(error) },
        None => StoreError::Failed { doing, problem: problem(error) },
    }
}

fn is_connection_lost(error: &Error) -> bool {
    error.is_closed() || error.source().is_some_and(<dyn std::error::Error>::is::<std::io::Error>)
}

fn problem(error: &Error) -> String {
    error.source().map_or_else(|| error.to_string(), |cause| format!("{error}: {cause}"))
}

/// Sorts the codes of PostgreSQL's manual, appendix A.
fn kind(code: &str, constraint: Option<&str>, problem: String, doing: &'static str) -> StoreError {
    match code {
        // A run that was told to have ended twice is no race.
        "23505" if constraint == Some("one_end_is_told") => StoreError::Failed { doing, problem },
        "23505" if constraint == Some("events_pkey") => StoreError::EventIdTaken { doing },
        // Two made the same thing at once: whoever tries again finds it made.
        "23505" | "40001" | "40P01" | "55P03" => StoreError::Contended { doing },
        "53100" => StoreError::Full { doing, problem },
        "25006" => StoreError::ReadOnly { problem },
        "XX001" | "XX002" => StoreError::Damaged { problem },
        "3F000" | "42P01" | "42703" | "42883" => StoreError::Foreign { problem },
        "57014" | "57P01" | "57P02" | "57P03" | "57P05" | "25P03" => StoreError::Away { doing, problem },
        _ if code.starts_with("08") || code.starts_with("53") => StoreError::Away { doing, problem },
        _ => StoreError::Failed { doing, problem },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_is_of_one_kind() {
        let table = [
            ("40001", None, "Contended"),
            ("40P01", None, "Contended"),
            ("55P03", None, "Contended"),
            ("23505", Some("jobs_tenant_id_name_key"), "Contended"),
            ("23505", Some("one_end_is_told"), "Failed"),
            ("23505", Some("events_pkey"), "EventIdTaken"),
            ("53100", None, "Full"),
            ("53200", None, "Away"),
            ("53300", None, "Away"),
            ("25006", None, "ReadOnly"),
            ("08006", None, "Away"),
            ("57014", None, "Away"),
            ("57P01", None, "Away"),
            ("57P02", None, "Away"),
            ("57P03", None, "Away"),
            ("57P05", None, "Away"),
            ("25P03", None, "Away"),
            ("XX001", None, "Damaged"),
            ("XX002", None, "Damaged"),
            ("42P01", None, "Foreign"),
            ("42703", None, "Foreign"),
            ("42883", None, "Foreign"),
            ("3F000", None, "Foreign"),
            ("23514", Some("running_has_a_lease"), "Failed"),
            ("28P01", None, "Failed"),
            ("3D000", None, "Failed"),
            ("42501", None, "Failed"),
            ("XX000", None, "Failed"),
        ];
        for (code, constraint, expected) in table {
            let found = format!("{:?}", kind(code, constraint, "it said so".to_owned(), "testing"));
            assert!(found.starts_with(expected), "{code} {constraint:?}: {found}");
        }
    }
}
