//! Turns a `strftime`-style format into steps.

use thiserror::Error;

use super::{Field, Format, Step};
use crate::temporal::{Order, TemporalKind};

/// What is wrong with a declared format.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum FormatError {
    /// A specifier that cannot be read.
    #[error("`{specifier}` in the date format `{format}` is not known; {hint}")]
    Specifier {
        /// The format as given.
        format: String,
        /// The specifier, from its `%` on.
        specifier: String,
        /// What to write instead.
        hint: &'static str,
    },
    /// A part that is needed to tell the day or time.
    #[error("the date format `{format}` has no {part}; {hint}")]
    Missing {
        /// The format as given.
        format: String,
        /// The part.
        part: &'static str,
        /// What to add.
        hint: &'static str,
    },
    /// Two specifiers for the same part.
    #[error("the date format `{format}` has more than one {part}; leave one of them out")]
    Repeated {
        /// The format as given.
        format: String,
        /// The part.
        part: &'static str,
    },
}

const KNOWN: &str =
    "use %Y %y %m %b %B %d %e %j %H %I %M %S %f %p %z %s %a %A %F %T %R %D, and %% for a percent sign";

pub(super) fn compile(format: &str) -> Result<Format, FormatError> {
    let mut compiler = Compiler { format, steps: Vec::new(), seen: Vec::new() };
    let mut rest = format.as_bytes();
    while let [first, behind @ ..] = rest {
        rest = if *first == b'%' {
            compiler.specifier(behind)?
        } else {
            compiler.steps.push(Step::Literal(*first));
            behind
        };
    }
    let kind = compiler.kind()?;
    let mut steps = compiler.steps;
    pad_adjacent_numbers(&mut steps);
    Ok(Format { steps: joined(&steps), kind })
}

/// A part of a date or time that a format may have once.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Year,
    Month,
    Day,
    DayOfYear,
    Weekday,
    Hour,
    HalfDayHour,
    Meridiem,
    Minute,
    Second,
    Fraction,
    Offset,
    UnixSeconds,
}

impl Part {
    fn name(self) -> &'static str {
        match self {
            Self::Year => "year",
            Self::Month => "month",
            Self::Day => "day",
            Self::DayOfYear => "day of the year",
            Self::Weekday => "weekday",
            Self::Hour | Self::HalfDayHour => "hour",
            Self::Meridiem => "AM or PM",
            Self::Minute => "minute",
            Self::Second => "second",
            Self::Fraction => "fraction of a second",
            Self::Offset => "offset from UTC",
            Self::UnixSeconds => "count of seconds since 1970",
        }
    }
}

struct Compiler<'a> {
    format: &'a str,
    steps: Vec<Step>,
    seen: Vec<Part>,
}

