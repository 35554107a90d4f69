//! The memory cap, measured on the process.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

const CAP_MB: u64 = 64;
/// What records of this many rows take is more than twice what the cap leaves for them.
const ROWS: u64 = 400_000;

/// Rows in another order for another multiplier, which has no divisor in common with their number.
fn write_rows(path: &Path, multiplier: u64, key: impl Fn(u64) -> u64) {
    let mut text = String::from("id,amount,note\n");
    for row in 0..ROWS {
        let id = row * multiplier % ROWS;
        let cents = id % 97 + u64::from(multiplier > 7 && id.is_multiple_of(50_000));
        writeln!(text, "{},{}.{cents:02},note {}", key(id), id % 1000, id % 1013)
            .expect("a string takes it all");
    }
    fs::write(path, text).expect("a file");
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
    for (what, key) in [("keys of their own", (|id| id) as fn(u64) -> u64), ("one key", |_| 1)] {
        write_rows(&left, 7, key);
        write_rows(&right, 11, key);
        let (code, peak) = watched(
            Command::new(env!("CARGO_BIN_EXE_trueup"))
                .args([
                    "diff",
                    "--key",
                    "id",
                    "--quiet",
                    "--threads",
                    "2",
                    "--memory",
                    &format!("{CAP_MB}MB"),
                ])
                .args([&left, &right]),
        );
        assert_eq!(code, Some(1), "{what}");
        assert!(peak > 0 && peak <= CAP_MB * 1_200_000, "{what}: {} MB", peak / 1_000_000);
    }
}
