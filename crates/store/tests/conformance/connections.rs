//! Connections, and answers that are given again.

use futures_util::future::join_all;
use serde_json::json;
use trueup_events::TenantId;
use trueup_store::{Answer, Connection, Expected, NewConnection, StoreError};
use uuid::Uuid;

use crate::bench::{Bench, START_MS};

fn warehouse(tenant_id: TenantId, sealed: &[u8]) -> NewConnection {
    NewConnection {
        tenant_id,
        name: "warehouse".to_owned(),
        kind: "postgres".to_owned(),
        settings: json!({ "host": "db.example", "port": 5432 }),
        sealed: sealed.to_vec(),
    }
}

async fn put(bench: &Bench, sealed: &[u8], expected: Expected) -> Result<Connection, StoreError> {
    bench.store.put_connection(warehouse(bench.tenant_id, sealed), expected, "ann").await
}

pub(crate) async fn a_connection_is_changed_if_it_is_what_it_is_taken_to_be(bench: Bench) {
    use Expected::{Any, New, Revision};
    let table: [(&[u8], _, _); 8] = [
        (b"a", Revision(1), Err(None)),
        (b"a", New, Ok(1)),
        (b"b", New, Err(Some(1))),
        (b"a", Revision(1), Ok(1)),
        (b"b", Revision(1), Ok(2)),
        (b"c", Revision(1), Err(Some(2))),
        (b"\0\xff", Any, Ok(3)),
        (b"\0\xff", Any, Ok(3)),
    ];
    for (sealed, expected, outcome) in table {
        bench.advance(1_000);
        let version = match put(&bench, sealed, expected).await {
            Ok(connection) => Ok(connection.version),
            Err(StoreError::Changed { now }) => Err(now),
            Err(error) => panic!("{error}"),
        };
        assert_eq!(version, outcome, "{expected:?}");
    }
    let kept = bench.store.connection(bench.tenant_id, "warehouse").await.unwrap().unwrap();
    let NewConnection { tenant_id, name, kind, settings, sealed } = warehouse(bench.tenant_id, b"\0\xff");
    let (changed_at_ms, changed_by) = (START_MS + 7_000, "ann".to_owned());
    assert_eq!(
        kept,
        Connection { tenant_id, name, kind, settings, sealed, version: 3, changed_at_ms, changed_by }
    );
    assert!(!format!("{kept:?} {:?}", warehouse(tenant_id, b"s")).contains("sealed"), "nor in a log");

    let nobody = TenantId(Uuid::now_v7());
    let refused = bench.store.put_connection(warehouse(nobody, b"a"), Any, "ann").await.unwrap_err();
    assert!(matches!(refused, StoreError::NoSuchTenant(id) if id == nobody), "{refused}");
}

pub(crate) async fn of_puts_at_once_one_is_made(bench: Bench) {
    for (expected, version) in [(Expected::New, 1), (Expected::Revision(1), 2)] {
        let secrets: Vec<[u8; 2]> = (0..6).map(|number| [version, number]).collect();
        let answers = join_all(secrets.iter().map(|sealed| put(&bench, sealed, expected))).await;
        let mut made = Vec::new();
        for answer in answers {
            match answer {
                Ok(connection) => made.push(connection),
                Err(StoreError::Changed { now }) => assert_eq!(now, Some(u32::from(version))),
                Err(error) => panic!("{error}"),
            }
        }
        assert_eq!(made.len(), 1, "{expected:?}");
        let kept = bench.store.connection(bench.tenant_id, "warehouse").await.unwrap();
        assert_eq!(kept, made.pop());
    }
}

pub(crate) async fn connections_are_their_tenants(bench: Bench) {
    let other = bench.store.tenant("globex").await.unwrap();
    for name in ["tax", "cash", "ledger"] {
        let new = NewConnection { name: name.to_owned(), ..warehouse(bench.tenant_id, b"a") };
        bench.store.put_connection(new, Expected::New, "ann").await.unwrap();
    }
    bench.store.put_connection(warehouse(other, b"b"), Expected::New, "bob").await.unwrap();
    let page = async |after, limit| {
        let found = bench.store.connections(bench.tenant_id, after, limit).await.unwrap();
        found.into_iter().map(|connection| connection.name).collect::<Vec<_>>()
    };
    assert_eq!(page(None, 2).await, ["cash", "ledger"]);
    assert_eq!(page(Some("ledger"), 9).await, ["tax"]);
    assert_eq!(bench.store.connection(bench.tenant_id, "warehouse").await.unwrap(), None);

    let delete = |tenant_id, name| bench.store.delete_connection(tenant_id, name, "ann");
    assert!(!delete(other, "cash").await.unwrap());
    assert!(delete(bench.tenant_id, "cash").await.unwrap());
    assert!(!delete(bench.tenant_id, "cash").await.unwrap());
    assert_eq!(page(None, 9).await, ["ledger", "tax"]);
    let audit = bench.store.audit(0, Some(bench.tenant_id), 100).await.unwrap();
    let deeds: Vec<_> = audit
        .iter()
        .filter(|audit| audit.entry.action.ends_with("_connection"))
        .map(|audit| (audit.entry.action.as_ref(), audit.entry.subject.as_str()))
        .collect();
    let put = |name| ("put_connection", name);
    assert_eq!(deeds, [put("tax"), put("cash"), put("ledger"), ("delete_connection", "cash")]);
}

fn answer(number: u8) -> Answer {
    Answer { request_hash: [number; 32], status: 201, body: format!("{{\"number\": {number}}}") }
}

pub(crate) async fn the_first_answer_stands(bench: Bench) {
    let other = bench.store.tenant("globex").await.unwrap();
    let of = |tenant_id, key| bench.store.answer_of(tenant_id, key);
    assert_eq!(of(bench.tenant_id, "k").await.unwrap(), None);
    let kept =
        join_all((0..6).map(|number| bench.store.keep_answer(bench.tenant_id, "k", answer(number)))).await;
    let first = of(bench.tenant_id, "k").await.unwrap().unwrap();
    for kept in kept {
        assert_eq!(kept.unwrap(), first);
    }
    assert_eq!(of(other, "k").await.unwrap(), None);
    assert_eq!(bench.store.keep_answer(other, "k", answer(9)).await.unwrap(), answer(9));
    assert_eq!(of(bench.tenant_id, "k").await.unwrap(), Some(first));
}

pub(crate) async fn answers_are_forgotten_by_age(bench: Bench) {
    for number in 0..5 {
        bench.store.keep_answer(bench.tenant_id, &format!("k{number}"), answer(number)).await.unwrap();
        bench.advance(1_000);
    }
    let forget = |before_ms, limit| bench.store.forget_answers(START_MS + before_ms, limit);
    assert_eq!(forget(0, 9).await.unwrap(), 0);
    assert_eq!(forget(3_000, 2).await.unwrap(), 2, "no more than asked");
    assert_eq!(forget(3_000, 9).await.unwrap(), 1);
    for (key, number) in [("k0", None), ("k2", None), ("k3", Some(3)), ("k4", Some(4))] {
        let kept = bench.store.answer_of(bench.tenant_id, key).await.unwrap();
        assert_eq!(kept, number.map(answer), "{key}");
    }
}
