//! Exact numbers: decimals, what floats mean, and the ratios that averages are.

mod decimal;
mod display;
mod float;
mod fraction;
mod numeral;
mod quantity;
mod sort_key;
#[cfg(test)]
pub(crate) mod test_random;
#[cfg(test)]
mod tests;

use std::fmt;
use std::str::FromStr;

pub use decimal::Decimal;
pub(crate) use decimal::{MAX_DIGITS, MAX_EXPONENT};
pub(crate) use float::widen;
pub(crate) use fraction::Fraction;
pub use numeral::NumeralError;
pub(crate) use quantity::Quantity;

/// A value of a number column; ordered by size, NaN being larger than all else.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Number {
    /// Minus infinity, smaller than all else.
    NegInfinity,
    /// An ordinary number.
    Finite(Decimal),
    /// Infinity.
    Infinity,
    /// Not a number; equal to itself here.
    NaN,
}

impl Number {
    /// Zero.
    pub const ZERO: Self = Self::Finite(Decimal::ZERO);

    /// Reads a numeral, or one of `NaN`, `inf`, `-inf`, `Infinity`, `-Infinity`.
    ///
    /// # Errors
    /// The text is neither, or more than a [`Decimal`] holds.
    pub fn parse(text: &[u8]) -> Result<Self, NumeralError> {
        match text {
            b"NaN" => Ok(Self::NaN),
            b"inf" | b"Infinity" => Ok(Self::Infinity),
            b"-inf" | b"-Infinity" => Ok(Self::NegInfinity),
            _ => Decimal::parse(text).map(Self::Finite),
        }
    }

    /// `unscaled / 10^scale`, the way Arrow stores decimals; `None` beyond 38 digits.
    #[must_use]
    pub fn from_scaled(unscaled: i128, scale: i8) -> Option<Self> {
        Decimal::new(unscaled, -i32::from(scale)).map(Self::Finite)
    }

    /// The decimal, unless it is NaN or an infinity.
    #[must_use]
    pub fn finite(self) -> Option<Decimal> {
        match self {
            Self::Finite(decimal) => Some(decimal),
            Self::NegInfinity | Self::Infinity | Self::NaN => None,
        }
    }
}

impl From<Decimal> for Number {
    fn from(value: Decimal) -> Self {
        Self::Finite(value)
    }
}

impl From<i64> for Number {
    fn from(value: i64) -> Self {
        Self::Finite(value.into())
    }
}

impl From<u64> for Number {
    fn from(value: u64) -> Self {
        Self::Finite(value.into())
    }
}

impl From<f64> for Number {
    fn from(value: f64) -> Self {
        Decimal::from_f64(value)
    }
}

impl From<f32> for Number {
    fn from(value: f32) -> Self {
        Decimal::from_f32(value)
    }
}

impl FromStr for Number {
    type Err = NumeralError;

    fn from_str(text: &str) -> Result<Self, NumeralError> {
        Self::parse(text.as_bytes())
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NegInfinity => f.write_str("-inf"),
            Self::Finite(decimal) => decimal.fmt(f),
            Self::Infinity => f.write_str("inf"),
            Self::NaN => f.write_str("NaN"),
        }
    }
}
