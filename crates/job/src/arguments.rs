//! The values that a run has for the parameters of its job.

use std::collections::BTreeMap;

use chrono::{DateTime, NaiveDate, Utc};
use chrono_tz::Tz;

use crate::param::{Fallback, Param};
use crate::spelling;
use crate::template_error::TemplateError;
use crate::value::{Type, Value};

/// The time of a run, and the zone that says which day it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moment {
    now: DateTime<Utc>,
    zone: Tz,
}

impl Moment {
    /// A time, seen from a zone.
    pub fn new(now: DateTime<Utc>, zone: Tz) -> Self {
        Self { now, zone }
    }

    /// A time in milliseconds since 1970, seen from a zone; none beyond what a date can be.
    pub fn at_ms(now_ms: i64, zone: Tz) -> Option<Self> {
        DateTime::from_timestamp_millis(now_ms).map(|now| Self { now, zone })
    }

    /// The time.
    pub fn now(&self) -> DateTime<Utc> {
        self.now
    }

    /// The day in the zone.
    pub fn today(&self) -> NaiveDate {
        self.now.with_timezone(&self.zone).date_naive()
    }
}

/// A value for each parameter of a job, of its type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Arguments {
    values: BTreeMap<String, Value>,
    moment: Moment,
}

/// A parameter that was not given as the job wants it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ArgumentError {
    /// The job has no such parameter.
    #[error("there is no parameter `{name}`; {hint}")]
    Unknown {
        /// The name given.
        name: String,
        /// What may have been meant.
        hint: String,
    },
    /// It was not given, and has no default.
    #[error("the parameter `{name}` is missing: expected {}", .kind.example())]
    Missing {
        /// Its name.
        name: String,
        /// What its values are.
        kind: Type,
    },
    /// It was given something else.
    #[error("the parameter `{name}` is {found}: expected {}", .kind.example())]
    NotOfType {
        /// Its name.
        name: String,
        /// What its values are.
        kind: Type,
        /// What was given.
        found: String,
    },
    /// Its default has no value at that time.
    #[error("the default of the parameter `{name}`: {source}")]
    Default {
        /// Its name.
        name: String,
        /// Why not.
        source: TemplateError,
    },
}

impl Arguments {
    /// Takes what is given, as text or as JSON of the parameter's type, and defaults for the rest; finds all that is wrong.
    pub(crate) fn new(
        params: &BTreeMap<String, Param>,
        given: &BTreeMap<String, serde_json::Value>,
        moment: Moment,
    ) -> Result<Self, Vec<ArgumentError>> {
        let mut errors = Vec::new();
        for name in given.keys().filter(|name| !params.contains_key(*name)) {
            let hint = spelling::hint(name, params.keys().map(String::as_str));
            let hint = hint.unwrap_or_else(|| "the job has none".to_owned());
            errors.push(ArgumentError::Unknown { name: name.clone(), hint });
        }
        let mut arguments = Self { values: BTreeMap::new(), moment };
        for (name, param) in params {
            let value = match given.get(name) {
                Some(given) => from_json(name, param.kind, given),
                None => arguments.default(name, param),
            };
            match value {
                Ok(value) => {
                    arguments.values.insert(name.clone(), value);
                }
                Err(error) => errors.push(error),
            }
        }
        if errors.is_empty() { Ok(arguments) } else { Err(errors) }
    }

    fn default(&self, name: &str, param: &Param) -> Result<Value, ArgumentError> {
        match &param.default {
            None => Err(ArgumentError::Missing { name: name.to_owned(), kind: param.kind }),
            Some(Fallback::Value(value)) => Ok(value.clone()),
            Some(Fallback::Template(template)) => {
                let value = template.evaluate(self);
                let value =
                    value.map_err(|source| ArgumentError::Default { name: name.to_owned(), source })?;
                Ok(if param.kind == Type::String { Value::String(value.to_string()) } else { value })
            }
        }
    }

    /// The value of a parameter.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.values.get(name)
    }

    /// The time that they were made for.
    pub fn moment(&self) -> Moment {
        self.moment
    }

    /// As JSON, from which the same arguments can be made again.
    pub fn to_json(&self) -> BTreeMap<String, serde_json::Value> {
        self.values.iter().map(|(name, value)| (name.clone(), value.to_json())).collect()
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> + Clone {
        self.values.keys().map(String::as_str)
    }
}

fn from_json(name: &str, kind: Type, given: &serde_json::Value) -> Result<Value, ArgumentError> {
    let value = match (kind, given) {
        (_, serde_json::Value::String(text)) => Value::parse(kind, text).ok(),
        (Type::Integer | Type::Decimal, serde_json::Value::Number(number)) => {
            Value::parse(kind, &number.to_string()).ok()
        }
        (Type::Boolean, serde_json::Value::Bool(flag)) => Some(Value::Boolean(*flag)),
        _ => None,
    };
    let found: String = given.to_string().chars().take(60).collect();
    value.ok_or_else(|| ArgumentError::NotOfType { name: name.to_owned(), kind, found })
}
