//! Tenants: those who share a server and see nothing of each other.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use serde::{Deserialize, Serialize};
use serde_json::json;
use trueup_events::TenantId;
use trueup_store::{KeyRole, NewKey, Tenant};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use uuid::Uuid;

use super::keys;
use crate::app::App;
use crate::caller::{Administers, Allowed, Caller, HOME_TENANT};
use crate::idempotency::Wish;
use crate::json::{Body, Json, Query};
use crate::key::Secret;
use crate::page::{Page, Paging, page};
use crate::problem::Refused;
use crate::shape::moment;

pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new().routes(routes!(list, make))
}

/// A tenant.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Tenant)]
struct Shown {
    /// Its id.
    id: Uuid,
    /// Its name.
    name: String,
    /// When it was made.
    #[schema(format = DateTime)]
    made_at: String,
}

impl From<Tenant> for Shown {
    fn from(tenant: Tenant) -> Self {
        Self { id: tenant.id.0, name: tenant.name, made_at: moment(tenant.made_at_ms) }
    }
}

/// Lists tenants, for admins of the first
#[utoipa::path(get, path = "/tenants", tag = "tenants", params(Paging), responses((status = 200, body = Page<Shown>)))]
async fn list(
    State(app): State<Arc<App>>,
    caller: Allowed<Administers>,
    Query(paging): Query<Paging>,
) -> Result<Json<Page<Shown>>, Refused> {
    at_home(&app, &caller).await?;
    let limit = paging.limit()?;
    let after = paging.after::<Uuid>()?.map(TenantId);
    let found = app.store.tenants(after, limit + 1).await?;
    Ok(Json(page(found.into_iter().map(Shown::from).collect(), limit, |tenant: &Shown| {
        tenant.id.to_string()
    })))
}

/// What a tenant is to be.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct TenantWish {
    /// Its name, which no other has.
    #[schema(min_length = 1, max_length = 100)]
    name: String,
}

/// A tenant that was just made.
#[derive(ToSchema)]
#[schema(as = MadeTenant)]
#[expect(dead_code, reason = "it describes what `shown_once` answers")]
struct Made {
    /// The tenant.
    tenant: Shown,
    /// The secret of its first key, an admin's, shown this once.
    secret: Option<String>,
    /// That key.
    key: keys::Shown,
}

/// Makes a tenant, with its first key; for admins of the first
#[utoipa::path(post, path = "/tenants", tag = "tenants", request_body = TenantWish, responses(
    (status = 201, body = Made),
    (status = 409, description = "There is a tenant of that name", body = crate::problem::Described, content_type = "application/problem+json"),
))]
async fn make(
    State(app): State<Arc<App>>,
    caller: Allowed<Administers>,
    Wish(id): Wish,
    Body(wish): Body<TenantWish>,
) -> Result<Response, Refused> {
    at_home(&app, &caller).await?;
    let name = keys::name(wish.name)?;
    let tenant = app.store.make_tenant(TenantId(id), &name, &caller.name).await?;
    let (tenant_id, secret) = (tenant.id, Secret::random());
    let new = NewKey {
        id,
        tenant_id,
        name: "first".to_owned(),
        role: KeyRole::Admin,
        hash: secret.hash(),
        expires_at_ms: None,
    };
    let key = keys::Shown::from(app.store.make_key(new, &caller.name).await?);
    Ok(keys::shown_once(json!({ "tenant": Shown::from(tenant), "key": key }), &secret))
}

/// Refuses those who have no business with other tenants.
async fn at_home(app: &App, caller: &Caller) -> Result<(), Refused> {
    if app.store.tenant_named(HOME_TENANT).await? == Some(caller.tenant_id) {
        return Ok(());
    }
    let problem = format!("tenants are looked after by admins of the tenant {HOME_TENANT:?}");
    Err(Refused::new(StatusCode::FORBIDDEN, problem))
}
