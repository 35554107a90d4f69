//! How a column writes its dates when nothing is declared about it.

use super::{DAY_SECONDS, Moment, TemporalKind, calendar, scan};

/// The order of the parts of a date.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(clippy::enum_variant_names, reason = "`Order::Day` would not say where the day is")]
pub(crate) enum Order {
    /// 2024-12-31
    YearFirst,
    /// 31-12-2024
    DayFirst,
    /// 12-31-2024
    MonthFirst,
}

/// How all values of a column write their dates.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Shape {
    /// The order of the parts; provisional between day and month first until [`OrderEvidence`] proves it.
    pub order: Order,
    /// What stands between the parts: `-`, `/` or `.`.
    pub separator: u8,
    /// Date, timestamp or instant; a timestamp column may also hold dates.
    pub kind: TemporalKind,
}

impl Shape {
    /// Reads a value; `None` if it is no valid date or time of this shape, which disproves the shape for its column.
    #[inline]
    #[must_use]
    pub(crate) fn parse(self, text: &[u8]) -> Option<Moment> {
        self.read(text).map(|value| value.moment)
    }

    /// Reads a value as [`Shape::parse`] does and notes what it says on the order of day and month.
    #[inline]
    #[must_use]
    pub(crate) fn parse_noting(self, text: &[u8], evidence: &mut OrderEvidence) -> Option<Moment> {
        let value = self.read(text)?;
        evidence.latest_day = evidence.latest_day.max(value.day);
        Some(value.moment)
    }

    #[inline]
    fn read(self, text: &[u8]) -> Option<Value> {
        let value = read(text, self.order, self.separator)?;
        let fits = value.kind == self.kind
            || (value.kind == TemporalKind::Date && self.kind == TemporalKind::Timestamp);
        fits.then_some(value)
    }
}

/// What the values of a column have said on the order of day and month.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct OrderEvidence {
    latest_day: u32,
}

impl OrderEvidence {
    /// Adds what was seen elsewhere in the same column, read with the same shape.
    pub(crate) fn merge(&mut self, other: Self) {
        self.latest_day = self.latest_day.max(other.latest_day);
    }

    /// Whether the values read with this shape cannot be read in another order: one day was above 12, or years come first.
    #[must_use]
    pub(crate) fn proves(self, shape: Shape) -> bool {
        shape.order == Order::YearFirst || self.latest_day > 12
    }
}

/// The orders that a value, or all values of a column, can be read in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Orders {
    year_first: bool,
    day_first: bool,
    month_first: bool,
}

impl Orders {
    /// Keeps the orders that both allow.
    pub(crate) fn common(self, other: Self) -> Self {
        Self {
            year_first: self.year_first && other.year_first,
            day_first: self.day_first && other.day_first,
            month_first: self.month_first && other.month_first,
        }
    }

    /// Each order by itself.
    pub(crate) fn each(self) -> impl Iterator<Item = Self> {
        let none = Self { year_first: false, day_first: false, month_first: false };
        let each = [
            Self { year_first: self.year_first, ..none },
            Self { day_first: self.day_first, ..none },
            Self { month_first: self.month_first, ..none },
        ];
        each.into_iter().filter(move |order| *order != none)
    }

    /// Picks the only order, or the provisional one if two are left; `None` if none is.
    pub(crate) fn provisional(self) -> Option<Order> {
        match self {
            Self { year_first: true, .. } => Some(Order::YearFirst),
            Self { day_first: true, .. } => Some(Order::DayFirst),
            Self { month_first: true, .. } => Some(Order::MonthFirst),
            _ => None,
        }
    }
}

/// What one value alone says about the shape of its column.
pub(crate) struct Sighting {
    pub(crate) separator: u8,
    pub(crate) kind: TemporalKind,
    pub(crate) orders: Orders,
}

impl Sighting {
    /// Looks at a value; `None` if it is no date or time in any shape.
    pub(crate) fn of(text: &[u8]) -> Option<Self> {
        let separator = *text.iter().find(|byte| !byte.is_ascii_digit())?;
        if !matches!(separator, b'-' | b'/' | b'.') {
            return None;
        }
        let kind = |order| read(text, order, separator).map(|value| value.kind);
        let (year_first, day_first, month_first) =
            (kind(Order::YearFirst), kind(Order::DayFirst), kind(Order::MonthFirst));
        Some(Self {
            separator,
            kind: year_first.or(day_first).or(month_first)?,
            orders: Orders {
                year_first: year_first.is_some(),
                day_first: day_first.is_some(),
                month_first: month_first.is_some(),
            },
        })
    }
}

/// Reads a date, a timestamp or an instant by itself, which says what it is only if the year comes first, before dashes.
#[must_use]
pub fn year_first(text: &[u8]) -> Option<(Moment, TemporalKind)> {
    let value = read(text, Order::YearFirst, b'-')?;
    Some((value.moment, value.kind))
}

/// Reads a time of day.
#[must_use]
pub fn of_clock(text: &[u8]) -> Option<Moment> {
    let (kind, seconds, nanos) = read_clock(text)?;
    (kind == TemporalKind::Timestamp).then_some(Moment { seconds, nanos })
}

