//! CloudEvents by example: each rule of the codec, what it takes and what it refuses.

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::{Value, json};
use trueup_events::cloudevents::{Arrival, CloudError, CloudEvent, Data, Limits, Message, Mode, decode};
use trueup_events::{Event, EventId, EventName, Mark, PREFIX, TenantId};

use crate::payloads::samples;

const TENANT: &str = "7c9e6679-7425-40de-944b-e07fc1f90ae7";
const RUN: &str = "6f1d2c3b-4a59-4e68-9776-85a4b3c2d1e0";

/// One event with everything that can be awkward.
pub(crate) fn awkward() -> CloudEvent {
    CloudEvent {
        id: "id with \"quotes\" and 100%".to_owned(),
        source: "/källa/源/😀".to_owned(),
        event_type: "x.y".to_owned(),
        subject: Some("a b".to_owned()),
        time: Some("2026-03-01T08:30:00.25Z".parse().expect("RFC 3339")),
        datacontenttype: Some("application/json".to_owned()),
        dataschema: Some("https://example.org/schema".to_owned()),
        extensions: BTreeMap::from([("comexample1".to_owned(), json!("%41 é"))]),
        data: Some(Data::Json(json!({"n": 18_446_744_073_709_551_615_u64, "d": 0.1, "text": "ü"}))),
    }
}

fn read(message: &Message) -> Vec<CloudEvent> {
    let headers: Vec<_> = message.headers.iter().map(|(name, value)| (&**name, value.as_bytes())).collect();
    decode(&headers, &message.body, Limits::default()).expect("what was written can be read")
}

/// Reads a structured event that has what is required and what a row adds or takes away.
fn structured(change: &[(&str, Value)]) -> Result<CloudEvent, CloudError> {
    let mut event = json!({"specversion": "1.0", "id": "1", "source": "/s", "type": "t"});
    for (name, value) in change {
        event[*name] = value.clone();
    }
    let headers: [(&str, &[u8]); 1] = [("Content-Type", b"application/cloudevents+json")];
    decode(&headers, event.to_string().as_bytes(), Limits::default()).map(|mut events| events.remove(0))
}

/// Reads a binary event that has what is required, and headers beside it.
fn binary(more: &[(&str, &[u8])], body: &[u8]) -> Result<CloudEvent, CloudError> {
    let mut headers: Vec<(&str, &[u8])> =
        vec![("ce-specversion", b"1.0"), ("Ce-Id", b"1"), ("CE-SOURCE", b"/s"), ("ce-type", b"t")];
    headers.extend(more);
    decode(&headers, body, Limits::default()).map(|mut events| events.remove(0))
}

#[test]
fn the_content_type_chooses_the_mode() {
    let table = [
        (None, Mode::Binary),
        (Some("application/json"), Mode::Binary),
        (Some("text/cloudevents"), Mode::Binary),
        (Some("application/cloudevents"), Mode::Structured),
        (Some("application/cloudevents+json; charset=UTF-8"), Mode::Structured),
        (Some("Application/CloudEvents+JSON"), Mode::Structured),
        (Some("application/cloudevents-batch+json"), Mode::Batch),
        (Some("APPLICATION/CLOUDEVENTS-BATCH+json"), Mode::Batch),
        (Some(" application/cloudevents-batch+json"), Mode::Batch),
    ];
    for (content_type, mode) in table {
        assert_eq!(Mode::of(content_type), mode, "{content_type:?}");
    }
}

#[test]
fn every_mode_brings_back_what_it_was_given() {
    let mut bytes = awkward();
    (bytes.datacontenttype, bytes.data) =
        (Some("image/png".to_owned()), Some(Data::Binary(vec![0, 159, 255])));
    let mut text = awkward();
    (text.datacontenttype, text.data) =
        (Some("text/csv; charset=utf-8".to_owned()), Some(Data::Text("a,b\n".to_owned())));
    let mut bare = awkward();
    (bare.datacontenttype, bare.data, bare.time, bare.subject) = (None, None, None, None);
    let events: Vec<_> = [awkward(), bytes, text, bare].into_iter().chain(samples()).collect();
    for event in &events {
        for message in [event.to_binary(), event.to_structured()] {
            assert_eq!(read(&message), std::slice::from_ref(event));
        }
    }
    assert_eq!(read(&CloudEvent::to_batch(&events)), events);
    assert_eq!(read(&CloudEvent::to_batch(&[])), []);
}

