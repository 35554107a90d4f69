//! The sentences of the documentation on comparing, each as a case.

mod scene;

use arrow_array::{
    ArrayRef, BooleanArray, DictionaryArray, Float32Array, LargeStringArray, StringViewArray, UInt64Array,
};
use scene::{
    Scene, absolute, dates, decimal, decimals, doubles, integers, nulls, seconds, stamps, table, texts, whole,
};
use std::sync::Arc;
use trueup_compare::{Aggregate, Allow, Base, Duplicates, Normaliser, Role, Rule, Tolerance, Verdict};

/// Two sources named as the reason for a break.
type Pair = (usize, usize);

/// Timestamps as unit and ticks of two sources, how many are outside, and the unit the report must name.
type Stamped = (
    &'static str,
    &'static [i64],
    &'static str,
    &'static [i64],
    u64,
    Option<&'static str>,
);

/// Rows of a column `v`, held against each other under a rule.
struct Held {
    what: &'static str,
    sources: Vec<ArrayRef>,
    rule: Rule,
    compared_as: &'static str,
    /// The numbers of the rows outside.
    outside: &'static [&'static str],
}

fn held(
    what: &'static str,
    left: ArrayRef,
    right: ArrayRef,
    compared_as: &'static str,
    outside: &'static [&'static str],
) -> Held {
    Held {
        what,
        sources: vec![left, right],
        rule: Rule::Exact,
        compared_as,
        outside,
    }
}

