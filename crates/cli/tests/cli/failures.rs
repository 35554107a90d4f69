//! What `trueup diff` says when it cannot read, write or understand something.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;

use arrow_array::{ArrayRef, Int64Array, RecordBatch};
use parquet::arrow::ArrowWriter;

use crate::place::{Place, shown, with};

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
    error: cannot tell from breaks.xlsx how to write the breaks
    hint: use a name that ends in .parquet, .csv or .jsonl

    --breaks missing/breaks.csv
    exit 2
    error: cannot write the breaks to missing/breaks.csv: No such file or directory (os error 2)
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
    hint: write the source, the column and its new name: --rename ledger:old=new

    --normalise note=upper
    exit 2
    error: there is no normaliser `upper`
    hint: there are trim, collapse_space, casefold and nfc
    "#);
}

#[test]
fn a_missing_file_and_a_wrong_option_exit_with_2() {
    let place = Place::with_ledger_and_bank();
    for arguments in [&["ledger.csv", "bnak.csv", "--key", "txn_id"][..], &["--no-such"], &["ledger.csv"]] {
        let output = place.diff(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(output.stdout.is_empty());
        assert!(String::from_utf8(output.stderr).unwrap().starts_with("error: "));
    }
}

#[test]
fn what_cannot_be_read_names_the_option_that_helps() {
    let place = Place::new(&[("good.csv", "id,x\n1,a\n")]);
    let cases: [(&str, &[u8]); 10] = [
        ("array.json", b"[{\"id\":1,\"x\":\"a\"}]\n"),
        ("escape\u{1b}[31m.csv", b"id,x\n1,\"a\n"),
        ("unknown.dat", b"id x\n1 a\n"),
        ("latin1.csv", b"id,x\n1,Z\xfcrich\n"),
        ("ragged.csv", b"id,x\n1,a,b\n"),
        ("unclosed.csv", b"id,x\n1,\"a\n"),
        ("after_quote.csv", b"id,x\n1,\"a\" b\n"),
        ("headless.csv", b"x,x\ny,z\n"),
        ("broken.jsonl", b"id,x\n1,a\n"),
        ("empty.csv", b""),
    ];
    let mut all = String::new();
    for (name, content) in cases {
        fs::write(place.path().join(name), content).unwrap();
        let text = place.shown(&["good.csv", &format!("bad={name}"), "--key", "id"]);
        assert!(text.starts_with("exit 2\nerror: "), "{text}");
        all.push_str(text.strip_prefix("exit 2\n").unwrap());
    }
    insta::assert_snapshot!(all, @r#"
    error: bad: array.json, line 1, column 1: a JSON array; each line must be one JSON object
    hint: JSON lines are expected, one object a line, which `jq -c '.[]'` makes of an array
    error: bad: escape\u{1b}[31m.csv, line 2, column 3: the quote opened here is never closed
    hint: if quotes mean nothing in it, name a character that is not in it: --quote 'bad:^'
    error: bad: unknown.dat: cannot tell the format; say which it is: csv, tsv, jsonl, parquet, arrow or excel
    hint: --input-format bad:csv, if that is what it is; of a directory, a glob takes only some files: bad='…/*.csv'
    error: bad: latin1.csv, line 2, column 4: not UTF-8; set the encoding, for example latin1
    hint: --encoding bad:latin1, or another
    error: bad: ragged.csv, line 2, column 5: 3 fields where 2 are expected; fields that hold the delimiter or a newline must be quoted
    hint: if something else is between or around the fields: --delimiter 'bad:;', --quote "bad:'"
    error: bad: unclosed.csv, line 2, column 3: the quote opened here is never closed
    hint: if quotes mean nothing in it, name a character that is not in it: --quote 'bad:^'
    error: bad: after_quote.csv, line 2, column 6: text after a closing quote; a quote inside a quoted field is written twice
    hint: if quotes mean nothing in it, name a character that is not in it: --quote 'bad:^'
    error: bad: headless.csv, line 1, column 3: two columns are called "x"; rename one, or say that there is no header
    hint: if the first line is data: --no-header=bad
    error: bad: broken.jsonl, line 1, column 1: each line must be one JSON object
    hint: if it is no JSON: --input-format bad:csv
    error: bad: empty.csv: the file is empty; not even a header is there
    hint: an empty source is a header without rows
    "#);
}

#[test]
fn values_that_cannot_be_read_have_a_place_and_a_hint() {
    let place = Place::new(&[
        ("good.csv", "id,x\n1,2024-01-31\n2,2024-02-01\n"),
        ("format.csv", "id,x\n1,\"\"\n2,01/02\n"),
        ("order.csv", "id,x\n1,\n2,01/02/2024\n"),
        ("digits.csv", "id,x\n1,0\n\n2,1234567890123456789012345678901234567890\n"),
    ]);
    let cases: [&[&str]; 3] = [
        &["good.csv", "bad=format.csv", "--date-format", "bad:x=%d/%m/%Y", "--empty", "null"],
        &["good.csv", "bad=order.csv"],
        &["bad=digits.csv", "digits.csv"],
    ];
    for file in ["order.csv", "digits.csv"] {
        let output = place.diff(&[file, file, "--key", "id", "--text", "x"]);
        assert_eq!(output.status.code(), Some(0), "{file}");
    }
    let shown = cases.map(|arguments| place.shown(&[arguments, &["--key", "id"]].concat()));
    insta::assert_snapshot!(shown.concat(), @r#"
    exit 2
    error: bad: format.csv, line 3: column `x`: `01/02` does not fit the declared date format
    hint: correct the format
    exit 2
    error: bad: order.csv, line 3: column `x`: `01/02/2024` may be day first or month first: no value of the column is above 12
    hint: declare it, as in --date-format bad:x=%d/%m/%Y, or compare it as it is written: --text x
    exit 2
    error: bad: digits.csv, line 4: column `x`: `1234567890123456789012345678901234567890` has more digits than can be compared
    hint: a number may have 38 digits; what only looks like one is text: --text x
    "#);
}

#[test]
fn whoever_expects_numbers_is_told_of_what_is_none() {
    let place = Place::new(&[("bad.csv", "id,x,y\n1,1,a\n2,N/A,b\n3,3,c\n")]);
    let cases: [&[&str]; 4] = [
        &["--tolerance", "x=0.1"],
        &["--measure", "sum(x)"],
        &["--measure", "sum(y)"],
        &["--text", "x", "--tolerance", "x=0.1"],
    ];
    let shown =
        cases.map(|more| place.shown(&[&["bad=bad.csv", "too=bad.csv", "--key", "id"], more].concat()));
    insta::assert_snapshot!(shown.concat(), @r#"
    exit 2
    error: the tolerance of x does not fit: `x` is compared as text
    hint: text in bad because of one value of 3: `N/A` (bad.csv, line 3); all others are numbers; text in too because of one value of 3: `N/A` (bad.csv, line 3); all others are numbers
    exit 2
    error: sum(x) cannot be computed: `x` is compared as text
    hint: text in bad because of one value of 3: `N/A` (bad.csv, line 3); all others are numbers; text in too because of one value of 3: `N/A` (bad.csv, line 3); all others are numbers
    exit 2
    error: sum(y) cannot be computed: `y` is compared as text
    hint: sum and avg are for numbers; see the column's types in the sources
    exit 2
    error: the tolerance of x does not fit: `x` is compared as text
    hint: a tolerance is for numbers, dates and times; text is exact, with normalisers
    "#);
}

/// Whether the decoder panics over the bytes, as `extract` tells.
fn gives_up(path: &Path) -> bool {
    let read = || {
        let table = trueup_extract::open(path.to_str().unwrap(), &trueup_extract::Options::new("."))?;
        let scan = table.scan(&[0], None)?;
        while let Some(part) = scan.next_part()? {
            part.batches.collect::<Result<Vec<_>, _>>()?;
        }
        Ok::<(), trueup_extract::Error>(())
    };
    read().is_err_and(|error| error.to_string().contains("the decoder gave up"))
}

#[test]
fn a_decoder_that_panics_is_one_more_error() {
    let place = Place::new(&[("good.csv", "id\n1\n")]);
    let path = place.path().join("bad.parquet");
    let column: ArrayRef = Arc::new(Int64Array::from_iter_values(0..40));
    let batch = RecordBatch::try_from_iter([("id", column)]).unwrap();
    let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    let bytes = writer.into_inner().unwrap();
    let damaged = (4..bytes.len() - 8).any(|at| {
        let mut bytes = bytes.clone();
        bytes[at] ^= 0xff;
        fs::write(&path, bytes).unwrap();
        gives_up(&path)
    });
    assert!(damaged, "no byte makes the decoder panic any more, so that nothing is tested here");
    insta::assert_snapshot!(place.shown(&["good.csv", "bad=bad.parquet", "--key", "id"]), @r#"
    exit 2
    error: bad: bad.parquet: damaged or not supported: the decoder gave up on it; check that the file was written to its end
    "#);
}

#[test]
fn what_cannot_be_written_is_an_error_before_anything_is_read() {
    let place = Place::with_ledger_and_bank();
    fs::create_dir(place.path().join("taken.csv")).unwrap();
    let cases = [
        ["--output", "missing/report.txt"],
        ["--output", "ledger.csv/report.txt"],
        ["--output", "taken.csv"],
        ["--breaks", "missing/breaks.csv"],
        ["--breaks", "ledger.csv/breaks.csv"],
        ["--breaks", "taken.csv"],
    ];
    let all: Vec<String> = cases
        .iter()
        .map(|more| place.shown(&with(more)).strip_prefix("exit 2\n").unwrap().to_owned())
        .collect();
    insta::assert_snapshot!(all.concat(), @r#"
    error: cannot write the report to missing/report.txt: No such file or directory (os error 2)
    hint: make the directory first
    error: cannot write the report to ledger.csv/report.txt: not a directory
    hint: choose a directory that can be written to
    error: cannot write the report to taken.csv: is a directory
    hint: name a file in it
    error: cannot write the breaks to missing/breaks.csv: No such file or directory (os error 2)
    hint: make the directory first
    error: cannot write the breaks to ledger.csv/breaks.csv: not a directory
    hint: choose a directory that can be written to
    error: cannot write the breaks to taken.csv: is a directory
    hint: name a file in it
    "#);
    assert_eq!(fs::read_dir(place.path()).unwrap().count(), 3);
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_named() {
    let place = Place::with_ledger_and_bank();
    let full = || fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let printed = place.command(&with(&[])).stdout(Stdio::from(full())).output().unwrap();
    let all = shown(printed) + &place.shown(&with(&["--output", "/dev/full"]));
    insta::assert_snapshot!(all, @r#"
    exit 2
    error: cannot write the report to standard output: No space left on device (os error 28)
    hint: free some space, or write to another disk
    exit 2
    error: cannot write the report to /dev/full: No space left on device (os error 28)
    hint: free some space, or write to another disk
    "#);
}

#[test]
fn temporary_files_need_a_place() {
    let place = Place::with_ledger_and_bank();
    let mut command = place.command(&["ledger=ledger.csv", "bank=-", "--key", "txn_id"]);
    command.env("TMPDIR", "missing").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // The program may be gone before it has read this.
    drop(child.stdin.take().unwrap().write_all(b"txn_id\n1\n"));
    insta::assert_snapshot!(shown(child.wait_with_output().unwrap()), @r#"
    exit 2
    error: bank: standard input: cannot be kept in missing while it is read: No such file or directory (os error 2); free some space or choose another temporary directory
    hint: set TMPDIR to a directory that can be written to
    "#);
}
