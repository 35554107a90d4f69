//! The views of executions, over random histories: they never disagree, and an end is one.

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Value, json};
use trueup_events::outcome::{Outcome, Reason, RunError, Verdict};
use trueup_lifecycle::{Lease, Report};
use trueup_server::{Limits, Rate};
use trueup_store::KeyRole;
use trueup_testkit::Http;

use crate::executions::save_job;
use crate::served::Served;

/// Something that happens to an execution.
#[derive(Debug, Clone)]
enum Happening {
    /// Something elsewhere tells of it; also again, and out of order.
    Told { name: &'static str, step: &'static str, actionable: bool, event_id: Option<u64> },
    /// Many things are told at once.
    Batch(Vec<(&'static str, &'static str)>),
    /// Somebody cancels it.
    Cancelled,
    /// A run of ours is given to a worker.
    Taken,
    /// Its worker ends it.
    Finished(bool),
}

const NAMES: [&str; 14] = [
    "step.enter",
    "step.exit",
    "step.failed",
    "command.heartbeat",
    "call_done",
    "abandoned",
    "playbook.started",
    "playbook.completed",
    "workflow_failed",
    "execution.cancelled",
    "run.stage.started",
    "run.stage.completed",
    "run.extraction.completed",
    "run.finalised",
];

fn happening() -> impl Strategy<Value = Happening> {
    let name = || prop::sample::select(&NAMES[..12]);
    let step = || prop::sample::select(&["start", "load", "report"][..]);
    prop_oneof![
        8 => (prop::sample::select(&NAMES[..]), step(), prop::bool::weighted(0.9), prop::option::of(0..4_u64))
            .prop_map(|(name, step, actionable, event_id)| Happening::Told { name, step, actionable, event_id }),
        2 => prop::collection::vec((name(), step()), 1..4).prop_map(Happening::Batch),
        1 => Just(Happening::Cancelled),
        2 => Just(Happening::Taken),
        1 => any::<bool>().prop_map(Happening::Finished),
    ]
}

/// What an event of a type says, so that those of our own are whole.
fn payload(name: &str, id: &str, step: &str) -> Value {
    match name {
        "run.stage.started" => json!({ "stage_name": step }),
        "run.stage.completed" => json!({ "stage_name": step, "result": "MATCHED", "tolerances": [] }),
        "run.extraction.completed" => json!({ "extraction_index": 0, "rows_extracted": 3 }),
        "run.finalised" => json!({ "run_id": id, "result": "UNMATCHED" }),
        _ => json!({ "rows": 3 }),
    }
}

/// An execution, and all that can be asked about it.
struct Watched<'a> {
    served: &'a Served,
    http: &'a Http,
    id: String,
    is_ours: bool,
    lease: Option<Lease>,
}

/// What the three views say at one time.
#[derive(Debug, Clone, PartialEq)]
struct Views {
    listed: Value,
    detail: Value,
    status: Value,
}

