//! Reads a column as the type that a job gives it.
//!
//! Text stays text, written in the one way that a comparison surely reads as that type: its whole column is read before
//! the number of its decimals is known, and a timestamp of nanoseconds does not reach the year 9999.

use std::borrow::Cow;
use std::sync::Arc;

use arrow_array::builder::StringViewBuilder;
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, BooleanArray, StringViewArray, Time64NanosecondArray};
use arrow_schema::{DataType, TimeUnit};
use trueup_compare::single::{self, Format, Moment, TemporalKind, Zone};
use trueup_compare::{Number, NumeralError};
use trueup_job::Type;

use super::numerals::Numerals;
use super::text_reader::{self, MomentReader, NotRead};

/// The first and the last second of the years 1 to 9999.
const YEARS: std::ops::RangeInclusive<i64> = -62_135_596_800..=253_402_300_799;

/// How a column is read.
#[derive(Debug)]
pub(crate) struct Cast {
    pub(super) to: Type,
    pub(super) numerals: Numerals,
    pub(super) format: Option<Format>,
    pub(super) zone: Option<Arc<Zone>>,
}

/// A value that is not of the type.
#[derive(Debug)]
pub(super) struct Uncast {
    pub(super) row: usize,
    pub(super) value: String,
    pub(super) problem: String,
}

impl Cast {
    /// The type that a column gets.
    pub(super) fn data_type(&self, from: &DataType) -> DataType {
        match self.to {
            _ if self.is_kept(from) => from.clone(),
            Type::Boolean => DataType::Boolean,
            Type::Time => DataType::Time64(TimeUnit::Nanosecond),
            _ => DataType::Utf8View,
        }
    }

    /// Whether a column has a type already that is compared as the one given.
    fn is_kept(&self, from: &DataType) -> bool {
        let is_number = from.is_integer() || from.is_floating() || from.is_decimal();
        match self.to {
            Type::String => from == &DataType::Utf8View,
            Type::Integer | Type::Decimal => is_number,
            Type::Boolean => from == &DataType::Boolean,
            Type::Date => matches!(from, DataType::Date32 | DataType::Date64),
            Type::Time => matches!(from, DataType::Time32(_) | DataType::Time64(_)),
            Type::Timestamp => matches!(from, DataType::Date32 | DataType::Timestamp(_, None)),
            Type::Instant => {
                matches!(from, DataType::Timestamp(_, Some(_)))
                    || (self.zone.is_some()
                        && matches!(from, DataType::Date32 | DataType::Timestamp(_, None)))
            }
        }
    }

    /// Reads the values of a column.
    pub(super) fn read(&self, array: &ArrayRef) -> Result<ArrayRef, Uncast> {
        if self.is_kept(array.data_type()) {
            self.check_numbers(array)?;
            return Ok(Arc::clone(array));
        }
        let texts = texts(array)?;
        Ok(match self.to {
            Type::String => Arc::new(texts),
            Type::Integer | Type::Decimal => Arc::new(rewritten(&texts, |text| self.numeral(text))?),
            Type::Boolean => {
                let read = |text: &str| single::declared_boolean(text.trim_ascii());
                let wrong = || NotRead("is no truth value such as true, false, yes, no, 1 and 0".into());
                let truths = each(&texts, |text| read(text).ok_or_else(wrong))?;
                Arc::new(BooleanArray::from(truths))
            }
            Type::Time => {
                let reader = self.moments(TemporalKind::Time);
                let nanos = |moment: Moment| moment.seconds * 1_000_000_000 + i64::from(moment.nanos);
                let times = each(&texts, |text| reader.read(text.trim_ascii()).map(nanos))?;
                Arc::new(Time64NanosecondArray::from(times))
            }
            Type::Date => self.written(&texts, TemporalKind::Date)?,
            Type::Timestamp => self.written(&texts, TemporalKind::Timestamp)?,
            Type::Instant => self.written(&texts, TemporalKind::Instant)?,
        })
    }

    fn moments(&self, kind: TemporalKind) -> MomentReader {
        MomentReader { kind, format: self.format.clone(), zone: self.zone.clone() }
    }

    /// Dates and times in the one way.
    fn written(&self, texts: &StringViewArray, kind: TemporalKind) -> Result<ArrayRef, Uncast> {
        let reader = self.moments(kind);
        let written = rewritten(texts, |text| {
            let moment = reader.read(text.trim_ascii())?;
            if !YEARS.contains(&moment.seconds) {
                return Err(NotRead("is outside the years 1 to 9999".into()));
            }
            Ok(Cow::Owned(single::display(moment, kind)))
        })?;
        Ok(Arc::new(written))
    }

