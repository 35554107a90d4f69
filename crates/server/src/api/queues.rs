//! Queues, and what is in them.

use std::sync::Arc;

use axum::extract::State;
use serde::{Deserialize, Serialize};
use trueup_lifecycle::Limits;
use trueup_store::QueueLoad;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::keys;
use crate::app::App;
use crate::caller::{Allowed, Operates, Reads};
use crate::json::{Body, Json, Named};
use crate::page::Page;
use crate::problem::Refused;

pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new().routes(routes!(list)).routes(routes!(set))
}

/// A queue, and how many runs are in it.
#[derive(Debug, Serialize, ToSchema)]
struct Queue {
    /// Its name.
    name: String,
    /// How many runs may hold a slot at once; any number, if none.
    max_running: Option<u32>,
    /// How many may wait for one; any number, if none.
    max_waiting: Option<u32>,
    /// How many wait for a slot.
    waiting: u64,
    /// How many hold one and do not run yet.
    scheduled: u64,
    /// How many run.
    running: u64,
}

impl From<QueueLoad> for Queue {
    fn from(load: QueueLoad) -> Self {
        let QueueLoad { queue, limits: Limits { max_running, max_waiting }, waiting, scheduled, running } =
            load;
        Self { name: queue, max_running, max_waiting, waiting, scheduled, running }
    }
}

/// Lists queues, all at once
#[utoipa::path(get, path = "/queues", tag = "queues", responses((status = 200, body = Page<Queue>)))]
async fn list(State(app): State<Arc<App>>, caller: Allowed<Reads>) -> Result<Json<Page<Queue>>, Refused> {
    let items = app.store.queues(caller.tenant_id).await?.into_iter().map(Queue::from).collect();
    Ok(Json(Page { items, next: None }))
}

/// What a queue allows.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct QueueWish {
    /// How many runs may hold a slot at once; any number, if none.
    #[schema(minimum = 1)]
    max_running: Option<u32>,
    /// How many may wait for one; any number, if none.
    max_waiting: Option<u32>,
}

/// Makes a queue, or changes its limits
#[utoipa::path(put, path = "/queues/{queue}", tag = "queues", params(("queue" = String, Path, description = "Its name")), request_body = QueueWish, responses((status = 200, body = Queue)))]
async fn set(
    State(app): State<Arc<App>>,
    caller: Allowed<Operates>,
    Named(queue): Named<String>,
    Body(wish): Body<QueueWish>,
) -> Result<Json<Queue>, Refused> {
    let queue = keys::name(queue)?;
    if wish.max_running == Some(0) {
        return Err(Refused::field(
            "max_running",
            "is 0, and nothing would ever run; leave it out for no limit",
        ));
    }
    let limits = Limits { max_running: wish.max_running, max_waiting: wish.max_waiting };
    app.store.set_queue(caller.tenant_id, &queue, limits, &caller.name).await?;
    let queues = app.store.queues(caller.tenant_id).await?;
    let set = queues.into_iter().find(|load| load.queue == queue);
    Ok(Json(set.ok_or_else(|| Refused::missing(format!("queue {queue:?}")))?.into()))
}
