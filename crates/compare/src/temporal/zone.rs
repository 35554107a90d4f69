//! Turns wall-clock times of a zone into instants.

use chrono::{DateTime, Offset, TimeZone};
use chrono_tz::{TZ_VARIANTS, Tz};
use thiserror::Error;

use super::{DAY_SECONDS, Moment, scan};
use crate::text::near_miss;

/// A zone name that is not known.
#[derive(Debug, Error, PartialEq, Eq)]
#[error("time zone `{name}` is not known; {hint}")]
pub struct ZoneError {
    /// The name as given.
    pub name: String,
    /// What to write instead.
    pub hint: String,
}

/// A time zone: the offsets from UTC that its clocks have shown.
///
/// Where clocks go back, a time that occurs twice is the earlier one. Where they go forward, a time that does not
/// occur is counted with the offset from before, so it comes out as far past the change as it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Zone {
    first_offset: i64,
    changes: Vec<Change>,
    /// How many changes came before each span of 2^[`SPAN_BITS`] seconds from [`FIRST_SECOND`] on, so that a time
    /// near them is found without a search.
    changes_before: Vec<usize>,
}

/// From this wall-clock time on, this offset counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Change {
    from: i64,
    offset: i64,
}

/// No zone changes its offset twice within less than six days, so two equal offsets this far apart have none other between.
const STEP_SECONDS: i64 = 3 * DAY_SECONDS;
/// About a year, in which few zones change more than twice.
const SPAN_BITS: u32 = 25;
/// 1800: clocks showed the local mean time everywhere.
const FIRST_SECOND: i64 = -170 * 146_097 * DAY_SECONDS / 400;
/// After 2100 the zone database repeats the last offset.
const LAST_SECOND: i64 = 131 * 146_097 * DAY_SECONDS / 400;

impl Zone {
    /// Finds a zone by its IANA name, or a fixed offset written `+02:00`.
    ///
    /// # Errors
    /// If there is no such zone; the hint names one that is spelt alike.
    pub fn named(name: &str) -> Result<Self, ZoneError> {
        if let Some((first_offset, [])) = scan::offset(name.as_bytes()) {
            return Ok(Self { first_offset, changes: Vec::new(), changes_before: vec![0] });
        }
        let zone: Tz = name.parse().map_err(|_| ZoneError { name: name.to_owned(), hint: hint(name) })?;
        Ok(Self::with_changes_of(zone))
    }

    /// Finds the instant at which the zone's clocks show this time.
    #[inline]
    #[must_use]
    pub fn to_instant(&self, civil: Moment) -> Moment {
        let span = usize::try_from(civil.seconds.saturating_sub(FIRST_SECOND) >> SPAN_BITS).unwrap_or(0);
        let mut past = self.changes_before[span.min(self.changes_before.len() - 1)];
        while self.changes.get(past).is_some_and(|change| change.from <= civil.seconds) {
            past += 1;
        }
        let offset = match past.checked_sub(1) {
            Some(last) => self.changes[last].offset,
            None => self.first_offset,
        };
        Moment { seconds: civil.seconds.saturating_sub(offset), ..civil }
    }

    fn with_changes_of(zone: Tz) -> Self {
        let first_offset = offset_in(zone, FIRST_SECOND);
        let mut changes = Vec::new();
        let (mut before, mut start) = (first_offset, FIRST_SECOND);
        while start < LAST_SECOND {
            let end = start + STEP_SECONDS;
            let after = offset_in(zone, end);
            if after != before {
                // The old offset lasts through the hour that occurs twice, and through the hour that is skipped.
                let from = instant_of_change(zone, start, end) + before.max(after);
                changes.push(Change { from, offset: after });
            }
            (before, start) = (after, end);
        }
        let changes_before = (FIRST_SECOND..LAST_SECOND)
            .step_by(1 << SPAN_BITS)
            .map(|start| changes.partition_point(|change| change.from <= start))
            .collect();
        Self { first_offset, changes, changes_before }
    }
}

/// How many seconds the clocks of a zone, by name or offset, are ahead of UTC at an instant; `None` if nobody knows.
pub(crate) fn offset_at(zone: &str, instant: Moment) -> Option<i64> {
    if let Some((offset, [])) = scan::offset(zone.as_bytes()) {
        return Some(offset);
    }
    let instant = DateTime::from_timestamp(instant.seconds, 0)?.naive_utc();
    Some(zone.parse::<Tz>().ok()?.offset_from_utc_datetime(&instant).fix().local_minus_utc().into())
}

fn offset_in(zone: Tz, instant: i64) -> i64 {
    let instant = DateTime::from_timestamp(instant, 0).expect("the years 1800 to 2101 are within range");
    zone.offset_from_utc_datetime(&instant.naive_utc()).fix().local_minus_utc().into()
}

/// Finds the first second with the offset of `end`, when `start` has another.
fn instant_of_change(zone: Tz, start: i64, end: i64) -> i64 {
    let before = offset_in(zone, start);
    let (mut last_before, mut first_after) = (start, end);
    while first_after - last_before > 1 {
        let middle = i64::midpoint(last_before, first_after);
        if offset_in(zone, middle) == before {
            last_before = middle;
        } else {
            first_after = middle;
        }
    }
    first_after
}

