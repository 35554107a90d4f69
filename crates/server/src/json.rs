//! What requests say, read into types, and what is answered.

use std::time::Duration;

use axum::body::Bytes;
use axum::extract::{FromRequest, FromRequestParts, Path, Request};
use axum::http::header::CONTENT_TYPE;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::time::timeout;
use trueup_events::Time;

use crate::problem::Refused;

/// A body of JSON; nothing at all is an empty object.
pub(crate) struct Body<T>(pub(crate) T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for Body<T> {
    type Rejection = Refused;

    async fn from_request(request: Request, state: &S) -> Result<Self, Refused> {
        let Unread(bytes) = Unread::from_request(request, state).await?;
        parse(if bytes.is_empty() { b"{}" } else { &bytes }).map(Self)
    }
}

/// The bytes of a body that is JSON, or empty, or does not say what it is.
pub(crate) struct Unread(pub(crate) Bytes);

impl<S: Send + Sync> FromRequest<S> for Unread {
    type Rejection = Refused;

    async fn from_request(request: Request, state: &S) -> Result<Self, Refused> {
        let media_type = media_type(request.headers())?;
        let bytes = read(request, state).await?;
        let is_json = |media_type: &str| media_type == "application/json" || media_type.ends_with("+json");
        match media_type {
            Some(media_type) if !bytes.is_empty() && !is_json(&media_type) => {
                let problem = format!("the body is {media_type}, and must be application/json");
                Err(Refused::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, problem))
            }
            _ => Ok(Self(bytes)),
        }
    }
}

/// How long a body may take to arrive.
const PATIENCE: Duration = Duration::from_secs(30);

/// Reads a whole body, which is bounded in length and in time.
pub(crate) async fn read<S: Send + Sync>(request: Request, state: &S) -> Result<Bytes, Refused> {
    let read = timeout(PATIENCE, Bytes::from_request(request, state)).await.map_err(|_| {
        let problem = format!("the body did not arrive within {} seconds", PATIENCE.as_secs());
        Refused::new(StatusCode::REQUEST_TIMEOUT, problem)
    })?;
    read.map_err(|rejection| match rejection.status() {
        StatusCode::PAYLOAD_TOO_LARGE => Refused::new(StatusCode::PAYLOAD_TOO_LARGE, "the body is too long"),
        status => Refused::new(status, rejection.body_text()),
    })
}

/// What the body is said to be, without parameters and in small letters.
pub(crate) fn media_type(headers: &HeaderMap) -> Result<Option<String>, Refused> {
    let Some(value) = headers.get(CONTENT_TYPE) else { return Ok(None) };
    let text = value.to_str().map_err(|_| {
        Refused::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "the content-type is not a text of ASCII")
    })?;
    let media_type = text.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    Ok(Some(media_type).filter(|media_type| !media_type.is_empty()))
}

/// Reads JSON; what is wrong is named by its field.
pub(crate) fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Refused> {
    let mut reader = serde_json::Deserializer::from_slice(bytes);
    let value = serde_path_to_error::deserialize(&mut reader).map_err(|error| {
        let (path, problem) = (error.path().to_string(), error.into_inner());
        if problem.is_data() {
            Refused::field(&path, format!("is wrong: {problem}"))
        } else {
            Refused::new(StatusCode::BAD_REQUEST, format!("the body is not JSON: {problem}"))
        }
    })?;
    let rest = reader.end();
    rest.map_err(|error| Refused::new(StatusCode::BAD_REQUEST, format!("the body is not JSON: {error}")))?;
    Ok(value)
}

/// A time as people and programs write it, in milliseconds since 1970.
pub(crate) fn time_ms(field: &str, text: &str) -> Result<i64, Refused> {
    let time: Time = text.parse().map_err(|error| Refused::field(field, format!("is no time: {error}")))?;
    Ok(time.unix_us().div_euclid(1000))
}

/// What is asked for after the question mark.
pub(crate) struct Query<T>(pub(crate) T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for Query<T> {
    type Rejection = Refused;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Refused> {
        let text = parts.uri.query().unwrap_or_default();
        let pairs = serde_urlencoded::Deserializer::new(form_urlencoded::parse(text.as_bytes()));
        serde_path_to_error::deserialize(pairs).map(Self).map_err(|error| {
            let (path, problem) = (error.path().to_string(), error.into_inner());
            Refused::field(&path, format!("is wrong: {problem}"))
        })
    }
}

/// What the path of a request names.
pub(crate) struct Named<T>(pub(crate) T);

impl<T: DeserializeOwned + Send, S: Send + Sync> FromRequestParts<S> for Named<T> {
    type Rejection = Refused;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Refused> {
        let named = Path::<T>::from_request_parts(parts, state).await;
        named.map(|Path(named)| Self(named)).map_err(|rejection| {
            Refused::new(StatusCode::NOT_FOUND, format!("the path leads nowhere: {}", rejection.body_text()))
        })
    }
}

/// An answer of JSON.
#[derive(Debug, Clone)]
pub(crate) struct Json<T>(pub(crate) T);

impl<T: Serialize> IntoResponse for Json<T> {
    fn into_response(self) -> Response {
        match serde_json::to_vec(&self.0) {
            Ok(body) => {
                ([(CONTENT_TYPE, HeaderValue::from_static("application/json"))], body).into_response()
            }
            Err(error) => {
                tracing::error!(%error, "an answer could not be written");
                let problem = "the answer could not be written; the log says why";
                Refused::new(StatusCode::INTERNAL_SERVER_ERROR, problem).into_response()
            }
        }
    }
}
