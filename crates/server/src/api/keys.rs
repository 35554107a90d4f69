//! Keys: who may ask, and what.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use trueup_store::{Key, KeyRole, NewKey};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use uuid::Uuid;

use crate::app::App;
use crate::caller::{Administers, Allowed};
use crate::idempotency::{KeptInstead, Wish};
use crate::json::{self, Body, Json, Named, Query};
use crate::key::Secret;
use crate::page::{Page, Paging, page};
use crate::problem::Refused;
use crate::shape::moment;

/// How long the name of a key or a tenant may be.
const NAME_MAX: usize = 100;

pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new().routes(routes!(list, make)).routes(routes!(revoke))
}

/// A key, without its secret.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(as = Key)]
pub(super) struct Shown {
    /// Its id.
    pub(super) id: Uuid,
    /// What it is for.
    name: String,
    /// What it may do.
    #[schema(value_type = Role)]
    role: &'static str,
    /// When it was made.
    #[schema(format = DateTime)]
    created_at: String,
    /// By whom.
    created_by: String,
    /// When it stops being good, if ever.
    #[schema(format = DateTime)]
    expires_at: Option<String>,
    /// When it was revoked.
    #[schema(format = DateTime)]
    revoked_at: Option<String>,
}

/// The names of the roles.
#[derive(ToSchema)]
#[schema(rename_all = "lowercase")]
#[expect(dead_code, reason = "it describes the names that the store gives")]
enum Role {
    Viewer,
    Operator,
    Admin,
    Ingest,
    Worker,
}

impl From<Key> for Shown {
    fn from(key: Key) -> Self {
        Self {
            id: key.id,
            name: key.name,
            role: key.role.name(),
            created_at: moment(key.created_at_ms),
            created_by: key.created_by,
            expires_at: key.expires_at_ms.map(moment),
            revoked_at: key.revoked_at_ms.map(moment),
        }
    }
}

/// A key that was just made.
#[derive(ToSchema)]
#[schema(as = MadeKey)]
#[expect(dead_code, reason = "it describes what `shown_once` answers")]
struct Made {
    /// What to send as `Authorization: Bearer …`. It is shown this once; a request that is repeated by its `Idempotency-Key` gets none.
    secret: Option<String>,
    /// The key.
    key: Shown,
}

/// Lists keys
#[utoipa::path(get, path = "/keys", tag = "keys", params(Paging), responses((status = 200, body = Page<Shown>)))]
async fn list(
    State(app): State<Arc<App>>,
    caller: Allowed<Administers>,
    Query(paging): Query<Paging>,
) -> Result<Json<Page<Shown>>, Refused> {
    let limit = paging.limit()?;
    let found = app.store.keys(caller.tenant_id, paging.after()?, limit + 1).await?;
    Ok(Json(page(found.into_iter().map(Shown::from).collect(), limit, |key: &Shown| key.id.to_string())))
}

/// What a key is to be.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct KeyWish {
    /// What it is for.
    #[schema(min_length = 1, max_length = 100)]
    name: String,
    /// What it may do.
    #[schema(value_type = Role)]
    role: String,
    /// When it stops being good; never, if none.
    #[schema(format = DateTime)]
    expires_at: Option<String>,
}

/// Makes a key
#[utoipa::path(post, path = "/keys", tag = "keys", request_body = KeyWish, responses((status = 201, body = Made)))]
async fn make(
    State(app): State<Arc<App>>,
    caller: Allowed<Administers>,
    Wish(id): Wish,
    Body(wish): Body<KeyWish>,
) -> Result<Response, Refused> {
    let role = KeyRole::named(&wish.role).ok_or_else(|| {
        let names = KeyRole::ALL.map(KeyRole::name).join(", ");
        Refused::field("role", format!("is {:?}; there are {names}", wish.role))
    })?;
    let expires_at_ms =
        wish.expires_at.as_deref().map(|text| json::time_ms("expires_at", text)).transpose()?;
    let (name, secret) = (name(wish.name)?, Secret::random());
    let new = NewKey { id, tenant_id: caller.tenant_id, name, role, hash: secret.hash(), expires_at_ms };
    let key = Shown::from(app.store.make_key(new, &caller.name).await?);
    Ok(shown_once(json!({ "key": key }), &secret))
}

/// Revokes a key; it is good for nothing within a second
#[utoipa::path(delete, path = "/keys/{key}", tag = "keys", params(("key" = Uuid, Path, description = "Its id")), responses((status = 200, body = Shown)))]
async fn revoke(
    State(app): State<Arc<App>>,
    caller: Allowed<Administers>,
    Named(key): Named<String>,
) -> Result<Json<Shown>, Refused> {
    let missing = || Refused::missing(format!("key {key:?}"));
    let id = key.parse().map_err(|_| missing())?;
    let revoked = app.store.revoke_key(caller.tenant_id, id, &caller.name).await?;
    Ok(Json(revoked.ok_or_else(missing)?.into()))
}

/// Answers with a secret that is in no other answer, not even in the same one given again.
pub(super) fn shown_once(made: Value, secret: &Secret) -> Response {
    let mut shown = made.clone();
    shown["secret"] = secret.reveal().into();
    let mut response = (StatusCode::CREATED, Json(shown)).into_response();
    response.extensions_mut().insert(KeptInstead(made));
    response
}

/// A name that people can read and a list can show.
pub(super) fn name(name: String) -> Result<String, Refused> {
    let is_short = (1..=NAME_MAX).contains(&name.chars().count());
    if is_short && !name.chars().any(char::is_control) {
        return Ok(name);
    }
    Err(Refused::field(
        "name",
        format!("must be 1 to {NAME_MAX} characters, none of them a control character"),
    ))
}
