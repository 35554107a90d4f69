//! What stands between `{{` and `}}`: a parameter or a time, moved by a period, perhaps written in a format.
//!
//! The language is our own because `today - 1d` is none of any template engine's, because a query needs typed values
//! rather than text, and because without loops, calls or other values there is nothing to bound or to escape from.

use std::fmt::{self, Write};

use chrono::{DateTime, Days, Months, NaiveDate, NaiveDateTime, TimeDelta, Utc};

use crate::arguments::Arguments;
use crate::param::Params;
use crate::spelling;
use crate::template_error::TemplateError;
use crate::value::{Type, Value, is_held};

/// More than anybody needs, and little enough for a message.
const BYTES_MAX: usize = 200;

/// An expression, well formed; whether its parameters exist is checked against those of a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Expression {
    subject: Subject,
    moves: Vec<Period>,
    format: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Subject {
    Today,
    Now,
    Param(String),
}

/// A length of time by calendar or clock, forward or back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Period {
    back: bool,
    count: u32,
    unit: Unit,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Unit {
    Year,
    Month,
    Week,
    Day,
    Hour,
    Minute,
    Second,
}

const UNITS: [(&str, Unit); 7] = [
    ("y", Unit::Year),
    ("mo", Unit::Month),
    ("w", Unit::Week),
    ("d", Unit::Day),
    ("h", Unit::Hour),
    ("m", Unit::Minute),
    ("s", Unit::Second),
];

impl Expression {
    pub(crate) fn parse(text: &str) -> Result<Self, TemplateError> {
        let refused = |reason: String| {
            let expression = text.trim().chars().take(BYTES_MAX).collect();
            TemplateError::NotExpression { expression, reason }
        };
        if text.len() > BYTES_MAX {
            return Err(refused(format!("it has more than {BYTES_MAX} bytes")));
        }
        let rest = text.trim();
        let (name, mut rest) = take_name(rest);
        let subject = match name {
            "today" => Subject::Today,
            "now" => Subject::Now,
            "params" => {
                let dotted = rest.strip_prefix('.').map(take_name).filter(|(param, _)| !param.is_empty());
                let (param, behind) =
                    dotted.ok_or_else(|| refused("write `params.` and a name".to_owned()))?;
                rest = behind;
                Subject::Param(param.to_owned())
            }
            "" => return Err(refused("expected `params.NAME`, `today` or `now`".to_owned())),
            other => {
                let near = spelling::near_miss(other, ["params", "today", "now"]).map(str::to_owned);
                let hint = near.unwrap_or_else(|| format!("params.{other}"));
                return Err(refused(format!("there is no `{other}`, did you mean `{hint}`?")));
            }
        };
        let mut moves = Vec::new();
        loop {
            rest = rest.trim_start();
            let Some(behind) = rest.strip_prefix(['+', '-']) else { break };
            let (period, behind) = take_period(behind.trim_start(), rest.starts_with('-'))
                .ok_or_else(|| refused("expected a period such as 1d, 2w, 3mo, 1y or 6h".to_owned()))?;
            moves.push(period);
            rest = behind;
        }
        let format = match rest.strip_prefix('|') {
            Some(filter) => Some(take_format(filter).map_err(|reason| refused(reason.to_owned()))?),
            None if rest.is_empty() => None,
            None => return Err(refused("expected +, - or | here".to_owned())),
        };
        Ok(Self { subject, moves, format })
    }

    /// What it will be, given the parameters of a job.
    pub(crate) fn check(&self, params: &Params) -> Result<Type, TemplateError> {
        let kind = match &self.subject {
            Subject::Today => Type::Date,
            Subject::Now => Type::Instant,
            Subject::Param(name) => match params.kind_of(name) {
                Some(kind) => kind,
                // What is wrong with the parameter is noted where it is declared.
                None if params.has(name) => return Ok(Type::String),
                None => return Err(self.unknown(name, params.names())),
            },
        };
        let wrong = |reason: String| TemplateError::WrongType { expression: self.to_string(), reason };
        for period in &self.moves {
            let by_clock = matches!(period.unit, Unit::Hour | Unit::Minute | Unit::Second);
            match kind {
                Type::Date if by_clock => {
                    return Err(wrong("a date moves by days, weeks, months or years".to_owned()));
                }
                Type::Date | Type::Timestamp | Type::Instant => {}
                other => return Err(wrong(format!("only dates and timestamps can be moved, not a {other}"))),
            }
        }
        let Some(format) = &self.format else { return Ok(kind) };
        let sample = match kind {
            Type::Date => Value::Date(NaiveDate::default()),
            Type::Timestamp => Value::Timestamp(NaiveDateTime::default()),
            Type::Instant => Value::Instant(DateTime::default()),
            other => return Err(wrong(format!("only dates and timestamps have a format, not a {other}"))),
        };
        let written = write_formatted(&sample, format);
        written.map(|_| Type::String).ok_or_else(|| wrong(format!("{format:?} is no format of a {kind}")))
    }

