//! Runs, and what others execute, for clients that know them from other engines.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use trueup_events::{RunId, TenantId};
use trueup_lifecycle::{Refusal, Status};
use trueup_store::{Execution, RunFilter, StoreError};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::{jobs, runs};
use crate::app::App;
use crate::caller::{Allowed, Caller, Operates, Reads};
use crate::idempotency::Wish;
use crate::json::{Body, Json, Named, Query};
use crate::page::{self, Paging, page};
use crate::problem::Refused;
use crate::shape::{Course, DescribedTold, Detailed, Listed, Told, capitals};

/// How far into a list one can begin: what is before is read, too.
const OFFSET_MAX: u32 = 10_000;
/// How many of them are read at once.
const STRIDE: u32 = 500;
/// How many a cleanup looks at.
const CLEANUP_MAX: u32 = 500;
const MINUTE_MS: i64 = 60_000;

pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new()
        .routes(routes!(execute))
        .routes(routes!(list))
        .routes(routes!(cleanup))
        .routes(routes!(show))
        .routes(routes!(status))
        .routes(routes!(events))
        .routes(routes!(cancel))
}

/// What is to be executed.
#[derive(Debug, Deserialize, ToSchema)]
struct ExecuteWish {
    /// The name of a job.
    path: String,
    /// Its parameters; `payload` says the same.
    #[serde(default, alias = "payload")]
    #[schema(value_type = Option<Object>)]
    workload: Option<BTreeMap<String, Value>>,
}

/// An execution that was asked for.
#[derive(Debug, Serialize, ToSchema)]
struct Executed {
    /// Its id.
    execution_id: String,
    /// `started`.
    status: &'static str,
    /// How many commands it led to.
    commands_generated: u32,
}

/// Asks for a run of a job
#[utoipa::path(post, path = "/execute", tag = "executions", request_body = ExecuteWish, responses(
    (status = 200, body = Executed),
    (status = 409, description = "The same id was asked for with something else", body = crate::problem::Described, content_type = "application/problem+json"),
))]
async fn execute(
    State(app): State<Arc<App>>,
    caller: Allowed<Operates>,
    Wish(run_id): Wish,
    Body(wish): Body<ExecuteWish>,
) -> Result<Json<Executed>, Refused> {
    let given = wish.workload.unwrap_or_default();
    let run_id = jobs::start(&app, &caller, run_id, &wish.path, ("workload", &given)).await?;
    Ok(Json(Executed { execution_id: run_id.to_string(), status: "started", commands_generated: 1 }))
}

/// Which executions; what is empty is not asked for.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct Wanted {
    /// Those in one of these states, with commas between.
    status: Option<String>,
    /// How many.
    #[param(value_type = Option<u32>, minimum = 1, maximum = 500, default = 50)]
    limit: Option<String>,
    /// How many of the latest to leave out.
    #[param(value_type = Option<u32>, maximum = 10_000, default = 0)]
    offset: Option<String>,
}

impl Wanted {
    fn statuses(&self) -> Result<Vec<Status>, Refused> {
        let names = self.status.iter().flat_map(|text| text.split(',')).map(str::trim);
        names.filter(|name| !name.is_empty()).map(|name| runs::status(&name.to_ascii_lowercase())).collect()
    }

    fn limit(&self) -> Result<u32, Refused> {
        page::limit(number("limit", self.limit.as_deref())?)
    }

    fn offset(&self) -> Result<u32, Refused> {
        match number("offset", self.offset.as_deref())?.unwrap_or(0) {
            offset @ 0..=OFFSET_MAX => Ok(offset),
            other => Err(Refused::field("offset", format!("is {other}, and must be 0 to {OFFSET_MAX}"))),
        }
    }
}

fn number(field: &str, text: Option<&str>) -> Result<Option<u32>, Refused> {
    let text = text.map(str::trim).filter(|text| !text.is_empty());
    let read =
        |text: &str| text.parse().map_err(|_| Refused::field(field, format!("is {text:?}, and no number")));
    text.map(read).transpose()
}

