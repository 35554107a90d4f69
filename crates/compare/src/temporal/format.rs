//! Reads dates and times by a declared `strftime`-style format.

mod compile;

use super::scan::{self, Scanned};
use super::{DAY_SECONDS, Moment, Order, TemporalKind, calendar};

pub use compile::FormatError;

/// A declared format, ready to read values with.
///
/// It is stricter than `strptime`: text between the parts must be there as written, `%Y` takes four digits, and dates
/// must exist. `%f` takes the digits of a fraction, so `.5` is half a second.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Format {
    steps: Vec<Step>,
    kind: TemporalKind,
}

/// What is expected next in a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Literal(u8),
    /// A blank, if there is one, that pads the number behind it.
    Padding,
    /// One or two digits, or exactly two where another number follows at once or went before.
    Number {
        field: Field,
        padded: bool,
    },
    /// Year, month and day in one go.
    Date {
        order: Order,
        separator: u8,
    },
    /// Hour, minute and second in one go, with colons.
    Clock,
    Year,
    /// Two digits: 69 to 99 are of the 20th century, as POSIX has it.
    YearOfCentury,
    DayOfYear,
    MonthName,
    Weekday,
    Meridiem,
    Fraction,
    /// A point and a fraction, if there is a point.
    PointFraction,
    Offset,
    UnixSeconds,
}

/// The parts that have one or two digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Field {
    Month,
    Day,
    Hour,
    Minute,
    Second,
}

/// The parts of a value as written.
#[derive(Default)]
struct Parts {
    year: u32,
    month: u32,
    day: u32,
    day_of_year: Option<u32>,
    weekday: Option<usize>,
    hour: u32,
    minute: u32,
    second: u32,
    afternoon: Option<bool>,
    nanos: u32,
    offset: i64,
    unix_seconds: Option<i64>,
}

const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];
const WEEKDAYS: [&str; 7] = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];
/// The weekday of 1970-01-01, a Thursday, counted from Monday.
const FIRST_WEEKDAY: i64 = 3;

impl Format {
    /// Compiles a format.
    ///
    /// # Errors
    /// If it has a specifier that is not known, or lacks a part of the date or time.
    pub fn compile(format: &str) -> Result<Self, FormatError> {
        compile::compile(format)
    }

    /// What the format makes of a column.
    #[must_use]
    pub fn kind(&self) -> TemporalKind {
        self.kind
    }

    /// Reads a value; `None` if it does not fit.
    #[must_use]
    pub fn parse(&self, text: &[u8]) -> Option<Moment> {
        let mut parts = Parts::default();
        let mut rest = text;
        for step in &self.steps {
            rest = parts.take(*step, rest)?;
        }
        if !rest.is_empty() {
            return None;
        }
        parts.moment(self.kind)
    }
}

