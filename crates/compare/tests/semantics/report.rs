//! What a comparison says.

use arrow_array::ArrayRef;
use trueup_compare::{Aggregate, Rule};

use crate::scene::{
    Scene, absolute, dates, decimal, decimals, doubles, integers, seconds, table, texts, whole,
};

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
    let breaks = Scene::new([left, right]).tolerance("v", absolute("0.01")).breaks();
    let shown = |text: &str| Some(Some(text.to_owned()));
    let found: Vec<_> = breaks
        .iter()
        .map(|found| {
            (found.key[0].clone().expect("a key"), found.present.clone(), found.cells[0].values.clone())
        })
        .collect();
    assert_eq!(
        found,
        [
            ("-1".into(), vec![true, false], vec![shown("0.08"), None]),
            ("3".into(), vec![false, true], vec![None, shown("1")]),
            ("9".into(), vec![true, true], vec![shown("0.05"), Some(None)]),
            ("10".into(), vec![true, true], vec![shown("10.05"), shown("10.08")]),
        ]
    );
    let outside = breaks[3].cells[0].outside.as_ref().expect("outside");
    assert_eq!((outside.pair, outside.difference.as_deref()), ((0, 1), Some("0.03")));
    assert!(breaks[2].cells[0].outside.as_ref().is_some_and(|outside| outside.difference.is_none()));
    assert!(breaks[0].cells.iter().all(|cell| cell.outside.is_none()));
}

#[test]
fn the_largest_difference_is_told_within_and_outside() {
    let day = || seconds("-86400", "86400");
    let cases: [(Vec<ArrayRef>, Rule, Option<&str>); 12] = [
        (vec![decimals(2, &[100, 207]), decimals(2, &[101, 200])], absolute("1"), Some("0.07")),
        (vec![doubles(&[10.01, 2.0, 5.0]), doubles(&[10.0, 2.03, 5.02])], absolute("1"), Some("0.03")),
        (vec![doubles(&[1.0, f64::NAN]), doubles(&[1.5, f64::NAN])], absolute("1"), Some("0.5")),
        (vec![texts(&["1e-20", "1"]), doubles(&[0.0, 1.25])], absolute("1"), Some("0.25")),
        (vec![whole(&[1, 2]), whole(&[1, 2])], absolute("1"), Some("0")),
        (vec![whole(&[1, 2]), whole(&[1, 2])], Rule::Exact, Some("0")),
        (vec![whole(&[1, 2]), whole(&[1, 9])], Rule::Exact, Some("7")),
        (vec![integers(vec![None]), whole(&[1])], absolute("1"), None),
        (vec![texts(&["a"]), texts(&["a"])], Rule::Exact, None),
        (vec![dates(&[1, 2]), dates(&[1, 2])], day(), Some("0s")),
        (vec![dates(&[1, 2]), dates(&[1, 3]), dates(&[1, 2])], day(), Some("1d")),
        (vec![whole(&[5]), whole(&[3]), whole(&[6])], absolute("9"), Some("3")),
    ];
    for (sources, rule, expected) in cases {
        for verify in [false, true] {
            let mut scene = Scene::of(sources.clone()).tolerance("v", rule.clone());
            scene.spec.verify = verify;
            let found = scene.comparison().measures[0].largest_difference.clone();
            assert_eq!(found.as_deref(), expected, "{sources:?} {rule:?}");
        }
    }
    let aggregated = Scene::of([decimals(2, &[100, 207]), decimals(2, &[101, 200])])
        .measure(Aggregate::Sum, "v")
        .tolerance("sum(v)", Rule::Percentage { value: decimal("50"), base: trueup_compare::Base::Larger });
    assert_eq!(aggregated.comparison().measures[0].largest_difference.as_deref(), Some("0.07"));
}

#[test]
fn control_totals_count_and_overflow() {
    let totals = |scene: &Scene| scene.comparison().measures[0].totals.clone().expect("totals");
    let sources = || [integers(vec![Some(1), None, Some(3)]), whole(&[1, 2, 3])];
    let counted = Scene::of(sources()).measure(Aggregate::Count, "v");
    assert_eq!(totals(&counted), [Some("2".into()), Some("3".into())]);
    let counted = Scene::of(sources()).measure(Aggregate::Count, "*");
    assert_eq!(totals(&counted), [Some("3".into()), Some("3".into())]);
    let most = 10_i128.pow(38) - 1;
    let wide = Scene::of([decimals(0, &[most, most]), decimals(0, &[most, -most])]);
    assert_eq!(totals(&wide), [Some("overflows 38 digits".into()), Some("0".into())]);
}

#[test]
fn values_that_differ_are_shown_differently() {
    let shown = |scene: &Scene| {
        let values = scene.breaks()[0].cells[0].values.clone();
        values.into_iter().map(|value| value.flatten().expect("a value")).collect::<Vec<_>>()
    };
    let thirds = |digits: i128| table([("k", whole(&[1, 1, 1])), ("v", decimals(15, &[digits, 0, 0]))]);
    let one = 10_i128.pow(15);
    let averages = Scene::new([thirds(one), thirds(one + 3)]).measure(Aggregate::Avg, "v");
    assert_eq!(shown(&averages), ["0.333333333333333333333333", "0.333333333333334333333333"]);
    let averages = Scene::new([thirds(one), thirds(2 * one)]).measure(Aggregate::Avg, "v");
    assert_eq!(shown(&averages), ["0.333333333333", "0.666666666667"]);
    let scaled = Scene::of([decimals(2, &[110]), decimals(3, &[1200])]);
    assert_eq!(shown(&scaled), ["1.10", "1.200"]);
}
