//! `trueup diff` from end to end: real files in, exit code, report and break file out.

use std::fs;
use std::process::Command;
use std::sync::Arc;

use arrow_array::{ArrayRef, BinaryArray, Int64Array, RecordBatch};

use crate::place::{Place, with};
use crate::schema;

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

    Keys
      source  rows  distinct keys  repeated keys  rows with NULL in the key
      ledger     4              4              0                          0
      bank       4              4              0                          0

    Compared as
      number: amount
      text: ccy, note

    Columns
      column  rule           within  outside  share  largest difference
      amount  ABSOLUTE 0.01       2        1  33.3%                0.05
      note    EXACT               2        1  33.3%
      ccy     EXACT               3        0   0.0%

    Control totals
      column  ledger    bank
      amount     100  120.06

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

    Keys
      source    rows  distinct keys  repeated keys  rows with NULL in the key
      source_0     4              4              0                          0
      source_1     4              4              0                          0

    Compared as
      number: amount
      text: ccy, note

    Columns
      column  rule   within  outside  share  largest difference
      amount  EXACT       4        0   0.0%                   0
      ccy     EXACT       4        0   0.0%
      note    EXACT       4        0   0.0%

    Control totals
      column  source_0  source_1
      amount       100       100
    "#);
}

#[test]
fn every_report_has_keys_totals_and_how_files_were_read() {
    let place = Place::new(&[("a.csv", "id;x;y\n1;2.5;a\n"), ("b.csv", "id,x,y\n1,2.50,a\n")]);
    let arguments = ["a=a.csv", "b=b.csv", "--key", "id", "--format"];
    let reports = ["table", "markdown", "html", "junit"].map(|format| {
        let shown = place.shown(&[&arguments[..], &[format]].concat());
        assert!(shown.starts_with("exit 0\n"), "{shown}");
        for piece in ["distinct keys", "repeated keys", "rows with NULL in the key", "2.5", "within"] {
            assert!(shown.replace('`', "").contains(piece), "{format}, {piece}: {shown}");
        }
        let plain = shown.replace("&#39;", "'");
        assert!(plain.contains("delimiter ';'") && plain.contains("delimiter ','"), "{format}: {shown}");
        shown
    });
    assert!(reports[0].starts_with("exit 0\nMATCHED: 1 of 1 group matches\n"), "{}", reports[0]);
}

#[test]
fn columns_that_are_not_listed_are_counted() {
    let numbers: Vec<String> = (0..25).map(|number| format!("c{number}")).collect();
    let file = format!("id,{}\n1,{}\n", numbers.join(","), vec!["7"; 25].join(","));
    let place = Place::new(&[("a.csv", &file)]);
    for format in ["table", "markdown", "html"] {
        let shown = place.shown(&["a.csv", "a.csv", "--key", "id", "--format", format]);
        assert!(shown.contains("and 5 more columns, all within"), "{format}: {shown}");
    }
}

#[test]
fn breaks_of_one_key_are_told_apart() {
    let place = Place::new(&[("a.csv", "id,x\n1,a\n1,b\n2,c\n"), ("b.csv", "id,x\n1,y\n1,z\n2,c\n")]);
    let arguments = ["a=a.csv", "b=b.csv", "--key", "id", "--format"];
    let cases = [
        ("table", "  1            2  x       b"),
        ("markdown", "| `1` | 2 | `x` | `b` |"),
        ("html", "<td><code>1</code></td><td>2</td><td>x</td>"),
        ("junit", "1 (occurrence 2): a b, b z"),
        ("json", "\"occurrence\": 2"),
    ];
    for (format, piece) in cases {
        let shown = place.shown(&[&arguments[..], &[format]].concat());
        assert!(shown.contains(piece), "{format}: {shown}");
    }
    let alone = place.shown(&["a.csv", "b.csv", "--key", "id", "--limit", "1"]);
    assert!(!alone.contains("occurrence"), "{alone}");
}

