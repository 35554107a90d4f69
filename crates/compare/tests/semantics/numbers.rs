//! Numbers are exact, and so are their sums.

use std::sync::Arc;

use arrow_array::types::{ArrowPrimitiveType, Float16Type};
use arrow_array::{ArrayRef, Float32Array, PrimitiveArray, UInt64Array};
use trueup_compare::{Aggregate, Rule, Verdict};

use crate::held::{check, held};
use crate::scene::{Scene, absolute, dates, decimals, doubles, integers, table, texts, whole};

#[test]
fn halves_mean_their_shortest_decimals() {
    type Half = <Float16Type as ArrowPrimitiveType>::Native;
    let finite: Vec<Half> = (0..=u16::MAX).map(Half::from_bits).filter(|half| half.is_finite()).collect();
    // Of as few digits as read back as the same half, the nearest.
    let shortest = |half: &Half| {
        let numerals = (0..9).map(|decimals: usize| format!("{:.decimals$e}", half.to_f64()));
        let mut read_back = numerals.filter(|it| Half::from_f64(it.parse().expect("a float")) == *half);
        read_back.next().expect("enough digits").replace("-0e0", "0e0")
    };
    let spelt: Vec<String> = finite.iter().map(shortest).collect();
    let spelt = texts(&spelt.iter().map(String::as_str).collect::<Vec<_>>());
    let halves: ArrayRef = Arc::new(PrimitiveArray::<Float16Type>::from_iter_values(finite));
    let comparison = Scene::of([halves, spelt]).comparison();
    assert_eq!((comparison.verdict, comparison.rows_matched), (Verdict::Matched, 63_488));
    let few = [0.1, 10.01, 1e-7, f64::INFINITY, f64::NAN].map(Half::from_f64);
    let halves: ArrayRef = Arc::new(PrimitiveArray::<Float16Type>::from_iter_values(few));
    let spelt = texts(&["0.1", "10.01", "1e-7", "inf", "NaN"]);
    assert_eq!(Scene::of([halves, spelt]).comparison().rows_matched, 5);
}

#[test]
fn a_hundred_thousand_pairs_a_cent_apart_are_within_a_cent() {
    const PAIRS: i128 = 100_000;
    let cents = |offset: i128| (0..PAIRS).map(move |pair| pair * 7 + offset);
    let spelled =
        |offset| cents(offset).map(|cents| format!("{}.{:02}", cents / 100, cents % 100)).collect::<Vec<_>>();
    let as_text = |offset| texts(&spelled(offset).iter().map(String::as_str).collect::<Vec<_>>());
    let as_decimal = |offset| decimals(2, &cents(offset).collect::<Vec<_>>());
    let as_double = |offset| {
        doubles(&spelled(offset).iter().map(|text| text.parse().expect("a double")).collect::<Vec<_>>())
    };
    let columns: [(&str, &dyn Fn(i128) -> ArrayRef); 3] =
        [("text", &as_text), ("decimal", &as_decimal), ("double", &as_double)];
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
                assert_eq!(outside("0.00999999"), 100_000, "{left} against {right}, a little less");
            }
        }
    }
}

