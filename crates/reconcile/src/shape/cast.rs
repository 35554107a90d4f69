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

#[cfg(test)]
mod tests {
    use arrow_array::{
        Date32Array, Decimal128Array, Float64Array, Int64Array, TimestampMicrosecondArray, UInt64Array,
    };

    use super::*;

    fn texts(values: &[&str]) -> ArrayRef {
        Arc::new(values.iter().copied().map(Some).chain([None]).collect::<StringViewArray>())
    }

    /// What a column becomes, with its type, or why not.
    fn read(array: &ArrayRef, to: Type, format: Option<&str>, zone: Option<&str>) -> String {
        let format = format.map(|format| Format::compile(format).unwrap());
        let zone = zone.map(|zone| Arc::new(Zone::named(zone).unwrap()));
        let cast = Cast { to, numerals: Numerals::default(), format, zone };
        match cast.read(array) {
            Ok(read) => {
                assert_eq!(read.data_type(), &cast.data_type(array.data_type()));
                let shown = single::displayed(&read).unwrap();
                let shown: Vec<&str> = shown.iter().map(|text| text.unwrap_or("NULL")).collect();
                format!("{} {}", read.data_type(), shown.join(", "))
            }
            Err(uncast) => format!("{}: {} {}", uncast.row + 1, uncast.value, uncast.problem),
        }
    }

