//! What a job failed of, as a run records it: a total function of the error.

use std::io::ErrorKind;

use trueup_compare::ValueProblem;
use trueup_events::outcome::{ErrorCode, Reason, RunError};
use trueup_events::payload::PhaseError;
use trueup_extract::Refused;

use crate::hint;
use crate::reading::Unopened;

/// A job that says something that cannot be done, and the field that does.
pub(crate) fn invalid_job(field: &str, what: impl std::fmt::Display) -> RunError {
    RunError::new(Reason::InvalidJob, format!("{field}: {what}"))
}

/// Why a source could not be opened; none when somebody called it off.
pub(crate) fn of_source(error: &Unopened) -> Option<RunError> {
    let is_stopped = matches!(extract_error(error), Some(trueup_extract::Error::Stopped));
    (!is_stopped).then(|| of_opening(error))
}

/// Why a source could not be opened, where nobody can call it off.
pub(crate) fn of_opening(error: &Unopened) -> RunError {
    match (error, extract_error(error)) {
        (Unopened::Job(error), _) => error.clone(),
        (_, Some(cause)) => RunError::new(reason_of_source(cause), message(error, hint::of_source(cause))),
        (_, None) => RunError::new(Reason::SourceInvalid, error.to_string()),
    }
}

fn extract_error(error: &Unopened) -> Option<&trueup_extract::Error> {
    match error {
        Unopened::Source(error) => Some(&error.error),
        Unopened::Rows { error, .. } => error.downcast_ref(),
        Unopened::Job(_) => None,
    }
}

/// Why the sources could not be compared; none when somebody called it off.
pub(crate) fn of_comparison(error: &trueup_compare::Error) -> Option<RunError> {
    use trueup_compare::Error;
    let reason = match error {
        Error::Cancelled => return None,
        Error::Read { error, .. } => error.downcast_ref().map_or(Reason::SourceInvalid, reason_of_source),
        // Dates that may be either are no fault of the source: it is the job that has to say which they are.
        Error::Spec { .. }
        | Error::MissingKey { .. }
        | Error::Unfit { .. }
        | Error::Value { problem: ValueProblem::DayOrMonth, .. } => Reason::InvalidJob,
        Error::Value { .. } | Error::Changed { .. } => Reason::SourceInvalid,
        Error::Duplicates { .. }
        | Error::Overflow { .. }
        | Error::TooManyRows { .. }
        | Error::Spill { .. }
        | Error::Breaks(_) => Reason::ComparisonFailed,
    };
    Some(RunError::new(reason, message(error, hint::of_comparison(error))))
}

/// The source that a comparison failed of.
pub(crate) fn source_at_fault(error: &trueup_compare::Error) -> Option<&str> {
    use trueup_compare::Error;
    match error {
        Error::Read { source_name, .. }
        | Error::Value { source_name, .. }
        | Error::Changed { source_name } => Some(source_name),
        _ => None,
    }
}

fn reason_of_source(error: &trueup_extract::Error) -> Reason {
    use trueup_extract::Error;
    match error {
        Error::Missing { .. } | Error::NoMatch { .. } | Error::NoData { .. } | Error::Sheet { .. } => {
            Reason::SourceMissing
        }
        Error::Read { source, .. } if source.kind() == ErrorKind::NotFound => Reason::SourceMissing,
        Error::Pattern { .. } | Error::Encoding { .. } => Reason::InvalidJob,
        Error::Database { kind, .. } | Error::Store { kind, .. } => match kind {
            Refused::Url => Reason::InvalidJob,
            Refused::Connection => Reason::ConnectionFailed,
            Refused::Missing => Reason::SourceMissing,
            Refused::Query => Reason::SourceInvalid,
        },
        // The source is fine; it is our own disk that is not.
        Error::Spool { .. } => Reason::ComparisonFailed,
        Error::UnknownFormat { .. }
        | Error::Format { .. }
        | Error::Read { .. }
        | Error::Changed { .. }
        | Error::Empty { .. }
        | Error::Columns { .. }
        | Error::Text { .. }
        | Error::Cell { .. }
        | Error::Stopped
        | Error::Damaged { .. } => Reason::SourceInvalid,
    }
}

fn message(error: &dyn std::error::Error, hint: Option<String>) -> String {
    hint.map_or_else(|| error.to_string(), |hint| format!("{error}; {hint}"))
}

/// The same for a part of the attempt, whose codes are finer than those of a run.
pub(crate) fn of_phase(error: &RunError) -> PhaseError {
    let code = match (error.code(), error.reason()) {
        (ErrorCode::Unknown, Some(reason)) => reason.name(),
        (code, _) => code.name(),
    };
    PhaseError { code: code.to_owned(), message: error.message().to_owned() }
}
