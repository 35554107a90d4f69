//! Columns that are one thing in one source and another in the next.

use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray};
use trueup_compare::{Aggregate, Allow, MeasureReport, Normaliser, Tolerance, Verdict};

use crate::scene::{Scene, absolute, dates, nulls, seconds, table, texts, whole};

/// The findings, as a person reads them.
fn findings(scene: &Scene) -> Vec<String> {
    let comparison = scene.comparison();
    let verdict = if comparison.findings.is_empty() { comparison.verdict } else { Verdict::Unmatched };
    assert_eq!(comparison.verdict, verdict);
    comparison.findings.iter().map(ToString::to_string).collect()
}

/// What became of a measure: groups within and outside, the tolerance, and whether it passed.
fn fate(measure: &MeasureReport) -> (u64, u64, &str, Option<&str>, bool) {
    let MeasureReport { within, outside, tolerance_type, tolerance_value, passed, .. } = measure;
    (*within, *outside, tolerance_type.name(), tolerance_value.as_deref(), *passed)
}

/// What the column is in either source, and what is hinted at.
type Found<'a> = (&'a str, &'a str, &'a str);

#[test]
fn kinds_that_disagree_are_a_finding() {
    let truths: ArrayRef = Arc::new(BooleanArray::from(vec![true, false]));
    let zone = "; declare a time zone for the times that carry none";
    let cases: [(ArrayRef, ArrayRef, Option<Found<'_>>); 16] = [
        (texts(&["1.0", "2"]), texts(&["1", "n/a"]), Some(("number", "text", ""))),
        (texts(&["007", "1"]), texts(&["7", "1"]), Some(("text", "number", ""))),
        (texts(&["abc", "def"]), texts(&["7", "1"]), Some(("text", "number", ""))),
        (texts(&["true", "false"]), texts(&["1", "0"]), Some(("boolean", "number", ""))),
        (texts(&["2024-01-31", "∅"]), texts(&["20240131", "∅"]), Some(("date", "number", ""))),
        (texts(&["2024-01-31", "∅"]), texts(&["31 Jan", "∅"]), Some(("date", "text", ""))),
        (
            texts(&["2024-01-31T10:00Z", "∅"]),
            texts(&["2024-01-31T10:00", "∅"]),
            Some(("instant", "timestamp", zone)),
        ),
        (texts(&["2024-01-31", "∅"]), texts(&["2024-01-31T10:00Z", "∅"]), Some(("date", "instant", zone))),
        (whole(&[1, 2]), texts(&["1", "x"]), Some(("number", "text", ""))),
        (dates(&[1, 2]), whole(&[1, 2]), Some(("date", "number", ""))),
        (texts(&["1", "2"]), truths, Some(("number", "boolean", ""))),
        (texts(&["∅", "∅"]), texts(&["1", "x"]), None),
        (texts(&["∅", "∅"]), texts(&["1", "2"]), None),
        (nulls(2), texts(&["2024-01-31T10:00Z", "∅"]), None),
        (texts(&["1", "2"]), whole(&[1, 3]), None),
        (texts(&["2024-01-31", "∅"]), texts(&["2024-01-31T10:00", "∅"]), None),
    ];
    for (left, right, expected) in cases {
        let expected: Vec<String> = expected
            .iter()
            .map(|(left, right, hint)| {
                format!("v: {left} in source_0, {right} in source_1: compared as text{hint}")
            })
            .collect();
        assert_eq!(findings(&Scene::of([left, right])), expected);
    }
    let three = Scene::of([texts(&["1"]), texts(&["true"]), texts(&["x"])]);
    assert_eq!(
        findings(&three),
        ["v: number in source_0, boolean in source_1, text in source_2: compared as text"]
    );
}

#[test]
fn text_may_drift_where_it_cannot_matter() {
    let columns = || [texts(&["5", "6"]), texts(&[" 5", "6 "])];
    let note = "number in source_0, text in source_1: compared as text";
    let mut trimmed = Scene::of(columns());
    trimmed.spec.normalisers.insert("v".into(), vec![Normaliser::Trim]);
    let counted = Scene::of(columns()).measure(Aggregate::Count, "v").measure(Aggregate::CountDistinct, "v");
    for scene in [&trimmed, &counted] {
        let comparison = scene.comparison();
        assert_eq!((comparison.verdict, &comparison.findings), (Verdict::Matched, &Vec::new()));
        assert_eq!(comparison.columns[1].notes.first().map(String::as_str), Some(note));
    }
    let key = |keys: &[&str]| table([("k", texts(keys))]);
    let drifting = Scene::new([key(&["1", "2"]), key(&["1", "x2"])]).comparison();
    assert_eq!((drifting.findings.len(), drifting.key_report[1].type_drift.len()), (0, 1));
    let clashing = Scene::new([key(&["2024-01-31T10:00Z"]), key(&["2024-01-31T10:00"])]);
    assert_eq!(findings(&clashing).len(), 1);
}

#[test]
fn a_tolerance_that_cannot_apply_has_not_passed() {
    for (left, rule, tolerance, value) in [
        (texts(&["1", "2"]), absolute("5"), "ABSOLUTE", "5"),
        (whole(&[1, 2]), absolute("5"), "ABSOLUTE", "5"),
        (texts(&["2024-01-31", "∅"]), seconds("-60", "60"), "DURATION", "1m"),
    ] {
        let mut scene = Scene::of([left, texts(&["1", "x"])]);
        scene.spec.tolerances.insert("v".into(), Tolerance { rule, allow: Allow::Count(9) });
        let comparison = scene.comparison();
        let (within, outside, ..) = fate(&comparison.measures[0]);
        assert_eq!(within + outside, comparison.matched_groups);
        assert_eq!(fate(&comparison.measures[0]), (within, outside, tolerance, Some(value), false));
        let problem = &comparison.findings[0].problem;
        assert!(problem.ends_with(&format!("the tolerance {value} of v cannot apply")), "{problem}");
    }
}

#[test]
fn a_measure_that_cannot_be_computed_is_a_finding_and_the_others_go_on() {
    for aggregate in [Aggregate::Sum, Aggregate::Avg, Aggregate::Min, Aggregate::Max] {
        let sources = [texts(&["1", "2"]), texts(&["1", "n/a"])];
        let scene = Scene::of(sources)
            .measure(aggregate, "v")
            .measure(Aggregate::Count, "v")
            .tolerance("v", absolute("1"));
        let name = format!("{aggregate:?}(v)").to_lowercase();
        for verify in [false, true] {
            let scene =
                Scene { spec: trueup_compare::Spec { verify, ..scene.spec.clone() }, ..scene.clone() };
            let comparison = scene.comparison();
            assert_eq!(
                findings(&scene),
                [format!("v: number in source_0, text in source_1: {name} cannot be computed")]
            );
            assert_eq!(fate(&comparison.measures[0]), (2, 0, "ABSOLUTE", Some("1"), false), "{name}");
            assert_eq!(fate(&comparison.measures[1]), (2, 0, "ABSOLUTE", Some("1"), true), "{name}");
            assert_eq!((comparison.rows_matched, comparison.verdict), (2, Verdict::Unmatched));
        }
        let both = Scene::of([texts(&["1", "n/a"]), texts(&["1", "n/a"])]).measure(aggregate, "v");
        assert!(both.run().is_err(), "{name} of text everywhere");
    }
}

#[test]
fn a_measure_of_a_missing_column_has_not_passed() {
    let left = table([("k", whole(&[1, 2])), ("v", whole(&[1, 2]))]);
    let right = table([("k", whole(&[1, 2]))]);
    let aggregates = [Aggregate::Sum, Aggregate::Count, Aggregate::CountDistinct, Aggregate::Max];
    for aggregate in aggregates {
        let scene = Scene::new([left.clone(), right.clone()]).measure(aggregate, "v");
        let name = &scene.spec.measures[0].name;
        assert_eq!(findings(&scene), [format!("v: missing in source_1: {name} cannot be computed")]);
        assert_eq!(fate(&scene.comparison().measures[0]), (2, 0, "EXACT", None, false), "{name}");
    }
    let by_row = Scene::new([left, right]).tolerance("v", absolute("0.5"));
    assert_eq!(findings(&by_row), ["v: missing in source_1: the tolerance 0.5 cannot apply"]);
    assert_eq!(fate(&by_row.comparison().measures[0]), (2, 0, "ABSOLUTE", Some("0.5"), false));
}
