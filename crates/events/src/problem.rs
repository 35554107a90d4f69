//! What is said to whoever sent something that cannot be taken.

use serde::Serialize;

use crate::cloudevents::CloudError;

/// A problem of RFC 9457, with the text once more as `error`, for clients that only know that.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, thiserror::Error)]
#[error("{error}")]
pub struct Problem {
    /// The HTTP status.
    pub status: u16,
    /// What kind of problem it is.
    pub title: &'static str,
    /// What is wrong, for a person.
    pub detail: String,
    /// The same.
    pub error: String,
    /// The field that is at fault.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
    /// The event of a batch that is at fault, from 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub index: Option<usize>,
}

impl Problem {
    /// The content type of an answer that is one.
    pub const MEDIA_TYPE: &'static str = "application/problem+json";

    /// Says what is wrong, with a status that says what kind it is.
    pub fn new(status: u16, error: impl Into<String>) -> Self {
        let title = match status {
            400 => "Bad Request",
            401 => "Unauthorized",
            403 => "Forbidden",
            404 => "Not Found",
            405 => "Method Not Allowed",
            408 => "Request Timeout",
            409 => "Conflict",
            412 => "Precondition Failed",
            413 => "Content Too Large",
            415 => "Unsupported Media Type",
            422 => "Unprocessable Content",
            429 => "Too Many Requests",
            503 => "Service Unavailable",
            _ => "Error",
        };
        let error = error.into();
        Self { status, title, detail: error.clone(), error, field: None, index: None }
    }

    /// Says what is wrong with a field.
    pub(crate) fn of_field(field: &str, problem: impl std::fmt::Display) -> Self {
        Self { field: Some(field.to_owned()), ..Self::new(422, format!("`{field}` {problem}")) }
    }

    /// Says which of a batch is at fault.
    pub(crate) fn in_batch(self, index: usize) -> Self {
        let error = format!("event {index} of the batch: {}", self.error);
        Self { index: Some(index), detail: error.clone(), error, ..self }
    }
}

impl From<CloudError> for Problem {
    fn from(error: CloudError) -> Self {
        let field = error.field().map(str::to_owned);
        Self { field, index: error.index(), ..Self::new(error.status(), error.to_string()) }
    }
}