#[test]
fn binary_values_have_one_form() {
    let place = Place::new(&[]);
    for (name, bytes) in [("a.parquet", [0x0a, 0xff]), ("b.parquet", [0x0b, 0xff])] {
        let ids: ArrayRef = Arc::new(Int64Array::from(vec![1]));
        let values: ArrayRef = Arc::new(BinaryArray::from_vec(vec![&bytes]));
        place.write_parquet(name, &RecordBatch::try_from_iter([("id", ids), ("x", values)]).unwrap());
    }
    for more in [&[][..], &["--text", "x"]] {
        let sources = ["a=a.parquet", "b=b.parquet", "--key", "id", "--breaks", "breaks.csv"];
        assert_eq!(place.diff(&[&sources[..], more].concat()).status.code(), Some(1));
        let breaks = fs::read_to_string(place.path().join("breaks.csv")).unwrap();
        assert!(breaks.contains("x,0aff,0bff,"), "{more:?}: {breaks}");
    }
}

#[test]
fn nothing_in_the_data_steers_the_terminal() {
    let file = |value: &str| format!("id,\"x\u{1b}[2J\"\n\u{1b}]0;t\u{7},{value}\u{9b}31m\u{202e}\n");
    let place = Place::new(&[("a\u{1b}.csv", &file("a")), ("b.csv", &file("b"))]);
    for format in ["table", "markdown", "html", "junit", "json"] {
        let arguments = ["a=a\u{1b}.csv", "b=b.csv", "--key", "id", "--format", format];
        let shown = place.shown(&arguments);
        assert!(shown.starts_with("exit 1\n"), "{shown}");
        let steers =
            |character: char| character != '\n' && (character.is_control() || character == '\u{202e}');
        assert_eq!(shown.find(steers), None, "{format}: {shown:?}");
    }
}

