//! Turns a source's Arrow column into the values that all sources share.

mod culprit;
mod nested;
mod numeric;
mod temporal;

use arrow_array::cast::AsArray;
use arrow_array::types::{Date64Type, Decimal128Type};
use arrow_array::{Array, ArrayRef, BinaryViewArray, StringViewArray, builder::StringViewBuilder};
use arrow_buffer::{NullBuffer, ScalarBuffer};
use arrow_cast::display::{ArrayFormatter, FormatOptions};
use arrow_cast::{CastOptions, cast_with_options};
use arrow_schema::{ArrowError, DataType, TimeUnit};

use nested::Nested;

use crate::error::ValueProblem;
use crate::kind::Kind;
use crate::number::{Decimal, Number};
use crate::plan::{Column, Encoding, How};
use crate::temporal::OrderEvidence;
use crate::text::{self, Reading};

pub(crate) use culprit::{culprit, shown};
pub(crate) use numeric::one as number;
pub(crate) use temporal::{display_seconds, moment};

const DAY_MILLISECONDS: i64 = 86_400_000;

/// The values of a column in one batch.
pub(crate) struct Decoded {
    pub(crate) values: Values,
    pub(crate) nulls: Option<NullBuffer>,
}

/// Values in the encoding of their column.
pub(crate) enum Values {
    Fixed(ScalarBuffer<i64>),
    Float(ScalarBuffer<f64>),
    General(Vec<Number>),
    Bytes(BinaryViewArray),
    /// NULL, all of them.
    Null,
}

/// Why a column cannot be read as planned.
#[derive(Debug)]
pub(crate) enum Misfit {
    /// A number does not fit the fixed scale: plan the column as [`Encoding::General`].
    Scale,
    /// Text that the column's reading does not allow: plan it with what this value teaches.
    Reading(Vec<u8>),
    /// A value that no plan can make sense of.
    Value(ValueProblem),
}

impl Decoded {
    /// How many values are not NULL.
    pub(crate) fn present(&self) -> usize {
        let rows = match &self.values {
            Values::Fixed(units) => units.len(),
            Values::Float(floats) => floats.len(),
            Values::General(numbers) => numbers.len(),
            Values::Bytes(bytes) => bytes.len(),
            Values::Null => 0,
        };
        rows - self.nulls.as_ref().map_or(0, NullBuffer::null_count)
    }

    pub(crate) fn is_null(&self, row: usize) -> bool {
        matches!(self.values, Values::Null) || self.nulls.as_ref().is_some_and(|nulls| nulls.is_null(row))
    }

    /// Some of the rows, in the order given.
    pub(crate) fn take(&self, rows: &[u32]) -> Self {
        let at = || rows.iter().map(|row| *row as usize);
        let values = match &self.values {
            Values::Fixed(units) => Values::Fixed(at().map(|row| units[row]).collect()),
            Values::Float(floats) => Values::Float(at().map(|row| floats[row]).collect()),
            Values::General(numbers) => Values::General(at().map(|row| numbers[row]).collect()),
            Values::Bytes(bytes) => {
                Values::Bytes(BinaryViewArray::from_iter_values(at().map(|row| bytes.value(row))))
            }
            Values::Null => Values::Null,
        };
        let nulls = self.nulls.as_ref().map(|nulls| at().map(|row| nulls.is_valid(row)).collect());
        Self { values, nulls }
    }

    /// The number at a row that is not NULL, of a column that is not text.
    pub(crate) fn number(&self, row: usize, encoding: Encoding) -> Option<Number> {
        match &self.values {
            Values::Fixed(units) => Some(fixed_number(units[row], encoding)),
            Values::Float(floats) => Some(Decimal::from_f64(floats[row])),
            Values::General(numbers) => Some(numbers[row]),
            Values::Bytes(_) | Values::Null => None,
        }
    }
}

/// What units of a fixed scale amount to.
pub(crate) fn fixed_number(units: i64, encoding: Encoding) -> Number {
    let Encoding::Fixed { scale } = encoding else { unreachable!("units exist only in a fixed encoding") };
    // A machine word always fits a decimal.
    Number::from_scaled(i128::from(units), scale as i8).unwrap_or(Number::NaN)
}

