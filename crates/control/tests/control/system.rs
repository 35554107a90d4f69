//! A store with servers on it, whose attempts do what their job says.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::sync::{mpsc, watch};
use tokio_util::sync::CancellationToken;
use trueup_control::{Means, Perform, Performed, Roles, Settings, Station, Stopping, Told};
use trueup_events::attempt::Assignment;
use trueup_events::envelope::Envelope;
use trueup_events::outcome::{Outcome, Reason, RunError, Verdict};
use trueup_events::payload::{Mode, StageStarted};
use trueup_events::{EventType, RunId, TenantId, Time};
use trueup_lifecycle::{Fact, Hold, Policy, State, Status};
use trueup_store::{Clock, JobDocument, NewRun, Options, Place, Record, Role, Store};
use trueup_testkit::{Postgres, until};
use uuid::Uuid;

use crate::gate::Gate;
use crate::script::Script;

/// Does what the job's document says under `does`.
#[derive(Debug, Clone, Default)]
pub(crate) struct Obedient {
    /// How many attempts it has begun.
    begun: watch::Sender<u64>,
    /// How many of them were stopped.
    stopped: watch::Sender<u64>,
}

impl Perform for Obedient {
    async fn perform(
        &self,
        assignment: Assignment,
        tell: mpsc::Sender<Told>,
        stop: CancellationToken,
    ) -> Performed {
        let ids = assignment.ids;
        self.begun.send_modify(|count| *count += 1);
        let told = |stage: &str| {
            let payload = StageStarted { stage_name: stage.to_owned() }.into();
            Told { time: Time::from_unix_us(0), payload }
        };
        tell.send(told(&format!("of {}", ids.tenant_id))).await.unwrap();
        match assignment.job["does"].as_str().unwrap() {
            "match" => Performed::Ended(Outcome::Result(Verdict::Matched)),
            "fail" => Performed::Ended(Outcome::Error(RunError::new(Reason::SourceMissing, "no file"))),
            "die" => Performed::Died { facts: vec![Fact::Signalled(9)], last_words: "ouch".to_owned() },
            "die-late" => {
                stop.cancelled().await;
                Performed::Died { facts: vec![Fact::Signalled(15)], last_words: String::new() }
            }
            "match-late" => {
                stop.cancelled().await;
                Performed::Ended(Outcome::Result(Verdict::Matched))
            }
            "wait" => {
                stop.cancelled().await;
                self.stopped.send_modify(|count| *count += 1);
                Performed::Stopped
            }
            "babble" => {
                let babble = async {
                    while tell.send(told("again")).await.is_ok() {
                        tokio::task::yield_now().await;
                    }
                };
                stop.run_until_cancelled(babble).await;
                self.stopped.send_modify(|count| *count += 1);
                Performed::Stopped
            }
            other => unreachable!("nobody can {other}"),
        }
    }
}

/// What a server is started with.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Server {
    /// A name of its own.
    pub(crate) name: &'static str,
    /// Whether it submits and sweeps.
    pub(crate) executor: bool,
    /// How many runs it executes at once.
    pub(crate) places: u32,
    /// How often it looks for what it was not told of.
    pub(crate) reconcile_interval: Option<Duration>,
}

impl Server {
    /// One that executes two runs at once and looks often, so that a test need not wait.
    pub(crate) const BUSY: Self =
        Self { name: "busy", executor: true, places: 2, reconcile_interval: Some(Duration::from_millis(10)) };
    /// One that submits and sweeps, and executes nothing.
    pub(crate) const IDLE: Self = Self { name: "idle", places: 0, ..Self::BUSY };
    /// One that only executes.
    pub(crate) const WORKER: Self = Self { name: "worker", executor: false, ..Self::BUSY };
}

/// A store with a clock that is set by hand, its tenant, and an engine that does as it is told.
pub(crate) struct System {
    pub(crate) store: Arc<Store>,
    pub(crate) tenant_id: TenantId,
    pub(crate) engine: Script,
    performer: Obedient,
    now_ms: Arc<AtomicI64>,
    folder: TempDir,
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

    /// One in PostgreSQL, and the way to it.
    pub(crate) async fn behind_a_gate() -> (Self, Gate) {
        let url = Postgres::shared().database().unwrap();
        let (head, rest) = url.split_once('@').unwrap();
        let (host, tail) = rest.split_once(':').unwrap();
        let gate = Gate::to(Path::new(&host.replace("%2F", "/").replace("%25", "%")));
        let host = gate.folder().to_string_lossy().replace('%', "%25").replace('/', "%2F");
        let place = Place::Postgres(format!("{head}@{host}:{tail}"));
        (Self::open(place, tempfile::tempdir().unwrap()).await, gate)
    }

    async fn open(place: Place, folder: TempDir) -> Self {
        let now_ms = Arc::new(AtomicI64::new(1_790_000_000_000));
        let options = Options { clock: Clock::ByHand(Arc::clone(&now_ms)), ..Options::default() };
        let store = Arc::new(Store::open(&place, Role::Server, options).await.unwrap());
        let tenant_id = store.tenant("acme").await.unwrap();
        Self { store, tenant_id, engine: Script::default(), performer: Obedient::default(), now_ms, folder }
    }

