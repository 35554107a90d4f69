//! Decimals of up to 38 digits.

use std::cmp::Ordering;
use std::str::FromStr;

use super::{Number, NumeralError, float, numeral};

/// How many significant digits a decimal holds.
pub(crate) const MAX_DIGITS: u32 = 38;

/// The largest magnitude of a decimal's exponent, so that aligning any two stays affordable.
pub(crate) const MAX_EXPONENT: i32 = 10_000;

const MANTISSA_BOUND: u128 = 10u128.pow(MAX_DIGITS);

/// Every power of ten that an `i128` holds.
const POWERS: [i128; 39] = {
    let mut powers = [1; 39];
    let mut index = 1;
    while index < powers.len() {
        powers[index] = powers[index - 1] * 10;
        index += 1;
    }
    powers
};

/// A decimal: `mantissa * 10^exponent`.
///
/// The mantissa has at most 38 digits and no trailing zero, and zero is `0 * 10^0`, so that equal values are equal
/// field by field.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Decimal {
    mantissa: i128,
    exponent: i32,
}

impl Decimal {
    /// Zero.
    pub const ZERO: Self = Self { mantissa: 0, exponent: 0 };

    /// `mantissa * 10^exponent`; `None` if that needs more than 38 digits, or an exponent beyond ±10,000.
    #[must_use]
    pub fn new(mantissa: i128, exponent: i32) -> Option<Self> {
        let magnitude = mantissa.unsigned_abs();
        if let Ok(small) = u64::try_from(magnitude) {
            return Self::from_small(mantissa < 0, small, exponent.into());
        }
        let (stripped, zeros) = strip_zeros_wide(magnitude);
        if stripped >= MANTISSA_BOUND {
            return None;
        }
        Self::assemble(mantissa < 0, i128::try_from(stripped).ok()?, i64::from(exponent) + zeros)
    }

    /// The same for a mantissa that fits a machine word, which spares the wide divisions.
    #[inline]
    pub(super) fn from_small(negative: bool, magnitude: u64, exponent: i64) -> Option<Self> {
        if magnitude == 0 {
            return Some(Self::ZERO);
        }
        let (stripped, zeros) = strip_zeros(magnitude);
        Self::assemble(negative, stripped.into(), exponent + zeros)
    }

    #[inline]
    fn assemble(negative: bool, magnitude: i128, exponent: i64) -> Option<Self> {
        let exponent = i32::try_from(exponent).ok()?;
        (exponent.abs() <= MAX_EXPONENT)
            .then_some(Self { mantissa: if negative { -magnitude } else { magnitude }, exponent })
    }

    /// The digits, signed, without trailing zeros.
    #[must_use]
    pub fn mantissa(self) -> i128 {
        self.mantissa
    }

    /// The power of ten the mantissa is multiplied with.
    #[must_use]
    pub fn exponent(self) -> i32 {
        self.exponent
    }

    /// Reads a numeral: `-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?`.
    ///
    /// # Errors
    /// The text is no such numeral, or needs more than 38 digits, or an exponent beyond ±10,000.
    pub fn parse(text: &[u8]) -> Result<Self, NumeralError> {
        numeral::parse(text)
    }

    /// What a float means: the shortest decimal that reads back as the same float.
    #[must_use]
    pub fn from_f64(value: f64) -> Number {
        float::shortest(value)
    }

    /// What a single-precision float means: the shortest decimal that reads back as the same `f32`.
    #[must_use]
    pub fn from_f32(value: f32) -> Number {
        float::shortest_single(value)
    }

    /// The nearest float.
    #[must_use]
    pub fn to_f64(self) -> f64 {
        float::nearest(self)
    }

    /// Exactly `self * 10^scale`; `None` if that is no whole number or does not fit.
    #[must_use]
    pub fn units(self, scale: u32) -> Option<i64> {
        let mantissa = i64::try_from(self.mantissa).ok()?;
        if mantissa == 0 {
            return Some(0);
        }
        // A mantissa has no trailing zero, so a negative power left over always means a fraction.
        let power = u32::try_from(i64::from(self.exponent) + i64::from(scale)).ok()?;
        mantissa.checked_mul(i64::try_from(power_of_ten(power)?).ok()?)
    }

    /// Whether it is zero.
    #[must_use]
    pub fn is_zero(self) -> bool {
        self.mantissa == 0
    }

    /// Whether it is below zero.
    #[must_use]
    pub fn is_negative(self) -> bool {
        self.mantissa < 0
    }

