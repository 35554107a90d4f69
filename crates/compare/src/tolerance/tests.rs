//! Rules against tables, and the three ways to check against fractions of big integers.

use num_bigint::{BigInt, BigUint};

use super::*;
use crate::number::Number;
use crate::number::test_random::Random;
use crate::rule::parse_rule;

fn decimal(text: &str) -> Decimal {
    text.parse().unwrap()
}

fn quantities(texts: &[&str]) -> Vec<Option<Quantity>> {
    texts
        .iter()
        .map(|text| match text.split_once('/') {
            _ if *text == "NULL" => None,
            Some((sum, count)) => Quantity::average(sum.parse().unwrap(), count.parse().unwrap()),
            None => Some(text.parse::<Number>().unwrap().into()),
        })
        .collect()
}

fn percentage(value: &str, base: Base) -> Rule {
    Rule::Percentage { value: decimal(value), base }
}

struct Case {
    rule: Rule,
    reference: Option<usize>,
    values: &'static [&'static str],
    within: bool,
    pair: (usize, usize),
    difference: Option<&'static str>,
}

fn case(
    rule: &str,
    values: &'static [&'static str],
    within: bool,
    pair: (usize, usize),
    difference: Option<&'static str>,
) -> Case {
    Case { rule: parse_rule(rule).unwrap(), reference: None, values, within, pair, difference }
}

impl Case {
    fn against(self, reference: usize) -> Self {
        Self { reference: Some(reference), ..self }
    }

    fn of(self, base: Base) -> Self {
        let Rule::Percentage { value, .. } = self.rule else { panic!("only percentages have a base") };
        Self { rule: Rule::Percentage { value, base }, ..self }
    }

    fn assert(&self) {
        let values = quantities(self.values);
        let outcome = check(&self.rule, self.reference, &values);
        let found =
            (outcome.within, outcome.pair, outcome.difference.map(|difference| difference.to_string()));
        let expected = (self.within, self.pair, self.difference.map(str::to_owned));
        assert_eq!(found, expected, "{:?} {:?} {}", self.values, self.reference, self.rule);
    }
}

#[test]
fn outcomes_by_spread() {
    let cases = [
        case("exact", &["1.10", "11e-1"], true, (0, 1), Some("0")),
        case("exact", &["9007199254740992", "9007199254740993"], false, (0, 1), Some("1")),
        case("0.01", &["10.01", "10"], true, (0, 1), Some("-0.01")),
        case("0.01", &["10.02", "10"], false, (0, 1), Some("-0.02")),
        case("0.01", &["10", "10.005", "10.011"], false, (0, 2), Some("0.011")),
        case("1", &["5", "3", "5", "3"], false, (0, 1), Some("-2")),
        case("1", &["4", "5", "3", "3"], false, (1, 2), Some("-2")),
        case("0", &["7", "7", "7"], true, (0, 1), Some("0")),
        case("9", &["NULL", "NULL"], true, (0, 1), None),
        case("9", &["1", "1", "NULL"], false, (0, 2), None),
        case("9", &["NULL", "NaN", "1"], false, (0, 1), None),
        case("9", &["NULL", "0"], false, (0, 1), None),
        case("9", &["NaN", "NaN"], true, (0, 1), None),
        case("9", &["1", "NaN", "NaN"], false, (0, 1), None),
        case("9", &["inf", "inf"], true, (0, 1), None),
        case("9", &["inf", "-inf"], false, (0, 1), None),
        case("9", &["1", "2", "inf"], false, (0, 2), None),
        case("50%", &["inf", "inf"], true, (0, 1), None),
        case("50%", &["inf", "1"], false, (0, 1), None),
        case("10%", &["100", "90"], true, (0, 1), Some("-10")),
        case("10%", &["100", "89.99"], false, (0, 1), Some("-10.01")),
        case("10%", &["-100", "-90"], true, (0, 1), Some("10")),
        case("10%", &["100", "90"], false, (0, 1), Some("-10")).of(Base::Smaller),
        case("10%", &["99", "90"], true, (0, 1), Some("-9")).of(Base::Smaller),
        case("10%", &["105", "95"], true, (0, 1), Some("-10")).of(Base::Mean),
        case("10%", &["105.01", "95"], false, (0, 1), Some("-10.01")).of(Base::Mean),
        case("10%", &["1000", "1100", "1000"], true, (0, 1), Some("100")).of(Base::Source(2)),
        case("10%", &["999", "1100", "1000"], false, (0, 1), Some("101")).of(Base::Source(2)),
        case("100%", &["0", "0"], true, (0, 1), Some("0")),
        case("100%", &["0", "0.001"], false, (0, 1), Some("0.001")).of(Base::Smaller),
        case("100%", &["0", "0.001"], true, (0, 1), Some("0.001")),
        case("100%", &["0", "1"], false, (0, 1), Some("1")).of(Base::Source(0)),
        case("200%", &["-5", "5"], true, (0, 1), Some("10")),
        case("199.99%", &["-5", "5"], false, (0, 1), Some("10")),
        case("exact", &["1/3", "2/6"], true, (0, 1), Some("0")),
        case(
            "exact",
            &["1/3", "0.33333333333333333333333333333333333333"],
            false,
            (0, 1),
            Some("-3.33333333333e-39"),
        ),
        case("0.5", &["10/4", "2"], true, (0, 1), Some("-0.5")),
        case("10%", &["10/3", "9/3"], true, (0, 1), Some("-0.333333333333")),
        case("9.999999%", &["10/3", "9/3"], false, (0, 1), Some("-0.333333333333")),
        case("1", &["1e9000", "1"], false, (0, 1), Some("-1e9000")),
        case("1e9000", &["1e9000", "1e-9000"], true, (0, 1), Some("-1e9000")),
        case("1e9000", &["1e9000", "-1e-9000"], false, (0, 1), Some("-1e9000")),
        case("2d", &["0", "172800"], true, (0, 1), Some("172800")),
        case("2d", &["172800.5", "0"], false, (0, 1), Some("-172800.5")),
    ];
    cases.iter().for_each(Case::assert);
}

