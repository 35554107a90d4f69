//! What binary floats mean: the shortest decimal that reads back as the same float.

use std::fmt::LowerExp;
use std::io::Write;

use super::{Decimal, Number, numeral};

const POWERS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18,
    1e19, 1e20, 1e21, 1e22,
];

/// Decimals of 15 digits are told apart by doubles, those of 6 by singles.
const DOUBLE_MANTISSA: f64 = 1e15;
const SINGLE_MANTISSA: f64 = 1e6;

/// Adding and subtracting it rounds to a whole number, up to 2^51.
const ROUNDER: f64 = 6_755_399_441_055_744.0;

pub(super) fn shortest(value: f64) -> Number {
    if !value.is_finite() {
        return special(value);
    }
    [0, 2, widest_power(value)]
        .into_iter()
        .find_map(|power| short_double(value, power))
        .map_or_else(|| shortest_printed(value), Number::Finite)
}

pub(super) fn shortest_single(value: f32) -> Number {
    let wide = f64::from(value);
    if !value.is_finite() {
        return special(wide);
    }
    [0, 2, 5]
        .into_iter()
        .find_map(|power| short_single(value, power))
        .map_or_else(|| shortest_printed(value), Number::Finite)
}

/// The double that means the same decimal as a single; finite ones have at most 9 digits, which a double keeps.
#[must_use]
pub(crate) fn widen(value: f32) -> f64 {
    match shortest_single(value) {
        Number::Finite(decimal) => decimal.to_f64(),
        Number::NaN | Number::Infinity | Number::NegInfinity => value.into(),
    }
}

pub(super) fn nearest(decimal: Decimal) -> f64 {
    let exact = u32::try_from(decimal.mantissa().unsigned_abs())
        .ok()
        .zip(usize::try_from(-decimal.exponent()).ok())
        .and_then(|(mantissa, power)| Some(f64::from(mantissa) / POWERS.get(power)?));
    match exact {
        // Both operands are exact, so the division rounds once, as reading the numeral would.
        Some(magnitude) if decimal.is_negative() => -magnitude,
        Some(magnitude) => magnitude,
        None => {
            let numeral = format!("{}e{}", decimal.mantissa(), decimal.exponent());
            numeral.parse().expect("digits and an exponent are a float's grammar")
        }
    }
}

fn special(value: f64) -> Number {
    if value.is_nan() {
        Number::NaN
    } else if value > 0.0 {
        Number::Infinity
    } else {
        Number::NegInfinity
    }
}

/// Decides most doubles without printing them.
///
/// `mantissa` and the power of ten are whole numbers that doubles hold exactly, so their quotient is the double
/// nearest to the decimal `mantissa / 10^power`. If that is `value`, the decimal reads back as `value`; it has at most
/// 15 digits, and no two such decimals read as the same double, so that none can be shorter.
fn short_double(value: f64, power: usize) -> Option<Decimal> {
    let mantissa = whole(value * POWERS[power], DOUBLE_MANTISSA)?;
    #[expect(clippy::float_cmp, reason = "the proof is that they are the very same double")]
    let same = mantissa / POWERS[power] == value;
    if same { from_whole(mantissa, power) } else { None }
}

/// The same for singles, with 6 digits; the quotient is a double here and rounded once more.
fn short_single(value: f32, power: usize) -> Option<Decimal> {
    // The bits that a single lacks; rounding twice goes wrong only where they are exactly half.
    const LACKING: u64 = (1 << 29) - 1;
    const HALF: u64 = 1 << 28;
    let mantissa = whole(f64::from(value) * POWERS[power], SINGLE_MANTISSA)?;
    let quotient = mantissa / POWERS[power];
    #[expect(clippy::float_cmp, reason = "the proof is that they are the very same single")]
    let same = quotient as f32 == value && quotient.to_bits() & LACKING != HALF;
    if same { from_whole(mantissa, power) } else { None }
}

/// The whole number next to `scaled`, if that is at most `bound`.
fn whole(scaled: f64, bound: f64) -> Option<f64> {
    (scaled.abs() <= bound).then_some((scaled + ROUNDER) - ROUNDER)
}

fn from_whole(mantissa: f64, power: usize) -> Option<Decimal> {
    let mantissa = mantissa as i64;
    Decimal::from_small(mantissa < 0, mantissa.unsigned_abs(), -i64::try_from(power).ok()?)
}

/// A power of ten that lifts `value` close to 10^15; where that is one too much, it is not decided here.
fn widest_power(value: f64) -> usize {
    let binary_exponent = i64::from((value.to_bits() >> 52 & 0x7ff) as u16) - 1023;
    // 1233 / 4096 is log10(2) to five digits.
    let digits = (((binary_exponent + 1) * 1233) >> 12) + 1;
    (15 - digits).clamp(0, 22).cast_unsigned() as usize
}

#[cold]
fn shortest_printed(value: impl LowerExp) -> Number {
    let mut buffer = [0u8; 32];
    let mut space = &mut buffer[..];
    write!(space, "{value:e}").expect("a float prints in at most 24 bytes");
    let unused = space.len();
    let decimal =
        numeral::parse(&buffer[..buffer.len() - unused]).expect("a printed float has at most 17 digits");
    Number::Finite(decimal)
}