struct Value {
    moment: Moment,
    kind: TemporalKind,
    day: u32,
}

#[inline]
fn read(text: &[u8], order: Order, separator: u8) -> Option<Value> {
    let ((year, month, day), rest) = scan::date(text, order, separator)?;
    let midnight = calendar::days(year, month, day)? * DAY_SECONDS;
    let (kind, seconds, nanos) = match rest {
        [] => (TemporalKind::Date, 0, 0),
        [b' ' | b'T', clock @ ..] => read_clock(clock)?,
        _ => return None,
    };
    Some(Value { moment: Moment { seconds: midnight + seconds, nanos }, kind, day })
}

/// Reads what stands behind a date; the seconds are relative to its midnight, in UTC if there is an offset.
#[inline]
fn read_clock(text: &[u8]) -> Option<(TemporalKind, i64, u32)> {
    let (mut nanos, mut afternoon) = (0, None);
    let ((hour, minute, second), mut rest) = match scan::clock(text) {
        Some(clock) => clock,
        None => read_unusual_clock(text)?,
    };
    // A point behind minutes was refused above: there is always a colon and seconds before it.
    if let Some(behind) = scan::literal(rest, b'.') {
        (nanos, rest) = scan::fraction(behind)?;
    }
    if let Some(behind) = scan::literal(rest, b' ') {
        let (is_afternoon, behind) = scan::meridiem(behind)?;
        (afternoon, rest) = (Some(is_afternoon), behind);
    }
    let seconds = scan::second_of_day(scan::hour_of_day(hour, afternoon)?, minute, second)?;
    if rest.is_empty() {
        return Some((TemporalKind::Timestamp, seconds, nanos));
    }
    // PostgreSQL leaves out the minutes of whole hours.
    let (offset, rest) = scan::offset(rest).or_else(|| scan::offset_hours(rest))?;
    rest.is_empty().then_some((TemporalKind::Instant, seconds - offset, nanos))
}

