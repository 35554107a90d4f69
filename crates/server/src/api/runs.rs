//! Runs: what they are, what happened to them, and ending them.

use std::sync::Arc;

use axum::extract::State;
use serde::{Deserialize, Serialize};
use trueup_events::outcome::Verdict;
use trueup_events::{RunId, TenantId};
use trueup_lifecycle::Status;
use trueup_store::{Record, RunFilter};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::jobs;
use crate::app::App;
use crate::caller::{Allowed, Operates, Reads};
use crate::json::{self, Body, Json, Named, Query};
use crate::page::{self, Page, Paging, page};
use crate::problem::Refused;
use crate::shape;

pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new()
        .routes(routes!(list))
        .routes(routes!(show))
        .routes(routes!(events))
        .routes(routes!(cancel))
}

/// Which runs.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct Wanted {
    /// Those in one of these states, with commas between.
    status: Option<String>,
    /// Those that found this, `MATCHED` or `UNMATCHED`, with a comma between both.
    result: Option<String>,
    /// Those asked for at this time or later.
    #[param(format = DateTime)]
    since: Option<String>,
    /// Those asked for before this time.
    #[param(format = DateTime)]
    until: Option<String>,
    /// Those of the job of this id or name.
    job: Option<String>,
    /// The `next` of the page before.
    after: Option<String>,
    /// How many a page has.
    #[param(minimum = 1, maximum = 500, default = 50)]
    limit: Option<u32>,
}

impl Wanted {
    async fn filter(&self, app: &App, tenant_id: TenantId) -> Result<RunFilter, Refused> {
        let words = |text: &'_ Option<String>| {
            text.iter().flat_map(|text| text.split(',')).map(str::trim).map(str::to_owned).collect::<Vec<_>>()
        };
        let statuses: Result<Vec<Status>, Refused> =
            words(&self.status).iter().map(|name| status(name)).collect();
        let verdicts: Result<Vec<Verdict>, Refused> =
            words(&self.result).iter().map(|name| verdict(name)).collect();
        let time =
            |field, text: &Option<String>| text.as_deref().map(|text| json::time_ms(field, text)).transpose();
        let job_id = match &self.job {
            Some(job) => Some(jobs::find(app, tenant_id, job).await?.id),
            None => None,
        };
        Ok(RunFilter {
            tenant_id,
            statuses: statuses?,
            verdicts: verdicts?,
            since_ms: time("since", &self.since)?,
            until_ms: time("until", &self.until)?,
            job_id,
            before: page::after(self.after.as_deref())?,
            limit: page::limit(self.limit)?,
        })
    }
}

pub(super) fn status(name: &str) -> Result<Status, Refused> {
    Status::named(name).ok_or_else(|| {
        let names: Vec<&str> = Status::ALL.iter().map(|status| status.name()).collect();
        Refused::field("status", format!("has no state {name:?}; there are {}", names.join(", ")))
    })
}

fn verdict(name: &str) -> Result<Verdict, Refused> {
    name.parse().map_err(|error| Refused::field("result", format!("is wrong: {error}")))
}

/// Lists runs, the latest first
#[utoipa::path(get, path = "/runs", tag = "runs", params(Wanted), responses((status = 200, body = Page<shape::Run>)))]
async fn list(
    State(app): State<Arc<App>>,
    caller: Allowed<Reads>,
    Query(wanted): Query<Wanted>,
) -> Result<Json<Page<shape::Run>>, Refused> {
    let mut filter = wanted.filter(&app, caller.tenant_id).await?;
    let limit = filter.limit;
    filter.limit += 1;
    let found = page(app.store.runs(&filter).await?, limit, |record| record.number.to_string());
    let mut items = Vec::with_capacity(found.items.len());
    for record in &found.items {
        items.push(shape::Run::new(record, app.job_name(record).await?));
    }
    Ok(Json(Page { items, next: found.next }))
}

/// Shows a run
#[utoipa::path(get, path = "/runs/{run}", tag = "runs", params(("run" = String, Path, description = "Its id")), responses((status = 200, body = shape::Run)))]
async fn show(
    State(app): State<Arc<App>>,
    caller: Allowed<Reads>,
    Named(run): Named<String>,
) -> Result<Json<shape::Run>, Refused> {
    let record = find(&app, caller.tenant_id, &run).await?;
    Ok(Json(shape::Run::new(&record, app.job_name(&record).await?)))
}

/// Lists what happened to a run, in the order of the log
#[utoipa::path(get, path = "/runs/{run}/events", tag = "runs", params(("run" = String, Path, description = "Its id"), Paging), responses((status = 200, body = Page<shape::LogEntry>)))]
async fn events(
    State(app): State<Arc<App>>,
    caller: Allowed<Reads>,
    Named(run): Named<String>,
    Query(paging): Query<Paging>,
) -> Result<Json<Page<shape::LogEntry>>, Refused> {
    let (limit, after) = (paging.limit()?, paging.after()?.unwrap_or_default());
    let record = find(&app, caller.tenant_id, &run).await?;
    let found = app.store.events_of(caller.tenant_id, record.id(), after, limit + 1).await?;
    let found = found.into_iter().map(shape::LogEntry::from).collect();
    Ok(Json(page(found, limit, |event: &shape::LogEntry| event.position.unwrap_or_default().to_string())))
}

/// Why a run is to end.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct CancelWish {
    /// For those who ask later.
    reason: Option<String>,
}

/// What became of the wish that a run end.
#[derive(Debug, Serialize, ToSchema)]
struct Cancelled {
    /// Whether the run had not started, so that it is cancelled; otherwise its worker was asked to stop.
    is_cancelled: bool,
    /// The run.
    run: shape::Run,
}

/// Cancels a run, or asks its worker to stop
#[utoipa::path(post, path = "/runs/{run}/cancel", tag = "runs", params(("run" = String, Path, description = "Its id")), request_body = CancelWish, responses(
    (status = 200, body = Cancelled),
    (status = 409, description = "It has ended", body = crate::problem::Described, content_type = "application/problem+json"),
))]
async fn cancel(
    State(app): State<Arc<App>>,
    caller: Allowed<Operates>,
    Named(run): Named<String>,
    Body(wish): Body<CancelWish>,
) -> Result<Json<Cancelled>, Refused> {
    let record = find(&app, caller.tenant_id, &run).await?;
    let (record, _) =
        app.store.request_cancel(caller.tenant_id, record.id(), &caller.name, wish.reason.as_deref()).await?;
    let is_cancelled = record.run.state.status().is_terminal();
    let run = shape::Run::new(&record, app.job_name(&record).await?);
    Ok(Json(Cancelled { is_cancelled, run }))
}

/// The run of that id, if it is the tenant's.
async fn find(app: &App, tenant_id: TenantId, run: &str) -> Result<Record, Refused> {
    let missing = || Refused::missing(format!("run {run:?}"));
    let run_id: RunId = run.parse().map_err(|_| missing())?;
    app.store.run(tenant_id, run_id).await?.ok_or_else(missing)
}
