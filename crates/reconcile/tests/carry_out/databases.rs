//! Databases as sources, beside files.

use trueup_events::outcome::Verdict;
use trueup_testkit::{Mariadb, Postgres};

use crate::scene::Scene;

const LEDGER: &str = "
name: revenue
params: {day: {type: date, default: '{{ today - 1d }}'}}
connections: {erp: {type: postgres, url: '${env:ERP_URL}'}}
sources:
  ledger:
    connection: erp
    query: >-
      select * from (values (date '2026-01-14', 'north', 10.10), ('2026-01-14', 'south', 20.25), ('2026-01-13', 'north', 7))
      as gl (booked_on, region, amount) where booked_on = {{ params.day }} -- the day's
  bank: {file: bank.csv, columns: {Area: region}}
dimensions: [region]
measures: [{name: amount, aggregate: sum}]
tolerances: {amount: '0.01'}
";

fn scene(bank: &str) -> Scene {
    let mut scene = Scene::new(&[("bank.csv", bank)]);
    scene.variables.insert("ERP_URL", Postgres::shared().database().unwrap());
    scene
}

#[test]
fn a_query_is_reconciled_with_a_file() {
    let table = [
        ("Area,amount\nnorth,10.11\nsouth,20.00\nsouth,0.25\n", "2026-01-14", Verdict::Matched),
        ("Area,amount\nnorth,10.12\nsouth,20.25\n", "2026-01-14", Verdict::Unmatched),
        ("Area,amount\nnorth,7\n", "2026-01-13", Verdict::Matched),
        ("Area,amount\n", "2026-01-01", Verdict::Matched),
    ];
    for (bank, day, verdict) in table {
        let (_, outcome) = scene(bank).carry_out(LEDGER, &[("day", day)]);
        assert_eq!(outcome.unwrap().verdict, verdict, "{bank} {day}");
    }
}

#[test]
fn what_keeps_a_database_from_being_read_is_told_with_its_source() {
    let elsewhere = "postgres://ann:hunter2@127.0.0.1:1/erp";
    let table = [
        ("", None, "INVALID_JOB: connections.erp.url: ${env:ERP_URL}: not set"),
        ("", Some(elsewhere), "CONNECTION_FAILED: ledger: erp: "),
        ("select 1 from gl", None, "SOURCE_MISSING: ledger: erp: relation \"gl\" does not exist"),
        ("select 1 as", None, "SOURCE_INVALID: ledger: erp: syntax error at end of input"),
    ];
    for (query, url, expected) in table {
        let mut scene = scene("region,amount\n");
        match url {
            Some(url) => drop(scene.variables.insert("ERP_URL", url.to_owned())),
            None if query.is_empty() => scene.variables.clear(),
            None => {}
        }
        let start = LEDGER.find("    query:").unwrap();
        let end = LEDGER.find("  bank:").unwrap();
        let replaced = format!("{}    query: {query}\n{}", &LEDGER[..start], &LEDGER[end..]);
        let (told, outcome) = scene.carry_out(if query.is_empty() { LEDGER } else { &replaced }, &[]);
        let reason = scene.reason(outcome);
        assert!(reason.starts_with(expected), "{reason}");
        assert!(!format!("{reason}{}", scene.shown(&told)).contains("hunter2"), "{reason}");
    }
}

#[test]
fn an_address_may_be_given_in_parts() {
    let scene = scene("Area,amount\nnorth,7\n");
    let address = scene.variables["ERP_URL"].trim_start_matches("postgres://");
    let [user, host, port, database] = address.split(['@', ':', '/']).collect::<Vec<_>>().try_into().unwrap();
    let host = host.replace("%2F", "/");
    let parts = format!("user: {user}, host: {host}, port: {port}, database: {database}");
    let job = LEDGER.replace("url: '${env:ERP_URL}'", &parts);
    let (_, outcome) = scene.carry_out(&job, &[("day", "2026-01-13")]);
    assert_eq!(outcome.unwrap().verdict, Verdict::Matched);
}

#[test]
fn a_table_of_mariadb_is_read_by_an_address_in_parts() {
    let server = Mariadb::shared();
    let database = server.database().unwrap();
    server
        .run(
            &database,
            "create table `Day End` (region text, amount int); insert into `Day End` values ('north', 7)",
        )
        .unwrap();
    let mut scene = scene("region,amount\nnorth,7\n");
    scene.variables.insert("PASSWORD", Mariadb::PASSWORD.to_owned());
    let job = format!(
        "name: parts
connections: {{wms: {{type: mysql, user: ann, password: '${{env:PASSWORD}}', host: 127.0.0.1, port: {}, database: {database}}}}}
sources: {{stock: {{connection: wms, table: '{database}.\"Day End\"'}}, bank: {{file: bank.csv}}}}
key: [region]
",
        server.port()
    );
    let (_, outcome) = scene.carry_out(&job, &[]);
    assert_eq!(outcome.unwrap().verdict, Verdict::Matched);
}

#[test]
fn two_databases_of_different_kinds_agree() {
    let scene = scene("");
    let made = "create table orders (id integer, total numeric, placed text);
        insert into orders values (1, 10.5, '2026-01-31'), (2, 20, '2026-02-01')";
    rusqlite::Connection::open(scene.path("orders.db")).unwrap().execute_batch(made).unwrap();
    let job = |second: &str| {
        format!(
            "name: cut-over
connections: {{old: {{type: sqlite, path: orders.db}}, new: {{type: postgres, url: '${{env:ERP_URL}}'}}}}
sources:
  old: {{connection: old, table: orders}}
  new: {{connection: new, query: \"select * from (values (1::int8, 10.50, date '2026-01-31'), {second}) as t (id, total, placed)\"}}
key: [id]
"
        )
    };
    let table = [
        ("(2, 20, '2026-02-01')", Verdict::Matched),
        ("(2, 20.01, '2026-02-01')", Verdict::Unmatched),
        ("(2, 20, '2026-02-02')", Verdict::Unmatched),
        ("(3, 20, '2026-02-01')", Verdict::Unmatched),
    ];
    for (second, verdict) in table {
        let (_, outcome) = scene.carry_out(&job(second), &[]);
        assert_eq!(outcome.unwrap().verdict, verdict, "{second}");
    }
}

#[test]
fn bytes_are_the_same_in_every_database() {
    let mut scene = scene("");
    scene.variables.insert("WMS_URL", Mariadb::shared().url("mysql"));
    rusqlite::Connection::open(scene.path("orders.db")).unwrap();
    let queries = [
        ("new", "select 1::int8 as id, '\\x00ff'::bytea as image"),
        ("wms", "select 1 as id, x'00ff' as image"),
        ("old", "select 1 as id, x'00ff' as image"),
    ];
    for (at, (left, query)) in queries.iter().enumerate() {
        for (right, other) in &queries[at + 1..] {
            for (other, verdict) in
                [((*other).to_owned(), Verdict::Matched), (other.replace("ff'", "fe'"), Verdict::Unmatched)]
            {
                let job = format!(
                    "name: images
connections: {{old: {{type: sqlite, path: orders.db}}, new: {{type: postgres, url: '${{env:ERP_URL}}'}}, wms: {{type: mysql, url: '${{env:WMS_URL}}'}}}}
sources:
  left: {{connection: {left}, query: {query:?}}}
  right: {{connection: {right}, query: {other:?}}}
key: [id]
"
                );
                let (_, outcome) = scene.carry_out(&job, &[]);
                assert_eq!(outcome.unwrap().verdict, verdict, "{left} {right} {other}");
            }
        }
    }
}
