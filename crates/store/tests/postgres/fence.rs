//! Row-level security: what is read for a tenant is read as a role that sees no other, whatever a statement forgets.

use tokio_postgres::Client;
use trueup_events::envelope::Envelope;
use trueup_events::{RunId, TenantId, Time};
use trueup_lifecycle::Limits;
use trueup_store::{Answer, Expected, KeyRole, NewConnection, NewKey, RunFilter, Store};
use trueup_testkit::Postgres;
use uuid::Uuid;

use crate::database::{connect, ledger, open, wish};

/// A server where a user who is no superuser, and may make roles, has a database; and the URL they log in with.
async fn plain_server() -> (Postgres, String) {
    let server = Postgres::start().unwrap();
    let raw = connect(&server.database().unwrap()).await;
    raw.batch_execute("create role plain login createrole; alter database test_0 owner to plain")
        .await
        .unwrap();
    let plain = server.url("plain", "test_0");
    (server, plain)
}

/// A tenant that has a row in every table.
async fn furnished(store: &Store, name: &str) -> (TenantId, RunId) {
    let tenant_id = store.tenant(name).await.unwrap();
    store.set_queue(tenant_id, "narrow", Limits::default(), "ann").await.unwrap();
    store.save_job(tenant_id, ledger(), "ann").await.unwrap();
    let run_id = store.trigger(wish(tenant_id)).await.unwrap();
    let id = Uuid::now_v7();
    let mut hash = [0; 32];
    hash[..16].copy_from_slice(id.as_bytes());
    let (role, name) = (KeyRole::Viewer, "k".to_owned());
    store.make_key(NewKey { id, tenant_id, name, role, hash, expires_at_ms: None }, "ann").await.unwrap();
    let connection = NewConnection {
        tenant_id,
        name: "c".to_owned(),
        kind: "postgres".to_owned(),
        settings: serde_json::json!({}),
        sealed: vec![1],
    };
    store.put_connection(connection, Expected::New, "ann").await.unwrap();
    let answer = Answer { request_hash: hash, status: 200, body: String::new() };
    store.keep_answer(tenant_id, "a", answer).await.unwrap();
    let told = serde_json::json!({ "execution_id": 7, "event_type": "step.enter", "step": "start" });
    let told = Envelope::from_json(told).unwrap();
    let told = told.into_event(tenant_id, store.next_event_id(), Time::from_unix_us(0), "/elsewhere");
    store.ingest(tenant_id, vec![told]).await.unwrap();
    store.audit(0, None, 1).await.unwrap();
    (tenant_id, run_id)
}

/// The tables whose rows are a tenant's: by which column, or for those of a job by its own.
async fn tables(raw: &Client) -> Vec<(String, &'static str)> {
    let of_a_tenant = "select table_name::text from information_schema.columns where table_schema = 'trueup' and column_name = 'tenant_id'";
    let found = raw.query(of_a_tenant, &[]).await.unwrap();
    let mut tables: Vec<(String, &str)> = found.iter().map(|row| (row.get(0), "tenant_id")).collect();
    tables.push(("tenants".to_owned(), "id"));
    tables.push(("job_revisions".to_owned(), "(select tenant_id from trueup.jobs where id = job_id)"));
    tables.sort();
    tables
}

#[tokio::test]
async fn a_query_without_a_condition_sees_one_tenants_rows() {
    let (_server, plain) = plain_server().await;
    let store = open(&plain).await;
    let (acme, _) = furnished(&store, "acme").await;
    let (globex, _) = furnished(&store, "globex").await;
    let raw = connect(&plain).await;
    let callers = format!("insert into trueup.callers values ('a', '{acme}'), ('b', '{globex}')");
    raw.batch_execute(&callers).await.unwrap();
    let tables = tables(&raw).await;
    assert!(tables.len() >= 13, "{tables:?}");
    for (table, owner) in &tables {
        let seen = format!(
            "select coalesce(array_agg(distinct {owner} order by {owner}), '{{}}') from trueup.{table}"
        );
        let seen = async || raw.query_one(&seen, &[]).await.unwrap().get::<_, Vec<String>>(0);
        let mut both = vec![acme.to_string(), globex.to_string()];
        both.sort();
        assert_eq!(seen().await, both, "{table}: who owns it sees all");
        for (setting, expected) in [(acme.to_string(), vec![acme.to_string()]), ("x".to_owned(), vec![])] {
            let as_tenant =
                format!("begin; set local role trueup_tenant; set local trueup.tenant = '{setting}'");
            raw.batch_execute(&as_tenant).await.unwrap();
            assert_eq!(seen().await, expected, "{table} of {setting}");
            let write = raw.batch_execute(&format!("delete from trueup.{table}")).await.unwrap_err();
            assert_eq!(write.code().unwrap().code(), "42501", "{table}: {write:?}");
            raw.batch_execute("rollback").await.unwrap();
        }
        raw.batch_execute("begin; set local role trueup_tenant").await.unwrap();
        assert_eq!(seen().await, [""; 0], "{table} of nobody");
        raw.batch_execute("rollback").await.unwrap();
    }
}

