//! The memory cap, measured on the process.

use std::fmt::Write as _;
use std::fs;
use std::io::{Write as _, pipe};
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::json;

/// The least that is taken, rounded up to a megabyte.
const CAP_MB: u64 = 51;
/// What records of this many rows take is more than twice what the cap leaves for them.
const ROWS: u64 = 400_000;

/// A comparison of rows whose values are functions of their number and side.
struct Case {
    what: &'static str,
    key: fn(u64) -> u64,
    cents: fn(u64, u64) -> u64,
    options: &'static [&'static str],
    code: i32,
}

const FEW_DIFFER: fn(u64, u64) -> u64 =
    |id, side| id % 97 + u64::from(side == 1 && id.is_multiple_of(50_000));
const ALL_DIFFER: fn(u64, u64) -> u64 = |id, side| 2 * id + side;
const UNIQUE: fn(u64) -> u64 = |id| id;
const ONE: fn(u64) -> u64 = |_| 1;

const CASES: &[Case] = &[
    Case { what: "keys of their own", key: UNIQUE, cents: FEW_DIFFER, options: &[], code: 1 },
    Case { what: "one key", key: ONE, cents: FEW_DIFFER, options: &[], code: 1 },
    Case { what: "one key, all rows different", key: ONE, cents: ALL_DIFFER, options: &[], code: 1 },
    Case {
        what: "one key, all values distinct",
        key: ONE,
        cents: ALL_DIFFER,
        options: &["--measure", "count_distinct(amount)", "--verify"],
        code: 0,
    },
];

impl Case {
    /// Rows in an order of its own for each side: the multipliers have no divisor in common with their number.
    fn write(&self, path: &Path, side: u64) {
        let mut text = String::from("id,amount,note\n");
        for row in 0..ROWS {
            let id = row * [7, 11][side as usize] % ROWS;
            let cents = (self.cents)(id, side);
            writeln!(text, "{},{}.{:02},note {}", (self.key)(id), cents / 100, cents % 100, id % 1013)
                .expect("a string takes it all");
        }
        fs::write(path, text).expect("a file");
    }
}

/// The exit code and the largest resident set in bytes.
pub(crate) fn watched(command: &mut Command) -> (Option<i32>, u64) {
    let mut child = command.spawn().expect("the program");
    let status = format!("/proc/{}/status", child.id());
    let mut peak = 0;
    loop {
        // The mark only rises, so the last look before the end is the one that counts.
        let text = fs::read_to_string(&status).unwrap_or_default();
        let mark = text.lines().find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix(" kB"));
        peak = mark.and_then(|kilobytes| kilobytes.parse().ok()).unwrap_or(peak).max(peak);
        if let Some(code) = child.try_wait().expect("the program's end") {
            return (code.code(), peak * 1024);
        }
        std::thread::yield_now();
    }
}

#[test]
fn memory_stays_within_the_cap_and_a_fifth() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let [left, right] = ["left.csv", "right.csv"].map(|name| directory.path().join(name));
    let memory = format!("{CAP_MB}MB");
    for case in CASES {
        case.write(&left, 0);
        case.write(&right, 1);
        let (code, peak) = watched(
            Command::new(env!("CARGO_BIN_EXE_trueup"))
                .args(["diff", "--key", "id", "--quiet", "--threads", "2", "--memory", &memory])
                .args(case.options)
                .args([&left, &right])
                .stdout(Stdio::null()),
        );
        assert_eq!(code, Some(case.code), "{}", case.what);
        assert!(peak > 0 && peak <= CAP_MB * 1_200_000, "{}: {} MB", case.what, peak / 1_000_000);
    }
}

/// Stages at once share what a run may use.
#[test]
fn parallel_stages_stay_within_the_cap_together() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let [left, right] = ["left.csv", "right.csv"].map(|name| directory.path().join(name));
    CASES[0].write(&left, 0);
    CASES[0].write(&right, 1);
    let memory = 2 * CAP_MB * 1_000_000;
    let assignment = json!({
        "run_id": "3f0c1f5e-7d0b-4a55-9a6f-1f6f1a2b3c4d",
        "job_id": "9b7e4c1a-2f44-4b1d-8c07-5a1b2c3d4e5f",
        "tenant_id": "0a1b2c3d-4e5f-4607-8899-aabbccddeeff",
        "job": {
            "name": "at-once",
            "sources": [{"name": "left", "file": left}, {"name": "right", "file": right}],
            "dimensions": ["id", "note"],
            "measures": [{"name": "amount", "aggregate": "sum"}],
            "stages": [{"name": "ids", "dimensions": ["id"]}, {"name": "all"}],
            "strategy": "PARALLEL",
        },
        "params": "{}",
        "requested_at_ms": 0,
        "breaks_dir": directory.path().join("run"),
        "memory_bytes": memory,
        "threads": 2,
    });
    let (input, mut giver) = pipe().expect("a pipe");
    writeln!(giver, "{assignment}").expect("room in the pipe");
    let mut attempt = Command::new(env!("CARGO_BIN_EXE_trueup"));
    let (code, peak) = watched(attempt.arg("attempt").stdin(input).stdout(Stdio::null()));
    // Held open until here: it ended by itself.
    drop(giver);
    assert_eq!(code, Some(0));
    assert!(directory.path().join("run/all.parquet").exists(), "both stages have ended");
    assert!(peak > 0 && peak <= memory / 5 * 6, "{} MB", peak / 1_000_000);
}

/// Neither the first rows nor the values of a column with few may be kept where they are long.
#[test]
fn long_texts_are_not_kept() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let [left, right] = ["left.csv", "right.csv"].map(|name| directory.path().join(name));
    for (rows, note_bytes, compared, expected) in [(1000, 90_000, "amount", 0), (60, 900_000, "note", 1)] {
        for (path, note_bytes) in [(&left, note_bytes), (&right, 1)] {
            let note = "y".repeat(note_bytes);
            let rows = (0..rows).map(|id| format!("{id},{id},{id} {note}\n"));
            let text: String = ["id,amount,note\n".to_owned()].into_iter().chain(rows).collect();
            fs::write(path, text).expect("a file");
        }
        let (code, peak) = watched(
            Command::new(env!("CARGO_BIN_EXE_trueup"))
                .args(["diff", "--key", "id", "--compare", compared, "--quiet", "--threads", "2"])
                .args(["--memory", &format!("{CAP_MB}MB"), "--limit", "0"])
                .args([&left, &right])
                .stdout(Stdio::null()),
        );
        assert_eq!(code, Some(expected), "{compared}");
        assert!(peak > 0 && peak <= CAP_MB * 1_200_000, "{compared}: {} MB", peak / 1_000_000);
    }
}
