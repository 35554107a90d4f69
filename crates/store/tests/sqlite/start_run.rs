//! The entry for SQL users.

use rusqlite::Connection;
use tempfile::TempDir;
use trueup_events::{Event, RunId, Sources};
use trueup_lifecycle::Limits;
use trueup_store::{JobDocument, Options, Role, Store};
use trueup_testkit::blocks;

use crate::place::{all, folder, nightly, open, open_with_job, place, wish};

fn connect(folder: &TempDir) -> Connection {
    Connection::open(folder.path().join("store.db")).unwrap()
}

#[tokio::test]
async fn an_insert_asks_for_a_run_as_trigger_does() {
    let folder = folder();
    let (store, tenant_id) = open_with_job(&folder).await;
    let mut new = wish(tenant_id);
    new.triggered_by = "sql".to_owned();
    let triggered = store.trigger(new).await.unwrap();
    let user = connect(&folder);
    let insert = r#"insert into start_run (job, params) values ('nightly', '{"day":"2026-07-01"}')"#;
    user.execute_batch(&format!("begin; {insert}; rollback")).unwrap();
    assert_eq!(store.runs(&all(tenant_id)).await.unwrap().len(), 1);
    user.execute_batch(insert).unwrap();

    let runs = store.runs(&all(tenant_id)).await.unwrap();
    let [by_sql, by_verb] = runs.as_slice() else { panic!("{runs:?}") };
    assert_eq!(by_verb.id(), triggered);
    let mut same = by_sql.clone();
    same.run.ids.run_id = by_verb.id();
    (same.number, same.requested_at_ms) = (by_verb.number, by_verb.requested_at_ms);
    assert_eq!(&same, by_verb);
    let RunId::Uuid(id) = by_sql.id() else { panic!("{}", by_sql.id()) };
    assert_eq!(id.get_version_num(), 7);
    let seen: String = user
        .query_row("select run_id from start_run order by run_id desc limit 1", [], |row| row.get(0))
        .unwrap();
    assert_eq!(seen, id.to_string());

    let told = |events: Vec<Event>, id: RunId| -> Vec<_> {
        let lead = events[0].event_id;
        let said = |event: Event| {
            let data = event.data.to_string().replace(&id.to_string(), "ID");
            (event.name, event.source, data, event.causation_id.map(|cause| cause == lead))
        };
        events.into_iter().map(said).collect()
    };
    let events = store.events_of(tenant_id, by_sql.id(), 0, 9).await.unwrap();
    assert_eq!(events[0].event_id.get() >> 12 & 1023, 1023);
    assert_eq!(events[0].event_id.unix_ms(), by_sql.requested_at_ms.cast_unsigned());
    assert_eq!(events[0].time.unix_us(), by_sql.requested_at_ms * 1000);
    let by_verb = store.events_of(tenant_id, triggered, 0, 9).await.unwrap();
    assert_eq!(told(events, by_sql.id()), told(by_verb, triggered));

    // Its audit entry is linked by whoever commits next.
    assert_eq!(store.verify_audit(None).await.unwrap().unlinked, 1);
    assert_eq!(store.claim_for_scheduling("executor", 9).await.unwrap().len(), 2);
    let audited = store.verify_audit(None).await.unwrap();
    assert_eq!((audited.unlinked, audited.fault), (0, None));
}

#[tokio::test]
async fn a_wish_that_cannot_be_met_is_refused_in_words() {
    let folder = folder();
    let (store, tenant_id) = open_with_job(&folder).await;
    let other = store.tenant("other").await.unwrap();
    let mut shared = nightly();
    shared.name = "shared".to_owned();
    store.save_job(tenant_id, shared.clone(), "ann").await.unwrap();
    store.save_job(other, shared, "ann").await.unwrap();
    let limits = Limits { max_running: None, max_waiting: Some(1) };
    store.set_queue(tenant_id, "default", limits, "ann").await.unwrap();
    store.trigger(wish(tenant_id)).await.unwrap();
    let table = [
        ("insert into start_run (job) values ('missing')", "no job of that name"),
        ("insert into start_run (job) values ('shared')", "several tenants"),
        ("insert into start_run (job, params) values ('nightly', '{')", "must be JSON"),
        ("insert into start_run (job, run_id) values ('nightly', 'mine')", "gives a run its id"),
        ("insert into start_run (job) values ('nightly')", "the queue is full"),
    ];
    let user = connect(&folder);
    for (insert, words) in table {
        let refused = user.execute_batch(insert).unwrap_err().to_string();
        assert!(refused.contains(words), "{insert}: {refused}");
    }
    assert_eq!(store.runs(&all(tenant_id)).await.unwrap().len(), 1);
}

#[tokio::test]
async fn its_events_name_the_source_of_the_server() {
    let folder = folder();
    let (store, tenant_id) = open_with_job(&folder).await;
    store.close().await.unwrap();
    let sources = Sources { core: "/acme/core".to_owned(), ..Sources::default() };
    let options = Options { sources, ..Options::default() };
    let store = Store::open(&place(&folder), Role::Server, options).await.unwrap();
    // A command has settings of its own, which are not the server's.
    open(&folder, Role::Command).await.close().await.unwrap();
    connect(&folder).execute_batch("insert into start_run (job) values ('nightly')").unwrap();
    let run_id = store.runs(&all(tenant_id)).await.unwrap()[0].id();
    let sources: Vec<_> = store
        .events_of(tenant_id, run_id, 0, 9)
        .await
        .unwrap()
        .into_iter()
        .map(|event| event.source)
        .collect();
    assert_eq!(sources, ["/acme/core"; 2]);
}

#[tokio::test]
async fn the_page_shows_how() {
    let folder = folder();
    let (store, tenant_id) = open_with_job(&folder).await;
    store
        .save_job(tenant_id, JobDocument { name: "daily-revenue".to_owned(), ..nightly() }, "ann")
        .await
        .unwrap();
    let page = include_str!("../../../../docs/store.md");
    let shown: Vec<_> =
        blocks(page, "sql").into_iter().filter(|sql| !sql.contains("trueup.start_run")).collect();
    assert_eq!(shown.len(), 1);
    connect(&folder).execute_batch(shown[0]).unwrap();
    let runs = store.runs(&all(tenant_id)).await.unwrap();
    assert_eq!(runs.iter().map(|run| run.params.as_str()).collect::<Vec<_>>(), [r#"{"date": "2026-09-21"}"#]);
}
