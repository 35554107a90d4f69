//! Queues and slots.

use std::sync::Arc;

use futures_util::future::join_all;
use serde_json::json;
use trueup_events::RunId;
use trueup_lifecycle::{Policy, Report, Status};
use trueup_store::{NewRun, RunFilter, StoreError};

use crate::bench::{Bench, EXECUTOR, WORKER};

pub(crate) async fn a_queue_lets_in_as_many_as_it_has_slots(bench: Bench) {
    bench.set_queue("narrow", Some(2), None).await;
    bench.save_job("narrow", "narrow", Policy::default()).await;
    let mut runs = Vec::new();
    for _ in 0..4 {
        runs.push(bench.trigger("narrow").await);
    }
    let wide = bench.trigger("revenue").await;
    let claimed = bench.store.claim_for_scheduling(EXECUTOR, 10).await.unwrap();
    let ids: Vec<_> = claimed.iter().map(|claimed| claimed.record.id()).collect();
    assert_eq!(ids, [runs[0], runs[1], wide], "another queue's runs are not held up");
    assert_eq!(bench.store.claim_for_scheduling(EXECUTOR, 10).await.unwrap(), []);

    for claimed in claimed {
        bench.store.hand_off(claimed.claim).await.unwrap();
    }
    let lease = bench.store.take(WORKER, 1).await.unwrap().remove(0).lease;
    assert_eq!(lease.run_id(), runs[0]);
    bench.store.finish(lease.clone(), Report::Stopped).await.unwrap();
    // The same completion once more frees nothing more.
    bench.store.finish(lease, Report::Stopped).await.unwrap();
    let next = bench.store.claim_for_scheduling(EXECUTOR, 10).await.unwrap();
    assert_eq!(next.iter().map(|claimed| claimed.record.id()).collect::<Vec<_>>(), [runs[2]]);

    bench.store.request_cancel(bench.tenant_id, runs[1], "ann", None).await.unwrap();
    let next = bench.store.claim_for_scheduling(EXECUTOR, 10).await.unwrap();
    assert_eq!(next.iter().map(|claimed| claimed.record.id()).collect::<Vec<_>>(), [runs[3]]);
}

pub(crate) async fn a_full_waiting_line_refuses(bench: Bench) {
    bench.set_queue("short", Some(1), Some(2)).await;
    bench.save_job("short", "short", Policy::default()).await;
    bench.trigger("short").await;
    bench.trigger("short").await;
    let error = bench.store.trigger(bench.new_run("short")).await.unwrap_err();
    assert!(matches!(&error, StoreError::QueueFull { queue, .. } if queue == "short"), "{error}");
    assert!(error.is_passing());
    bench.claim().await;
    bench.trigger("short").await;
    assert_eq!(bench.log().await.len(), 6, "the refused one left nothing");
}

pub(crate) async fn of_wishes_at_once_each_has_its_own_answer(bench: Bench) {
    bench.set_queue("short", None, Some(2)).await;
    bench.save_job("short", "short", Policy::default()).await;
    let twice = bench.new_run("revenue");
    let other = NewRun { triggered_by: "bob".to_owned(), params: json!({}), ..twice.clone() };
    let jobs = ["revenue", "short", "revenues", "short", "short", "revenue", "short", "short", "revenue"];
    let wishes = jobs.map(|job| bench.new_run(job)).into_iter().chain([twice.clone(), twice, other]);
    let answers = join_all(wishes.map(|wish| bench.store.trigger(wish))).await;
    let kind = |answer: &Result<RunId, StoreError>| match answer {
        Ok(_) => "accepted",
        Err(StoreError::NoSuchJob { .. }) => "no such job",
        Err(StoreError::QueueFull { .. }) => "full",
        Err(StoreError::RunDiffers(_)) => "differs",
        Err(_) => "failed",
    };
    let count = |kinds: &[&str]| answers.iter().filter(|answer| kinds.contains(&kind(answer))).count();
    let counts = [["accepted"], ["no such job"], ["full"], ["differs"]].map(|kinds| count(&kinds));
    assert_eq!(counts, [7, 1, 3, 1], "{answers:?}");
    assert_eq!(bench.log().await.len(), 2 * 6, "each run is told of once");
}

pub(crate) async fn executors_together_never_overfill_a_queue(bench: Bench) {
    bench.set_queue("narrow", Some(3), None).await;
    bench.save_job("narrow", "narrow", Policy::default()).await;
    for _ in 0..20 {
        bench.trigger("narrow").await;
    }
    let executors: Vec<_> = (0..6)
        .map(|number| {
            let store = Arc::clone(&bench.store);
            tokio::spawn(async move {
                store.claim_for_scheduling(&format!("executor-{number}"), 2).await.unwrap()
            })
        })
        .collect();
    for executor in executors {
        executor.await.unwrap();
    }
    let filter = RunFilter { statuses: vec![Status::Scheduling], ..RunFilter::of(bench.tenant_id, 100) };
    let holding = bench.store.runs(&filter).await.unwrap().len();
    assert!((1..=3).contains(&holding), "{holding} hold a slot, and 3 may");
}
