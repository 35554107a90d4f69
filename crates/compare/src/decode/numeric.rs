//! Numbers: integers, decimals, floats, and numerals in text.

use arrow_array::cast::AsArray;
use arrow_array::types::{Decimal128Type, Float32Type, Float64Type, Int64Type};
use arrow_array::{Array, ArrayRef, StringViewArray};
use arrow_schema::DataType;

use super::{Misfit, Values};
use crate::number::{Decimal, Number, NumeralError, widen};
use crate::plan::Encoding;

const TOO_LONG: &str = "a number may have 38 digits";

/// Reads typed numbers.
pub(super) fn typed(array: &ArrayRef, encoding: Encoding) -> Result<Values, Misfit> {
    match encoding {
        Encoding::Fixed { scale } => fixed(array, scale),
        Encoding::Float => Ok(Values::Float(match array.as_primitive_opt::<Float64Type>() {
            Some(floats) => floats.values().clone(),
            None => array.as_primitive::<Float32Type>().values().iter().map(|float| widen(*float)).collect(),
        })),
        Encoding::General | Encoding::Bytes => (0..array.len())
            .map(|row| if array.is_null(row) { Ok(Number::ZERO) } else { general(array, row) })
            .collect::<Result<_, _>>()
            .map(Values::General),
    }
}

fn fixed(array: &ArrayRef, scale: u32) -> Result<Values, Misfit> {
    if let Some(integers) = array.as_primitive_opt::<Int64Type>() {
        if scale == 0 {
            return Ok(Values::Fixed(integers.values().clone()));
        }
        let factor = 10i64.checked_pow(scale).ok_or(Misfit::Scale)?;
        return rows(array, |row| integers.value(row).checked_mul(factor));
    }
    let DataType::Decimal128(_, own) = array.data_type() else {
        return Err(Misfit::Scale);
    };
    let more = scale.checked_sub_signed(i32::from(*own)).ok_or(Misfit::Scale)?;
    let factor = 10i128.checked_pow(more).ok_or(Misfit::Scale)?;
    let decimals = array.as_primitive::<Decimal128Type>();
    if more == 0 {
        return rows(array, |row| i64::try_from(decimals.value(row)).ok());
    }
    rows(array, |row| i64::try_from(decimals.value(row).checked_mul(factor)?).ok())
}

fn rows(array: &ArrayRef, read: impl Fn(usize) -> Option<i64>) -> Result<Values, Misfit> {
    (0..array.len())
        .map(|row| if array.is_null(row) { Ok(0) } else { read(row).ok_or(Misfit::Scale) })
        .collect::<Result<Vec<i64>, _>>()
        .map(|units| Values::Fixed(units.into()))
}

fn general(array: &ArrayRef, row: usize) -> Result<Number, Misfit> {
    one(array, row).ok_or_else(|| Misfit::value("a number with more digits than can be compared", TOO_LONG))
}

/// The number at a row that is not NULL; `None` if the array holds no numbers.
pub(super) fn one(array: &ArrayRef, row: usize) -> Option<Number> {
    match array.data_type() {
        DataType::Int64 => Some(Number::from(array.as_primitive::<Int64Type>().value(row))),
        DataType::Float64 => Some(Decimal::from_f64(array.as_primitive::<Float64Type>().value(row))),
        DataType::Float32 => Some(Decimal::from_f32(array.as_primitive::<Float32Type>().value(row))),
        DataType::Decimal128(_, scale) => {
            Number::from_scaled(array.as_primitive::<Decimal128Type>().value(row), *scale)
        }
        _ => None,
    }
}

/// Reads numerals.
pub(super) fn text(texts: &StringViewArray, encoding: Encoding) -> Result<Values, Misfit> {
    match encoding {
        Encoding::Fixed { scale } => texts
            .iter()
            .map(|text| match text {
                None => Ok(0),
                Some(text) => match numeral(text.as_bytes())? {
                    Number::Finite(decimal) => decimal.units(scale).ok_or(Misfit::Scale),
                    _ => Err(Misfit::Scale),
                },
            })
            .collect::<Result<Vec<i64>, _>>()
            .map(|units| Values::Fixed(units.into())),
        _ => texts
            .iter()
            .map(|text| text.map_or(Ok(Number::ZERO), |text| numeral(text.as_bytes())))
            .collect::<Result<_, _>>()
            .map(Values::General),
    }
}

fn numeral(text: &[u8]) -> Result<Number, Misfit> {
    Number::parse(text).map_err(|error| match error {
        NumeralError::TooManyDigits | NumeralError::ExponentOutOfRange => {
            Misfit::value(format!("`{}` has too many digits", String::from_utf8_lossy(text)), TOO_LONG)
        }
        _ => Misfit::Reading(text.to_vec()),
    })
}
