//! Decimals, exactly as written.

use std::fmt;
use std::str::FromStr;

const DIGITS_MAX: usize = 38;
const EXPONENT_MAX: i64 = 10_000;

/// A decimal of up to 38 digits; `1.10`, `1.1` and `11e-1` are the same one.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Decimal {
    negative: bool,
    /// Without zeros at either end; empty for 0.
    digits: String,
    /// The power of ten that the digits, as a whole number, are multiplied with.
    exponent: i64,
}

/// A text that is no decimal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum DecimalError {
    /// It is not written as one.
    #[error("expected a number such as 0.01")]
    NotDecimal,
    /// It would have to be rounded.
    #[error("a number has at most {DIGITS_MAX} digits and an exponent of at most {EXPONENT_MAX}")]
    TooLong,
}

impl Decimal {
    /// Whether it is below 0.
    pub fn is_negative(&self) -> bool {
        self.negative
    }

    /// A whole number times a power of ten.
    pub(crate) fn new(number: i128, exponent: i64) -> Self {
        Self::normal(number < 0, &number.unsigned_abs().to_string(), exponent)
    }

    fn normal(negative: bool, digits: &str, exponent: i64) -> Self {
        let digits = digits.trim_start_matches('0');
        let trimmed = digits.trim_end_matches('0');
        if trimmed.is_empty() {
            return Self { negative: false, digits: String::new(), exponent: 0 };
        }
        let zeros = i64::try_from(digits.len() - trimmed.len()).unwrap_or(i64::MAX);
        Self { negative, digits: trimmed.to_owned(), exponent: exponent.saturating_add(zeros) }
    }
}

impl FromStr for Decimal {
    type Err = DecimalError;

    fn from_str(text: &str) -> Result<Self, DecimalError> {
        let (negative, unsigned) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
        let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, exponent_of(exponent)?),
            None => (unsigned, 0),
        };
        let (whole, fraction) = match mantissa.split_once('.') {
            Some((_, "")) => return Err(DecimalError::NotDecimal),
            Some(parts) => parts,
            None => (mantissa, ""),
        };
        let are_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        // A leading zero is a code such as `007`, not a number; comparing takes it for text too.
        let coded = whole.len() > 1 && whole.starts_with('0');
        if whole.is_empty() || coded || !are_digits(whole) || !are_digits(fraction) {
            return Err(DecimalError::NotDecimal);
        }
        let places = i64::try_from(fraction.len()).map_err(|_| DecimalError::TooLong)?;
        let decimal = Self::normal(negative, &format!("{whole}{fraction}"), exponent - places);
        if decimal.digits.len() > DIGITS_MAX || decimal.exponent.abs() > EXPONENT_MAX {
            return Err(DecimalError::TooLong);
        }
        Ok(decimal)
    }
}

fn exponent_of(text: &str) -> Result<i64, DecimalError> {
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => (-1, digits),
        None => (1, text.strip_prefix('+').unwrap_or(text)),
    };
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(DecimalError::NotDecimal);
    }
    let digits = digits.trim_start_matches('0');
    let size: i64 = if digits.is_empty() { 0 } else { digits.parse().unwrap_or(i64::MAX) };
    if size > EXPONENT_MAX { Err(DecimalError::TooLong) } else { Ok(sign * size) }
}

/// The shortest way to write it that everything that reads decimals understands.
impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.digits.is_empty() {
            return f.write_str("0");
        }
        let sign = if self.negative { "-" } else { "" };
        let point = i64::try_from(self.digits.len()).unwrap_or(i64::MAX).saturating_add(self.exponent);
        let limit = i64::try_from(DIGITS_MAX).unwrap_or(i64::MAX);
        match (usize::try_from(self.exponent), usize::try_from(point)) {
            (Ok(zeros), _) if point <= limit => write!(f, "{sign}{}{}", self.digits, "0".repeat(zeros)),
            (Err(_), Ok(point)) if point > 0 => {
                write!(f, "{sign}{}.{}", &self.digits[..point], &self.digits[point..])
            }
            (Err(_), _) if -point < limit => {
                let zeros = usize::try_from(-point).unwrap_or_default();
                write!(f, "{sign}0.{}{}", "0".repeat(zeros), self.digits)
            }
            _ => write!(f, "{sign}{}e{}", self.digits, self.exponent),
        }
    }
}

impl fmt::Debug for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::{Decimal, DecimalError};

    #[test]
    fn equal_decimals_are_written_the_same() {
        let table = [
            ("0.01", "0.01"),
            ("1.10", "1.1"),
            ("11e-1", "1.1"),
            ("-0.0", "0"),
            ("100", "100"),
            ("1E+3", "1000"),
            ("12e40", "12e40"),
            ("1e-50", "1e-50"),
            ("-12.5", "-12.5"),
            ("99999999999999999999999999999999999999", "99999999999999999999999999999999999999"),
        ];
        for (text, expected) in table {
            let decimal: Decimal = text.parse().unwrap();
            assert_eq!(decimal.to_string(), expected, "{text}");
            assert_eq!(expected.parse(), Ok(decimal), "{text}");
        }
        assert_eq!(Decimal::new(-1_500, -3).to_string(), "-1.5");
    }

    #[test]
    fn what_is_no_decimal() {
        let long = "1".repeat(39);
        let table = [
            ("", DecimalError::NotDecimal),
            ("abc", DecimalError::NotDecimal),
            (".5", DecimalError::NotDecimal),
            ("5.", DecimalError::NotDecimal),
            ("+5", DecimalError::NotDecimal),
            ("007", DecimalError::NotDecimal),
            ("1e", DecimalError::NotDecimal),
            ("1,5", DecimalError::NotDecimal),
            ("NaN", DecimalError::NotDecimal),
            ("1e10001", DecimalError::TooLong),
            ("1e99999999999999999999999", DecimalError::TooLong),
            (&long, DecimalError::TooLong),
        ];
        for (text, expected) in table {
            assert_eq!(text.parse::<Decimal>(), Err(expected), "{text}");
        }
    }
}
