//! A store, a job with real files, and what must hold at the end, whatever happened.

use std::collections::HashMap;
use std::fs::File;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;

use serde_json::json;
use tempfile::TempDir;
use tokio_postgres::NoTls;
use trueup_events::payload::Mode;
use trueup_events::{EventType, RunId, TenantId};
use trueup_lifecycle::{Policy, Status};
use trueup_store::{JobDocument, NewRun, Options, Place, Record, Role, RunFilter, Store, StoreError};
use trueup_testkit::{PATIENCE, Postgres, until};
use uuid::Uuid;

use crate::engine;
use crate::process::Process;

/// More attempts than a run loses because a machine is too busy for its worker to be heard of in time.
pub(crate) const RETRIES: u32 = 50;
/// The boundaries of a verb, as fail points spell them.
pub(crate) const BOUNDARIES: [&str; 3] = ["before", "before_commit", "after_commit"];
/// Times that have come, and that do not come while a test runs.
pub(crate) const AT_ONCE: i64 = 0;
pub(crate) const NEVER: i64 = 9_999_999_999_999;

const LEDGER: &str = "id,amount\n1,10.00\n2,20.00\n3,30.00\n";
pub(crate) const BANK: &str = "id,amount\n1,10.00\n2,20.01\n3,30.00\n";

/// Which database a scene is played on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Sqlite,
    Postgres,
}

/// Where everything happens; the test looks at the store as another process.
pub(crate) struct Scene {
    pub(crate) store: Arc<Store>,
    pub(crate) tenant_id: TenantId,
    place: String,
    folder: TempDir,
}

