//! One kill at each boundary of each verb that only an engine which errs brings a server to.
//!
//! `trueup` has no such engine, so the server is this very program, started again to run the one test that stands in for it.

use std::collections::BTreeMap;
use std::env;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use trueup_control::{
    Answer, Child, Engine, EngineError, Kept, Means, Roles, Settings, Station, Stopping, serve,
};
use trueup_events::outcome::{Outcome, Reason, RunError, Verdict};
use trueup_events::{Event, RunId, TenantId};
use trueup_lifecycle::{Report, Settings as RunSettings};
use trueup_store::{Options, Place, Record, Role, Store};

use crate::scene::{BOUNDARIES, Kind, Scene};

/// The test that stands in for a server, as the test runner names it.
pub(crate) const STAND_IN: &str = "engine::stands_in_for_a_server";
/// The variable that tells it what to do: how its engine errs, the store, and the folder for files, a line each.
pub(crate) const ORDER: &str = "TRUEUP_STAND_IN";

/// Verbs, and how an engine errs that brings a server to them.
pub(crate) const BY_AN_ENGINE: [(&str, &str); 4] = [
    ("ClaimForScheduling", "refuses"),
    ("SubmitFailed", "refuses"),
    ("TakeOver", "forgets"),
    ("Answer", "has ended it"),
];
/// A verb that nothing comes to but whoever takes in the events of others.
pub(crate) const BY_OTHERS: &str = "Ingest";

/// An execution of somebody else's, and how many events are told of it.
const OBSERVED: RunId = RunId::Number(321_079_436_235_509_760);
const TOLD: usize = 3;

on_both! {
    a_server_with_an_engine_that_errs_is_killed,
    taking_in_events_is_killed,
}

async fn a_server_with_an_engine_that_errs_is_killed(kind: Kind) {
    for (verb, manner) in BY_AN_ENGINE {
        for boundary in BOUNDARIES {
            let scene = Scene::set(kind).await;
            let run_id = scene.start("daily").await;
            let point = format!("{verb}/{boundary}");
            let mut server = scene.serve_with_engine(manner, &point);
            server.is_held_at(&point);
            server.kill();
            let _second = scene.serve(None, &[]);
            scene.completes(run_id).await;
            scene.ends_well(1).await;
        }
    }
}

async fn taking_in_events_is_killed(kind: Kind) {
    for boundary in BOUNDARIES {
        let scene = Scene::set(kind).await;
        let point = format!("{BY_OTHERS}/{boundary}");
        let mut server = scene.serve_with_engine("tells", &point);
        server.is_held_at(&point);
        server.kill();
        let told = scene.store.events_of(scene.tenant_id, OBSERVED, 0, 100).await.unwrap().len();
        assert_eq!(told, if boundary == "after_commit" { TOLD } else { 0 }, "{point}");
        scene.ends_well(0).await;
    }
}

/// Does nothing unless it was started for that; what it does then lasts until it is killed.
#[tokio::test]
async fn stands_in_for_a_server() {
    let Ok(order) = env::var(ORDER) else { return };
    let [manner, place, data_dir] = order.lines().collect::<Vec<_>>().try_into().unwrap();
    env::var("TRUEUP_FAIL_POINT").unwrap().parse().map(trueup_store::fail_point::FailPoint::arm).unwrap();
    let place: Place = place.parse().unwrap();
    let settings = RunSettings { lease_ms: 1_000, reconcile_grace_ms: 100, ..RunSettings::default() };
    let options = Options { settings, ..Options::default() };
    let store = Arc::new(Store::open(&place, Role::Server, options).await.unwrap());
    if manner == "tells" {
        let tenant_id = store.tenant("default").await.unwrap();
        let events = (0..TOLD).map(|step| observed(&store, tenant_id, step)).collect();
        store.ingest(tenant_id, events).await.unwrap();
    }
    let lease = Duration::from_secs(1);
    let station = Station {
        store,
        performer: Child { program: env!("CARGO_BIN_EXE_trueup").into() },
        means: Means { runs_dir: PathBuf::from(data_dir), memory_bytes: None, threads: None },
        name: "only".to_owned(),
        lease,
        stopping: Stopping::default(),
    };
    let reconcile_interval = Some(Duration::from_millis(200));
    let settings = Settings { reconcile_interval, lease, ..Settings::default() };
    let engine = Arc::new(Erring { manner: manner.to_owned() });
    serve(&engine, station, Roles { executor: true, places: 0 }, settings);
    std::future::pending::<()>().await;
}

fn observed(store: &Store, tenant_id: TenantId, step: usize) -> Event {
    Event {
        event_id: store.next_event_id(),
        position: None,
        tenant_id,
        run_id: OBSERVED,
        name: "step.enter".into(),
        source: "/elsewhere".to_owned(),
        time: "2026-09-21T10:00:00Z".parse().unwrap(),
        stamped_here: false,
        data: json!({ "step": step }),
        causation_id: None,
        traceparent: None,
        extensions: BTreeMap::new(),
        details: None,
        mark: None,
    }
}

/// An engine that errs in one manner.
struct Erring {
    manner: String,
}

impl Engine for Erring {
    async fn submit(&self, _: &Record) -> Result<(), RunError> {
        match self.manner.as_str() {
            "refuses" => Err(RunError::new(Reason::QueueRejected, "the engine is full")),
            _ => Ok(()),
        }
    }

    async fn ask(&self, _: &Record) -> Answer {
        match self.manner.as_str() {
            "forgets" => Answer::NotFound,
            "has ended it" => Answer::Ended(Report::Ended(Outcome::Result(Verdict::Matched))),
            _ => Answer::Running,
        }
    }

    async fn cancel(&self, _: &Record) -> Result<(), EngineError> {
        Ok(())
    }

    async fn list(&self, _: Option<&str>, _: usize) -> Result<Vec<Kept>, EngineError> {
        Ok(Vec::new())
    }

    async fn delete(&self, _: &str) -> Result<(), EngineError> {
        Ok(())
    }
}
