//! Time zones by name or offset.

use std::fmt;
use std::str::FromStr;

use chrono_tz::{TZ_VARIANTS, Tz};

use crate::spelling;

/// The zone of times that carry none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Zone {
    /// One with a name, such as `Europe/London`.
    Named(Tz),
    /// A fixed number of minutes ahead of UTC.
    Offset {
        /// Minutes.
        minutes: i16,
    },
}

/// A text that is no zone.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no time zone {name:?}; {hint}")]
pub struct UnknownZone {
    name: String,
    hint: String,
}

/// Reads the name of a zone.
pub(crate) fn parse_named(name: &str) -> Result<Tz, UnknownZone> {
    name.parse().map_err(|_| {
        let name: String = name.chars().take(60).collect();
        let near = spelling::near_miss(&name, TZ_VARIANTS.iter().map(|zone| zone.name()));
        let hint = near.map_or("expected a name such as Europe/London".to_owned(), |near| {
            format!("did you mean `{near}`?")
        });
        UnknownZone { name, hint }
    })
}

impl FromStr for Zone {
    type Err = UnknownZone;

    fn from_str(text: &str) -> Result<Self, UnknownZone> {
        match offset(text) {
            Some(minutes) => Ok(Self::Offset { minutes }),
            None => parse_named(text).map(Self::Named),
        }
    }
}

/// Reads `+01:00`.
fn offset(text: &str) -> Option<i16> {
    let sign = match text.as_bytes().first()? {
        b'+' => 1,
        b'-' => -1,
        _ => return None,
    };
    let (hours, minutes) = text[1..].split_once(':')?;
    let number = |digits: &str, below: i16| {
        let two = digits.len() == 2 && digits.bytes().all(|byte| byte.is_ascii_digit());
        digits.parse::<i16>().ok().filter(|number| two && *number < below)
    };
    Some(sign * (number(hours, 24)? * 60 + number(minutes, 60)?))
}

/// As it is written in the document.
impl fmt::Display for Zone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Named(zone) => f.write_str(zone.name()),
            Self::Offset { minutes } => {
                let sign = if *minutes < 0 { '-' } else { '+' };
                write!(f, "{sign}{:02}:{:02}", minutes.abs() / 60, minutes.abs() % 60)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Zone;

    #[test]
    fn zones_by_name_and_offset() {
        for text in ["Europe/London", "UTC", "+01:00", "-09:30", "+00:00"] {
            assert_eq!(text.parse::<Zone>().map(|zone| zone.to_string()), Ok(text.to_owned()));
        }
        for (text, hint) in [
            ("Europe/Londn", "did you mean `Europe/London`?"),
            ("+1:00", "expected a name such as Europe/London"),
            ("+25:00", "expected a name such as Europe/London"),
            ("+é:00", "expected a name such as Europe/London"),
        ] {
            let error = text.parse::<Zone>().unwrap_err().to_string();
            assert!(error.ends_with(hint), "{error}");
        }
    }
}
