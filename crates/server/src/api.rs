//! The JSON API under `/api/v1`, what others report and ask for under `/api`, and what describes both.

mod audit;
mod cloudevents;
mod described;
mod events;
mod executions;
mod jobs;
mod keys;
mod queues;
mod runs;
mod tenants;

use std::sync::Arc;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::http::{StatusCode, Uri};
use axum::middleware::from_fn_with_state;
use axum::routing::get;
use utoipa::openapi::OpenApi;
use utoipa_axum::router::OpenApiRouter;

use crate::app::App;
use crate::json::Json;
use crate::problem::Refused;
use crate::{caller, idempotency, rate};

/// Where the description of the API is.
const DESCRIPTION: &str = "/api/v1/openapi.json";

/// Every route that takes a key, with its description.
fn routes() -> OpenApiRouter<Arc<App>> {
    let v1 = OpenApiRouter::new()
        .merge(jobs::routes())
        .merge(runs::routes())
        .merge(queues::routes())
        .merge(keys::routes())
        .merge(tenants::routes())
        .merge(audit::routes());
    let outside =
        OpenApiRouter::new().merge(events::routes()).merge(cloudevents::routes()).merge(executions::routes());
    OpenApiRouter::with_openapi(described::preface()).nest("/api/v1", v1).nest("/api", outside)
}

/// The description of the API in the words of `OpenAPI` 3.1, made from its routes.
pub fn document() -> OpenApi {
    let mut document = routes().to_openapi();
    described::complete(&mut document);
    document
}

/// Everything that can be asked for.
pub(crate) fn router(app: Arc<App>) -> Router {
    let (asked, _) = routes().split_for_parts();
    let body_bytes = app.limits.body_bytes;
    let described = document();
    asked
        .layer(from_fn_with_state(Arc::clone(&app), idempotency::once))
        .layer(from_fn_with_state(Arc::clone(&app), rate::hold))
        .layer(from_fn_with_state(Arc::clone(&app), caller::identify))
        .route(DESCRIPTION, get(|| async { Json(described) }))
        .fallback(nowhere)
        .method_not_allowed_fallback(not_so)
        .layer(DefaultBodyLimit::max(body_bytes))
        .with_state(app)
}

async fn nowhere(uri: Uri) -> Refused {
    Refused::missing(format!("route {}", uri.path())).with("hint", format!("{DESCRIPTION} lists all").into())
}

async fn not_so(uri: Uri) -> Refused {
    let problem = format!("{} does not take this method", uri.path());
    Refused::new(StatusCode::METHOD_NOT_ALLOWED, problem)
}
