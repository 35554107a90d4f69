//! What the two processes of an attempt say to each other: the worker's gives an [`Assignment`], and its child answers in [`Line`]s.
//!
//! Each is one line of JSON. The last line of the child is how the attempt ended; a child that ends without it has died.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::outcome::Outcome;
use crate::payload::{Ids, Payload, PayloadError};
use crate::time::Time;
use crate::vocabulary::EventType;

/// What an attempt is to do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Assignment {
    /// Which run, of which job, of which tenant.
    #[serde(flatten)]
    pub ids: Ids,
    /// The job, as its revision was saved.
    pub job: Value,
    /// What the caller wrote: JSON text that nobody has looked at yet.
    pub params: String,
    /// When the run was asked for, which is what `today` means in it.
    pub requested_at_ms: i64,
    /// The folder for the files of breaks; it need not exist.
    pub breaks_dir: PathBuf,
    /// How much memory it may use, unless the job says so.
    pub memory_bytes: Option<u64>,
    /// How many threads it may use, unless the job says so.
    pub threads: Option<NonZeroUsize>,
}

/// Something that a child says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Fields", into = "Fields")]
pub enum Line {
    /// Something happened.
    Told {
        /// When.
        time: Time,
        /// What.
        payload: Payload,
    },
    /// The attempt has ended so; nothing follows.
    Ended(Outcome),
}

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Fields {
    Told { time: Time, event: String, data: Value },
    Ended(Outcome),
}

/// A line that tells of nothing that is known.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotALine {
    /// There is no such type of event.
    #[error("{0:?} is no type of event")]
    UnknownType(String),
    /// It does not say what its type says.
    #[error(transparent)]
    Payload(#[from] PayloadError),
}

impl TryFrom<Fields> for Line {
    type Error = NotALine;

    fn try_from(fields: Fields) -> Result<Self, NotALine> {
        match fields {
            Fields::Ended(outcome) => Ok(Self::Ended(outcome)),
            Fields::Told { time, event, data } => {
                let event_type = EventType::parse(&event).ok_or(NotALine::UnknownType(event))?;
                Ok(Self::Told { time, payload: Payload::read(event_type, &data)? })
            }
        }
    }
}

impl From<Line> for Fields {
    fn from(line: Line) -> Self {
        match line {
            Line::Ended(outcome) => Self::Ended(outcome),
            Line::Told { time, payload } => {
                let data = serde_json::to_value(&payload).unwrap_or_else(|error| {
                    unreachable!("a payload is an object of text, numbers and lists: {error}")
                });
                Self::Told { time, event: payload.event_type().to_string(), data }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outcome::{Reason, RunError, Verdict};
    use crate::payload::StageStarted;

    #[test]
    fn lines_are_read_as_they_are_written() {
        let told = Line::Told {
            time: Time::from_unix_us(1_700_000_000_000_000),
            payload: StageStarted { stage_name: "by-region".to_owned() }.into(),
        };
        let table = [
            (
                told,
                r#"{"time":"2023-11-14T22:13:20Z","event":"run.stage.started","data":{"stage_name":"by-region"}}"#,
            ),
            (Line::Ended(Outcome::Result(Verdict::Matched)), r#"{"result":"MATCHED"}"#),
            (
                Line::Ended(Outcome::Error(RunError::new(Reason::InvalidJob, "no"))),
                r#"{"error":{"code":"UNKNOWN","message":"no","reason":"INVALID_JOB"}}"#,
            ),
        ];
        for (line, text) in table {
            assert_eq!(serde_json::to_string(&line).unwrap(), text);
            assert_eq!(serde_json::from_str::<Line>(text).unwrap(), line);
        }
    }

    #[test]
    fn what_is_no_line_is_refused() {
        let table = [
            "{}",
            "memory",
            r#"{"time":"2023-11-14T22:13:20Z","event":"run.unheard_of","data":{}}"#,
            r#"{"time":"2023-11-14T22:13:20Z","event":"run.stage.started","data":{}}"#,
        ];
        for text in table {
            assert!(serde_json::from_str::<Line>(text).is_err(), "{text}");
        }
    }
}
