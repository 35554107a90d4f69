//! Events from outside, in the envelope and as CloudEvents.

use serde_json::{Value, json};
use trueup_server::{Limits, Rate};
use trueup_store::KeyRole;
use trueup_testkit::{Http, Reply};

use crate::served::Served;

/// What producers send, as `trueup-events` is tested against.
fn samples() -> Value {
    serde_json::from_str(include_str!("../../../events/tests/wire/samples/ingest.json")).unwrap()
}

/// All events of an execution.
fn told(http: &Http, id: &str) -> Vec<Value> {
    let history = http.get(&format!("/api/executions/{id}/events?limit=500")).json();
    assert_eq!(history["next"], json!(null));
    history["events"].as_array().unwrap_or_else(|| panic!("{history}")).clone()
}

fn assert_refused(reply: &Reply, status: u16, field: &Value) {
    let problem = reply.json();
    assert_eq!(
        (reply.status, &problem["status"], &problem["field"]),
        (status, &json!(status), field),
        "{problem}"
    );
    assert_eq!(problem["error"], problem["detail"]);
    assert_eq!(reply.header("content-type"), Some("application/problem+json"));
}

#[test]
fn what_producers_send_is_stored_or_refused_by_its_field() {
    let served = Served::new();
    let (producer, operator) = (served.as_role(KeyRole::Ingest), served.as_role(KeyRole::Operator));
    for sample in samples()["accept"].as_array().unwrap() {
        let reply = producer.post("/api/events", &sample["body"]);
        let answer = reply.json();
        let event_id = answer["event_id"].as_str().unwrap_or_else(|| panic!("{sample}: {answer}"));
        assert_eq!(answer, json!({ "status": "ok", "event_id": event_id, "commands_generated": 0 }));
        let id = sample["body"]["execution_id"].to_string().replace('"', "");
        let events = told(&operator, &id);
        let stored = events.iter().find(|event| event["event_id"] == event_id).unwrap();
        for (field, value) in sample["stored"].as_object().unwrap() {
            assert_eq!(stored[field], *value, "{} {field}", sample["name"]);
        }
    }
    for sample in samples()["reject"].as_array().unwrap() {
        assert_refused(&producer.post("/api/events", &sample["body"]), 422, &sample["names"]);
    }
}

#[test]
fn a_batch_is_its_singles_and_says_which_is_wrong() {
    let served = Served::new();
    let operator = served.as_role(KeyRole::Operator);
    let (batch, singles) = (&samples()["batch"]["body"], &samples()["batch"]["singles"]);
    let answer = operator.post("/api/events/batch", batch).json();
    let ids: Vec<Value> = told(&operator, "321").iter().map(|event| event["event_id"].clone()).collect();
    assert_eq!(answer, json!({ "status": "ok", "event_ids": ids, "commands_generated": 0 }));
    let other = Served::new();
    let alone = other.as_role(KeyRole::Worker);
    for single in singles.as_array().unwrap() {
        assert_eq!(alone.post("/api/events", single).status, 200);
    }
    let content = |http: &Http| -> Vec<Value> {
        let mut events = told(http, "321");
        for event in &mut events {
            let fields = event.as_object_mut().unwrap();
            for made_here in ["event_id", "position", "created_at"] {
                fields.remove(made_here);
            }
        }
        events
    };
    let views = ["/api/executions/321", "/api/executions/321/status", "/api/executions"];
    let seen = |http: &Http| views.map(|path| timeless(http.get(path).json()));
    let reader = other.as_role(KeyRole::Viewer);
    assert_eq!((content(&operator), seen(&operator)), (content(&reader), seen(&reader)));

    let faulty =
        json!({ "execution_id": 5, "events": [{ "step": "a", "name": "step.enter" }, { "step": "b" }] });
    let refused = operator.post("/api/events/batch", &faulty);
    assert_refused(&refused, 422, &json!("event_type"));
    assert_eq!(refused.json()["index"], json!(1));
    assert_eq!(operator.get("/api/executions/5").status, 404);
}

/// A view without its times.
fn timeless(mut view: Value) -> Value {
    let executions = match &mut view {
        Value::Array(executions) => executions.iter_mut().collect(),
        one => vec![one],
    };
    for execution in executions {
        execution.as_object_mut().unwrap().retain(|name, _| !name.ends_with("_at"));
    }
    view
}

