//! Rules on fixed-point values of one scale, in machine integers.

use super::{check, effective_reference};
use crate::number::{Decimal, Quantity};
use crate::spec::{Base, Rule};

/// A rule prepared for values that are whole numbers of `10^-scale`.
#[derive(Debug, Clone)]
pub(crate) struct FixedRule {
    rule: Rule,
    reference: Option<usize>,
    scale: u32,
    test: Test,
}

/// What to ask of a pair of values.
#[derive(Debug, Clone, Copy)]
enum Test {
    /// Second minus first is in a range.
    Range { from: i128, to: i128 },
    /// `|a − b| * left <= right * base`; factors below 2^63, so that no product leaves a `u128`.
    Share { left: u64, right: u64, base: Base },
    /// Anything else, by the exact rule.
    Exactly,
}

impl FixedRule {
    /// Prepares a rule; for durations the values are `10^-scale` seconds.
    #[must_use]
    pub(crate) fn new(rule: &Rule, reference: Option<usize>, scale: u32) -> Self {
        let test = match rule {
            Rule::Exact => Test::Range { from: 0, to: 0 },
            Rule::Absolute(limit) => {
                let limit = floor_units(*limit, scale);
                Test::Range { from: -limit, to: limit }
            }
            Rule::Duration { from, to } => {
                Test::Range { from: -floor_units(-*from, scale), to: floor_units(*to, scale) }
            }
            Rule::Percentage { value, base } => share(*value, *base).unwrap_or(Test::Exactly),
        };
        Self { rule: rule.clone(), reference: effective_reference(rule, reference), scale, test }
    }

    /// Whether the values of a group, one per source and none of them NULL, are within.
    #[must_use]
    pub(crate) fn within(&self, values: &[i64]) -> bool {
        if let Some(reference) = self.reference {
            let Some(&held_against) = values.get(reference) else {
                return self.within_exactly(values);
            };
            return values.iter().all(|&value| self.pair_within(held_against, value, values));
        }
        let (smallest, largest) =
            values.iter().fold((i64::MAX, i64::MIN), |(low, high), &value| (low.min(value), high.max(value)));
        self.pair_within(smallest, largest, values)
    }

    fn pair_within(&self, first: i64, second: i64, values: &[i64]) -> bool {
        match self.test {
            Test::Range { from, to } => (from..=to).contains(&(i128::from(second) - i128::from(first))),
            Test::Share { left, right, base } => {
                let (a, b) = (first.unsigned_abs(), second.unsigned_abs());
                let base = match base {
                    Base::Larger => a.max(b).into(),
                    Base::Smaller => a.min(b).into(),
                    Base::Mean => u128::from(a) + u128::from(b),
                    Base::Source(source) => match values.get(source) {
                        Some(value) => value.unsigned_abs().into(),
                        None => return self.within_exactly(values),
                    },
                };
                let both_zero = a == 0 && b == 0;
                both_zero
                    || (base > 0
                        && u128::from(first.abs_diff(second)) * u128::from(left) <= base * u128::from(right))
            }
            Test::Exactly => self.within_exactly(values),
        }
    }

    #[cold]
    fn within_exactly(&self, values: &[i64]) -> bool {
        let values: Vec<Option<Quantity>> = values
            .iter()
            .map(|&value| {
                let exponent = 0i32.saturating_sub_unsigned(self.scale);
                Decimal::new(value.into(), exponent).map(Quantity::from)
            })
            .collect();
        check(&self.rule, self.reference, &values).within
    }
}

/// The largest whole number of units not above `limit`, or one that no difference of two `i64` reaches.
fn floor_units(limit: Decimal, scale: u32) -> i128 {
    const UNREACHED: i128 = 1 << 65;
    let power = i64::from(limit.exponent()) + i64::from(scale);
    let ten_to = |power: u64| u32::try_from(power).ok().and_then(|power| 10i128.checked_pow(power));
    let units = match ten_to(power.unsigned_abs()) {
        Some(factor) if power >= 0 => limit.mantissa().checked_mul(factor),
        Some(factor) => Some(limit.mantissa().div_euclid(factor)),
        None if power < 0 => Some(if limit.is_negative() { -1 } else { 0 }),
        None if limit.is_zero() => Some(0),
        None => None,
    };
    let beyond = if limit.is_negative() { -UNREACHED } else { UNREACHED };
    units.unwrap_or(beyond).clamp(-UNREACHED, UNREACHED)
}

/// `share` percent as whole factors on both sides; `None` if they are too large or it is negative.
fn share(share: Decimal, base: Base) -> Option<Test> {
    let hundred = if base == Base::Mean { 200 } else { 100 };
    let power = 10u64.checked_pow(share.exponent().unsigned_abs())?;
    let mantissa = u64::try_from(share.mantissa()).ok()?;
    let (left, right) = if share.exponent() < 0 {
        (power.checked_mul(hundred)?, mantissa)
    } else {
        (hundred, mantissa.checked_mul(power)?)
    };
    (left.max(right) < 1 << 62).then_some(Test::Share { left, right, base })
}
