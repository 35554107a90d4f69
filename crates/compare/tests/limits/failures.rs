//! Tables that cannot be read, change, or panic, and a sink that refuses.

use std::collections::BTreeMap;
use std::sync::mpsc;
use std::time::Duration;

use arrow_array::RecordBatch;
use trueup_compare::{
    Aggregate, BreakSink, Comparison, Error, Limits, Measure, MemoryTable, Progress, Source, Spec, compare,
};

use crate::ledger::{ledger, sides};
use crate::stage::{CALM, Moment, Stage, Staged, by_id};

/// Compares a calm table with another on a few threads.
fn against(left: &RecordBatch, right: &Staged<'_>) -> Result<Comparison, Error> {
    against_as(&by_id(), left, right)
}

fn against_as(spec: &Spec, left: &RecordBatch, right: &Staged<'_>) -> Result<Comparison, Error> {
    let temp = tempfile::tempdir().expect("a temporary directory");
    let stage =
        Stage { spec, memory: 64 << 20, threads: 3, temp_dir: temp.path(), progress: &Progress::new(2) };
    stage.compare([&Staged::new(left, CALM), right], BreakSink::Each(&mut |_, _| Ok(())))
}

#[test]
fn what_a_table_says_is_told_once_with_its_name() {
    let [left, right] = sides(100_000);
    for moment in [Moment::Opening, Moment::Batch(9), Moment::OpeningAgain, Moment::BatchAgain(9)] {
        let cue = |now| if now == moment { Err("no such disk".into()) } else { Ok(()) };
        let error = against(&left, &Staged::new(&right, &cue)).map(drop);
        assert_eq!(error.map_err(|error| error.to_string()), Err("right: no such disk".into()), "{moment:?}");
    }
}

#[test]
fn a_table_that_changes_between_readings_is_an_error() {
    let [left, right] = sides(20_000);
    let rows = right.num_rows();
    let other = ledger((0..20_000).map(|id| (id + 1_000_000, 5, None)));
    let changes = [("fewer rows", right.slice(0, rows / 2)), ("other rows", other)];
    for (what, again) in &changes {
        let outcome = against(&left, &Staged::changing(&right, again, CALM));
        let error = outcome.map(|comparison| comparison.rows_unmatched).map_err(|error| error.to_string());
        assert_eq!(error, Err("right: it changed while it was being read".into()), "{what}");
    }
    // What reads every row again, or only keys, notices rows that are gone. A group is named from the first source it is in.
    let sum = Measure { name: "sum".into(), aggregate: Aggregate::Sum, column: "amount".into() };
    let only_right = ledger((0..20_000).map(|id| (id + 500_000, 5, None)));
    for (spec, right) in
        [(Spec { verify: true, ..by_id() }, &right), (Spec { measures: vec![sum], ..by_id() }, &only_right)]
    {
        let half = right.slice(0, right.num_rows() / 2);
        let outcome = against_as(&spec, &left, &Staged::changing(right, &half, CALM));
        let error = outcome.map(|comparison| comparison.rows_unmatched).map_err(|error| error.to_string());
        assert_eq!(error, Err("right: it changed while it was being read".into()), "{spec:?}");
    }
}

#[test]
fn a_table_that_changes_before_it_is_drilled_into_is_an_error() {
    let [left, right] = sides(20_000);
    let sum = Measure { name: "sum".into(), aggregate: Aggregate::Sum, column: "amount".into() };
    let spec = &Spec { measures: vec![sum], ..by_id() };
    let temp = tempfile::tempdir().expect("a temporary directory");
    let progress = &Progress::new(2);
    let stage = Stage { spec, memory: 64 << 20, threads: 2, temp_dir: temp.path(), progress };
    let fewer = right.slice(0, 10_000);
    let [_, more] = sides(40_000);
    let (_, unmatched) = stage.unmatched(None, &[left.clone(), right]).expect("a comparison");
    for other in [fewer, more] {
        let error = stage.unmatched(Some(&unmatched), &[left.clone(), other]).map(drop);
        let expected = Err("right: it changed while it was being read".to_owned());
        assert_eq!(error.map_err(|error| error.to_string()), expected);
    }
}

#[test]
fn empty_batches_change_nothing() {
    let [left, right] = sides(50_000);
    let plain = against(&left, &Staged::new(&right, CALM)).expect("a comparison");
    let batches = |batch: &RecordBatch| -> Vec<Vec<RecordBatch>> {
        let rows = batch.num_rows();
        let part =
            |start| vec![batch.slice(0, 0), batch.slice(start, (rows - start).min(1000)), batch.slice(0, 0)];
        (0..rows).step_by(1000).map(part).collect()
    };
    let tables = [&left, &right].map(|batch| MemoryTable::new(batches(batch), batch.schema()));
    let source = |name: &str, table| Source {
        name: name.into(),
        table,
        renames: BTreeMap::new(),
        timezone: None,
        date_formats: BTreeMap::new(),
    };
    for threads in [1, 4] {
        let temp = tempfile::tempdir().expect("a temporary directory");
        let limits = Limits { memory: 64 << 20, threads, temp_dir: temp.path().into() };
        let sources = [source("left", &tables[0]), source("right", &tables[1])];
        let comparison = compare(&sources, &by_id(), &limits, &Progress::new(2), None).expect("a comparison");
        assert_eq!(comparison, plain);
    }
}

#[test]
fn a_panic_in_a_table_ends_the_comparison() {
    for moment in [Moment::Batch(3), Moment::BatchAgain(3)] {
        // Dropped when the comparison ends, however it does.
        let (told, ended) = mpsc::channel::<()>();
        let comparing = std::thread::spawn(move || {
            let _told = told;
            let [left, right] = sides(50_000);
            let cue = move |now| {
                assert!(now != moment, "the table gives up");
                Ok(())
            };
            against(&left, &Staged::new(&right, &cue)).map(drop)
        });
        let waited = ended.recv_timeout(Duration::from_mins(1));
        assert_eq!(waited, Err(mpsc::RecvTimeoutError::Disconnected), "it hangs");
        assert!(comparing.join().is_err(), "the panic is passed on");
    }
}

#[test]
fn a_sink_that_refuses_ends_the_comparison() {
    let temp = tempfile::tempdir().expect("a temporary directory");
    let stage = Stage {
        spec: &by_id(),
        memory: 64 << 20,
        threads: 2,
        temp_dir: temp.path(),
        progress: &Progress::new(2),
    };
    let sides = sides(20_000);
    let tables = sides.each_ref().map(|side| Staged::new(side, CALM));
    let outcome =
        stage.compare([&tables[0], &tables[1]], BreakSink::Each(&mut |_, _| Err("the disk is full".into())));
    assert!(matches!(outcome, Err(Error::Breaks(_))), "{outcome:?}");
}