impl Parts {
    #[inline]
    fn take<'a>(&mut self, step: Step, text: &'a [u8]) -> Option<&'a [u8]> {
        match step {
            Step::Literal(byte) => scan::literal(text, byte),
            Step::Padding => Some(scan::literal(text, b' ').unwrap_or(text)),
            Step::Number { field, padded } => {
                let scanned = if padded { scan::two_digits(text) } else { scan::one_or_two_digits(text) };
                set(self.number(field), scanned)
            }
            Step::Date { order, separator } => {
                let (date, rest) = scan::date(text, order, separator)?;
                (self.year, self.month, self.day) = date;
                Some(rest)
            }
            Step::Clock => {
                let (clock, rest) = scan::clock(text).or_else(|| clock_of_single_digits(text))?;
                (self.hour, self.minute, self.second) = clock;
                Some(rest)
            }
            Step::Year => set(&mut self.year, scan::four_digits(text)),
            Step::YearOfCentury => {
                let (year, rest) = scan::two_digits(text)?;
                self.year = if year < 69 { 2000 + year } else { 1900 + year };
                Some(rest)
            }
            Step::MonthName => {
                let (index, rest) = name(text, &MONTHS)?;
                self.month = u32::try_from(index).ok()? + 1;
                Some(rest)
            }
            Step::Fraction => set(&mut self.nanos, scan::fraction(text)),
            Step::PointFraction => match scan::literal(text, b'.') {
                Some(digits) => set(&mut self.nanos, scan::fraction(digits)),
                None => Some(text),
            },
            Step::Meridiem => set_some(&mut self.afternoon, scan::meridiem(text)),
            Step::Weekday => set_some(&mut self.weekday, name(text, &WEEKDAYS)),
            Step::Offset => set(&mut self.offset, scan::offset(text).or_else(|| scan::offset_hours(text))),
            Step::DayOfYear => {
                let (day, rest) = scan::number(text, 3)?;
                self.day_of_year = Some(u32::try_from(day).ok()?);
                Some(rest)
            }
            Step::UnixSeconds => set_some(&mut self.unix_seconds, unix_seconds(text)),
        }
    }

    fn number(&mut self, field: Field) -> &mut u32 {
        match field {
            Field::Month => &mut self.month,
            Field::Day => &mut self.day,
            Field::Hour => &mut self.hour,
            Field::Minute => &mut self.minute,
            Field::Second => &mut self.second,
        }
    }

    fn moment(&self, kind: TemporalKind) -> Option<Moment> {
        if let Some(seconds) = self.unix_seconds {
            return Some(Moment { seconds, nanos: self.nanos });
        }
        let midnight = if kind == TemporalKind::Time { 0 } else { self.days()? * DAY_SECONDS };
        let hour = scan::hour_of_day(self.hour, self.afternoon)?;
        let seconds = scan::second_of_day(hour, self.minute, self.second)?;
        Some(Moment { seconds: midnight + seconds - self.offset, nanos: self.nanos })
    }

    fn days(&self) -> Option<i64> {
        let days = match self.day_of_year {
            Some(day) => calendar::ordinal_days(self.year, day)?,
            None => calendar::days(self.year, self.month, self.day)?,
        };
        let agrees = self.weekday.is_none_or(|weekday| {
            usize::try_from((days + FIRST_WEEKDAY).rem_euclid(7)).is_ok_and(|actual| actual == weekday)
        });
        agrees.then_some(days)
    }
}

#[inline]
fn set<'a, T>(part: &mut T, scanned: Scanned<'a, T>) -> Option<&'a [u8]> {
    let (value, rest) = scanned?;
    *part = value;
    Some(rest)
}

#[inline]
fn set_some<'a, T>(part: &mut Option<T>, scanned: Scanned<'a, T>) -> Option<&'a [u8]> {
    let (value, rest) = scanned?;
    *part = Some(value);
    Some(rest)
}

fn clock_of_single_digits(text: &[u8]) -> Scanned<'_, (u32, u32, u32)> {
    let (hour, rest) = scan::one_or_two_digits(text)?;
    let (minute, rest) = scan::one_or_two_digits(scan::literal(rest, b':')?)?;
    let (second, rest) = scan::one_or_two_digits(scan::literal(rest, b':')?)?;
    Some(((hour, minute, second), rest))
}

/// Reads a name or its first three letters, in any case.
fn name<'a>(text: &'a [u8], names: &[&str]) -> Scanned<'a, usize> {
    let short = text.get(..3)?;
    let index = names.iter().position(|name| name.as_bytes()[..3].eq_ignore_ascii_case(short))?;
    let length = names[index].len();
    let is_full = text.get(..length).is_some_and(|full| full.eq_ignore_ascii_case(names[index].as_bytes()));
    Some((index, &text[if is_full { length } else { 3 }..]))
}

