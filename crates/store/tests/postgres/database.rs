//! A database of one test's own, and a store in it.

use serde_json::json;
use tokio_postgres::{Client, NoTls};
use trueup_events::TenantId;
use trueup_events::payload::Mode;
use trueup_lifecycle::Policy;
use trueup_store::{JobDocument, NewRun, Options, Place, Role, Store};
use trueup_testkit::Postgres;

/// Makes a database on the server that all tests share.
pub(crate) fn database() -> String {
    Postgres::shared().database().unwrap()
}

/// Opens a store as a server does.
pub(crate) async fn open(url: &str) -> Store {
    Store::open(&Place::Postgres(url.to_owned()), Role::Server, Options::default()).await.unwrap()
}

/// Connects without a store, for raw SQL.
pub(crate) async fn connect(url: &str) -> Client {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await.unwrap();
    tokio::spawn(connection);
    client
}

/// A tenant with the job `ledger`.
pub(crate) async fn tenant(store: &Store) -> TenantId {
    let tenant_id = store.tenant("acme").await.unwrap();
    store.save_job(tenant_id, ledger(), "ann").await.unwrap();
    tenant_id
}

pub(crate) fn ledger() -> JobDocument {
    JobDocument {
        name: "ledger".to_owned(),
        document: json!({ "sources": ["a", "b"] }),
        queue: "default".to_owned(),
        policy: Policy::default(),
    }
}

/// A wish for a run of that job.
pub(crate) fn wish(tenant_id: TenantId) -> NewRun {
    NewRun {
        run_id: uuid::Uuid::now_v7(),
        tenant_id,
        job: "ledger".to_owned(),
        params: json!({ "day": "2026-07-01" }),
        mode: Mode::Immediate,
        triggered_by: "ann".to_owned(),
    }
}
