//! `trueup check` and `trueup schema`: jobs without a run of them.

use std::fs;
use std::process::Command;

use trueup_testkit::Postgres;

use crate::place::{Place, shown};

/// A job that holds a query against a file.
const JOB: &str = "name: cut-over
params: {least: {type: integer, default: 0}}
connections: {erp: {type: postgres, url: '${env:ERP_URL}'}}
sources:
  ledger: {connection: erp, query: \"select 1::int8 as txn_id, 10.5 as amount, now() as at where 1 > {{ params.least }} -- all\"}
  bank: {file: bank.csv, columns: {note: remark}, casts: {amount: decimal}, filter: amount > 1}
key: [txn_id]
";

fn place(job: &str) -> Place {
    let place = Place::with_ledger_and_bank();
    fs::write(place.path().join("job.yaml"), job).unwrap();
    place
}

fn check(place: &Place, arguments: &[&str]) -> Command {
    let mut command = place.trueup(&["check", "job.yaml"]);
    command.args(arguments).env("ERP_URL", Postgres::shared().database().unwrap());
    command
}

#[test]
fn a_job_is_checked_with_and_without_its_sources() {
    let place = place(JOB);
    let without = check(&place, &[]).env_remove("ERP_URL").output().unwrap();
    assert_eq!(shown(without), "exit 0\ncut-over: 2 sources, 1 stage, nothing wrong\n");
    insta::assert_snapshot!(shown(check(&place, &["--connect"]).output().unwrap()), @r"
    exit 0
    cut-over: 2 sources, 1 stage, nothing wrong

    ledger: PostgreSQL
      column  type
      txn_id  integer
      amount  decimal
      at      instant

    bank: CSV, delimiter ',', UTF-8, header
      column  type
      txn_id  text
      amount  decimal
      ccy     text
      remark  text
    ");
    let json = check(&place, &["--connect", "--json"]).output().unwrap();
    let json: serde_json::Value = serde_json::from_slice(&json.stdout).unwrap();
    assert_eq!(json["sources"][1]["columns"][3]["name"], "remark");
    assert_eq!(json["sources"][0]["columns"][0]["type"], "integer");
}

#[test]
fn a_job_says_whether_there_is_a_header_or_leaves_it_open() {
    let place = Place::new(&[("a.csv", "1,x\n2,y\n")]);
    let table = [
        ("", "no header", "column_0"),
        (", no_header: false", "header", "'1'"),
        (", no_header: true", "no header", "column_0"),
    ];
    for (said, header, key) in table {
        let source = format!("{{file: a.csv{said}}}");
        let job = format!("{{name: j, key: [{key}], sources: {{a: {source}, b: {source}}}}}");
        fs::write(place.path().join("job.yaml"), job).unwrap();
        let shown = shown(place.trueup(&["check", "job.yaml", "--connect"]).output().unwrap());
        assert!(shown.contains(&format!("\na: CSV, delimiter ',', UTF-8, {header}\n")), "{said}: {shown}");
    }
}

#[test]
fn what_is_wrong_is_named() {
    let table = [
        (JOB, "", "there is no =", &["--param", "x"][..]),
        (JOB, "", "", &["--param", "least=x"]),
        ("key:", "kye:", "did you mean `key`?", &[]),
        (
            "bank.csv",
            "'https://bank.example.com/*.csv'",
            "sources.bank.file: a web server does not list its files",
            &[],
        ),
        ("key: [txn_id]", "key: [txn_di]", "txn_di", &["--connect"]),
        ("note: remark", "nope: remark", "bank has no column `nope` to rename", &["--connect"]),
        ("amount > 1", "amount ~ 1", "6:85: sources.bank.filter: \"amount ~ 1\" is not", &[]),
        ("amount > 1", "amuont > 1", "did you mean `amount`?", &["--connect"]),
        ("amount: decimal", "amuont: decimal", "did you mean `amount`?", &["--connect"]),
        ("key: [txn_id]", "key: [txn_id]\nonly: [nope]", "nope", &["--connect"]),
        ("key: [txn_id]", "key: [txn_id]\ntolerances: {nope: '1'}", "nope", &["--connect"]),
        ("key: [txn_id]", "key: [txn_id]\nmemory: 1KB", "memory: at least 48MiB are needed", &[]),
        ("bank.csv", "bnak.csv", "did you mean", &["--connect"]),
        ("now()", "nox()", "function nox() does not exist", &["--connect"]),
        (
            "ERP_URL",
            "ERP_NOT_SET",
            "connections.erp.url: ${env:ERP_NOT_SET}: environment variable not found",
            &["--connect"],
        ),
    ];
    for (from, to, expected, arguments) in table {
        let job = if to.is_empty() { JOB.to_owned() } else { JOB.replace(from, to) };
        let refused = shown(check(&place(&job), arguments).output().unwrap());
        assert!(refused.starts_with("exit 2\n") && refused.contains(expected), "{to}: {refused}");
    }
}

#[test]
fn the_schema_is_printed() {
    let printed = place(JOB).trueup(&["schema"]).output().unwrap();
    let printed: serde_json::Value = serde_json::from_slice(&printed.stdout).unwrap();
    assert_eq!(printed, trueup_job::schema());
}
