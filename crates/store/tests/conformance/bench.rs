//! A store to try things on, with a clock that is set by hand.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use serde_json::json;
use trueup_events::payload::Mode;
use trueup_events::{Event, EventId, RunId, TenantId};
use trueup_lifecycle::{Lease, Limits, Policy, Settings, Status};
use trueup_store::{Claimed, Clock, JobDocument, NewRun, Options, Place, Record, Role, Store, Taken};

/// When the tests begin.
pub(crate) const START_MS: i64 = 1_790_000_000_000;
/// The name of the executor, where one is enough.
pub(crate) const EXECUTOR: &str = "executor-1";
/// The name of the worker, where one is enough.
pub(crate) const WORKER: &str = "worker-1";

/// A fresh store with a tenant and a job.
pub(crate) struct Bench {
    pub store: Arc<Store>,
    pub tenant_id: TenantId,
    pub settings: Settings,
    now_ms: Arc<AtomicI64>,
    /// Where SQLite keeps its file.
    folder: Option<tempfile::TempDir>,
}

impl Bench {
    pub(crate) async fn sqlite() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let place = Place::Sqlite(folder.path().join("store.db"));
        Self::open(place, Some(folder)).await
    }

    pub(crate) async fn postgres() -> Self {
        Self::open(Place::Postgres(trueup_testkit::Postgres::shared().database().unwrap()), None).await
    }

    /// Another fresh store of the same kind.
    pub(crate) async fn another(&self) -> Self {
        if self.folder.is_some() { Self::sqlite().await } else { Self::postgres().await }
    }

    async fn open(place: Place, folder: Option<tempfile::TempDir>) -> Self {
        let now_ms = Arc::new(AtomicI64::new(START_MS));
        let options = Options { clock: Clock::ByHand(Arc::clone(&now_ms)), ..Options::default() };
        let settings = options.settings;
        let store = Store::open(&place, Role::Server, options).await.unwrap();
        let tenant_id = store.tenant("acme").await.unwrap();
        let bench = Self { store: Arc::new(store), tenant_id, settings, now_ms, folder };
        bench.save_job("revenue", "default", Policy::default()).await;
        bench
    }

    pub(crate) async fn save_job(&self, name: &str, queue: &str, policy: Policy) {
        let document = JobDocument {
            name: name.to_owned(),
            document: json!({ "name": name }),
            queue: queue.to_owned(),
            policy,
        };
        self.store.save_job(self.tenant_id, document, "ann").await.unwrap();
    }

    pub(crate) async fn set_queue(&self, name: &str, max_running: Option<u32>, max_waiting: Option<u32>) {
        self.store.set_queue(self.tenant_id, name, Limits { max_running, max_waiting }, "ann").await.unwrap();
    }

    /// Lets time pass.
    pub(crate) fn advance(&self, by_ms: i64) {
        self.now_ms.fetch_add(by_ms, Ordering::SeqCst);
    }

    pub(crate) fn new_run(&self, job: &str) -> NewRun {
        NewRun {
            run_id: uuid::Uuid::now_v7(),
            tenant_id: self.tenant_id,
            job: job.to_owned(),
            params: json!({ "date": "2026-09-21" }),
            mode: Mode::Immediate,
            triggered_by: "ann".to_owned(),
        }
    }

    pub(crate) async fn trigger(&self, job: &str) -> RunId {
        self.store.trigger(self.new_run(job)).await.unwrap()
    }

    /// The one run that can be claimed.
    pub(crate) async fn claim(&self) -> Claimed {
        let mut claimed = self.store.claim_for_scheduling(EXECUTOR, 10).await.unwrap();
        assert_eq!(claimed.len(), 1);
        claimed.remove(0)
    }

    /// Asks for a run and hands it off.
    pub(crate) async fn scheduled(&self, job: &str) -> RunId {
        let run_id = self.trigger(job).await;
        let claimed = self.claim().await;
        assert_eq!(claimed.record.id(), run_id);
        self.store.hand_off(claimed.claim).await.unwrap();
        run_id
    }

    /// Asks for a run and lets a worker take it.
    pub(crate) async fn running(&self, job: &str) -> Lease {
        let run_id = self.scheduled(job).await;
        let taken = self.take().await;
        assert_eq!(taken.record.id(), run_id);
        taken.lease
    }

    /// Lets the pause of the one run pass whose attempt died, hands it off again, and lets a worker take it.
    pub(crate) async fn take_again(&self) -> Taken {
        let left_ms = self.store.next_pause_ms().await.unwrap().expect("a run pauses");
        self.advance(left_ms);
        self.store.hand_off(self.claim().await.claim).await.unwrap();
        self.take().await
    }

    /// The one run that can be taken.
    pub(crate) async fn take(&self) -> Taken {
        let mut taken = self.store.take(WORKER, 10).await.unwrap();
        assert_eq!(taken.len(), 1);
        taken.remove(0)
    }

    pub(crate) async fn record(&self, run_id: RunId) -> Record {
        self.store.run(self.tenant_id, run_id).await.unwrap().unwrap()
    }

    pub(crate) async fn status(&self, run_id: RunId) -> Status {
        self.record(run_id).await.run.state.status()
    }

    /// The log from its start, all that was committed so far.
    ///
    /// Events are numbered in the order in which they became visible, so an event that is appended now comes after all of them.
    pub(crate) async fn log(&self) -> Vec<Event> {
        let last = self.foreign_event(self.store.next_event_id());
        self.store.ingest(self.tenant_id, vec![last.clone()]).await.unwrap();
        let mut changes = self.store.changes();
        loop {
            changes.mark_unchanged();
            let mut events = self.store.read_from(0, None, 1_000_000).await.unwrap();
            if events.iter().any(|event| event.event_id == last.event_id) {
                events.retain(|event| event.run_id != last.run_id);
                return events;
            }
            let change = tokio::time::timeout(Duration::from_secs(30), changes.changed()).await;
            change.expect("the log moves on").unwrap();
        }
    }

    /// An event that something else made, about an execution of its own.
    pub(crate) fn foreign_event(&self, event_id: EventId) -> Event {
        Event {
            event_id,
            position: None,
            tenant_id: self.tenant_id,
            run_id: RunId::Number(321_079_436_235_509_760),
            name: "step.exit".into(),
            source: "/elsewhere".to_owned(),
            time: "2026-09-21T10:00:00.5+02:00".parse().unwrap(),
            stamped_here: false,
            data: json!({ "rows": 12, "share": 0.1, "big": u64::MAX }),
            causation_id: None,
            traceparent: None,
            extensions: BTreeMap::from([("partition".to_owned(), json!("a"))]),
            details: None,
            mark: None,
        }
    }
}

/// What events are called, in their order.
pub(crate) fn names(events: &[Event]) -> Vec<&str> {
    events.iter().map(|event| event.name.as_str()).collect()
}
