//! Keys are tuples; what repeats is paired, aggregated or refused.

use trueup_compare::{Aggregate, Comparison, Duplicates, KeyReport, Kind, Verdict};

use crate::scene::{Scene, absolute, table, texts, whole};

#[test]
fn keys_are_tuples_and_null_is_a_key() {
    let keyed = |first: &[&str], second: &[&str]| {
        table([("k", texts(first)), ("l", texts(second)), ("v", whole(&vec![1; first.len()]))])
    };
    let with_key = |tables: [_; 2]| {
        let mut scene = Scene::new(tables);
        scene.spec.key.push("l".into());
        scene
    };
    let scene = with_key([keyed(&["ab", "x"], &["c", "y"]), keyed(&["a", "x"], &["bc", "y"])]);
    assert_eq!(scene.comparison().unmatched_by_source, [1, 1], "never concatenated");
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
    assert_eq!(comparison.key_report.iter().map(|report| report.null_keys).collect::<Vec<_>>(), [3, 4]);
}

#[test]
fn the_key_report_counts_keys_per_source() {
    let tables = [&["a", "a", "a", "b", "b", "∅", "∅", "c"][..], &["a"], &[]];
    let comparison = Scene::new(tables.map(|keys| table([("k", texts(keys))]))).comparison();
    let counts: Vec<_> = comparison
        .key_report
        .iter()
        .map(|report| [report.rows, report.distinct_keys, report.duplicated_keys, report.null_keys])
        .collect();
    assert_eq!(counts, [[8, 4, 3, 2], [1, 1, 0, 0], [0, 0, 0, 0]]);
}

#[test]
fn type_drift_in_a_key_is_reported() {
    let padded = table([("k", texts(&["007", "008"])), ("v", whole(&[1, 2]))]);
    let bare = table([("k", texts(&["7", "8"])), ("v", whole(&[1, 2]))]);
    let typed = table([("k", whole(&[7, 8])), ("v", whole(&[1, 2]))]);
    let drift = |comparison: &Comparison| -> Vec<Vec<(String, &str)>> {
        let of_source = |report: &KeyReport| {
            report.type_drift.iter().map(|drift| (drift.column.clone(), drift.kind.name())).collect()
        };
        comparison.key_report.iter().map(of_source).collect()
    };
    let same = Scene::new([padded.clone(), padded.clone()]).comparison();
    assert_eq!(drift(&same), [vec![], vec![]]);
    for (other, findings) in [(bare, 0), (typed, 1)] {
        let comparison = Scene::new([padded.clone(), other]).comparison();
        let key = comparison.columns.iter().find(|column| column.name == "k").expect("the key");
        assert_eq!(key.compared_as, Some(Kind::Text));
        assert_eq!(drift(&comparison), [vec![("k".into(), "text")], vec![("k".into(), "number")]]);
        assert_eq!((comparison.matched_groups, comparison.findings.len()), (0, findings));
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
        (comparison.rows_compared, comparison.matched_groups, comparison.rows_matched),
        (5, 4, 3),
        "never many-to-many"
    );
    assert_eq!(comparison.unmatched_by_source, [0, 1]);
    let breaks = Scene::new([left.clone(), right.clone()]).breaks();
    let pair = breaks.iter().find(|found| found.is_outside()).expect("the pair with one difference");
    assert_eq!(pair.cells[0].values, [Some(Some("20".into())), Some(Some("21".into()))]);
    assert!(pair.cells[1].outside.is_none());
    let occurrences: Vec<_> =
        breaks.iter().map(|found| (found.key[0].as_deref(), found.occurrence)).collect();
    assert_eq!(occurrences, [(Some("1"), 1), (Some("1"), 2)], "one key, two breaks");

    let mut scene = Scene::new([left.clone(), right.clone()]);
    scene.spec.duplicates = Some(Duplicates::Error);
    let error = scene.run().expect_err("a repeated key");
    assert!(error.contains('1'), "names the key: {error}");

    let comparison = Scene::new([left, right]).measure(Aggregate::Sum, "v").comparison();
    assert_eq!(
        (comparison.rows_compared, comparison.rows_matched, comparison.measures[0].outside),
        (2, 1, 1)
    );
}

#[test]
fn rows_beyond_the_search_are_paired_in_order() {
    let table = |values: Vec<i64>| table([("k", whole(&vec![1; values.len()])), ("v", whole(&values))]);
    let (even, odd): (Vec<i64>, Vec<i64>) =
        ((0..100).map(|number| number * 2).collect(), (0..100).map(|number| number * 2 + 1).rev().collect());
    let scene = Scene::new([table(even), table(odd)]).tolerance("v", absolute("1"));
    let comparison = scene.comparison();
    assert_eq!((comparison.matched_groups, comparison.rows_matched), (100, 100));
}

#[test]
fn rows_left_over_are_told_from_keys_that_are_absent() {
    let rows = |keys: &[i64], values: &[i64]| table([("k", whole(keys)), ("v", whole(values))]);
    // Of key 1 the second source has one row more, of 2 one that is equal and one that is not, and 3 is its own.
    let left = rows(&[1, 2, 4], &[10, 20, 40]);
    let right = rows(&[1, 1, 2, 2, 3, 3, 4], &[10, 10, 20, 21, 30, 30, 40]);
    for verify in [false, true] {
        let mut scene = Scene::new([left.clone(), right.clone()]);
        scene.spec.verify = verify;
        let found: Vec<_> = (scene.breaks().iter())
            .map(|found| (found.key[0].clone().expect("a key"), found.present.clone(), found.has_key.clone()))
            .collect();
        let (over, absent) = ((vec![false, true], vec![true, true]), (vec![false, true], vec![false, true]));
        let expected = [("1", &over), ("2", &over), ("3", &absent), ("3", &absent)];
        assert_eq!(found, expected.map(|(key, it)| (key.to_owned(), it.0.clone(), it.1.clone())));
        let comparison = scene.comparison();
        assert_eq!((comparison.rows_matched, comparison.rows_compared), (3, 7));
    }
}

#[test]
fn keys_whose_rows_are_paired_in_order_are_noted() {
    // Rows of a key: those of the first source, those of the second, and equal ones of both.
    let cases: [(&[[i64; 3]], Option<&str>); 5] = [
        (&[[64, 64, 0]], None),
        (&[[65, 0, 0]], None),
        (&[[0, 0, 100]], None),
        (&[[65, 1, 10], [2, 2, 0]], Some("1 key has more than 64 unequal rows in a source")),
        (&[[65, 65, 0], [64, 66, 3]], Some("2 keys have more than 64 unequal rows in a source")),
    ];
    for (keys, expected) in cases {
        let side = |side: usize| {
            let (mut key, mut values) = (Vec::new(), Vec::new());
            for (number, rows) in (0..).zip(keys) {
                let own = (0..rows[side]).map(|row| (row + 1) * if side == 0 { 1 } else { -1 });
                values.extend(own.chain(vec![0; usize::try_from(rows[2]).expect("few rows")]));
                key.resize(values.len(), number);
            }
            table([("k", whole(&key)), ("v", whole(&values))])
        };
        for verify in [false, true] {
            let mut scene = Scene::new([side(0), side(1)]);
            scene.spec.verify = verify;
            let notes = scene.comparison().notes;
            assert_eq!(notes.len(), usize::from(expected.is_some()), "{keys:?}");
            assert!(notes.iter().all(|note| expected.is_some_and(|start| note.starts_with(start))));
        }
    }
}
