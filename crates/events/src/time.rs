//! When something happened, as it was written.

use std::fmt;
use std::str::FromStr;

use chrono::{DateTime, SecondsFormat};
use serde::de::{Deserialize, Deserializer, Error as _};
use serde::{Serialize, Serializer};

/// A text that is no point in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must be a time of RFC 3339, such as 2026-05-31T03:14:15Z")]
pub struct NotATime;

/// A point in time of RFC 3339; it keeps the text it was given, and compares by the microsecond that means.
#[derive(Debug, Clone)]
pub struct Time {
    text: String,
    unix_us: i64,
}

impl Time {
    /// The time so many microseconds after 1970, as UTC; those past the year 9999 are its last moment.
    pub fn from_unix_us(unix_us: i64) -> Self {
        const LAST_US: i64 = 253_402_300_799_999_999;
        const FIRST_US: i64 = -62_167_219_200_000_000;
        let unix_us = unix_us.clamp(FIRST_US, LAST_US);
        let time = DateTime::from_timestamp_micros(unix_us).unwrap_or_default();
        Self { text: time.to_rfc3339_opts(SecondsFormat::AutoSi, true), unix_us }
    }

    /// Microseconds since 1970.
    pub fn unix_us(&self) -> i64 {
        self.unix_us
    }

    /// The text as it was given.
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

impl FromStr for Time {
    type Err = NotATime;

    fn from_str(text: &str) -> Result<Self, NotATime> {
        let time = DateTime::parse_from_rfc3339(text).map_err(|_| NotATime)?;
        Ok(Self { text: text.to_owned(), unix_us: time.timestamp_micros() })
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl PartialEq for Time {
    fn eq(&self, other: &Self) -> bool {
        self.unix_us == other.unix_us
    }
}

impl Eq for Time {}

impl PartialOrd for Time {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Time {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.unix_us.cmp(&other.unix_us)
    }
}

impl Serialize for Time {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text)
    }
}

impl<'de> Deserialize<'de> for Time {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_kept_and_compare_by_meaning() {
        let table = ["2026-05-31T03:14:15Z", "2026-05-31T05:14:15.0+02:00", "2026-05-31t03:14:15.000z"];
        let times: Vec<Time> = table.iter().map(|text| text.parse().unwrap()).collect();
        assert!(times.iter().zip(table).all(|(time, text)| time.as_str() == text));
        assert!(times.windows(2).all(|pair| pair[0] == pair[1]));
    }

    #[test]
    fn only_rfc_3339_is_a_time() {
        for text in ["", "2026-05-31", "2026-05-31T03:14:15", "1717125255", "2026-13-01T00:00:00Z"] {
            assert_eq!(text.parse::<Time>(), Err(NotATime), "{text}");
        }
    }

    #[test]
    fn instants_are_written_in_utc() {
        let table = [
            (0, "1970-01-01T00:00:00Z"),
            (1_500_000, "1970-01-01T00:00:01.500Z"),
            (i64::MAX, "9999-12-31T23:59:59.999999Z"),
            (i64::MIN, "0000-01-01T00:00:00Z"),
        ];
        for (unix_us, text) in table {
            let time = Time::from_unix_us(unix_us);
            assert_eq!(time.as_str(), text);
            assert_eq!(text.parse::<Time>().unwrap(), time);
        }
    }
}