impl Scene {
    pub(crate) async fn set(kind: Kind) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let place = match kind {
            Kind::Sqlite => format!("sqlite:{}", folder.path().join("trueup.db").display()),
            Kind::Postgres => Postgres::shared().database().unwrap(),
        };
        Self::at(place, folder).await
    }

    pub(crate) async fn at(place: String, folder: TempDir) -> Self {
        std::fs::write(folder.path().join("ledger.csv"), LEDGER).unwrap();
        std::fs::write(folder.path().join("bank.csv"), BANK).unwrap();
        let at: Place = place.parse().unwrap();
        let store = Arc::new(Store::open(&at, Role::Command, Options::default()).await.unwrap());
        let tenant_id = store.tenant("default").await.unwrap();
        let scene = Self { store, tenant_id, place, folder };
        scene.save_job("daily", "default", RETRIES).await;
        scene
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Makes the bank a pipe that nobody has written to yet, so that whoever reads it waits; gives what it can be written to by.
    pub(crate) fn let_the_bank_wait(&self) -> std::fs::File {
        let bank = self.path("bank.csv");
        std::fs::remove_file(&bank).unwrap();
        assert!(Command::new("mkfifo").arg(&bank).status().unwrap().success());
        // Whoever opens it for writing alone waits for a reader.
        File::options().read(true).write(true).open(bank).unwrap()
    }

    /// Makes the bank a file again, for those who open it from now on.
    pub(crate) fn let_the_bank_open(&self) {
        std::fs::write(self.path("bank.new"), BANK).unwrap();
        std::fs::rename(self.path("bank.new"), self.path("bank.csv")).unwrap();
    }

    /// Saves a job that finds the two files equal.
    pub(crate) async fn save_job(&self, name: &str, queue: &str, retries: u32) {
        let document = json!({
            "name": name,
            "sources": [
                { "name": "ledger", "file": self.path("ledger.csv") },
                { "name": "bank", "file": self.path("bank.csv") },
            ],
            "key": ["id"],
            "tolerances": [{ "measure": "amount", "type": "ABSOLUTE", "value": "0.01" }],
        });
        let policy = Policy { retries, ..Policy::default() };
        let document = JobDocument { name: name.to_owned(), document, queue: queue.to_owned(), policy };
        self.store.save_job(self.tenant_id, document, "ann").await.unwrap();
    }

    /// A server that notices quickly what is silent, unless it is told otherwise.
    pub(crate) fn serve(&self, fail_point: Option<&str>, more: &[&str]) -> Process {
        let quick = [
            ["--lease", "1s"],
            ["--reconcile-interval", "200ms"],
            ["--reconcile-grace", "1s"],
            ["--name", "only"],
        ];
        let mut arguments = self.arguments("serve");
        let unsaid = quick.iter().filter(|[option, _]| !more.contains(option)).flatten();
        arguments.extend(unsaid.chain(more).map(ToString::to_string));
        Process::start(&arguments, fail_point)
    }

    /// Any other command on the store.
    pub(crate) fn command(&self, words: &[&str], fail_point: Option<&str>) -> Process {
        let (first, rest) = words.split_first().unwrap();
        let mut arguments = vec![(*first).to_owned()];
        arguments.extend(rest.iter().map(ToString::to_string));
        arguments.extend(self.arguments("").into_iter().filter(|word| !word.is_empty()));
        Process::start(&arguments, fail_point)
    }

    /// A server like [`Self::serve`]'s, but with an engine that errs in some way.
    pub(crate) fn serve_with_engine(&self, manner: &str, fail_point: &str) -> Process {
        let program = std::env::current_exe().unwrap();
        let arguments = ["--exact", engine::STAND_IN, "--nocapture"].map(str::to_owned);
        let order = [manner, &self.place, &self.path("data").display().to_string()].join("\n");
        let environment = [(engine::ORDER, order.as_str()), ("TRUEUP_FAIL_POINT", fail_point)];
        Process::start_program(&program, &arguments, environment)
    }

    fn arguments(&self, command: &str) -> Vec<String> {
        let data_dir = self.path("data").display().to_string();
        [command, "--store", &self.place, "--data-dir", &data_dir].map(str::to_owned).into()
    }

    /// Asks for a run.
    pub(crate) async fn start(&self, job: &str) -> RunId {
        self.store.trigger(self.new_run(job)).await.unwrap()
    }

    /// Asks for a run until the store answers; asked again, it is the same wish.
    pub(crate) async fn start_until_heard(&self, job: &str) -> RunId {
        self.insist(self.new_run(job)).await
    }

    /// Asks for a run as often as need be.
    pub(crate) async fn insist(&self, new: NewRun) -> RunId {
        heard(async || self.store.trigger(new.clone()).await).await
    }

    /// Lets that be the time at which a claim, a pause or a lease is over: nobody can wait for as long as most of them last.
    pub(crate) async fn set_due(&self, run_id: RunId, due_at_ms: i64) {
        match self.place.parse().unwrap() {
            Place::Sqlite(path) => {
                let raw = rusqlite::Connection::open(path).unwrap();
                raw.busy_timeout(PATIENCE).unwrap();
                let change = "update runs set due_at_ms = ?2 where id = ?1 and due_at_ms is not null";
                raw.execute(change, (run_id.to_string(), due_at_ms)).unwrap();
            }
            Place::Postgres(url) => {
                let (raw, connection) = tokio_postgres::connect(&url, NoTls).await.unwrap();
                let connection = tokio::spawn(connection);
                let change = "update trueup.runs set due_at_ms = $2 where id = $1 and due_at_ms is not null";
                raw.execute(change, &[&run_id.to_string(), &due_at_ms]).await.unwrap();
                drop(raw);
                connection.await.unwrap().unwrap();
            }
        }
    }

    pub(crate) fn new_run(&self, job: &str) -> NewRun {
        NewRun {
            run_id: Uuid::now_v7(),
            tenant_id: self.tenant_id,
            job: job.to_owned(),
            params: json!({}),
            mode: Mode::Immediate,
            triggered_by: "ann".to_owned(),
        }
    }

    pub(crate) async fn runs(&self) -> Vec<Record> {
        let filter = RunFilter::of(self.tenant_id, 10_000);
        heard(async || self.store.runs(&filter).await).await
    }

    /// A run, once the store can be asked.
    pub(crate) async fn run(&self, run_id: RunId) -> Record {
        heard(async || self.store.run(self.tenant_id, run_id).await).await.unwrap()
    }

    /// Waits until something is true of a run.
    pub(crate) async fn becomes(&self, run_id: RunId, is_so: impl Fn(&Record) -> bool) -> Record {
        until(self.store.changes(), || self.run(run_id), is_so).await
    }

    /// Waits until a run has completed.
    pub(crate) async fn completes(&self, run_id: RunId) {
        let record = self.becomes(run_id, |record| record.run.state.status().is_terminal()).await;
        assert_eq!(record.run.state.status(), Status::Completed, "{record:?}");
    }

    /// Waits until every run has ended, and checks all that must hold then.
    pub(crate) async fn ends_well(&self, expected: usize) {
        for record in self.runs().await {
            self.becomes(record.id(), |record| record.run.state.status().is_terminal()).await;
        }
        let runs = self.runs().await;
        assert_eq!(runs.len(), expected, "nothing is lost, and there is no ghost");
        for record in &runs {
            self.is_told_once(record).await;
        }
        for queue in heard(async || self.store.queues(self.tenant_id).await).await {
            assert_eq!(
                (queue.waiting, queue.scheduled, queue.running),
                (0, 0, 0),
                "no slot is held: {queue:?}"
            );
        }
        let audited = heard(async || self.store.verify_audit(None).await).await;
        assert_eq!(audited.fault, None);
    }

    async fn is_told_once(&self, record: &Record) {
        let status = record.run.state.status();
        let mut told: HashMap<EventType, usize> = HashMap::new();
        for event in heard(async || self.store.events_of(self.tenant_id, record.id(), 0, 10_000).await).await
        {
            *told.entry(event.name.event_type().unwrap()).or_default() += 1;
        }
        let count = |event_type| told.get(&event_type).copied().unwrap_or(0);
        let ends = (count(EventType::Finalised), count(EventType::Cancelled));
        let expected = if status == Status::Cancelled { (0, 1) } else { (1, 0) };
        assert_eq!(ends, expected, "{status}: {told:?}");
        assert_eq!(count(EventType::Triggered), 1);
        assert_eq!(count(EventType::ExecutionCompleted), 1);
    }
}

/// Asks the store until it answers.
async fn heard<T>(ask: impl AsyncFn() -> Result<T, StoreError>) -> T {
    loop {
        match ask().await {
            Ok(answer) => return answer,
            Err(error) => assert!(error.is_passing(), "{error}"),
        }
    }
}
