//! The stores that are measured, on a real disk and with every commit on it.

use std::sync::Arc;

use serde_json::json;
use trueup_events::TenantId;
use trueup_events::payload::Mode;
use trueup_lifecycle::Policy;
use trueup_store::{JobDocument, NewRun, Options, Place, Role, Store};
use trueup_testkit::Postgres;

/// The job whose runs live.
pub(crate) const JOB: &str = "revenue";

pub(crate) struct Bench {
    pub name: &'static str,
    pub store: Arc<Store>,
    pub tenant_id: TenantId,
    pub place: Place,
    /// What goes when the measurement is over: a folder, or a server.
    _kept: Box<dyn std::any::Any>,
}

impl Bench {
    pub(crate) async fn sqlite() -> Self {
        // Beside the build, which is on a disk; the system's folder for such files may be in memory.
        let program = std::env::current_exe().unwrap();
        let folder = tempfile::tempdir_in(program.parent().unwrap()).unwrap();
        let place = Place::Sqlite(folder.path().join("store.db"));
        Self::open("SQLite", place, Box::new(folder)).await
    }

    pub(crate) async fn postgres() -> Self {
        let server = Postgres::start_durable().unwrap();
        let place = Place::Postgres(server.database().unwrap());
        Self::open("PostgreSQL", place, Box::new(server)).await
    }

    async fn open(name: &'static str, place: Place, kept: Box<dyn std::any::Any>) -> Self {
        let store = Store::open(&place, Role::Server, Options::default()).await.unwrap();
        let tenant_id = store.tenant("acme").await.unwrap();
        let document = JobDocument {
            name: JOB.to_owned(),
            document: json!({ "name": JOB }),
            queue: "default".to_owned(),
            policy: Policy::default(),
        };
        store.save_job(tenant_id, document, "bench").await.unwrap();
        Self { name, store: Arc::new(store), tenant_id, place, _kept: kept }
    }

    pub(crate) fn new_run(&self) -> NewRun {
        NewRun {
            run_id: uuid::Uuid::now_v7(),
            tenant_id: self.tenant_id,
            job: JOB.to_owned(),
            params: json!({ "date": "2026-09-21" }),
            mode: Mode::Immediate,
            triggered_by: "bench".to_owned(),
        }
    }

    /// Prints what the numbers depend on, as the database says it.
    pub(crate) async fn print_settings(&self) {
        for (name, value) in self.store.settings().await.unwrap() {
            println!("{name} = {value}  ");
        }
        println!();
    }

    /// Prints whether what the store is to reach was reached.
    pub(crate) fn print_target(&self, target: &str, is_reached: bool) {
        println!("{}: {target} ({})\n", if is_reached { "ok" } else { "miss" }, self.name);
    }
}
