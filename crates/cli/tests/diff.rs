//! `trueup diff` from end to end: real files in, exit code, report and break file out.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod schema;

use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use std::sync::Arc;

use arrow_array::{ArrayRef, Int64Array, RecordBatch};
use parquet::arrow::ArrowWriter;

const LEDGER: &str = "txn_id,amount,ccy,note\n1,10.00,EUR,a\n2,20.00,EUR,b\n3,30.00,USD,c\n4,40.00,USD,\n";
const BANK: &str = "txn_id,amount,ccy,note\n2,20.01,EUR,b\n1,10.05,EUR,a\n5,50.00,USD,e\n4,40.00,USD,\"\"\n";

struct Place(tempfile::TempDir);

impl Place {
    fn new(files: &[(&str, &str)]) -> Self {
        let place = tempfile::tempdir().unwrap();
        for (name, content) in files {
            fs::write(place.path().join(name), content).unwrap();
        }
        Self(place)
    }

    fn with_ledger_and_bank() -> Self {
        Self::new(&[("ledger.csv", LEDGER), ("bank.csv", BANK)])
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn diff(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_trueup"));
        command.current_dir(self.path()).arg("diff").args(arguments);
        if !arguments.contains(&"--memory") {
            command.args(["--memory", "64MiB"]);
        }
        command.env_remove("NO_COLOR").output().unwrap()
    }

    /// Exit code, standard output, standard error.
    fn shown(&self, arguments: &[&str]) -> String {
        let output = self.diff(arguments);
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        format!(
            "exit {}\n{}{}",
            output.status.code().unwrap(),
            text(output.stdout),
            text(output.stderr)
        )
    }
}

const BOTH: [&str; 4] = ["ledger=ledger.csv", "bank=bank.csv", "--key", "txn_id"];

fn with(more: &[&'static str]) -> Vec<&'static str> {
    BOTH.iter().chain(more).copied().collect()
}

#[test]
fn a_table_of_what_differs() {
    let place = Place::with_ledger_and_bank();
    insta::assert_snapshot!(place.shown(&with(&["--tolerance", "amount=0.01"])), @r#"
    exit 1
    UNMATCHED: 1 of 5 groups match, 2 outside a tolerance, 2 absent somewhere

    Sources
      source  rows  unmatched  from        read as
      ledger     4          1  ledger.csv  CSV, delimiter ',', UTF-8, header
      bank       4          1  bank.csv    CSV, delimiter ',', UTF-8, header

    Columns with breaks
      column  rule           outside  share  largest difference  total ledger  total bank
      amount  ABSOLUTE 0.01        1  33.3%                0.05           100      120.06
      note    EXACT                1  33.3%

    Breaks
      txn_id  column   ledger   bank     difference
      1       amount   10.00    10.05    0.05
                           ^        ^
      3       (group)  present  absent
      4       note     NULL     ''
      5       (group)  absent   present
    "#);
}

#[test]
fn equal_files_exit_with_0() {
    let place = Place::with_ledger_and_bank();
    insta::assert_snapshot!(place.shown(&["ledger.csv", "ledger.csv", "--key", "txn_id"]), @r#"
    exit 0
    MATCHED: 4 of 4 groups match

    Sources
      source    rows  unmatched  from        read as
      source_0     4          0  ledger.csv  CSV, delimiter ',', UTF-8, header
      source_1     4          0  ledger.csv  CSV, delimiter ',', UTF-8, header
    "#);
}

#[test]
fn json_follows_its_schema() {
    let place = Place::with_ledger_and_bank();
    let measures = [
        "--measure",
        "sum(amount),count(*)",
        "--tolerance",
        "sum(amount)=0.5%,base=smaller",
    ];
    let cases: [&[&'static str]; 4] = [
        &[],
        &["--tolerance", "amount=0.010"],
        &measures,
        &["--limit", "0"],
    ];
    for more in cases {
        let mut arguments = with(more);
        arguments.extend(["--format", "json"]);
        let output = place.diff(&arguments);
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{more:?}: {errors}");
        let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(schema::violations(&json), Vec::<String>::new(), "{more:?}");
        assert_eq!(json["rows_compared"], 5, "{more:?}");
        assert_eq!(json["join_stats"]["unmatched_by_source"]["bank"], 1, "{more:?}");
    }
}

#[test]
fn tolerances_keep_their_digits_in_json() {
    let place = Place::with_ledger_and_bank();
    let output = place.diff(&with(&[
        "--tolerance",
        "amount=12345678901234567.0000000000000001",
        "--format",
        "json",
    ]));
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(
        text.contains("\"tolerance_value\": 12345678901234567.0000000000000001"),
        "{text}"
    );
}

#[test]
fn every_break_goes_to_the_file() {
    let place = Place::with_ledger_and_bank();
    let output = place.diff(&with(&[
        "--tolerance",
        "amount=0.01",
        "--breaks",
        "breaks.csv",
        "--limit",
        "0",
    ]));
    assert_eq!(
        output.status.code(),
        Some(1),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    insta::assert_snapshot!(fs::read_to_string(place.path().join("breaks.csv")).unwrap(), @r#"
    txn_id,status,present_in,column,ledger,bank,difference,tolerance,rule
    1,outside,"ledger, bank",amount,10.00,10.05,0.05,0.01,ABSOLUTE 0.01: ledger against bank
    3,unmatched,ledger,amount,30.00,,,0.01,absent from bank
    3,unmatched,ledger,ccy,USD,,,,absent from bank
    3,unmatched,ledger,note,c,,,,absent from bank
    4,outside,"ledger, bank",note,,"",,,EXACT: ledger against bank
    5,unmatched,bank,amount,,50.00,,0.01,absent from ledger
    5,unmatched,bank,ccy,,USD,,,absent from ledger
    5,unmatched,bank,note,,e,,,absent from ledger
    "#);
    assert_eq!(fs::read_dir(place.path()).unwrap().count(), 3);
}

#[test]
fn the_report_goes_to_a_file_and_the_verdict_to_the_terminal() {
    let place = Place::with_ledger_and_bank();
    let shown = place.shown(&with(&["--format", "html", "--output", "report.html"]));
    insta::assert_snapshot!(shown, @r#"
    exit 1
    UNMATCHED: 0 of 5 groups match, 3 outside a tolerance, 2 absent somewhere
    "#);
    assert!(
        fs::read_to_string(place.path().join("report.html"))
            .unwrap()
            .ends_with("</html>\n")
    );
    assert_eq!(
        place.shown(&with(&["--format", "junit", "--output", "r.xml", "--quiet"])),
        "exit 1\n"
    );
}

#[test]
fn without_a_key_the_unique_columns_are_named() {
    let place = Place::with_ledger_and_bank();
    insta::assert_snapshot!(place.shown(&["ledger.csv", "bank.csv"]), @r#"
    exit 2
    error: there is no --key; unique in every source are:
      txn_id
      amount
    hint: --key txn_id
    "#);
}

#[test]
fn errors_say_what_to_do() {
    let place = Place::with_ledger_and_bank();
    let cases: [&[&'static str]; 10] = [
        &["--tolerance", "amuont=0.01"],
        &["--tolerance", "amount=1x"],
        &["--reference", "bnak"],
        &["--date-format", "bnak:note=%d"],
        &["--breaks", "breaks.xlsx"],
        &["--breaks", "missing/breaks.csv"],
        &["--memory", "lots"],
        &["--delimiter", "ab"],
        &["--rename", "amount=x"],
        &["--normalise", "note=upper"],
    ];
    let shown: Vec<String> = cases
        .iter()
        .map(|more| {
            let arguments = with(more);
            format!("{}\n{}", more.join(" "), place.shown(&arguments))
        })
        .collect();
    insta::assert_snapshot!(shown.join("\n"), @r#"
    --tolerance amuont=0.01
    exit 2
    error: no source has a column `amuont`
    hint: did you mean `amount`?

    --tolerance amount=1x
    exit 2
    error: amount: `1x` is no tolerance; write 0.01, 0.5%, 2d, -1d..+3d or exact

    --reference bnak
    exit 2
    error: there is no source `bnak`
    hint: did you mean `bank`?

    --date-format bnak:note=%d
    exit 2
    error: there is no source `bnak`
    hint: did you mean `bank`?

    --breaks breaks.xlsx
    exit 2
    error: cannot tell from "breaks.xlsx" how to write the breaks
    hint: use a name that ends in .parquet, .csv or .jsonl

    --breaks missing/breaks.csv
    exit 2
    error: cannot write the breaks to "missing/breaks.csv": No such file or directory (os error 2)
    hint: make the directory first

    --memory lots
    exit 2
    error: --memory lots: this is no size
    hint: write 2GB, 512MiB, or a share of what is free such as 60%

    --delimiter ab
    exit 2
    error: --delimiter ab: this is not one ASCII character
    hint: write it in quotes, as --delimiter ';', or tab

    --rename amount=x
    exit 2
    error: --rename amount=x: this is no renaming
    hint: write the source, the column and its new name: ledger:old=new

    --normalise note=upper
    exit 2
    error: there is no normaliser `upper`
    hint: there are trim, collapse_space, casefold and nfc
    "#);
}

#[test]
fn a_rule_that_was_not_used_is_not_claimed() {
    let place = Place::new(&[("b.csv", "id,x\n1,5\n2,seven\n")]);
    let column = |values: [i64; 2]| Arc::new(Int64Array::from(values.to_vec())) as ArrayRef;
    let batch = RecordBatch::try_from_iter([("id", column([1, 2])), ("x", column([5, 6]))]).unwrap();
    let file = fs::File::create(place.path().join("a.parquet")).unwrap();
    let mut writer = ArrowWriter::try_new(file, batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();

    // Numbers against words are a finding, and compared exactly whatever their tolerance.
    let sources = ["a=a.parquet", "b=b.csv", "--key", "id"];
    let output = place.diff(&[&sources[..], &["--tolerance", "x=0.1", "--breaks", "breaks.csv"]].concat());
    assert_eq!(
        output.status.code(),
        Some(1),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    insta::assert_snapshot!(fs::read_to_string(place.path().join("breaks.csv")).unwrap(), @r#"
    id,status,present_in,column,a,b,difference,tolerance,rule
    2,outside,"a, b",x,6,seven,,,EXACT: a against b
    "#);
}

#[cfg(unix)]
#[test]
fn an_interrupt_ends_it_with_130() {
    use std::io::Write;
    use std::process::Stdio;

    let place = Place::with_ledger_and_bank();
    let mut child = Command::new(env!("CARGO_BIN_EXE_trueup"))
        .args([
            "diff",
            "-",
            "ledger.csv",
            "--key",
            "txn_id",
            "--input-format",
            "0:csv",
        ])
        .current_dir(place.path())
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // More than a pipe holds: once it is written the program is reading, and listens to signals.
    let mut input = child.stdin.take().unwrap();
    input.write_all("txn_id\n".repeat(1 << 16).as_bytes()).unwrap();
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        Command::new("kill")
            .args(["-INT", &child.id().to_string()])
            .status()
            .unwrap();
    };
    assert_eq!(status.code(), Some(130));
}

#[test]
fn a_missing_file_and_a_wrong_option_exit_with_2() {
    let place = Place::with_ledger_and_bank();
    for arguments in [
        &["ledger.csv", "bnak.csv", "--key", "txn_id"][..],
        &["--no-such"],
        &["ledger.csv"],
    ] {
        let output = place.diff(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(output.stdout.is_empty());
        assert!(String::from_utf8(output.stderr).unwrap().starts_with("error: "));
    }
}

#[test]
fn every_option_is_in_the_docs() {
    let help = Command::new(env!("CARGO_BIN_EXE_trueup"))
        .args(["diff", "--help"])
        .output()
        .unwrap();
    let help = String::from_utf8(help.stdout).unwrap();
    let docs = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/diff.md")).unwrap();
    let options: Vec<&str> = (help.lines())
        .filter(|line| line.trim_start().starts_with('-'))
        .filter_map(|line| line.split_whitespace().find(|word| word.starts_with("--")))
        .map(|word| word.split(['[', '=', ',']).next().unwrap())
        .collect();
    assert!(options.len() > 25, "{options:?}");
    for option in options {
        assert!(
            docs.contains(&format!("`{option}`")),
            "{option} is not in docs/diff.md"
        );
    }
}
