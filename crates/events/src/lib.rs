//! The vocabulary and wire forms of events: types, payloads, ids, envelope, CloudEvents.
//!
//! An [`Event`] is what the log holds. What it says is one of [`EventType`], each with a payload of its own in [`Payload`],
//! or a name that producers elsewhere chose.

pub mod attempt;
pub mod cloudevents;
pub mod comparison;
pub mod envelope;
mod event;
mod id;
mod mask;
pub mod outcome;
pub mod payload;
mod problem;
mod snowflake;
mod time;
mod vocabulary;
mod word;

pub use event::{Details, Event, Mark, ResultKind, Sources, Status};
pub use id::{JobId, RunId, TenantId, UnknownId};
pub use mask::{mask, mask_text};
pub use payload::{Ids, Payload, PayloadError};
pub use problem::Problem;
pub use snowflake::{EventId, Snowflakes};
pub use time::{NotATime, Time};
pub use vocabulary::{EventName, EventType, Kind, Origin, PREFIX};
pub use word::UnknownWord;
