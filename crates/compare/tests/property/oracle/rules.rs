//! What a tolerance says of a group.

use trueup_compare::{Allow, Base, Rule};

use super::{Number, Pair, Ratio, Value};

/// Says which pairs may be blamed when the values of all sources are not within the rule.
pub(super) fn judge(rule: &Rule, values: &[&Value], reference: Option<usize>) -> Option<Vec<Pair>> {
    let two_sided =
        matches!(rule, Rule::Duration { from, to } if Ratio::from(from) != Ratio::from(to).negated());
    let base = if let Rule::Percentage { base: Base::Source(source), .. } = rule {
        Some(values[*source])
    } else {
        None
    };
    let outside =
        |one: usize, other: usize| is_outside(rule, (one, values[one]), (other, values[other]), base);
    let sources = 0..values.len();
    if let Some(reference) = reference.or(two_sided.then_some(0)) {
        let pairs: Vec<Pair> =
            sources.filter(|&other| outside(reference, other)).map(|other| (reference, other)).collect();
        let distance = |&(one, other): &Pair| distance(values[one], values[other]);
        let furthest = pairs.iter().filter_map(distance).max();
        let measurable = matches!(rule, Rule::Absolute(_) | Rule::Exact)
            && pairs.iter().all(|pair| distance(pair).is_some());
        let worst =
            pairs.iter().find(|pair| measurable && distance(pair) == furthest).map(|&pair| vec![pair]);
        return (!pairs.is_empty()).then(|| worst.unwrap_or(pairs));
    }
    if values.iter().all(|value| distance(value, value).is_some()) {
        let (smallest, largest) = (values.iter().min()?, values.iter().max()?);
        let find = |wanted: &Value| values.iter().position(|&value| value == wanted);
        let (low, high) = (find(smallest)?, find(largest)?);
        return outside(low, high).then(|| vec![(low.min(high), low.max(high))]);
    }
    let pairs: Vec<Pair> = sources
        .flat_map(|one| (one + 1..values.len()).map(move |other| (one, other)))
        .filter(|&(one, other)| values[one] != values[other])
        .collect();
    (!pairs.is_empty()).then_some(pairs)
}

/// How far finite numbers (or times, in seconds) are apart.
pub(super) fn distance(one: &Value, other: &Value) -> Option<Ratio> {
    difference(one, other).map(|difference| difference.magnitude())
}

/// Second minus first of finite numbers or of times, the latter in seconds.
pub(crate) fn difference(one: &Value, other: &Value) -> Option<Ratio> {
    match (one, other) {
        (Value::Number(Number::Finite(one)), Value::Number(Number::Finite(other))) => Some(other.minus(one)),
        (Value::Time(one), Value::Time(other)) => Some(Ratio::new(other - one, 1_000_000_000)),
        _ => None,
    }
}

/// Whether the second value, held against the first, breaks the rule; `base` is the value of the source a percentage is of.
pub(super) fn is_outside(
    rule: &Rule,
    one: (usize, &Value),
    other: (usize, &Value),
    base: Option<&Value>,
) -> bool {
    if one.1 == other.1 {
        return false;
    }
    let Some(difference) = difference(one.1, other.1) else {
        return true;
    };
    match rule {
        Rule::Exact => true,
        Rule::Absolute(tolerance) => difference.magnitude() > Ratio::from(tolerance),
        Rule::Duration { from, to } => difference < Ratio::from(from) || difference > Ratio::from(to),
        Rule::Percentage { value, base: kind } => {
            let magnitude = |value: &Value| distance(&Value::Number(Number::from(0)), value);
            let (Some(first), Some(second)) = (magnitude(one.1), magnitude(other.1)) else {
                return true;
            };
            let base = match kind {
                Base::Larger => first.max(second),
                Base::Smaller => first.min(second),
                Base::Mean => first.plus(&second).over(2),
                Base::Source(source) => match base {
                    Some(base) => match magnitude(base) {
                        Some(base) => base,
                        None => return true,
                    },
                    None if *source == other.0 => second,
                    None => first,
                },
            };
            difference.magnitude().times(&Ratio::from(100)) > Ratio::from(value).times(&base)
        }
    }
}

/// Whether no more groups are outside than allowed.
pub(super) fn passes(outside: u64, groups: u64, allow: &Allow) -> bool {
    match allow {
        Allow::None => outside == 0,
        Allow::Count(count) => outside <= *count,
        Allow::Percent(percent) => {
            Ratio::from(outside).times(&Ratio::from(100)) <= Ratio::from(percent).times(&Ratio::from(groups))
        }
    }
}