#[test]
fn outcomes_against_a_reference() {
    let cases = [
        case("1", &["5", "6", "4"], true, (0, 1), Some("1")).against(0),
        case("1", &["6", "5", "4"], true, (1, 0), Some("1")).against(1),
        case("1", &["5", "7", "2"], false, (0, 2), Some("-3")).against(0),
        case("1", &["5", "8", "2"], false, (0, 1), Some("3")).against(0),
        case("1", &["5", "9", "NULL", "NaN"], false, (0, 2), None).against(0),
        case("1", &["5", "9", "inf", "NULL"], false, (0, 2), None).against(0),
        case("1", &["NULL", "NULL", "4"], false, (0, 2), None).against(0),
        case("1", &["NaN", "NaN", "NaN"], true, (0, 1), None).against(0),
        case("exact", &["2", "1", "2"], false, (2, 1), Some("-1")).against(2),
        // The largest difference is within a share of its own size; the one outside is named.
        case("50%", &["10", "19", "4"], false, (0, 2), Some("-6")).against(0),
        case("-1d..+3d", &["0", "259200"], true, (0, 1), Some("259200")),
        case("-1d..+3d", &["0", "-86401"], false, (0, 1), Some("-86401")),
        case("-1d..+3d", &["259200", "0"], false, (0, 1), Some("-259200")),
        case("-1d..+3d", &["259200", "0"], true, (1, 0), Some("259200")).against(1),
        case("-1d..+3d", &["0", "200000", "-90000"], false, (0, 2), Some("-90000")),
        case("2d", &["0", "100000", "-100000"], true, (0, 1), Some("100000")).against(0),
        case("2d", &["0", "100000", "-100000"], false, (1, 2), Some("-200000")),
    ];
    cases.iter().for_each(Case::assert);
}

#[test]
fn a_cent_apart_is_within_a_cent() {
    let rule = Rule::Absolute(decimal("0.01"));
    let just_less = Rule::Absolute(decimal("0.0099999999999999999"));
    let cents = |units: i64| Decimal::new(units.into(), -2).unwrap();
    for start in 0..100_000i64 {
        let pair = [start * 7 - 250_000, start * 7 - 249_999];
        let decimals = pair.map(|units| Some(Quantity::from(cents(units))));
        let doubles = pair.map(|units| cents(units).to_f64());
        let from_doubles = doubles.map(|double| Some(Number::from(double).into()));
        assert!(check(&rule, None, &decimals).within);
        assert!(check(&rule, None, &from_doubles).within);
        assert!(FloatRule::new(&rule, None).within(&doubles));
        assert!(FixedRule::new(&rule, None, 2).within(&pair));
        assert!(!check(&just_less, None, &decimals).within);
        assert!(!FloatRule::new(&just_less, None).within(&doubles));
        assert!(!FixedRule::new(&just_less, None, 2).within(&pair));
    }
}

