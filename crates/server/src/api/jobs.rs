//! Jobs, their revisions, and asking for their runs.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::header::{ETAG, IF_MATCH, IF_NONE_MATCH, LOCATION};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::Value;
use trueup_control::millis;
use trueup_events::payload::Mode;
use trueup_events::{JobId, RunId, TenantId};
use trueup_job::{Job, Moment};
use trueup_lifecycle::Policy;
use trueup_store::{Expected, JobDocument, NewRun, StoreError};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use uuid::Uuid;

use crate::app::App;
use crate::caller::{Allowed, Caller, Operates, Reads};
use crate::idempotency::Wish;
use crate::json::{self, Body, Json, Named, Query};
use crate::page::{Page, Paging, page};
use crate::problem::Refused;
use crate::shape;

pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new()
        .routes(routes!(list, make))
        .routes(routes!(show, save))
        .routes(routes!(revisions))
        .routes(routes!(revision))
        .routes(routes!(run))
}

/// Lists jobs by name
#[utoipa::path(get, path = "/jobs", tag = "jobs", params(Paging), responses((status = 200, body = Page<shape::JobSummary>)))]
async fn list(
    State(app): State<Arc<App>>,
    caller: Allowed<Reads>,
    Query(paging): Query<Paging>,
) -> Result<Json<Page<shape::JobSummary>>, Refused> {
    let limit = paging.limit()?;
    let found = app.store.jobs(caller.tenant_id, paging.after.as_deref(), limit + 1).await?;
    let found = found.into_iter().map(shape::JobSummary::from).collect();
    Ok(Json(page(found, limit, |job: &shape::JobSummary| job.name.clone())))
}

/// Saves a new job, from YAML or JSON
#[utoipa::path(post, path = "/jobs", tag = "jobs", request_body(content((Object = "application/json"), (String = "application/yaml"))), responses(
    (status = 201, body = shape::Job, headers(("ETag" = String), ("Location" = String))),
    (status = 409, description = "There is a job of that name", body = crate::problem::Described, content_type = "application/problem+json"),
))]
async fn make(
    State(app): State<Arc<App>>,
    caller: Allowed<Operates>,
    request: Request,
) -> Result<Response, Refused> {
    let job = read(&app, request).await?;
    let saved = app.store.save_job_if(caller.tenant_id, document(&job), Expected::New, &caller.name).await;
    match saved {
        Err(StoreError::Changed { .. }) => {
            let problem = format!("there is a job named {:?}", job.name);
            let hint = format!("change it by PUT /api/v1/jobs/{}", job.name);
            Err(Refused::new(StatusCode::CONFLICT, problem).with("hint", hint.into()))
        }
        saved => Ok(told(StatusCode::CREATED, saved?)),
    }
}

/// Shows a job in its present revision
#[utoipa::path(get, path = "/jobs/{job}", tag = "jobs", params(("job" = String, Path, description = "Its id or its name")), responses(
    (status = 200, body = shape::Job, headers(("ETag" = String))),
    (status = 304, description = "It is what `If-None-Match` says"),
))]
async fn show(
    State(app): State<Arc<App>>,
    caller: Allowed<Reads>,
    Named(job): Named<String>,
    headers: HeaderMap,
) -> Result<Response, Refused> {
    let found = find(&app, caller.tenant_id, &job).await?;
    let is_known = headers.get(IF_NONE_MATCH).is_some_and(|known| *known == etag(found.revision));
    if is_known {
        return Ok((StatusCode::NOT_MODIFIED, [(ETAG, etag(found.revision))]).into_response());
    }
    Ok(told(StatusCode::OK, found))
}

