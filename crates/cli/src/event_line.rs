//! An event in a line, for people.

use serde_json::Value;
use trueup_events::Event;

/// When, what, of which run, and what it says beyond the ids.
pub(crate) fn event_line(event: &Event) -> String {
    let position = event.position.map(|position| position.to_string()).unwrap_or_default();
    let line =
        format!("{position:>6}  {:<27}  {}  {:<24}", event.time.as_str(), event.run_id, event.name.as_str());
    format!("{}\n", format!("{line}  {}", said(event)).trim_end())
}

/// What an event says beyond the ids and what follows from them, as `name=value`, behind why it counts for nothing.
pub(crate) fn said(event: &Event) -> String {
    let mark = event.mark.map(|mark| format!("({mark}) "));
    mark.unwrap_or_default() + &fields(event)
}

fn fields(event: &Event) -> String {
    let Value::Object(fields) = &event.data else { return event.data.to_string() };
    // Ids of other runs than this one would be news.
    let is_known = |name: &str, value: &Value| match name {
        "run_id" => *value == event.run_id.to_string(),
        "tenant_id" => *value == event.tenant_id.to_string(),
        "workflow_name" => *value == event.run_id.workflow_name(),
        _ => name == "job_id",
    };
    let said =
        fields.iter().filter(|(name, value)| !is_known(name, value)).map(|(name, value)| match value {
            Value::String(text) if is_plain(text) => format!("{name}={text}"),
            value => format!("{name}={value}"),
        });
    said.collect::<Vec<_>>().join(" ")
}

/// Whether a text can stand without quotes.
fn is_plain(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| !c.is_whitespace() && !c.is_control() && c != '"' && c != '=')
}
