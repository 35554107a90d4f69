//! `trueup audit verify` on stores that were left alone, and on stores that were not.

use serde_json::json;
use trueup_events::payload::Mode;
use trueup_lifecycle::Policy;
use trueup_store::{JobDocument, NewRun, Options, Place as StorePlace, Role, Store};

use crate::place::{Place, shown};

/// Makes a store with a few entries, as somebody's morning leaves it.
fn morning(place: &StorePlace) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let store = Store::open(place, Role::Server, Options::default()).await.unwrap();
        let tenant_id = store.tenant("default").await.unwrap();
        let (name, queue) = ("revenue".to_owned(), "default".to_owned());
        let document = JobDocument { name, document: json!({}), queue, policy: Policy::default() };
        store.save_job(tenant_id, document, "ann").await.unwrap();
        for _ in 0..3 {
            let (params, triggered_by) = (json!({}), "ann".to_owned());
            let new = NewRun {
                run_id: uuid::Uuid::now_v7(),
                tenant_id,
                job: "revenue".to_owned(),
                params,
                mode: Mode::Immediate,
                triggered_by,
            };
            store.trigger(new).await.unwrap();
        }
        store.close().await.unwrap();
    });
}

/// What somebody does who can write the file and knows how the database keeps its promise.
const TAMPER: [(&str, &str, &str); 3] = [
    (
        "changed",
        "drop trigger audit_keeps_its_entries; update audit set actor = 'bob' where id = 3;",
        "TAMPERED: entry 3 was changed; entries that are as they were written: 2\n",
    ),
    (
        "removed",
        "drop trigger audit_loses_no_entry; delete from audit where id = 2;",
        "TAMPERED: entry 2 is missing; entries that are as they were written: 1\n",
    ),
    (
        "removed with its link",
        "drop trigger audit_loses_no_entry; drop trigger audit_chain_loses_no_link;
         delete from audit where id = 1; delete from audit_chain where number = 1;",
        "TAMPERED: entry 1 is missing; entries that are as they were written: 0\n",
    ),
];

#[test]
fn what_was_changed_or_removed_is_named() {
    for (name, sql, expected) in TAMPER {
        let place = Place::new(&[]);
        let path = place.path().join("store.db");
        morning(&StorePlace::Sqlite(path.clone()));
        let verify =
            || shown(place.trueup(&["audit", "verify", "--store", "sqlite:store.db"]).output().unwrap());
        let whole = verify();
        assert!(whole.starts_with("exit 0\nwhole: 4 entries, none changed, none missing\nhead "), "{whole}");

        let connection = rusqlite::Connection::open(&path).unwrap();
        connection.execute_batch(sql).unwrap();
        drop(connection);
        let tampered = verify();
        assert!(tampered.starts_with(&format!("exit 1\n{expected}")), "{name}: {tampered}");
    }
}

#[test]
fn a_store_that_nobody_may_write_is_looked_at() {
    let place = Place::new(&[]);
    let path = place.path().join("store.db");
    morning(&StorePlace::Sqlite(path.clone()));
    let set_read_only = |read_only: bool| {
        for path in [path.as_path(), place.path()] {
            let mut permissions = std::fs::metadata(path).unwrap().permissions();
            permissions.set_readonly(read_only);
            std::fs::set_permissions(path, permissions).unwrap();
        }
    };
    set_read_only(true);
    let table = [
        (&["audit", "verify"][..], "whole: 4 entries, "),
        (&["status"], "\nQueues\n"),
        (&["runs", "list"], " revenue "),
    ];
    let looked = table.map(|(command, expected)| {
        let arguments = [command, &["--store", "sqlite:store.db"]].concat();
        (shown(place.trueup(&arguments).output().unwrap()), expected)
    });
    set_read_only(false);
    for (looked, expected) in looked {
        assert!(looked.starts_with("exit 0\n") && looked.contains(expected), "{looked}");
    }
}

#[test]
fn entries_that_were_cut_off_are_missed_by_who_kept_the_head() {
    let place = Place::new(&[]);
    let path = place.path().join("store.db");
    morning(&StorePlace::Sqlite(path.clone()));
    let verify = |more: &[&str]| {
        let arguments = [&["audit", "verify", "--store", "sqlite:store.db"], more].concat();
        shown(place.trueup(&arguments).output().unwrap())
    };
    let whole = verify(&["--json"]);
    let whole: serde_json::Value = serde_json::from_str(whole.strip_prefix("exit 0\n").unwrap()).unwrap();
    let head = whole["head"].as_str().unwrap();
    assert_eq!(whole, json!({ "entries": 4, "head": head, "unlinked": 0, "fault": null }));

    let connection = rusqlite::Connection::open(&path).unwrap();
    let cut = "drop trigger audit_loses_no_entry; drop trigger audit_chain_loses_no_link;
        delete from audit where id = 4; delete from audit_chain where number = 4;";
    connection.execute_batch(cut).unwrap();
    drop(connection);
    assert!(verify(&[]).starts_with("exit 0\n"));
    let cut = verify(&["--expect", head]);
    assert!(cut.starts_with(&format!("exit 1\nTAMPERED: the head {head} is gone")), "{cut}");
}

#[test]
fn what_is_no_store_is_refused() {
    let place = Place::new(&[("ledger.csv", "id,amount\n1,2\n"), ("empty.db", "")]);
    let table = [
        ("sqlite:ledger.csv", "error: cannot open the store sqlite:ledger.csv: not a trueup store"),
        (
            "sqlite:legder.db",
            "error: cannot open the store sqlite:legder.db: there is no store here: legder.db is missing or empty\nhint: check where",
        ),
        ("sqlite:empty.db", "error: cannot open the store sqlite:empty.db: there is no store here: "),
        ("ledger.db", "names no store: write sqlite:PATH or postgres://USER@HOST/DATABASE"),
        (
            "postgres://ann@localhost:1/none",
            "error: cannot open the store postgres://ann@localhost:1/none: the store is away",
        ),
    ];
    for (store, expected) in table {
        let refused = shown(place.trueup(&["audit", "verify", "--store", store]).output().unwrap());
        assert!(refused.starts_with("exit 2\n") && refused.contains(expected), "{store}: {refused}");
    }
    assert_eq!(std::fs::read_to_string(place.path().join("ledger.csv")).unwrap(), "id,amount\n1,2\n");
    assert_eq!(
        std::fs::metadata(place.path().join("empty.db")).unwrap().len(),
        0,
        "to check is no reason to make one"
    );
}

#[test]
fn an_interrupt_ends_it() {
    let place = Place::new(&[]);
    // A server that never answers.
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let store = format!("postgres://ann@{}/none", silent.local_addr().unwrap());
    let mut child = place.trueup(&["audit", "verify", "--store", &store]).spawn().unwrap();
    let called = silent.accept().unwrap();
    let sent = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
    assert_eq!(child.wait().unwrap().code(), Some(130));
    drop(called);
}