#[tokio::test]
async fn every_read_for_a_tenant_is_done_as_that_role() {
    let (_server, plain) = plain_server().await;
    let store = open(&plain).await;
    let (tenant_id, run_id) = furnished(&store, "acme").await;
    let job_id = store.job(tenant_id, "ledger").await.unwrap().unwrap().id;
    let RunId::Uuid(id) = run_id else { panic!("our runs have UUIDs") };
    let all = RunFilter::of(tenant_id, 9);
    let refused = async || {
        [
            ("run", store.run(tenant_id, run_id).await.err()),
            ("runs", store.runs(&all).await.err()),
            ("times", store.runs(&RunFilter { since_ms: Some(1), ..all.clone() }).await.err()),
            ("runs of a job", store.runs(&RunFilter { job_id: Some(job_id), ..all.clone() }).await.err()),
            ("runs_between", store.runs_between(tenant_id, id..=id, 9).await.err()),
            ("events_of", store.events_of(tenant_id, run_id, 0, 9).await.err()),
            ("read_from", store.read_from(0, Some(tenant_id), 9).await.err()),
            ("audit", store.audit(0, Some(tenant_id), 9).await.err()),
            ("queues", store.queues(tenant_id).await.err()),
            ("job", store.job(tenant_id, "ledger").await.err()),
            ("job_by_id", store.job_by_id(tenant_id, job_id).await.err()),
            ("jobs", store.jobs(tenant_id, None, 9).await.err()),
            ("revisions", store.revisions(tenant_id, job_id, None, 9).await.err()),
            ("revision_of", store.revision_of(tenant_id, job_id, 1).await.err()),
            ("keys", store.keys(tenant_id, None, 9).await.err()),
            ("connection", store.connection(tenant_id, "c").await.err()),
            ("connections", store.connections(tenant_id, None, 9).await.err()),
            ("answer_of", store.answer_of(tenant_id, "a").await.err()),
        ]
    };
    for (read, error) in refused().await {
        assert!(error.is_none(), "{read}: {error:?}");
    }
    let raw = connect(&plain).await;
    raw.batch_execute("revoke select on all tables in schema trueup from trueup_tenant").await.unwrap();
    for (read, error) in refused().await {
        assert!(
            error.as_ref().is_some_and(|error| error.to_string().contains("denied")),
            "{read}: {error:?}"
        );
    }
    store.save_job(tenant_id, ledger(), "ann").await.unwrap();
}

#[tokio::test]
async fn who_reads_without_the_role_reads_all_the_same() {
    let (server, plain) = plain_server().await;
    let store = open(&plain).await;
    let (tenant_id, run_id) = furnished(&store, "acme").await;
    store.close().await.unwrap();
    let raw = connect(&plain).await;
    let looker = "create role looker login; grant usage on schema trueup to looker; grant select on all tables in schema trueup to looker";
    raw.batch_execute(looker).await.unwrap();
    let place = trueup_store::Place::Postgres(server.url("looker", "test_0"));
    let options = trueup_store::Options::default();
    let store = Store::open(&place, trueup_store::Role::Reader, options).await.unwrap();
    assert!(store.run(tenant_id, run_id).await.unwrap().is_some());
    assert_eq!(store.runs(&RunFilter::of(tenant_id, 9)).await.unwrap().len(), 1);
}
