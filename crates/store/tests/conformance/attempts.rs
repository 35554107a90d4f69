//! Attempts that are told of, given back, answered for, and those of one run alone.

use trueup_events::outcome::{Outcome, Verdict};
use trueup_events::payload::RowsProcessed;
use trueup_events::{EventId, Payload, Time};
use trueup_lifecycle::{Policy, Refusal, Report, Status};
use trueup_store::StoreError;

use crate::bench::{Bench, EXECUTOR, START_MS, WORKER, names};

fn matched() -> Report {
    Report::Ended(Outcome::Result(Verdict::Matched))
}

fn progress(row_count: u64) -> (Time, Payload) {
    let progress =
        RowsProcessed { stage_name: "rows".to_owned(), row_count, mismatch_count: 0, reading: None };
    (Time::from_unix_us(START_MS * 1_000), progress.into())
}

pub(crate) async fn a_lost_lease_refuses_to_tell_and_to_hand_back(bench: Bench) {
    bench.save_job("again", "default", Policy { retries: 1, ..Policy::default() }).await;
    let lost = bench.running("again").await;
    bench.advance(bench.settings.lease_ms);
    bench.store.expire(lost.run_id(), "sweep").await.unwrap();
    let next = bench.take_again().await.lease;
    let before = bench.log().await;
    let refusals = [
        bench.store.tell(&lost, vec![progress(7)]).await.map(drop),
        bench.store.hand_back(lost.clone()).await.map(drop),
    ];
    for refusal in refusals {
        assert!(matches!(refusal, Err(StoreError::Refused(Refusal::Lost { .. }))), "{refusal:?}");
    }
    assert_eq!(bench.log().await, before, "what it had to tell is dropped");
    bench.store.finish(next, matched()).await.unwrap();
    let refusals = [
        bench.store.tell(&lost, vec![progress(8)]).await.map(drop),
        bench.store.hand_back(lost.clone()).await.map(drop),
    ];
    for refusal in refusals {
        assert!(matches!(refusal, Err(StoreError::Refused(Refusal::Finished(_)))), "{refusal:?}");
    }
    assert_eq!(bench.store.illegal_transitions(), 0);
}

pub(crate) async fn what_a_worker_tells_is_in_the_log_and_prolongs_its_lease(bench: Bench) {
    let lease = bench.running("revenue").await;
    bench.advance(bench.settings.lease_ms - 1);
    assert_eq!(bench.store.tell(&lease, vec![progress(1), progress(2)]).await.unwrap(), None);
    bench.advance(bench.settings.lease_ms - 1);
    assert_eq!(bench.store.sweep_leases(10).await.unwrap(), [], "it was heard of");
    let told = bench.store.events_of(bench.tenant_id, lease.run_id(), 0, 100).await.unwrap();
    assert_eq!(names(&told)[5..], ["run.rows_processed"; 2]);
    assert_eq!((told[5].data["row_count"].as_u64(), told[6].data["row_count"].as_u64()), (Some(1), Some(2)));
    bench.store.request_cancel(bench.tenant_id, lease.run_id(), "ann", Some("wrong day")).await.unwrap();
    let cancel = bench.store.tell(&lease, vec![progress(3)]).await.unwrap().unwrap();
    assert_eq!((cancel.by.as_str(), cancel.reason.as_deref()), ("ann", Some("wrong day")));
}

pub(crate) async fn what_is_told_gets_other_ids_when_some_are_taken(bench: Bench) {
    let lease = bench.running("revenue").await;
    let next = bench.store.next_event_id().get() + 1;
    let taken: Vec<_> = (next..next + 3).map(|id| bench.foreign_event(EventId::new(id).unwrap())).collect();
    bench.store.ingest(bench.tenant_id, taken).await.unwrap();
    let before = bench.store.events_of(bench.tenant_id, lease.run_id(), 0, 100).await.unwrap().len();
    bench.store.tell(&lease, vec![progress(7), progress(8)]).await.unwrap();
    bench.log().await;
    let events = bench.store.events_of(bench.tenant_id, lease.run_id(), 0, 100).await.unwrap();
    assert_eq!(events.len(), before + 2);
}

