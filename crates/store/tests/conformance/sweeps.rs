//! What happens to runs whose owner is silent.

use trueup_events::outcome::{ErrorCode, Outcome, Reason, RunError, Verdict};
use trueup_lifecycle::{Policy, Refusal, Report, Status};
use trueup_store::{Record, StoreError};

use crate::bench::{Bench, EXECUTOR, names};

const SECOND: &str = "executor-2";

pub(crate) async fn a_stale_claim_is_taken_over(bench: Bench) {
    bench.trigger("revenue").await;
    let first = bench.claim().await;
    assert_eq!(
        bench.store.sweep_stale_claims(SECOND, true, 10).await.unwrap(),
        [],
        "it is fresh, and another's"
    );
    let own = bench.store.sweep_stale_claims(EXECUTOR, true, 10).await.unwrap().remove(0);
    assert!(
        own.claim.epoch() > first.claim.epoch(),
        "an executor that starts again need not wait for itself"
    );
    bench.advance(bench.settings.reconcile_grace_ms - 1);
    assert_eq!(bench.store.sweep_stale_claims(SECOND, false, 10).await.unwrap(), []);
    bench.advance(1);
    let second = bench.store.sweep_stale_claims(SECOND, false, 10).await.unwrap().remove(0);

    for claim in [first.claim, own.claim] {
        let lost = bench.store.hand_off(claim).await.unwrap_err();
        assert!(matches!(lost, StoreError::Refused(Refusal::Lost { .. })), "{lost}");
    }
    bench.store.hand_off(second.claim).await.unwrap();
    assert_eq!(bench.status(second.record.id()).await, Status::Scheduled);
}

pub(crate) async fn a_poison_run_fails_and_blocks_nobody(bench: Bench) {
    let poison = bench.trigger("revenue").await;
    let passing = || RunError::new(Reason::QueueRejected, "over quota");
    for submit in 1..=bench.settings.max_submit_attempts {
        let claimed = bench.claim().await;
        assert_eq!(claimed.record.id(), poison);
        bench.store.submit_failed(claimed.claim, passing()).await.unwrap();
        assert_eq!(
            bench.store.claim_for_scheduling(EXECUTOR, 10).await.unwrap(),
            [],
            "it pauses after {submit}"
        );
        bench.advance(bench.settings.reconcile_grace_ms);
    }
    assert_eq!(bench.status(poison).await, Status::Failed);
    let log = bench.log().await;
    assert_eq!(names(&log).iter().filter(|name| **name == "run.queue_errored").count(), 5);
    assert_eq!(names(&log)[7..], ["run.finalised", "execution.completed"]);

    let hopeless = bench.trigger("revenue").await;
    let next = bench.trigger("revenue").await;
    let claimed = bench.store.claim_for_scheduling(EXECUTOR, 10).await.unwrap();
    for claimed in claimed {
        if claimed.record.id() == hopeless {
            let error = RunError::new(Reason::InvalidJob, "no column named amuont");
            bench.store.submit_failed(claimed.claim, error).await.unwrap();
        } else {
            bench.store.hand_off(claimed.claim).await.unwrap();
        }
    }
    assert_eq!(bench.status(hopeless).await, Status::Failed, "what would fail again fails at once");
    assert_eq!(bench.status(next).await, Status::Scheduled);
}

pub(crate) async fn a_lost_hand_off_is_submitted_again(bench: Bench) {
    let run_id = bench.scheduled("revenue").await;
    assert_eq!(bench.store.sweep_hand_offs(10).await.unwrap(), []);
    let early = bench.store.take_over(run_id, SECOND).await.unwrap_err();
    assert!(matches!(early, StoreError::Refused(Refusal::Early { .. })), "{early}");
    bench.advance(bench.settings.reconcile_grace_ms);
    let found: Vec<_> = bench.store.sweep_hand_offs(10).await.unwrap().iter().map(Record::id).collect();
    assert_eq!(found, [run_id]);
    let claimed = bench.store.take_over(run_id, SECOND).await.unwrap().unwrap();
    bench.store.hand_off(claimed.claim).await.unwrap();
    assert_eq!(bench.take().await.record.id(), run_id);
    let taken = bench.store.take_over(run_id, SECOND).await.unwrap_err();
    assert!(matches!(taken, StoreError::Refused(Refusal::Lost { .. })), "{taken}");
    assert_eq!(bench.store.illegal_transitions(), 0, "a worker may take it while the engine is asked");
    bench.store.expire(bench.trigger("revenue").await, "sweep").await.unwrap();
    assert_eq!(bench.store.illegal_transitions(), 1, "no sweep finds a run that only waits");
}

pub(crate) async fn a_lost_worker_is_told_apart_from_a_slow_one(bench: Bench) {
    let slow = bench.running("revenue").await;
    bench.advance(bench.settings.lease_ms - 1);
    assert_eq!(bench.store.sweep_leases(10).await.unwrap(), []);
    bench.store.heartbeat(&slow).await.unwrap();
    bench.advance(bench.settings.lease_ms - 1);
    assert_eq!(bench.store.sweep_leases(10).await.unwrap(), [], "it was heard of");
    let alive = bench.store.expire(slow.run_id(), "sweep").await.unwrap();
    assert_eq!(alive, None, "the sweep finds a sign of life and leaves it alone");
    assert_eq!(bench.status(slow.run_id()).await, Status::Running);

    bench.advance(1);
    assert_eq!(bench.store.sweep_leases(10).await.unwrap().len(), 1);
    let lost = bench.store.expire(slow.run_id(), "sweep").await.unwrap().unwrap();
    assert_eq!(lost.run.state.status(), Status::Abandoned);
    assert_eq!(bench.status(slow.run_id()).await, Status::Abandoned);
    assert_eq!(bench.store.expire(slow.run_id(), "sweep").await.unwrap(), None, "it has ended");
    let lost = bench.store.heartbeat(&slow).await.unwrap_err();
    assert!(matches!(lost, StoreError::Refused(Refusal::Finished(_))), "{lost}");
}

