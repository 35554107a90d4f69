//! Break files are the same to the byte whatever the threads, the order of rows and the memory.

use std::path::Path;

use arrow_array::RecordBatch;
use trueup_compare::{BreakSink, Error, Progress};

use crate::ledger::{shuffled, sides, sides_with_ids};
use crate::stage::{CALM, Stage, Staged, by_id};

/// Compares and writes the breaks to a file; gives its bytes.
fn break_file(file: &str, sides: &[RecordBatch; 2], threads: usize, memory: u64) -> Vec<u8> {
    let temp = tempfile::tempdir().expect("a temporary directory");
    let path = temp.path().join(file);
    write_breaks(&path, sides, threads, memory).expect("a break file");
    std::fs::read(path).expect("the file")
}

fn write_breaks(path: &Path, sides: &[RecordBatch; 2], threads: usize, memory: u64) -> Result<(), Error> {
    let temp = tempfile::tempdir().expect("a temporary directory");
    let stage = Stage { spec: &by_id(), memory, threads, temp_dir: temp.path(), progress: &Progress::new(2) };
    let tables = sides.each_ref().map(|side| Staged::new(side, CALM));
    stage.compare([&tables[0], &tables[1]], BreakSink::File(path)).map(drop)
}

#[test]
fn threads_order_and_memory_change_no_byte() {
    let repeated = sides_with_ids(20_000, |row| row / 3);
    let long = sides_with_ids(20_000, |row| row / 9_000);
    let cases = [("unique keys", sides(30_000)), ("repeated keys", repeated), ("long keys", long)];
    for (what, sides) in cases {
        for file in ["breaks.parquet", "breaks.csv", "breaks.jsonl"] {
            let expected = break_file(file, &sides, 1, 256 << 20);
            assert!(expected.len() > 1_000, "{what}: {} bytes", expected.len());
            for (threads, memory) in [(2, 256 << 20), (4, 256 << 20), (3, 2 << 20)] {
                let sides = sides.each_ref().map(|side| shuffled(side, threads as u64));
                assert!(
                    break_file(file, &sides, threads, memory) == expected,
                    "{what}: {file} on {threads} threads"
                );
            }
        }
    }
}