#[test]
fn special_floats() {
    let (nan, inf) = (f64::NAN, f64::INFINITY);
    let cases: &[(&[f64], bool)] = &[
        (&[0.0, -0.0], true),
        (&[nan, nan], true),
        (&[nan, 1.0], false),
        (&[1.0, nan], false),
        (&[1.0, 1.0, nan], false),
        (&[inf, inf], true),
        (&[inf, -inf], false),
        (&[inf, f64::MAX], false),
        (&[f64::MAX, -f64::MAX], false),
    ];
    for rule in [Rule::Exact, parse_rule("5").unwrap(), parse_rule("5%").unwrap()] {
        for reference in [None, Some(0), Some(1)] {
            for (values, within) in cases {
                assert_eq!(FloatRule::new(&rule, reference).within(values), *within, "{rule} {values:?}");
            }
        }
    }
    let all = percentage("200", Base::Larger);
    assert!(FloatRule::new(&all, None).within(&[f64::MAX, -f64::MAX]));
    assert!(!FloatRule::new(&Rule::Exact, None).within(&[5e-324, 0.0]));
    assert!(FloatRule::new(&parse_rule("5e-324").unwrap(), None).within(&[5e-324, 0.0]));
}

#[test]
fn the_ends_of_fixed_point() {
    let cases = [
        (Rule::Absolute(decimal("18446744073709551615")), 0, true),
        (Rule::Absolute(decimal("18446744073709551614")), 0, false),
        (Rule::Absolute(decimal("1e9000")), 9, true),
        (Rule::Absolute(decimal("1e-9000")), 9, false),
        (Rule::Absolute(decimal("184467440737095516.15")), 2, true),
        (Rule::Absolute(decimal("184467440737095516.1499")), 2, false),
        (Rule::Absolute(decimal("1")), 18, false),
        (Rule::Absolute(decimal("-1")), 0, false),
        (percentage("200", Base::Larger), 3, true),
        (percentage("199.9999999999999999", Base::Larger), 3, false),
        (percentage("199.99999999999999999999999999999999999", Base::Larger), 3, true),
        (percentage("1e300", Base::Smaller), 3, true),
        (percentage("200", Base::Mean), 3, true),
    ];
    for (rule, scale, within) in cases {
        let found = FixedRule::new(&rule, None, scale).within(&[i64::MAX, i64::MIN]);
        assert_eq!(found, within, "{rule} at {scale}");
    }
    assert!(!FixedRule::new(&Rule::Absolute(decimal("-1")), None, 0).within(&[5, 5]));
}

/// A fraction for the oracle: numerator and positive denominator.
type Pair = (BigInt, BigInt);

fn minus(a: &Pair, b: &Pair) -> Pair {
    (&a.0 * &b.1 - &b.0 * &a.1, &a.1 * &b.1)
}

fn not_above(a: &Pair, b: &Pair) -> bool {
    &a.0 * &b.1 <= &b.0 * &a.1
}

fn size(a: &Pair) -> Pair {
    (BigInt::from(BigUint::clone(a.0.magnitude())), a.1.clone())
}

fn fraction(decimal: Decimal, count: u64) -> Pair {
    let lifted =
        BigInt::from(decimal.mantissa()) * BigInt::from(10).pow((decimal.exponent() + 400).cast_unsigned());
    (lifted, BigInt::from(10).pow(400) * count)
}

fn oracle(rule: &Rule, reference: Option<usize>, values: &[Pair]) -> bool {
    let two_sided = matches!(rule, Rule::Duration { from, to } if *from != -*to);
    let reference = reference.or(two_sided.then_some(0));
    let fits = |a: &Pair, b: &Pair| {
        let difference = minus(b, a);
        match rule {
            Rule::Exact => difference.0 == BigInt::ZERO,
            Rule::Absolute(limit) => not_above(&size(&difference), &fraction(*limit, 1)),
            Rule::Duration { from, to } => {
                not_above(&fraction(*from, 1), &difference) && not_above(&difference, &fraction(*to, 1))
            }
            Rule::Percentage { value, base } => {
                let (a, b) = (size(a), size(b));
                let base = match base {
                    Base::Larger => {
                        if not_above(&a, &b) {
                            b
                        } else {
                            a
                        }
                    }
                    Base::Smaller => {
                        if not_above(&a, &b) {
                            a
                        } else {
                            b
                        }
                    }
                    Base::Mean => {
                        let sum = minus(&a, &(-b.0, b.1));
                        (sum.0, sum.1 * 2)
                    }
                    Base::Source(source) => size(&values[*source]),
                };
                let share = fraction(*value, 1);
                not_above(&(size(&difference).0 * 100, difference.1), &(share.0 * base.0, share.1 * base.1))
            }
        }
    };
    if let Some(reference) = reference {
        return values.iter().all(|value| fits(&values[reference], value));
    }
    let mut smallest = &values[0];
    let mut largest = &values[0];
    for value in values {
        smallest = if not_above(value, smallest) { value } else { smallest };
        largest = if not_above(largest, value) { value } else { largest };
    }
    fits(smallest, largest)
}

