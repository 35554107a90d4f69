//! What databases refuse, and what breaks on the way: each ends the run with its reason, the source and the database's words.

use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::sync::OnceLock;

use trueup_events::outcome::{ErrorCode, Reason, Verdict};
use trueup_reconcile::Stopped;
use trueup_testkit::{Fault, Mariadb, Postgres, Way};

use crate::scene::Scene;

/// A job that holds what a database delivers against a file.
fn job(kind: &str, query: &str) -> String {
    let place = if kind == "sqlite" { "path: erp.db" } else { "url: '${env:URL}'" };
    let query = serde_json::to_string(query).unwrap();
    format!(
        "name: refused
connections: {{erp: {{type: {kind}, {place}}}}}
sources:
  ledger: {{connection: erp, query: {query}}}
  bank: {{file: bank.csv}}
key: [id]
"
    )
}

fn scene(url: &str) -> Scene {
    let mut scene = Scene::new(&[("bank.csv", "id,amount\n")]);
    scene.variables.insert("URL", url.to_owned());
    let made = "create table gl (id integer, amount numeric); insert into gl values (1, 1), (-9223372036854775808, 2)";
    rusqlite::Connection::open(scene.path("erp.db")).unwrap().execute_batch(made).unwrap();
    scene
}

/// A PostgreSQL that asks `ann` for her password.
fn guarded() -> &'static Postgres {
    static GUARDED: OnceLock<Postgres> = OnceLock::new();
    GUARDED.get_or_init(|| {
        let server = Postgres::start_guarded().unwrap();
        let made = "create table gl (id int8, amount numeric); grant all on gl to ann";
        server.execute(&server.url("postgres", "postgres"), made).unwrap();
        server
    })
}

fn postgres(password: &str) -> String {
    guarded().url(&format!("ann:{password}"), "postgres")
}

fn mariadb(password: &str) -> String {
    static DATABASE: OnceLock<String> = OnceLock::new();
    let database = DATABASE.get_or_init(|| {
        let name = Mariadb::shared().database().unwrap();
        Mariadb::shared().run(&name, "create table gl (id bigint, amount decimal(9,2))").unwrap();
        name
    });
    Mariadb::shared().url(database).replace(Mariadb::PASSWORD, password)
}

/// When servers are cut off.
const CUT: Fault = Fault::CutsOff(200_000);

fn way_to_postgres() -> Way {
    let socket = guarded().listening_at();
    Way::to(CUT, move || UnixStream::connect(&socket).and_then(|stream| Ok((stream.try_clone()?, stream))))
        .unwrap()
}

fn way_to_mariadb() -> Way {
    let port = Mariadb::shared().port();
    let reach = move || TcpStream::connect(("127.0.0.1", port));
    Way::to(CUT, move || reach().and_then(|stream| Ok((stream.try_clone()?, stream)))).unwrap()
}

/// The same database, on another way.
fn through(way: &Way, url: &str) -> String {
    let (who, place) = url.split_once('@').unwrap();
    format!("{who}@127.0.0.1:{}/{}", way.port(), place.split_once('/').unwrap().1)
}

#[test]
fn each_refusal_has_its_reason_its_source_and_the_databases_words() {
    let (postgres_url, mariadb_url) = (postgres("hunter2"), mariadb("hunter2"));
    let (wrong, wrong_too) = (postgres("hunter3"), mariadb("hunter3"));
    let cut = through(&way_to_postgres(), &postgres_url);
    let cut_too = through(&way_to_mariadb(), &mariadb_url);
    let all = "select id, amount from gl";
    let (missing, writing) = ("select id, amount from nope", "delete from gl returning id, amount");
    let by_series = "select 1 / (90000 - i) as id, i as amount from generate_series(1, 100000) as i";
    let by_sequence = "select 18446744073709551615 - 90000 + seq as id, 1 as amount from seq_1_to_100000";
    let many = "select i as id, i as amount from generate_series(1, 1000000) as i";
    let many_too = "select seq as id, seq as amount from seq_1_to_1000000";
    let table = [
        ("postgres", wrong.as_str(), all, Reason::ConnectionFailed, "password authentication failed"),
        ("postgres", "postgres://ann:hunter2@nowhere.invalid/d", all, Reason::ConnectionFailed, "lookup"),
        ("postgres", "postgres://ann:hunter2@127.0.0.1:1/d", all, Reason::ConnectionFailed, "refused"),
        ("postgres", &postgres_url, missing, Reason::SourceMissing, "relation \"nope\" does not exist"),
        ("postgres", &postgres_url, writing, Reason::SourceInvalid, "syntax error"),
        ("postgres", &postgres_url, "drop table gl", Reason::SourceInvalid, "a source is a SELECT"),
        ("postgres", &postgres_url, by_series, Reason::SourceInvalid, "division by zero"),
        ("postgres", &cut, many, Reason::ConnectionFailed, "connection closed"),
        ("mysql", &wrong_too, all, Reason::ConnectionFailed, "Access denied for user 'ann'"),
        ("mysql", "mysql://ann:hunter2@nowhere.invalid/d", all, Reason::ConnectionFailed, "lookup"),
        ("mysql", "mysql://ann:hunter2@127.0.0.1:1/d", all, Reason::ConnectionFailed, "refused"),
        ("mysql", &mariadb_url, missing, Reason::SourceMissing, "nope' doesn't exist"),
        ("mysql", &mariadb_url, writing, Reason::SourceInvalid, "READ ONLY transaction"),
        ("mysql", &mariadb_url, "drop table gl", Reason::SourceInvalid, "a source is a SELECT"),
        ("mysql", &mariadb_url, by_sequence, Reason::SourceInvalid, "out of range"),
        ("mysql", &cut_too, many_too, Reason::ConnectionFailed, "closed the connection"),
        ("sqlite", "", missing, Reason::SourceMissing, "no such table: nope"),
        ("sqlite", "", writing, Reason::SourceInvalid, "it would write"),
        ("sqlite", "", "drop table gl", Reason::SourceInvalid, "a source is a SELECT"),
        ("sqlite", "", "select abs(id) as id, amount from gl", Reason::SourceInvalid, "integer overflow"),
    ];
    for (kind, url, query, reason, words) in table {
        let scene = scene(url);
        let (told, outcome) = scene.carry_out(&job(kind, query), &[]);
        let Err(Stopped::Failed(error)) = outcome else { panic!("{kind} {query}: {outcome:?}") };
        assert_eq!((error.code(), error.reason()), (ErrorCode::QueryFailed, Some(reason)), "{error}");
        assert!(error.message().starts_with("ledger: erp: "), "{error}");
        assert!(error.message().contains(words), "{kind} {query}: {error}");
        let told = scene.shown(&told);
        assert!(told.contains("run.extraction.errored {\"extraction_index\":0"), "{told}");
        assert!(!format!("{error}{told}").contains("hunter"), "{error} {told}");
        assert_eq!(
            (scene.names_in("run"), scene.names_in("tmp")),
            (Vec::new(), Vec::new()),
            "{kind} {query}"
        );
    }
}

#[test]
fn an_empty_result_is_no_failure() {
    let (postgres, mariadb) = (postgres("hunter2"), mariadb("hunter2"));
    for (kind, url) in [("postgres", postgres.as_str()), ("mysql", &mariadb), ("sqlite", "")] {
        let (_, outcome) = scene(url).carry_out(&job(kind, "select id, amount from gl where id = 7"), &[]);
        assert_eq!(outcome.unwrap().verdict, Verdict::Matched, "{kind}");
    }
}
