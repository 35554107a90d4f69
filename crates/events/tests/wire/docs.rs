//! The page about events against the code.

use std::collections::{BTreeMap, BTreeSet};

use trueup_events::cloudevents::{Arrival, Limits, decode};
use trueup_events::{EventType, PREFIX};

use crate::payloads::{parts, samples};

const PAGE: &str = include_str!("../../../../docs/events.md");

/// The rows of the table of types: name, source, kind and payload.
fn rows() -> Vec<[&'static str; 4]> {
    let rows = PAGE.lines().filter(|line| line.starts_with("| `run.") || line.starts_with("| `execution."));
    let cells = |row: &'static str| -> Vec<_> { row.trim_matches('|').split('|').map(str::trim).collect() };
    rows.map(|row| cells(row).try_into().unwrap_or_else(|_| panic!("not four cells: {row}"))).collect()
}

/// What is between backquotes.
fn quoted(cell: &str) -> BTreeSet<String> {
    cell.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

#[test]
fn the_table_is_the_vocabulary() {
    let documented: Vec<_> = rows().iter().map(|[name, source, kind, _]| [*name, *source, *kind]).collect();
    let known = EventType::ALL.iter().map(|one| (format!("`{one}`"), one.origin().name(), one.kind().name()));
    let known: Vec<_> = known.collect();
    let known: Vec<_> = known.iter().map(|(name, source, kind)| [name.as_str(), *source, *kind]).collect();
    assert_eq!(documented, known);
}

#[test]
fn the_table_names_every_field_of_every_payload() {
    let mut fields: BTreeMap<EventType, BTreeSet<String>> = BTreeMap::new();
    for sample in samples() {
        let (event_type, data) = parts(&sample);
        let names = data.as_object().unwrap().keys().cloned();
        fields.entry(event_type).or_default().extend(names);
    }
    let ids = ["run_id", "job_id", "tenant_id"].map(str::to_owned);
    for [name, _, _, payload] in rows() {
        let event_type = EventType::parse(name.trim_matches('`')).unwrap();
        let own: BTreeSet<_> =
            fields[&event_type].iter().filter(|field| !ids.contains(field)).cloned().collect();
        assert_eq!(quoted(payload), own, "{name}");
    }
}

#[test]
fn the_example_is_an_event() {
    let json = PAGE.split("```json").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    let headers: [(&str, &[u8]); 1] = [("content-type", b"application/cloudevents+json")];
    let event = decode(&headers, json.as_bytes(), Limits::default()).unwrap().remove(0);
    let arrival = Arrival {
        tenant_id: event.extensions["tenantid"].as_str().unwrap().parse().unwrap(),
        now: "2026-03-02T00:00:00Z".parse().unwrap(),
        prefix: PREFIX,
    };
    assert_eq!(event.into_event(arrival).unwrap().name.event_type(), Some(EventType::Finalised));
}
