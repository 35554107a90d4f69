//! Events that workers and tools elsewhere report, in the envelope that they use.

use std::sync::Arc;

use axum::extract::State;
use serde_json::Value;
use trueup_events::envelope::{Accepted, BatchAccepted, Envelope, read, read_batch};
use trueup_events::{Event, EventId, Time};
use trueup_store::StoreError;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::app::App;
use crate::caller::{Allowed, Caller, Reports};
use crate::json::{Json, Unread};
use crate::problem::Refused;

/// Who reports what comes in the envelope, which does not say. It is the same whoever sends it, so that a copy from elsewhere is still a copy.
const SOURCE: &str = "/api/events";

pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new().routes(routes!(take)).routes(routes!(take_batch))
}

/// An event as producers report it.
#[derive(ToSchema)]
#[schema(as = Envelope)]
#[expect(dead_code, reason = "it describes what `trueup_events` reads")]
struct DescribedEnvelope {
    /// The run or execution that it is about: a UUID, or a number of 64 bits, as a text or an integer.
    #[schema(value_type = Value)]
    execution_id: String,
    /// The step that it is about; `node_name` says the same.
    step: Option<String>,
    /// What it is called; `name` says the same.
    event_type: Option<String>,
    /// What it says; `context` says the same.
    payload: Option<Value>,
    /// What it says about itself; fields that are not known are kept here.
    #[schema(value_type = Option<Object>)]
    meta: Option<Value>,
    /// Who did the work.
    worker_id: Option<String>,
    /// Where the result is: `data`, `ref` or `refs`.
    result_kind: Option<String>,
    /// Whether it may move the execution; true, unless said.
    actionable: Option<bool>,
    /// Whether people may want to read it; true, unless said.
    informative: Option<bool>,
    /// The producer's id of it; one is made otherwise.
    #[schema(value_type = Value)]
    event_id: Option<String>,
    /// What it says of its step: `STARTED`, `RUNNING`, `COMPLETED`, `FAILED` or `CANCELLED`; by its name, unless said.
    status: Option<String>,
    /// When it happened; now, unless said.
    created_at: Option<String>,
}

/// Events of one execution.
#[derive(ToSchema)]
#[schema(as = EnvelopeBatch)]
#[expect(dead_code, reason = "it describes what `trueup_events` reads")]
struct DescribedBatch {
    /// The execution of all of them.
    #[schema(value_type = Value)]
    execution_id: Option<String>,
    /// Who did the work, where an event does not say.
    worker_id: Option<String>,
    /// The events, in order.
    events: Vec<DescribedEnvelope>,
}

/// An event that is on stable storage.
#[derive(ToSchema)]
#[schema(as = Accepted)]
#[expect(dead_code, reason = "it describes what `trueup_events` answers")]
pub(super) struct DescribedAccepted {
    /// `ok`.
    status: String,
    /// Its id in the log.
    event_id: String,
    /// How many commands it led to.
    commands_generated: u64,
}

/// Events that are on stable storage.
#[derive(ToSchema)]
#[schema(as = BatchAccepted)]
#[expect(dead_code, reason = "it describes what `trueup_events` answers")]
pub(super) struct DescribedBatchAccepted {
    /// `ok`.
    status: String,
    /// Their ids in the log, in order.
    event_ids: Vec<String>,
    /// How many commands they led to.
    commands_generated: u64,
}

/// Takes an event in
#[utoipa::path(post, path = "/events", tag = "ingest", request_body = DescribedEnvelope, responses(
    (status = 200, body = DescribedAccepted),
    (status = 409, description = "The log has the event with other content", body = crate::problem::Described, content_type = "application/problem+json"),
))]
async fn take(
    State(app): State<Arc<App>>,
    caller: Allowed<Reports>,
    Unread(body): Unread,
) -> Result<Json<Accepted>, Refused> {
    let event = arrived(&app, &caller, read(&body)?);
    let event_id = event.event_id;
    app.store.ingest(caller.tenant_id, vec![event]).await.map_err(|error| refused(error, None))?;
    Ok(Json(Accepted::new(event_id)))
}

/// Takes events of one execution in, all or none
#[utoipa::path(post, path = "/events/batch", tag = "ingest", request_body = DescribedBatch, responses(
    (status = 200, body = DescribedBatchAccepted),
    (status = 409, description = "The log has one of them with other content", body = crate::problem::Described, content_type = "application/problem+json"),
))]
async fn take_batch(
    State(app): State<Arc<App>>,
    caller: Allowed<Reports>,
    Unread(body): Unread,
) -> Result<Json<BatchAccepted>, Refused> {
    let envelopes = read_batch(&body, app.limits.batch_events)?;
    let events: Vec<Event> = envelopes.into_iter().map(|envelope| arrived(&app, &caller, envelope)).collect();
    take_all(&app, &caller, events).await.map(Json)
}

/// Stores events and says which they are, in order.
pub(super) async fn take_all(
    app: &App,
    caller: &Caller,
    events: Vec<Event>,
) -> Result<BatchAccepted, Refused> {
    let ids: Vec<EventId> = events.iter().map(|event| event.event_id).collect();
    let taken = app.store.ingest(caller.tenant_id, events).await;
    taken.map_err(|error| refused(error, Some(&ids)))?;
    Ok(BatchAccepted::new(ids))
}

/// An id for an event whose producer gave none, and the moment at which it was made.
pub(super) fn moment(app: &App) -> (EventId, Time) {
    let id = app.store.next_event_id();
    let now_ms = i64::try_from(id.unix_ms()).unwrap_or(i64::MAX);
    (id, Time::from_unix_us(now_ms.saturating_mul(1000)))
}

fn arrived(app: &App, caller: &Caller, envelope: Envelope) -> Event {
    let (id, now) = moment(app);
    envelope.into_event(caller.tenant_id, id, now, SOURCE)
}

/// Says why events were not taken, and which of a batch is at fault.
pub(super) fn refused(error: StoreError, batch: Option<&[EventId]>) -> Refused {
    let StoreError::EventDiffers(id) = error else { return error.into() };
    let refused = Refused::from(error).with("field", "event_id".into());
    // Of those that come twice in a batch the second is the one that differs.
    match batch.and_then(|ids| ids.iter().rposition(|known| *known == id)) {
        Some(index) => refused.with("index", index.into()),
        None => refused,
    }
}