pub(crate) async fn a_run_that_is_handed_back_is_the_next_workers(bench: Bench) {
    let lease = bench.running("revenue").await;
    let record = bench.store.hand_back(lease.clone()).await.unwrap();
    assert_eq!(record.run.state.status(), Status::Scheduled);
    let next = bench.store.take("worker-2", 10).await.unwrap().remove(0);
    assert_eq!(next.record.id(), lease.run_id());
    assert!(next.lease.epoch() > lease.epoch());
    assert_eq!(next.lease.deadline_at_ms(), lease.deadline_at_ms(), "the time of the run goes on");
    bench.store.request_cancel(bench.tenant_id, lease.run_id(), "ann", None).await.unwrap();
    let record = bench.store.hand_back(next.lease).await.unwrap();
    assert_eq!(record.run.state.status(), Status::Cancelled, "what was to end is not started again");
}

pub(crate) async fn an_engine_answers_for_a_silent_run(bench: Bench) {
    let lease = bench.running("revenue").await;
    let alive = bench.store.answer(lease.run_id(), "sweep", matched()).await.unwrap();
    assert_eq!(alive.run.state.status(), Status::Running, "its worker speaks for it");
    bench.advance(bench.settings.lease_ms);
    let ended = bench.store.answer(lease.run_id(), "sweep", matched()).await.unwrap();
    assert_eq!(ended.run.state.status(), Status::Completed);
    let again = bench.store.answer(lease.run_id(), "sweep", Report::Stopped).await.unwrap();
    assert_eq!(again, ended);

    let never_taken = bench.scheduled("revenue").await;
    let ended = bench.store.answer(never_taken, "sweep", matched()).await.unwrap();
    assert_eq!(ended.run.state.status(), Status::Completed);
    assert_eq!(bench.store.illegal_transitions(), 0);

    let taken_over = bench.scheduled("revenue").await;
    bench.advance(bench.settings.reconcile_grace_ms);
    bench.store.take_over(taken_over, EXECUTOR).await.unwrap().unwrap();
    let late = bench.store.answer(taken_over, "sweep", matched()).await.unwrap_err();
    assert!(matches!(late, StoreError::Refused(Refusal::Lost { .. })), "{late}");
    assert_eq!(bench.store.illegal_transitions(), 0, "another executor may be faster");
}

pub(crate) async fn one_run_is_claimed_when_its_turn_has_come(bench: Bench) {
    bench.set_queue("narrow", Some(2), None).await;
    bench.save_job("narrow", "narrow", Policy::default()).await;
    let mut runs = Vec::new();
    for _ in 0..4 {
        runs.push(bench.trigger("narrow").await);
    }
    let claim = async |place: usize| bench.store.claim_run(runs[place], EXECUTOR).await.unwrap();
    assert_eq!(claim(2).await, None, "two wait before it, for two slots");
    let second = claim(1).await.unwrap();
    assert_eq!(second.record.id(), runs[1]);
    assert_eq!(claim(1).await, None, "it is claimed");
    assert_eq!(claim(2).await, None, "one slot is left, and the first waits for it");
    claim(0).await.unwrap();
    assert_eq!(claim(2).await, None, "no slot is left");
    bench.store.request_cancel(bench.tenant_id, runs[1], "ann", None).await.unwrap();
    assert_eq!(claim(3).await, None);
    assert_eq!(claim(2).await.unwrap().record.id(), runs[2]);
    assert_eq!(claim(1).await, None, "it is over");
    let unlimited = bench.trigger("revenue").await;
    assert_eq!(bench.store.claim_run(unlimited, EXECUTOR).await.unwrap().unwrap().record.id(), unlimited);
}

pub(crate) async fn one_run_is_taken_and_no_other(bench: Bench) {
    let (first, second) = (bench.scheduled("revenue").await, bench.scheduled("revenue").await);
    let taken = bench.store.take_run(second, WORKER).await.unwrap().unwrap();
    assert_eq!(taken.record.id(), second);
    assert_eq!(bench.store.take_run(second, WORKER).await.unwrap(), None, "it is taken");
    let waiting = bench.trigger("revenue").await;
    assert_eq!(bench.store.take_run(waiting, WORKER).await.unwrap(), None, "nobody has handed it off");
    assert_eq!(bench.take().await.record.id(), first);
}