impl Compiler<'_> {
    /// Compiles the specifier behind a `%` and returns what follows it.
    fn specifier<'t>(&mut self, text: &'t [u8]) -> Result<&'t [u8], FormatError> {
        // `%-d` and `%0d` say how numbers are padded when written; one and two digits are read anyway.
        let unpadded = match text {
            [b'-' | b'0', rest @ ..] => rest,
            [b'_', rest @ ..] => {
                self.steps.push(Step::Padding);
                rest
            }
            _ => text,
        };
        let (letter, rest) = match unpadded {
            [b'.', b'3' | b'6' | b'9', b'f', rest @ ..] | [b'.', b'f', rest @ ..] => {
                self.part(Part::Fraction, Step::PointFraction)?;
                return Ok(rest);
            }
            [b'3' | b'6' | b'9', rest @ ..] if rest.first() == Some(&b'f') => (b'f', &rest[1..]),
            [b':', b'z', rest @ ..] => (b'z', rest),
            [letter, rest @ ..] => (*letter, rest),
            [] => return Err(self.unknown(text)),
        };
        if let Some(composite) = composite(letter) {
            for byte in composite.bytes() {
                if byte.is_ascii_alphabetic() {
                    self.single(byte, text)?;
                } else {
                    self.steps.push(Step::Literal(byte));
                }
            }
        } else {
            self.single(letter, text)?;
        }
        Ok(rest)
    }

    fn single(&mut self, letter: u8, text: &[u8]) -> Result<(), FormatError> {
        let number = |field| Step::Number { field, padded: false };
        if matches!(letter, b'e' | b'k' | b'l') {
            self.steps.push(Step::Padding);
        }
        match letter {
            b'%' => self.steps.push(Step::Literal(b'%')),
            b'n' => self.steps.push(Step::Literal(b'\n')),
            b't' => self.steps.push(Step::Literal(b'\t')),
            b'Y' => self.part(Part::Year, Step::Year)?,
            b'y' => self.part(Part::Year, Step::YearOfCentury)?,
            b'm' => self.part(Part::Month, number(Field::Month))?,
            b'b' | b'B' | b'h' => self.part(Part::Month, Step::MonthName)?,
            b'd' | b'e' => self.part(Part::Day, number(Field::Day))?,
            b'j' => self.part(Part::DayOfYear, Step::DayOfYear)?,
            b'a' | b'A' => self.part(Part::Weekday, Step::Weekday)?,
            b'H' | b'k' => self.part(Part::Hour, number(Field::Hour))?,
            b'I' | b'l' => self.part(Part::HalfDayHour, number(Field::Hour))?,
            b'p' | b'P' => self.part(Part::Meridiem, Step::Meridiem)?,
            b'M' => self.part(Part::Minute, number(Field::Minute))?,
            b'S' => self.part(Part::Second, number(Field::Second))?,
            b'f' => self.part(Part::Fraction, Step::Fraction)?,
            b'z' => self.part(Part::Offset, Step::Offset)?,
            b's' => self.part(Part::UnixSeconds, Step::UnixSeconds)?,
            _ => return Err(self.unknown(text)),
        }
        Ok(())
    }

    fn part(&mut self, part: Part, step: Step) -> Result<(), FormatError> {
        if self.seen.iter().any(|seen| seen.name() == part.name()) {
            return Err(FormatError::Repeated { format: self.format.to_owned(), part: part.name() });
        }
        self.seen.push(part);
        self.steps.push(step);
        Ok(())
    }

    fn unknown(&self, text: &[u8]) -> FormatError {
        // Flags and a width may stand before the letter that ends a specifier.
        let specifier: String = String::from_utf8_lossy(text)
            .chars()
            .scan(false, |ended, letter| {
                let next = (!*ended).then_some(letter);
                *ended |= !(matches!(letter, '-' | '_' | '.' | ':' | '#') || letter.is_ascii_digit());
                next
            })
            .collect();
        let hint = if specifier.ends_with('Z') {
            "names of zones are not unique: leave them out of the column and declare the zone, or use %z for offsets"
        } else {
            KNOWN
        };
        FormatError::Specifier { format: self.format.to_owned(), specifier: format!("%{specifier}"), hint }
    }

    fn has(&self, part: Part) -> bool {
        self.seen.contains(&part)
    }

    /// Decides what the format makes of a column, and that nothing is missing for it.
    fn kind(&self) -> Result<TemporalKind, FormatError> {
        let has_any = |parts: &[Part]| parts.iter().any(|part| self.has(*part));
        let has_date = has_any(&[Part::Year, Part::Month, Part::Day, Part::DayOfYear, Part::Weekday]);
        let has_time = has_any(&[
            Part::Hour,
            Part::HalfDayHour,
            Part::Meridiem,
            Part::Minute,
            Part::Second,
            Part::Offset,
        ]);
        if self.has(Part::UnixSeconds) {
            // Whatever else the format says would contradict the count or repeat it.
            return if has_date || has_time {
                Err(FormatError::Repeated { format: self.format.to_owned(), part: "date or time" })
            } else {
                Ok(TemporalKind::Instant)
            };
        }
        if has_date || !has_time {
            self.require_date()?;
        }
        if has_time || self.has(Part::Fraction) {
            self.require_time()?;
        }
        match (has_date, has_time) {
            (true, true) if self.has(Part::Offset) => Ok(TemporalKind::Instant),
            (true, true) => Ok(TemporalKind::Timestamp),
            (true, false) => Ok(TemporalKind::Date),
            _ if self.has(Part::Offset) => {
                Err(self.missing("date", "an offset from UTC needs one, such as %Y-%m-%d"))
            }
            _ => Ok(TemporalKind::Time),
        }
    }

    fn require_date(&self) -> Result<(), FormatError> {
        if !self.has(Part::Year) {
            return Err(self.missing("year", "specifiers begin with a percent sign, as in %Y-%m-%d"));
        }
        if self.has(Part::DayOfYear) {
            if self.has(Part::Month) || self.has(Part::Day) {
                return Err(FormatError::Repeated { format: self.format.to_owned(), part: Part::Day.name() });
            }
            return Ok(());
        }
        if !self.has(Part::Month) {
            return Err(self.missing("month", "add %m (%M is the minute)"));
        }
        if !self.has(Part::Day) {
            return Err(self.missing("day", "add %d"));
        }
        Ok(())
    }

    fn require_time(&self) -> Result<(), FormatError> {
        let (hour, half_day_hour) = (self.has(Part::Hour), self.has(Part::HalfDayHour));
        if half_day_hour != self.has(Part::Meridiem) {
            return Err(if half_day_hour {
                self.missing("AM or PM", "add %p, or use %H for hours of the whole day")
            } else {
                self.missing("hour from 1 to 12", "use %I with %p")
            });
        }
        if !hour && !half_day_hour {
            return Err(self.missing("hour", "add %H, or %I with %p"));
        }
        if !self.has(Part::Minute) {
            return Err(self.missing("minute", "add %M (%m is the month)"));
        }
        if self.has(Part::Fraction) && !self.has(Part::Second) {
            return Err(self.missing("second", "add %S before the fraction"));
        }
        Ok(())
    }

    fn missing(&self, part: &'static str, hint: &'static str) -> FormatError {
        FormatError::Missing { format: self.format.to_owned(), part, hint }
    }
}

