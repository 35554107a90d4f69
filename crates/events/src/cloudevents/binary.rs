//! Binary mode: attributes in `ce-` headers, data in the body.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{CloudError, CloudEvent, Data, Message, header, media_type, structured};

const PREFIX: &str = "ce-";

pub(super) fn decode(
    headers: &[(&str, &[u8])],
    content_type: Option<String>,
    body: &[u8],
) -> Result<CloudEvent, CloudError> {
    let mut attributes = BTreeMap::new();
    for (name, value) in headers {
        let name = name.to_ascii_lowercase();
        let Some(attribute) = name.strip_prefix(PREFIX) else { continue };
        let text = header::decode(value).map_err(|problem| CloudError::attribute(attribute, problem))?;
        if attributes.insert(attribute.to_owned(), Value::String(text)).is_some() {
            return Err(CloudError::attribute(attribute, "is given twice"));
        }
    }
    // The body's own header says it; some senders say it a second time.
    attributes.remove("datacontenttype");
    attributes.extend(content_type.map(|text| ("datacontenttype".to_owned(), Value::String(text))));
    let mut event = structured::from_attributes(attributes)?;
    event.data = data(event.datacontenttype.as_deref(), body)?;
    Ok(event)
}

/// Reads a body by its media type; one without a type is JSON.
fn data(content_type: Option<&str>, body: &[u8]) -> Result<Option<Data>, CloudError> {
    let content_type = content_type.unwrap_or("application/json");
    if body.is_empty() {
        return Ok(None);
    }
    if !media_type::is_json(content_type) {
        return Ok(Some(match std::str::from_utf8(body) {
            Ok(text) if media_type::is_utf8(content_type) => Data::Text(text.to_owned()),
            _ => Data::Binary(body.to_vec()),
        }));
    }
    if !media_type::is_utf8(content_type) {
        return Err(CloudError::Unsupported { content_type: content_type.to_owned() });
    }
    let value = serde_json::from_slice(body);
    value.map(|value| Some(Data::Json(value))).map_err(|error| structured::not_json("JSON", &error))
}

pub(super) fn encode(event: &CloudEvent) -> Message {
    let attributes = structured::attributes(event);
    let mut headers = Vec::with_capacity(attributes.len());
    for (name, value) in attributes {
        let text = match value {
            Value::String(text) => text,
            other => other.to_string(),
        };
        headers.push(match name.as_str() {
            "datacontenttype" => ("content-type".to_owned(), text),
            _ => (format!("{PREFIX}{name}"), header::encode(&text)),
        });
    }
    let body = match &event.data {
        None => Vec::new(),
        Some(Data::Json(value)) => value.to_string().into_bytes(),
        Some(Data::Text(text)) => text.clone().into_bytes(),
        Some(Data::Binary(bytes)) => bytes.clone(),
    };
    Message { headers, body }
}
