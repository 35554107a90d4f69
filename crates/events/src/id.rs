//! Who and what an event is about: the run, its job, and the tenant.

use std::fmt;
use std::str::FromStr;

use serde::de::{Deserialize, Deserializer, Error as _};
use serde::{Serialize, Serializer};
use serde_json::Value;
use uuid::Uuid;

/// A text or number that is no id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must be {expected}")]
pub struct UnknownId {
    /// What would have been one.
    pub expected: &'static str,
}

/// The largest number that is an id: 63 bits, so that signed columns and languages hold it too.
pub(crate) const NUMBER_MAX: u64 = i64::MAX as u64;

/// Names a run: by a UUID those that were started here, by a number those that are only observed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RunId {
    /// A run of ours.
    Uuid(Uuid),
    /// An execution that something else started.
    Number(u64),
}

impl RunId {
    /// Reads the forms that producers use: text, or an integer.
    pub fn from_json(value: &Value) -> Result<Self, UnknownId> {
        let expected = UnknownId { expected: "a UUID or a 64-bit number, as text or integer" };
        match value {
            Value::String(text) => text.parse(),
            _ => value.as_u64().filter(|number| *number <= NUMBER_MAX).map(Self::Number).ok_or(expected),
        }
    }

    /// The name that an engine knows the run by.
    pub fn workflow_name(&self) -> String {
        format!("r-{self}")
    }

    /// The run that an engine knows by that name, if it is one of ours.
    pub fn of_workflow(name: &str) -> Option<Self> {
        name.strip_prefix("r-")?.parse().ok()
    }
}

impl FromStr for RunId {
    type Err = UnknownId;

    fn from_str(text: &str) -> Result<Self, UnknownId> {
        // What is no UUID may still be a number.
        let uuid = Uuid::try_parse(text).map(Self::Uuid).ok();
        uuid.or_else(|| number(text).map(Self::Number))
            .ok_or(UnknownId { expected: "a UUID or a 64-bit number, as text or integer" })
    }
}

/// Reads digits and nothing else: `u64::from_str` would take a plus as well.
pub(crate) fn number(text: &str) -> Option<u64> {
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|number| digits && *number <= NUMBER_MAX)
}

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Uuid(uuid) => uuid.fmt(f),
            Self::Number(number) => number.fmt(f),
        }
    }
}

impl From<Uuid> for RunId {
    fn from(uuid: Uuid) -> Self {
        Self::Uuid(uuid)
    }
}

impl Serialize for RunId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for RunId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::from_json(&Value::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

/// Defines an id that is a UUID, in text and JSON in its hyphenated form.
macro_rules! uuid_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(pub Uuid);

        impl FromStr for $name {
            type Err = UnknownId;

            fn from_str(text: &str) -> Result<Self, UnknownId> {
                Uuid::try_parse(text).map(Self).map_err(|_| UnknownId { expected: "a UUID" })
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
            }
        }
    };
}

uuid_id! {
    /// Names a job.
    JobId
}

uuid_id! {
    /// Names whose runs they are.
    TenantId
}
