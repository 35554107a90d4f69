//! The memory cap, measured on the process.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

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
fn watched(command: &mut Command) -> (Option<i32>, u64) {
    let mut child = command.stdout(Stdio::null()).spawn().expect("the program");
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
                .args([&left, &right]),
        );
        assert_eq!(code, Some(case.code), "{}", case.what);
        assert!(peak > 0 && peak <= CAP_MB * 1_200_000, "{}: {} MB", case.what, peak / 1_000_000);
    }
}
