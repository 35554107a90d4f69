//! Who asks, and what they may do.

use std::collections::HashMap;
use std::marker::PhantomData;
use std::ops::Deref;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::extract::{FromRequestParts, Request, State};
use axum::http::header::AUTHORIZATION;
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode};
use axum::middleware::Next;
use axum::response::Response;
use tokio::time::Instant;
use trueup_events::TenantId;
use trueup_store::{Key, KeyRole, StoreError};
use uuid::Uuid;

use crate::app::App;
use crate::key::Secret;
use crate::problem::Refused;

/// The tenant that the first start makes, and whose admins may make others.
pub(crate) const HOME_TENANT: &str = "default";

/// Who asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Caller {
    /// Whose things they see.
    pub(crate) tenant_id: TenantId,
    /// What they may do.
    pub(crate) role: KeyRole,
    /// The key that they showed.
    pub(crate) key_id: Option<Uuid>,
    /// What they are called in the audit log.
    pub(crate) name: String,
}

/// What a route asks of a caller.
pub(crate) trait Right: Send + Sync + 'static {
    /// The roles that have it.
    const ROLES: &'static [KeyRole];
}

macro_rules! rights {
    ($($(#[$doc:meta])* $right:ident = [$($role:ident),*];)*) => {
        $($(#[$doc])*
        pub(crate) struct $right;

        impl Right for $right {
            const ROLES: &'static [KeyRole] = &[$(KeyRole::$role),*];
        })*
    };
}

rights! {
    /// To look at what the tenant has.
    Reads = [Viewer, Operator, Admin];
    /// To run things, and to end them.
    Operates = [Operator, Admin];
    /// To tell what happened elsewhere.
    Reports = [Ingest, Worker, Operator, Admin];
    /// To say who may do what.
    Administers = [Admin];
}

/// A caller who has a right.
pub(crate) struct Allowed<R> {
    caller: Caller,
    right: PhantomData<R>,
}

impl<R> Deref for Allowed<R> {
    type Target = Caller;

    fn deref(&self) -> &Caller {
        &self.caller
    }
}

impl<R: Right, S: Send + Sync> FromRequestParts<S> for Allowed<R> {
    type Rejection = Refused;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Refused> {
        let caller = parts.extensions.get::<Caller>().cloned();
        let caller = caller.ok_or_else(|| Refused::unknown_caller("this takes a key"))?;
        if R::ROLES.contains(&caller.role) {
            return Ok(Self { caller, right: PhantomData });
        }
        let roles: Vec<&str> = R::ROLES.iter().map(|role| role.name()).collect();
        let problem =
            format!("the role {} may not do this; it takes {}", caller.role.name(), roles.join(" or "));
        Err(Refused::new(StatusCode::FORBIDDEN, problem))
    }
}

/// Finds out who asks, before anything else is looked at.
pub(crate) async fn identify(
    State(app): State<Arc<App>>,
    mut request: Request,
    next: Next,
) -> Result<Response, Refused> {
    let caller = app.caller(request.headers()).await?;
    request.extensions_mut().insert(caller);
    Ok(next.run(request).await)
}

impl App {
    async fn caller(&self, headers: &HeaderMap) -> Result<Caller, Refused> {
        let Some(secret) = shown(headers)? else {
            let role = self.anonymous.ok_or_else(|| {
                Refused::unknown_caller("no key was shown: send the header `Authorization: Bearer KEY`")
            })?;
            let tenant_id = self.store.tenant(HOME_TENANT).await?;
            return Ok(Caller { tenant_id, role, key_id: None, name: "anonymous".to_owned() });
        };
        match self.callers.find(self, &secret).await? {
            Standing::Good(caller) => Ok(caller),
            Standing::Unknown => Err(Refused::unknown_caller("there is no such key")),
            Standing::Expired => Err(Refused::unknown_caller("the key has expired")),
            Standing::Revoked => Err(Refused::unknown_caller("the key was revoked")),
        }
    }
}

/// The key that a request shows.
fn shown(headers: &HeaderMap) -> Result<Option<Secret>, Refused> {
    let Some(value) = headers.get(AUTHORIZATION) else { return Ok(None) };
    let bearer = value
        .to_str()
        .ok()
        .and_then(|text| text.split_once(' '))
        .filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"));
    let (_, secret) =
        bearer.ok_or_else(|| Refused::unknown_caller("the header Authorization is not `Bearer KEY`"))?;
    // What cannot be a key is none that we know.
    secret.trim().parse().map(Some).map_err(|_| Refused::unknown_caller("there is no such key"))
}

/// What is known of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Standing {
    Good(Caller),
    Unknown,
    Expired,
    Revoked,
}

impl Standing {
    fn of(key: Option<Key>, now_ms: i64) -> Self {
        match key {
            None => Self::Unknown,
            Some(key) if key.revoked_at_ms.is_some() => Self::Revoked,
            Some(key) if key.expires_at_ms.is_some_and(|expires_at_ms| expires_at_ms <= now_ms) => {
                Self::Expired
            }
            Some(Key { id, tenant_id, role, name, .. }) => {
                Self::Good(Caller { tenant_id, role, key_id: Some(id), name: format!("key {name}") })
            }
        }
    }
}

/// Keys that were looked up a moment ago, by their hashes.
#[derive(Debug, Default)]
pub(crate) struct Known {
    standings: Mutex<HashMap<[u8; 32], (Instant, Standing)>>,
}

/// How long a key is taken for what it was: a revoked one works no longer than that.
const KNOWN_FOR: Duration = Duration::from_secs(1);
/// How many are kept; all are dropped when they are more.
const KNOWN_MAX: usize = 10_000;

impl Known {
    async fn find(&self, app: &App, secret: &Secret) -> Result<Standing, StoreError> {
        let hash = secret.hash();
        if let Some(standing) = self.recent(&hash) {
            return Ok(standing);
        }
        let key = app.store.key_of(hash).await?;
        let standing = Standing::of(key, app.store.now_ms().await?);
        let mut standings = self.standings.lock().unwrap_or_else(PoisonError::into_inner);
        if standings.len() >= KNOWN_MAX {
            standings.clear();
        }
        standings.insert(hash, (Instant::now(), standing.clone()));
        Ok(standing)
    }

    fn recent(&self, hash: &[u8; 32]) -> Option<Standing> {
        let standings = self.standings.lock().unwrap_or_else(PoisonError::into_inner);
        let (at, standing) = standings.get(hash)?;
        (at.elapsed() < KNOWN_FOR).then(|| standing.clone())
    }
}
