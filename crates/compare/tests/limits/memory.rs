//! Inputs far above the memory cap give the same answer, and leave nothing on the disk.

use arrow_array::RecordBatch;
use trueup_compare::{Aggregate, Allow, Error, Measure, Normaliser, Progress, Rule, Spec, Tolerance};

use crate::ledger::{ledger, sides};
use crate::stage::{Stage, by_id};

const MEGABYTE: u64 = 1 << 20;

/// Compares within 1 GB and within 8 MB, and gives the answer after checking that it is one.
fn in_little_memory(spec: &Spec, sides: &[RecordBatch; 2]) -> trueup_compare::Comparison {
    let temp = tempfile::tempdir().expect("a temporary directory");
    let within = |memory| {
        let stage = Stage { spec, memory, threads: 2, temp_dir: temp.path(), progress: &Progress::new(2) };
        stage.answer(sides).expect("a comparison")
    };
    let (roomy, tight) = (within(1024 * MEGABYTE), within(8 * MEGABYTE));
    assert_eq!(tight.0, roomy.0);
    assert!(tight.1 == roomy.1, "other breaks in less memory");
    assert_eq!(temp.path().read_dir().expect("the directory").count(), 0, "files are left");
    roomy.0
}

#[test]
fn many_keys_spill() {
    let rows = 300_000;
    let comparison = in_little_memory(&by_id(), &sides(rows));
    assert_eq!(comparison.unmatched_by_source, [200, 0]);
    let outside: Vec<_> =
        comparison.measures.iter().map(|measure| (measure.name.as_str(), measure.outside)).collect();
    assert_eq!(outside, [("amount", 300), ("note", 150)]);
}

/// 200,000 rows of one key a side, of which a few differ.
fn one_key() -> [RecordBatch; 2] {
    [0, 1].map(|side| {
        ledger((0..200_000).map(move |row| {
            let differs = side == 1 && row % 40_000 == 5;
            (42, row % 1_000 + if differs { 1_000_000 } else { 0 }, Some(format!("note {}", row % 7)))
        }))
    })
}

#[test]
fn one_key_repeated_is_paired() {
    let comparison = in_little_memory(&by_id(), &one_key());
    assert_eq!((comparison.rows_compared, comparison.rows_matched), (200_000, 199_995));
    assert_eq!(comparison.measures[0].largest_difference.as_deref(), Some("10000"));
    assert_eq!(comparison.key_report[0].duplicated_keys, 1);
}

#[test]
fn one_key_without_equal_rows_is_paired_in_order() {
    let rows = 30_000;
    let sides = [0, 1].map(|side| {
        ledger((0..rows).map(move |row| {
            let cents = i128::from(row * 7 % rows) * 10 + side;
            (42, cents, Some(format!("note {row:032}")))
        }))
    });
    let comparison = in_little_memory(&by_id(), &sides);
    assert_eq!((comparison.rows_compared, comparison.rows_matched), (30_000, 0));
    assert_eq!(comparison.measures[0].largest_difference.as_deref(), Some("0.01"));
}

#[test]
fn rows_that_are_equal_but_not_alike_are_paired() {
    let sides = [60_000, 20_000].map(|rows: usize| {
        ledger(
            (0..rows)
                .map(|row| (42, 1, Some(format!("note{}{}", " ".repeat(row % 251), "\t".repeat(row / 251))))),
        )
    });
    let normalisers = [("note".to_string(), vec![Normaliser::Trim])].into();
    let comparison = in_little_memory(&Spec { normalisers, ..by_id() }, &sides);
    assert_eq!((comparison.rows_compared, comparison.rows_matched), (60_000, 20_000));
    assert_eq!(comparison.unmatched_by_source, [40_000, 0]);
}

#[test]
fn one_key_repeated_is_aggregated() {
    let measure =
        |name: &str, aggregate, column: &str| Measure { name: name.into(), aggregate, column: column.into() };
    let measures =
        vec![measure("sum", Aggregate::Sum, "amount"), measure("notes", Aggregate::CountDistinct, "note")];
    let comparison = in_little_memory(&Spec { measures, ..by_id() }, &one_key());
    assert_eq!((comparison.rows_compared, comparison.measures[1].outside), (1, 0));
    assert_eq!(comparison.measures[0].largest_difference.as_deref(), Some("50000"));
}

