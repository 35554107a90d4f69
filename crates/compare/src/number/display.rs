//! Writing numbers: plain notation, scientific only where that would be absurdly long.

use std::fmt;
use std::io::Write;

use num_bigint::{BigInt, BigUint, Sign};

use super::{Decimal, Fraction, MAX_DIGITS, Quantity};

/// More digits than this before or behind the point are written with an exponent.
const PLAIN_DIGITS: i64 = 40;

/// Written plainly, a number takes at most so many bytes: the digits on both sides of the point, a sign, a zero and the point.
const PLAIN_BYTES: usize = 2 * PLAIN_DIGITS as usize + 3;

/// A difference of two decimals that are close in size is written exactly; beyond this it is rounded.
const DIFFERENCE_DIGITS: i64 = 80;

/// A ratio that never ends is rounded to this many significant digits, or to the precision asked for, or …
const RATIO_DIGITS: usize = 12;

/// … to this many behind the point, whichever shows more.
const RATIO_DECIMALS: i64 = 6;

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut buffer = [0; MAX_DIGITS as usize];
        let magnitude = self.mantissa().unsigned_abs();
        let digits = if let Ok(small) = u64::try_from(magnitude) {
            small_digits(small, &mut buffer)
        } else {
            let mut space = &mut buffer[..];
            write!(space, "{magnitude}").map_err(|_| fmt::Error)?;
            let unused = space.len();
            &buffer[..buffer.len() - unused]
        };
        let digits = str::from_utf8(digits).map_err(|_| fmt::Error)?;
        write_digits(f, self.is_negative(), digits, self.exponent().into())
    }
}

impl Quantity {
    /// How many significant digits of ratios show that those which are not equal are not.
    #[must_use]
    pub(crate) fn telling_digits(values: &[&Self]) -> usize {
        let mut digits = RATIO_DIGITS;
        let look_alike = |one: &Self, other: &Self, digits: usize| {
            one != other && format!("{one:.digits$}") == format!("{other:.digits$}")
        };
        while (1..values.len()).any(|at| values[..at].iter().any(|it| look_alike(it, values[at], digits))) {
            digits *= 2;
        }
        digits
    }
}

/// A precision is the number of significant digits that a ratio without an end has at least.
impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => number.fmt(f),
            Self::Ratio(fraction) => fraction.fmt(f),
        }
    }
}

impl fmt::Display for Fraction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let numerator = self.numerator().magnitude();
        let denominator = self.denominator();
        if numerator.bits() == 0 {
            return f.write_str("0");
        }
        let wanted = i64::try_from(f.precision().unwrap_or(RATIO_DIGITS)).map_err(|_| fmt::Error)?;
        let exact_digits =
            wanted.max(if denominator.bits() == 1 { DIFFERENCE_DIGITS } else { MAX_DIGITS.into() });
        // One digit more than would be written exactly: what ends within that leaves no remainder.
        let lift = exact_digits + 1 - (count_digits(numerator) - count_digits(denominator));
        let power = BigUint::from(10u8).pow(u32::try_from(lift.unsigned_abs()).map_err(|_| fmt::Error)?);
        let (dividend, divisor) = if lift < 0 {
            (numerator.clone(), denominator * power)
        } else {
            (numerator * power, denominator.clone())
        };
        let quotient = &dividend / &divisor;
        let exact = &quotient * &divisor == dividend;
        let digits = quotient.to_string();
        let exponent = i64::from(self.exponent()) - lift;
        let negative = self.numerator().sign() == Sign::Minus;
        let significant = i64::try_from(digits.trim_end_matches('0').len()).map_err(|_| fmt::Error)?;
        if exact && significant <= exact_digits {
            return write_digits(f, negative, &digits, exponent);
        }
        let keep = if denominator.bits() == 1 {
            MAX_DIGITS.into()
        } else {
            let before_point = i64::try_from(digits.len()).map_err(|_| fmt::Error)? + exponent;
            wanted.max(before_point + RATIO_DECIMALS).min(exact_digits)
        };
        let (rounded, dropped) = round(&digits, usize::try_from(keep).map_err(|_| fmt::Error)?, !exact);
        write_digits(f, negative, &rounded, exponent + i64::try_from(dropped).map_err(|_| fmt::Error)?)
    }
}

/// Keeps the first digits, rounding half to even, and says how many are gone; `more` are digits not in the text.
fn round(digits: &str, keep: usize, more: bool) -> (String, usize) {
    let (kept, gone) = digits.split_at(keep.min(digits.len()));
    let mut value: BigInt = kept.parse().expect("digits are a number");
    let half = format!("5{}", "0".repeat(gone.len().saturating_sub(1)));
    let odd = kept.ends_with(['1', '3', '5', '7', '9']);
    let up = !gone.is_empty() && (gone > half.as_str() || (gone == half && (more || odd)));
    if up {
        value += 1;
    }
    (value.to_string(), gone.len())
}

fn count_digits(value: &BigUint) -> i64 {
    i64::try_from(value.to_string().len()).unwrap_or(i64::MAX)
}

/// The digits of a machine word, which spares the wide divisions.
fn small_digits(mut magnitude: u64, buffer: &mut [u8; MAX_DIGITS as usize]) -> &[u8] {
    let mut start = buffer.len();
    loop {
        start -= 1;
        buffer[start] = b'0' + (magnitude % 10) as u8;
        magnitude /= 10;
        if magnitude == 0 {
            return &buffer[start..];
        }
    }
}

fn write_digits(f: &mut fmt::Formatter<'_>, negative: bool, digits: &str, exponent: i64) -> fmt::Result {
    let significant = digits.trim_end_matches('0');
    if significant.is_empty() {
        return f.write_str("0");
    }
    let length = i64::try_from(significant.len()).map_err(|_| fmt::Error)?;
    let point = i64::try_from(digits.len()).map_err(|_| fmt::Error)? + exponent;
    let decimals = length - point;
    let sign = if negative { "-" } else { "" };
    if point > PLAIN_DIGITS || decimals > PLAIN_DIGITS {
        let (first, others) = significant.split_at(1);
        let separator = if others.is_empty() { "" } else { "." };
        return write!(f, "{sign}{first}{separator}{others}e{}", point - 1);
    }
    // Zeros are there already, so that everything is written at once.
    let mut text = [b'0'; PLAIN_BYTES];
    let mut end = 0;
    let mut put = |part: &str, zeros: i64| -> fmt::Result {
        text[end..end + part.len()].copy_from_slice(part.as_bytes());
        end += part.len() + usize::try_from(zeros).map_err(|_| fmt::Error)?;
        Ok(())
    };
    put(sign, 0)?;
    if point <= 0 {
        put("0.", -point)?;
        put(significant, 0)?;
    } else if decimals <= 0 {
        put(significant, -decimals)?;
    } else {
        let (before, behind) = significant.split_at(usize::try_from(point).map_err(|_| fmt::Error)?);
        put(before, 0)?;
        put(".", 0)?;
        put(behind, 0)?;
    }
    f.write_str(str::from_utf8(&text[..end]).map_err(|_| fmt::Error)?)
}
