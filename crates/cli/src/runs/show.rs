//! `trueup runs show`: all that is known of a run.

use std::process::ExitCode;

use serde_json::Value;
use trueup_events::cloudevents::CloudEvent;
use trueup_events::outcome::Outcome;
use trueup_events::{Event, Ids, PREFIX};
use trueup_lifecycle::{Cancel, Ending, Finished, State};
use trueup_store::{Record, Store, StoreError};

use super::find::{JobNames, find};
use super::form;
use crate::arguments::{Colours, Show};
use crate::event_line::said;
use crate::failure::Failure;
use crate::report::Look;
use crate::story::Story;
use crate::story_tables::{counts, tables};
use crate::visible::visible;
use crate::{output, place, terminal};

/// How many events are read at a time.
const PAGE: u32 = 1_000;

/// Shows a run.
pub(super) fn show(options: &Show) -> Result<ExitCode, Failure> {
    let (record, job, events) = place::look(&options.places, async |store, tenant_id| {
        let record = find(store, tenant_id, &options.run).await?;
        let job = JobNames::default().of(store, &record).await?;
        let events = events(store, &record).await?;
        Ok((record, job, events))
    })?;
    if options.json {
        let mut run = form::json(&record, &job);
        run["events"] = events.iter().map(structured).collect();
        return output::say(&format!("{run}\n"));
    }
    let look = terminal::look_of_stdout(Colours::Auto);
    output::say(&(head(&record, &job) + &body(&events, look)))
}

/// All events of a run.
pub(super) async fn events(store: &Store, record: &Record) -> Result<Vec<Event>, StoreError> {
    let Ids { tenant_id, run_id, .. } = record.run.ids;
    let mut events: Vec<Event> = Vec::new();
    loop {
        let position = events.last().and_then(|event| event.position).unwrap_or(0);
        let page = store.events_of(tenant_id, run_id, position, PAGE).await?;
        if page.is_empty() {
            return Ok(events);
        }
        events.extend(page);
    }
}

fn structured(event: &Event) -> Value {
    let body = CloudEvent::of(event, PREFIX).to_structured().body;
    serde_json::from_slice(&body).unwrap_or_else(|error| unreachable!("a CloudEvent is JSON: {error}"))
}

/// What the row says, a line each.
fn head(record: &Record, job: &str) -> String {
    let mut lines = vec![
        ("run", record.id().to_string()),
        ("job", format!("{job}, revision {}", record.revision)),
        ("params", record.params.clone()),
        ("queue", record.queue.clone()),
        ("requested", format!("{} by {}", form::moment(record.requested_at_ms), record.triggered_by)),
        ("status", record.run.state.status().name().to_owned()),
    ];
    match &record.run.state {
        State::Finished(Finished { at_ms, ending }) => {
            let took = form::span(at_ms - record.requested_at_ms);
            lines.push(("finished", format!("{}, {took} after it was requested", form::moment(*at_ms))));
            if let Ending::Concluded(outcome) = ending {
                lines.push(outcome_line(outcome));
            }
        }
        state => lines.extend(form::state(state).iter().map(|(name, value)| (shown(name), plain(value)))),
    }
    if let Some(Cancel { by, at_ms, reason }) = &record.run.cancel {
        let reason = reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default();
        lines.push(("cancel", format!("asked for by {by} at {}{reason}", form::moment(*at_ms))));
    }
    if let Some(beside) = &record.run.beside {
        lines.push(("told later", outcome_line(beside).1));
    }
    let lines: Vec<String> =
        lines.iter().map(|(name, value)| format!("{name:<12} {}\n", indented(value))).collect();
    lines.concat()
}

fn outcome_line(outcome: &Outcome) -> (&'static str, String) {
    match outcome {
        Outcome::Result(verdict) => ("result", verdict.to_string()),
        Outcome::Error(error) => ("error", format!("{} ({error})", error.code())),
    }
}

/// The name of a field as people read it.
fn shown(name: &str) -> &'static str {
    match name {
        "attempt" => "attempt",
        "submits" => "submits",
        "executor" => "executor",
        "claim_until" => "claim until",
        "pauses_until" => "pauses until",
        "scheduled_at" => "scheduled",
        "worker" => "worker",
        "lease_until" => "lease until",
        "deadline_at" => "deadline",
        other => unreachable!("{other} is a field of no state"),
    }
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// A value of several lines, below each other.
fn indented(value: &str) -> String {
    value.lines().map(visible).collect::<Vec<_>>().join("\n             ")
}

/// What the events say.
fn body(events: &[Event], look: Look) -> String {
    let mut story = Story::default();
    events.iter().for_each(|event| story.hear(event));
    let counted = story.comparison.as_ref().map(|comparison| format!("\n{}\n", counts(comparison)));
    let lines: Vec<String> = events.iter().map(|event| short_line(event, look)).collect();
    counted.unwrap_or_default() + &tables(&story, &[], look) + "\nEvents\n" + &lines.concat()
}

fn short_line(event: &Event, look: Look) -> String {
    let line = format!("  {:<27}  {:<24}  {}", event.time.as_str(), event.name.as_str(), said(event));
    let short: String = line.chars().take(look.width).collect();
    format!("{}\n", short.trim_end())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::plain;

    #[test]
    fn texts_stand_without_quotes() {
        assert_eq!((plain(&json!("a b")), plain(&json!(2))), ("a b".to_owned(), "2".to_owned()));
    }
}
