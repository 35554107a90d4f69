//! Calculating with exact numbers.

use trueup_compare::{Decimal, Number};
use trueup_job::Operator;

/// As many digits as a decimal has; a quotient that never ends is rounded to so many.
const DIGITS: u32 = 38;

/// Why there is no result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NoResult {
    /// It cannot be held.
    #[error("needs more than 38 digits")]
    TooLong,
    /// There is none.
    #[error("is a division by 0")]
    ByZero,
    /// One of the two is NaN or an infinity.
    #[error("cannot be calculated")]
    NotFinite,
    /// It takes a whole number.
    #[error("takes whole numbers, and no negative length")]
    NotWhole,
}

/// Calculates `a operator b`.
pub(crate) fn calculate(a: Number, operator: Operator, b: Number) -> Result<Number, NoResult> {
    let (Number::Finite(a), Number::Finite(b)) = (a, b) else { return Err(NoResult::NotFinite) };
    let result = match operator {
        Operator::Add => a.checked_add(b),
        Operator::Subtract => a.checked_sub(b),
        Operator::Multiply => a.checked_mul(b),
        Operator::Divide | Operator::Remainder if b.is_zero() => return Err(NoResult::ByZero),
        Operator::Divide => quotient(a, b),
        Operator::Remainder => remainder(a, b),
    };
    result.map(Number::Finite).ok_or(NoResult::TooLong)
}

/// Turns a number round.
pub(crate) fn negative(number: Number) -> Number {
    match number {
        Number::Finite(decimal) => Number::Finite(-decimal),
        Number::Infinity => Number::NegInfinity,
        Number::NegInfinity => Number::Infinity,
        Number::NaN => Number::NaN,
    }
}

/// The magnitude of a number.
pub(crate) fn magnitude(number: Number) -> Number {
    if number < Number::ZERO { negative(number) } else { number }
}

/// The nearest number with so many decimals; halves go away from 0.
pub(crate) fn rounded(number: Number, decimals: i32) -> Number {
    let Number::Finite(decimal) = number else { return number };
    // No exponent is further from 0.
    let decimals = decimals.clamp(-20_000, 20_000);
    let Ok(dropped) = u32::try_from(-decimals - decimal.exponent()) else { return number };
    if dropped > DIGITS {
        return Number::ZERO;
    }
    let (mantissa, power) = (decimal.mantissa().unsigned_abs(), 10u128.pow(dropped));
    let up = u128::from(mantissa % power >= power - mantissa % power);
    // A number that lost a digit has room for a carry.
    let whole = i128::try_from(mantissa / power + up).unwrap_or(i128::MAX);
    let signed = if decimal.is_negative() { -whole } else { whole };
    Decimal::new(signed, -decimals).map_or(number, Number::Finite)
}

/// A number that counts something.
pub(crate) fn whole(number: Number) -> Result<i64, NoResult> {
    number.finite().and_then(|decimal| decimal.units(0)).ok_or(NoResult::NotWhole)
}

/// Long division, a digit at a time.
fn quotient(a: Decimal, b: Decimal) -> Option<Decimal> {
    let divisor = b.mantissa().unsigned_abs();
    let mut digits = a.mantissa().unsigned_abs() / divisor;
    let mut rest = a.mantissa().unsigned_abs() % divisor;
    let mut exponent = a.exponent() - b.exponent();
    while rest > 0 && digits < 10u128.pow(DIGITS - 1) {
        let digit;
        (digit, rest) = next_digit(rest, divisor);
        digits = digits * 10 + digit;
        exponent -= 1;
    }
    // Half of an even digit is dropped, of an odd one goes up: neither side gains in the long run.
    let is_half = rest == divisor - rest;
    digits += u128::from(rest > divisor - rest || (is_half && !digits.is_multiple_of(2)));
    let quotient = i128::try_from(digits).ok()?;
    Decimal::new(if a.is_negative() == b.is_negative() { quotient } else { -quotient }, exponent)
}

