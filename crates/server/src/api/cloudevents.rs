//! Events that others report as CloudEvents, in any of the three modes.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use trueup_events::cloudevents::{Arrival, CloudError, CloudEvent, Limits, Mode, decode};
use trueup_events::envelope::Accepted;
use trueup_events::{Event, PREFIX, Problem};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::events::{self, DescribedAccepted, DescribedBatchAccepted};
use crate::app::App;
use crate::caller::{Allowed, Caller, Reports};
use crate::json::{self, Json};
use crate::problem::Refused;

pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new().routes(routes!(take))
}

/// What is answered: a batch has an answer of its own.
#[derive(ToSchema)]
#[schema(as = CloudEventsAccepted)]
#[serde(untagged)]
#[expect(dead_code, reason = "it describes what is answered")]
enum Taken {
    One(DescribedAccepted),
    Batch(DescribedBatchAccepted),
}

/// Takes CloudEvents in: the content type says whether it is one in the body, many, or one in headers
#[utoipa::path(post, path = "/cloudevents", tag = "ingest", request_body(content(
    (Object = "application/cloudevents+json"), (Vec<Value> = "application/cloudevents-batch+json"), (Object = "application/json"),
)), responses(
    (status = 200, body = Taken),
    (status = 409, description = "The log has one of them with other content", body = crate::problem::Described, content_type = "application/problem+json"),
))]
async fn take(
    State(app): State<Arc<App>>,
    caller: Allowed<Reports>,
    request: Request,
) -> Result<Response, Refused> {
    let headers = request.headers().clone();
    let body = json::read(request, &app).await?;
    let limits = Limits { body_bytes: app.limits.body_bytes, events: app.limits.batch_events };
    let named: Vec<(&str, &[u8])> =
        headers.iter().map(|(name, value)| (name.as_str(), value.as_bytes())).collect();
    let mut events = decode(&named, &body, limits).map_err(Problem::from)?.into_iter();
    let content_type = headers.get(CONTENT_TYPE).map(|value| String::from_utf8_lossy(value.as_bytes()));
    if Mode::of(content_type.as_deref()) == Mode::Batch {
        let in_batch = |(index, event)| {
            arrived(&app, &caller, event)
                .map_err(|error| CloudError::InBatch { index, source: Box::new(error) })
        };
        let events: Result<Vec<Event>, CloudError> = events.enumerate().map(in_batch).collect();
        let taken = events::take_all(&app, &caller, events.map_err(Problem::from)?).await?;
        return Ok(Json(taken).into_response());
    }
    let Some(event) = events.next() else {
        return Err(Refused::field("id", "is missing: there is no event"));
    };
    let event = arrived(&app, &caller, event).map_err(Problem::from)?;
    let event_id = event.event_id;
    let taken = app.store.ingest(caller.tenant_id, vec![event]).await;
    taken.map_err(|error| events::refused(error, None))?;
    Ok(Json(Accepted::new(event_id)).into_response())
}

fn arrived(app: &App, caller: &Caller, event: CloudEvent) -> Result<Event, CloudError> {
    let (_, now) = events::moment(app);
    event.into_event(Arrival { tenant_id: caller.tenant_id, now, prefix: PREFIX })
}
