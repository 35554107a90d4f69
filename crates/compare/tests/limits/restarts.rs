//! A comparison that learns late what its columns hold starts over a few times only.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use trueup_compare::{BreakSink, Kind, Progress};

use crate::stage::{Moment, Stage, Staged, by_id};

const COLUMNS: usize = 60;
const ROWS: usize = 100_000;

/// Columns of text, each of them NULL up to a row of its own, far into the table.
fn sparse() -> RecordBatch {
    let ids: ArrayRef = Arc::new(Int64Array::from_iter_values((0..).take(ROWS)));
    let sparse = |column: usize| -> ArrayRef {
        let first = (column + 1) * ROWS / (COLUMNS + 1);
        let value = |row: usize| match column % 3 {
            0 => format!("{row}.25"),
            1 => format!("2024-01-{:02}", row % 28 + 1),
            _ => format!("note {row}"),
        };
        let values = (0..ROWS).map(|row| (row >= first && row % 500 == first % 500).then(|| value(row)));
        Arc::new(values.collect::<StringArray>())
    };
    let columns = (0..COLUMNS).map(|column| (format!("c{column}"), sparse(column), true));
    RecordBatch::try_from_iter_with_nullable([("id".to_owned(), ids, false)].into_iter().chain(columns))
        .expect("columns of one length")
}

#[test]
fn many_columns_that_begin_late_are_learnt_together() {
    let table = sparse();
    let readings = AtomicUsize::new(0);
    let cue = |moment| {
        readings.fetch_add(usize::from(moment == Moment::Opening), Ordering::Relaxed);
        Ok(())
    };
    let temp = tempfile::tempdir().expect("a temporary directory");
    let stage = Stage {
        spec: &by_id(),
        memory: 256 << 20,
        threads: 2,
        temp_dir: temp.path(),
        progress: &Progress::new(2),
    };
    let tables = [Staged::new(&table, &cue), Staged::new(&table, &cue)];
    let comparison =
        stage.compare([&tables[0], &tables[1]], BreakSink::Each(&mut |_, _| Ok(()))).expect("a comparison");
    assert_eq!(comparison.rows_matched, ROWS as u64);
    let kinds: Vec<_> = comparison.columns[1..4].iter().map(|column| column.compared_as).collect();
    assert_eq!(kinds, [Some(Kind::Number), Some(Kind::Date), Some(Kind::Text)]);
    // Two for the first rows, two for every attempt, and two to read ahead after each that failed.
    let restarts = (readings.into_inner() - 4) / 4;
    assert!((1..=6).contains(&restarts), "{restarts} restarts");
}
