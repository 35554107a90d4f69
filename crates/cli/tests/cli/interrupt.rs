//! Ctrl-C: when it comes, the program ends soon and leaves nothing behind.

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use crate::place::{Place, shown};

fn interrupt(child: &Child) {
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
}

fn names_in(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn while_standard_input_is_read() {
    let place = Place::with_ledger_and_bank();
    fs::create_dir(place.path().join("tmp")).unwrap();
    let mut child = place
        .command(&["-", "ledger.csv", "--key", "txn_id"])
        .env("TMPDIR", "tmp")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // More than a pipe holds: once it is written the program is reading, and listens to signals.
    let mut input = child.stdin.take().unwrap();
    input.write_all("txn_id\n".repeat(1 << 16).as_bytes()).unwrap();
    interrupt(&child);
    let output = child.wait_with_output().unwrap();
    // Held open until here: it was the interrupt that ended the program.
    drop(input);
    assert_eq!(shown(output), "exit 130\nerror: interrupted\n");
    assert_eq!(names_in(&place.path().join("tmp")), [""; 0]);
}

#[test]
fn while_it_compares() {
    let rows = |shift: usize| {
        let mut text = "id,amount\n".to_owned();
        (0..400_000).for_each(|row| writeln!(text, "{row},{}", row + shift).unwrap());
        text
    };
    let place = Place::new(&[("a.csv", &rows(0)), ("b.csv", &rows(1))]);
    fs::create_dir(place.path().join("tmp")).unwrap();
    let child = place
        .command(&["a.csv", "b.csv", "--key", "id", "--output", "report.txt", "--breaks", "breaks.csv"])
        .env("TMPDIR", "tmp")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // The place of the report is taken right before the comparison, which then has all its rows to read.
    while !names_in(place.path()).iter().any(|name| name.starts_with(".trueup-report-")) {
        std::thread::yield_now();
    }
    interrupt(&child);
    assert_eq!(shown(child.wait_with_output().unwrap()), "exit 130\nerror: interrupted\n");
    assert_eq!(names_in(place.path()), ["a.csv", "b.csv", "tmp"]);
    assert_eq!(names_in(&place.path().join("tmp")), [""; 0]);
}
