//! Measures runs that do nothing on PostgreSQL, and keeps a server for those they are measured against; `bench/control` builds and calls it.
//!
//! `rate postgres` starts a server and keeps it until its input ends: each line on its input asks for a fresh database, whose URL it prints.
//! `rate measure URL RUNS WORKERS LOOKS` prints one line of JSON.

#![expect(clippy::unwrap_used, reason = "a measurement that cannot go on ends")]

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use futures_util::stream::{self, StreamExt};
use serde_json::json;
use tokio::sync::{mpsc, watch};
use tokio_util::sync::CancellationToken;
use trueup_control::{Local, Means, Perform, Performed, Roles, Settings, Station, Stopping, Told};
use trueup_events::attempt::Assignment;
use trueup_events::outcome::{Outcome, Verdict};
use trueup_events::payload::Mode;
use trueup_events::{EventType, RunId, TenantId};
use trueup_lifecycle::Policy;
use trueup_store::{JobDocument, NewRun, Options, Place, Role, Store};
use trueup_testkit::Postgres;
use uuid::Uuid;

/// How many triggers are under way at once; the rivals have the same.
const TRIGGERS_AT_ONCE: usize = 32;

/// Does nothing, and notes when.
#[derive(Debug, Clone, Default)]
struct Nothing {
    began: Arc<Mutex<HashMap<RunId, Instant>>>,
    count: Arc<watch::Sender<usize>>,
}

impl Perform for Nothing {
    async fn perform(
        &self,
        assignment: Assignment,
        _: mpsc::Sender<Told>,
        _: CancellationToken,
    ) -> Performed {
        self.began.lock().unwrap().insert(assignment.ids.run_id, Instant::now());
        self.count.send_modify(|count| *count += 1);
        Performed::Ended(Outcome::Result(Verdict::Matched))
    }
}

struct Bench {
    store: Arc<Store>,
    tenant_id: TenantId,
    nothing: Nothing,
}

impl Bench {
    async fn open(url: &str, workers: u32) -> (Self, Stopping) {
        let place = Place::Postgres(url.to_owned());
        let store = Arc::new(Store::open(&place, Role::Server, Options::default()).await.unwrap());
        let tenant_id = store.tenant("bench").await.unwrap();
        let document = JobDocument {
            name: "nothing".to_owned(),
            document: json!({}),
            queue: "default".to_owned(),
            policy: Policy::default(),
        };
        store.save_job(tenant_id, document, "bench").await.unwrap();
        let (nothing, stopping) = (Nothing::default(), Stopping::default());
        let settings = Settings::default();
        let runs_dir = std::env::temp_dir().join("trueup-bench");
        let station = Station {
            store: Arc::clone(&store),
            performer: nothing.clone(),
            means: Means { runs_dir: runs_dir.clone(), memory_bytes: None, threads: None },
            name: "bench".to_owned(),
            lease: settings.lease,
            stopping: stopping.clone(),
        };
        let roles = Roles { executor: true, places: workers };
        trueup_control::serve(&Arc::new(Local::new(runs_dir)), station, roles, settings);
        (Self { store, tenant_id, nothing }, stopping)
    }

    async fn trigger(&self) -> RunId {
        let new = NewRun {
            run_id: Uuid::now_v7(),
            tenant_id: self.tenant_id,
            job: "nothing".to_owned(),
            params: json!({}),
            mode: Mode::Immediate,
            triggered_by: "bench".to_owned(),
        };
        self.store.trigger(new).await.unwrap()
    }

    /// From the first trigger to the last `run.finalised` in the log.
    async fn rate(&self, runs: usize) -> f64 {
        let mut position = 0;
        while let Some(last) = self.store.read_from(position, None, 1000).await.unwrap().last() {
            position = last.position.unwrap();
        }
        let started = Instant::now();
        let triggers = stream::iter(0..runs).for_each_concurrent(TRIGGERS_AT_ONCE, |_| async {
            self.trigger().await;
        });
        let ends = async {
            let (mut ended, mut changes) = (0, self.store.changes());
            while ended < runs {
                changes.mark_unchanged();
                let events = self.store.read_from(position, None, 1000).await.unwrap();
                let is_end =
                    |event: &&trueup_events::Event| event.name.event_type() == Some(EventType::Finalised);
                ended += events.iter().filter(is_end).count();
                match events.last() {
                    Some(last) => position = last.position.unwrap(),
                    None => changes.changed().await.unwrap(),
                }
            }
        };
        tokio::join!(triggers, ends);
        runs as f64 / started.elapsed().as_secs_f64()
    }

    /// From the call of the trigger to the start of the work, one run after the other.
    async fn latencies(&self, looks: usize) -> Vec<Duration> {
        let mut latencies = Vec::new();
        let mut count = self.nothing.count.subscribe();
        for _ in 0..looks {
            let before = *count.borrow_and_update();
            let started = Instant::now();
            let run_id = self.trigger().await;
            count.wait_for(|count| *count > before).await.unwrap();
            latencies.push(self.nothing.began.lock().unwrap()[&run_id] - started);
            // So that the end of this one is not in the way of the next.
            tokio::time::sleep(Duration::from_millis(30)).await;
        }
        latencies.sort();
        latencies
    }
}

async fn measure(words: &[String]) {
    let [url, runs, workers, looks] = words else { panic!("measure URL RUNS WORKERS LOOKS") };
    let (bench, stopping) = Bench::open(url, workers.parse().unwrap()).await;
    bench.rate(100).await;
    let rate = bench.rate(runs.parse().unwrap()).await;
    let latencies = bench.latencies(looks.parse().unwrap()).await;
    let at =
        |percent: usize| latencies[(latencies.len() * percent).div_ceil(100).max(1) - 1].as_secs_f64() * 1e3;
    let version = env!("CARGO_PKG_VERSION");
    println!("{}", json!({ "version": version, "runs_per_s": rate, "p50_ms": at(50), "p99_ms": at(99) }));
    stopping.finish(Duration::from_secs(8)).await;
}

#[tokio::main]
async fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match words.split_first() {
        Some((command, rest)) if command == "measure" => measure(rest).await,
        _ => Postgres::keep_for_lines().unwrap(),
    }
}