/// Reads a source's column as the plan says.
///
/// `evidence` collects what text dates show of the order of day and month.
pub(crate) fn decode(
    column: &Column,
    source: usize,
    array: &ArrayRef,
    evidence: &mut OrderEvidence,
) -> Result<Decoded, Misfit> {
    let reader = &column.readers[source];
    let array = match (&reader.how, array.data_type()) {
        // What is only displayed may have more digits than can be compared.
        (How::Displayed, DataType::Decimal256(..)) => array.clone(),
        _ => plain(array)?,
    };
    if array.data_type() == &DataType::Null || array.null_count() == array.len() {
        return Ok(Decoded { values: Values::Null, nulls: None });
    }
    let nulls = array.nulls().cloned();
    let values = match (&reader.how, column.kind) {
        (How::Null, _) => return Err(Misfit::Reading(first_text(&array))),
        (How::Text(reading), _) => {
            let texts = array.as_string_view();
            if *reading != Reading::Text
                && let Some(other) = texts.iter().flatten().find(|text| !reading.allows(text.as_bytes()))
            {
                return Err(Misfit::Reading(other.as_bytes().to_vec()));
            }
            Values::Bytes(normalised(texts, column).to_binary_view())
        }
        (How::Displayed, _) => Values::Bytes(displayed(&array, column)?.to_binary_view()),
        (How::Typed, Kind::Text) => {
            Values::Bytes(normalised(array.as_string_view(), column).to_binary_view())
        }
        (How::Typed, Kind::Binary) => Values::Bytes(array.as_binary_view().clone()),
        (How::Typed, Kind::Boolean) => {
            let truths = array.as_boolean();
            Values::Fixed((0..truths.len()).map(|row| i64::from(truths.value(row))).collect())
        }
        (How::TextBoolean, _) => {
            let read = |value: &[u8]| text::boolean(value).ok_or_else(|| Misfit::Reading(value.to_vec()));
            truths(array.as_string_view(), read)?
        }
        (How::DeclaredBoolean, _) => declared(&array)?,
        (How::Typed, Kind::Number) => numeric::typed(&array, column.encoding)?,
        (How::TextNumber, _) => numeric::text(array.as_string_view(), column.encoding)?,
        (How::Typed | How::TextTemporal(_) | How::TextFormat(_), _) => {
            temporal::decode(&array, column, reader, evidence)?
        }
    };
    Ok(Decoded { values, nulls })
}

/// The same values in one of the few types that are read: `Int64`, `Decimal128`, `Float32`, `Float64`, `Utf8View`, …
pub(crate) fn plain(array: &ArrayRef) -> Result<ArrayRef, Misfit> {
    let to = match array.data_type() {
        DataType::Dictionary(_, values) => {
            let cast = cast(array, values)?;
            return plain(&cast);
        }
        DataType::RunEndEncoded(_, values) => {
            let cast = cast(array, values.data_type())?;
            return plain(&cast);
        }
        DataType::Int8
        | DataType::Int16
        | DataType::Int32
        | DataType::UInt8
        | DataType::UInt16
        | DataType::UInt32 => DataType::Int64,
        DataType::UInt64 => DataType::Decimal128(20, 0),
        DataType::Float16 => return Ok(numeric::halves(array)),
        DataType::Decimal32(_, scale) | DataType::Decimal64(_, scale) | DataType::Decimal256(_, scale) => {
            DataType::Decimal128(38, *scale)
        }
        DataType::Utf8 | DataType::LargeUtf8 => DataType::Utf8View,
        DataType::Binary | DataType::LargeBinary | DataType::FixedSizeBinary(_) => DataType::BinaryView,
        DataType::Date64 => {
            let milliseconds = array.as_primitive::<Date64Type>();
            if milliseconds.iter().flatten().any(|it| it % DAY_MILLISECONDS != 0) {
                return Err(Misfit::Value(ValueProblem::TimeOfDay));
            }
            DataType::Date32
        }
        DataType::Time32(_) | DataType::Time64(TimeUnit::Microsecond) => {
            DataType::Time64(TimeUnit::Nanosecond)
        }
        _ => return Ok(array.clone()),
    };
    cast(array, &to)
}