#[test]
fn the_same_event_again_adds_nothing_and_another_is_refused() {
    let served = Served::new();
    let operator = served.as_role(KeyRole::Operator);
    let event = json!({ "execution_id": 7, "step": "load", "event_type": "step.exit", "event_id": 70, "payload": { "password": "hunter2" } });
    let first = operator.post("/api/events", &event);
    // Another key of the tenant is another path for the same event.
    let again = served.as_role(KeyRole::Ingest).post("/api/events", &event);
    assert_eq!((again.status, again.json()), (200, first.json()));
    let stored = told(&operator, "7");
    assert_eq!((stored.len(), &stored[0]["payload"]), (1, &json!({ "password": "***" })));
    let mut other = event.clone();
    other["payload"] = json!({ "rows": 4 });
    assert_refused(&operator.post("/api/events", &other), 409, &json!("event_id"));
    let batch = json!({ "execution_id": 7, "events": [{ "step": "load", "name": "step.enter" }, other] });
    let refused = operator.post("/api/events/batch", &batch);
    assert_refused(&refused, 409, &json!("event_id"));
    assert_eq!((refused.json()["index"].clone(), told(&operator, "7").len()), (json!(1), 1));
}

#[test]
fn what_is_too_much_or_cannot_be_read_is_refused() {
    let limits = Limits { body_bytes: 1000, batch_events: 2, ..Limits::default() };
    let served = Served::with(limits);
    let producer = served.as_role(KeyRole::Ingest);
    let json = producer.clone().with("content-type", "application/json");
    let three = r#"{"execution_id": 1, "events": [{}, {}, {}]}"#;
    let table = [
        (&json, "/api/events", "x".repeat(1001), 413, json!(null)),
        (&json, "/api/cloudevents", "x".repeat(1001), 413, json!(null)),
        (&json, "/api/events/batch", three.to_owned(), 413, json!("events")),
        (&json, "/api/events", String::new(), 400, json!(null)),
        (&json, "/api/events", "{".to_owned(), 400, json!(null)),
        (&json, "/api/events", "[]".to_owned(), 422, json!(null)),
        (&json, "/api/cloudevents", "{}".to_owned(), 400, json!("specversion")),
    ];
    for (http, path, body, status, field) in table {
        assert_refused(&http.send("POST", path, body.as_bytes()), status, &field);
    }
    let text = producer.clone().with("content-type", "text/csv").send("POST", "/api/events", b"a,b");
    assert_refused(&text, 415, &json!(null));
    let avro = producer.clone().with("content-type", "application/cloudevents+avro");
    assert_refused(&avro.send("POST", "/api/cloudevents", b"a"), 415, &json!("content-type"));
}

#[test]
fn what_is_too_often_is_told_when_to_go_on() {
    let rate = Rate { per_second: 1, burst: 2 };
    let served = Served::with(Limits { rate, ..Limits::default() });
    let producer = served.as_role(KeyRole::Ingest);
    let mut replies = std::iter::repeat_with(|| producer.post("/api/events", &json!({})));
    let over = replies.find(|reply| reply.status != 422).unwrap();
    assert_refused(&over, 429, &json!(null));
    assert_eq!(over.header("retry-after"), Some("1"));
}

#[test]
fn cloud_events_are_taken_in_every_mode() {
    let served = Served::new();
    let operator = served.as_role(KeyRole::Operator);
    let event = |id: &str, name: &str| json!({ "specversion": "1.0", "id": id, "source": "/elsewhere", "type": name, "subject": "42", "data": { "n": 1 } });
    let binary =
        operator.clone().with("ce-specversion", "1.0").with("ce-id", "1").with("ce-source", "/elsewhere");
    let binary = binary
        .with("ce-type", "workflow.started")
        .with("ce-subject", "42")
        .with("content-type", "application/json");
    let taken = binary.send("POST", "/api/cloudevents", br#"{"n":1}"#);
    assert_eq!(taken.json(), json!({ "status": "ok", "event_id": "1", "commands_generated": 0 }));
    let structured = operator.clone().with("content-type", "Application/CloudEvents+JSON; charset=utf-8");
    let again =
        structured.send("POST", "/api/cloudevents", event("1", "workflow.started").to_string().as_bytes());
    assert_eq!((again.status, again.json()), (200, taken.json()), "{}", again.text());
    let batch = operator.clone().with("content-type", "application/cloudevents-batch+json");
    let send = |events: Value| batch.send("POST", "/api/cloudevents", events.to_string().as_bytes());
    let taken = send(json!([event("2", "step.exit"), event("3", "workflow.failed")]));
    assert_eq!(taken.json(), json!({ "status": "ok", "event_ids": ["2", "3"], "commands_generated": 0 }));
    assert_eq!(operator.get("/api/executions/42").json()["status"], "FAILED");

    let mut lost = event("4", "step.exit");
    lost.as_object_mut().unwrap().remove("subject");
    let mut old = event("5", "step.exit");
    old["specversion"] = json!("0.3");
    for (wrong, field) in [(lost, "subject"), (old, "specversion")] {
        let refused = send(json!([event("6", "step.exit"), wrong]));
        assert_refused(&refused, 400, &json!(field));
        assert_eq!(refused.json()["index"], 1);
    }
    let differs = send(json!([event("3", "workflow.completed")]));
    assert_refused(&differs, 409, &json!("event_id"));
    assert_eq!(told(&operator, "42").len(), 3);
}
