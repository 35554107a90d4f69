//! Dates and times: points in time, and how text spells them.

mod calendar;
mod format;
mod scan;
mod shape;
mod zone;

use std::fmt::Write;

pub use format::{Format, FormatError};
pub(crate) use shape::{Order, OrderEvidence, Shape};
pub(crate) use shape::{Orders, Sighting};
pub use shape::{of_clock, year_first};
pub(crate) use zone::offset_at;
pub use zone::{Zone, ZoneError};

const DAY_SECONDS: i64 = 86_400;

/// A date or time, exact to the nanosecond.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Moment {
    /// Seconds since 1970-01-01T00:00:00, by the wall clock or, for instants, in UTC; for times of day since midnight.
    pub seconds: i64,
    /// Nanoseconds after that second, below 10^9.
    pub nanos: u32,
}

/// What a date or time says.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum TemporalKind {
    /// A day.
    Date,
    /// A day and a time by an unnamed clock.
    Timestamp,
    /// A point in time, the same everywhere.
    Instant,
    /// A time of day.
    Time,
}

impl TemporalKind {
    /// Finds the kind that values of both can be read as: a date is its midnight, and nothing else mixes.
    #[must_use]
    pub(crate) fn widened(self, other: Self) -> Option<Self> {
        match (self, other) {
            _ if self == other => Some(self),
            (Self::Date, Self::Timestamp) | (Self::Timestamp, Self::Date) => Some(Self::Timestamp),
            _ => None,
        }
    }
}

/// Cuts a moment to this many digits of a second, toward the past.
#[must_use]
pub(crate) fn truncate(moment: Moment, digits: u32) -> Moment {
    let unit = 10_u32.pow(9 - digits.min(9));
    Moment { nanos: moment.nanos - moment.nanos % unit, ..moment }
}

/// Spells a moment in the canonical form of its kind: `2024-03-01`, `2024-03-01 09:01:00.5`, `2024-03-01 09:01:00Z`, `09:01:00`.
#[must_use]
pub fn display(moment: Moment, kind: TemporalKind) -> String {
    let mut spelt = String::with_capacity(32);
    append(moment, kind, &mut spelt);
    spelt
}

/// Appends the canonical form of a moment.
pub(crate) fn append(moment: Moment, kind: TemporalKind, out: &mut String) {
    let day = moment.seconds.div_euclid(DAY_SECONDS);
    let second = moment.seconds.rem_euclid(DAY_SECONDS);
    if kind != TemporalKind::Time {
        let (year, month, day) = calendar::civil(day);
        let sign = if year < 0 { "-" } else { "" };
        append_formatted(out, format_args!("{sign}{:04}-{month:02}-{day:02}", year.unsigned_abs()));
    }
    if kind == TemporalKind::Date {
        return;
    }
    if kind != TemporalKind::Time {
        out.push(' ');
    }
    append_formatted(out, format_args!("{:02}:{:02}:{:02}", second / 3600, second / 60 % 60, second % 60));
    if moment.nanos != 0 {
        append_formatted(out, format_args!(".{:09}", moment.nanos));
        out.truncate(out.trim_end_matches('0').len());
    }
    if kind == TemporalKind::Instant {
        out.push('Z');
    }
}

fn append_formatted(out: &mut String, pieces: std::fmt::Arguments<'_>) {
    out.write_fmt(pieces).expect("writing to a String cannot fail");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_spelt_canonically() {
        use TemporalKind::{Date, Instant, Time, Timestamp};
        for (seconds, nanos, kind, expected) in [
            (0, 0, Date, "1970-01-01"),
            (1_709_283_660, 0, Date, "2024-03-01"),
            (1_709_283_660, 0, Timestamp, "2024-03-01 09:01:00"),
            (1_709_283_660, 120_000_000, Timestamp, "2024-03-01 09:01:00.12"),
            (1_709_283_660, 1, Instant, "2024-03-01 09:01:00.000000001Z"),
            (1_709_283_600, 0, Instant, "2024-03-01 09:00:00Z"),
            (32_460, 500_000_000, Time, "09:01:00.5"),
            (-1, 999_000_000, Timestamp, "1969-12-31 23:59:59.999"),
            (-62_135_596_800, 0, Date, "0001-01-01"),
            (-62_135_596_801, 0, Date, "0000-12-31"),
            (-62_167_219_201, 0, Date, "-0001-12-31"),
            (253_402_300_799, 0, Timestamp, "9999-12-31 23:59:59"),
            (253_402_300_800, 0, Date, "10000-01-01"),
        ] {
            assert_eq!(display(Moment { seconds, nanos }, kind), expected);
        }
        for seconds in [i64::MIN, i64::MAX] {
            assert!(!display(Moment { seconds, nanos: 0 }, Instant).is_empty());
        }
    }

    #[test]
    fn truncation_goes_toward_the_past() {
        for (nanos, digits, expected) in [
            (123_456_789, 0, 0),
            (123_456_789, 3, 123_000_000),
            (123_456_789, 6, 123_456_000),
            (123_456_789, 9, 123_456_789),
            (999_999_999, 0, 0),
        ] {
            for seconds in [-5, 0, 5] {
                assert_eq!(truncate(Moment { seconds, nanos }, digits), Moment { seconds, nanos: expected });
            }
        }
    }
}
