//! How a run ended: with a verdict, or with an error that says why it has none.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::word::words;

words! {
    /// What a comparison found; either is a result, not an error.
    Verdict {
        /// Every group is in every source and every tolerance passed.
        Matched = "MATCHED",
        /// Anything else.
        Unmatched = "UNMATCHED",
    }
}

words! {
    /// Why a run has no verdict: the four codes that are a contract.
    ErrorCode {
        /// It ran past its deadline.
        TimedOut = "TIMED_OUT",
        /// It was killed, ran out of memory, or its worker was lost.
        Crashed = "CRASHED",
        /// A source could not be read whole.
        QueryFailed = "QUERY_FAILED",
        /// Anything else.
        Unknown = "UNKNOWN",
    }
}

words! {
    /// Why a run has no verdict, finer than its code.
    Reason {
        /// It ran past its deadline.
        DeadlineExceeded = "DEADLINE_EXCEEDED",
        /// It needed more memory than it was given.
        OutOfMemory = "OUT_OF_MEMORY",
        /// Its worker stopped answering.
        WorkerLost = "WORKER_LOST",
        /// A source could not be reached.
        ConnectionFailed = "CONNECTION_FAILED",
        /// A source is not there.
        SourceMissing = "SOURCE_MISSING",
        /// A source is not what it should be.
        SourceInvalid = "SOURCE_INVALID",
        /// The sources were read, but could not be compared.
        ComparisonFailed = "COMPARISON_FAILED",
        /// The engine did not take it.
        QueueRejected = "QUEUE_REJECTED",
        /// The job says something that cannot be done.
        InvalidJob = "INVALID_JOB",
    }
}

impl Reason {
    /// The code that it is a case of.
    pub const fn code(self) -> ErrorCode {
        match self {
            Self::DeadlineExceeded => ErrorCode::TimedOut,
            Self::OutOfMemory | Self::WorkerLost => ErrorCode::Crashed,
            Self::ConnectionFailed | Self::SourceMissing | Self::SourceInvalid => ErrorCode::QueryFailed,
            Self::ComparisonFailed | Self::QueueRejected | Self::InvalidJob => ErrorCode::Unknown,
        }
    }
}

/// Why a run has no verdict; a reason, where there is one, is a case of the code.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "ErrorFields")]
pub struct RunError {
    code: ErrorCode,
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<Reason>,
}

#[derive(Deserialize)]
struct ErrorFields {
    code: ErrorCode,
    message: String,
    reason: Option<Reason>,
}

/// A reason that belongs to another code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the reason {reason} belongs to the code {}, not to {code}", reason.code())]
pub struct ReasonOfAnotherCode {
    code: ErrorCode,
    reason: Reason,
}

impl TryFrom<ErrorFields> for RunError {
    type Error = ReasonOfAnotherCode;

    fn try_from(ErrorFields { code, message, reason }: ErrorFields) -> Result<Self, ReasonOfAnotherCode> {
        match reason {
            Some(reason) if reason.code() != code => Err(ReasonOfAnotherCode { code, reason }),
            _ => Ok(Self { code, message: legible(message), reason }),
        }
    }
}

impl RunError {
    /// An error whose reason is known.
    pub fn new(reason: Reason, message: impl Into<String>) -> Self {
        Self { code: reason.code(), message: legible(message.into()), reason: Some(reason) }
    }

    /// An error of which only the code is known.
    pub fn of_code(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: legible(message.into()), reason: None }
    }

    /// One of the four codes.
    pub fn code(&self) -> ErrorCode {
        self.code
    }

    /// The finer reason, where it is known.
    pub fn reason(&self) -> Option<Reason> {
        self.reason
    }

    /// What happened, for a person.
    pub fn message(&self) -> &str {
        &self.message
    }
}

/// A message quotes what was read, and not every database can keep all of that: NUL is shown as a sign.
fn legible(message: String) -> String {
    if message.contains('\0') { message.replace('\0', "\u{2400}") } else { message }
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.reason.map_or(self.code.name(), Reason::name), self.message)
    }
}

/// How a run ended, in JSON as exactly one of the fields `result` and `error`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "OutcomeFields", into = "OutcomeFields")]
pub enum Outcome {
    /// It compared.
    Result(Verdict),
    /// It could not run to its end.
    Error(RunError),
}

#[derive(Serialize, Deserialize)]
struct OutcomeFields {
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<Verdict>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<RunError>,
}

/// An outcome with both a result and an error, or neither.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("needs exactly one of `result` and `error`")]
pub struct NotOneOutcome;

impl TryFrom<OutcomeFields> for Outcome {
    type Error = NotOneOutcome;

    fn try_from(fields: OutcomeFields) -> Result<Self, NotOneOutcome> {
        match (fields.result, fields.error) {
            (Some(verdict), None) => Ok(Self::Result(verdict)),
            (None, Some(error)) => Ok(Self::Error(error)),
            _ => Err(NotOneOutcome),
        }
    }
}

impl From<Outcome> for OutcomeFields {
    fn from(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Result(verdict) => Self { result: Some(verdict), error: None },
            Outcome::Error(error) => Self { result: None, error: Some(error) },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outcome_is_one_of_two() {
        let error = r#"{"error":{"code":"CRASHED","message":"killed","reason":"OUT_OF_MEMORY"}}"#;
        for text in [r#"{"result":"MATCHED"}"#, r#"{"error":{"code":"UNKNOWN","message":""}}"#, error] {
            let outcome: Outcome = serde_json::from_str(text).unwrap();
            assert_eq!(serde_json::to_string(&outcome).unwrap(), text);
        }
        let both = r#"{"result":"MATCHED","error":{"code":"UNKNOWN","message":""}}"#;
        let torn = r#"{"error":{"code":"UNKNOWN","message":"","reason":"WORKER_LOST"}}"#;
        for text in ["{}", r#"{"result":null}"#, both, torn, r#"{"result":"matched"}"#] {
            assert!(serde_json::from_str::<Outcome>(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_message_has_no_nul() {
        let shown = |error: RunError| error.message().to_owned();
        assert_eq!(shown(RunError::new(Reason::InvalidJob, "a\0b")), "a␀b");
        assert_eq!(shown(RunError::of_code(ErrorCode::Crashed, "a\0b")), "a␀b");
        assert_eq!(shown(serde_json::from_str(r#"{"code":"UNKNOWN","message":"a\u0000b"}"#).unwrap()), "a␀b");
    }

    #[test]
    fn words_are_read_as_they_are_written() {
        assert!(Reason::ALL.iter().all(|reason| reason.name().parse() == Ok(*reason)));
        let error = "TIMEOUT".parse::<ErrorCode>().unwrap_err();
        assert_eq!(error.to_string(), r#""TIMEOUT" is none of TIMED_OUT, CRASHED, QUERY_FAILED, UNKNOWN"#);
    }

    #[test]
    fn every_code_has_a_reason() {
        assert!(ErrorCode::ALL.iter().all(|code| Reason::ALL.iter().any(|reason| reason.code() == *code)));
    }
}
