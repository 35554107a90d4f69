//! Several processes, or handles, on one file.

use std::sync::Arc;
use std::sync::atomic::AtomicI64;
use std::time::Duration;

use rusqlite::Connection;
use tokio::time::timeout;
use trueup_store::{Clock, Options, Place, Role, Store, StoreError};

use crate::place::{all, folder, open, open_with_job, place, wish};

#[tokio::test]
async fn a_second_server_is_told_who_is_there() {
    let folder = folder();
    let (first, _) = open_with_job(&folder).await;
    let refused = Store::open(&place(&folder), Role::Server, Options::default()).await.unwrap_err();
    let StoreError::Held { holder } = &refused else { panic!("{refused:?}") };
    assert!(holder.contains(&format!("process {}", std::process::id())), "{holder}");
    first.close().await.unwrap();
    open(&folder, Role::Server).await.close().await.unwrap();
}

#[cfg(unix)]
#[tokio::test]
async fn a_file_has_one_server_by_whatever_link_it_was_made() {
    use std::os::unix::fs::symlink;
    let folder = folder();
    let path = |name: &str| folder.path().join(name);
    std::fs::create_dir(path("data")).unwrap();
    // Neither leads to a file before the first server makes it.
    symlink("second.db", path("first.db")).unwrap();
    symlink("data/store.db", path("second.db")).unwrap();
    let open =
        async |name: &str| Store::open(&Place::Sqlite(path(name)), Role::Server, Options::default()).await;
    let server = open("first.db").await.unwrap();
    for name in ["first.db", "second.db", "data/store.db"] {
        let refused = open(name).await.unwrap_err();
        assert!(matches!(refused, StoreError::Held { .. }), "{name}: {refused:?}");
    }
    server.close().await.unwrap();
    open("data/store.db").await.unwrap().close().await.unwrap();

    symlink("loop.db", path("loop.db")).unwrap();
    let refused = open("loop.db").await.unwrap_err();
    assert!(matches!(refused, StoreError::NoPlace { .. }), "{refused:?}");
}

#[tokio::test]
async fn a_command_reads_and_writes_beside_a_server_which_notices() {
    let folder = folder();
    let (server, tenant_id) = open_with_job(&folder).await;
    let command = open(&folder, Role::Command).await;
    let mut changes = server.changes();
    // What was committed up to here is noticed too, sooner or later; a run is not there before it is asked for.
    let run_id = command.trigger(wish(tenant_id)).await.unwrap();
    let noticed = async {
        loop {
            changes.changed().await.unwrap();
            if let Some(record) = server.run(tenant_id, run_id).await.unwrap() {
                return record;
            }
        }
    };
    // How soon is the writer's to promise; a machine that is busy may be late.
    let record = timeout(Duration::from_secs(30), noticed).await.expect("the server notices");
    assert_eq!(command.runs(&all(tenant_id)).await.unwrap(), [record]);
    server.close().await.unwrap();
    command.trigger(wish(tenant_id)).await.unwrap();
    command.close().await.unwrap();
}

#[tokio::test]
async fn own_commits_are_changes() {
    let folder = folder();
    let (store, tenant_id) = open_with_job(&folder).await;
    let mut changes = store.changes();
    changes.mark_unchanged();
    store.trigger(wish(tenant_id)).await.unwrap();
    assert!(timeout(Duration::from_secs(30), changes.changed()).await.is_ok());
    // Looking for work changes nothing, or whoever looks would wake itself for ever.
    assert_eq!(store.take("worker", 9).await.unwrap().len(), 0);
    assert!(!changes.has_changed().unwrap());
}

#[tokio::test]
async fn a_writer_waits_for_another_processs_transaction() {
    let folder = folder();
    let (store, tenant_id) = open_with_job(&folder).await;
    let other = Connection::open(folder.path().join("store.db")).unwrap();
    other.execute_batch("begin immediate").unwrap();
    let triggered = tokio::spawn(async move { (store.trigger(wish(tenant_id)).await, store) });
    tokio::task::yield_now().await;
    other.execute_batch("update meta set sql_events = 7; commit").unwrap();
    let (run_id, store) = triggered.await.unwrap();
    assert!(store.run(tenant_id, run_id.unwrap()).await.unwrap().is_some());
}

#[tokio::test(flavor = "multi_thread")]
async fn verbs_that_are_committed_together_fail_alone() {
    let folder = folder();
    let (store, tenant_id) = open_with_job(&folder).await;
    let store = std::sync::Arc::new(store);
    let asked: Vec<_> = (0..100)
        .map(|at| {
            let store = std::sync::Arc::clone(&store);
            let mut new = wish(tenant_id);
            if at % 3 == 0 {
                new.job = "missing".to_owned();
            }
            tokio::spawn(async move { (at, store.trigger(new).await) })
        })
        .collect();
    for answer in asked {
        let (at, answer) = answer.await.unwrap();
        assert_eq!(matches!(answer, Err(StoreError::NoSuchJob { .. })), at % 3 == 0, "{answer:?}");
    }
    assert_eq!(store.runs(&all(tenant_id)).await.unwrap().len(), 66);
    let positions: Vec<_> = store.read_from(0, None, 1000).await.unwrap();
    assert_eq!(positions.last().unwrap().position, Some(132));
    assert_eq!(store.verify_audit(None).await.unwrap().fault, None);
}

#[tokio::test]
async fn ids_that_a_process_of_the_same_number_has_used_are_left_out() {
    let folder = folder();
    let (store, tenant_id) = open_with_job(&folder).await;
    store.close().await.unwrap();
    let clock = Clock::ByHand(Arc::new(AtomicI64::new(1_790_000_000_000)));
    let options = Options { clock, ..Options::default() };
    for round in 1..=3 {
        // As after the 1,023rd process.
        let other = Connection::open(folder.path().join("store.db")).unwrap();
        other.execute_batch("update meta set next_node = 0").unwrap();
        let store = Store::open(&place(&folder), Role::Server, options.clone()).await.unwrap();
        for _ in 0..20 {
            store.trigger(wish(tenant_id)).await.unwrap();
        }
        assert_eq!(store.read_from(0, None, 1000).await.unwrap().len(), round * 40);
        assert_eq!(store.verify_audit(None).await.unwrap().fault, None);
        store.close().await.unwrap();
    }
}
