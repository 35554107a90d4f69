//! `trueup attempt`: a process that carries out a job, and ends when the one that started it does.

use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Child, ChildStdin, Stdio};

use serde_json::{Value, json};
use trueup_events::attempt::Line;
use trueup_events::outcome::{Outcome, Verdict};
use trueup_events::{EventType, Payload};

use crate::place::{Place, with};

fn assignment(place: &Place, job: &Value, params: &str) -> String {
    json!({
        "run_id": "3f0c1f5e-7d0b-4a55-9a6f-1f6f1a2b3c4d",
        "job_id": "9b7e4c1a-2f44-4b1d-8c07-5a1b2c3d4e5f",
        "tenant_id": "0a1b2c3d-4e5f-4607-8899-aabbccddeeff",
        "job": job,
        "params": params,
        "requested_at_ms": 1_768_478_400_000_i64,
        "breaks_dir": place.path().join("run"),
        "memory_bytes": 64 << 20,
        "threads": null,
    })
    .to_string()
}

fn start(place: &Place, line: &str) -> (Child, ChildStdin) {
    let mut child = place
        .trueup(&["attempt"])
        .env("TMPDIR", place.path().join("tmp"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    writeln!(input, "{line}").unwrap();
    (child, input)
}

/// What an attempt tells, and how it ends.
fn attempt(place: &Place, line: &str) -> (Vec<Payload>, Outcome) {
    fs::create_dir_all(place.path().join("tmp")).unwrap();
    let (mut child, input) = start(place, line);
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut told = Vec::new();
    let outcome = loop {
        match serde_json::from_str(&lines.next().expect("it says how it ended").unwrap()).unwrap() {
            Line::Told { payload, .. } => told.push(payload),
            Line::Ended(outcome) => break outcome,
        }
    };
    assert!(lines.next().is_none(), "nothing follows the end");
    assert_eq!(child.wait().unwrap().code(), Some(0));
    // Held open until here: it ended by itself.
    drop(input);
    (told, outcome)
}

fn job(more: &Value) -> Value {
    let mut job = json!({
        "name": "cut-over",
        "sources": [{"name": "ledger", "file": "ledger.csv"}, {"name": "bank", "file": "bank.csv"}],
        "key": ["txn_id"],
    });
    for (name, value) in more.as_object().unwrap() {
        job[name] = value.clone();
    }
    job
}

#[test]
fn a_job_finds_what_diff_does() {
    let sum = json!([{"name": "total", "aggregate": "sum", "column": "amount"}]);
    let cases: [(&[&str], Value); 6] = [
        (&[], json!({})),
        (&["--tolerance", "amount=0.01"], json!({"tolerances": {"amount": "0.01"}})),
        (
            &["--tolerance", "amount=0.5%,base=bank,allow=1", "--ignore", "note"],
            json!({
                "tolerances": {"amount": {"type": "PERCENTAGE", "value": "0.5", "base": "bank", "allow": 1}},
                "ignore": ["note"],
            }),
        ),
        (
            &["--compare", "note", "--normalise", "note=trim,casefold", "--reference", "bank"],
            json!({
                "only": ["note"],
                "tolerances": {"note": {"type": "EXACT", "normalise": ["trim", "casefold"]}},
                "reference": "bank",
            }),
        ),
        (
            &["--measure", "total=sum(amount)", "--tolerance", "total=0.01"],
            json!({"measures": sum, "tolerances": {"total": "0.01"}}),
        ),
        (
            &["--rename", "bank:ccy=currency", "--rename", "ledger:ccy=currency"],
            json!({"sources": [
                {"name": "ledger", "file": "ledger.csv", "columns": {"ccy": "currency"}},
                {"name": "bank", "file": "bank.csv", "columns": {"ccy": "currency"}},
            ]}),
        ),
    ];
    for (flags, more) in cases {
        let place = Place::with_ledger_and_bank();
        let arguments = [with(&["--format", "json", "--breaks", "breaks.parquet"]), flags.to_vec()].concat();
        let report: Value = serde_json::from_slice(&place.diff(&arguments).stdout).unwrap();
        let (told, outcome) = attempt(&place, &assignment(&place, &job(&more), "{}"));
        let told: Vec<Value> = told
            .iter()
            .filter(|payload| payload.event_type() == EventType::ComparisonCompleted)
            .map(|payload| serde_json::to_value(payload).unwrap())
            .collect();
        for (name, value) in told[0].as_object().unwrap() {
            if name != "tolerances" {
                assert_eq!(&report[name], value, "{name} with {flags:?}");
            }
        }
        assert_eq!(outcome, Outcome::Result(Verdict::Unmatched), "{flags:?}");
        let breaks = |name: &str| fs::read(place.path().join(name)).unwrap();
        assert!(breaks("run/all.parquet") == breaks("breaks.parquet"), "other breaks with {flags:?}");
    }
}

#[test]
fn what_is_wrong_is_an_error_line() {
    let place = Place::with_ledger_and_bank();
    let typed = json!({"params": {"day": {"type": "date"}}});
    let cases = [
        (job(&json!({"key": 7})), "{}", "INVALID_JOB: 1:"),
        (json!([]), "{}", "INVALID_JOB: 1:1: "),
        (job(&json!({})), "no", "INVALID_JOB: params: expected a JSON object: "),
        (job(&json!({})), r#"{"day":1}"#, "INVALID_JOB: params: there is no parameter `day`"),
        (job(&typed), r#"{"day":"x"}"#, "INVALID_JOB: params: the parameter `day` is \"x\""),
        (job(&json!({"memory": "1MB"})), "{}", "INVALID_JOB: memory: at least 48MiB are needed"),
    ];
    for (job, params, expected) in cases {
        let line = assignment(&place, &job, params).replace(&(64 << 20).to_string(), "null");
        let (told, outcome) = attempt(&place, &line);
        let Outcome::Error(error) = outcome else { panic!("{expected}: it has a verdict") };
        assert!(error.to_string().starts_with(expected), "{error}");
        assert_eq!(told, []);
    }
    let (_, outcome) = attempt(&place, "{}");
    let Outcome::Error(error) = outcome else { panic!("nothing was assigned") };
    assert!(error.to_string().starts_with("UNKNOWN: the assignment cannot be read: "), "{error}");
}

#[test]
fn it_ends_with_the_one_that_started_it() {
    let rows = |shift: usize| {
        let mut text = "id,amount\n".to_owned();
        (0..400_000).for_each(|row| writeln!(text, "{row},{}", row + shift).unwrap());
        text
    };
    let place = Place::new(&[("a.csv", &rows(0)), ("b.csv", &rows(1))]);
    fs::create_dir(place.path().join("tmp")).unwrap();
    let job =
        json!({"name": "big", "sources": {"a": {"file": "a.csv"}, "b": {"file": "b.csv"}}, "key": ["id"]});
    let (mut child, input) = start(&place, &assignment(&place, &job, "{}"));
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    while !line.contains("run.stage.started") {
        line.clear();
        output.read_line(&mut line).unwrap();
    }
    #[cfg(unix)]
    {
        for signal in ["-INT", "-TERM"] {
            let sent = std::process::Command::new("kill").args([signal, &child.id().to_string()]).status();
            assert!(sent.unwrap().success());
            assert_eq!(child.try_wait().unwrap(), None, "{signal} is not for it");
        }
    }
    drop(input);
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let mut rest = String::new();
    output.read_to_string(&mut rest).unwrap();
    assert!(!rest.contains("\"result\"") && !rest.contains("\"error\""), "{rest}");
    for folder in ["tmp", "run"] {
        assert_eq!(fs::read_dir(place.path().join(folder)).unwrap().count(), 0, "{folder} is not empty");
    }
}