    pub(crate) fn evaluate(&self, arguments: &Arguments) -> Result<Value, TemplateError> {
        let mut value = match &self.subject {
            Subject::Today => Value::Date(arguments.moment().today()),
            Subject::Now => Value::Instant(arguments.moment().now()),
            Subject::Param(name) => {
                arguments.get(name).cloned().ok_or_else(|| self.unknown(name, arguments.names()))?
            }
        };
        let out_of_range = || TemplateError::OutOfRange { expression: self.to_string() };
        for period in &self.moves {
            value = period.moved(&value).ok_or_else(out_of_range)?;
        }
        match &self.format {
            None => Ok(value),
            Some(format) => write_formatted(&value, format).map(Value::String).ok_or_else(out_of_range),
        }
    }

    pub(crate) fn uses_params(&self) -> bool {
        matches!(self.subject, Subject::Param(_))
    }

    fn unknown<'n>(&self, name: &str, known: impl Iterator<Item = &'n str> + Clone) -> TemplateError {
        let hint = spelling::hint(name, known).unwrap_or_else(|| "the job has none".to_owned());
        TemplateError::UnknownParam { expression: self.to_string(), name: name.to_owned(), hint }
    }
}

fn take_name(text: &str) -> (&str, &str) {
    text.split_at(text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(text.len()))
}

fn take_period(text: &str, back: bool) -> Option<(Period, &str)> {
    let (digits, rest) = text.split_at(text.find(|c: char| !c.is_ascii_digit())?);
    let (unit, rest) = take_name(rest);
    let (_, unit) = UNITS.iter().find(|(name, _)| *name == unit)?;
    // Six digits of any unit stay far from overflow.
    let count = digits.parse().ok().filter(|_| digits.len() <= 6)?;
    Some((Period { back, count, unit: *unit }, rest))
}

/// Reads `format("%Y%m%d")`.
fn take_format(text: &str) -> Result<String, &'static str> {
    const EXPECTED: &str = "expected format(\"%Y%m%d\") behind |";
    let inside = text.trim().strip_prefix("format").map(str::trim_start);
    let inside = inside.and_then(|it| it.strip_prefix('(')).and_then(|it| it.strip_suffix(')'));
    let inside = inside.ok_or(EXPECTED)?.trim();
    let quoted = |quote: char| inside.strip_prefix(quote).and_then(|it| it.strip_suffix(quote));
    let format = quoted('"').or_else(|| quoted('\'')).ok_or(EXPECTED)?;
    // The canonical text is written in double quotes.
    if format.is_empty() || format.contains(['"', '\'', '{', '}']) {
        Err(EXPECTED)
    } else {
        Ok(format.to_owned())
    }
}

/// `None` if the format asks for what the value does not have.
fn write_formatted(value: &Value, format: &str) -> Option<String> {
    let mut text = String::new();
    let written = match value {
        Value::Date(date) => write!(text, "{}", date.format(format)),
        Value::Timestamp(timestamp) => write!(text, "{}", timestamp.format(format)),
        Value::Instant(instant) => write!(text, "{}", instant.format(format)),
        _ => Err(fmt::Error),
    };
    written.ok().map(|()| text)
}

impl Period {
    /// `None` if that is no time that can be written in four digits of a year, or no time at all.
    fn moved(self, value: &Value) -> Option<Value> {
        match value {
            Value::Date(date) => self.date(*date).filter(|date| is_held(*date)).map(Value::Date),
            Value::Timestamp(timestamp) => {
                self.timestamp(*timestamp).filter(|it| is_held(it.date())).map(Value::Timestamp)
            }
            Value::Instant(instant) => {
                let moved = self.timestamp(instant.naive_utc()).filter(|it| is_held(it.date()))?;
                Some(Value::Instant(DateTime::<Utc>::from_naive_utc_and_offset(moved, Utc)))
            }
            _ => None,
        }
    }

    fn date(self, date: NaiveDate) -> Option<NaiveDate> {
        let by_months = |months| {
            if self.back { date.checked_sub_months(months) } else { date.checked_add_months(months) }
        };
        let by_days =
            |days| if self.back { date.checked_sub_days(days) } else { date.checked_add_days(days) };
        match self.unit {
            Unit::Year => by_months(Months::new(self.count * 12)),
            Unit::Month => by_months(Months::new(self.count)),
            Unit::Week => by_days(Days::new(u64::from(self.count) * 7)),
            Unit::Day => by_days(Days::new(u64::from(self.count))),
            Unit::Hour | Unit::Minute | Unit::Second => None,
        }
    }

    fn timestamp(self, timestamp: NaiveDateTime) -> Option<NaiveDateTime> {
        let count = i64::from(self.count);
        let delta = match self.unit {
            Unit::Hour => TimeDelta::try_hours(count),
            Unit::Minute => TimeDelta::try_minutes(count),
            Unit::Second => TimeDelta::try_seconds(count),
            _ => return Some(self.date(timestamp.date())?.and_time(timestamp.time())),
        }?;
        if self.back { timestamp.checked_sub_signed(delta) } else { timestamp.checked_add_signed(delta) }
    }
}

/// The one way to write it.
impl fmt::Display for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.subject {
            Subject::Today => f.write_str("today")?,
            Subject::Now => f.write_str("now")?,
            Subject::Param(name) => write!(f, "params.{name}")?,
        }
        for Period { back, count, unit } in &self.moves {
            let sign = if *back { '-' } else { '+' };
            let unit = UNITS.iter().find(|(_, known)| known == unit).map_or("", |(name, _)| name);
            write!(f, " {sign} {count}{unit}")?;
        }
        self.format.as_ref().map_or(Ok(()), |format| write!(f, " | format(\"{format}\")"))
    }
}
