//! Structured mode: one event as JSON, attributes and data side by side.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::{Map, Value};

use super::{CloudError, CloudEvent, Data, Message, SPEC_VERSION, media_type};

/// What the media type starts with; the format follows.
pub(super) const MEDIA_TYPE: &str = "application/cloudevents";

const EXPECTED: &str = "a CloudEvent in JSON";

pub(super) fn decode(content_type: Option<&str>, body: &[u8]) -> Result<CloudEvent, CloudError> {
    check_format(content_type.unwrap_or_default(), MEDIA_TYPE)?;
    from_json(serde_json::from_slice(body).map_err(|error| not_json(EXPECTED, &error))?)
}

/// Refuses formats other than JSON, which also is what no format means, and encodings other than UTF-8.
pub(super) fn check_format(content_type: &str, media_type: &str) -> Result<(), CloudError> {
    let format = media_type::essence(content_type).get(media_type.len()..).unwrap_or_default();
    let is_json = format.is_empty() || format.eq_ignore_ascii_case("+json");
    if is_json && media_type::is_utf8(content_type) {
        Ok(())
    } else {
        Err(CloudError::Unsupported { content_type: content_type.to_owned() })
    }
}

pub(super) fn not_json(expected: &'static str, error: &serde_json::Error) -> CloudError {
    CloudError::Body { expected, problem: error.to_string() }
}

/// Reads one event, on its own or from a batch.
pub(super) fn from_json(value: Value) -> Result<CloudEvent, CloudError> {
    let Value::Object(mut members) = value else {
        return Err(CloudError::Body { expected: EXPECTED, problem: "not an object".to_owned() });
    };
    let (data, base64) = (members.remove("data"), members.remove("data_base64"));
    // An attribute that is null is one that is not there.
    let attributes = members.into_iter().filter(|(_, value)| !value.is_null()).collect();
    let mut event = from_attributes(attributes)?;
    event.data = match (data, base64.filter(|value| !value.is_null())) {
        (data, None) => {
            data.filter(|value| !value.is_null()).map(|data| as_typed(data, event.datacontenttype.as_deref()))
        }
        (None | Some(Value::Null), Some(text)) => Some(unpack(&text, event.datacontenttype.as_deref())?),
        _ => return Err(CloudError::attribute("data_base64", "cannot stand beside `data`")),
    };
    Ok(event)
}

/// A string whose type is not JSON is that text; everything else is itself.
fn as_typed(data: Value, content_type: Option<&str>) -> Data {
    match data {
        Value::String(text) if !content_type.is_none_or(media_type::is_json) => Data::Text(text),
        other => Data::Json(other),
    }
}

/// Reads bytes that travelled as base64; those that say they are JSON are read as such.
fn unpack(text: &Value, content_type: Option<&str>) -> Result<Data, CloudError> {
    let bytes = text.as_str().and_then(|text| BASE64.decode(text).ok());
    let bytes = bytes.ok_or_else(|| CloudError::attribute("data_base64", "is not base64"))?;
    if !content_type.is_some_and(media_type::is_json) {
        return Ok(Data::Binary(bytes));
    }
    let value = serde_json::from_slice(&bytes);
    value
        .map(Data::Json)
        .map_err(|error| CloudError::attribute("data_base64", format!("is not JSON: {error}")))
}

/// Sorts attributes by what they are; the data is still to come.
pub(super) fn from_attributes(mut attributes: BTreeMap<String, Value>) -> Result<CloudEvent, CloudError> {
    for (name, value) in &attributes {
        if name.is_empty() || !name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit()) {
            return Err(CloudError::attribute(name, "must be named in lower-case letters and digits"));
        }
        if value.is_object() || value.is_array() {
            return Err(CloudError::attribute(name, "must be text, a truth value or an integer"));
        }
    }
    let mut text = |attribute: &'static str| match attributes.remove(attribute) {
        None => Ok(None),
        Some(Value::String(text)) if text.is_empty() => Err(CloudError::attribute(attribute, "is empty")),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(other) => Err(CloudError::attribute(attribute, format!("must be text, not {other}"))),
    };
    let missing = |attribute| CloudError::Missing { attribute };
    let version = text("specversion")?.ok_or(missing("specversion"))?;
    if version != SPEC_VERSION {
        let problem = format!("must be {SPEC_VERSION:?}, not {version:?}");
        return Err(CloudError::attribute("specversion", problem));
    }
    Ok(CloudEvent {
        id: text("id")?.ok_or(missing("id"))?,
        source: text("source")?.ok_or(missing("source"))?,
        event_type: text("type")?.ok_or(missing("type"))?,
        subject: text("subject")?,
        time: match text("time")? {
            None => None,
            Some(time) => {
                Some(time.parse().map_err(|problem| CloudError::attribute("time", format!("{problem}")))?)
            }
        },
        datacontenttype: text("datacontenttype")?,
        dataschema: text("dataschema")?,
        extensions: attributes,
        data: None,
    })
}

/// Every attribute of an event that has a value, by its name.
pub(super) fn attributes(event: &CloudEvent) -> Map<String, Value> {
    let time = event.time.as_ref().map(|time| time.as_str().to_owned());
    let optional = [
        ("subject", event.subject.clone()),
        ("time", time),
        ("datacontenttype", event.datacontenttype.clone()),
        ("dataschema", event.dataschema.clone()),
    ];
    let required = [
        ("specversion", SPEC_VERSION.to_owned()),
        ("id", event.id.clone()),
        ("source", event.source.clone()),
        ("type", event.event_type.clone()),
    ];
    let present = optional.into_iter().filter_map(|(name, value)| Some((name, value?)));
    let named = required.into_iter().chain(present);
    let named = named.map(|(name, value)| (name.to_owned(), Value::String(value)));
    named.chain(event.extensions.clone()).collect()
}

/// Writes one event, on its own or for a batch.
pub(super) fn to_json(event: &CloudEvent) -> Value {
    let mut members = attributes(event);
    let data = event.data.as_ref().map(|data| match data {
        Data::Json(value) => ("data", value.clone()),
        Data::Text(text) => ("data", text.clone().into()),
        Data::Binary(bytes) => ("data_base64", BASE64.encode(bytes).into()),
    });
    members.extend(data.map(|(name, value)| (name.to_owned(), value)));
    Value::Object(members)
}

pub(super) fn encode(event: &CloudEvent) -> Message {
    let content_type = format!("{MEDIA_TYPE}+json; charset=utf-8");
    Message {
        headers: vec![("content-type".to_owned(), content_type)],
        body: to_json(event).to_string().into_bytes(),
    }
}