/// Saves a job, new or changed
#[utoipa::path(put, path = "/jobs/{job}", tag = "jobs", params(
    ("job" = String, Path, description = "Its name"),
    ("If-Match" = Option<String>, Header, description = "The `ETag` of the revision that it takes the place of"),
), request_body(content((Object = "application/json"), (String = "application/yaml"))), responses(
    (status = 200, body = shape::Job, headers(("ETag" = String))),
    (status = 412, description = "It is not what `If-Match` or `If-None-Match` says", body = crate::problem::Described, content_type = "application/problem+json"),
))]
async fn save(
    State(app): State<Arc<App>>,
    caller: Allowed<Operates>,
    Named(name): Named<String>,
    request: Request,
) -> Result<Response, Refused> {
    let expected = expected(request.headers())?;
    let job = read(&app, request).await?;
    if job.name != name {
        return Err(Refused::field("name", format!("is {:?}, and the path says {name:?}", job.name)));
    }
    let saved = app.store.save_job_if(caller.tenant_id, document(&job), expected, &caller.name).await?;
    Ok(told(StatusCode::OK, saved))
}

/// Lists the revisions of a job, the latest first
#[utoipa::path(get, path = "/jobs/{job}/revisions", tag = "jobs", params(("job" = String, Path, description = "Its id or its name"), Paging), responses((status = 200, body = Page<shape::SavedJob>)))]
async fn revisions(
    State(app): State<Arc<App>>,
    caller: Allowed<Reads>,
    Named(job): Named<String>,
    Query(paging): Query<Paging>,
) -> Result<Json<Page<shape::SavedJob>>, Refused> {
    let (limit, before) = (paging.limit()?, paging.after()?);
    let job = find(&app, caller.tenant_id, &job).await?;
    let found = app.store.revisions(caller.tenant_id, job.id, before, limit + 1).await?;
    let found = found.into_iter().map(shape::SavedJob::from).collect();
    Ok(Json(page(found, limit, |saved: &shape::SavedJob| saved.revision.to_string())))
}

/// Shows a revision of a job
#[utoipa::path(get, path = "/jobs/{job}/revisions/{revision}", tag = "jobs", params(
    ("job" = String, Path, description = "Its id or its name"), ("revision" = u32, Path),
), responses((status = 200, body = shape::Job, headers(("ETag" = String)))))]
async fn revision(
    State(app): State<Arc<App>>,
    caller: Allowed<Reads>,
    Named((job, revision)): Named<(String, u32)>,
) -> Result<Response, Refused> {
    let job = find(&app, caller.tenant_id, &job).await?;
    let found = app.store.revision_of(caller.tenant_id, job.id, revision).await?;
    let found = found.ok_or_else(|| Refused::missing(format!("revision {revision} of the job")))?;
    Ok(told(StatusCode::OK, found))
}

/// What a run is given.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct RunWish {
    /// The parameters of the job, by name.
    #[serde(default)]
    #[schema(value_type = Object)]
    params: BTreeMap<String, Value>,
}

/// Asks for a run of a job
#[utoipa::path(post, path = "/jobs/{job}/run", tag = "jobs", params(("job" = String, Path, description = "Its id or its name")), request_body = RunWish, responses(
    (status = 202, body = shape::Run, headers(("Location" = String))),
    (status = 409, description = "The same id was asked for with something else", body = crate::problem::Described, content_type = "application/problem+json"),
))]
async fn run(
    State(app): State<Arc<App>>,
    caller: Allowed<Operates>,
    Named(job): Named<String>,
    Wish(run_id): Wish,
    Body(wish): Body<RunWish>,
) -> Result<Response, Refused> {
    let run_id = start(&app, &caller, run_id, &job, ("params", &wish.params)).await?;
    let record = app.store.run(caller.tenant_id, run_id).await?;
    let record = record.ok_or_else(|| Refused::missing(format!("run {run_id}")))?;
    let run = shape::Run::new(&record, app.job_name(&record).await?);
    let location = format!("/api/v1/runs/{run_id}");
    Ok((StatusCode::ACCEPTED, [(LOCATION, location)], Json(run)).into_response())
}

