//! Deadlocks and lost races: tried again, with nothing half-written.

use std::sync::Arc;
use std::sync::atomic::AtomicI64;

use trueup_lifecycle::Limits;
use trueup_store::{Clock, Options, Place, Role, Store, StoreError};

use crate::database::{connect, database, ledger, open, tenant, wish};
use crate::statements::statement;

#[tokio::test]
async fn a_deadlock_is_tried_again() {
    let url = database();
    let store = open(&url).await;
    let tenant_id = tenant(&store).await;
    let limits = Limits { max_running: None, max_waiting: Some(9) };
    store.set_queue(tenant_id, "default", limits, "ann").await.unwrap();
    let (holder, onlooker) = (connect(&url).await, connect(&url).await);
    // The holder waits patiently, so that it is the verb whose turn it is to give way.
    holder
        .batch_execute("set deadlock_timeout = '1h'; begin; select from trueup.queues for update")
        .await
        .unwrap();
    let trigger = store.trigger(wish(tenant_id));
    let cross = async {
        // It waits for the holder's transaction, not for a turn of the sequencer.
        let waits = "select exists (
            select from pg_locks join pg_stat_activity using (pid)
            where not granted and locktype = 'transactionid' and datname = current_database()
        )";
        while !onlooker.query_one(waits, &[]).await.unwrap().get::<_, bool>(0) {}
        let lock = "select pg_advisory_xact_lock(1953723758, hashtext($1 || '/default'))";
        holder.query(lock, &[&tenant_id.to_string()]).await.unwrap();
        holder.batch_execute("commit").await.unwrap();
    };
    let (run_id, ()) = futures_util::future::join(trigger, cross).await;
    let run_id = run_id.unwrap();
    assert!(store.run(tenant_id, run_id).await.unwrap().is_some());
    let count = onlooker.query_one("select count(*) from trueup.runs", &[]).await.unwrap();
    assert_eq!(count.get::<_, i64>(0), 1, "the first attempt left nothing");
}

#[tokio::test]
async fn one_that_always_comes_too_late_is_contended() {
    let url = database();
    let store = open(&url).await;
    let tenant_id = tenant(&store).await;
    // As if another transaction always came between.
    let raw = connect(&url).await;
    raw.batch_execute(
        "create function lose() returns trigger language plpgsql as
             $$ begin raise exception 'lost' using errcode = 'serialization_failure'; end $$;
         create trigger lose before insert on trueup.audit execute function lose()",
    )
    .await
    .unwrap();
    let lost = store.trigger(wish(tenant_id)).await.unwrap_err();
    assert!(matches!(lost, StoreError::Contended { .. }) && lost.is_passing(), "{lost:?}");
    assert_eq!(store.read_from(0, None, 10).await.unwrap(), []);
}

#[tokio::test]
async fn a_run_that_is_not_what_it_was_is_not_changed() {
    let url = database();
    let store = open(&url).await;
    let tenant_id = tenant(&store).await;
    let run_id = store.trigger(wish(tenant_id)).await.unwrap();
    let raw = connect(&url).await;
    raw.batch_execute(&format!("prepare change as {}", statement("write_run"))).await.unwrap();
    for (epoch, state, fits) in [(1, "requested", false), (0, "running", false), (0, "requested", true)] {
        let nothing = ["'{null}'"; 11].join(", ");
        let change = format!(
            "execute change (array['{run_id}'], array[{epoch}], array['{state}'], array['requested'], array[0], {nothing})"
        );
        let changed = raw.batch_execute(&change).await;
        let code = changed.map_err(|error| error.code().unwrap().code().to_owned());
        let expected = if fits { Ok(()) } else { Err("40001".to_owned()) };
        assert_eq!(code, expected, "{epoch} {state}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn saving_a_job_at_once_makes_a_revision_for_each() {
    let url = database();
    let store = open(&url).await;
    let tenant_id = tenant(&store).await;
    let saves = (0..4).map(|at| {
        let document =
            trueup_store::JobDocument { document: serde_json::json!({ "version": at }), ..ledger() };
        store.save_job(tenant_id, document, "ann")
    });
    let mut revisions: Vec<u32> =
        futures_util::future::join_all(saves).await.into_iter().map(|job| job.unwrap().revision).collect();
    revisions.sort_unstable();
    assert_eq!(revisions, [2, 3, 4, 5]);
}

#[tokio::test]
async fn ids_that_a_process_of_the_same_number_has_used_are_left_out() {
    let url = database();
    let tenant_id = tenant(&open(&url).await).await;
    let raw = connect(&url).await;
    let clock = Clock::ByHand(Arc::new(AtomicI64::new(1_790_000_000_000)));
    let options = Options { clock, ..Options::default() };
    for round in 1..=3 {
        // As after the 1,023rd process.
        raw.batch_execute("update trueup.meta set next_node = 0").await.unwrap();
        let place = Place::Postgres(url.clone());
        let store = Store::open(&place, Role::Server, options.clone()).await.unwrap();
        for _ in 0..20 {
            store.trigger(wish(tenant_id)).await.unwrap();
        }
        assert_eq!(store.read_from(0, None, 1000).await.unwrap().len(), round * 40);
        store.close().await.unwrap();
    }
}

#[tokio::test]
async fn a_tenant_that_is_there_is_not_locked() {
    let url = database();
    let store = open(&url).await;
    let tenant_id = tenant(&store).await;
    let other = connect(&url).await;
    other.batch_execute("begin; select from trueup.tenants for update").await.unwrap();
    assert_eq!(store.tenant("acme").await.unwrap(), tenant_id);
}