#[test]
fn json_follows_its_schema() {
    let place = Place::with_ledger_and_bank();
    let measures = ["--measure", "sum(amount),count(*)", "--tolerance", "sum(amount)=0.5%,base=smaller"];
    let cases: [&[&'static str]; 4] = [&[], &["--tolerance", "amount=0.010"], &measures, &["--limit", "0"]];
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
fn key_columns_that_drift_are_in_the_key_report() {
    let place = Place::new(&[("padded.csv", "id,x\n007,a\n"), ("bare.csv", "id,x\n7,a\n")]);
    let arguments = ["padded.csv", "bare.csv", "--key", "id", "--format"];
    for format in ["table", "markdown", "html"] {
        let shown = place.shown(&[&arguments[..], &[format]].concat());
        assert!(shown.contains("id is text") && shown.contains("id is number"), "{format}: {shown}");
    }
    let output = place.diff(&[&arguments[..], &["json"]].concat());
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(schema::violations(&json), Vec::<String>::new());
    let drift = |source: &str| json["key_report"][source]["type_drift"].to_string();
    assert_eq!([drift("source_0"), drift("source_1")], [r#"{"id":"text"}"#, r#"{"id":"number"}"#]);
}

#[test]
fn a_stray_value_is_in_the_notes() {
    let stray = "id,x\n1,1.5\n2,N/A\n3,2.5\n";
    let place = Place::new(&[("a.csv", stray), ("b.csv", stray)]);
    let note = "text in source_1 because of one value of 3: `N/A` (b.csv, line 3); all others are numbers";
    for format in ["table", "markdown", "html", "json"] {
        let shown = place.shown(&["a.csv", "b.csv", "--key", "id", "--format", format]);
        assert!(shown.contains(note), "{format}: {shown}");
    }
}

#[test]
fn tolerances_keep_their_digits_in_json() {
    let place = Place::with_ledger_and_bank();
    let output =
        place.diff(&with(&["--tolerance", "amount=12345678901234567.0000000000000001", "--format", "json"]));
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("\"tolerance_value\": 12345678901234567.0000000000000001"), "{text}");
}

#[test]
fn all_of_a_tolerance_is_shown() {
    let place = Place::with_ledger_and_bank();
    let cases = [
        ("amount=0.1%,base=smaller,allow=0", "PERCENTAGE 0.1% of the smaller, 0 allowed", "smaller", "0"),
        ("amount=0.1%", "PERCENTAGE 0.1% of the larger", "larger", "0"),
        ("amount=0.1%,base=bank,allow=0.5%", "PERCENTAGE 0.1% of bank, 0.5% allowed", "bank", "0.5%"),
    ];
    for (tolerance, rule, base, allowed) in cases {
        for format in ["table", "markdown", "html", "junit"] {
            let shown =
                place.shown(&[&with(&["--format", format, "--tolerance"])[..], &[tolerance]].concat());
            assert!(shown.contains(rule), "{format}: {shown}");
        }
        let output = place.diff(&[&with(&["--format", "json", "--tolerance"])[..], &[tolerance]].concat());
        let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(schema::violations(&json), Vec::<String>::new(), "{tolerance}");
        let entry = &json["tolerances"][0];
        assert_eq!(entry["tolerance_base"], base, "{entry}");
        assert_eq!(entry["allowed"].to_string().trim_matches('"'), allowed, "{entry}");
    }
    let by_column = ["--measure", "total=sum(amount)", "--tolerance", "amount=0.1%,base=mean,allow=3"];
    let shown = place.shown(&with(&by_column));
    assert!(shown.contains("  total: PERCENTAGE 0.1% of the mean, 3 allowed\n"), "{shown}");
}

#[test]
fn every_break_goes_to_the_file() {
    let place = Place::with_ledger_and_bank();
    let output = place.diff(&with(&["--tolerance", "amount=0.01", "--breaks", "breaks.csv", "--limit", "0"]));
    assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stderr));
    insta::assert_snapshot!(fs::read_to_string(place.path().join("breaks.csv")).unwrap(), @r#"
    txn_id,occurrence,status,present_in,column,ledger,bank,difference,tolerance,rule
    1,1,outside,"ledger, bank",amount,10.00,10.05,0.05,0.01,ABSOLUTE 0.01: ledger against bank
    3,1,unmatched,ledger,amount,30.00,,,0.01,absent from bank
    3,1,unmatched,ledger,ccy,USD,,,,absent from bank
    3,1,unmatched,ledger,note,c,,,,absent from bank
    4,1,outside,"ledger, bank",note,,"",,,EXACT: ledger against bank
    5,1,unmatched,bank,amount,,50.00,,0.01,absent from ledger
    5,1,unmatched,bank,ccy,,USD,,,absent from ledger
    5,1,unmatched,bank,note,,e,,,absent from ledger
    "#);
    assert_eq!(fs::read_dir(place.path()).unwrap().count(), 3);
}

#[test]
fn a_break_file_without_breaks_has_the_columns() {
    let place = Place::with_ledger_and_bank();
    let sources = ["one=ledger.csv", "two=ledger.csv", "--key", "txn_id"];
    assert!(place.shown(&[&sources[..], &["--breaks", "breaks.csv"]].concat()).starts_with("exit 0\n"));
    assert_eq!(
        fs::read_to_string(place.path().join("breaks.csv")).unwrap(),
        "txn_id,occurrence,status,present_in,column,one,two,difference,tolerance,rule\n"
    );
}

#[test]
fn the_report_goes_to_a_file_and_the_verdict_to_the_terminal() {
    let place = Place::with_ledger_and_bank();
    let shown = place.shown(&with(&["--format", "html", "--output", "report.html"]));
    insta::assert_snapshot!(shown, @r#"
    exit 1
    UNMATCHED: 0 of 5 groups match, 3 outside a tolerance, 2 absent somewhere
    "#);
    assert!(fs::read_to_string(place.path().join("report.html")).unwrap().ends_with("</html>\n"));
    assert_eq!(place.shown(&with(&["--format", "junit", "--output", "r.xml", "--quiet"])), "exit 1\n");
}

#[test]
fn the_extension_of_a_report_says_how_it_is_written() {
    let place = Place::with_ledger_and_bank();
    let cases: [(&[&'static str], &str); 8] = [
        (&["--output", "r.html"], "<!doctype html>"),
        (&["--output", "r.HTM"], "<!doctype html>"),
        (&["--output", "r.md"], "## "),
        (&["--output", "r.json"], "{"),
        (&["--output", "r.xml"], "<?xml"),
        (&["--output", "r.txt"], "UNMATCHED: "),
        (&["--output", "report"], "UNMATCHED: "),
        (&["--output", "r.json", "--format", "table"], "UNMATCHED: "),
    ];
    for (options, expected) in cases {
        assert!(place.shown(&with(options)).starts_with("exit 1\n"));
        let report = fs::read_to_string(place.path().join(options[1])).unwrap();
        assert!(report.starts_with(expected), "{options:?}: {report}");
    }
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
fn no_text_looks_like_null_or_nothing() {
    let place = Place::new(&[("a.csv", "id,n\n1,NULL\n2,\"\"\nNULL,x\n"), ("b.csv", "id,n\n1,\n2,x\n,x\n")]);
    let cases: [(&str, &[&str]); 4] = [
        (
            "table",
            &[
                "\n  1       n        'NULL'   NULL",
                "\n  2       n        ''       x",
                "\n  'NULL'  (group)",
                "\n  NULL    (group)",
            ],
        ),
        (
            "junit",
            &["1: a 'NULL', b NULL\n", "2: a '', b x\n", "'NULL': absent from b\n", "NULL: absent from a\n"],
        ),
        ("html", &["<code>NULL</code>", "<i>NULL</i>", "<code>&#39;&#39;</code>"]),
        ("markdown", &["| `1` | `n` | `NULL` | NULL |", "| `2` | `n` | '' | `x` |"]),
    ];
    for (format, expected) in cases {
        let shown = place.shown(&["a=a.csv", "b=b.csv", "--key", "id", "--format", format]);
        for text in expected {
            assert!(shown.contains(text), "{format}, {text}: {shown}");
        }
    }
}

#[test]
fn a_header_is_detected_or_said() {
    let place = Place::new(&[("a.csv", "1,x\n2,y\n"), ("b.csv", "column_0,column_1\n1,x\n2,y\n")]);
    let cases: [(&[&str], &str, [&str; 2]); 4] = [
        (&[], "MATCHED: 2 of 2 groups match", ["no header", "header"]),
        (&["--header=b", "--no-header=a"], "MATCHED: 2 of 2 groups match", ["no header", "header"]),
        (&["--no-header"], "UNMATCHED: 2 of 3 groups match", ["no header", "no header"]),
        (
            &["--header", "--rename", "a:1=column_0,a:x=column_1"],
            "UNMATCHED: 1 of 2 groups match",
            ["header", "header"],
        ),
    ];
    for (more, verdict, headers) in cases {
        let shown = place.shown(&[&["a=a.csv", "b=b.csv", "--key", "column_0"], more].concat());
        assert!(shown.contains(&format!("\n{verdict}")), "{more:?}: {shown}");
        for (file, header) in ["a.csv", "b.csv"].into_iter().zip(headers) {
            let read_as = format!("{file}  CSV, delimiter ',', UTF-8, {header}\n");
            assert!(shown.contains(&read_as), "{more:?}: {shown}");
        }
    }
}

#[test]
fn a_rule_that_was_not_used_is_not_claimed() {
    let place = Place::new(&[("b.csv", "id,x\n1,5\n2,seven\n")]);
    let column = |values: [i64; 2]| Arc::new(Int64Array::from(values.to_vec())) as ArrayRef;
    let batch = RecordBatch::try_from_iter([("id", column([1, 2])), ("x", column([5, 6]))]).unwrap();
    place.write_parquet("a.parquet", &batch);

    // Numbers against words are a finding, and compared exactly whatever their tolerance.
    let sources = ["a=a.parquet", "b=b.csv", "--key", "id"];
    let output = place.diff(&[&sources[..], &["--tolerance", "x=0.1", "--breaks", "breaks.csv"]].concat());
    assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stderr));
    insta::assert_snapshot!(fs::read_to_string(place.path().join("breaks.csv")).unwrap(), @r#"
    id,occurrence,status,present_in,column,a,b,difference,tolerance,rule
    2,1,outside,"a, b",x,6,seven,,,EXACT: a against b
    "#);
}

#[test]
fn every_option_is_in_the_docs() {
    let help = Command::new(env!("CARGO_BIN_EXE_trueup")).args(["diff", "--help"]).output().unwrap();
    let help = String::from_utf8(help.stdout).unwrap();
    let docs = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/diff.md")).unwrap();
    let options: Vec<&str> = (help.lines())
        .filter(|line| line.trim_start().starts_with('-'))
        .filter_map(|line| line.split_whitespace().find(|word| word.starts_with("--")))
        .map(|word| word.split(['[', '=', ',']).next().unwrap())
        .collect();
    assert!(options.len() > 25, "{options:?}");
    for option in options {
        assert!(docs.contains(&format!("`{option}`")), "{option} is not in docs/diff.md");
    }
}
