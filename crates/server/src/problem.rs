//! What a caller is told when something cannot be done: the one place where errors become answers.

use axum::body::Body;
use axum::http::header::{CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use axum::http::{HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use serde_json::{Map, Value, json};
use trueup_events::Problem;
use trueup_job::Faults;
use trueup_store::StoreError;
use utoipa::ToSchema;

/// After how many seconds to try again what may pass by itself.
const AGAIN_AFTER_S: u32 = 1;

/// An answer that says why something was not done; boxed, since it is what nearly every function here may give instead.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Refused(Box<Answer>);

#[derive(Debug, Clone, PartialEq)]
struct Answer {
    problem: Problem,
    more: Map<String, Value>,
    headers: Vec<(HeaderName, HeaderValue)>,
}

/// A problem as the description of the API has it.
#[derive(ToSchema)]
#[schema(as = Problem)]
#[expect(dead_code, reason = "it describes what `Refused` writes")]
pub(crate) struct Described {
    /// The HTTP status.
    #[schema(minimum = 400, maximum = 599)]
    status: u16,
    /// What kind of problem it is.
    title: String,
    /// What is wrong, for a person.
    detail: String,
    /// The same, for clients that only know this field.
    error: String,
    /// The field that is at fault.
    field: Option<String>,
    /// The element of a batch that is at fault, from 0.
    index: Option<usize>,
    /// What to do about it.
    hint: Option<String>,
    /// Everything that is wrong with a document, with places.
    faults: Option<Vec<Value>>,
}

impl Refused {
    /// Says what is wrong, with a status that says what kind it is.
    pub(crate) fn new(status: StatusCode, error: impl Into<String>) -> Self {
        Problem::new(status.as_u16(), error).into()
    }

    /// Says what is wrong with a field.
    pub(crate) fn field(field: &str, problem: impl std::fmt::Display) -> Self {
        let mut refused = Self::new(StatusCode::UNPROCESSABLE_ENTITY, format!("`{field}` {problem}"));
        refused.0.problem.field = Some(field.to_owned());
        refused
    }

    /// Says that there is no such thing; what belongs to another tenant is none.
    pub(crate) fn missing(what: impl std::fmt::Display) -> Self {
        Self::new(StatusCode::NOT_FOUND, format!("there is no {what}"))
    }

    /// Says who is asked to show a key.
    pub(crate) fn unknown_caller(error: impl Into<String>) -> Self {
        let challenge = HeaderValue::from_static("Bearer realm=\"trueup\"");
        Self::new(StatusCode::UNAUTHORIZED, error).header(WWW_AUTHENTICATE, challenge)
    }

    /// Says what is wrong with a document, in all places.
    pub(crate) fn faults(faults: &Faults) -> Self {
        let first = faults.iter().next().map(ToString::to_string).unwrap_or_default();
        let mut refused = Self::new(StatusCode::UNPROCESSABLE_ENTITY, first);
        refused.0.problem.field = faults.iter().next().map(|fault| fault.path.clone());
        let listed = faults.iter().map(|fault| {
            json!({
                "line": fault.place.line,
                "column": fault.place.column,
                "field": fault.path,
                "message": fault.message,
                "hint": fault.hint,
            })
        });
        refused.with("faults", listed.collect())
    }

    /// Says more about it.
    pub(crate) fn with(mut self, name: &str, value: Value) -> Self {
        self.0.more.insert(name.to_owned(), value);
        self
    }

    /// Says more about it in a header.
    pub(crate) fn header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.0.headers.push((name, value));
        self
    }

    /// Says after how long to try again.
    pub(crate) fn again_after(self, seconds: u32) -> Self {
        self.header(RETRY_AFTER, seconds.into())
    }
}

impl From<Problem> for Refused {
    fn from(problem: Problem) -> Self {
        Self(Box::new(Answer { problem, more: Map::new(), headers: Vec::new() }))
    }
}

impl From<StoreError> for Refused {
    fn from(error: StoreError) -> Self {
        let status = status(&error);
        if status.is_server_error() {
            tracing::error!(%error, "a request could not be served");
        }
        let mut refused = Self::new(status, error.to_string());
        if let StoreError::Nul { field } = error {
            refused.0.problem.field = Some(field.to_owned());
        }
        let refused = match error.hint() {
            Some(hint) => refused.with("hint", hint.into()),
            None => refused,
        };
        if error.is_passing() { refused.again_after(AGAIN_AFTER_S) } else { refused }
    }
}

fn status(error: &StoreError) -> StatusCode {
    match error {
        StoreError::NoSuchRun(_) | StoreError::NoSuchJob { .. } => StatusCode::NOT_FOUND,
        StoreError::Refused(_)
        | StoreError::RunDiffers(_)
        | StoreError::Differs { .. }
        | StoreError::TenantTaken { .. }
        | StoreError::Over { .. }
        | StoreError::EventDiffers(_) => StatusCode::CONFLICT,
        StoreError::Changed { .. } => StatusCode::PRECONDITION_FAILED,
        StoreError::NoSuchQueue { .. } | StoreError::Nul { .. } => StatusCode::UNPROCESSABLE_ENTITY,
        StoreError::QueueFull { .. } | StoreError::QueueBusy { .. } => StatusCode::TOO_MANY_REQUESTS,
        StoreError::EventIdTaken { .. }
        | StoreError::Contended { .. }
        | StoreError::Away { .. }
        | StoreError::Full { .. }
        | StoreError::ReadOnly { .. } => StatusCode::SERVICE_UNAVAILABLE,
        _ => StatusCode::INTERNAL_SERVER_ERROR,
    }
}

impl IntoResponse for Refused {
    fn into_response(self) -> Response {
        let Answer { problem, more, headers } = *self.0;
        let status = StatusCode::from_u16(problem.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let mut written = json!(problem);
        if let Value::Object(members) = &mut written {
            members.extend(more);
        }
        let mut response = (status, Body::from(written.to_string())).into_response();
        response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(Problem::MEDIA_TYPE));
        response.headers_mut().extend(headers);
        response
    }
}
