//! Whole lives, from the trigger to `run.finalised`, with every event.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use tokio::sync::Semaphore;
use trueup_events::outcome::{Outcome, Verdict};
use trueup_lifecycle::Report;
use trueup_store::{Place, Store};

use crate::place::Bench;

pub(crate) async fn measure(bench: &Bench, short: bool) {
    let lasting = Duration::from_secs(if short { 1 } else { 10 });
    println!("| lives in flight | lives a second |\n| ---: | ---: |");
    let mut rate = 0.0;
    for in_flight in [1, 8, 64] {
        rate = lives_per_second(bench, in_flight, lasting).await;
        println!("| {in_flight} | {rate:.0} |");
    }
    println!();
    if matches!(bench.place, Place::Sqlite(_)) {
        bench.print_target("1,000 lives a second with 64 in flight", rate >= 1_000.0);
    }
}

/// One executor and one worker serve callers that keep so many runs alive.
async fn lives_per_second(bench: &Bench, in_flight: u32, lasting: Duration) -> f64 {
    let slots = Arc::new(Semaphore::new(in_flight as usize));
    let finished = Arc::new(AtomicU64::new(0));
    let executor = tokio::spawn(execute(Arc::clone(&bench.store), in_flight));
    let worker =
        tokio::spawn(work(Arc::clone(&bench.store), in_flight, Arc::clone(&slots), Arc::clone(&finished)));
    let started = Instant::now();
    while started.elapsed() < lasting {
        let slot = Arc::clone(&slots).acquire_owned().await.unwrap();
        let (store, new) = (Arc::clone(&bench.store), bench.new_run());
        tokio::spawn(async move {
            store.trigger(new).await.unwrap();
            // The worker gives it back when the run has ended.
            slot.forget();
        });
    }
    let all = slots.acquire_many(in_flight).await.unwrap();
    let rate = finished.load(Ordering::SeqCst) as f64 / started.elapsed().as_secs_f64();
    drop(all);
    executor.abort();
    worker.abort();
    rate
}

async fn execute(store: Arc<Store>, limit: u32) {
    let mut changes = store.changes();
    loop {
        changes.mark_unchanged();
        let claimed = store.claim_for_scheduling("executor", limit).await.unwrap();
        if claimed.is_empty() {
            changes.changed().await.unwrap();
        }
        join_all(claimed.into_iter().map(|claimed| store.hand_off(claimed.claim))).await;
    }
}

async fn work(store: Arc<Store>, limit: u32, slots: Arc<Semaphore>, finished: Arc<AtomicU64>) {
    let mut changes = store.changes();
    loop {
        changes.mark_unchanged();
        let taken = store.take("worker", limit).await.unwrap();
        if taken.is_empty() {
            changes.changed().await.unwrap();
        }
        let ends = taken.into_iter().map(async |taken| {
            let report = Report::Ended(Outcome::Result(Verdict::Matched));
            store.finish(taken.lease, report).await.unwrap();
            finished.fetch_add(1, Ordering::SeqCst);
            slots.add_permits(1);
        });
        join_all(ends).await;
    }
}
