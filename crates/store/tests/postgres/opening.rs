//! Opening: migrations, versions, and databases that are not ours.

use std::fs;

use futures_util::future::join_all;
use trueup_store::{Options, Place, Role, Store, StoreError};
use trueup_testkit::Postgres;

use crate::database::{connect, database, open, tenant, wish};
use crate::statements::files;

async fn refusal(url: &str) -> StoreError {
    let place = Place::Postgres(url.to_owned());
    Store::open(&place, Role::Command, Options::default()).await.unwrap_err()
}

#[test]
fn migrations_only_expand() {
    let taking = ["drop ", "rename ", "alter column", "alter type", "truncate table", "delete from"];
    for file in files("migrations/postgres") {
        let text = fs::read_to_string(&file).unwrap().to_lowercase();
        // What is checked may be loosened: the check goes, and comes back as one that lets more through.
        let is_made_again = |line: &&str| {
            let name = line.strip_prefix("drop index trueup.").map(|name| name.trim_end_matches(';'));
            name.is_some_and(|name| text.contains(&format!("create unique index {name} ")))
        };
        let text: String = text.lines().filter(|line| !is_made_again(line)).collect();
        for word in taking {
            assert!(!text.contains(word), "{}: {word}", file.display());
        }
    }
}

#[tokio::test]
async fn many_can_open_a_new_database_at_once() {
    let url = database();
    let stores = join_all((0..6).map(|_| open(&url))).await;
    let tenants = join_all(stores.iter().map(tenant)).await;
    assert!(tenants.iter().all(|one| *one == tenants[0]));
    let client = connect(&url).await;
    let applied = client.query_one("select count(*) from trueup.migrations", &[]).await.unwrap();
    assert_eq!(applied.get::<_, i64>(0), i64::try_from(files("migrations/postgres").len()).unwrap());
    // Every process writes another number into its event ids.
    join_all(stores.iter().map(|store| store.trigger(wish(tenants[0])))).await;
    let nodes = "select count(distinct (event_id >> 12) & 1023) from trueup.events";
    assert_eq!(client.query_one(nodes, &[]).await.unwrap().get::<_, i64>(0), 6);
}

#[tokio::test]
async fn a_role_is_made_once_for_all_databases() {
    let urls: Vec<String> = (0..4).map(|_| database()).collect();
    for store in join_all(urls.iter().map(|url| open(url))).await {
        store.close().await.unwrap();
    }
}

#[tokio::test]
async fn who_may_not_make_roles_can_open_all_the_same() {
    // A server of its own, where no other database has made the role.
    let server = Postgres::start().unwrap();
    let url = server.database().unwrap();
    let raw = connect(&url).await;
    raw.batch_execute("create role plain login; alter database test_0 owner to plain").await.unwrap();
    let plain = server.url("plain", "test_0");
    let store = open(&plain).await;
    let tenant_id = tenant(&store).await;
    store.trigger(wish(tenant_id)).await.unwrap();
    let by_sql = connect(&plain).await.query_one("select trueup.start_run('ledger')", &[]).await.unwrap();
    let run_id: String = by_sql.get(0);
    assert!(store.run(tenant_id, run_id.parse().unwrap()).await.unwrap().is_some());
    let role = "select count(*) from pg_roles where rolname = 'trueup_start'";
    assert_eq!(raw.query_one(role, &[]).await.unwrap().get::<_, i64>(0), 0);
}

#[tokio::test]
async fn a_newer_schema_is_refused() {
    let url = database();
    open(&url).await.close().await.unwrap();
    let known = i64::try_from(files("migrations/postgres").len()).unwrap();
    let client = connect(&url).await;
    client.execute("insert into trueup.migrations (version) values ($1)", &[&(known + 1)]).await.unwrap();
    let refusal = refusal(&url).await;
    assert!(
        matches!(refusal, StoreError::Newer { found, known: k } if found == known + 1 && k == known),
        "{refusal:?}"
    );
}