    /// The magnitude.
    #[must_use]
    pub fn abs(self) -> Self {
        Self { mantissa: self.mantissa.abs(), ..self }
    }

    /// `self + other`; `None` if it cannot be held.
    #[must_use]
    pub fn checked_add(self, other: Self) -> Option<Self> {
        if self.is_zero() {
            return Some(other);
        }
        if other.is_zero() {
            return Some(self);
        }
        let (low, high) = if self.exponent <= other.exponent { (self, other) } else { (other, self) };
        let power = power_of_ten(high.exponent.abs_diff(low.exponent))?;
        let sum = high.mantissa.checked_mul(power)?.checked_add(low.mantissa)?;
        Self::new(sum, low.exponent)
    }

    /// `self - other`; `None` if it cannot be held (a fraction always can).
    #[must_use]
    pub fn checked_sub(self, other: Self) -> Option<Self> {
        self.checked_add(-other)
    }

    /// `self * other`; `None` if it cannot be held.
    #[must_use]
    pub fn checked_mul(self, other: Self) -> Option<Self> {
        let product = self.mantissa.checked_mul(other.mantissa)?;
        Self::new(product, self.exponent + other.exponent)
    }

    /// The position of the first digit: `1` for 5, `3` for 500, `-1` for 0.05.
    pub(super) fn magnitude_digits(self) -> i32 {
        let digits = self.mantissa.unsigned_abs().checked_ilog10().map_or(0, |log| log + 1);
        digits.cast_signed() + self.exponent
    }
}

impl std::ops::Neg for Decimal {
    type Output = Self;

    fn neg(self) -> Self {
        Self { mantissa: -self.mantissa, ..self }
    }
}

impl Ord for Decimal {
    fn cmp(&self, other: &Self) -> Ordering {
        if self.exponent == other.exponent {
            return self.mantissa.cmp(&other.mantissa);
        }
        let (sign, other_sign) = (self.mantissa.signum(), other.mantissa.signum());
        if sign != other_sign {
            return sign.cmp(&other_sign);
        }
        let by_size = compare_magnitudes(*self, *other);
        if sign < 0 { by_size.reverse() } else { by_size }
    }
}

impl PartialOrd for Decimal {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Both are of the same sign and not zero.
fn compare_magnitudes(a: Decimal, b: Decimal) -> Ordering {
    a.magnitude_digits().cmp(&b.magnitude_digits()).then_with(|| {
        // With the first digit in the same place, scaling the one with the larger exponent gives it as many digits
        // as the other has, at most 38.
        let power = 10u128.pow(a.exponent.abs_diff(b.exponent));
        let (left, right) = (a.mantissa.unsigned_abs(), b.mantissa.unsigned_abs());
        if a.exponent > b.exponent { (left * power).cmp(&right) } else { left.cmp(&(right * power)) }
    })
}

impl From<i64> for Decimal {
    fn from(value: i64) -> Self {
        let (stripped, zeros) = strip_zeros(value.unsigned_abs());
        let magnitude = i128::from(stripped);
        Self { mantissa: if value < 0 { -magnitude } else { magnitude }, exponent: zeros as i32 }
    }
}

impl From<u64> for Decimal {
    fn from(value: u64) -> Self {
        let (stripped, zeros) = strip_zeros(value);
        Self { mantissa: stripped.into(), exponent: zeros as i32 }
    }
}

impl FromStr for Decimal {
    type Err = NumeralError;

    fn from_str(text: &str) -> Result<Self, NumeralError> {
        Self::parse(text.as_bytes())
    }
}

fn power_of_ten(power: u32) -> Option<i128> {
    POWERS.get(usize::try_from(power).ok()?).copied()
}

#[inline]
fn strip_zeros(mut magnitude: u64) -> (u64, i64) {
    if magnitude == 0 {
        return (0, 0);
    }
    let mut zeros = 0;
    while magnitude.is_multiple_of(10_000) {
        magnitude /= 10_000;
        zeros += 4;
    }
    while magnitude.is_multiple_of(10) {
        magnitude /= 10;
        zeros += 1;
    }
    (magnitude, zeros)
}

fn strip_zeros_wide(mut magnitude: u128) -> (u128, i64) {
    let mut zeros = 0;
    // Wide divisions are slow, so as few as possible: by powers of two of zeros.
    for step in [32, 16, 8, 4, 2, 1] {
        let power = 10u128.pow(step);
        if magnitude.is_multiple_of(power) {
            magnitude /= power;
            zeros += i64::from(step);
        }
    }
    (magnitude, zeros)
}