/// Asks for a run of the job of that id or name, given what a field of the request says.
pub(super) async fn start(
    app: &App,
    caller: &Caller,
    run_id: Uuid,
    job: &str,
    given: (&str, &BTreeMap<String, Value>),
) -> Result<RunId, Refused> {
    let job = find(app, caller.tenant_id, job).await?;
    let new = NewRun {
        run_id,
        tenant_id: caller.tenant_id,
        params: arguments(app, &job, given).await?,
        job: job.document.name,
        mode: Mode::Immediate,
        triggered_by: caller.name.clone(),
    };
    Ok(app.store.trigger(new).await?)
}

/// What a job makes of what it is given, defaults included; what is wrong is said of the field that gives it.
pub(crate) async fn arguments(
    app: &App,
    job: &trueup_store::Job,
    (field, given): (&str, &BTreeMap<String, Value>),
) -> Result<Value, Refused> {
    let unreadable = |faults: trueup_job::Faults| Refused::faults(&faults);
    let job = Job::parse(job.document.document.to_string().as_bytes(), Some(&[])).map_err(unreadable)?;
    let moment = Moment::at_ms(app.store.now_ms().await?, job.timezone());
    let moment = moment.ok_or_else(|| {
        Refused::new(StatusCode::INTERNAL_SERVER_ERROR, "the store's clock is beyond all dates")
    })?;
    let arguments = job.arguments(given, moment).map_err(|errors| {
        let errors: Vec<String> = errors.iter().map(ToString::to_string).collect();
        Refused::field(field, format!("cannot be taken: {}", errors.join("; ")))
    })?;
    Ok(arguments.to_json().into_iter().collect())
}

/// The job of that id or name.
pub(crate) async fn find(app: &App, tenant_id: TenantId, job: &str) -> Result<trueup_store::Job, Refused> {
    let found = match job.parse::<JobId>() {
        Ok(id) => app.store.job_by_id(tenant_id, id).await?,
        Err(_) => app.store.job(tenant_id, job).await?,
    };
    found.ok_or_else(|| Refused::missing(format!("job {job:?}")))
}

/// Reads a job from YAML, or from JSON, which is some.
async fn read(app: &App, request: Request) -> Result<Job, Refused> {
    if let Some(media_type) = json::media_type(request.headers())? {
        let is_read =
            media_type.ends_with("json") || media_type.ends_with("yaml") || media_type.starts_with("text/");
        if !is_read {
            let problem =
                format!("the body is {media_type}, and must be application/yaml or application/json");
            return Err(Refused::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, problem));
        }
    }
    let bytes = json::read(request, app).await?;
    Job::parse(&bytes, Some(&[])).map_err(|faults| Refused::faults(&faults))
}

fn document(job: &Job) -> JobDocument {
    JobDocument {
        name: job.name.clone(),
        document: job.document(),
        queue: job.queue.clone(),
        policy: Policy { deadline_ms: millis(job.deadline), retries: job.retries },
    }
}

fn told(status: StatusCode, job: trueup_store::Job) -> Response {
    let location = format!("/api/v1/jobs/{}", job.id);
    (status, [(ETAG, etag(job.revision))], [(LOCATION, location)], Json(shape::Job::from(job)))
        .into_response()
}

/// What a revision is known by.
fn etag(revision: u32) -> HeaderValue {
    HeaderValue::try_from(format!("\"{revision}\"")).unwrap_or(HeaderValue::from_static("\"\""))
}

/// What the caller takes the job for.
fn expected(headers: &HeaderMap) -> Result<Expected, Refused> {
    let text = |name| headers.get(name).and_then(|value: &HeaderValue| value.to_str().ok());
    if text(IF_NONE_MATCH) == Some("*") {
        return Ok(Expected::New);
    }
    match text(IF_MATCH) {
        None | Some("*") => Ok(Expected::Any),
        Some(tag) => {
            let revision = tag.trim().trim_matches('"').parse();
            let unknown = |_| Refused::field("If-Match", "is not the `ETag` of a revision, such as \"3\"");
            revision.map(Expected::Revision).map_err(unknown)
        }
    }
}
