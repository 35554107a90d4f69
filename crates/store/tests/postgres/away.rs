//! The server goes, and comes back.

use std::time::{Duration, Instant};

use trueup_store::{Store, StoreError};
use trueup_testkit::Postgres;

use crate::database::{connect, database, open, tenant, wish};

const KILL: &str = "select count(pg_terminate_backend(pid)) from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid()";

/// Triggers until it succeeds; every failure has to be of the kind that passes.
async fn trigger(store: &Store, tenant_id: trueup_events::TenantId) {
    loop {
        match store.trigger(wish(tenant_id)).await {
            Ok(_) => return,
            Err(StoreError::Away { .. }) => tokio::task::yield_now().await,
            Err(other) => panic!("{other:?}"),
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn connections_that_are_cut_are_made_again() {
    let url = database();
    let (writer, reader) = (open(&url).await, open(&url).await);
    let tenant_id = tenant(&writer).await;
    let raw = connect(&url).await;
    let mut changes = reader.changes();
    for round in 1..=3 {
        let cut = raw.query_one(KILL, &[]);
        let (cut, ()) = futures_util::future::join(cut, trigger(&writer, tenant_id)).await;
        assert!(cut.unwrap().get::<_, i64>(0) > 0);
        trigger(&writer, tenant_id).await;
        // The reader hears of what came after the cut, on a new connection.
        let follow = async {
            while reader.read_from(0, None, 100).await.map_or(0, |log| log.len()) < round * 4 {
                changes.changed().await.unwrap();
            }
        };
        tokio::time::timeout(Duration::from_secs(30), follow).await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_stops_is_away_until_it_is_back() {
    let server = Postgres::start().unwrap();
    let url = server.database().unwrap();
    let store = open(&url).await;
    let tenant_id = tenant(&store).await;
    trigger(&store, tenant_id).await;
    let mut changes = store.changes();
    server.stop().unwrap();
    let asked = Instant::now();
    let (verb, read) = (store.trigger(wish(tenant_id)).await, store.read_from(0, None, 10).await);
    for away in [verb.map(drop), read.map(drop)] {
        assert!(matches!(away, Err(StoreError::Away { .. })), "{away:?}");
    }
    assert!(asked.elapsed() < Duration::from_secs(10));
    server.start_again().unwrap();
    trigger(&store, tenant_id).await;
    let log = store.read_from(0, None, 10).await.unwrap();
    assert_eq!(log.len(), 4, "what was refused left nothing");
    // Another process's commit is heard of again.
    changes.mark_unchanged();
    let other = open(&url).await;
    trigger(&other, tenant_id).await;
    tokio::time::timeout(Duration::from_secs(30), changes.changed()).await.unwrap().unwrap();
    store.close().await.unwrap();
}