fn hint(name: &str) -> String {
    let place = name.replace(' ', "_");
    let names = || TZ_VARIANTS.iter().map(|zone| zone.name());
    let is_place = |part: &str| part.eq_ignore_ascii_case(&place);
    let same_name = || names().find(|zone| is_place(zone));
    let same_city = || names().find(|zone| zone.rsplit('/').next().is_some_and(is_place));
    match same_name().or_else(same_city).or_else(|| near_miss(&place, names())) {
        Some(zone) => format!("did you mean `{zone}`?"),
        None => "use an IANA name such as `Europe/London`, `UTC`, or an offset such as `+02:00`".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::temporal::{Order, Shape, TemporalKind, display};
    use chrono::LocalResult;

    fn civil(text: &str) -> Moment {
        let shape = Shape { order: Order::YearFirst, separator: b'-', kind: TemporalKind::Timestamp };
        shape.parse(text.as_bytes()).expect("a timestamp")
    }

    #[test]
    fn wall_clock_times_become_instants() {
        for (zone, time, expected) in [
            ("Europe/London", "2024-01-15 12:00:00", "2024-01-15 12:00:00Z"),
            ("Europe/London", "2024-07-15 12:00:00.5", "2024-07-15 11:00:00.5Z"),
            ("Europe/London", "2024-03-31 00:59:59", "2024-03-31 00:59:59Z"),
            // Skipped: 01:00 to 02:00 do not occur.
            ("Europe/London", "2024-03-31 01:00:00", "2024-03-31 01:00:00Z"),
            ("Europe/London", "2024-03-31 01:30:00", "2024-03-31 01:30:00Z"),
            ("Europe/London", "2024-03-31 02:00:00", "2024-03-31 01:00:00Z"),
            // Twice: the first 01:30 is still summer time.
            ("Europe/London", "2024-10-27 00:59:59", "2024-10-26 23:59:59Z"),
            ("Europe/London", "2024-10-27 01:00:00", "2024-10-27 00:00:00Z"),
            ("Europe/London", "2024-10-27 01:30:00", "2024-10-27 00:30:00Z"),
            ("Europe/London", "2024-10-27 02:00:00", "2024-10-27 02:00:00Z"),
            // British Standard Time all year.
            ("Europe/London", "1970-01-01 00:00:00", "1969-12-31 23:00:00Z"),
            ("Europe/London", "1800-01-01 00:00:00", "1800-01-01 00:01:15Z"),
            ("Europe/London", "0001-01-01 00:00:00", "0001-01-01 00:01:15Z"),
            ("Europe/London", "9999-12-31 23:59:59", "9999-12-31 23:59:59Z"),
            ("America/New_York", "2024-03-10 02:30:00", "2024-03-10 07:30:00Z"),
            ("America/New_York", "2024-11-03 01:30:00", "2024-11-03 05:30:00Z"),
            ("Asia/Kathmandu", "2024-01-01 05:45:00", "2024-01-01 00:00:00Z"),
            // A day that does not occur.
            ("Pacific/Apia", "2011-12-30 12:00:00", "2011-12-30 22:00:00Z"),
            ("UTC", "2024-01-01 05:45:00", "2024-01-01 05:45:00Z"),
            ("Z", "2024-01-01 05:45:00", "2024-01-01 05:45:00Z"),
            ("+02:00", "2024-07-01 00:00:00", "2024-06-30 22:00:00Z"),
            ("-0930", "2024-07-01 00:00:00", "2024-07-01 09:30:00Z"),
        ] {
            let instant = Zone::named(zone).expect("a known zone").to_instant(civil(time));
            assert_eq!(display(instant, TemporalKind::Instant), expected, "{time} in {zone}");
        }
    }

    #[test]
    fn every_change_of_a_zone_is_found() {
        // Among them the zones with the shortest times between changes.
        for name in [
            "Europe/London",
            "America/Noronha",
            "Asia/Gaza",
            "Africa/Tunis",
            "Africa/Casablanca",
            "Asia/Manila",
        ] {
            let zone = Zone::named(name).expect("a known zone");
            let tz: Tz = name.parse().expect("a known zone");
            let step = 41 * 3600 + 7;
            for seconds in (civil("1830-01-01").seconds..civil("2120-01-01").seconds).step_by(step) {
                let local = DateTime::from_timestamp(seconds, 0).expect("within range").naive_utc();
                let found = seconds - zone.to_instant(Moment { seconds, nanos: 0 }).seconds;
                match tz.offset_from_local_datetime(&local) {
                    LocalResult::Single(offset) | LocalResult::Ambiguous(offset, _) => {
                        assert_eq!(found, i64::from(offset.fix().local_minus_utc()), "{local} in {name}");
                    }
                    LocalResult::None => {}
                }
            }
        }
    }

    #[test]
    fn unknown_zones_come_with_a_hint() {
        for (name, hint) in [
            ("Europe/Londn", "did you mean `Europe/London`?"),
            ("europe/london", "did you mean `Europe/London`?"),
            ("new york", "did you mean `America/New_York`?"),
            ("utc", "did you mean `UTC`?"),
            (
                "Middle-earth/Shire",
                "use an IANA name such as `Europe/London`, `UTC`, or an offset such as `+02:00`",
            ),
            ("+25:00", "use an IANA name such as `Europe/London`, `UTC`, or an offset such as `+02:00`"),
        ] {
            let error = Zone::named(name).expect_err("no such zone");
            assert_eq!(error.hint, hint);
            assert_eq!(error.to_string(), format!("time zone `{name}` is not known; {hint}"));
        }
    }

    #[test]
    fn times_out_of_all_calendars_do_not_overflow() {
        let zone = Zone::named("America/New_York").expect("a known zone");
        for seconds in [i64::MIN, i64::MAX] {
            let instant = zone.to_instant(Moment { seconds, nanos: 0 });
            assert!(instant.seconds.abs_diff(seconds) < 86_400);
        }
    }
}