fn unix_seconds(text: &[u8]) -> Scanned<'_, i64> {
    // Twelve digits reach past the year 9999.
    const MOST_DIGITS: usize = 12;
    let unsigned = scan::literal(text, b'-');
    let (seconds, rest) = scan::number(unsigned.unwrap_or(text), MOST_DIGITS)?;
    let seconds = i64::try_from(seconds).ok()?;
    Some((if unsigned.is_some() { -seconds } else { seconds }, rest))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::temporal::display;

    #[test]
    fn values_are_read_by_their_format() {
        for (format, text, expected) in [
            ("%d/%m/%Y", "03/04/2024", Some("2024-04-03")),
            ("%m/%d/%Y", "03/04/2024", Some("2024-03-04")),
            ("%d/%m/%Y", "3/4/2024", Some("2024-04-03")),
            ("%-d/%-m/%Y", "3/4/2024", Some("2024-04-03")),
            ("%d/%m/%Y", "31/02/2024", None),
            ("%d/%m/%Y", "3/4/24", None),
            ("%d/%m/%Y", "03/04/2024 ", None),
            ("%d/%m/%Y", "03-04-2024", None),
            ("%d/%m/%Y", "", None),
            ("%Y%m%d", "20240301", Some("2024-03-01")),
            ("%Y%m%d", "2024031", None),
            ("%F", "2024-03-01", Some("2024-03-01")),
            ("%D", "03/01/24", Some("2024-03-01")),
            ("%d.%m.%y", "01.03.69", Some("1969-03-01")),
            ("%d.%m.%y", "01.03.68", Some("2068-03-01")),
            ("%d %b %Y", "01 Mar 2024", Some("2024-03-01")),
            ("%d-%b-%Y", "1-MAR-0001", Some("0001-03-01")),
            ("%B %e, %Y", "March  1, 2024", Some("2024-03-01")),
            ("%B %e, %Y", "may 12, 2024", Some("2024-05-12")),
            ("%a %d %b %Y", "Fri 01 Mar 2024", Some("2024-03-01")),
            ("%a %d %b %Y", "Mon 01 Mar 2024", None),
            ("%A, %d %B %Y", "Friday, 01 March 2024", Some("2024-03-01")),
            ("%Y/%j", "2024/061", Some("2024-03-01")),
            ("%Y/%j", "2023/366", None),
            ("%d. %m. %Y год", "1. 3. 2024 год", Some("2024-03-01")),
            ("100%% %F", "100% 2024-03-01", Some("2024-03-01")),
            ("%d/%m/%Y %H:%M:%S", "01/03/2024 09:01:02", Some("2024-03-01 09:01:02")),
            ("%d/%m/%Y %H:%M:%S", "01/03/2024 24:00:00", None),
            ("%d/%m/%Y %H:%M:%S", "01/03/2024 23:59:60", None),
            ("%d/%m/%Y %H:%M:%S", "01/03/2024  09:01:02", None),
            ("%F %T.%f", "2024-03-01 09:01:02.5", Some("2024-03-01 09:01:02.5")),
            ("%F %T%.f", "2024-03-01 09:01:02.000001", Some("2024-03-01 09:01:02.000001")),
            ("%F %T%.f", "2024-03-01 09:01:02", Some("2024-03-01 09:01:02")),
            ("%F %T%.3f", "2024-03-01 09:01:02.123", Some("2024-03-01 09:01:02.123")),
            ("%Y%m%d%H%M%S%3f", "20240301090102123", Some("2024-03-01 09:01:02.123")),
            ("%F %R", "2024-03-01 09:01", Some("2024-03-01 09:01:00")),
            ("%F %I:%M %p", "2024-03-01 12:30 AM", Some("2024-03-01 00:30:00")),
            ("%F %I:%M %p", "2024-03-01 12:30 pm", Some("2024-03-01 12:30:00")),
            ("%F %I:%M %p", "2024-03-01 13:30 PM", None),
            ("%F %r", "2024-03-01 01:02:03 PM", Some("2024-03-01 13:02:03")),
            ("%FT%T%z", "2024-03-01T12:00:00+0200", Some("2024-03-01 10:00:00Z")),
            ("%F %T%z", "2024-03-01 12:00:00+02", Some("2024-03-01 10:00:00Z")),
            ("%FT%T%:z", "2024-03-01T12:00:00Z", Some("2024-03-01 12:00:00Z")),
            ("%FT%TZ", "2024-03-01T12:00:00Z", Some("2024-03-01 12:00:00")),
            ("%s", "1709283660", Some("2024-03-01 09:01:00Z")),
            ("%s", "-1", Some("1969-12-31 23:59:59Z")),
            ("%H:%M", "9:05", Some("09:05:00")),
            ("%T", "23:59:59", Some("23:59:59")),
        ] {
            let compiled = Format::compile(format).expect(format);
            let read = compiled.parse(text.as_bytes()).map(|moment| display(moment, compiled.kind()));
            assert_eq!(read.as_deref(), expected, "{text:?} as {format:?}");
        }
    }
}