/// Lists executions, the latest first
#[utoipa::path(get, path = "/executions", tag = "executions", params(Wanted), responses((status = 200, body = Vec<Listed>)))]
async fn list(
    State(app): State<Arc<App>>,
    caller: Allowed<Reads>,
    Query(wanted): Query<Wanted>,
) -> Result<Json<Vec<Listed>>, Refused> {
    let (limit, mut to_skip) = (wanted.limit()?, wanted.offset()?);
    let mut filter = RunFilter { statuses: wanted.statuses()?, ..RunFilter::of(caller.tenant_id, limit) };
    while to_skip > 0 {
        filter.limit = to_skip.min(STRIDE);
        let skipped = app.store.executions(&filter).await?;
        let Some(last) = skipped.last().filter(|_| skipped.len() == filter.limit as usize) else {
            return Ok(Json(Vec::new()));
        };
        filter.before = Some(last.number());
        to_skip -= filter.limit;
    }
    filter.limit = limit;
    let mut listed = Vec::new();
    for execution in app.store.executions(&filter).await? {
        listed.push(Listed::new(&execution, path(&app, &execution).await?));
    }
    Ok(Json(listed))
}

/// Shows an execution
#[utoipa::path(get, path = "/executions/{execution}", tag = "executions", params(("execution" = String, Path, description = "Its id")), responses((status = 200, body = Detailed)))]
async fn show(
    State(app): State<Arc<App>>,
    caller: Allowed<Reads>,
    Named(id): Named<String>,
) -> Result<Json<Detailed>, Refused> {
    let execution = find(&app, caller.tenant_id, &id).await?;
    let progress = app.store.progress(caller.tenant_id, &execution).await?;
    Ok(Json(Detailed::new(&execution, path(&app, &execution).await?, progress)))
}

/// Shows how far an execution has come
#[utoipa::path(get, path = "/executions/{execution}/status", tag = "executions", params(("execution" = String, Path, description = "Its id")), responses((status = 200, body = Course)))]
async fn status(
    State(app): State<Arc<App>>,
    caller: Allowed<Reads>,
    Named(id): Named<String>,
) -> Result<Json<Course>, Refused> {
    let execution = find(&app, caller.tenant_id, &id).await?;
    let progress = app.store.progress(caller.tenant_id, &execution).await?;
    Ok(Json(Course::new(&execution, progress)))
}

/// What happened to an execution.
#[derive(Debug, Serialize, ToSchema)]
struct History {
    /// Its id.
    execution_id: String,
    /// Its events, in the order of the log.
    #[schema(value_type = Vec<DescribedTold>)]
    events: Vec<Told>,
    /// What to ask for as `after` to get those that follow; none if these are the last.
    next: Option<String>,
}

/// Lists what happened to an execution, in the order of the log
#[utoipa::path(get, path = "/executions/{execution}/events", tag = "executions", params(("execution" = String, Path, description = "Its id"), Paging), responses((status = 200, body = History)))]
async fn events(
    State(app): State<Arc<App>>,
    caller: Allowed<Reads>,
    Named(id): Named<String>,
    Query(paging): Query<Paging>,
) -> Result<Json<History>, Refused> {
    let (limit, after) = (paging.limit()?, paging.after()?.unwrap_or_default());
    let execution = find(&app, caller.tenant_id, &id).await?;
    let found = app.store.events_of(caller.tenant_id, execution.id(), after, limit + 1).await?;
    let found = found.into_iter().map(Told::from).collect();
    let found = page(found, limit, |event: &Told| event.position.unwrap_or_default().to_string());
    Ok(Json(History { execution_id: execution.id().to_string(), events: found.items, next: found.next }))
}

/// Why an execution is to end.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = ExecutionCancelWish)]
struct CancelWish {
    /// Whether what it started is to end, too; nothing here starts others.
    #[serde(default)]
    #[expect(dead_code, reason = "it is part of what clients send")]
    cascade: Option<bool>,
    /// For those who ask later.
    reason: Option<String>,
}

/// An execution that was cancelled.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ExecutionCancelled)]
struct Stopped {
    /// Its id.
    execution_id: String,
    /// `cancelled`.
    status: &'static str,
    /// What was done, for a person.
    message: String,
    /// All that were cancelled.
    cancelled_executions: Vec<String>,
}

