//! How far values may be apart, and which pair is named when they are further.

use arrow_array::ArrayRef;
use trueup_compare::{Allow, Base, Rule, Tolerance, Verdict};

use crate::held::{Held, check};
use crate::scene::{
    Scene, absolute, dates, decimal, decimals, doubles, integers, seconds, stamps, texts, whole,
};

/// Two sources named as the reason for a break.
type Pair = (usize, usize);

#[test]
fn absolute_tolerances_include_their_rim() {
    let case = |what, left, right, tolerance, outside| Held {
        what,
        sources: vec![left, right],
        rule: absolute(tolerance),
        compared_as: "number",
        outside,
    };
    check(vec![
        case(
            "decimals",
            decimals(2, &[1001, 1002, 999]),
            decimals(2, &[1000, 1000, 1001]),
            "0.01",
            &["1", "2"],
        ),
        case("doubles", doubles(&[10.01, 10.02, 0.3]), doubles(&[10.0, 10.0, 0.29]), "0.01", &["1"]),
        case("zero", whole(&[1, 2]), whole(&[1, 3]), "0", &["1"]),
        case(
            "NaN and infinities are never near",
            doubles(&[f64::NAN, f64::INFINITY, f64::INFINITY]),
            doubles(&[1.0, 1e308, f64::INFINITY]),
            "1000",
            &["0", "1"],
        ),
        case("NULL is never near", integers(vec![None, None]), integers(vec![Some(0), None]), "1", &["0"]),
        case("huge against tiny", doubles(&[1e300]), doubles(&[1.0]), "1", &["0"]),
    ]);
}

#[test]
fn percentages_are_of_a_named_base() {
    let case = |what, left: &[i64], right: &[i64], value, base, outside| Held {
        what,
        sources: vec![whole(left), whole(right)],
        rule: Rule::Percentage { value: decimal(value), base },
        compared_as: "number",
        outside,
    };
    check(vec![
        case(
            "a tenth of a percent of the larger",
            &[1000, 999, 1000, 998],
            &[999, 1000, 1001, 1000],
            "0.1",
            Base::Larger,
            &["3"],
        ),
        case(
            "of the larger, symmetric",
            &[100, 90, 100, 89],
            &[90, 100, 89, 100],
            "10",
            Base::Larger,
            &["2", "3"],
        ),
        case("of the smaller", &[100, 90, 110, 100], &[90, 100, 100, 110], "10", Base::Smaller, &["0", "1"]),
        case("of the mean", &[95, 105, 94], &[105, 95, 105], "10", Base::Mean, &["2"]),
        case("of the first", &[100, 100, 90], &[110, 90, 100], "10", Base::Source(0), &["2"]),
        case("of the second", &[110, 90, 100], &[100, 100, 90], "10", Base::Source(1), &["2"]),
        case("negative numbers", &[-100, -100, 100], &[-90, -89, -100], "10", Base::Larger, &["1", "2"]),
        case("base 0 takes only 0", &[0, 0, 1], &[0, 1, 0], "50", Base::Source(0), &["1", "2"]),
        case("smaller is 0", &[0, 0], &[0, 1], "100", Base::Smaller, &["1"]),
        case("a hundred percent", &[0, 5], &[1, 0], "100", Base::Larger, &[]),
    ]);
}

