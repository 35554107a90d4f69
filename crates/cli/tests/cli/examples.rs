//! The examples are true: each is seeded as its README says, and finds what that says.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;
use trueup_testkit::{Mariadb, Postgres, S3};

use crate::place::Place;

/// A place with the files of an example.
fn example(name: &str) -> Place {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name);
    let place = Place::new(&[]);
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        fs::copy(&path, place.path().join(path.file_name().unwrap())).unwrap();
    }
    place
}

fn file(place: &Place, name: &str) -> String {
    fs::read_to_string(place.path().join(name)).unwrap()
}

/// A database of PostgreSQL with what a script makes.
fn postgres(place: &Place, script: &str) -> String {
    let server = Postgres::shared();
    let url = server.database().unwrap();
    server.execute(&url, &file(place, script)).unwrap();
    url
}

/// Runs the job, which does not match, and gives the breaks of a stage.
fn breaks(place: &Place, stage: &str, settings: &[(&str, &str)]) -> Vec<Value> {
    let settings = || settings.iter().copied();
    let ran = place.trueup(&["run", "job.yaml"]).envs(settings()).output().unwrap();
    let said = String::from_utf8(ran.stderr).unwrap();
    assert_eq!(ran.status.code(), Some(1), "{said}");
    let listed = place.trueup(&["runs", "list", "--json"]).output().unwrap();
    let listed: Value = serde_json::from_slice(&listed.stdout).unwrap();
    let id = listed[0]["run_id"].as_str().unwrap();
    let arguments = ["runs", "breaks", id, "--stage", stage, "--format", "jsonl"];
    let found = String::from_utf8(place.trueup(&arguments).output().unwrap().stdout).unwrap();
    found.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Some fields of breaks, a line each; NULL is a dash.
fn lines(breaks: &[Value], fields: &[&str]) -> Vec<String> {
    let shown = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let shown = |value: &Value| if value.is_null() { "-".to_owned() } else { shown(value) };
    let line = |found: &Value| fields.iter().map(|field| shown(&found[*field])).collect::<Vec<_>>().join(" ");
    breaks.iter().map(line).collect()
}

#[test]
fn ledger_against_bank() {
    let place = example("ledger-bank");
    let settings = [("ERP_URL", &*postgres(&place, "ledger.sql"))];
    let accounts = breaks(&place, "by-account", &settings);
    assert_eq!(
        lines(&accounts, &["account", "column", "ledger", "bank"]),
        ["DE-1200 entries 5 4", "FR-4410 amount 22831.15 17710.97", "FR-4410 entries 4 3"]
    );
    let references = breaks(&place, "by-reference", &settings);
    assert_eq!(
        lines(&references, &["account", "reference", "column", "ledger", "bank"]),
        [
            "DE-1200 FEES entries 2 1",
            "FR-4410 INV-0951 amount 18430.75 18430.57",
            "FR-4410 INV-0953 amount 5120 -",
            "FR-4410 INV-0953 entries 1 -",
        ]
    );
}

#[test]
fn orders_against_warehouse() {
    let place = example("orders-warehouse");
    let environment = Path::new(concat!(env!("CARGO_TARGET_TMPDIR"), "/moto"));
    let lake = S3::start(environment);
    let (shop, endpoint) = (postgres(&place, "orders.sql"), lake.url());
    let settings = [
        ("SHOP_URL", &*shop),
        ("LAKE_ENDPOINT", &*endpoint),
        ("AWS_ACCESS_KEY_ID", "reader"),
        ("AWS_SECRET_ACCESS_KEY", "secret"),
    ];
    let mut python = Command::new(environment.join("bin/python"));
    let seeded = python.arg("seed.py").current_dir(place.path()).envs(settings).output().unwrap();
    assert!(seeded.status.success(), "{}", String::from_utf8_lossy(&seeded.stderr));
    assert_eq!(
        lines(&breaks(&place, "all", &settings), &["order_id", "column", "status", "rule"]),
        [
            "500123 status outside EXACT: shop against warehouse",
            "500123 updated_at outside DURATION 5s: shop against warehouse",
            "500124 total outside EXACT: shop against warehouse",
            "500125 customer unmatched absent from warehouse",
            "500125 status unmatched absent from warehouse",
            "500125 total unmatched absent from warehouse",
            "500125 updated_at unmatched absent from warehouse",
        ]
    );
}

#[test]
fn cut_over() {
    let place = example("cut-over");
    let server = Mariadb::shared();
    let database = server.database().unwrap();
    server.run(&database, &file(&place, "old.sql")).unwrap();
    let settings = [("OLD_URL", &*server.url(&database)), ("NEW_URL", &*postgres(&place, "new.sql"))];
    assert_eq!(
        lines(&breaks(&place, "all", &settings), &["customer_id", "column", "old", "new"]),
        [
            "3 name Müller & Söhne 🚚 Müller & Söhne ?",
            "4 is_active false true",
            "5 created_at 2023-03-26 01:30:00Z 2023-03-26 02:30:00Z",
            "6 email  -",
        ]
    );
}

#[test]
fn trade_custodian_and_broker() {
    let place = example("three-way");
    let trades = rusqlite::Connection::open(place.path().join("trades.db")).unwrap();
    trades.execute_batch(&file(&place, "trades.sql")).unwrap();
    assert_eq!(
        lines(&breaks(&place, "all", &[]), &["isin", "column", "trade", "custodian", "broker"]),
        [
            "GB0002374006 quantity 600 - 600",
            "GB0002374006 value 1638600 - 1638600",
            "NL0010273215 value 1081320 1081320 1085000",
        ]
    );
}