pub(crate) async fn the_engine_is_to_be_told_of_what_ended_without_its_word(bench: Bench) {
    bench.save_job("short", "default", Policy { deadline_ms: 1, retries: 0 }).await;
    let (lost, late) = (bench.running("revenue").await.run_id(), bench.running("short").await.run_id());
    bench.store.finish(bench.running("revenue").await, Report::Stopped).await.unwrap();
    let cancelled = bench.scheduled("revenue").await;
    bench.store.request_cancel(bench.tenant_id, cancelled, "ann", None).await.unwrap();
    bench.advance(bench.settings.lease_ms);
    for run_id in [lost, late] {
        bench.store.expire(run_id, "sweep").await.unwrap().unwrap();
    }
    assert_eq!((bench.status(lost).await, bench.status(late).await), (Status::Abandoned, Status::Timeout));
    for _ in 0..2 {
        let found: Vec<_> = bench.store.sweep_cancels(10).await.unwrap().iter().map(Record::id).collect();
        assert_eq!(found, [lost, late, cancelled], "until it is noted that the engine knows");
    }
    bench.store.withdrawn(vec![lost, late, cancelled]).await.unwrap();
    bench.advance(bench.settings.lease_ms);
    assert_eq!(bench.store.sweep_cancels(10).await.unwrap(), []);
}

pub(crate) async fn dead_entries_do_not_starve_a_live_one(bench: Bench) {
    let mut runs = Vec::new();
    for _ in 0..30 {
        runs.push(bench.scheduled("revenue").await);
    }
    bench.advance(bench.settings.reconcile_grace_ms);
    let mut seen = Vec::new();
    for _ in 0..6 {
        seen.extend(bench.store.sweep_hand_offs(5).await.unwrap().iter().map(Record::id));
        bench.advance(1);
    }
    assert_eq!(seen, runs, "each pass looks at those that were not looked at for longest");
    assert_eq!(bench.store.sweep_hand_offs(1).await.unwrap()[0].id(), runs[0]);
}

pub(crate) async fn a_deadline_is_enforced_when_the_worker_is_gone(bench: Bench) {
    bench.save_job("short", "default", Policy { deadline_ms: 40_000, retries: 5 }).await;
    let lease = bench.running("short").await;
    bench.advance(30_000);
    bench.store.heartbeat(&lease).await.unwrap();
    bench.advance(30_000);
    // A worker that beats but never ends gets no more than a last lease past its deadline.
    bench.store.heartbeat(&lease).await.unwrap();
    assert_eq!(bench.store.sweep_leases(10).await.unwrap(), []);
    bench.advance(10_000);
    bench.store.heartbeat(&lease).await.unwrap();
    assert_eq!(bench.store.sweep_leases(10).await.unwrap().len(), 1);
    bench.store.expire(lease.run_id(), "sweep").await.unwrap();
    assert_eq!(bench.status(lease.run_id()).await, Status::Timeout);
    let matched = Report::Ended(Outcome::Result(Verdict::Matched));
    bench.store.finish(lease.clone(), matched).await.unwrap();
    assert_eq!(bench.status(lease.run_id()).await, Status::Timeout);
}

pub(crate) async fn a_run_that_waits_past_its_deadline_times_out(bench: Bench) {
    let deadline_ms = 2 * bench.settings.reconcile_grace_ms;
    bench.save_job("short", "default", Policy { deadline_ms, retries: 5 }).await;
    let crash = || Report::Ended(Outcome::Error(RunError::of_code(ErrorCode::Crashed, "signal 9")));
    // One waits for a worker, one pauses between attempts, and the executor of one is lost.
    let mut leases = Vec::new();
    for _ in 0..3 {
        leases.push(bench.running("short").await);
    }
    let [waits, pauses, claimed] = [0, 1, 2].map(|at: usize| leases[at].run_id());
    for lease in leases {
        bench.store.finish(lease, crash()).await.unwrap();
    }
    bench.advance(bench.settings.reconcile_grace_ms);
    let claim = bench.store.claim_run(waits, EXECUTOR).await.unwrap().unwrap().claim;
    bench.store.hand_off(claim).await.unwrap();
    bench.store.claim_run(claimed, EXECUTOR).await.unwrap().unwrap();
    assert_eq!(bench.store.sweep_leases(10).await.unwrap(), [], "they have time");
    bench.advance(deadline_ms - bench.settings.reconcile_grace_ms);

    assert_eq!(bench.store.take("worker-1", 10).await.unwrap(), []);
    assert_eq!(bench.store.claim_for_scheduling(EXECUTOR, 10).await.unwrap(), []);
    let found: Vec<_> = bench.store.sweep_leases(10).await.unwrap().iter().map(Record::id).collect();
    assert_eq!(found, [waits, pauses], "what an executor holds is its own until its claim is stale");
    for run_id in found {
        bench.store.expire(run_id, "sweep").await.unwrap();
    }
    assert_eq!(bench.store.sweep_stale_claims(SECOND, false, 10).await.unwrap(), []);
    for run_id in [waits, pauses, claimed] {
        assert_eq!(bench.status(run_id).await, Status::Timeout);
    }
    assert_eq!(bench.store.illegal_transitions(), 0);
}
