//! Break files are the same to the byte whatever the threads and the order of rows.

use std::path::Path;

use arrow_array::RecordBatch;
use trueup_compare::{BreaksFile, Progress, TableError};

use crate::ledger::{shuffled, sides, sides_with_ids};
use crate::stage::{CALM, Stage, Staged, by_id};

/// Compares and writes the breaks to a file; gives its bytes.
fn break_file(file: &str, sides: &[RecordBatch; 2], threads: usize) -> Vec<u8> {
    let temp = tempfile::tempdir().expect("a temporary directory");
    let path = temp.path().join(file);
    write_breaks(&path, sides, threads).expect("a break file");
    std::fs::read(path).expect("the file")
}

fn write_breaks(path: &Path, sides: &[RecordBatch; 2], threads: usize) -> Result<(), TableError> {
    let temp = tempfile::tempdir()?;
    let stage = Stage {
        spec: &by_id(),
        memory: 64 << 20,
        threads,
        temp_dir: temp.path(),
        progress: &Progress::new(2),
    };
    let tables = sides.each_ref().map(|side| Staged::new(side, CALM));
    let mut open: Option<BreaksFile> = None;
    stage.compare([&tables[0], &tables[1]], &mut |header, found| {
        let file = match &mut open {
            Some(file) => file,
            none => none.insert(BreaksFile::create(path, header)?),
        };
        Ok(file.write(found)?)
    })?;
    Ok(open.ok_or("no breaks")?.finish()?)
}

#[test]
fn threads_and_order_change_no_byte() {
    let repeated = sides_with_ids(20_000, |row| row / 3);
    for (what, sides) in [("unique keys", sides(30_000)), ("repeated keys", repeated)] {
        for file in ["breaks.parquet", "breaks.csv", "breaks.jsonl"] {
            let expected = break_file(file, &sides, 1);
            assert!(expected.len() > 1_000, "{what}: {} bytes", expected.len());
            for threads in [2, 4] {
                let sides = sides.each_ref().map(|side| shuffled(side, threads as u64));
                assert!(break_file(file, &sides, threads) == expected, "{what}: {file} on {threads} threads");
            }
        }
    }
}
