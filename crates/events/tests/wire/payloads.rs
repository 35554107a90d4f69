//! Every payload as it is on the wire.

use serde_json::Value;
use trueup_events::cloudevents::{CloudEvent, Data, Limits, decode};
use trueup_events::{EventType, Ids, Payload, Sources};

/// At least one event of every type, and each optional field both there and not.
pub(crate) fn samples() -> Vec<CloudEvent> {
    let body = include_bytes!("samples/run-events.json");
    decode(&[("content-type", b"application/cloudevents-batch+json")], body, Limits::default())
        .expect("the samples are CloudEvents")
}

/// The type and data of a sample.
pub(crate) fn parts(sample: &CloudEvent) -> (EventType, &Value) {
    let Some(Data::Json(data)) = &sample.data else { panic!("no JSON: {sample:?}") };
    (EventType::parse(&sample.event_type).expect("a type of ours"), data)
}

#[test]
fn there_is_a_sample_of_every_type() {
    let samples = samples();
    for event_type in EventType::ALL {
        assert!(samples.iter().any(|sample| parts(sample).0 == *event_type), "{event_type}");
    }
}

#[test]
fn every_sample_is_read_and_written_alike() {
    let sources = Sources::default();
    for sample in samples() {
        let (event_type, data) = parts(&sample);
        let ids: Ids = serde_json::from_value(data.clone()).unwrap();
        let payload = Payload::read(event_type, data).unwrap();
        assert_eq!(payload.event_type(), event_type);
        assert_eq!(payload.data(&ids), *data, "{event_type}");
        assert_eq!(sources.of(event_type.origin()), sample.source, "{event_type}");
    }
}

#[test]
fn a_required_field_that_is_missing_or_wrong_is_named() {
    let optional = ["argo_workflow_name", "attempt", "source_name", "tolerances", "findings", "reading"];
    let either = ["result", "error"];
    for sample in samples() {
        let (event_type, data) = parts(&sample);
        let fields = data.as_object().unwrap();
        let own = fields.keys().filter(|name| !["run_id", "job_id", "tenant_id"].contains(&name.as_str()));
        for name in own {
            let mut torn = fields.clone();
            torn.insert(name.clone(), Value::Bool(true));
            assert!(Payload::read(event_type, &torn.clone().into()).is_err(), "{event_type} {name}");
            torn.remove(name);
            let outcome = Payload::read(event_type, &torn.into());
            let is_of_all = name == "tolerances" && event_type == EventType::ComparisonCompleted;
            let defaulted = optional.contains(&name.as_str()) && !is_of_all;
            let is_reason_of_cancel =
                name == "reason" && matches!(event_type, EventType::Cancelled | EventType::CancelRequested);
            assert_eq!(outcome.is_ok(), defaulted || is_reason_of_cancel, "{event_type} {name}");
            if let Err(error) = outcome {
                let names = error.problem.contains(name.as_str()) || either.contains(&name.as_str());
                assert!(names, "{event_type} {name}: {error}");
            }
        }
    }
}
