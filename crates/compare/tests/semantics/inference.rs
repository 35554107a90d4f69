//! What columns are compared as.

use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray, DictionaryArray, LargeStringArray, StringViewArray};
use trueup_compare::{Aggregate, Normaliser, Role, Verdict};

use crate::held::{check, held};
use crate::scene::{Scene, absolute, dates, integers, nulls, table, texts, whole};

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
        (&[Trim, CollapseSpace, Casefold, Nfc], "\u{a0}Cafe\u{301}  au\tlait", "CAF\u{c9} AU LAIT", true),
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
            scene.spec.normalisers.insert(if key { "k" } else { "v" }.into(), normalisers.to_vec());
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
        Arc::new(words.into_iter().collect::<DictionaryArray<arrow_array::types::Int32Type>>()),
    ];
    assert_eq!(Scene::of(columns).comparison().verdict, Verdict::Matched);
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
        held("only one side is numeric", texts(&["1.0", "2"]), texts(&["1", "n/a"]), "text", &["0", "1"]),
        held("a leading zero makes text", texts(&["007", "1.0"]), texts(&["7", "1"]), "text", &["0", "1"]),
        held("a plus makes text", texts(&["+7", "1"]), texts(&["7", "1"]), "text", &["0"]),
        held("a lone zero does not", texts(&["0", "0.5"]), whole(&[0, 1]), "number", &["1"]),
        held("only NaN is a number too", texts(&["NaN", "inf"]), texts(&["NaN", "Infinity"]), "number", &[]),
        held("booleans", texts(&["TRUE", "False"]), bools, "boolean", &[]),
        held("dates", texts(&["2024-01-31", "2024-2-1"]), dates(&[19_753, 19_754]), "date", &[]),
        held("NULL is of any kind", texts(&["∅", "2"]), whole(&[1, 2]), "number", &["0"]),
        held("nothing but NULL", texts(&["∅", "∅"]), whole(&[1, 2]), "number", &["0", "1"]),
        held("a column of the type of NULLs", nulls(2), dates(&[1, 2]), "date", &["0", "1"]),
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
    assert_eq!((comparison.verdict, comparison.rows_matched), (Verdict::Matched, 10));
}

#[test]
fn an_assumption_disproved_late_starts_over() {
    const ROWS: usize = 100_000;
    let mut numerals: Vec<String> = (0..ROWS).map(|row| format!("{row}.0")).collect();
    let other: Vec<String> = (0..ROWS).map(|row| row.to_string()).collect();
    let column = |values: &[String]| texts(&values.iter().map(String::as_str).collect::<Vec<_>>());
    assert_eq!(Scene::of([column(&numerals), column(&other)]).comparison().rows_matched, ROWS as u64);
    numerals[ROWS - 1] = "n/a".into();
    let comparison = Scene::of([column(&numerals), column(&other)]).comparison();
    assert_eq!(
        (comparison.rows_matched, comparison.measures[0].outside),
        (0, ROWS as u64),
        "as texts all differ"
    );
    let values = comparison.columns.iter().find(|column| column.name == "v").expect("the column");
    assert_eq!((values.compared_as, comparison.findings.len()), (Some("text"), 0));
}

#[test]
fn missing_columns_and_other_types_are_findings() {
    let left = table([("k", whole(&[1])), ("v", whole(&[1])), ("only", whole(&[1]))]);
    let right = table([("k", whole(&[1])), ("v", whole(&[1]))]);
    let comparison = Scene::new([left.clone(), right.clone()]).comparison();
    assert_eq!((comparison.verdict, comparison.rows_matched), (Verdict::Unmatched, 1));
    let finding = &comparison.findings[0];
    assert_eq!((comparison.findings.len(), finding.column.as_str()), (1, "only"));
    assert!(finding.problem.contains("source_1"), "{}", finding.problem);
    assert!(comparison.columns.iter().any(|column| column.name == "only" && column.role == Role::Missing));

    let mut scene = Scene::new([left.clone(), right.clone()]);
    scene.spec.ignore.push("only".into());
    assert_eq!(scene.comparison().verdict, Verdict::Matched, "ignored");
    let mut scene = Scene::new([left.clone(), right.clone()]);
    scene.spec.compare.push("v".into());
    assert_eq!(scene.comparison().verdict, Verdict::Matched, "not asked for");
    let scene = Scene::new([left, right]).measure(Aggregate::Sum, "v");
    assert_eq!(scene.comparison().verdict, Verdict::Matched, "not measured");

    for (left, right) in [(whole(&[1, 2]), texts(&["1", "x"])), (dates(&[1, 2]), whole(&[1, 2]))] {
        let comparison = Scene::of([left, right]).comparison();
        assert_eq!((comparison.findings.len(), comparison.findings[0].column.as_str()), (1, "v"));
        assert_eq!(comparison.verdict, Verdict::Unmatched);
    }
    let equal = Scene::of([whole(&[1, 2]), texts(&["1", "x"])]).tolerance("v", absolute("5")).comparison();
    assert_eq!(
        (equal.measures[0].within, equal.measures[0].outside, equal.findings.len()),
        (1, 1, 1),
        "as texts"
    );
    assert_eq!(equal.measures[0].tolerance_type, "EXACT");
}
