//! A store with servers on it, whose attempts do what their job says.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use trueup_control::{Local, Means, Perform, Performed, Roles, Settings, Station, Stopping, Told};
use trueup_events::attempt::Assignment;
use trueup_events::outcome::{Outcome, Reason, RunError, Verdict};
use trueup_events::payload::{Mode, StageStarted};
use trueup_events::{EventType, RunId, TenantId, Time};
use trueup_lifecycle::{Fact, Policy, Status};
use trueup_store::{JobDocument, NewRun, Options, Place, Record, Role, Store};
use trueup_testkit::Postgres;
use uuid::Uuid;

/// How long anything may take before a test gives up on it.
const PATIENCE: Duration = Duration::from_secs(60);

/// Does what the job's document says under `does`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Obedient;

impl Perform for Obedient {
    async fn perform(
        &self,
        assignment: Assignment,
        tell: mpsc::Sender<Told>,
        stop: CancellationToken,
    ) -> Performed {
        let payload = StageStarted { stage_name: "only".to_owned() }.into();
        tell.send(Told { time: Time::from_unix_us(0), payload }).await.unwrap();
        match assignment.job["does"].as_str().unwrap() {
            "match" => Performed::Ended(Outcome::Result(Verdict::Matched)),
            "fail" => Performed::Ended(Outcome::Error(RunError::new(Reason::SourceMissing, "no file"))),
            "die" => Performed::Died { facts: vec![Fact::Signalled(9)], last_words: "ouch".to_owned() },
            "wait" => {
                stop.cancelled().await;
                Performed::Stopped
            }
            other => unreachable!("nobody can {other}"),
        }
    }
}

/// A store, its tenant, and what is needed to open it again.
pub(crate) struct System {
    pub(crate) store: Arc<Store>,
    pub(crate) tenant_id: TenantId,
    pub(crate) folder: TempDir,
}

impl System {
    pub(crate) async fn sqlite() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let place = Place::Sqlite(folder.path().join("trueup.db"));
        Self::open(place, folder).await
    }

    pub(crate) async fn postgres() -> Self {
        let place = Place::Postgres(Postgres::shared().database().unwrap());
        Self::open(place, tempfile::tempdir().unwrap()).await
    }

    async fn open(place: Place, folder: TempDir) -> Self {
        let store = Arc::new(Store::open(&place, Role::Server, Options::default()).await.unwrap());
        let tenant_id = store.tenant("acme").await.unwrap();
        Self { store, tenant_id, folder }
    }

    pub(crate) fn runs_dir(&self) -> PathBuf {
        self.folder.path().join("runs")
    }

    /// Starts a server of that name with so many places.
    pub(crate) fn serve(&self, name: &str, places: u32) -> Stopping {
        let stopping = Stopping::default();
        let station = Station {
            store: Arc::clone(&self.store),
            performer: Obedient,
            means: Means { runs_dir: self.runs_dir(), memory_bytes: None, threads: None },
            name: name.to_owned(),
            lease: Duration::from_secs(30),
            stopping: stopping.clone(),
        };
        let engine = Arc::new(Local::new(self.runs_dir()));
        trueup_control::serve(&engine, station, Roles { executor: true, places }, Settings::default());
        stopping
    }

    /// Asks for a run of a job that does that.
    pub(crate) async fn trigger(&self, does: &str, policy: Policy) -> RunId {
        let document = JobDocument {
            name: does.to_owned(),
            document: json!({ "does": does }),
            queue: "default".to_owned(),
            policy,
        };
        self.store.save_job(self.tenant_id, document, "ann").await.unwrap();
        let new = NewRun {
            run_id: Uuid::now_v7(),
            tenant_id: self.tenant_id,
            job: does.to_owned(),
            params: Value::Null,
            mode: Mode::Immediate,
            triggered_by: "ann".to_owned(),
        };
        self.store.trigger(new).await.unwrap()
    }

    /// Waits until a run has that status.
    pub(crate) async fn reaches(&self, run_id: RunId, status: Status) -> Record {
        let mut changes = self.store.changes();
        let reached = async {
            loop {
                changes.mark_unchanged();
                let record = self.store.run(self.tenant_id, run_id).await.unwrap().unwrap();
                if record.run.state.status() == status {
                    return record;
                }
                changes.changed().await.unwrap();
            }
        };
        tokio::time::timeout(PATIENCE, reached).await.expect("the run gets there")
    }

    /// The types of a run's events, in the order of the log.
    pub(crate) async fn told(&self, run_id: RunId) -> Vec<EventType> {
        let events = self.store.events_of(run_id, 0, 1000).await.unwrap();
        events.iter().map(|event| event.name.event_type().unwrap()).collect()
    }
}