/// The quotient and the remainder of ten times the rest, which itself may be too large.
fn next_digit(rest: u128, divisor: u128) -> (u128, u128) {
    if let Some(ten) = rest.checked_mul(10) {
        return (ten / divisor, ten % divisor);
    }
    let (mut digit, mut sum) = (0, 0);
    for _ in 0..10 {
        sum += rest;
        if sum >= divisor {
            sum -= divisor;
            digit += 1;
        }
    }
    (digit, sum)
}

/// What is left of `a` when `b` is taken off as often as it fits; it has the sign of `a`.
fn remainder(a: Decimal, b: Decimal) -> Option<Decimal> {
    let exponent = a.exponent().min(b.exponent());
    let aligned = |decimal: Decimal| {
        let power = 10i128.checked_pow(decimal.exponent().abs_diff(exponent))?;
        decimal.mantissa().checked_mul(power)
    };
    Decimal::new(aligned(a)? % aligned(b)?, exponent)
}

#[cfg(test)]
mod tests {
    use trueup_compare::Number;
    use trueup_job::Operator::{self, Add, Divide, Multiply, Remainder, Subtract};

    use super::{NoResult, calculate, magnitude, negative, rounded};

    fn number(text: &str) -> Number {
        text.parse().unwrap()
    }

    const NINES: &str = "99999999999999999999999999999999999999";

    #[test]
    fn results_are_exact() {
        let table: [(&str, Operator, &str, Result<&str, NoResult>); 25] = [
            ("0.1", Add, "0.2", Ok("0.3")),
            ("9007199254740992", Add, "1", Ok("9007199254740993")),
            ("1", Subtract, "0.00000000000000000001", Ok("0.99999999999999999999")),
            ("1.10", Multiply, "3", Ok("3.3")),
            (NINES, Add, "1", Ok("1e38")),
            (NINES, Multiply, "11", Err(NoResult::TooLong)),
            ("1e300", Add, "1", Err(NoResult::TooLong)),
            ("7", Divide, "2", Ok("3.5")),
            ("-7", Divide, "2", Ok("-3.5")),
            ("1", Divide, "8", Ok("0.125")),
            ("1", Divide, "3", Ok("0.33333333333333333333333333333333333333")),
            ("2", Divide, "3", Ok("0.66666666666666666666666666666666666667")),
            ("1", Divide, NINES, Ok("1.0000000000000000000000000000000000000e-38")),
            (NINES, Divide, NINES, Ok("1")),
            ("10", Divide, "1e5", Ok("0.0001")),
            ("0", Divide, "5", Ok("0")),
            ("5", Divide, "0", Err(NoResult::ByZero)),
            ("7", Remainder, "3", Ok("1")),
            ("-7", Remainder, "3", Ok("-1")),
            ("7", Remainder, "-3", Ok("1")),
            ("7.5", Remainder, "2", Ok("1.5")),
            ("1e3", Remainder, "0.3", Ok("0.1")),
            ("5", Remainder, "0", Err(NoResult::ByZero)),
            ("NaN", Add, "1", Err(NoResult::NotFinite)),
            ("1", Multiply, "inf", Err(NoResult::NotFinite)),
        ];
        for (a, operator, b, expected) in table {
            let result = calculate(number(a), operator, number(b));
            assert_eq!(result, expected.map(number), "{a} {operator:?} {b}");
        }
    }

    #[test]
    fn rounding_goes_away_from_zero() {
        let table = [
            ("2.5", 0, "3"),
            ("-2.5", 0, "-3"),
            ("2.4999", 0, "2"),
            ("0.5", 0, "1"),
            ("0.05", 0, "0"),
            ("1.005", 2, "1.01"),
            ("1234", -2, "1200"),
            ("1250", -2, "1300"),
            ("50", -2, "100"),
            ("1", 5, "1"),
            ("9.99", 1, "10"),
            ("1e-60", 3, "0"),
            (NINES, -38, "1e38"),
            ("NaN", 1, "NaN"),
        ];
        for (text, decimals, expected) in table {
            assert_eq!(rounded(number(text), decimals), number(expected), "{text} {decimals}");
        }
        assert_eq!(magnitude(number("-inf")), Number::Infinity);
        assert_eq!(negative(number("-1.5")), number("1.5"));
    }
}