    #[test]
    fn a_column_is_read_as_the_type_given() {
        let decimals =
            Decimal128Array::from(vec![Some(700), Some(-1250)]).with_precision_and_scale(9, 2).unwrap();
        let whole = decimals.slice(0, 1);
        let midnight = TimestampMicrosecondArray::from(vec![0, 86_400_000_000]);
        let one = |array: &dyn Array| array.slice(0, array.len());
        let table: Vec<(ArrayRef, Type, &str)> = vec![
            (texts(&["007", "x"]), Type::String, "Utf8View 007, x, NULL"),
            (texts(&["007", " +1 ", "1e2", "-0"]), Type::Integer, "Utf8View 7, 1, 1e2, -0, NULL"),
            (texts(&["1", "1.0"]), Type::Integer, "Utf8View 1, 1.0, NULL"),
            (texts(&["1", "1.5"]), Type::Integer, "2: 1.5 is no whole number"),
            (texts(&["1", ""]), Type::Decimal, "2:  is no decimal such as 1234.56"),
            (texts(&["00.50", "-000"]), Type::Decimal, "Utf8View 0.50, -0, NULL"),
            (
                texts(&[&"9".repeat(39)]),
                Type::Decimal,
                "1: 999999999999999999999999999999999999999 has more than 38 digits",
            ),
            (texts(&["1,5"]), Type::Decimal, "1: 1,5 is no decimal such as 1234.56"),
            (texts(&["--1"]), Type::Decimal, "1: --1 is no decimal such as 1234.56"),
            (texts(&["Yes", "0", "TRUE"]), Type::Boolean, "Boolean true, false, true, NULL"),
            (texts(&["2"]), Type::Boolean, "1: 2 is no truth value such as true, false, yes, no, 1 and 0"),
            (texts(&["2026-1-2", "2026-01-02T00:00"]), Type::Date, "Utf8View 2026-01-02, 2026-01-02, NULL"),
            (texts(&["2026-01-02T10:00"]), Type::Date, "1: 2026-01-02T10:00 is a date with a time of day"),
            (
                texts(&["2026-01-02Z"]),
                Type::Date,
                "1: 2026-01-02Z is not a date such as 2026-01-31; if it is written otherwise, declare `date_formats`",
            ),
            (
                texts(&["2026-01-02", "9999-12-31 23:59:59.123456789"]),
                Type::Timestamp,
                "Utf8View 2026-01-02 00:00:00, 9999-12-31 23:59:59.123456789, NULL",
            ),
            (
                texts(&["2026-01-02T10:00:00Z"]),
                Type::Timestamp,
                "1: 2026-01-02T10:00:00Z is an instant and not a timestamp",
            ),
            (texts(&["2026-01-02T10:00:00+02:00"]), Type::Instant, "Utf8View 2026-01-02 08:00:00Z, NULL"),
            (
                texts(&["2026-01-02 10:00"]),
                Type::Instant,
                "1: 2026-01-02 10:00 carries no zone; declare the `timezone` of the source",
            ),
            (
                texts(&["0001-01-01T00:00:00+02:00"]),
                Type::Instant,
                "1: 0001-01-01T00:00:00+02:00 is outside the years 1 to 9999",
            ),
            (texts(&["9:05", "23:59:59.5"]), Type::Time, "Time64(ns) 09:05:00, 23:59:59.5, NULL"),
            (
                texts(&["24:00"]),
                Type::Time,
                "1: 24:00 is not a time such as 18:30:00; if it is written otherwise, declare `date_formats`",
            ),
            // What has a type already.
            (Arc::new(Int64Array::from(vec![Some(7), None])), Type::Decimal, "Int64 7, NULL"),
            (Arc::new(Int64Array::from(vec![7])), Type::String, "Utf8View 7"),
            (Arc::new(Int64Array::from(vec![1, 0])), Type::Boolean, "Boolean true, false"),
            (Arc::new(UInt64Array::from(vec![u64::MAX])), Type::Integer, "UInt64 18446744073709551615"),
            (one(&whole), Type::Integer, "Decimal128(9, 2) 7"),
            (one(&decimals), Type::Integer, "2: -12.5 is no whole number"),
            (one(&decimals), Type::String, "Utf8View 7, -12.5"),
            (Arc::new(Float64Array::from(vec![0.1, 2.0])), Type::Decimal, "Float64 0.1, 2"),
            (Arc::new(Float64Array::from(vec![0.1, 2.0])), Type::Integer, "1: 0.1 is no whole number"),
            (Arc::new(Float64Array::from(vec![1.0, f64::NAN])), Type::Decimal, "2: NaN is no decimal"),
            (one(&midnight), Type::Date, "Utf8View 1970-01-01, 1970-01-02"),
            (
                Arc::new(TimestampMicrosecondArray::from(vec![1])),
                Type::Date,
                "1: 1970-01-01 00:00:00.000001 is a date with a time of day",
            ),
            (Arc::new(Date32Array::from(vec![1])), Type::Timestamp, "Date32 1970-01-02"),
            (
                Arc::new(Date32Array::from(vec![1])),
                Type::Decimal,
                "1: 1970-01-02 is no decimal such as 1234.56",
            ),
            (
                Arc::new(TimestampMicrosecondArray::from(vec![1])),
                Type::Instant,
                "1: 1970-01-01 00:00:00.000001 carries no zone; declare the `timezone` of the source",
            ),
        ];
        for (array, to, expected) in table {
            assert_eq!(read(&array, to, None, None), expected, "{array:?} as {to}");
        }
    }

    #[test]
    fn formats_and_zones_count() {
        let table = [
            (texts(&["31/01/2026"]), Type::Date, Some("%d/%m/%Y"), None, "Utf8View 2026-01-31, NULL"),
            (
                Arc::new(Int64Array::from(vec![20_260_131])) as ArrayRef,
                Type::Date,
                Some("%Y%m%d"),
                None,
                "Utf8View 2026-01-31",
            ),
            (
                texts(&["2026-01-31"]),
                Type::Date,
                Some("%d/%m/%Y"),
                None,
                "1: 2026-01-31 does not fit the declared date format",
            ),
            (
                texts(&["2026-01-31 10:00"]),
                Type::Instant,
                None,
                Some("+02:00"),
                "Utf8View 2026-01-31 08:00:00Z, NULL",
            ),
            (texts(&["10.15"]), Type::Time, Some("%H.%M"), None, "Time64(ns) 10:15:00, NULL"),
        ];
        for (array, to, format, zone, expected) in table {
            assert_eq!(read(&array, to, format, zone), expected, "{array:?} as {to}");
        }
    }
}
