//! The exact sum of decimals.

use std::collections::BTreeMap;

use num_bigint::{BigInt, Sign};

use super::Specials;
use crate::number::{Decimal, MAX_DIGITS, Number};

/// The exponents with an accumulator of their own.
const EXPONENTS: std::ops::Range<i32> = -18..19;
const SLOTS: usize = 37;

/// A sum that no decimal holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("overflows {MAX_DIGITS} digits")]
pub(crate) struct Overflow;

/// The exact sum of any number of decimals, in any order.
#[derive(Debug, Clone)]
pub(crate) struct DecimalSum {
    /// One sum of mantissas per exponent.
    slots: [i128; SLOTS],
    /// The slots that may not be zero are `low..high`.
    low: usize,
    high: usize,
    /// What the slots cannot hold, by exponent.
    spilled: BTreeMap<i32, BigInt>,
    specials: Specials,
}

impl Default for DecimalSum {
    fn default() -> Self {
        Self::new()
    }
}

impl DecimalSum {
    /// The sum of nothing.
    #[must_use]
    pub(crate) fn new() -> Self {
        Self {
            slots: [0; SLOTS],
            low: SLOTS,
            high: 0,
            spilled: BTreeMap::new(),
            specials: Specials::default(),
        }
    }

    /// Makes it the sum of nothing again, at the cost of what was added.
    pub(crate) fn clear(&mut self) {
        if self.low < self.high {
            self.slots[self.low..self.high].fill(0);
        }
        self.low = SLOTS;
        self.high = 0;
        self.spilled.clear();
        self.specials = Specials::default();
    }

    /// Adds a number.
    pub(crate) fn add(&mut self, value: Number) {
        match value {
            Number::Finite(decimal) => self.add_decimal(decimal),
            Number::NaN => self.specials.nan = true,
            Number::Infinity => self.specials.infinity = true,
            Number::NegInfinity => self.specials.neg_infinity = true,
        }
    }

    /// Adds a decimal.
    #[inline]
    pub(crate) fn add_decimal(&mut self, value: Decimal) {
        self.accumulate(value.mantissa(), value.exponent());
    }

