//! The ingest envelope against samples of what producers send.

use serde_json::{Value, json};
use trueup_events::envelope::{Accepted, BatchAccepted, Envelope, read, read_batch};
use trueup_events::{Details, Event, EventId, Problem, TenantId};

fn samples() -> Value {
    serde_json::from_str(include_str!("samples/ingest.json")).expect("the samples are JSON")
}

fn event(envelope: Envelope, id: u64, now: &str) -> Event {
    let tenant: TenantId = "7c9e6679-7425-40de-944b-e07fc1f90ae7".parse().expect("a UUID");
    envelope.into_event(
        tenant,
        EventId::new(id).expect("an id"),
        now.parse().expect("RFC 3339"),
        "/api/events",
    )
}

#[test]
fn what_is_accepted_is_stored_as_the_sample_says() {
    for sample in samples()["accept"].as_array().unwrap() {
        let envelope = read(sample["body"].to_string().as_bytes()).unwrap();
        let written = envelope.to_json();
        for (field, value) in sample["stored"].as_object().unwrap() {
            assert_eq!(written[field], *value, "{} {field}", sample["name"]);
        }
        assert_eq!(Envelope::from_json(written).unwrap(), envelope, "{}", sample["name"]);
        let details = serde_json::to_value(&envelope.details).unwrap();
        assert_eq!(
            serde_json::from_value::<Details>(details).unwrap(),
            envelope.details,
            "{}",
            sample["name"]
        );
    }
}

#[test]
fn what_is_rejected_names_the_field() {
    for sample in samples()["reject"].as_array().unwrap() {
        let problem = read(sample["body"].to_string().as_bytes()).unwrap_err();
        let field = sample["names"].as_str().unwrap();
        assert_eq!((problem.status, problem.field.as_deref()), (422, Some(field)), "{sample}");
        assert!(problem.error.contains(&format!("`{field}`")), "{problem}");
    }
}

#[test]
fn a_batch_is_its_singles() {
    let sample = &samples()["batch"];
    let events = read_batch(sample["body"].to_string().as_bytes(), 3).unwrap();
    let singles = sample["singles"].as_array().unwrap().iter();
    let singles: Vec<_> = singles.map(|body| read(body.to_string().as_bytes()).unwrap()).collect();
    assert_eq!(events, singles);
}

#[test]
fn a_batch_is_taken_whole_or_not_at_all() {
    let fine = json!({"step": "s", "event_type": "e"});
    let table = [
        (json!({"execution_id": 1, "events": [fine, {"step": "s"}]}), 422, "event_type", Some(1)),
        (json!({"execution_id": [], "events": [fine]}), 422, "execution_id", Some(0)),
        (json!({"events": [fine]}), 422, "execution_id", Some(0)),
        (
            json!({"execution_id": 1, "events": [fine, {"execution_id": 2, "step": "s", "event_type": "e"}]}),
            422,
            "execution_id",
            Some(1),
        ),
        (json!({"execution_id": 1}), 422, "events", None),
        (json!({"execution_id": 1, "events": {}}), 422, "events", None),
        (json!({"execution_id": 1, "events": [fine, fine, fine, fine]}), 413, "events", None),
    ];
    for (body, status, field, index) in table {
        let problem = read_batch(body.to_string().as_bytes(), 3).unwrap_err();
        assert_eq!((problem.status, problem.field.as_deref(), problem.index), (status, Some(field), index));
    }
    assert_eq!(read_batch(br#"{"execution_id":1,"events":[3]}"#, 3).unwrap_err().index, Some(0));
    assert_eq!(read_batch(br#"{"execution_id":1,"events":[]}"#, 3), Ok(vec![]));
}

#[test]
fn bodies_that_are_no_event_are_refused() {
    assert_eq!(read(b"{").unwrap_err().status, 400);
    assert_eq!(read(b"[]").unwrap_err().status, 422);
    assert_eq!(read_batch(b"[]", 3).unwrap_err().status, 422);
    assert_eq!(read_batch(b"\xff", 3).unwrap_err().status, 400);
}

#[test]
fn ids_and_times_are_made_only_where_there_are_none() {
    let bare = json!({"execution_id": 1, "step": "s", "event_type": "e"});
    let now = "2026-03-01T08:30:00Z";
    let made = event(Envelope::from_json(bare).unwrap(), 5, now);
    assert_eq!((made.event_id.get(), made.time.as_str(), made.stamped_here), (5, now, true));
    let full = json!({"execution_id": 1, "step": "s", "event_type": "e", "event_id": 6, "created_at": "2026-01-01T00:00:00+01:00"});
    let kept = event(Envelope::from_json(full).unwrap(), 5, now);
    let kept = (kept.event_id.get(), kept.time.as_str().to_owned(), kept.stamped_here);
    assert_eq!(kept, (6, "2026-01-01T00:00:00+01:00".to_owned(), false));
}

#[test]
fn a_repetition_without_a_time_says_the_same() {
    let body = json!({"execution_id": 1, "step": "s", "event_type": "e", "event_id": 6, "payload": {"a": 1}});
    let first = event(Envelope::from_json(body.clone()).unwrap(), 1, "2026-03-01T08:30:00Z");
    let again = event(Envelope::from_json(body.clone()).unwrap(), 2, "2026-03-01T08:30:09Z");
    assert!(first.says_the_same(&again));
    for (field, value) in [("payload", json!({"a": 2})), ("step", json!("t")), ("meta", json!({"b": 1}))] {
        let mut body = body.clone();
        body[field] = value;
        let other = event(Envelope::from_json(body).unwrap(), 2, "2026-03-01T08:30:00Z");
        assert!(!first.says_the_same(&other), "{field}");
    }
}

#[test]
fn secrets_are_masked_in_payload_and_meta() {
    let body = json!({
        "execution_id": 1, "step": "s", "event_type": "e",
        "payload": {"password": "p"}, "meta": {"api_key": "k", "a": 1}, "token": "t",
    });
    let event = event(Envelope::from_json(body).unwrap(), 1, "2026-03-01T08:30:00Z");
    assert_eq!(event.data, json!({"password": "***"}));
    let meta = Value::Object(event.details.unwrap().meta);
    assert_eq!(meta, json!({"api_key": "***", "a": 1, "token": "***"}));
}

#[test]
fn answers_have_the_shape_that_clients_read() {
    let ids: Vec<_> = [1, 478_775_660_589_088_777].into_iter().map(|id| EventId::new(id).unwrap()).collect();
    let accepted = serde_json::to_value(Accepted::new(ids[1])).unwrap();
    assert_eq!(accepted, json!({"status": "ok", "event_id": "478775660589088777", "commands_generated": 0}));
    let batch = serde_json::to_value(BatchAccepted::new(ids)).unwrap();
    let event_ids = json!(["1", "478775660589088777"]);
    assert_eq!(batch, json!({"status": "ok", "event_ids": event_ids, "commands_generated": 0}));
    let problem = serde_json::to_value(read(b"{}").unwrap_err()).unwrap();
    let text = "`execution_id` is missing";
    let expected = json!({
        "status": 422, "title": "Unprocessable Content", "detail": text, "error": text, "field": "execution_id",
    });
    assert_eq!(problem, expected);
    assert_eq!(Problem::new(409, "other content").title, "Conflict");
}
