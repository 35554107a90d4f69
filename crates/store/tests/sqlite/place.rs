//! A store in a folder that goes with the test.

use serde_json::json;
use tempfile::TempDir;
use trueup_events::TenantId;
use trueup_events::payload::Mode;
use trueup_lifecycle::Policy;
use trueup_store::{JobDocument, NewRun, Options, Place, Role, RunFilter, Store};

pub(crate) fn folder() -> TempDir {
    tempfile::tempdir().unwrap()
}

pub(crate) fn place(folder: &TempDir) -> Place {
    Place::Sqlite(folder.path().join("store.db"))
}

pub(crate) async fn open(folder: &TempDir, role: Role) -> Store {
    Store::open(&place(folder), role, Options::default()).await.unwrap()
}

/// A store with one job, `nightly`.
pub(crate) async fn open_with_job(folder: &TempDir) -> (Store, TenantId) {
    let store = open(folder, Role::Server).await;
    let tenant_id = store.tenant("acme").await.unwrap();
    store.save_job(tenant_id, nightly(), "ann").await.unwrap();
    (store, tenant_id)
}

pub(crate) fn nightly() -> JobDocument {
    JobDocument {
        name: "nightly".to_owned(),
        document: json!({ "sources": [] }),
        queue: "default".to_owned(),
        policy: Policy::default(),
    }
}

pub(crate) fn wish(tenant_id: TenantId) -> NewRun {
    NewRun {
        run_id: uuid::Uuid::now_v7(),
        tenant_id,
        job: "nightly".to_owned(),
        params: json!({ "day": "2026-07-01" }),
        mode: Mode::Immediate,
        triggered_by: "ann".to_owned(),
    }
}

/// Every run of a tenant.
pub(crate) fn all(tenant_id: TenantId) -> RunFilter {
    RunFilter::of(tenant_id, 1000)
}