/// Reads an hour of one digit, or a time without seconds.
fn read_unusual_clock(text: &[u8]) -> scan::Scanned<'_, (u32, u32, u32)> {
    let (hour, rest) = scan::one_or_two_digits(text)?;
    let (minute, rest) = scan::two_digits(scan::literal(rest, b':')?)?;
    match rest {
        [b':', behind @ ..] => {
            let (second, rest) = scan::two_digits(behind)?;
            Some(((hour, minute, second), rest))
        }
        [b'.', ..] => None,
        _ => Some(((hour, minute, 0), rest)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::temporal::display;
    use Order::{DayFirst, MonthFirst, YearFirst};
    use TemporalKind::{Date, Instant, Timestamp};

    #[track_caller]
    fn check(order: Order, separator: u8, kind: TemporalKind, text: &str, expected: Option<&str>) {
        let shape = Shape { order, separator, kind };
        let read = shape.parse(text.as_bytes()).map(|moment| display(moment, kind));
        assert_eq!(read.as_deref(), expected, "{text:?} as {shape:?}");
    }

    #[test]
    fn dates_are_read_in_their_order_with_their_separator() {
        for (order, separator, text, expected) in [
            (YearFirst, b'-', "2024-03-01", Some("2024-03-01")),
            (YearFirst, b'-', "2024-3-1", Some("2024-03-01")),
            (YearFirst, b'/', "2024/03/1", Some("2024-03-01")),
            (YearFirst, b'.', "2024.12.31", Some("2024-12-31")),
            (YearFirst, b'-', "9999-12-31", Some("9999-12-31")),
            (YearFirst, b'-', "0001-01-01", Some("0001-01-01")),
            (YearFirst, b'-', "2024-02-29", Some("2024-02-29")),
            (YearFirst, b'-', "2000-02-29", Some("2000-02-29")),
            (DayFirst, b'/', "31/12/2024", Some("2024-12-31")),
            (DayFirst, b'.', "1.2.2024", Some("2024-02-01")),
            (MonthFirst, b'/', "12/31/2024", Some("2024-12-31")),
            (MonthFirst, b'-', "1-2-2024", Some("2024-01-02")),
            (YearFirst, b'-', "0000-01-01", None),
            (YearFirst, b'-', "2023-02-29", None),
            (YearFirst, b'-', "1900-02-29", None),
            (YearFirst, b'-', "2024-02-30", None),
            (YearFirst, b'-', "2024-04-31", None),
            (YearFirst, b'-', "2024-13-01", None),
            (YearFirst, b'-', "2024-00-10", None),
            (YearFirst, b'-', "2024/03/01", None),
            (YearFirst, b'-', "2024-03/01", None),
            (YearFirst, b'-', "24-03-01", None),
            (YearFirst, b'-', "2024-003-01", None),
            (YearFirst, b'-', "2024-03-011", None),
            (YearFirst, b'-', "12024-03-01", None),
            (YearFirst, b'-', "2024-03", None),
            (YearFirst, b'-', "2024-03-", None),
            (YearFirst, b'-', "20240301", None),
            (YearFirst, b'-', " 2024-03-01", None),
            (YearFirst, b'-', "2024-03-01 ", None),
            (YearFirst, b'-', "+2024-03-01", None),
            (YearFirst, b'-', "", None),
            (DayFirst, b'/', "12/31/2024", None),
            (MonthFirst, b'/', "31/12/2024", None),
            (DayFirst, b'/', "31/12/24", None),
            (DayFirst, b'/', "31/12/20245", None),
            (DayFirst, b'/', "31.12/2024", None),
            (YearFirst, b'-', "2024-03-01 00:00", None),
        ] {
            check(order, separator, Date, text, expected);
        }
    }

    #[test]
    fn times_are_read_behind_dates() {
        for (text, expected) in [
            ("2024-03-01 09:01", Some("2024-03-01 09:01:00")),
            ("2024-03-01T09:01:02", Some("2024-03-01 09:01:02")),
            ("2024-03-01 9:01:02", Some("2024-03-01 09:01:02")),
            ("2024-03-01", Some("2024-03-01 00:00:00")),
            ("2024-03-01 23:59:59.999999999", Some("2024-03-01 23:59:59.999999999")),
            ("2024-03-01 23:59:59.1", Some("2024-03-01 23:59:59.1")),
            ("2024-03-01 23:59:59.123456789000", Some("2024-03-01 23:59:59.123456789")),
            ("2024-03-01 12:00 AM", Some("2024-03-01 00:00:00")),
            ("2024-03-01 12:00:01 PM", Some("2024-03-01 12:00:01")),
            ("2024-03-01 1:30 pm", Some("2024-03-01 13:30:00")),
            ("2024-03-01 11:59:59.5 PM", Some("2024-03-01 23:59:59.5")),
            ("2024-03-01 23:59:59.1234567891", None),
            ("2024-03-01 23:59:59.", None),
            ("2024-03-01 23:59.5", None),
            ("2024-03-01 24:00", None),
            ("2024-03-01 23:60", None),
            ("2024-03-01 23:59:60", None),
            ("2024-03-01 09", None),
            ("2024-03-01 9:1", None),
            ("2024-03-01 ", None),
            ("2024-03-01T", None),
            ("2024-03-01  09:01", None),
            ("2024-03-01t09:01", None),
            ("2024-03-01 13:00 PM", None),
            ("2024-03-01 0:00 AM", None),
            ("2024-03-01 01:00 XM", None),
            ("2024-03-01 01:00 ", None),
            ("2024-03-01 01:00Z", None),
            ("2024-02-30 01:00", None),
        ] {
            check(YearFirst, b'-', Timestamp, text, expected);
        }
        check(MonthFirst, b'/', Timestamp, "10/31/2016 11:07:15 PM", Some("2016-10-31 23:07:15"));
        check(DayFirst, b'.', Timestamp, "31.10.2016 23:07", Some("2016-10-31 23:07:00"));
    }

    #[test]
    fn instants_are_read_in_utc() {
        for (text, expected) in [
            ("2024-03-01T10:00:00Z", Some("2024-03-01 10:00:00Z")),
            ("2024-03-01T12:00:00+02:00", Some("2024-03-01 10:00:00Z")),
            ("2024-03-01 12:00+0200", Some("2024-03-01 10:00:00Z")),
            ("2024-03-01 00:30:00.25+05:45", Some("2024-02-29 18:45:00.25Z")),
            ("2024-12-31T20:00:00-08:30", Some("2025-01-01 04:30:00Z")),
            ("0001-01-01T00:00:00+14:00", Some("0000-12-31 10:00:00Z")),
            ("2024-03-01 01:00 PM-05:00", Some("2024-03-01 18:00:00Z")),
            ("2024-03-01T10:00:00z", None),
            ("2024-03-01T10:00:00+02", Some("2024-03-01 08:00:00Z")),
            ("2024-03-01T10:00:00+2", None),
            ("2024-03-01T10:00:00+02:", None),
            ("2024-03-01T10:00:00+2:00", None),
            ("2024-03-01T10:00:00+24:00", None),
            ("2024-03-01T10:00:00+02:60", None),
            ("2024-03-01T10:00:00Z0", None),
            ("2024-03-01T10:00:00+02:00 ", None),
            ("2024-03-01T10:00:00", None),
            ("2024-03-01", None),
            ("2024-03-01Z", None),
        ] {
            check(YearFirst, b'-', Instant, text, expected);
        }
    }

    #[test]
    fn a_day_above_12_proves_the_order() {
        for (order, values, proven) in [
            (DayFirst, &["01/02/2024", "12/12/2024"][..], false),
            (DayFirst, &["01/02/2024", "13/12/2024"][..], true),
            (MonthFirst, &["01/02/2024", "12/13/2024"][..], true),
            (YearFirst, &["2024/01/02"][..], true),
        ] {
            let shape = Shape { order, separator: b'/', kind: Date };
            let mut evidence = OrderEvidence::default();
            for value in values {
                let mut part = OrderEvidence::default();
                assert!(shape.parse_noting(value.as_bytes(), &mut part).is_some());
                evidence.merge(part);
            }
            assert_eq!(evidence.proves(shape), proven, "{values:?}");
        }
    }
}