impl Watched<'_> {
    fn happens(&mut self, happening: &Happening, base: u64) {
        let event = |name: &str, step: &str| json!({ "execution_id": self.id, "event_type": name, "step": step, "payload": payload(name, &self.id, step) });
        let store = &self.served.store;
        match happening {
            Happening::Told { name, step, actionable, event_id } => {
                let mut event = event(name, step);
                event["actionable"] = json!(actionable);
                if let Some(number) = event_id {
                    event["event_id"] = json!(base + number);
                }
                let reply = self.http.post("/api/events", &event);
                // The same id with another content is the only thing that is not taken.
                let is_taken = reply.status == 200 || reply.status == 409 && event_id.is_some();
                assert!(is_taken, "{event}: {}", reply.text());
            }
            Happening::Batch(events) => {
                let events: Vec<Value> = events.iter().map(|(name, step)| event(name, step)).collect();
                let reply = self
                    .http
                    .post("/api/events/batch", &json!({ "execution_id": self.id, "events": events }));
                assert_eq!(reply.status, 200, "{}", reply.text());
            }
            Happening::Cancelled => {
                let reply = self.http.post(&format!("/api/executions/{}/cancel", self.id), &json!({}));
                assert!([200, 400, 404].contains(&reply.status), "{}", reply.text());
            }
            Happening::Taken => {
                let taken = self.served.runtime.block_on(async {
                    store.schedule("executor", 100).await.unwrap();
                    store.take("worker", 100).await.unwrap()
                });
                let ours = taken.into_iter().find(|taken| taken.record.id().to_string() == self.id);
                self.lease = ours.map(|taken| taken.lease).or(self.lease.take());
            }
            Happening::Finished(is_well) => {
                let Some(lease) = self.lease.take() else { return };
                let outcome = if *is_well {
                    Outcome::Result(Verdict::Matched)
                } else {
                    Outcome::Error(RunError::new(Reason::SourceInvalid, "no such column"))
                };
                self.served.runtime.block_on(store.finish(lease, Report::Ended(outcome))).unwrap();
            }
        }
    }

    /// Asks all views, and holds them against each other; none of them knows an execution of which nothing was heard.
    fn views(&self) -> Option<Views> {
        let at = |rest: &str| self.http.get(&format!("/api/executions/{}{rest}", self.id));
        let detail = at("");
        if detail.status == 404 {
            assert_eq!((at("/status").status, at("/events").status), (404, 404));
            return None;
        }
        let (detail, status) = (detail.json(), at("/status").json());
        let in_list = |query: &str| {
            let list = self.http.get(&format!("/api/executions?limit=500{query}")).json();
            list.as_array().unwrap().iter().find(|one| one["execution_id"] == self.id.as_str()).cloned()
        };
        let listed = in_list("").unwrap();
        assert_eq!(
            in_list(&format!("&status={}", status["status"].as_str().unwrap())).as_ref(),
            Some(&listed)
        );
        for view in [&listed, &status] {
            for (field, value) in view.as_object().unwrap() {
                assert_eq!(detail[field], *value, "{field}: {detail}");
            }
        }
        let completed = status["completed_steps"].as_array().unwrap().len();
        assert_eq!(status["progress"]["completed_steps"], completed);
        let events = at("/events?limit=500").json();
        assert_eq!(
            told_end(self.is_ours, &events["events"]).unwrap_or("none"),
            end(&status).unwrap_or("none"),
            "{events}"
        );
        Some(Views { listed, detail, status })
    }
}

/// How the execution ended, as its status has it.
fn end(status: &Value) -> Option<&str> {
    let name = status["status"].as_str().unwrap();
    assert_eq!(status["is_cancelled"], name == "CANCELLED");
    assert_eq!(status["failed"], name == "FAILED");
    status["completed"].as_bool().unwrap().then_some(name)
}

/// How it ended, as its events tell: by the one that tells of an end and has no mark. Of a run of ours nobody else tells that.
fn told_end(is_ours: bool, events: &Value) -> Option<&'static str> {
    let counted = events.as_array().unwrap().iter().filter(|event| event["mark"].is_null());
    let mut ends = counted.filter_map(|event| match event["event_type"].as_str().unwrap() {
        "playbook.completed" if !is_ours => Some("COMPLETED"),
        "workflow_failed" if !is_ours => Some("FAILED"),
        "execution.cancelled" if !is_ours => Some("CANCELLED"),
        "run.cancelled" => Some("CANCELLED"),
        "run.finalised" => Some(if event["payload"]["error"].is_null() { "COMPLETED" } else { "FAILED" }),
        _ => None,
    });
    let first = ends.next();
    assert_eq!(ends.next(), None, "{events}");
    first
}

#[test]
fn views_never_disagree_and_an_end_is_one() {
    let rate = Rate { per_second: 1_000_000, burst: 1_000_000 };
    let served = Served::with(Limits { rate, ..Limits::default() });
    save_job(&served);
    let http = served.as_role(KeyRole::Operator);
    let mut runner = TestRunner::new(Config { cases: 48, failure_persistence: None, ..Config::default() });
    let next = std::cell::Cell::new(1_u64);
    let histories = (any::<bool>(), prop::collection::vec(happening(), 1..12));
    runner
        .run(&histories, |(is_ours, history)| {
            let number = next.replace(next.get() + 1);
            let id = if is_ours {
                let started = http.post("/api/execute", &json!({ "path": "daily" })).json();
                started["execution_id"].as_str().unwrap().to_owned()
            } else {
                number.to_string()
            };
            let mut watched = Watched { served: &served, http: &http, id, is_ours, lease: None };
            let mut ended: Option<Views> = None;
            for happening in &history {
                watched.happens(happening, number * 100);
                let views = watched.views();
                if let Some(ended) = &ended {
                    prop_assert_eq!(views.as_ref(), Some(ended), "after {:?}", happening);
                }
                ended = ended.or(views.filter(|views| views.status["completed"] == true));
            }
            Ok(())
        })
        .unwrap();
}
