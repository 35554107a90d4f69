//! The audit log: who did what.

use std::sync::Arc;

use axum::extract::State;
use serde::Serialize;
use serde_json::Value;
use trueup_store::{Audit, Entry};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::app::App;
use crate::caller::{Administers, Allowed};
use crate::json::{Json, Query};
use crate::page::{Page, Paging, page};
use crate::problem::Refused;
use crate::shape::moment;

pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new().routes(routes!(list))
}

/// An entry of the audit log.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = AuditEntry)]
struct Shown {
    /// Its place in the log.
    number: u64,
    /// When it was done.
    #[schema(format = DateTime)]
    at: String,
    /// Who did it.
    actor: String,
    /// What was done.
    action: String,
    /// What it was done to.
    subject: String,
    /// What it made of it.
    #[schema(value_type = Object)]
    detail: Value,
}

impl From<Audit> for Shown {
    fn from(audit: Audit) -> Self {
        let Entry { at_ms, actor, action, subject, detail, .. } = audit.entry;
        Self { number: audit.number, at: moment(at_ms), actor, action: action.into_owned(), subject, detail }
    }
}

/// Lists who did what, in order
#[utoipa::path(get, path = "/audit", tag = "audit", params(Paging), responses((status = 200, body = Page<Shown>)))]
async fn list(
    State(app): State<Arc<App>>,
    caller: Allowed<Administers>,
    Query(paging): Query<Paging>,
) -> Result<Json<Page<Shown>>, Refused> {
    let (limit, after) = (paging.limit()?, paging.after()?.unwrap_or_default());
    let found = app.store.audit(after, Some(caller.tenant_id), limit + 1).await?;
    Ok(Json(page(found.into_iter().map(Shown::from).collect(), limit, |entry: &Shown| {
        entry.number.to_string()
    })))
}
