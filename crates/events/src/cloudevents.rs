//! CloudEvents 1.0 over HTTP: what they are, and which of the three modes a message is in.

mod batch;
mod binary;
mod header;
mod media_type;
mod structured;
mod translate;

use std::collections::BTreeMap;

use serde_json::Value;

pub use header::{decode as decode_header, encode as encode_header};
pub use translate::Arrival;

use crate::time::Time;

/// The one version that is spoken.
const SPEC_VERSION: &str = "1.0";

/// An event in the terms of CloudEvents.
#[derive(Debug, Clone, PartialEq)]
pub struct CloudEvent {
    /// Tells events of one source apart.
    pub id: String,
    /// Who says it.
    pub source: String,
    /// Its `type`, prefix and all.
    pub event_type: String,
    /// What it is about.
    pub subject: Option<String>,
    /// When it happened.
    pub time: Option<Time>,
    /// The media type of the data; none means JSON.
    pub datacontenttype: Option<String>,
    /// Where the form of the data is described.
    pub dataschema: Option<String>,
    /// Every other attribute: text, a truth value or an integer.
    pub extensions: BTreeMap<String, Value>,
    /// What it says.
    pub data: Option<Data>,
}

/// What a CloudEvent says, as far as its media type tells.
#[derive(Debug, Clone, PartialEq)]
pub enum Data {
    /// A JSON value.
    Json(Value),
    /// Text of a media type other than JSON.
    Text(String),
    /// Bytes that are no text.
    Binary(Vec<u8>),
}

/// The headers and body of an HTTP message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// Names in lower case, and values that are safe in a header.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
}

/// How events travel in a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Attributes in headers, data in the body.
    Binary,
    /// One event as JSON in the body.
    Structured,
    /// A list of events as JSON in the body.
    Batch,
}

/// How much one message may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of the body.
    pub body_bytes: usize,
    /// Events in a batch.
    pub events: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { body_bytes: 1 << 20, events: 1_000 }
    }
}

/// Why a message is no CloudEvent that can be taken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CloudError {
    /// The body is too long.
    #[error("the body has {bytes} bytes, at most {limit} are taken: send fewer events at a time")]
    TooLarge {
        /// Its length.
        bytes: usize,
        /// What would have been taken.
        limit: usize,
    },
    /// The batch is too long.
    #[error("the batch has {events} events, at most {limit} are taken: send fewer at a time")]
    TooMany {
        /// Its length.
        events: usize,
        /// What would have been taken.
        limit: usize,
    },
    /// The events are in a format other than JSON, or in an encoding other than UTF-8.
    #[error("content-type {content_type:?} cannot be read: send JSON in UTF-8")]
    Unsupported {
        /// What the message says it is.
        content_type: String,
    },
    /// The body is not JSON, or not of the shape that its mode needs.
    #[error("the body is not {expected}: {problem}")]
    Body {
        /// What it should be.
        expected: &'static str,
        /// What is wrong with it.
        problem: String,
    },
    /// A required attribute is not there.
    #[error("the attribute `{attribute}` is missing")]
    Missing {
        /// Its name.
        attribute: &'static str,
    },
    /// An attribute does not mean anything.
    #[error("the attribute `{attribute}` {problem}")]
    Attribute {
        /// Its name.
        attribute: String,
        /// What is wrong with it, to follow its name.
        problem: String,
    },
    /// One of a batch is at fault, and so none of it is taken.
    #[error("event {index} of the batch: {source}")]
    InBatch {
        /// Which, from 0.
        index: usize,
        /// What is wrong with it.
        source: Box<CloudError>,
    },
}

impl CloudError {
    /// The HTTP status that says so.
    pub fn status(&self) -> u16 {
        match self {
            Self::TooLarge { .. } | Self::TooMany { .. } => 413,
            Self::Unsupported { .. } => 415,
            Self::Body { .. } | Self::Missing { .. } | Self::Attribute { .. } => 400,
            Self::InBatch { source, .. } => source.status(),
        }
    }

    /// The attribute that is at fault.
    pub fn field(&self) -> Option<&str> {
        match self {
            Self::Missing { attribute } => Some(attribute),
            Self::Attribute { attribute, .. } => Some(attribute),
            Self::Unsupported { .. } => Some("content-type"),
            Self::InBatch { source, .. } => source.field(),
            Self::TooLarge { .. } | Self::TooMany { .. } | Self::Body { .. } => None,
        }
    }

    /// The event of the batch that is at fault, from 0.
    pub fn index(&self) -> Option<usize> {
        match self {
            Self::InBatch { index, .. } => Some(*index),
            _ => None,
        }
    }

    fn attribute(attribute: &str, problem: impl Into<String>) -> Self {
        Self::Attribute { attribute: attribute.to_owned(), problem: problem.into() }
    }
}

impl Mode {
    /// Tells the mode by the content type; anything but the media types of CloudEvents is the data of one.
    pub fn of(content_type: Option<&str>) -> Self {
        let starts = |prefix: &str| {
            let start = content_type.map(str::trim_start).and_then(|text| text.get(..prefix.len()));
            start.is_some_and(|start| start.eq_ignore_ascii_case(prefix))
        };
        // The longer one first: it starts with the shorter.
        if starts(batch::MEDIA_TYPE) {
            Self::Batch
        } else if starts(structured::MEDIA_TYPE) {
            Self::Structured
        } else {
            Self::Binary
        }
    }
}

/// Reads the events of a message in whichever mode it is; all of them, or none.
///
/// The names of headers may be in any case, and their values need not be UTF-8.
pub fn decode(headers: &[(&str, &[u8])], body: &[u8], limits: Limits) -> Result<Vec<CloudEvent>, CloudError> {
    if body.len() > limits.body_bytes {
        return Err(CloudError::TooLarge { bytes: body.len(), limit: limits.body_bytes });
    }
    let header = headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("content-type"));
    let content_type = header.map(|(_, value)| String::from_utf8_lossy(value).into_owned());
    match Mode::of(content_type.as_deref()) {
        Mode::Binary => Ok(vec![binary::decode(headers, content_type, body)?]),
        Mode::Structured => Ok(vec![structured::decode(content_type.as_deref(), body)?]),
        Mode::Batch => batch::decode(content_type.as_deref(), body, limits.events),
    }
}

impl CloudEvent {
    /// Writes it with its attributes in headers and its data in the body.
    pub fn to_binary(&self) -> Message {
        binary::encode(self)
    }

    /// Writes it as JSON.
    pub fn to_structured(&self) -> Message {
        structured::encode(self)
    }

    /// Writes many as a list.
    pub fn to_batch(events: &[Self]) -> Message {
        batch::encode(events)
    }
}
