//! A comparison that is told to stop does, at any time, and cleans up.

use arrow_array::RecordBatch;
use trueup_compare::{Break, BreakHeader, BreakSink, Error, Progress, TableError};

use crate::ledger::{ledger, sides};
use crate::stage::{CALM, Cue, Moment, Stage, Staged, by_id};

/// Compares in little memory and expects it to be cancelled with nothing left behind.
fn is_cancelled(
    progress: &Progress,
    sides: &[RecordBatch; 2],
    cue: Cue<'_>,
    sink: &mut dyn FnMut(&BreakHeader, &Break) -> Result<(), TableError>,
) {
    let temp = tempfile::tempdir().expect("a temporary directory");
    let tables = [Staged::new(&sides[0], CALM), Staged::new(&sides[1], cue)];
    let stage = Stage { spec: &by_id(), memory: 2 << 20, threads: 2, temp_dir: temp.path(), progress };
    let outcome = stage.compare([&tables[0], &tables[1]], BreakSink::Each(sink));
    assert!(matches!(outcome, Err(Error::Cancelled)), "{outcome:?}");
    assert_eq!(temp.path().read_dir().expect("the directory").count(), 0, "files are left");
}

#[test]
fn before_it_starts() {
    let progress = Progress::new(2);
    progress.cancel();
    is_cancelled(&progress, &sides(20_000), CALM, &mut |_, _| Ok(()));
}

#[test]
fn while_reading() {
    for moment in [Moment::Batch(10), Moment::BatchAgain(1)] {
        let progress = Progress::new(2);
        let cue = |now| {
            if now == moment {
                progress.cancel();
            }
            Ok(())
        };
        is_cancelled(&progress, &sides(100_000), &cue, &mut |_, _| Ok(()));
    }
}

#[test]
fn while_telling_of_breaks() {
    let progress = Progress::new(2);
    let side = |shift| ledger((0..60_000).map(move |id| (id, i128::from(id) + shift, None)));
    let mut told = 0;
    is_cancelled(&progress, &[side(0), side(1)], CALM, &mut |_, _| {
        told += 1;
        progress.cancel();
        Ok(())
    });
    assert!((1..60_000).contains(&told), "{told} breaks were told");
}
