//! Typed values of parameters.

use std::fmt;

use chrono::{DateTime, Datelike, NaiveDate, NaiveDateTime, NaiveTime, SecondsFormat, Utc};
use serde_json::json;

use crate::decimal::Decimal;
use crate::word::words;

words! {
    /// What a parameter holds, or a column is read as.
    pub Type {
        /// Any text.
        String = "string",
        /// A whole number of 64 bits.
        Integer = "integer",
        /// A decimal, exact.
        Decimal = "decimal",
        /// True or false.
        Boolean = "boolean",
        /// A day.
        Date = "date",
        /// A time of day.
        Time = "time",
        /// A day and a time by wall clock.
        Timestamp = "timestamp",
        /// A moment, the same everywhere.
        Instant = "instant",
    }
}

impl Type {
    /// What a value of it looks like.
    pub(crate) fn example(self) -> &'static str {
        match self {
            Self::String => "a text",
            Self::Integer => "a whole number such as 42",
            Self::Decimal => "a number such as 0.01",
            Self::Boolean => "true or false",
            Self::Date => "a date such as 2026-01-31",
            Self::Time => "a time such as 18:30:00",
            Self::Timestamp => "a timestamp such as 2026-01-31T18:30:00",
            Self::Instant => "an instant such as 2026-01-31T18:30:00Z or 2026-01-31T18:30:00+01:00",
        }
    }
}

/// The value of a parameter or an expression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    /// Any text.
    String(String),
    /// A whole number.
    Integer(i64),
    /// A decimal.
    Decimal(Decimal),
    /// True or false.
    Boolean(bool),
    /// A day.
    Date(NaiveDate),
    /// A time of day.
    Time(NaiveTime),
    /// A day and a time by wall clock.
    Timestamp(NaiveDateTime),
    /// A moment.
    Instant(DateTime<Utc>),
}

/// A text that is no value of its type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("expected {}", .0.example())]
pub struct NotOfType(pub Type);

impl Value {
    /// Reads a value from text.
    pub fn parse(kind: Type, text: &str) -> Result<Self, NotOfType> {
        let wrong = NotOfType(kind);
        let value = match kind {
            // No database takes a NUL in a text.
            Type::String if text.contains('\0') => None,
            Type::String => Some(Self::String(text.to_owned())),
            Type::Integer => text.parse().ok().filter(|_| !text.starts_with('+')).map(Self::Integer),
            Type::Decimal => text.parse().ok().map(Self::Decimal),
            Type::Boolean => text.parse().ok().map(Self::Boolean),
            Type::Date => parse_date(text).map(Self::Date),
            Type::Time => parse_time(text).map(Self::Time),
            Type::Timestamp => parse_timestamp(text).map(Self::Timestamp),
            Type::Instant => DateTime::parse_from_rfc3339(text)
                .ok()
                .map(|instant| instant.to_utc())
                .filter(|instant| is_held(instant.date_naive()))
                .map(Self::Instant),
        };
        value.ok_or(wrong)
    }

    /// What it is.
    pub fn kind(&self) -> Type {
        match self {
            Self::String(_) => Type::String,
            Self::Integer(_) => Type::Integer,
            Self::Decimal(_) => Type::Decimal,
            Self::Boolean(_) => Type::Boolean,
            Self::Date(_) => Type::Date,
            Self::Time(_) => Type::Time,
            Self::Timestamp(_) => Type::Timestamp,
            Self::Instant(_) => Type::Instant,
        }
    }

    /// As JSON, from which it can be read again.
    pub fn to_json(&self) -> serde_json::Value {
        match self {
            Self::Integer(number) => json!(number),
            Self::Boolean(flag) => json!(flag),
            other => json!(other.to_string()),
        }
    }
}

/// Years of four digits, which all databases and texts hold.
pub(crate) fn is_held(date: NaiveDate) -> bool {
    (1..=9999).contains(&date.year())
}

fn parse_date(text: &str) -> Option<NaiveDate> {
    let is_written_out = text.len() == 10 && text.is_ascii();
    NaiveDate::parse_from_str(text, "%Y-%m-%d").ok().filter(|date| is_written_out && is_held(*date))
}

fn parse_time(text: &str) -> Option<NaiveTime> {
    let is_written_out =
        text.is_ascii() && matches!(text.len(), 5 | 8 | 10..=18) && text.as_bytes()[2] == b':';
    let format = if text.len() == 5 { "%H:%M" } else { "%H:%M:%S%.f" };
    NaiveTime::parse_from_str(text, format).ok().filter(|_| is_written_out)
}

fn parse_timestamp(text: &str) -> Option<NaiveDateTime> {
    let (date, time) = text.split_once(['T', ' '])?;
    Some(parse_date(date)?.and_time(parse_time(time)?))
}

/// As [`Value::parse`] reads it.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::String(text) => f.write_str(text),
            Self::Integer(number) => number.fmt(f),
            Self::Decimal(decimal) => decimal.fmt(f),
            Self::Boolean(flag) => flag.fmt(f),
            Self::Date(date) => write!(f, "{date}"),
            Self::Time(time) => write!(f, "{time}"),
            Self::Timestamp(timestamp) => write!(f, "{}T{}", timestamp.date(), timestamp.time()),
            Self::Instant(instant) => f.write_str(&instant.to_rfc3339_opts(SecondsFormat::AutoSi, true)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{NotOfType, Type, Value};

    #[test]
    fn values_are_written_as_they_are_read() {
        let table = [
            (Type::String, "", ""),
            (Type::Integer, "-42", "-42"),
            (Type::Decimal, "1.10", "1.1"),
            (Type::Boolean, "true", "true"),
            (Type::Date, "2026-01-31", "2026-01-31"),
            (Type::Time, "18:30", "18:30:00"),
            (Type::Time, "18:30:00.250", "18:30:00.250"),
            (Type::Timestamp, "2026-01-31 18:30:00", "2026-01-31T18:30:00"),
            (Type::Instant, "2026-01-31T18:30:00+01:00", "2026-01-31T17:30:00Z"),
        ];
        for (kind, text, expected) in table {
            let value = Value::parse(kind, text).unwrap();
            assert_eq!(value.to_string(), expected);
            assert_eq!(Value::parse(value.kind(), expected), Ok(value));
        }
    }

    #[test]
    fn what_is_not_of_its_type() {
        let table = [
            (Type::String, "a\0b"),
            (Type::Integer, "1.0"),
            (Type::Integer, "+1"),
            (Type::Integer, "9223372036854775808"),
            (Type::Decimal, "1,5"),
            (Type::Boolean, "yes"),
            (Type::Date, "31/01/2026"),
            (Type::Date, "2026-1-31"),
            (Type::Date, "2026-02-30"),
            (Type::Date, "+99999-01-01"),
            (Type::Time, "25:00"),
            (Type::Time, "日本"),
            (Type::Timestamp, "2026-01-31"),
            (Type::Instant, "2026-01-31T18:30:00"),
        ];
        for (kind, text) in table {
            assert_eq!(Value::parse(kind, text), Err(NotOfType(kind)), "{text}");
        }
    }
}