#[test]
fn numbers_are_exact() {
    check(vec![
        held("2^53 and its successor", whole(&[1 << 53]), whole(&[(1 << 53) + 1]), "number", &["0"]),
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
        held("spellings", texts(&["1.10", "1.1", "11e-1"]), texts(&["1.1", "11e-1", "1.10"]), "number", &[]),
        held(
            "spellings against a decimal",
            texts(&["1.10", "11e-1"]),
            decimals(3, &[1100, 1100]),
            "number",
            &[],
        ),
        held("upper case exponents", texts(&["12E2", "5E+1"]), whole(&[1200, 50]), "number", &[]),
        held("decimals of different scale", decimals(2, &[110]), decimals(6, &[1_100_000]), "number", &[]),
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
        held("doubles against decimals", doubles(&[10.01, 0.1]), decimals(2, &[1001, 10]), "number", &[]),
        held("huge doubles", doubles(&[1e300, -1e300]), texts(&["1e300", "-10e299"]), "number", &[]),
        held("tiny doubles", doubles(&[5e-324]), texts(&["0.5e-323"]), "number", &[]),
        held(
            "NaN is NaN",
            doubles(&[f64::NAN, f64::NAN, 1.0]),
            doubles(&[f64::NAN, 0.0, f64::NAN]),
            "number",
            &["1", "2"],
        ),
        held("NaN is not NULL", doubles(&[f64::NAN, 1.0]), texts(&["∅", "1"]), "number", &["0"]),
        held("NaN spelled", doubles(&[f64::NAN, 1.0]), texts(&["NaN", "1"]), "number", &[]),
        held(
            "infinities",
            doubles(&[f64::INFINITY, f64::NEG_INFINITY, f64::INFINITY, 1.0]),
            texts(&["inf", "-Infinity", "-inf", "1"]),
            "number",
            &["2"],
        ),
        held("negative zero", doubles(&[-0.0, 0.0]), whole(&[0, 0]), "number", &[]),
        held("negative zero in text", texts(&["-0.0", "0"]), texts(&["0", "-0"]), "number", &[]),
        held(
            "NULL is NULL and not 0",
            integers(vec![None, None, Some(0)]),
            integers(vec![None, Some(0), None]),
            "number",
            &["1", "2"],
        ),
        held("NULL is not the empty text", texts(&["∅", "∅", "a"]), texts(&["∅", "", "a"]), "text", &["1"]),
    ]);
}

#[test]
fn more_digits_than_fit_are_an_error_that_names_the_row() {
    let long = "1".repeat(45);
    let error = Scene::of([texts(&["1", &long]), whole(&[1, 2])]).run().expect_err("too long");
    assert!(error.contains("38") || error.contains("digits"), "{error}");
    assert!(error.contains('v'), "{error}");
}

#[test]
fn sums_are_exact_in_any_order() {
    let grouped = |values: ArrayRef| table([("k", whole(&vec![1; values.len()])), ("v", values)]);
    let total = |left, right, rule| {
        let scene = Scene::new([grouped(left), grouped(right)])
            .measure(Aggregate::Sum, "v")
            .tolerance("sum(v)", rule);
        let comparison = scene.comparison();
        (comparison.verdict == Verdict::Matched, comparison.measures[0].totals.clone().expect("totals"))
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
        ("doubles that cancel", doubles(&[1e300, 1.5, -1e300]), doubles(&[1.5]), true, "1.5"),
        ("doubles are rounded once", tenths.clone(), doubles(&[1.0]), true, "1"),
        ("against decimals they are decimals", tenths, decimals(1, &[10]), true, "1"),
        ("decimals", decimals(2, &[1, 2, 3]), texts(&["0.06"]), true, "0.06"),
        (
            "beyond 64 bits",
            whole(&[i64::MAX, i64::MAX]),
            texts(&["18446744073709551614"]),
            true,
            "18446744073709551614",
        ),
        ("NULLs are left out", integers(vec![Some(1), None, Some(2)]), whole(&[3]), true, "3"),
        ("NaN", doubles(&[f64::NAN, 1.0]), doubles(&[f64::NAN, 2.0]), true, "NaN"),
    ];
    for (what, left, right, equal, shown) in cases {
        let (matched, totals) = total(left, right, Rule::Exact);
        assert_eq!((matched, totals[0].as_deref()), (equal, Some(shown)), "{what}");
    }
    assert!(
        total(integers(vec![None]), integers(vec![None, None]), Rule::Exact).0,
        "a sum over only NULLs is NULL"
    );
    assert!(!total(integers(vec![None]), whole(&[0]), absolute("1")).0, "and not 0");
}