    /// Lets time pass for the store.
    pub(crate) fn advance(&self, by_ms: i64) {
        self.now_ms.fetch_add(by_ms, Ordering::SeqCst);
    }

    /// Starts a server on the store.
    pub(crate) fn serve(&self, server: Server) -> Stopping {
        self.serve_on(&self.store, server)
    }

    /// Starts a server on the store as another process has opened it.
    pub(crate) fn serve_on(&self, store: &Arc<Store>, server: Server) -> Stopping {
        let stopping = Stopping::default();
        let runs_dir = self.folder.path().join("runs");
        let station = Station {
            store: Arc::clone(store),
            performer: self.performer.clone(),
            means: Means { runs_dir, memory_bytes: None, threads: None },
            name: server.name.to_owned(),
            lease: Duration::from_secs(30),
            stopping: stopping.clone(),
        };
        let settings = Settings {
            reconcile_interval: server.reconcile_interval,
            lease: Duration::from_millis(30),
            retention_interval: Duration::from_millis(10),
            engine_patience: Duration::from_secs(2),
            ..Settings::default()
        };
        let roles = Roles { executor: server.executor, places: server.places };
        trueup_control::serve(&Arc::new(self.engine.clone()), station, roles, settings);
        stopping
    }

    /// Waits until an attempt has begun.
    pub(crate) async fn has_begun_one(&self) {
        self.performer.begun.subscribe().wait_for(|begun| *begun > 0).await.unwrap();
    }

    /// Waits until an attempt has been stopped.
    pub(crate) async fn has_stopped_one(&self) {
        self.performer.stopped.subscribe().wait_for(|stopped| *stopped > 0).await.unwrap();
    }

    /// Saves a job that does that, in a queue.
    pub(crate) async fn save_job(&self, does: &str, queue: &str, policy: Policy) {
        let document = JobDocument {
            name: does.to_owned(),
            document: json!({ "does": does }),
            queue: queue.to_owned(),
            policy,
        };
        self.store.save_job(self.tenant_id, document, "ann").await.unwrap();
    }

    /// Asks for a run of a job that was saved.
    pub(crate) async fn start(&self, job: &str) -> RunId {
        self.store.trigger(self.new_run(job)).await.unwrap()
    }

    /// Asks for a run of a job that does that.
    pub(crate) async fn trigger(&self, does: &str, policy: Policy) -> RunId {
        self.save_job(does, "default", policy).await;
        self.start(does).await
    }

    /// Tells an event of an execution that something else started.
    pub(crate) async fn tell(&self, id: RunId, name: &str) {
        let body = json!({ "execution_id": id, "event_type": name, "step": "start" });
        let (event_id, now) = (self.store.next_event_id(), Time::from_unix_us(0));
        let event =
            Envelope::from_json(body).unwrap().into_event(self.tenant_id, event_id, now, "/elsewhere");
        self.store.ingest(self.tenant_id, vec![event]).await.unwrap();
    }

    pub(crate) fn new_run(&self, job: &str) -> NewRun {
        NewRun {
            run_id: Uuid::now_v7(),
            tenant_id: self.tenant_id,
            job: job.to_owned(),
            params: Value::Null,
            mode: Mode::Immediate,
            triggered_by: "ann".to_owned(),
        }
    }

    pub(crate) async fn run(&self, run_id: RunId) -> Record {
        self.store.run(self.tenant_id, run_id).await.unwrap().unwrap()
    }

    /// Waits until something is true of a run.
    pub(crate) async fn becomes(&self, run_id: RunId, is_so: impl Fn(&Record) -> bool) -> Record {
        until(self.store.changes(), || self.run(run_id), is_so).await
    }

    /// Waits until a run has that status.
    pub(crate) async fn reaches(&self, run_id: RunId, status: Status) -> Record {
        self.becomes(run_id, |record| record.run.state.status() == status).await
    }

    /// Waits until a submit of a run has failed, and it pauses before the next.
    pub(crate) async fn pauses(&self, run_id: RunId) {
        self.pauses_before(run_id, 1).await;
    }

    /// Waits until a run pauses before it is submitted, or submitted again, for an attempt.
    pub(crate) async fn pauses_before(&self, run_id: RunId, attempt: u32) -> Record {
        let is_pausing = |record: &Record| match &record.run.state {
            State::Scheduling(scheduling) => {
                scheduling.attempt == attempt && matches!(scheduling.hold, Hold::BackingOff { .. })
            }
            _ => false,
        };
        self.becomes(run_id, is_pausing).await
    }

    /// The types of a run's events, in the order of the log; all of them when it has ended.
    pub(crate) async fn told(&self, run_id: RunId) -> Vec<EventType> {
        let has_ended = self.run(run_id).await.run.state.status().is_terminal();
        let look = async || {
            let events = self.store.events_of(self.tenant_id, run_id, 0, 1000).await.unwrap();
            events.iter().map(|event| event.name.event_type().unwrap()).collect()
        };
        // On PostgreSQL the log follows what was committed.
        let is_whole = |told: &Vec<_>| !has_ended || told.contains(&EventType::ExecutionCompleted);
        until(self.store.changes(), look, is_whole).await
    }

    /// How often an event of that type was told of a run.
    pub(crate) async fn count(&self, run_id: RunId, event_type: EventType) -> usize {
        self.told(run_id).await.iter().filter(|told| **told == event_type).count()
    }
}