/// Cancels an execution
#[utoipa::path(post, path = "/executions/{execution}/cancel", tag = "executions", params(("execution" = String, Path, description = "Its id")), request_body = CancelWish, responses(
    (status = 200, body = Stopped),
    (status = 400, description = "It has ended, and `outcome` says how; or the request cannot be read", body = crate::problem::Described, content_type = "application/problem+json"),
))]
async fn cancel(
    State(app): State<Arc<App>>,
    caller: Allowed<Operates>,
    Named(id): Named<String>,
    Body(wish): Body<CancelWish>,
) -> Result<Json<Stopped>, Refused> {
    let execution = find(&app, caller.tenant_id, &id).await?;
    let execution_id = execution.id().to_string();
    let message = match end(&app, &caller, &execution, wish.reason.as_deref()).await? {
        End::Cancelled => format!("cancelled execution {execution_id}"),
        End::Asked => format!("asked the worker of execution {execution_id} to stop"),
        End::Over(status) => {
            let outcome = capitals(status);
            let problem = format!("execution {execution_id} has ended already: it is {outcome}");
            let refused = Refused::new(StatusCode::BAD_REQUEST, problem);
            return Err(refused.with("execution_id", execution_id.into()).with("outcome", outcome.into()));
        }
    };
    let cancelled_executions = vec![execution_id.clone()];
    Ok(Json(Stopped { execution_id, status: "cancelled", message, cancelled_executions }))
}

/// What is to be cleaned up.
#[derive(Debug, Deserialize, ToSchema)]
struct CleanupWish {
    /// Whether only to say what would be cancelled.
    #[serde(default)]
    dry_run: bool,
    /// For how long nothing was heard of them.
    older_than_minutes: u32,
}

/// What was cleaned up.
#[derive(Debug, Serialize, ToSchema)]
struct CleanedUp {
    /// How many were cancelled, or would be.
    cancelled_count: usize,
    /// Which.
    execution_ids: Vec<String>,
    /// The same, for a person.
    message: String,
}

/// Cancels what nothing was heard of for long
#[utoipa::path(post, path = "/executions/cleanup", tag = "executions", request_body = CleanupWish, responses((status = 200, body = CleanedUp)))]
async fn cleanup(
    State(app): State<Arc<App>>,
    caller: Allowed<Operates>,
    Body(wish): Body<CleanupWish>,
) -> Result<Json<CleanedUp>, Refused> {
    let minutes = wish.older_than_minutes;
    let before_ms = app.store.now_ms().await?.saturating_sub(i64::from(minutes) * MINUTE_MS);
    let reason = format!("nothing was heard of it for {minutes} minutes");
    let mut execution_ids = Vec::new();
    for execution in app.store.silent_since(caller.tenant_id, before_ms, CLEANUP_MAX).await? {
        let is_over =
            !wish.dry_run && matches!(end(&app, &caller, &execution, Some(&reason)).await?, End::Over(_));
        if !is_over {
            execution_ids.push(execution.id().to_string());
        }
    }
    let (cancelled_count, would) =
        (execution_ids.len(), if wish.dry_run { "would cancel" } else { "cancelled" });
    let message = format!("{would} {cancelled_count} executions, silent for {minutes} minutes or more");
    Ok(Json(CleanedUp { cancelled_count, execution_ids, message }))
}

/// What became of the wish that an execution end.
enum End {
    Cancelled,
    /// Its worker will be told.
    Asked,
    /// It had ended before.
    Over(Status),
}

async fn end(
    app: &App,
    caller: &Caller,
    execution: &Execution,
    reason: Option<&str>,
) -> Result<End, StoreError> {
    let (tenant_id, id, by) = (caller.tenant_id, execution.id(), caller.name.as_str());
    let status = match execution {
        Execution::Run(_) => app
            .store
            .request_cancel(tenant_id, id, by, reason)
            .await
            .map(|(record, _)| record.run.state.status()),
        Execution::Observed(_) => {
            app.store.cancel_observed(tenant_id, id, by, reason).await.map(|observed| observed.seen.status)
        }
    };
    match status {
        Ok(status) if status.is_terminal() => Ok(End::Cancelled),
        Ok(_) => Ok(End::Asked),
        Err(StoreError::Over { status, .. }) => Ok(End::Over(status)),
        Err(StoreError::Refused(Refusal::Finished(finished))) => Ok(End::Over(finished.ending.status())),
        Err(error) => Err(error),
    }
}

/// What is executed, if that is known.
async fn path(app: &App, execution: &Execution) -> Result<Option<String>, StoreError> {
    match execution {
        Execution::Run(record) => app.job_name(record).await.map(Some),
        Execution::Observed(observed) => Ok(observed.seen.name.clone()),
    }
}

/// The execution of that id, if it is the tenant's.
async fn find(app: &App, tenant_id: TenantId, id: &str) -> Result<Execution, Refused> {
    let missing = || Refused::missing(format!("execution {id:?}"));
    let run_id: RunId = id.parse().map_err(|_| missing())?;
    app.store.execution(tenant_id, run_id).await?.ok_or_else(missing)
}