#[test]
fn a_sum_that_overflows_names_source_and_group() {
    const GROUPS: usize = 4_000;
    let most = 10_i128.pow(38) - 1;
    let keyed = |second: i128| {
        let accounts: Vec<String> = (0..2 * GROUPS).map(|row| format!("A-{:04}", GROUPS - row / 2)).collect();
        let accounts: Vec<&str> = accounts.iter().map(String::as_str).collect();
        // The smallest group that overflows is neither the first nor the last to be read.
        let value = |row: usize| match row % 2 {
            1 if (20..GROUPS).contains(&row) => second,
            1 => 0,
            _ => most,
        };
        let values: Vec<i128> = (0..2 * GROUPS).map(value).collect();
        let currencies = vec!["∅"; 2 * GROUPS];
        table([("k", texts(&accounts)), ("ccy", texts(&currencies)), ("v", decimals(0, &values))])
    };
    let cases = [
        (Aggregate::Sum, [0, 2], "source_1: sum(v) of k=A-2001 ccy=NULL needs more than 38 digits"),
        (Aggregate::Avg, [2, 2], "source_0: avg(v) of k=A-2001 ccy=NULL needs more than 38 digits"),
    ];
    for (aggregate, second, expected) in cases {
        let mut scene = Scene::new(second.map(keyed)).measure(Aggregate::Count, "v").measure(aggregate, "v");
        scene.spec.key.push("ccy".into());
        for (threads, verify) in [(1, false), (3, false), (3, true)] {
            scene.spec.verify = verify;
            let error = scene.compare(threads, None).expect_err("a sum of 39 digits");
            assert_eq!(error, expected, "{threads} threads, verify {verify}");
        }
    }
}

#[test]
fn aggregates_of_groups() {
    let group = |values: ArrayRef| table([("k", whole(&vec![1; values.len()])), ("v", values)]);
    let cases: Vec<(Aggregate, ArrayRef, ArrayRef, bool)> = vec![
        (Aggregate::Avg, whole(&[1, 0, 0]), whole(&[2, 0, 0, 0, 0, 0]), true),
        (Aggregate::Avg, whole(&[1, 0, 0]), texts(&["0.33333333333333333333333333333333333333"]), false),
        (Aggregate::Avg, integers(vec![Some(1), None]), whole(&[1, 1]), true),
        (Aggregate::Count, integers(vec![Some(1), None]), whole(&[7]), true),
        (Aggregate::Count, integers(vec![None]), integers(vec![None, None]), true),
        (Aggregate::CountDistinct, texts(&["1.0", "1", "2"]), whole(&[5, 6]), true),
        (Aggregate::CountDistinct, doubles(&[-0.0, 0.0, f64::NAN, f64::NAN]), doubles(&[1.0, 2.0]), true),
        (Aggregate::Min, whole(&[3, 1]), whole(&[1, 9]), true),
        (Aggregate::Max, whole(&[3, 1]), whole(&[1, 9]), false),
        (Aggregate::Max, doubles(&[f64::NAN, f64::INFINITY]), doubles(&[f64::NAN]), true),
        (Aggregate::Min, doubles(&[f64::NAN, 1.0]), doubles(&[1.0]), true),
        (Aggregate::Min, dates(&[5, 3]), dates(&[3]), true),
        (Aggregate::Max, integers(vec![None]), integers(vec![None]), true),
    ];
    for (aggregate, left, right, equal) in cases {
        let comparison =
            Scene::new([group(left.clone()), group(right.clone())]).measure(aggregate, "v").comparison();
        assert_eq!(comparison.verdict == Verdict::Matched, equal, "{aggregate:?} of {left:?} and {right:?}");
        assert_eq!(comparison.matched_groups, 1);
    }
    let rows = Scene::new([group(whole(&[1, 2])), group(integers(vec![None]))])
        .measure(Aggregate::Count, "*")
        .breaks();
    let counts: Vec<_> = rows[0].cells[0].values.iter().flatten().flatten().map(String::as_str).collect();
    assert_eq!(counts, ["2", "1"], "count(*) counts rows");
}
