//! Whether the values of a group are within a rule, and which pair of sources decides.

mod fixed;
mod float;
#[cfg(test)]
mod tests;

use crate::number::{Decimal, Quantity};
use crate::spec::{Base, Rule};

pub(crate) use fixed::FixedRule;
pub(crate) use float::FloatRule;

/// What a rule says about the values of one group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Outcome {
    /// Whether they are within.
    pub within: bool,
    /// The sources that decide: the reference first where there is one, else the lower number.
    pub pair: (usize, usize),
    /// Second minus first; `None` where one is NULL, NaN or an infinity.
    pub difference: Option<Quantity>,
}

/// Holds the values of a group, one per source, against a rule; `None` is NULL, durations are in seconds.
#[must_use]
pub(crate) fn check(rule: &Rule, reference: Option<usize>, values: &[Option<Quantity>]) -> Outcome {
    match effective_reference(rule, reference) {
        Some(reference) => check_reference(rule, reference, values),
        None => hold(rule, values, furthest_pair(values)),
    }
}

/// The reference, which for a two-sided duration is the first source if none is named.
pub(crate) fn effective_reference(rule: &Rule, reference: Option<usize>) -> Option<usize> {
    let two_sided = matches!(rule, Rule::Duration { from, to } if *from != -*to);
    reference.or(two_sided.then_some(0))
}

fn check_reference(rule: &Rule, reference: usize, values: &[Option<Quantity>]) -> Outcome {
    // Outside before within, then no difference at all before the largest; the lower source number keeps its place.
    let badness = |outcome: &Outcome| {
        (
            !outcome.within,
            !outcome.within && outcome.difference.is_none(),
            outcome.difference.as_ref().map(Quantity::abs),
        )
    };
    (0..values.len())
        .filter(|&other| other != reference)
        .map(|other| hold(rule, values, (reference, other)))
        .reduce(|worst, next| if badness(&next) > badness(&worst) { next } else { worst })
        .unwrap_or(Outcome { within: true, pair: (reference, reference), difference: None })
}

/// The sources with the smallest and the largest value, or those that NULL or NaN sets apart.
fn furthest_pair(values: &[Option<Quantity>]) -> (usize, usize) {
    let ordered = |a: usize, b: usize| if a <= b { (a, b) } else { (b, a) };
    let parted = |apart: fn(&Option<Quantity>) -> bool| {
        let first = values.iter().position(apart)?;
        let other = values.iter().position(|value| !apart(value))?;
        Some(ordered(first, other))
    };
    let is_nan: fn(&Option<Quantity>) -> bool = |value| value.as_ref().is_some_and(Quantity::is_nan);
    if let Some(pair) = parted(Option::is_none).or_else(|| parted(is_nan)) {
        return pair;
    }
    let (mut smallest, mut largest) = (0, 0);
    for index in 1..values.len() {
        if values[index] < values[smallest] {
            smallest = index;
        }
        if values[index] > values[largest] {
            largest = index;
        }
    }
    if smallest == largest {
        return (0, values.len().min(2).saturating_sub(1));
    }
    ordered(smallest, largest)
}

/// Holds two sources against each other.
fn hold(rule: &Rule, values: &[Option<Quantity>], pair: (usize, usize)) -> Outcome {
    let value = |source: usize| values.get(source).and_then(Option::as_ref);
    let (first, second) = (value(pair.0), value(pair.1));
    let difference = first.zip(second).and_then(|(first, second)| second.minus(first));
    let within = match (first, second, &difference) {
        (Some(first), Some(second), Some(difference)) => match rule {
            Rule::Exact => difference.is_zero(),
            Rule::Absolute(limit) => difference.abs() <= (*limit).into(),
            Rule::Percentage { value: share, base } => {
                let base = match base {
                    Base::Source(source) => value(*source),
                    Base::Larger | Base::Smaller | Base::Mean => None,
                }
                .map_or_else(|| pair_base(*base, first, second), |value| Some((value.abs(), 1)));
                base.is_some_and(|(base, parts)| {
                    within_share(difference, *share, &base, parts, first, second)
                })
            }
            Rule::Duration { from, to } => {
                Quantity::from(*from) <= *difference && *difference <= (*to).into()
            }
        },
        // NULL, NaN and the infinities are equal to themselves only.
        _ => first == second,
    };
    Outcome { within, pair, difference }
}

/// The base as a quantity and the number it is still to be divided by; `None` if the named source has no number.
fn pair_base(base: Base, first: &Quantity, second: &Quantity) -> Option<(Quantity, i64)> {
    let (first, second) = (first.abs(), second.abs());
    match base {
        Base::Larger => Some((first.max(second), 1)),
        Base::Smaller => Some((first.min(second), 1)),
        Base::Mean => Some((first.minus(&second.negated())?, 2)),
        Base::Source(_) => None,
    }
}

/// `|difference| * 100 <= share * base / parts`, without dividing.
fn within_share(
    difference: &Quantity,
    share: Decimal,
    base: &Quantity,
    parts: i64,
    first: &Quantity,
    second: &Quantity,
) -> bool {
    if base.is_zero() {
        return first.is_zero() && second.is_zero();
    }
    let scaled = difference.abs().times(Decimal::from(100 * parts));
    scaled.zip(base.times(share)).is_some_and(|(difference, allowed)| difference <= allowed)
}
