//! Reading numerals.

use super::{Decimal, MAX_DIGITS, MAX_EXPONENT};

/// Why a text is no number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NumeralError {
    /// Not written as a number.
    #[error("not a number; write it like -12.50 or 1e-3")]
    NotNumeral,
    /// `007`: an identifier, which must not lose its zeros.
    #[error("a leading zero, which makes it text rather than a number")]
    LeadingZero,
    /// More digits than can be held exactly.
    #[error(
        "more than {MAX_DIGITS} significant digits; compare the column as text, or round it at its source"
    )]
    TooManyDigits,
    /// An exponent too far from zero.
    #[error("an exponent beyond ±{MAX_EXPONENT}")]
    ExponentOutOfRange,
}

/// As many digits as surely fit a `u64`.
const WORD_DIGITS: usize = 19;

/// Where exponents stop growing while they are read; far beyond what is allowed, far below an overflow.
const EXPONENT_STOP: i64 = 1 << 40;

pub(super) fn parse(text: &[u8]) -> Result<Decimal, NumeralError> {
    let (negative, body) = match text {
        [b'-', body @ ..] => (true, body),
        body => (false, body),
    };
    let mut word = 0;
    let (whole, mut rest) = take_digits(body, &mut word);
    let mut fraction: &[u8] = &[];
    if whole.is_empty() {
        return Err(NumeralError::NotNumeral);
    }
    if let [b'.', behind_point @ ..] = rest {
        (fraction, rest) = take_digits(behind_point, &mut word);
        if fraction.is_empty() {
            return Err(NumeralError::NotNumeral);
        }
    }
    let power = match rest {
        [] => 0,
        [b'e' | b'E', power @ ..] => parse_power(power)?,
        _ => return Err(NumeralError::NotNumeral),
    };
    if let [b'0', _, ..] = whole {
        return Err(NumeralError::LeadingZero);
    }
    let exponent = power - i64::try_from(fraction.len()).map_err(|_| NumeralError::TooManyDigits)?;
    if whole.len() + fraction.len() > WORD_DIGITS {
        return parse_wide(negative, whole, fraction, exponent);
    }
    Decimal::from_small(negative, word, exponent).ok_or(NumeralError::ExponentOutOfRange)
}

/// Splits the digits off the front and appends them to `word`, which wraps when they are too many for it.
#[inline]
fn take_digits<'a>(text: &'a [u8], word: &mut u64) -> (&'a [u8], &'a [u8]) {
    let mut count = 0;
    for byte in text {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            break;
        }
        *word = word.wrapping_mul(10).wrapping_add(digit.into());
        count += 1;
    }
    text.split_at(count)
}

fn parse_power(text: &[u8]) -> Result<i64, NumeralError> {
    let (negative, digits) = match text {
        [b'-', digits @ ..] => (true, digits),
        [b'+', digits @ ..] | digits => (false, digits),
    };
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return Err(NumeralError::NotNumeral);
    }
    let power =
        digits.iter().fold(0i64, |power, digit| (power * 10 + i64::from(digit - b'0')).min(EXPONENT_STOP));
    Ok(if negative { -power } else { power })
}

#[cold]
fn parse_wide(negative: bool, whole: &[u8], fraction: &[u8], exponent: i64) -> Result<Decimal, NumeralError> {
    let mut magnitude = 0u128;
    // Zeros count only once another digit follows them: those in front and at the end are not significant.
    let mut pending_zeros = 0u32;
    let mut digits = 0u32;
    for byte in whole.iter().chain(fraction) {
        if *byte == b'0' {
            pending_zeros += u32::from(digits > 0);
            continue;
        }
        digits = digits.saturating_add(pending_zeros).saturating_add(1);
        if digits > MAX_DIGITS {
            return Err(NumeralError::TooManyDigits);
        }
        magnitude = magnitude * 10u128.pow(pending_zeros + 1) + u128::from(byte - b'0');
        pending_zeros = 0;
    }
    if magnitude == 0 {
        return Ok(Decimal::ZERO);
    }
    let mantissa = i128::try_from(magnitude).map_err(|_| NumeralError::TooManyDigits)?;
    let exponent =
        i32::try_from(exponent + i64::from(pending_zeros)).map_err(|_| NumeralError::ExponentOutOfRange)?;
    Decimal::new(if negative { -mantissa } else { mantissa }, exponent)
        .ok_or(NumeralError::ExponentOutOfRange)
}