    /// Adds what another sum has added.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.specials.merge(other.specials);
        for (exponent, mantissa) in other.used() {
            self.accumulate(mantissa, exponent);
        }
        for (exponent, sum) in &other.spilled {
            *self.spilled.entry(*exponent).or_default() += sum;
        }
    }

    /// The sum.
    ///
    /// # Errors
    /// It needs more than 38 digits.
    pub(crate) fn total(&self) -> Result<Number, Overflow> {
        if let Some(special) = self.specials.total() {
            return Ok(special.into());
        }
        let short = if self.spilled.is_empty() { self.short_total() } else { None };
        short.or_else(|| self.wide_total()).map(Number::Finite).ok_or(Overflow)
    }

    #[inline]
    fn accumulate(&mut self, mantissa: i128, exponent: i32) {
        let Some((index, slot)) = usize::try_from(exponent.saturating_sub(EXPONENTS.start))
            .ok()
            .and_then(|index| Some((index, self.slots.get_mut(index)?)))
        else {
            *self.spilled.entry(exponent).or_default() += mantissa;
            return;
        };
        if let Some(sum) = slot.checked_add(mantissa) {
            *slot = sum;
        } else {
            *self.spilled.entry(exponent).or_default() += BigInt::from(*slot) + mantissa;
            *slot = 0;
        }
        self.low = self.low.min(index);
        self.high = self.high.max(index + 1);
    }

    fn used(&self) -> impl DoubleEndedIterator<Item = (i32, i128)> {
        // The bounds are the wrong way round until something is added.
        let slots = self.slots.get(self.low..self.high).unwrap_or(&[]);
        EXPONENTS.skip(self.low).zip(slots.iter().copied())
    }

    /// The sum if it never leaves an `i128` on the way.
    fn short_total(&self) -> Option<Decimal> {
        let mut sum = 0i128;
        let mut lowest = 0;
        for (exponent, mantissa) in self.used().rev() {
            sum = sum.checked_mul(10)?.checked_add(mantissa)?;
            lowest = exponent;
        }
        Decimal::new(sum, lowest)
    }

    fn wide_total(&self) -> Option<Decimal> {
        let mut parts = self.spilled.clone();
        for (exponent, mantissa) in self.used() {
            *parts.entry(exponent).or_default() += mantissa;
        }
        let mut sum = BigInt::ZERO;
        let mut lowest = parts.last_key_value().map_or(0, |(exponent, _)| *exponent);
        for (exponent, part) in parts.into_iter().rev() {
            sum = sum * BigInt::from(10u8).pow(lowest.abs_diff(exponent)) + part;
            lowest = exponent;
        }
        let digits = sum.magnitude().to_string();
        let significant = digits.trim_end_matches('0');
        if significant.is_empty() {
            return Some(Decimal::ZERO);
        }
        let zeros = i32::try_from(digits.len() - significant.len()).ok()?;
        // More than 38 digits either do not parse or are refused by `Decimal::new`.
        let mantissa: i128 = significant.parse().ok()?;
        let signed = if sum.sign() == Sign::Minus { -mantissa } else { mantissa };
        Decimal::new(signed, lowest + zeros)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::number::test_random::Random;

    fn number(text: &str) -> Number {
        text.parse().unwrap()
    }

    fn sum_of(values: &[Number]) -> Result<Number, Overflow> {
        let mut sum = DecimalSum::new();
        for value in values {
            sum.add(*value);
        }
        sum.total()
    }

    #[test]
    fn known_sums() {
        let nines = "9".repeat(38);
        let minus_nines = format!("-{nines}");
        let cases: &[(&[&str], Option<&str>)] = &[
            (&[], Some("0")),
            (&["0.1", "0.2"], Some("0.3")),
            (&["1e20", "1"], Some("100000000000000000001")),
            (&["1e30", "1e-30"], None),
            (&["1e30", "1e-30", "-1e30"], Some("1e-30")),
            (&["1e9000", "1", "-1e9000"], Some("1")),
            (&[&nines, "1"], Some("1e38")),
            (&[&nines, &nines], None),
            (&[&nines, &nines, &nines, &minus_nines, &minus_nines], Some(&nines)),
            (&["NaN", "1"], Some("NaN")),
            (&["inf", "1e9000"], Some("inf")),
            (&["inf", "-inf"], Some("NaN")),
            (&["-inf", "1"], Some("-inf")),
        ];
        for (values, expected) in cases {
            let values: Vec<Number> = values.iter().map(|text| number(text)).collect();
            assert_eq!(sum_of(&values), expected.map(number).ok_or(Overflow), "{values:?}");
        }
    }

    #[test]
    fn random_sums_agree_with_big_integers_in_any_split() {
        const LIFT: i32 = 30;
        let mut random = Random::new(11);
        for round in 0..3_000 {
            let mut parts = [DecimalSum::new(), DecimalSum::new(), DecimalSum::new()];
            let mut exact = BigInt::ZERO;
            for _ in 0..random.below(30) {
                let wide = if round % 5 == 0 { 38 } else { 12 };
                let decimal = random.decimal(wide, 25);
                let part = random.below(3) as usize;
                parts[part].add(Number::Finite(decimal));
                exact += BigInt::from(decimal.mantissa())
                    * BigInt::from(10).pow((decimal.exponent() + LIFT).cast_unsigned());
            }
            let [mut first, second, third] = parts;
            first.merge(&second);
            first.merge(&third);
            match first.total() {
                Ok(Number::Finite(total)) => {
                    let lifted = BigInt::from(total.mantissa())
                        * BigInt::from(10).pow((total.exponent() + LIFT).cast_unsigned());
                    assert_eq!(lifted, exact);
                }
                Err(Overflow) => {
                    let digits = exact.magnitude().to_string();
                    assert!(digits.trim_end_matches('0').len() > 38, "{digits}");
                }
                other => panic!("{other:?}"),
            }
            first.clear();
            assert_eq!(first.total(), Ok(Number::ZERO));
        }
    }
}