    /// A numeral in the one way: a declared number may have a plus, zeros in front and blanks around it.
    fn numeral<'t>(&self, text: &'t str) -> Result<Cow<'t, str>, NotRead> {
        let trimmed = text.trim_ascii();
        let (sign, digits) = match trimmed.strip_prefix('-') {
            Some(digits) => ("-", digits),
            None => ("", trimmed.strip_prefix('+').unwrap_or(trimmed)),
        };
        let without_zeros = digits.trim_start_matches('0');
        let is_number = without_zeros.starts_with(|c: char| c.is_ascii_digit());
        let zeros = digits.len() - without_zeros.len();
        let digits = if is_number { without_zeros } else { &digits[zeros.saturating_sub(1)..] };
        let numeral = if sign.len() + digits.len() == text.len() {
            Cow::Borrowed(text)
        } else {
            Cow::Owned(format!("{sign}{digits}"))
        };
        let plain = match &numeral {
            Cow::Borrowed(text) => self.numerals.plain(text),
            Cow::Owned(numeral) => self.numerals.plain(numeral).map(|plain| Cow::Owned(plain.into_owned())),
        };
        let plain = plain.ok_or_else(|| self.no_number())?;
        match Number::parse(plain.as_bytes()) {
            Ok(Number::Finite(decimal)) if self.to == Type::Decimal || decimal.exponent() >= 0 => Ok(plain),
            Ok(Number::Finite(_)) => Err(NotRead("is no whole number".into())),
            Err(NumeralError::TooManyDigits) => Err(NotRead("has more than 38 digits".into())),
            _ => Err(self.no_number()),
        }
    }

    fn no_number(&self) -> NotRead {
        let groups = match self.numerals.thousands {
            Some(_) => ", with thousands in groups of three",
            None => "",
        };
        NotRead(format!("is no {} such as {}{groups}", self.to, self.numerals.example()))
    }

    /// Of typed numbers, some are not whole and some are not finite.
    fn check_numbers(&self, array: &ArrayRef) -> Result<(), Uncast> {
        let is_exact = array.data_type().is_integer() || array.data_type().is_decimal();
        let is_fine = match self.to {
            Type::Integer => array.data_type().is_integer(),
            Type::Decimal => is_exact,
            _ => true,
        };
        if is_fine {
            return Ok(());
        }
        let plain = single::plain(array).map_err(|problem| unreadable(array, &problem))?;
        for row in (0..plain.len()).filter(|row| plain.is_valid(*row)) {
            let number = single::number(&plain, row);
            let problem = match number.and_then(Number::finite) {
                Some(decimal) if self.to == Type::Decimal || decimal.exponent() >= 0 => continue,
                Some(_) => "is no whole number".to_owned(),
                None => format!("is no {}", self.to),
            };
            let value = number.map_or_else(|| "it".to_owned(), |number| number.to_string());
            return Err(Uncast { row, value, problem });
        }
        Ok(())
    }
}

/// The values as text, in their canonical form if they are something else.
fn texts(array: &ArrayRef) -> Result<StringViewArray, Uncast> {
    if super::is_text(array.data_type()) {
        let plain = single::plain(array).map_err(|problem| unreadable(array, &problem))?;
        return Ok(plain.as_string_view().clone());
    }
    single::displayed(array).map_err(|problem| unreadable(array, &problem))
}

fn unreadable(array: &ArrayRef, problem: &trueup_compare::ValueProblem) -> Uncast {
    let is_wrong = |row: &usize| single::displayed(&array.slice(*row, 1)).is_err();
    let row = (0..array.len()).find(is_wrong).unwrap_or_default();
    Uncast { row, value: "it".into(), problem: problem.to_string() }
}

/// Reads every text that is there.
fn each<T>(
    texts: &StringViewArray,
    read: impl Fn(&str) -> Result<T, NotRead>,
) -> Result<Vec<Option<T>>, Uncast> {
    let value = |(row, text): (usize, Option<&str>)| {
        text.map(|text| read(text).map_err(|problem| uncast(row, text, problem))).transpose()
    };
    texts.iter().enumerate().map(value).collect()
}

/// Writes every text anew; texts that are written so already are shared, not copied.
pub(super) fn rewritten(
    texts: &StringViewArray,
    write: impl Fn(&str) -> Result<Cow<'_, str>, NotRead>,
) -> Result<StringViewArray, Uncast> {
    let mut builder: Option<StringViewBuilder> = None;
    for (row, text) in texts.iter().enumerate() {
        let written = match text {
            Some(text) => Some(write(text).map_err(|problem| uncast(row, text, problem))?),
            None => None,
        };
        if builder.is_none() && written.as_deref() != text {
            let mut before = StringViewBuilder::with_capacity(texts.len());
            texts.iter().take(row).for_each(|text| before.append_option(text));
            builder = Some(before);
        }
        if let Some(builder) = &mut builder {
            builder.append_option(written);
        }
    }
    Ok(builder.map_or_else(|| texts.clone(), |mut builder| builder.finish()))
}

fn uncast(row: usize, text: &str, problem: NotRead) -> Uncast {
    Uncast { row, value: text_reader::shown(text), problem: problem.0 }
}
