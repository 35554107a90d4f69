//! What columns are compared as.

use std::sync::Arc;

use arrow_array::{
    ArrayRef, BooleanArray, Decimal256Array, DictionaryArray, LargeStringArray, StringViewArray,
};
use arrow_buffer::i256;
use trueup_compare::{Aggregate, Kind, Normaliser, Role, Verdict};

use crate::held::{check, held};
use crate::scene::{Scene, dates, decimals, integers, nulls, table, texts, whole};

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
        held("a leading zero makes text", texts(&["007", "1.0"]), texts(&["07", "1"]), "text", &["0", "1"]),
        held("a plus makes text", texts(&["+7", "1"]), texts(&["+7", "1.0"]), "text", &["1"]),
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
    assert_eq!((values.compared_as, comparison.findings.len()), (Some(Kind::Text), 1));
}

/// Values, what stands for some of them instead, and the note on that.
type Spoilt<'a> = (&'a [String], &'a [(usize, &'a str)], Option<&'a str>);

#[test]
fn the_value_that_makes_a_column_text_is_named() {
    let numbers: Vec<String> = (0..40).map(|row| format!("{row}.5")).collect();
    let days: Vec<String> = (0..40).map(|row| format!("{}/{}/2024", row % 28 + 1, row % 12 + 1)).collect();
    let iso = |day: &String| day.split('/').rev().collect::<Vec<_>>().join("-");
    let iso: Vec<String> = days.iter().map(iso).collect();
    let mixed: Vec<String> = iso
        .iter()
        .enumerate()
        .map(|(row, day)| if row % 2 == 0 { day.clone() } else { format!("{day} 10:00") })
        .collect();
    let truths: Vec<String> = (0..40).map(|row| (row % 3 == 0).to_string()).collect();
    let cases: [Spoilt<'_>; 13] = [
        (&numbers, &[(0, "N/A")], Some("one value of 40: `N/A` (row 1); all others are numbers")),
        (&numbers, &[(39, "N/A")], Some("one value of 40: `N/A` (row 40); all others are numbers")),
        (
            &numbers,
            &[(7, "007"), (9, "")],
            Some("2 values of 40, the first `007` (row 8); all others are numbers"),
        ),
        (
            &numbers,
            &[(7, ""), (9, "NaN")],
            Some("one value of 40: the empty text (row 8); all others are numbers"),
        ),
        (&numbers, &[(7, "a"), (8, "b"), (9, "c")], None),
        (&days, &[(5, "tbd")], Some("one value of 40: `tbd` (row 6); all others are dates")),
        (&days, &[(5, "12/31/2024")], Some("one value of 40: `12/31/2024` (row 6); all others are dates")),
        (&days, &[(5, "31.12.2024")], Some("one value of 40: `31.12.2024` (row 6); all others are dates")),
        (
            &mixed,
            &[(5, "2024-02-30")],
            Some("one value of 40: `2024-02-30` (row 6); all others are timestamps"),
        ),
        (&truths, &[(5, "yes")], Some("one value of 40: `yes` (row 6); all others are booleans")),
        (&numbers[..3], &[(1, "x")], Some("one value of 3: `x` (row 2); all others are numbers")),
        (&numbers[..2], &[(1, "x")], None),
        (&numbers, &[], None),
    ];
    for (values, strays, expected) in cases {
        let mut spoilt: Vec<&str> = values.iter().map(String::as_str).collect();
        strays.iter().for_each(|&(row, stray)| spoilt[row] = stray);
        let expected = expected.map(|note| format!("text in source_1 because of {note}"));
        for other in [texts(&spoilt), whole(&vec![1; values.len()])] {
            let comparison = Scene::of([other, texts(&spoilt)]).comparison();
            let notes = &comparison.columns[1].notes;
            let note = notes.iter().find(|note| note.starts_with("text in source_1"));
            assert_eq!(note, expected.as_ref(), "{strays:?}");
        }
    }
}

#[test]
fn the_first_stray_is_named_whatever_the_threads() {
    let mut values: Vec<String> =
        (0..60_000).map(|row| if row < 20_000 { "∅".into() } else { row.to_string() }).collect();
    for row in [20_001, 34_567, 45_678, 59_000] {
        values[row] = format!("x{row}");
    }
    let column = || texts(&values.iter().map(String::as_str).collect::<Vec<_>>());
    for threads in [1, 2, 4] {
        let comparison = Scene::of([column(), column()]).compare(threads, None).expect("a comparison");
        let expected = [0, 1].map(|source| {
            format!("text in source_{source} because of 4 values of 40000, the first `x20001` (row 20002); all others are numbers")
        });
        assert_eq!(comparison.columns[1].notes, expected, "{threads} threads");
    }
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
}

#[test]
fn columns_declared_as_text_are_text() {
    let long = "1".repeat(50);
    let digits = i256::from_string(&long).expect("fewer than 77 digits");
    let wide = Decimal256Array::from(vec![i256::from(110), digits]).with_precision_and_scale(76, 2);
    let wide: ArrayRef = Arc::new(wide.expect("a decimal type"));
    let written = format!("{}.11", &long[2..]);
    let cases: [(ArrayRef, ArrayRef, &[&str]); 6] = [
        (wide.clone(), texts(&["1.1", &written]), &[]),
        (wide, decimals(2, &[110, 111]), &["1"]),
        (texts(&["1.0", "007", &long]), texts(&["1", "007", &long]), &["0"]),
        (texts(&["7", "8"]), whole(&[7, 9]), &["1"]),
        (texts(&["01/02/2024"]), texts(&["01/02/2024"]), &[]),
        (texts(&["2024-01-31", "∅"]), dates(&[19_753, 1]), &["1"]),
    ];
    for (left, right, broken) in cases {
        let mut scene = Scene::of([left, right]);
        scene.spec.texts.push("v".into());
        let comparison = scene.comparison();
        assert_eq!(scene.broken(), broken);
        assert_eq!((comparison.findings.len(), comparison.columns[1].compared_as), (0, Some(Kind::Text)));
        assert!(comparison.columns[1].notes.is_empty());
    }
    let mut scene = Scene::new([texts(&["1.0"]), texts(&["1"])].map(|keys| table([("k", keys)])));
    scene.spec.texts.push("k".into());
    assert_eq!(scene.comparison().unmatched_by_source, [1, 1], "keys, too");

    let mut scene = Scene::of([texts(&["1"]), texts(&["1"])]);
    scene.spec.texts.push("v".into());
    scene.date_formats.insert(1, "%d/%m/%Y");
    let error = scene.run().expect_err("a contradiction");
    assert_eq!(error, "`v` cannot be text, and dates or truth values at once");
    scene.spec.texts = vec!["w".into()];
    assert_eq!(scene.run().expect_err("no such column"), "no source has a column `w`");
}
