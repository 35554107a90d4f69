//! Batch mode: a list of events as JSON.

use serde_json::Value;

use super::{CloudError, CloudEvent, Message, structured};

/// What the media type starts with; the format follows.
pub(super) const MEDIA_TYPE: &str = "application/cloudevents-batch";

const EXPECTED: &str = "a list of CloudEvents in JSON";

pub(super) fn decode(
    content_type: Option<&str>,
    body: &[u8],
    events_max: usize,
) -> Result<Vec<CloudEvent>, CloudError> {
    structured::check_format(content_type.unwrap_or_default(), MEDIA_TYPE)?;
    let values: Vec<Value> =
        serde_json::from_slice(body).map_err(|error| structured::not_json(EXPECTED, &error))?;
    if values.len() > events_max {
        return Err(CloudError::TooMany { events: values.len(), limit: events_max });
    }
    let events = values.into_iter().enumerate().map(|(index, value)| {
        structured::from_json(value).map_err(|source| CloudError::InBatch { index, source: Box::new(source) })
    });
    events.collect()
}

pub(super) fn encode(events: &[CloudEvent]) -> Message {
    let content_type = format!("{MEDIA_TYPE}+json; charset=utf-8");
    let list = Value::Array(events.iter().map(structured::to_json).collect());
    Message { headers: vec![("content-type".to_owned(), content_type)], body: list.to_string().into_bytes() }
}