fn any_rule(random: &mut Random, limit: Decimal, sources: usize) -> Rule {
    let limit = limit.abs();
    match random.below(8) {
        0 => Rule::Exact,
        1..4 => Rule::Absolute(limit),
        4 => Rule::Duration { from: -limit, to: limit },
        5 => Rule::Duration { from: -random.decimal(4, 3).abs(), to: limit },
        _ => Rule::Percentage {
            value: if random.below(2) == 0 { limit } else { random.decimal(3, 3).abs() },
            base: [
                Base::Larger,
                Base::Smaller,
                Base::Mean,
                Base::Source(random.below(sources as u64) as usize),
            ][random.below(4) as usize],
        },
    }
}

fn any_reference(random: &mut Random, sources: usize) -> Option<usize> {
    (random.below(2) == 0).then(|| random.below(sources as u64) as usize)
}

#[test]
fn random_quantities_agree_with_fractions() {
    let mut random = Random::new(5);
    let mut within = 0;
    for round in 0..6_000 {
        let sources = 2 + random.below(3) as usize;
        let digits = if round % 4 == 0 { 38 } else { 3 };
        let mut sums: Vec<Decimal> = (0..sources).map(|_| random.decimal(digits, 3)).collect();
        if round % 3 == 0 {
            let first = sums[0];
            sums.fill(first);
        }
        let counts: Vec<u64> =
            (0..sources).map(|_| if round % 2 == 0 { 1 } else { 1 + random.below(4) }).collect();
        let quantities: Vec<Option<Quantity>> = sums
            .iter()
            .zip(&counts)
            .map(|(&sum, &count)| match count {
                1 => Some(sum.into()),
                _ => Quantity::average(sum.into(), count),
            })
            .collect();
        let fractions: Vec<Pair> =
            sums.iter().zip(&counts).map(|(&sum, &count)| fraction(sum, count)).collect();
        // Half of the limits are exactly the distance of two values: the rim.
        let rim = sums[0].checked_sub(sums[1]).filter(|_| round % 4 < 2).unwrap_or(random.decimal(4, 3));
        let rule = any_rule(&mut random, rim, sources);
        let reference = any_reference(&mut random, sources);
        let outcome = check(&rule, reference, &quantities);
        assert_eq!(
            outcome.within,
            oracle(&rule, reference, &fractions),
            "{rule:?} {reference:?} {sums:?} {counts:?}"
        );
        within += u32::from(outcome.within);
    }
    assert!((1_000..5_000).contains(&within), "{within} within tests only one side");
}

#[test]
fn random_fixed_point_agrees_with_fractions() {
    let mut random = Random::new(6);
    for round in 0..6_000u64 {
        let sources = 2 + random.below(3) as usize;
        let scale = random.below(12) as u32;
        let shift = [54, 30, 60, 0][round as usize % 4];
        let values: Vec<i64> = (0..sources).map(|_| random.next().cast_signed() >> shift).collect();
        let decimals = values.iter().map(|&value| Decimal::new(value.into(), -scale.cast_signed()).unwrap());
        let decimals: Vec<Decimal> = decimals.collect();
        let rim =
            decimals[0].checked_sub(decimals[1]).filter(|_| round % 8 < 5).unwrap_or(random.decimal(38, 20));
        let rule = any_rule(&mut random, rim, sources);
        let reference = any_reference(&mut random, sources);
        let fractions: Vec<Pair> = decimals.iter().map(|&decimal| fraction(decimal, 1)).collect();
        let found = FixedRule::new(&rule, reference, scale).within(&values);
        assert_eq!(
            found,
            oracle(&rule, reference, &fractions),
            "{rule:?} {reference:?} {values:?} at {scale}"
        );
    }
}

#[test]
fn random_floats_agree_with_fractions() {
    let mut random = Random::new(8);
    for round in 0..8_000u64 {
        let sources = 2 + random.below(3) as usize;
        let unit = [100.0, 1e4, 3.0, 1e250][round as usize % 4];
        let mut values: Vec<f64> =
            (0..sources).map(|_| (random.below(4_000) as f64 - 2_000.0) / unit).collect();
        if round % 5 == 0 {
            values[1] = values[0].next_up();
        }
        if round % 7 == 0 {
            values[1] = f64::from_bits(random.below(9));
        }
        let decimals: Vec<Decimal> =
            values.iter().map(|&value| Number::from(value).finite().unwrap()).collect();
        let rim =
            decimals[0].checked_sub(decimals[1]).filter(|_| round % 8 < 5).unwrap_or(random.decimal(4, 3));
        let rule = any_rule(&mut random, rim, sources);
        let reference = any_reference(&mut random, sources);
        let fractions: Vec<Pair> = decimals.iter().map(|&decimal| fraction(decimal, 1)).collect();
        let found = FloatRule::new(&rule, reference).within(&values);
        assert_eq!(found, oracle(&rule, reference, &fractions), "{rule:?} {reference:?} {values:?}");
    }
}