fn composite(letter: u8) -> Option<&'static str> {
    match letter {
        b'F' => Some("Y-m-d"),
        b'D' => Some("m/d/y"),
        b'T' => Some("H:M:S"),
        b'R' => Some("H:M"),
        b'r' => Some("I:M:S p"),
        _ => None,
    }
}

/// Makes numbers with nothing between them take exactly two digits each, since nothing else tells them apart.
fn pad_adjacent_numbers(steps: &mut [Step]) {
    let is_numeric = |step: &Step| {
        !matches!(step, Step::Literal(_) | Step::Padding | Step::MonthName | Step::Weekday | Step::Meridiem)
            && !matches!(step, Step::PointFraction | Step::Offset)
    };
    for index in 0..steps.len() {
        let follows = index > 0 && is_numeric(&steps[index - 1]);
        let precedes = steps.get(index + 1).is_some_and(is_numeric);
        if let Step::Number { padded, .. } = &mut steps[index] {
            *padded = follows || precedes;
        }
    }
}

/// Joins the steps of common dates and times, which are read faster in one go.
fn joined(steps: &[Step]) -> Vec<Step> {
    let mut joined = Vec::with_capacity(steps.len());
    let mut rest = steps;
    while let [first, behind @ ..] = rest {
        let whole = rest.first_chunk().and_then(joint);
        joined.push(whole.unwrap_or(*first));
        rest = if whole.is_some() { &rest[5..] } else { behind };
    }
    joined
}

fn joint(steps: &[Step; 5]) -> Option<Step> {
    const fn number(field: Field) -> Step {
        Step::Number { field, padded: false }
    }
    let [first, Step::Literal(separator), second, Step::Literal(other), third] = *steps else {
        return None;
    };
    if separator != other || separator.is_ascii_digit() {
        return None;
    }
    let parts = [first, second, third];
    let order = if parts == [Step::Year, number(Field::Month), number(Field::Day)] {
        Order::YearFirst
    } else if parts == [number(Field::Day), number(Field::Month), Step::Year] {
        Order::DayFirst
    } else if parts == [number(Field::Month), number(Field::Day), Step::Year] {
        Order::MonthFirst
    } else {
        let is_clock = parts == [number(Field::Hour), number(Field::Minute), number(Field::Second)];
        return (is_clock && separator == b':').then_some(Step::Clock);
    };
    Some(Step::Date { order, separator })
}

#[cfg(test)]
mod tests {
    use super::*;
    use TemporalKind::{Date, Instant, Time, Timestamp};

    #[test]
    fn the_kind_follows_from_the_parts() {
        for (format, kind) in [
            ("%Y-%m-%d", Date),
            ("%j %Y", Date),
            ("%d %b %y", Date),
            ("%F %H:%M", Timestamp),
            ("%I:%M:%S %p on %D", Timestamp),
            ("%F %T%.f%z", Instant),
            ("%s", Instant),
            ("%s.%f", Instant),
            ("%H:%M", Time),
            ("%r", Time),
        ] {
            assert_eq!(Format::compile(format).map(|format| format.kind()), Ok(kind), "{format}");
        }
    }

    #[test]
    fn faulty_formats_come_with_a_hint() {
        for (format, expected) in [
            ("%Y-%m-%Q", "`%Q` in the date format `%Y-%m-%Q` is not known; use %Y %y"),
            ("%Y-%m-%d %4q", "`%4q` in the date format"),
            ("%Y-%m-%", "`%` in the date format"),
            ("%Y-%m-%é", "`%é` in the date format"),
            ("%F %T %Z", "`%Z` in the date format `%F %T %Z` is not known; names of zones are not unique"),
            ("%G-W%V-%u", "`%G` in the date format"),
            ("", "the date format `` has no year; specifiers begin with a percent sign"),
            ("YYYY-MM-DD", "the date format `YYYY-MM-DD` has no year; specifiers begin with a percent sign"),
            ("%m/%Y", "the date format `%m/%Y` has no day; add %d"),
            ("%Y-%M-%d", "the date format `%Y-%M-%d` has no month; add %m (%M is the minute)"),
            ("%d/%m", "the date format `%d/%m` has no year"),
            ("%F %I:%M", "the date format `%F %I:%M` has no AM or PM; add %p"),
            ("%F %H:%M %p", "the date format `%F %H:%M %p` has no hour from 1 to 12"),
            ("%F %H", "the date format `%F %H` has no minute"),
            ("%F %M:%S", "the date format `%F %M:%S` has no hour"),
            ("%F %R%.f", "the date format `%F %R%.f` has no second"),
            ("%F%z", "the date format `%F%z` has no hour"),
            ("%T%z", "the date format `%T%z` has no date"),
            ("%d/%d/%Y", "the date format `%d/%d/%Y` has more than one day"),
            ("%F %y", "the date format `%F %y` has more than one year"),
            ("%F %H:%M:%I %p", "the date format `%F %H:%M:%I %p` has more than one hour"),
            ("%Y-%m %j", "the date format `%Y-%m %j` has more than one day"),
            ("%s %F", "the date format `%s %F` has more than one date or time"),
        ] {
            let error = Format::compile(format).expect_err(format).to_string();
            assert!(error.starts_with(expected), "{error}");
        }
    }
}
