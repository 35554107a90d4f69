//! Two at once never overfill a queue, nor its waiting line.

use std::pin::pin;

use futures_util::future::poll_immediate;
use futures_util::future::{Either, join_all, select, select_all};
use trueup_lifecycle::Limits;
use trueup_store::StoreError;

use crate::database::{connect, database, open, tenant, wish};

#[tokio::test(flavor = "multi_thread")]
async fn executors_share_the_slots_of_a_queue() {
    let url = database();
    let stores = join_all((0..4).map(|_| open(&url))).await;
    let tenant_id = tenant(&stores[0]).await;
    let limits = Limits { max_running: Some(3), max_waiting: None };
    stores[0].set_queue(tenant_id, "default", limits, "ann").await.unwrap();
    for _ in 0..20 {
        stores[0].trigger(wish(tenant_id)).await.unwrap();
    }
    for _ in 0..5 {
        let claims = stores.iter().map(|store| store.claim_for_scheduling("e", 2));
        join_all(claims).await.into_iter().for_each(|claimed| drop(claimed.unwrap()));
        let holding = connect(&url).await;
        let holding = holding.query_one("select count(*) from trueup.runs where state = 'scheduling'", &[]);
        assert!(holding.await.unwrap().get::<_, i64>(0) <= 3);
    }
    assert!(stores[1].claim_for_scheduling("e", 100).await.unwrap().is_empty(), "all slots are taken by now");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_waiting_line_is_never_overfilled() {
    let url = database();
    let stores = join_all((0..3).map(|_| open(&url))).await;
    let tenant_id = tenant(&stores[0]).await;
    let limits = Limits { max_running: None, max_waiting: Some(5) };
    stores[0].set_queue(tenant_id, "default", limits, "ann").await.unwrap();
    let raw = connect(&url).await;
    let by_sql = join_all((0..4).map(|_| raw.execute("select trueup.start_run('ledger')", &[])));
    let triggers = join_all((0..12).map(|at| stores[at % 3].trigger(wish(tenant_id))));
    let (by_sql, triggered) = futures_util::future::join(by_sql, triggers).await;
    let full = |error: &StoreError| matches!(error, StoreError::QueueFull { .. });
    assert!(triggered.iter().all(|one| one.as_ref().err().is_none_or(full)), "{triggered:?}");
    let started =
        triggered.iter().filter(|one| one.is_ok()).count() + by_sql.iter().filter(|one| one.is_ok()).count();
    assert_eq!(started, 5);
    let refused = raw.execute("select trueup.start_run('ledger')", &[]).await.unwrap_err();
    let refused = refused.as_db_error().unwrap();
    assert_eq!(refused.message(), "the queue \"default\" is full: 5 runs wait already, and 5 may");
}

#[tokio::test]
async fn the_last_place_in_a_line_is_given_once() {
    let url = database();
    let store = open(&url).await;
    let tenant_id = tenant(&store).await;
    let limits = Limits { max_running: None, max_waiting: Some(1) };
    store.set_queue(tenant_id, "default", limits, "ann").await.unwrap();
    let (caller, onlooker) = (connect(&url).await, connect(&url).await);
    caller.batch_execute("begin; select trueup.start_run('ledger')").await.unwrap();
    let trigger = pin!(store.trigger(wish(tenant_id)));
    let waits = "select exists (
        select from pg_locks join pg_stat_activity using (pid)
        where not granted and locktype = 'advisory' and classid = 1953723758 and datname = current_database()
    )";
    let until_it_waits =
        pin!(async { while !onlooker.query_one(waits, &[]).await.unwrap().get::<_, bool>(0) {} });
    let Either::Right(((), trigger)) = select(trigger, until_it_waits).await else {
        panic!("it did not wait for whoever may have taken the last place");
    };
    caller.batch_execute("commit").await.unwrap();
    let refused = trigger.await.unwrap_err();
    assert!(matches!(refused, StoreError::QueueFull { .. }), "{refused:?}");
}

#[tokio::test]
async fn a_heartbeat_never_waits_behind_triggers() {
    let url = database();
    let store = open(&url).await;
    let tenant_id = tenant(&store).await;
    store.trigger(wish(tenant_id)).await.unwrap();
    let claimed = store.claim_for_scheduling("e", 1).await.unwrap().remove(0);
    store.hand_off(claimed.claim).await.unwrap();
    let lease = store.take("w", 1).await.unwrap().remove(0).lease;
    let limits = Limits { max_running: None, max_waiting: Some(99) };
    store.set_queue(tenant_id, "default", limits, "ann").await.unwrap();

    let caller = connect(&url).await;
    caller.batch_execute("begin; select trueup.start_run('ledger')").await.unwrap();
    let triggers = (0..40).map(|_| Box::pin(store.trigger(wish(tenant_id))));
    let mut triggers = select_all(triggers);
    // They are on their way, and as many as may wait for the caller, before the heartbeat is.
    assert!(poll_immediate(&mut triggers).await.is_none());
    let Either::Right((heartbeat, triggers)) = select(triggers, pin!(store.heartbeat(&lease))).await else {
        panic!("it waited for a trigger to end");
    };
    assert_eq!(heartbeat.unwrap(), None);
    let (busy, _, _) = triggers.await;
    let busy = busy.unwrap_err();
    assert!(matches!(&busy, StoreError::QueueBusy { queue } if queue == "default"), "{busy:?}");
    assert!(busy.is_passing());
}

#[tokio::test]
async fn executors_share_a_queue_without_a_limit() {
    let url = database();
    let store = open(&url).await;
    let tenant_id = tenant(&store).await;
    store.trigger(wish(tenant_id)).await.unwrap();
    let other = connect(&url).await;
    other.batch_execute("begin; select from trueup.queues for no key update").await.unwrap();
    assert_eq!(store.claim_for_scheduling("e", 10).await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_claim_passes_by_what_others_hold() {
    let url = database();
    let store = open(&url).await;
    let tenant_id = tenant(&store).await;
    let first = store.trigger(wish(tenant_id)).await.unwrap();
    let second = store.trigger(wish(tenant_id)).await.unwrap();
    let holder = connect(&url).await;
    let hold = format!("begin; select from trueup.runs where id = '{first}' for update");
    holder.batch_execute(&hold).await.unwrap();
    let claimed = store.claim_for_scheduling("e", 10).await.unwrap();
    assert_eq!(claimed.iter().map(|one| one.record.id()).collect::<Vec<_>>(), [second]);
    holder.batch_execute("rollback").await.unwrap();
    assert_eq!(store.claim_for_scheduling("e", 10).await.unwrap()[0].record.id(), first);
}