proptest! {
    #[test]
    fn any_text_survives_every_mode(texts in prop::collection::vec(any::<String>(), 4)) {
        let mut event = awkward();
        event.id.push_str(&texts[0]);
        event.source.push_str(&texts[1]);
        event.extensions.insert("ext".to_owned(), json!(texts[2]));
        event.data = Some(Data::Json(json!({"text": texts[3]})));
        for message in [event.to_binary(), event.to_structured(), CloudEvent::to_batch(std::slice::from_ref(&event))] {
            prop_assert_eq!(read(&message), std::slice::from_ref(&event));
        }
    }
}

#[test]
fn binary_headers_are_escaped() {
    let message = awkward().to_binary();
    let expected = [
        ("ce-comexample1", "%2541%20%C3%A9"),
        ("content-type", "application/json"),
        ("ce-dataschema", "https://example.org/schema"),
        ("ce-id", "id%20with%20%22quotes%22%20and%20100%25"),
        ("ce-source", "/k%C3%A4lla/%E6%BA%90/%F0%9F%98%80"),
        ("ce-specversion", "1.0"),
        ("ce-subject", "a%20b"),
        ("ce-time", "2026-03-01T08:30:00.25Z"),
        ("ce-type", "x.y"),
    ];
    assert_eq!(message.headers, expected.map(|(name, value)| (name.to_owned(), value.to_owned())));
}

#[test]
fn binary_headers_are_read_once_and_in_any_case() {
    let table: [(&[u8], &str); 5] = [
        (b"%e2%82%ac", "€"),
        (b"%61%2525", "a%25"),
        (b"\"a b\"", "a b"),
        (b"\"%22 \\\"x\\\"\"", "\" \"x\""),
        ("é".as_bytes(), "é"),
    ];
    for (value, text) in table {
        let event = binary(&[("Ce-Ext", value)], b"").unwrap();
        assert_eq!(event.extensions, BTreeMap::from([("ext".to_owned(), json!(text))]));
    }
}