fn check(cases: Vec<Held>) {
    let mut wrong = Vec::new();
    for Held {
        what,
        sources,
        rule,
        compared_as,
        outside,
    } in cases
    {
        for verify in [false, true] {
            let mut scene = Scene::of(sources.clone()).tolerance("v", rule.clone());
            scene.spec.verify = verify;
            match scene.run() {
                Err(error) => wrong.push(format!("{what}: {error}")),
                Ok((comparison, _)) => {
                    let found = (
                        scene.broken(),
                        comparison
                            .columns
                            .iter()
                            .find(|column| column.name == "v")
                            .and_then(|column| column.compared_as),
                    );
                    let expected = (
                        outside.iter().map(|&key| key.to_owned()).collect::<Vec<_>>(),
                        Some(compared_as),
                    );
                    if found != expected || comparison.measures[0].outside != outside.len() as u64 {
                        wrong.push(format!("{what}: outside {found:?}, expected {expected:?}"));
                    }
                    if !comparison.findings.is_empty() {
                        wrong.push(format!("{what}: {:?}", comparison.findings));
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_hundred_thousand_pairs_a_cent_apart_are_within_a_cent() {
    const PAIRS: i128 = 100_000;
    let cents = |offset: i128| (0..PAIRS).map(move |pair| pair * 7 + offset);
    let spelled = |offset| {
        cents(offset)
            .map(|cents| format!("{}.{:02}", cents / 100, cents % 100))
            .collect::<Vec<_>>()
    };
    let as_text = |offset| texts(&spelled(offset).iter().map(String::as_str).collect::<Vec<_>>());
    let as_decimal = |offset| decimals(2, &cents(offset).collect::<Vec<_>>());
    let as_double = |offset| {
        doubles(
            &spelled(offset)
                .iter()
                .map(|text| text.parse().expect("a double"))
                .collect::<Vec<_>>(),
        )
    };
    let columns: [(&str, &dyn Fn(i128) -> ArrayRef); 3] = [
        ("text", &as_text),
        ("decimal", &as_decimal),
        ("double", &as_double),
    ];
    for (left, make_left) in columns {
        for (right, make_right) in columns {
            let outside = |tolerance: &str| {
                Scene::of([make_left(1), make_right(0)])
                    .tolerance("v", absolute(tolerance))
                    .comparison()
                    .measures[0]
                    .outside
            };
            assert_eq!(outside("0.01"), 0, "{left} against {right}");
            if (left, right) == ("double", "double") {
                assert_eq!(
                    outside("0.00999999"),
                    100_000,
                    "{left} against {right}, a little less"
                );
            }
        }
    }
}

#[test]
fn numbers_are_exact() {
    check(vec![
        held(
            "2^53 and its successor",
            whole(&[1 << 53]),
            whole(&[(1 << 53) + 1]),
            "number",
            &["0"],
        ),
        held(
            "2^53 and its successor as texts",
            texts(&["9007199254740992"]),
            texts(&["9007199254740993"]),
            "number",
            &["0"],
        ),
        held(
            "2^53 + 1 as text and decimal",
            texts(&["9007199254740993"]),
            decimals(0, &[9_007_199_254_740_993]),
            "number",
            &[],
        ),
        held(
            "2^53 + 1 against a double",
            whole(&[(1 << 53) + 1]),
            doubles(&[9_007_199_254_740_992.0]),
            "number",
            &["0"],
        ),
        held(
            "spellings",
            texts(&["1.10", "1.1", "11e-1"]),
            texts(&["1.1", "11e-1", "1.10"]),
            "number",
            &[],
        ),
        held(
            "spellings against a decimal",
            texts(&["1.10", "11e-1"]),
            decimals(3, &[1100, 1100]),
            "number",
            &[],
        ),
        held(
            "upper case exponents",
            texts(&["12E2", "5E+1"]),
            whole(&[1200, 50]),
            "number",
            &[],
        ),
        held(
            "decimals of different scale",
            decimals(2, &[110]),
            decimals(6, &[1_100_000]),
            "number",
            &[],
        ),
        held(
            "38 digits",
            decimals(0, &[10_i128.pow(37) + 1]),
            decimals(0, &[10_i128.pow(37) + 2]),
            "number",
            &["0"],
        ),
        held(
            "unsigned beyond signed",
            Arc::new(UInt64Array::from(vec![u64::MAX])),
            texts(&["18446744073709551615"]),
            "number",
            &[],
        ),
        held(
            "singles are their shortest decimal",
            Arc::new(Float32Array::from(vec![0.1])),
            doubles(&[0.1]),
            "number",
            &[],
        ),
        held(
            "doubles against decimals",
            doubles(&[10.01, 0.1]),
            decimals(2, &[1001, 10]),
            "number",
            &[],
        ),
        held(
            "huge doubles",
            doubles(&[1e300, -1e300]),
            texts(&["1e300", "-10e299"]),
            "number",
            &[],
        ),
        held(
            "tiny doubles",
            doubles(&[5e-324]),
            texts(&["0.5e-323"]),
            "number",
            &[],
        ),
        held(
            "NaN is NaN",
            doubles(&[f64::NAN, f64::NAN, 1.0]),
            doubles(&[f64::NAN, 0.0, f64::NAN]),
            "number",
            &["1", "2"],
        ),
        held(
            "NaN is not NULL",
            doubles(&[f64::NAN, 1.0]),
            texts(&["∅", "1"]),
            "number",
            &["0"],
        ),
        held(
            "NaN spelled",
            doubles(&[f64::NAN, 1.0]),
            texts(&["NaN", "1"]),
            "number",
            &[],
        ),
        held(
            "infinities",
            doubles(&[f64::INFINITY, f64::NEG_INFINITY, f64::INFINITY, 1.0]),
            texts(&["inf", "-Infinity", "-inf", "1"]),
            "number",
            &["2"],
        ),
        held(
            "negative zero",
            doubles(&[-0.0, 0.0]),
            whole(&[0, 0]),
            "number",
            &[],
        ),
        held(
            "negative zero in text",
            texts(&["-0.0", "0"]),
            texts(&["0", "-0"]),
            "number",
            &[],
        ),
        held(
            "NULL is NULL and not 0",
            integers(vec![None, None, Some(0)]),
            integers(vec![None, Some(0), None]),
            "number",
            &["1", "2"],
        ),
        held(
            "NULL is not the empty text",
            texts(&["∅", "∅", "a"]),
            texts(&["∅", "", "a"]),
            "text",
            &["1"],
        ),
    ]);
}

#[test]
fn more_digits_than_fit_are_an_error_that_names_the_row() {
    let long = "1".repeat(45);
    let error = Scene::of([texts(&["1", &long]), whole(&[1, 2])])
        .run()
        .expect_err("too long");
    assert!(error.contains("38") || error.contains("digits"), "{error}");
    assert!(error.contains('v'), "{error}");
}

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
        case(
            "doubles",
            doubles(&[10.01, 10.02, 0.3]),
            doubles(&[10.0, 10.0, 0.29]),
            "0.01",
            &["1"],
        ),
        case("zero", whole(&[1, 2]), whole(&[1, 3]), "0", &["1"]),
        case(
            "NaN and infinities are never near",
            doubles(&[f64::NAN, f64::INFINITY, f64::INFINITY]),
            doubles(&[1.0, 1e308, f64::INFINITY]),
            "1000",
            &["0", "1"],
        ),
        case(
            "NULL is never near",
            integers(vec![None, None]),
            integers(vec![Some(0), None]),
            "1",
            &["0"],
        ),
        case(
            "huge against tiny",
            doubles(&[1e300]),
            doubles(&[1.0]),
            "1",
            &["0"],
        ),
    ]);
}

#[test]
fn percentages_are_of_a_named_base() {
    let case = |what, left: &[i64], right: &[i64], value, base, outside| Held {
        what,
        sources: vec![whole(left), whole(right)],
        rule: Rule::Percentage {
            value: decimal(value),
            base,
        },
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
        case(
            "of the smaller",
            &[100, 90, 110, 100],
            &[90, 100, 100, 110],
            "10",
            Base::Smaller,
            &["0", "1"],
        ),
        case(
            "of the mean",
            &[95, 105, 94],
            &[105, 95, 105],
            "10",
            Base::Mean,
            &["2"],
        ),
        case(
            "of the first",
            &[100, 100, 90],
            &[110, 90, 100],
            "10",
            Base::Source(0),
            &["2"],
        ),
        case(
            "of the second",
            &[110, 90, 100],
            &[100, 100, 90],
            "10",
            Base::Source(1),
            &["2"],
        ),
        case(
            "negative numbers",
            &[-100, -100, 100],
            &[-90, -89, -100],
            "10",
            Base::Larger,
            &["1", "2"],
        ),
        case(
            "base 0 takes only 0",
            &[0, 0, 1],
            &[0, 1, 0],
            "50",
            Base::Source(0),
            &["1", "2"],
        ),
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
        case(
            "only late",
            vec![dates(&[10, 10]), dates(&[11, 9])],
            "date",
            "0",
            "86400",
            &["1"],
        ),
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
fn text_is_equal_after_its_normalisers() {
    use Normaliser::{Casefold, CollapseSpace, Nfc, Trim};
    let cases: [(&[Normaliser], &str, &str, bool); 14] = [
        (&[], "a", "A", false),
        (&[], "a", "a ", false),
        (&[Trim], " \ta\n", "a", true),
        (&[Trim], "a b", "a  b", false),
        (&[CollapseSpace], "a \t\n b", "a b", true),
        (&[CollapseSpace], " a", "a", false),
        (&[CollapseSpace], "  a", " a", true),
        (&[CollapseSpace, Trim], "  a   b ", "a b", true),
        (&[Casefold], "Straße", "STRASSE", true),
        (&[Casefold], "ΣΑΣ", "σας", true),
        (&[Nfc], "e\u{301}", "\u{e9}", true),
        (&[], "e\u{301}", "\u{e9}", false),
        (&[Nfc, Casefold], "E\u{301}", "\u{e9}", true),
        (
            &[Trim, CollapseSpace, Casefold, Nfc],
            "\u{a0}Cafe\u{301}  au\tlait",
            "CAF\u{c9} AU LAIT",
            true,
        ),
    ];
    for (normalisers, left, right, equal) in cases {
        for (role, key) in [("value", false), ("key", true)] {
            let mut scene = if key {
                Scene::new(
                    [left, right].map(|text| table([("k", texts(&["x", text])), ("v", whole(&[1, 1]))])),
                )
            } else {
                Scene::of([texts(&["x", left]), texts(&["x", right])])
            };
            scene
                .spec
                .normalisers
                .insert(if key { "k" } else { "v" }.into(), normalisers.to_vec());
            assert_eq!(
                scene.comparison().verdict == Verdict::Matched,
                equal,
                "{normalisers:?} {left:?} {right:?} as {role}"
            );
        }
    }
}

#[test]
fn every_text_type_is_the_same_text() {
    let words = ["apple", "a text too long to be kept in a view", ""];
    let columns: [ArrayRef; 4] = [
        texts(&words),
        Arc::new(LargeStringArray::from(words.to_vec())),
        Arc::new(StringViewArray::from(words.to_vec())),
        Arc::new(
            words
                .into_iter()
                .collect::<DictionaryArray<arrow_array::types::Int32Type>>(),
        ),
    ];
    assert_eq!(Scene::of(columns).comparison().verdict, Verdict::Matched);
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
    let right: Vec<i64> = (0..10)
        .map(|number| if number < 2 { 99 } else { number })
        .collect();
    for (allow, passed) in cases {
        let mut scene = Scene::of([whole(&left), whole(&right)]);
        scene.spec.tolerances.insert(
            "v".into(),
            Tolerance {
                rule: absolute("0.5"),
                allow: allow.clone(),
            },
        );
        let comparison = scene.comparison();
        assert_eq!(
            (comparison.measures[0].outside, comparison.measures[0].passed),
            (2, passed),
            "{allow:?}"
        );
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
        let named = scene
            .breaks()
            .first()
            .and_then(|found| found.cells[0].outside.clone());
        assert_eq!(
            named.as_ref().map(|outside| outside.pair),
            pair,
            "{values:?} {reference:?}"
        );
        if let Some(outside) = named {
            let difference = values[outside.pair.1] - values[outside.pair.0];
            assert_eq!(
                outside.difference,
                Some(difference.to_string()),
                "{values:?} {reference:?}"
            );
        }
    }
}

#[test]
fn sums_are_exact_in_any_order() {
    let grouped = |values: ArrayRef| table([("k", whole(&vec![1; values.len()])), ("v", values)]);
    let total = |left, right, rule| {
        let scene = Scene::new([grouped(left), grouped(right)])
            .measure(Aggregate::Sum, "v")
            .tolerance("sum(v)", rule);
        let comparison = scene.comparison();
        (
            comparison.verdict == Verdict::Matched,
            comparison.measures[0].totals.clone().expect("totals"),
        )
    };
    let tenths = doubles(&[0.1; 10]);
    let cases = [
        (
            "doubles in another order",
            doubles(&[1e16, 1.0, -1e16, 1.0]),
            doubles(&[1.0, 1.0, 1e16, -1e16]),
            true,
            "2",
        ),
        (
            "doubles that cancel",
            doubles(&[1e300, 1.5, -1e300]),
            doubles(&[1.5]),
            true,
            "1.5",
        ),
        (
            "doubles are rounded once",
            tenths.clone(),
            doubles(&[1.0]),
            true,
            "1",
        ),
        (
            "against decimals they are decimals",
            tenths,
            decimals(1, &[10]),
            true,
            "1",
        ),
        (
            "decimals",
            decimals(2, &[1, 2, 3]),
            texts(&["0.06"]),
            true,
            "0.06",
        ),
        (
            "beyond 64 bits",
            whole(&[i64::MAX, i64::MAX]),
            texts(&["18446744073709551614"]),
            true,
            "18446744073709551614",
        ),
        (
            "NULLs are left out",
            integers(vec![Some(1), None, Some(2)]),
            whole(&[3]),
            true,
            "3",
        ),
        (
            "NaN",
            doubles(&[f64::NAN, 1.0]),
            doubles(&[f64::NAN, 2.0]),
            true,
            "NaN",
        ),
    ];
    for (what, left, right, equal, shown) in cases {
        let (matched, totals) = total(left, right, Rule::Exact);
        assert_eq!((matched, totals[0].as_deref()), (equal, Some(shown)), "{what}");
    }
    assert!(
        total(integers(vec![None]), integers(vec![None, None]), Rule::Exact).0,
        "a sum over only NULLs is NULL"
    );
    assert!(
        !total(integers(vec![None]), whole(&[0]), absolute("1")).0,
        "and not 0"
    );
}

#[test]
fn a_sum_that_overflows_is_an_error() {
    let most = decimals(0, &[99_999_999_999_999_999_999_999_999_999_999_999_999, 2]);
    let grouped = table([("k", whole(&[1, 1])), ("v", most)]);
    let error = Scene::new([grouped.clone(), grouped])
        .measure(Aggregate::Sum, "v")
        .run()
        .expect_err("overflow");
    assert!(error.contains('v'), "{error}");
}

#[test]
fn aggregates_of_groups() {
    let group = |values: ArrayRef| table([("k", whole(&vec![1; values.len()])), ("v", values)]);
    let cases: Vec<(Aggregate, ArrayRef, ArrayRef, bool)> = vec![
        (
            Aggregate::Avg,
            whole(&[1, 0, 0]),
            whole(&[2, 0, 0, 0, 0, 0]),
            true,
        ),
        (
            Aggregate::Avg,
            whole(&[1, 0, 0]),
            texts(&["0.33333333333333333333333333333333333333"]),
            false,
        ),
        (
            Aggregate::Avg,
            integers(vec![Some(1), None]),
            whole(&[1, 1]),
            true,
        ),
        (Aggregate::Count, integers(vec![Some(1), None]), whole(&[7]), true),
        (
            Aggregate::Count,
            integers(vec![None]),
            integers(vec![None, None]),
            true,
        ),
        (
            Aggregate::CountDistinct,
            texts(&["1.0", "1", "2"]),
            whole(&[5, 6]),
            true,
        ),
        (
            Aggregate::CountDistinct,
            doubles(&[-0.0, 0.0, f64::NAN, f64::NAN]),
            doubles(&[1.0, 2.0]),
            true,
        ),
        (Aggregate::Min, whole(&[3, 1]), whole(&[1, 9]), true),
        (Aggregate::Max, whole(&[3, 1]), whole(&[1, 9]), false),
        (
            Aggregate::Max,
            doubles(&[f64::NAN, f64::INFINITY]),
            doubles(&[f64::NAN]),
            true,
        ),
        (Aggregate::Min, doubles(&[f64::NAN, 1.0]), doubles(&[1.0]), true),
        (Aggregate::Min, dates(&[5, 3]), dates(&[3]), true),
        (Aggregate::Max, integers(vec![None]), integers(vec![None]), true),
    ];
    for (aggregate, left, right, equal) in cases {
        let comparison = Scene::new([group(left.clone()), group(right.clone())])
            .measure(aggregate, "v")
            .comparison();
        assert_eq!(
            comparison.verdict == Verdict::Matched,
            equal,
            "{aggregate:?} of {left:?} and {right:?}"
        );
        assert_eq!(comparison.matched_groups, 1);
    }
    let rows = Scene::new([group(whole(&[1, 2])), group(integers(vec![None]))])
        .measure(Aggregate::Count, "*")
        .breaks();
    let counts: Vec<_> = rows[0].cells[0]
        .values
        .iter()
        .flatten()
        .flatten()
        .map(String::as_str)
        .collect();
    assert_eq!(counts, ["2", "1"], "count(*) counts rows");
}

#[test]
fn keys_are_tuples_and_null_is_a_key() {
    let keyed = |first: &[&str], second: &[&str]| {
        table([
            ("k", texts(first)),
            ("l", texts(second)),
            ("v", whole(&vec![1; first.len()])),
        ])
    };
    let with_key = |tables: [_; 2]| {
        let mut scene = Scene::new(tables);
        scene.spec.key.push("l".into());
        scene
    };
    let scene = with_key([keyed(&["ab", "x"], &["c", "y"]), keyed(&["a", "x"], &["bc", "y"])]);
    assert_eq!(
        scene.comparison().unmatched_by_source,
        [1, 1],
        "never concatenated"
    );
    assert_eq!(scene.broken(), ["a,bc", "ab,c"]);

    let scene = with_key([
        keyed(&["∅", "a", "∅", ""], &["x", "∅", "∅", "z"]),
        keyed(&["a", "∅", "∅", "∅"], &["∅", "x", "∅", "z"]),
    ]);
    let comparison = scene.comparison();
    assert_eq!(
        (comparison.matched_groups, comparison.unmatched_by_source),
        (3, vec![1, 1]),
        "NULL is NULL and not the empty text"
    );
    assert_eq!(
        comparison
            .key_report
            .iter()
            .map(|report| report.null_keys)
            .collect::<Vec<_>>(),
        [3, 4]
    );
}

#[test]
fn the_key_report_counts_keys_per_source() {
    let tables = [&["a", "a", "a", "b", "b", "∅", "∅", "c"][..], &["a"], &[]];
    let comparison = Scene::new(tables.map(|keys| table([("k", texts(keys))]))).comparison();
    let counts: Vec<_> = comparison
        .key_report
        .iter()
        .map(|report| {
            [
                report.rows,
                report.distinct_keys,
                report.duplicated_keys,
                report.null_keys,
            ]
        })
        .collect();
    assert_eq!(counts, [[8, 4, 3, 2], [1, 1, 0, 0], [0, 0, 0, 0]]);
}

#[test]
fn type_drift_in_a_key_is_reported() {
    let padded = table([("k", texts(&["007", "008"])), ("v", whole(&[1, 2]))]);
    let bare = table([("k", texts(&["7", "8"])), ("v", whole(&[1, 2]))]);
    let typed = table([("k", whole(&[7, 8])), ("v", whole(&[1, 2]))]);
    for (other, findings) in [(bare, 0), (typed, 1)] {
        let comparison = Scene::new([padded.clone(), other]).comparison();
        let key = comparison
            .columns
            .iter()
            .find(|column| column.name == "k")
            .expect("the key");
        assert_eq!(key.compared_as, Some("text"));
        assert!(
            key.notes.iter().any(|note| note.contains("drift")),
            "{:?}",
            key.notes
        );
        assert_eq!(
            (comparison.matched_groups, comparison.findings.len()),
            (0, findings)
        );
        assert_eq!(comparison.verdict, Verdict::Unmatched);
    }
}

#[test]
fn repeated_keys_are_paired_aggregated_or_refused() {
    let rows = |keys: &[i64], values: &[i64], more: &[i64]| {
        table([("k", whole(keys)), ("v", whole(values)), ("w", whole(more))])
    };
    let left = rows(&[1, 1, 1, 2], &[10, 20, 30, 5], &[1, 2, 3, 0]);
    let right = rows(&[1, 1, 1, 1, 2], &[30, 21, 10, 99, 5], &[3, 2, 1, 9, 0]);

    let comparison = Scene::new([left.clone(), right.clone()]).comparison();
    assert_eq!(
        (
            comparison.rows_compared,
            comparison.matched_groups,
            comparison.rows_matched
        ),
        (5, 4, 3),
        "never many-to-many"
    );
    assert_eq!(comparison.unmatched_by_source, [0, 1]);
    let breaks = Scene::new([left.clone(), right.clone()]).breaks();
    let pair = breaks
        .iter()
        .find(|found| found.is_outside())
        .expect("the pair with one difference");
    assert_eq!(
        pair.cells[0].values,
        [Some(Some("20".into())), Some(Some("21".into()))]
    );
    assert!(pair.cells[1].outside.is_none());

    let mut scene = Scene::new([left.clone(), right.clone()]);
    scene.spec.duplicates = Some(Duplicates::Error);
    let error = scene.run().expect_err("a repeated key");
    assert!(error.contains('1'), "names the key: {error}");

    let comparison = Scene::new([left, right])
        .measure(Aggregate::Sum, "v")
        .comparison();
    assert_eq!(
        (
            comparison.rows_compared,
            comparison.rows_matched,
            comparison.measures[0].outside
        ),
        (2, 1, 1)
    );
}

#[test]
fn rows_beyond_the_search_are_paired_in_order() {
    let table = |values: Vec<i64>| table([("k", whole(&vec![1; values.len()])), ("v", whole(&values))]);
    let (even, odd): (Vec<i64>, Vec<i64>) = (
        (0..100).map(|number| number * 2).collect(),
        (0..100).map(|number| number * 2 + 1).rev().collect(),
    );
    let scene = Scene::new([table(even), table(odd)]).tolerance("v", absolute("1"));
    let comparison = scene.comparison();
    assert_eq!((comparison.matched_groups, comparison.rows_matched), (100, 100));
}

#[test]
fn text_is_read_as_what_the_others_are() {
    let bools: ArrayRef = Arc::new(BooleanArray::from(vec![true, false]));
    check(vec![
        held("numbers", texts(&["1.0", "2"]), whole(&[1, 2]), "number", &[]),
        held(
            "text that is numeric on both sides",
            texts(&["1.0", "2"]),
            texts(&["1", "2.00"]),
            "number",
            &[],
        ),
        held(
            "only one side is numeric",
            texts(&["1.0", "2"]),
            texts(&["1", "n/a"]),
            "text",
            &["0", "1"],
        ),
        held(
            "a leading zero makes text",
            texts(&["007", "1.0"]),
            texts(&["7", "1"]),
            "text",
            &["0", "1"],
        ),
        held(
            "a plus makes text",
            texts(&["+7", "1"]),
            texts(&["7", "1"]),
            "text",
            &["0"],
        ),
        held(
            "a lone zero does not",
            texts(&["0", "0.5"]),
            whole(&[0, 1]),
            "number",
            &["1"],
        ),
        held(
            "only NaN is no number",
            texts(&["NaN", "inf"]),
            texts(&["NaN", "Infinity"]),
            "text",
            &["1"],
        ),
        held("booleans", texts(&["TRUE", "False"]), bools, "boolean", &[]),
        held(
            "dates",
            texts(&["2024-01-31", "2024-2-1"]),
            dates(&[19_753, 19_754]),
            "date",
            &[],
        ),
        held(
            "NULL is of any kind",
            texts(&["∅", "2"]),
            whole(&[1, 2]),
            "number",
            &["0"],
        ),
        held(
            "nothing but NULL",
            texts(&["∅", "∅"]),
            whole(&[1, 2]),
            "number",
            &["0", "1"],
        ),
        held(
            "a column of the type of NULLs",
            nulls(2),
            dates(&[1, 2]),
            "date",
            &["0", "1"],
        ),
    ]);
}

#[test]
fn columns_of_only_nulls_are_equal() {
    for (left, right) in [
        (nulls(2), nulls(2)),
        (nulls(2), texts(&["∅", "∅"])),
        (integers(vec![None, None]), texts(&["∅", "∅"])),
    ] {
        let comparison = Scene::of([left, right]).comparison();
        assert_eq!(
            (comparison.verdict, comparison.rows_matched),
            (Verdict::Matched, 2),
            "{:?}",
            comparison.findings
        );
    }
}

#[test]
fn declared_booleans_take_more_spellings() {
    let spelled = texts(&["t", "F", "Yes", "no", "Y", "n", "1", "0", "TRUE", "false"]);
    let numbers = whole(&[1, 0, 1, 0, 1, 0, 1, 0, 1, 0]);
    let mut scene = Scene::of([spelled, numbers]);
    scene.spec.booleans.push("v".into());
    let comparison = scene.comparison();
    assert_eq!(
        (comparison.verdict, comparison.rows_matched),
        (Verdict::Matched, 10)
    );
}

#[test]
fn an_assumption_disproved_late_starts_over() {
    const ROWS: usize = 100_000;
    let mut numerals: Vec<String> = (0..ROWS).map(|row| format!("{row}.0")).collect();
    let other: Vec<String> = (0..ROWS).map(|row| row.to_string()).collect();
    let column = |values: &[String]| texts(&values.iter().map(String::as_str).collect::<Vec<_>>());
    assert_eq!(
        Scene::of([column(&numerals), column(&other)])
            .comparison()
            .rows_matched,
        ROWS as u64
    );
    numerals[ROWS - 1] = "n/a".into();
    let comparison = Scene::of([column(&numerals), column(&other)]).comparison();
    assert_eq!(
        (comparison.rows_matched, comparison.measures[0].outside),
        (0, ROWS as u64),
        "as texts all differ"
    );
    let values = comparison
        .columns
        .iter()
        .find(|column| column.name == "v")
        .expect("the column");
    assert_eq!((values.compared_as, comparison.findings.len()), (Some("text"), 0));
}

#[test]
fn the_order_of_day_and_month_is_proven_or_declared() {
    let date = dates(&[19_753, 19_754]);
    check(vec![
        held(
            "day first",
            texts(&["31/01/2024", "01/02/2024"]),
            date.clone(),
            "date",
            &[],
        ),
        held(
            "month first",
            texts(&["1-31-2024", "2-1-2024"]),
            date.clone(),
            "date",
            &[],
        ),
        held(
            "dots",
            texts(&["31.1.2024", "1.2.2024"]),
            date.clone(),
            "date",
            &[],
        ),
    ]);
    let ambiguous = || Scene::of([texts(&["01/02/2024", "03/04/2024"]), dates(&[19_754, 19_816])]);
    let error = ambiguous().run().expect_err("an open order");
    assert!(
        error.contains('v') && error.contains("day") && error.contains("month"),
        "{error}"
    );
    for (format, outside) in [("%d/%m/%Y", 0), ("%m/%d/%Y", 2)] {
        let mut scene = ambiguous();
        scene.date_formats.insert(0, format);
        let comparison = scene.comparison();
        assert_eq!(comparison.measures[0].outside, outside, "{format}");
    }
    let mut scene = Scene::of([texts(&["01/02/2024", "31/31/2024"]), date]);
    scene.date_formats.insert(0, "%d/%m/%Y");
    let error = scene.run().expect_err("a value that does not fit");
    assert!(error.contains("31/31/2024"), "{error}");
}

#[test]
fn instants_and_wall_clocks_are_two_types() {
    let ten_utc = 1_706_695_200; // 2024-01-31T10:00:00Z
    check(vec![
        held(
            "offsets",
            texts(&["2024-01-31T10:00:00Z"]),
            texts(&["2024-01-31 12:00+02:00"]),
            "instant",
            &[],
        ),
        held(
            "typed",
            texts(&["2024-01-31T12:00:00+0200"]),
            stamps("s", &[ten_utc], Some("Europe/Berlin")),
            "instant",
            &[],
        ),
        held(
            "other instants",
            texts(&["2024-01-31T10:00:00Z"]),
            texts(&["2024-01-31T10:00:00+02:00"]),
            "instant",
            &["0"],
        ),
        held(
            "wall clocks",
            texts(&["2024-01-31 10:00:00"]),
            stamps("ms", &[ten_utc * 1000], None),
            "timestamp",
            &[],
        ),
        held(
            "afternoon",
            texts(&["2024-01-31 10:00 AM", "2024-01-31 10:00 PM"]),
            stamps("s", &[ten_utc, ten_utc + 43_200], None),
            "timestamp",
            &[],
        ),
        held(
            "a date is its midnight",
            dates(&[19_753, 19_753]),
            stamps("s", &[ten_utc - 36_000, ten_utc], None),
            "timestamp",
            &["1"],
        ),
        held(
            "a date in text too",
            texts(&["2024-01-31"]),
            stamps("s", &[ten_utc - 36_000], None),
            "timestamp",
            &[],
        ),
    ]);
    let naive = || {
        Scene::of([
            stamps("s", &[ten_utc + 3_600], None),
            stamps("s", &[ten_utc], Some("UTC")),
        ])
    };
    let comparison = naive().comparison();
    assert_eq!(
        (comparison.findings.len(), comparison.verdict),
        (1, Verdict::Unmatched),
        "no zone is declared"
    );
    let mut scene = naive();
    scene.timezones.insert(0, "Europe/Berlin");
    assert_eq!(
        scene.comparison().verdict,
        Verdict::Matched,
        "11:00 in Berlin is 10:00 UTC in winter"
    );
    scene = Scene::of([texts(&["2024-07-31 12:00:00"]), texts(&["2024-07-31T10:00:00Z"])]);
    scene.timezones.insert(0, "Europe/Berlin");
    assert_eq!(
        scene.comparison().verdict,
        Verdict::Matched,
        "and 12:00 in summer"
    );
    scene = Scene::of([dates(&[19_753]), texts(&["2024-01-30T23:00:00Z"])]);
    scene.timezones.insert(0, "Europe/Berlin");
    assert_eq!(
        scene.comparison().verdict,
        Verdict::Matched,
        "a date is midnight where its source is"
    );
}

#[test]
fn precision_is_the_coarser_one_and_said() {
    let cases: [Stamped; 5] = [
        ("ms", &[1, 2], "us", &[1_999, 1_999], 1, Some("ms")),
        ("ms", &[-1], "us", &[-1], 0, Some("ms")),
        ("us", &[5], "ns", &[5_999], 0, Some("µs")),
        ("s", &[1], "ns", &[1_999_999_999], 0, Some("s")),
        ("us", &[5], "us", &[6], 1, None),
    ];
    for (left, left_ticks, right, right_ticks, outside, unit) in cases {
        let comparison =
            Scene::of([stamps(left, left_ticks, None), stamps(right, right_ticks, None)]).comparison();
        let column = comparison
            .columns
            .iter()
            .find(|column| column.name == "v")
            .expect("the column");
        assert_eq!(comparison.measures[0].outside, outside, "{left} {right}");
        let noted = column.notes.iter().any(|note| note.contains("precision"));
        assert_eq!(noted, unit.is_some(), "{left} {right}: {:?}", column.notes);
        let named = unit.is_none_or(|unit| {
            column
                .notes
                .iter()
                .any(|note| note.contains(unit) || note.contains(&unit.replace('µ', "u")))
        });
        assert!(named, "{left} {right}: {:?}", column.notes);
    }
    let text = Scene::of([texts(&["1970-01-01 00:00:00.001999"]), stamps("ms", &[1], None)]).comparison();
    assert_eq!(text.measures[0].outside, 0, "text has nanoseconds");
}

#[test]
fn missing_columns_and_other_types_are_findings() {
    let left = table([("k", whole(&[1])), ("v", whole(&[1])), ("only", whole(&[1]))]);
    let right = table([("k", whole(&[1])), ("v", whole(&[1]))]);
    let comparison = Scene::new([left.clone(), right.clone()]).comparison();
    assert_eq!(
        (comparison.verdict, comparison.rows_matched),
        (Verdict::Unmatched, 1)
    );
    let finding = &comparison.findings[0];
    assert_eq!((comparison.findings.len(), finding.column.as_str()), (1, "only"));
    assert!(finding.problem.contains("source_1"), "{}", finding.problem);
    assert!(
        comparison
            .columns
            .iter()
            .any(|column| column.name == "only" && column.role == Role::Missing)
    );

    let mut scene = Scene::new([left.clone(), right.clone()]);
    scene.spec.ignore.push("only".into());
    assert_eq!(scene.comparison().verdict, Verdict::Matched, "ignored");
    let mut scene = Scene::new([left.clone(), right.clone()]);
    scene.spec.compare.push("v".into());
    assert_eq!(scene.comparison().verdict, Verdict::Matched, "not asked for");
    let scene = Scene::new([left, right]).measure(Aggregate::Sum, "v");
    assert_eq!(scene.comparison().verdict, Verdict::Matched, "not measured");

    for (left, right) in [
        (whole(&[1, 2]), texts(&["1", "x"])),
        (dates(&[1, 2]), whole(&[1, 2])),
    ] {
        let comparison = Scene::of([left, right]).comparison();
        assert_eq!(
            (comparison.findings.len(), comparison.findings[0].column.as_str()),
            (1, "v")
        );
        assert_eq!(comparison.verdict, Verdict::Unmatched);
    }
    let equal = Scene::of([whole(&[1, 2]), texts(&["1", "x"])])
        .tolerance("v", absolute("5"))
        .comparison();
    assert_eq!(
        (
            equal.measures[0].within,
            equal.measures[0].outside,
            equal.findings.len()
        ),
        (1, 1, 1),
        "as texts"
    );
    assert_eq!(equal.measures[0].tolerance_type, "EXACT");
}

#[test]
fn breaks_say_everything_in_the_order_of_their_keys() {
    let left = table([
        ("k", whole(&[10, 9, 2, -1])),
        ("v", decimals(2, &[1005, 5, 7, 8])),
        ("t", texts(&["a", "b", "c", "d"])),
    ]);
    let right = table([
        ("k", texts(&["3", "2", "10", "9"])),
        ("v", texts(&["1", "0.070", "10.08", "∅"])),
        ("t", texts(&["x", "c", "a", "b"])),
    ]);
    let breaks = Scene::new([left, right])
        .tolerance("v", absolute("0.01"))
        .breaks();
    let shown = |text: &str| Some(Some(text.to_owned()));
    let found: Vec<_> = breaks
        .iter()
        .map(|found| {
            (
                found.key[0].clone().expect("a key"),
                found.present.clone(),
                found.cells[0].values.clone(),
            )
        })
        .collect();
    assert_eq!(
        found,
        [
            ("-1".into(), vec![true, false], vec![shown("0.08"), None]),
            ("3".into(), vec![false, true], vec![None, shown("1")]),
            ("9".into(), vec![true, true], vec![shown("0.05"), Some(None)]),
            (
                "10".into(),
                vec![true, true],
                vec![shown("10.05"), shown("10.08")]
            ),
        ]
    );
    let outside = breaks[3].cells[0].outside.as_ref().expect("outside");
    assert_eq!(
        (outside.pair, outside.difference.as_deref()),
        ((0, 1), Some("0.03"))
    );
    assert!(
        breaks[2].cells[0]
            .outside
            .as_ref()
            .is_some_and(|outside| outside.difference.is_none())
    );
    assert!(breaks[0].cells.iter().all(|cell| cell.outside.is_none()));
}

#[test]
fn breaks_that_concentrate_are_pointed_out() {
    let rows = 400_i64;
    let regions: Vec<&str> = (0..rows)
        .map(|row| if row % 10 == 0 { "north" } else { "south" })
        .collect();
    let side = |shift: i64| {
        let values: Vec<i64> = (0..rows)
            .map(|row| if row % 10 == 0 { row + shift } else { row })
            .collect();
        table([
            ("k", whole(&(0..rows).collect::<Vec<_>>())),
            ("region", texts(&regions)),
            ("v", whole(&values)),
        ])
    };
    let comparison = Scene::new([side(0), side(1)]).comparison();
    let found: Vec<_> = comparison
        .concentration
        .iter()
        .map(|found| {
            (
                found.column.as_str(),
                found.value.as_deref(),
                found.rows,
                found.broken_rows,
            )
        })
        .collect();
    assert_eq!(found, [("region", Some("north"), 80, 80)]);
    assert_eq!(
        (
            comparison.concentration[0].all_rows,
            comparison.concentration[0].all_broken_rows
        ),
        (800, 80)
    );
}
