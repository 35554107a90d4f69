//! Rules on floats: a subtraction decides wherever it is clear, the decimals decide the rim.

use super::{check, effective_reference};
use crate::number::{Number, Quantity};
use crate::spec::{Base, Rule};

/// Below this magnitude floats are or come close to subnormals, whose errors are not relative.
const SMALLEST: f64 = 1e-290;

/// The largest share for which the errors below hold, in percent: 2^50.
const LARGEST_SHARE: f64 = 1_125_899_906_842_624.0;

/// A rule prepared for floats, each of which means its shortest decimal.
///
/// With `u` = 2^-53, a float `a` and its decimal are at most `|a| u` apart (half of the last bit), for subnormals
/// 2^-1075; a subtraction is off by at most `|a − b| u <= (|a| + |b|) u`. So `a − b` and the difference of the
/// decimals are at most `2 (|a| + |b|) u` apart, and the tolerance `t` and its float `t u`. The margin used is
/// `8 (|a| + |b| + t) u`, four times that, which also covers the rounding of the margin and of `t` ± margin
/// themselves. A percentage multiplies by 100 and `p`: at most `(300 (|a| + |b|) + 4 p base) u`, with a margin of
/// `16 (100 (|a| + |b|) + p base + base) u`. Sums that overflow make the margin infinite and nothing clear.
#[derive(Debug, Clone)]
pub(crate) struct FloatRule {
    rule: Rule,
    reference: Option<usize>,
    test: Test,
}

/// What to ask of a pair of values first.
#[derive(Debug, Clone, Copy)]
enum Test {
    Exact,
    Absolute(f64),
    Share(f64, Base),
    /// Nothing: the decimals decide everything.
    Exactly,
}

impl FloatRule {
    /// Prepares a rule.
    #[must_use]
    pub(crate) fn new(rule: &Rule, reference: Option<usize>) -> Self {
        let test = match rule {
            Rule::Exact => Test::Exact,
            Rule::Absolute(limit) if !limit.is_negative() => Test::Absolute(limit.to_f64()),
            Rule::Percentage { value, base } if !value.is_negative() && value.to_f64() <= LARGEST_SHARE => {
                Test::Share(value.to_f64(), *base)
            }
            Rule::Absolute(_) | Rule::Percentage { .. } | Rule::Duration { .. } => Test::Exactly,
        };
        Self { rule: rule.clone(), reference: effective_reference(rule, reference), test }
    }

    /// Whether the values of a group, one per source and none of them NULL, are within.
    #[must_use]
    pub(crate) fn within(&self, values: &[f64]) -> bool {
        self.clearly(values).unwrap_or_else(|| self.within_exactly(values))
    }

    /// The answer where floats can give it.
    #[expect(clippy::float_cmp, reason = "equal floats mean equal decimals")]
    fn clearly(&self, values: &[f64]) -> Option<bool> {
        let (&first, others) = values.split_first()?;
        if !matches!(self.test, Test::Exactly) && others.iter().all(|&other| other == first) {
            return Some(true);
        }
        let Some(reference) = self.reference else {
            let (smallest, largest) = spread(values)?;
            return self.pair_clearly(smallest, largest, values);
        };
        let held_against = *values.get(reference)?;
        for (source, &value) in values.iter().enumerate() {
            if source != reference && !self.pair_clearly(held_against, value, values)? {
                return Some(false);
            }
        }
        Some(true)
    }

    #[expect(clippy::float_cmp, reason = "equal floats mean equal decimals")]
    fn pair_clearly(&self, a: f64, b: f64, values: &[f64]) -> Option<bool> {
        let size = a.abs() + b.abs();
        let distance = (a - b).abs();
        match self.test {
            Test::Exact => (!a.is_nan() && !b.is_nan()).then_some(a == b),
            Test::Absolute(limit) => {
                let margin = (size + limit) * (4.0 * f64::EPSILON) + f64::MIN_POSITIVE;
                clear(distance, limit, margin)
            }
            Test::Share(share, base) if size >= SMALLEST => {
                let base = match base {
                    Base::Larger => a.abs().max(b.abs()),
                    Base::Smaller => a.abs().min(b.abs()),
                    Base::Mean => size / 2.0,
                    Base::Source(source) => values.get(source)?.abs(),
                };
                let allowed = share * base;
                let margin = (100.0 * size + allowed + base) * (8.0 * f64::EPSILON) + f64::MIN_POSITIVE;
                clear(distance * 100.0, allowed, margin)
            }
            Test::Share(..) | Test::Exactly => None,
        }
    }

    #[cold]
    fn within_exactly(&self, values: &[f64]) -> bool {
        let values: Vec<Option<Quantity>> =
            values.iter().map(|&value| Some(Number::from(value).into())).collect();
        check(&self.rule, self.reference, &values).within
    }
}

/// The smallest and the largest value; `None` if any is NaN. Decimals are in the order of their floats.
fn spread(values: &[f64]) -> Option<(f64, f64)> {
    let mut bounds = (f64::INFINITY, f64::NEG_INFINITY);
    for &value in values {
        if value.is_nan() {
            return None;
        }
        bounds = (bounds.0.min(value), bounds.1.max(value));
    }
    Some(bounds)
}

/// Whether `distance` is below or above `limit` by more than the margin; NaN and infinite margins decide nothing.
fn clear(distance: f64, limit: f64, margin: f64) -> Option<bool> {
    if distance > limit + margin {
        Some(false)
    } else if distance < limit - margin {
        Some(true)
    } else {
        None
    }
}