#[test]
fn durations_are_one_or_two_sided() {
    let case = |what, sources: Vec<ArrayRef>, compared_as, from, to, outside| Held {
        what,
        sources,
        rule: seconds(from, to),
        compared_as,
        outside,
    };
    check(vec![
        case(
            "two days",
            vec![dates(&[10, 10, 10, 10]), dates(&[12, 8, 13, 7])],
            "date",
            "-172800",
            "172800",
            &["2", "3"],
        ),
        case(
            "a day early to three late",
            vec![dates(&[10, 10, 10, 10]), dates(&[9, 13, 8, 14])],
            "date",
            "-86400",
            "259200",
            &["2", "3"],
        ),
        case("only late", vec![dates(&[10, 10]), dates(&[11, 9])], "date", "0", "86400", &["1"]),
        case(
            "dates in text",
            vec![texts(&["2024-01-31", "2024-02-28"]), dates(&[19_755, 19_784])],
            "date",
            "-172800",
            "172800",
            &["1"],
        ),
        case(
            "five seconds",
            vec![stamps("ms", &[0, 0], None), stamps("ms", &[5_000, 5_001], None)],
            "timestamp",
            "-5",
            "5",
            &["1"],
        ),
        case(
            "fractions",
            vec![stamps("us", &[0, 0], None), stamps("us", &[1_500, 1_501], None)],
            "timestamp",
            "-0.0015",
            "0.0015",
            &["1"],
        ),
        case(
            "spread of three",
            vec![dates(&[10, 10]), dates(&[11, 11]), dates(&[9, 10])],
            "date",
            "-86400",
            "86400",
            &["0"],
        ),
        case(
            "two-sided takes the first source as reference",
            vec![dates(&[10, 10]), dates(&[13, 9]), dates(&[9, 8])],
            "date",
            "-86400",
            "259200",
            &["1"],
        ),
    ]);
}

#[test]
fn a_rule_that_does_not_suit_a_column_is_an_error() {
    for (rule, column) in [
        (absolute("1"), texts(&["a", "b"])),
        (seconds("-1", "1"), whole(&[1, 2])),
        (absolute("1"), dates(&[1, 2])),
    ] {
        let error = Scene::of([column.clone(), column])
            .tolerance("v", rule.clone())
            .run()
            .expect_err("no such distance");
        assert!(error.contains('v'), "{rule:?}: {error}");
    }
}

#[test]
fn some_groups_may_be_outside_when_that_is_allowed() {
    let cases = [
        (Allow::None, false),
        (Allow::Count(1), false),
        (Allow::Count(2), true),
        (Allow::Percent(decimal("19.9")), false),
        (Allow::Percent(decimal("20")), true),
    ];
    let left: Vec<i64> = (0..10).collect();
    let right: Vec<i64> = (0..10).map(|number| if number < 2 { 99 } else { number }).collect();
    for (allow, passed) in cases {
        let mut scene = Scene::of([whole(&left), whole(&right)]);
        scene.spec.tolerances.insert("v".into(), Tolerance { rule: absolute("0.5"), allow: allow.clone() });
        let comparison = scene.comparison();
        assert_eq!((comparison.measures[0].outside, comparison.measures[0].passed), (2, passed), "{allow:?}");
        assert_eq!(comparison.verdict == Verdict::Matched, passed, "{allow:?}");
        assert_eq!(comparison.rows_matched, 8, "{allow:?}");
    }
}

#[test]
fn the_pair_that_fails_is_named() {
    let sources = |values: &[i64]| values.iter().map(|&value| whole(&[value])).collect::<Vec<_>>();
    // The values per source, the reference, the pair that must be named if any.
    let cases: [(&[i64], Option<usize>, Option<Pair>); 7] = [
        (&[10, 11, 12], None, None),
        (&[10, 11, 13], None, Some((0, 2))),
        (&[10, 13, 11], None, Some((0, 1))),
        (&[12, 10, 13, 13], None, Some((1, 2))),
        (&[10, 12, 8], Some(0), None),
        (&[12, 10, 13], Some(1), Some((1, 2))),
        (&[10, 13, 14], Some(0), Some((0, 2))),
    ];
    for (values, reference, pair) in cases {
        let mut scene = Scene::of(sources(values)).tolerance("v", absolute("2"));
        scene.spec.reference = reference;
        let named = scene.breaks().first().and_then(|found| found.cells[0].outside.clone());
        assert_eq!(named.as_ref().map(|outside| outside.pair), pair, "{values:?} {reference:?}");
        if let Some(outside) = named {
            let difference = values[outside.pair.1] - values[outside.pair.0];
            assert_eq!(outside.difference, Some(difference.to_string()), "{values:?} {reference:?}");
        }
    }
}
