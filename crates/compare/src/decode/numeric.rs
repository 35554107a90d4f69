//! Numbers: integers, decimals, floats, and numerals in text.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Decimal128Type, Float16Type, Float32Type, Float64Type, Int64Type,
};
use arrow_array::{Array, ArrayRef, StringViewArray};
use arrow_schema::DataType;

use super::{Misfit, Values};
use crate::error::ValueProblem;
use crate::number::{Decimal, Number, NumeralError, widen};
use crate::plan::Encoding;

type Half = <Float16Type as ArrowPrimitiveType>::Native;

/// Turns halves into the singles that mean the same decimals.
pub(super) fn halves(array: &ArrayRef) -> ArrayRef {
    Arc::new(array.as_primitive::<Float16Type>().unary::<_, Float32Type>(single))
}

/// The single that means the shortest decimal that reads back as the same half; five digits tell all halves apart.
fn single(half: Half) -> f32 {
    let reads_back = |numeral: &String| numeral.parse().is_ok_and(|read| Half::from_f64(read) == half);
    let mut numerals = (0..5).map(|decimals: usize| format!("{:.decimals$e}", half.to_f64()));
    // NaN and the infinities are without digits, and the same in both.
    numerals.find(reads_back).and_then(|numeral| numeral.parse().ok()).unwrap_or(half.to_f32())
}

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
    one(array, row).ok_or(Misfit::Value(ValueProblem::TooLong))
}

/// The number at a row that is not NULL; `None` if the array holds no numbers.
pub(crate) fn one(array: &ArrayRef, row: usize) -> Option<Number> {
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

/// The canonical form of a decimal that was written with its scale; in full beyond 38 digits.
pub(super) fn without_scale(text: String) -> String {
    match Number::parse(text.as_bytes()) {
        Ok(number) => number.to_string(),
        Err(_) if text.contains('.') => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        Err(_) => text,
    }
}

/// Reads numerals.
pub(super) fn text(texts: &StringViewArray, encoding: Encoding) -> Result<Values, Misfit> {
    match encoding {
        Encoding::Fixed { scale } => texts
            .iter()
            .map(|text| match text {
                None => Ok(0),
                Some(text) => match plain_units(text.as_bytes(), scale) {
                    Some(units) => Ok(units),
                    None => any_units(text.as_bytes(), scale),
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

/// The units of a numeral such as `-12345.67`, of few digits and at most as many decimals as the scale has.
fn plain_units(text: &[u8], scale: u32) -> Option<i64> {
    let digits = text.strip_prefix(b"-").unwrap_or(text);
    // Eighteen digits fit whatever they are; a zero in front may be a leading one.
    if digits.len() > 18 || matches!(digits, [] | [b'0', b'0'..=b'9', ..]) {
        return None;
    }
    let mut units = 0;
    let mut decimals = None;
    for &byte in digits {
        match (byte, decimals) {
            (b'0'..=b'9', _) => {
                units = units * 10 + i64::from(byte - b'0');
                decimals = decimals.map(|decimals| decimals + 1);
            }
            (b'.', None) => decimals = Some(0),
            _ => return None,
        }
    }
    if decimals == Some(0) || digits[0] == b'.' {
        return None;
    }
    let more = scale.checked_sub(decimals.unwrap_or(0))?;
    let units = units.checked_mul(10i64.checked_pow(more)?)?;
    Some(if digits.len() < text.len() { -units } else { units })
}

fn any_units(text: &[u8], scale: u32) -> Result<i64, Misfit> {
    match numeral(text)? {
        Number::Finite(decimal) => decimal.units(scale).ok_or(Misfit::Scale),
        _ => Err(Misfit::Scale),
    }
}

fn numeral(text: &[u8]) -> Result<Number, Misfit> {
    Number::parse(text).map_err(|error| match error {
        NumeralError::TooManyDigits => Misfit::Value(ValueProblem::TooLong),
        NumeralError::ExponentOutOfRange => Misfit::Value(ValueProblem::Exponent),
        _ => Misfit::Reading(text.to_vec()),
    })
}

#[cfg(test)]
mod tests {
    use super::{any_units, plain_units};

    #[test]
    fn plain_numerals_have_the_units_that_any_numeral_has() {
        for text in [
            "0",
            "-0",
            "7",
            "-12",
            "0.5",
            "-0.50",
            "12.000",
            "1.10",
            "123456789012345678",
            "99.999",
            "100",
            "0.01",
            "1.2",
        ] {
            let Some(plain) = plain_units(text.as_bytes(), 3) else { continue };
            assert_eq!(any_units(text.as_bytes(), 3).ok(), Some(plain), "{text}");
        }
        for text in
            ["", "-", "007", "-01", ".5", "5.", "1e3", "+1", "1.2.3", "--1", "1,5", "0.0001", " 1", "NaN"]
        {
            assert_eq!(plain_units(text.as_bytes(), 3), None, "{text}");
        }
        assert_eq!(plain_units(b"-1.25", 3), Some(-1250));
    }
}
