//! Tables that cannot be read, change, or panic, and a sink that refuses.

use std::sync::mpsc;
use std::time::Duration;

use arrow_array::RecordBatch;
use trueup_compare::{Comparison, Error, Progress};

use crate::ledger::{ledger, sides};
use crate::stage::{CALM, Moment, Stage, Staged, by_id};

/// Compares a calm table with another on a few threads.
fn against(left: &RecordBatch, right: &Staged<'_>) -> Result<Comparison, Error> {
    let temp = tempfile::tempdir().expect("a temporary directory");
    let stage = Stage {
        spec: &by_id(),
        memory: 64 << 20,
        threads: 3,
        temp_dir: temp.path(),
        progress: &Progress::new(2),
    };
    stage.compare([&Staged::new(left, CALM), right], &mut |_, _| Ok(()))
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
    let outcomes = changes.map(|(what, again)| {
        let outcome = against(&left, &Staged::changing(&right, &again, CALM));
        let named = outcome.as_ref().is_err_and(|error| {
            error.to_string().starts_with("right: ") && error.to_string().contains("changed")
        });
        (what, named, outcome.map(|comparison| comparison.rows_unmatched))
    });
    assert!(outcomes.iter().all(|(_, named, _)| *named), "{outcomes:#?}");
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
    let outcome = stage.compare([&tables[0], &tables[1]], &mut |_, _| Err("the disk is full".into()));
    assert!(matches!(outcome, Err(Error::Breaks(_))), "{outcome:?}");
}