#[test]
fn data_is_read_by_its_type() {
    let json = || Some(Data::Json(json!({"a": 1})));
    let text = |text: &str| Some(Data::Text(text.to_owned()));
    let table: [(_, &[u8], _); 9] = [
        (None, br#"{"a":1}"#, json()),
        (None, b"", None),
        (Some("application/json"), b"", None),
        (Some("application/json; charset=utf-8"), br#"{"a":1}"#, json()),
        (Some("Application/Vnd.X+Json"), br#"{"a":1}"#, json()),
        (Some("text/plain"), br#"{"a":1}"#, text(r#"{"a":1}"#)),
        (Some("text/plain; charset=latin1"), b"abc", Some(Data::Binary(b"abc".to_vec()))),
        (Some("application/octet-stream"), b"\xff\x00", Some(Data::Binary(b"\xff\x00".to_vec()))),
        (Some("application/xml"), b"<a/>", text("<a/>")),
    ];
    for (content_type, body, data) in table {
        let header = content_type.map(|value: &str| ("content-type", value.as_bytes()));
        assert_eq!(binary(header.as_slice(), body).unwrap().data, data, "{content_type:?}");
    }
    let table = [
        (vec![("data", json!({"a": 1}))], json()),
        (vec![("data", json!("x"))], Some(Data::Json(json!("x")))),
        (vec![("data", json!("x")), ("datacontenttype", json!("text/plain"))], text("x")),
        (vec![("data", json!([1])), ("datacontenttype", json!("text/plain"))], Some(Data::Json(json!([1])))),
        (vec![("data", Value::Null)], None),
        (vec![("data_base64", json!("AP8="))], Some(Data::Binary(vec![0, 255]))),
        (
            vec![("data_base64", json!("eyJhIjoxfQ==")), ("datacontenttype", json!("application/json"))],
            json(),
        ),
        (vec![("data_base64", Value::Null), ("data", json!({"a": 1}))], json()),
    ];
    for (change, data) in table {
        assert_eq!(structured(&change).unwrap().data, data, "{change:?}");
    }
}

#[test]
fn unknown_extensions_are_kept() {
    let extensions = [("flag", json!(true)), ("number", json!(7)), ("text", json!(""))];
    let event = structured(&extensions).unwrap();
    assert_eq!(event.extensions.len(), 3);
    assert_eq!(read(&event.to_structured()), std::slice::from_ref(&event));
    let texts = [("flag", "true"), ("number", "7"), ("text", "")];
    let texts = texts.map(|(name, text)| (name.to_owned(), json!(text)));
    assert_eq!(read(&event.to_binary())[0].extensions, BTreeMap::from(texts));
}

#[test]
fn what_is_at_fault_is_named() {
    let table = [
        (structured(&[("specversion", Value::Null)]), "the attribute `specversion` is missing"),
        (structured(&[("id", Value::Null)]), "the attribute `id` is missing"),
        (structured(&[("source", Value::Null)]), "the attribute `source` is missing"),
        (structured(&[("type", Value::Null)]), "the attribute `type` is missing"),
        (structured(&[("id", json!(""))]), "the attribute `id` is empty"),
        (structured(&[("id", json!(1))]), "the attribute `id` must be text, not 1"),
        (
            structured(&[("specversion", json!("0.3"))]),
            "the attribute `specversion` must be \"1.0\", not \"0.3\"",
        ),
        (
            structured(&[("time", json!("noon"))]),
            "the attribute `time` must be a time of RFC 3339, such as 2026-05-31T03:14:15Z",
        ),
        (structured(&[("data_base64", json!("?"))]), "the attribute `data_base64` is not base64"),
        (
            structured(&[("data_base64", json!("AA==")), ("data", json!(1))]),
            "the attribute `data_base64` cannot stand beside `data`",
        ),
        (structured(&[("ext", json!({}))]), "the attribute `ext` must be text, a truth value or an integer"),
        (
            structured(&[("Ext_1", json!(""))]),
            "the attribute `Ext_1` must be named in lower-case letters and digits",
        ),
        (binary(&[("ce-ext", b"%ff")], b""), "the attribute `ext` is not UTF-8"),
        (binary(&[("ce-ext", b"\xc3\x28")], b""), "the attribute `ext` is not UTF-8"),
        (
            binary(&[("ce-ext", b"\"open")], b""),
            "the attribute `ext` has a quote that is not closed, or one inside",
        ),
        (binary(&[("CE-ID", b"2")], b""), "the attribute `id` is given twice"),
    ];
    for (outcome, problem) in table {
        let error = outcome.unwrap_err();
        assert_eq!((error.to_string().as_str(), error.status()), (problem, 400));
        let field = problem.split('`').nth(1);
        assert_eq!(error.field(), field);
    }
}

#[test]
fn messages_that_are_no_event_are_refused() {
    let limits = Limits { body_bytes: 20, events: 1 };
    let table: [(&[u8], &[u8], u16); 11] = [
        (b"application/cloudevents+json", b"{", 400),
        (b"application/cloudevents+json", b"[]", 400),
        (b"application/cloudevents+json", b"\xff", 400),
        (b"application/cloudevents-batch+json", b"{}", 400),
        (b"application/cloudevents-batch+json", b"[1,2]", 413),
        (b"application/cloudevents-batch+json", b"[1]", 400),
        (b"application/cloudevents+json", b"                     ", 413),
        (b"application/cloudevents+avro", b"{}", 415),
        (b"application/cloudevents-batch+xml", b"[]", 415),
        (b"application/cloudevents+json; charset=utf-16", b"{}", 415),
        (b"application/json", b"{}", 400),
    ];
    for (content_type, body, status) in table {
        let error = decode(&[("content-type", content_type)], body, limits).unwrap_err();
        assert_eq!(error.status(), status, "{error}");
    }
    let error = binary(&[("content-type", b"application/json; charset=latin1")], b"{}").unwrap_err();
    assert_eq!((error.status(), error.field()), (415, Some("content-type")));
    assert_eq!(binary(&[("content-type", b"application/json")], b"{").unwrap_err().status(), 400);
}

#[test]
fn a_batch_says_which_is_at_fault() {
    let fine = json!({"specversion": "1.0", "id": "1", "source": "/s", "type": "t"});
    let body = json!([fine, {"specversion": "1.0", "id": "1", "source": "/s"}]).to_string();
    let headers: [(&str, &[u8]); 1] = [("content-type", b"application/cloudevents-batch+json")];
    let error = decode(&headers, body.as_bytes(), Limits::default()).unwrap_err();
    assert_eq!(error.to_string(), "event 1 of the batch: the attribute `type` is missing");
    assert_eq!((error.index(), error.field(), error.status()), (Some(1), Some("type"), 400));
}

fn arrival() -> Arrival<'static> {
    let tenant_id: TenantId = TENANT.parse().expect("a UUID");
    Arrival { tenant_id, now: "2026-03-02T00:00:00Z".parse().expect("RFC 3339"), prefix: PREFIX }
}

#[test]
fn an_event_of_the_log_comes_back_from_its_cloud_event() {
    for (number, sample) in (1..).zip(samples()) {
        let event = sample.into_event(arrival()).unwrap();
        let event = Event {
            event_id: EventId::new(number).unwrap(),
            position: Some(number + 40),
            causation_id: Some(EventId::new(7).unwrap()),
            traceparent: Some("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01".to_owned()),
            extensions: BTreeMap::from([("other".to_owned(), json!("x"))]),
            ..event
        };
        let cloud = CloudEvent::of(&event, "org.acme.");
        assert_eq!(cloud.event_type, format!("org.acme.{}", event.name));
        assert_eq!(cloud.subject.as_deref(), Some(RUN));
        assert_eq!(cloud.extensions["sequence"], json!((number + 40).to_string()));
        let acme = Arrival { prefix: "org.acme.", ..arrival() };
        let back = cloud.into_event(acme).unwrap();
        assert!(back.says_the_same(&event), "{back:?}");
        assert_eq!(back.position, None, "the log that takes it gives it a place");
        assert_eq!(back.extensions["originsequence"], json!((number + 40).to_string()));
        assert_eq!(back.traceparent, event.traceparent);
    }
}

#[test]
fn ids_of_another_kind_are_kept_beside_one_that_is_always_the_same() {
    let event = |id: &str, source: &str| {
        let change = [("id", json!(id)), ("source", json!(source)), ("subject", json!("12"))];
        structured(&change).unwrap().into_event(arrival()).unwrap()
    };
    assert_eq!(event("evt-0", "/s").event_id, event("evt-0", "/s").event_id);
    assert_ne!(event("evt-0", "/s").event_id, event("evt-0", "/t").event_id);
    assert_ne!(event("evt-0", "/s").event_id, event("evt-1", "/s").event_id);
    assert_eq!(event("evt-0", "/s").extensions["originid"], json!("evt-0"));
    let numbered = event("77", "/s");
    assert_eq!((numbered.event_id.get(), numbered.extensions.len()), (77, 0));
    assert_eq!(numbered.name, EventName::Foreign("t".to_owned()));
    assert_eq!((numbered.time, numbered.stamped_here), (arrival().now, true));
}

#[test]
fn events_that_contradict_themselves_are_refused() {
    let table = [
        (vec![("subject", json!("x"))], "subject"),
        (vec![], "subject"),
        (vec![("data", json!({"run_id": []}))], "data"),
        (vec![("subject", json!("1")), ("data", json!({"run_id": 2}))], "subject"),
        (vec![("subject", json!("1")), ("tenantid", json!(RUN))], "tenantid"),
        (vec![("subject", json!("1")), ("type", json!("reconciliation.run.finalised"))], "data"),
        (vec![("subject", json!("1")), ("data_base64", json!("AA=="))], "datacontenttype"),
    ];
    for (change, field) in table {
        let error = structured(&change).unwrap().into_event(arrival()).unwrap_err();
        assert_eq!((error.status(), error.field()), (400, Some(field)), "{change:?}");
    }
}

#[test]
fn secrets_are_masked() {
    let change = [("subject", json!("1")), ("data", json!({"password": "p", "note": "Bearer abc"}))];
    let event = structured(&change).unwrap().into_event(arrival()).unwrap();
    assert_eq!(event.data, json!({"password": "***", "note": "Bearer ***"}));
    let extensions = [("subject", json!("1")), ("apikey", json!("k")), ("note", json!("Bearer abc"))];
    let event = structured(&extensions).unwrap().into_event(arrival()).unwrap();
    let masked = [("apikey", "***"), ("note", "Bearer ***")];
    assert_eq!(event.extensions, masked.map(|(name, text)| (name.to_owned(), json!(text))).into());
}

#[test]
fn what_other_logs_number_and_mark_is_kept() {
    let table = [
        (vec![("sequence", json!("A-7"))], vec![("originsequence", json!("A-7"))]),
        (vec![("sequence", json!(7))], vec![("originsequence", json!(7))]),
        (
            vec![("sequence", json!("42")), ("originsequence", json!("7"))],
            vec![("originsequence", json!("7"))],
        ),
        (vec![("mark", json!("stale"))], vec![("originmark", json!("stale"))]),
        (vec![("causationid", json!("evt-0"))], vec![("causationid", json!("evt-0"))]),
        (
            vec![("causationid", json!(u64::MAX.to_string()))],
            vec![("causationid", json!(u64::MAX.to_string()))],
        ),
        (vec![("causationid", json!("12"))], vec![]),
    ];
    for (given, kept) in table {
        let given = [given, vec![("subject", json!("1"))]].concat();
        let event = structured(&given).unwrap().into_event(arrival()).unwrap();
        assert_eq!(event.position, None);
        let kept = kept.into_iter().map(|(name, value)| (name.to_owned(), value));
        assert_eq!(event.extensions, kept.collect(), "{given:?}");
        let mut numbered = event.clone();
        (numbered.position, numbered.mark) = (Some(3), Some(Mark::Noted));
        let cloud = CloudEvent::of(&numbered, PREFIX);
        assert_eq!((event.mark, &cloud.extensions["mark"]), (None, &json!("noted")));
        assert_eq!(cloud.extensions["sequence"], json!("3"));
        assert_eq!(cloud.extensions.get("originsequence"), event.extensions.get("originsequence"));
    }
}