fn cast(array: &ArrayRef, to: &DataType) -> Result<ArrayRef, Misfit> {
    let strict = CastOptions { safe: false, ..CastOptions::default() };
    cast_with_options(array, to, &strict).map_err(|error| {
        let is_decimal = matches!(to, DataType::Decimal128(..));
        Misfit::Value(if is_decimal { ValueProblem::TooLong } else { unreadable(&error) })
    })
}

/// Some text that shows the column is not all NULL.
fn first_text(array: &ArrayRef) -> Vec<u8> {
    let first = array.as_string_view().iter().flatten().next();
    first.expect("an array of only NULLs was read already").as_bytes().to_vec()
}

fn truths(texts: &StringViewArray, read: impl Fn(&[u8]) -> Result<bool, Misfit>) -> Result<Values, Misfit> {
    let truths: Result<Vec<i64>, Misfit> =
        texts.iter().map(|text| text.map_or(Ok(0), |text| Ok(i64::from(read(text.as_bytes())?)))).collect();
    Ok(Values::Fixed(truths?.into()))
}

/// Text or numbers that the user says are truth values.
fn declared(array: &ArrayRef) -> Result<Values, Misfit> {
    let wrong = || Misfit::Value(ValueProblem::Boolean);
    if let Some(texts) = array.as_string_view_opt() {
        return truths(texts, |value| text::declared_boolean(value).ok_or_else(wrong));
    }
    let numbers = numeric::typed(array, Encoding::Fixed { scale: 0 })?;
    if let Values::Fixed(units) = &numbers
        && (0..array.len()).any(|row| !array.is_null(row) && !matches!(units[row], 0 | 1))
    {
        return Err(wrong());
    }
    Ok(numbers)
}

fn normalised(texts: &StringViewArray, column: &Column) -> StringViewArray {
    if column.normalisers.is_empty() {
        return texts.clone();
    }
    let mut builder = StringViewBuilder::with_capacity(texts.len());
    let mut room = String::new();
    for value in texts {
        builder.append_option(value.map(|value| text::normalise_into(value, column.normalisers, &mut room)));
    }
    builder.finish()
}

/// Typed values in their canonical form as text.
fn displayed(array: &ArrayRef, column: &Column) -> Result<StringViewArray, Misfit> {
    let mut builder = StringViewBuilder::with_capacity(array.len());
    let nested = array.data_type().is_nested().then(|| Nested::new(array)).transpose()?;
    let mut room = String::new();
    for row in 0..array.len() {
        room.clear();
        match &nested {
            _ if array.is_null(row) => {
                builder.append_null();
                continue;
            }
            Some(nested) => nested.write(row, &mut room)?,
            None => room = display_one(array, row)?,
        }
        builder.append_value(&room);
    }
    Ok(normalised(&builder.finish(), column))
}

/// A value that is not NULL as it was found: times in their own precision and zone, decimals with their scale.
pub(crate) fn display_found(array: &ArrayRef, row: usize) -> Option<String> {
    let in_full = || array.as_primitive_opt::<Decimal128Type>().map(|decimals| decimals.value_as_string(row));
    temporal::local(array, row).or_else(in_full).or_else(|| display_one(array, row).ok())
}

/// Numbers, times and nested values as reports show them, anything else as Arrow does.
pub(crate) fn display_one(array: &ArrayRef, row: usize) -> Result<String, Misfit> {
    if array.data_type().is_nested() {
        let mut text = String::new();
        Nested::new(&array.slice(row, 1))?.write(0, &mut text)?;
        return Ok(text);
    }
    let known =
        numeric::one(array, row).map(|number| number.to_string()).or_else(|| temporal::one(array, row));
    if let Some(known) = known {
        return Ok(known);
    }
    let format = FormatOptions::new();
    let text = ArrayFormatter::try_new(array.as_ref(), &format)
        .and_then(|formatter| formatter.value(row).try_to_string())
        .map_err(|error| Misfit::Value(unreadable(&error)))?;
    let is_wide = matches!(array.data_type(), DataType::Decimal256(..));
    Ok(if is_wide { numeric::without_scale(text) } else { text })
}

fn unreadable(error: &ArrowError) -> ValueProblem {
    ValueProblem::Unreadable(error.to_string().into())
}