/// A key with more rows than fit into memory is given back only if it does not match.
#[test]
fn the_rows_of_a_large_group_are_given_back_if_it_does_not_match() {
    let rows = 60_000;
    let sides = [0, 1].map(|side| {
        // Of the first key a row is outside the tolerance, of the second one differs and is within.
        let off = move |row| match row {
            40_000 => 200 * side,
            100_000 => side,
            _ => 0,
        };
        ledger((0..2 * rows).map(move |row| (i64::from(row >= rows), 100 + off(row), None)))
    });
    let temp = tempfile::tempdir().expect("a temporary directory");
    let progress = &Progress::new(2);
    let cent = Tolerance { rule: Rule::Absolute("0.01".parse().expect("a decimal")), allow: Allow::None };
    let sum = Measure { name: "sum".into(), aggregate: Aggregate::Sum, column: "amount".into() };
    for (memory, measures) in [MEGABYTE, 1024 * MEGABYTE]
        .into_iter()
        .flat_map(|memory| [Vec::new(), vec![sum.clone()]].map(|measures| (memory, measures)))
    {
        let spec = &Spec { measures, tolerances: [("amount".into(), cent.clone())].into(), ..by_id() };
        let stage = Stage { spec, memory, threads: 2, temp_dir: temp.path(), progress };
        let (comparison, unmatched) = stage.unmatched(None, &sides).expect("a comparison");
        assert_eq!(comparison.rows_unmatched, 1);
        for selection in unmatched {
            let mut parts: Vec<_> = selection.into_iter().collect();
            parts.sort_unstable_by_key(|(part, _)| *part);
            let chosen: usize = parts.iter().map(|(_, rows)| rows.count_set_bits()).sum();
            assert_eq!((chosen, parts.len()), (rows, parts.last().expect("parts").0 + 1), "the first rows");
        }
    }
}

#[test]
fn distinct_values_of_one_key_are_counted() {
    let rows = 60_000;
    let sides = [rows, rows - 3].map(|distinct| {
        ledger((0..rows).map(|row| (42, row.into(), Some(format!("note {:032}", row % distinct)))))
    });
    let notes = Measure { name: "notes".into(), aggregate: Aggregate::CountDistinct, column: "note".into() };
    for verify in [false, true] {
        let comparison = in_little_memory(&Spec { measures: vec![notes.clone()], verify, ..by_id() }, &sides);
        assert_eq!((comparison.rows_compared, comparison.measures[0].outside), (1, 1));
        assert_eq!(comparison.measures[0].largest_difference.as_deref(), Some("3"));
    }
}

#[test]
fn long_texts_that_break_are_the_same_whether_their_words_fit_or_not() {
    let rows = 60_000;
    let sides = [0, 1].map(|side| {
        ledger((0..rows).map(move |row| {
            let changed = if side == 1 && row % 100 == 0 { "another" } else { "the same" };
            (row, i128::from(row % 977), Some(format!("{changed} note of some length {row:032}")))
        }))
    });
    let temp = tempfile::tempdir().expect("a temporary directory");
    let within = |memory| {
        let stage =
            Stage { spec: &by_id(), memory, threads: 2, temp_dir: temp.path(), progress: &Progress::new(2) };
        stage.comparison(&sides).expect("a comparison")
    };
    let roomy = within(1024 * MEGABYTE);
    assert_eq!(roomy.measures[1].outside, 600);
    assert_eq!(within(MEGABYTE), roomy);
}

#[test]
fn nowhere_to_spill_is_an_error_that_says_where() {
    let temp = tempfile::tempdir().expect("a temporary directory");
    let file = temp.path().join("file");
    std::fs::write(&file, "").expect("a file");
    let sides = sides(100_000);
    for temp_dir in [temp.path().join("missing"), file] {
        let progress = &Progress::new(2);
        let stage = Stage { spec: &by_id(), memory: MEGABYTE, threads: 2, temp_dir: &temp_dir, progress };
        let error = stage.answer(&sides).expect_err("nowhere to spill");
        assert!(matches!(error, Error::Spill { .. }), "{error:?}");
        assert!(error.to_string().contains(&temp_dir.display().to_string()), "{error}");
        let roomy = Stage { memory: 1024 * MEGABYTE, ..stage };
        assert!(roomy.answer(&sides).is_ok(), "nothing needs to be spilled");
    }
}
