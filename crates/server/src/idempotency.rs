//! A request that is sent again is done once: `Idempotency-Key`.
//!
//! Whatever a request makes gets an id that follows from its key, so that doing it again makes nothing new. The answer is kept beside it, and given again for as
//! long as it is kept; a request whose answer was lost before it was kept is simply done again.

use std::sync::Arc;

use axum::body::{Body, to_bytes};
use axum::extract::{FromRequestParts, Request, State};
use axum::http::header::{CONTENT_TYPE, ETAG, LOCATION};
use axum::http::request::Parts;
use axum::http::{HeaderName, HeaderValue, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};
use trueup_store::Answer;
use uuid::{Builder, Uuid};

use crate::app::App;
use crate::caller::Caller;
use crate::json;
use crate::problem::Refused;

const KEY: HeaderName = HeaderName::from_static("idempotency-key");
const REPLAYED: HeaderName = HeaderName::from_static("idempotency-replayed");
/// How long a key may be.
const KEY_MAX: usize = 255;
/// The headers of an answer that are given again with it.
const KEPT_HEADERS: [HeaderName; 3] = [CONTENT_TYPE, LOCATION, ETAG];

/// The id of what a request makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Wish(pub(crate) Uuid);

impl<S: Send + Sync> FromRequestParts<S> for Wish {
    type Rejection = std::convert::Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Self::Rejection> {
        Ok(parts.extensions.get::<Self>().copied().unwrap_or_else(|| Self(Uuid::now_v7())))
    }
}

/// What is kept of an answer instead of all of it, where it says something that is said once.
#[derive(Debug, Clone)]
pub(crate) struct KeptInstead(pub(crate) Value);

/// Does a request, unless it was done before.
pub(crate) async fn once(
    State(app): State<Arc<App>>,
    request: Request,
    next: Next,
) -> Result<Response, Refused> {
    let (Some(key), Some(caller)) = (key(&request)?, request.extensions().get::<Caller>().cloned()) else {
        return Ok(next.run(request).await);
    };
    let (mut parts, body) = request.into_parts();
    let whole = Request::from_parts(parts.clone(), body);
    let body = json::read(whole, &app).await?;
    let request_hash = hash(&[parts.method.as_str().as_bytes(), parts.uri.to_string().as_bytes(), &body]);
    // Each caller's keys are their own: what one may not do, another's answer does not tell them.
    let key = format!("{}/{key}", caller.key_id.unwrap_or_default());
    if let Some(answer) = app.store.answer_of(caller.tenant_id, &key).await? {
        return replay(&answer, request_hash);
    }
    parts.extensions.insert(Wish(id(&caller, &key)));
    let response = next.run(Request::from_parts(parts, Body::from(body))).await;
    // What was refused changed nothing, and may be asked for again.
    if !response.status().is_success() {
        return Ok(response);
    }
    let (parts, body) = response.into_parts();
    let body = to_bytes(body, usize::MAX).await.map_err(|error| {
        Refused::new(StatusCode::INTERNAL_SERVER_ERROR, format!("the answer could not be written: {error}"))
    })?;
    let said = match parts.extensions.get::<KeptInstead>() {
        Some(KeptInstead(value)) => value.to_string(),
        None => String::from_utf8_lossy(&body).into_owned(),
    };
    let headers: Map<String, Value> = KEPT_HEADERS
        .iter()
        .filter_map(|name| {
            let value = parts.headers.get(name)?.to_str().ok()?;
            Some((name.to_string(), value.into()))
        })
        .collect();
    let answer = Answer {
        request_hash,
        status: parts.status.as_u16(),
        body: json!({ "headers": headers, "body": said }).to_string(),
    };
    app.store.keep_answer(caller.tenant_id, &key, answer).await?;
    Ok(Response::from_parts(parts, Body::from(body)))
}

/// The key of a request that makes or changes something.
fn key(request: &Request) -> Result<Option<String>, Refused> {
    let Some(value) = request.headers().get(KEY).filter(|_| request.method() == Method::POST) else {
        return Ok(None);
    };
    let text = value.to_str().ok().filter(|text| (1..=KEY_MAX).contains(&text.len()));
    let problem = format!("must be 1 to {KEY_MAX} characters of ASCII");
    text.map(|text| Some(text.to_owned())).ok_or_else(|| Refused::field(KEY.as_str(), problem))
}

fn replay(answer: &Answer, request_hash: [u8; 32]) -> Result<Response, Refused> {
    if answer.request_hash != request_hash {
        let problem = "was used for another request: every request has a key of its own";
        return Err(Refused::field(KEY.as_str(), problem));
    }
    let kept: Value = serde_json::from_str(&answer.body).unwrap_or_default();
    let status = StatusCode::from_u16(answer.status).unwrap_or(StatusCode::OK);
    let body = kept["body"].as_str().unwrap_or_default().to_owned();
    let mut response = (status, Body::from(body)).into_response();
    response.headers_mut().insert(REPLAYED, HeaderValue::from_static("true"));
    for name in KEPT_HEADERS {
        let value = kept["headers"][name.as_str()].as_str().and_then(|value| value.parse().ok());
        if let Some(value) = value {
            response.headers_mut().insert(name, value);
        }
    }
    Ok(response)
}

/// The id that follows from a key, whoever computes it.
fn id(caller: &Caller, key: &str) -> Uuid {
    let hash = hash(&[caller.tenant_id.to_string().as_bytes(), key.as_bytes()]);
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&hash[..16]);
    Builder::from_custom_bytes(bytes).into_uuid()
}

/// A hash of parts, none of which can be taken for another.
fn hash(parts: &[&[u8]]) -> [u8; 32] {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    hash.finalize().into()
}