#[tokio::test]
async fn who_only_reads_makes_and_changes_nothing() {
    let url = database();
    let place = Place::Postgres(url.clone());
    let read = async || Store::open(&place, Role::Reader, Options::default()).await;
    let raw = connect(&url).await;
    let refused = read().await.unwrap_err();
    assert!(matches!(refused, StoreError::NoStore { .. }), "{refused:?}");
    let schemas = "select count(*) from pg_namespace where nspname = 'trueup'";
    assert_eq!(raw.query_one(schemas, &[]).await.unwrap().get::<_, i64>(0), 0);

    let store = open(&url).await;
    let tenant_id = tenant(&store).await;
    store.trigger(wish(tenant_id)).await.unwrap();
    let head = store.verify_audit(None).await.unwrap().head;
    store.close().await.unwrap();
    let meta = async || {
        let meta = raw.query_one("select meta::text from trueup.meta", &[]).await.unwrap();
        meta.get::<_, String>(0)
    };
    let before = meta().await;
    let reader = read().await.unwrap();
    assert_eq!(reader.verify_audit(Some(head)).await.unwrap().fault, None);
    assert_eq!(reader.read_from(0, None, 9).await.unwrap().len(), 2);
    assert_eq!(reader.audit(0, None, 9).await.unwrap().len(), 2);
    let refused = reader.trigger(wish(tenant_id)).await.unwrap_err();
    assert!(matches!(refused, StoreError::ReadOnly { .. }), "{refused:?}");
    reader.close().await.unwrap();
    assert_eq!(meta().await, before, "it took no number");

    raw.batch_execute("delete from trueup.migrations where version > 2").await.unwrap();
    let refused = read().await.unwrap_err();
    assert!(matches!(refused, StoreError::Older { found: 2, .. }), "{refused:?}");
}

#[tokio::test]
async fn a_schema_of_somebody_else_is_left_alone() {
    let url = database();
    let client = connect(&url).await;
    client.batch_execute("create schema trueup; create table trueup.runs (id int)").await.unwrap();
    let refusal = refusal(&url).await;
    assert!(matches!(refusal, StoreError::Foreign { .. }), "{refusal:?}");
    let tables = "select count(*) from pg_tables where schemaname = 'trueup'";
    assert_eq!(client.query_one(tables, &[]).await.unwrap().get::<_, i64>(0), 1);
}

#[tokio::test]
async fn urls_that_cannot_be_kept_are_refused() {
    let url = database();
    let no_database = url.replace("/test_", "/none_");
    let table = [
        (format!("{url}?sslmode=always"), "Failed", "write disable, prefer"),
        (format!("{url}?sslmode=verify-full"), "Failed", "sslrootcert"),
        (format!("{url}?sslmode=verify-ca&sslrootcert=%2Fnowhere"), "Failed", "No such file"),
        (format!("{url}?sslrootcert=%2Fdev%2Fnull&sslmode=require"), "Failed", "no certificate"),
        ("postgres://localhost:port/x".to_owned(), "Failed", "port"),
        (no_database, "Failed", "does not exist"),
        (format!("{url}?options=-cdefault_transaction_read_only%3Don"), "ReadOnly", "read-only"),
        ("postgres://postgres@127.0.0.1:1/x".to_owned(), "Away", "refused"),
        ("postgres://postgres@%2Fnowhere/x".to_owned(), "Away", "No such file"),
    ];
    for (url, kind, words) in table {
        let refusal = refusal(&url).await;
        assert!(format!("{refusal:?}").starts_with(kind), "{url}: {refusal:?}");
        assert!(refusal.to_string().contains(words), "{url}: {refusal}");
    }
}

#[tokio::test]
async fn a_name_is_one_processs_at_a_time() {
    let place = Place::Postgres(database());
    let named = |name: &str| {
        let options = Options { name: Some(name.to_owned()), ..Options::default() };
        Store::open(&place, Role::Server, options)
    };
    let first = named("front").await.unwrap();
    let refused = Box::pin(named("front")).await.unwrap_err();
    assert!(matches!(&refused, StoreError::NameTaken { name } if name == "front"), "{refused}");
    let other = named("back").await.unwrap();
    first.close().await.unwrap();
    let again = named("front").await.unwrap();
    again.close().await.unwrap();
    other.close().await.unwrap();
}
