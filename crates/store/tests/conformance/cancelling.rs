//! Cancelling, whenever it comes.

use std::sync::Arc;

use trueup_events::outcome::{Outcome, Reason, RunError, Verdict};
use trueup_lifecycle::{CancelAnswer, Refusal, Report, Status};
use trueup_store::StoreError;

use crate::bench::Bench;

const MATCHED: Report = Report::Ended(Outcome::Result(Verdict::Matched));

pub(crate) async fn the_cancel_table_holds(bench: Bench) {
    let cancel =
        async |run_id| bench.store.request_cancel(bench.tenant_id, run_id, "ann", Some("wrong month")).await;

    let requested = bench.trigger("revenue").await;
    assert_eq!(cancel(requested).await.unwrap().1, CancelAnswer::Cancelled);
    assert_eq!(cancel(requested).await.unwrap().1, CancelAnswer::Cancelled, "a second one is told the same");

    bench.trigger("revenue").await;
    let claimed = bench.claim().await;
    assert_eq!(cancel(claimed.record.id()).await.unwrap().1, CancelAnswer::Cancelled);
    let lost = bench.store.hand_off(claimed.claim).await.unwrap_err();
    assert!(matches!(lost, StoreError::Refused(Refusal::Finished(_))), "{lost}");

    let scheduled = bench.scheduled("revenue").await;
    assert_eq!(cancel(scheduled).await.unwrap().1, CancelAnswer::Cancelled);
    assert_eq!(bench.store.take("worker-1", 10).await.unwrap(), [], "nobody takes it any more");

    let error = Report::Ended(Outcome::Error(RunError::new(Reason::SourceMissing, "gone")));
    let table =
        [(Report::Stopped, Status::Cancelled), (error, Status::Cancelled), (MATCHED, Status::Completed)];
    for (report, status) in table {
        let lease = bench.running("revenue").await;
        assert_eq!(cancel(lease.run_id()).await.unwrap().1, CancelAnswer::Asked);
        assert_eq!(cancel(lease.run_id()).await.unwrap().1, CancelAnswer::Asked);
        assert_eq!(bench.status(lease.run_id()).await, Status::Running);
        let asked = bench.store.heartbeat(&lease).await.unwrap().unwrap();
        assert_eq!((asked.by.as_str(), asked.reason.as_deref()), ("ann", Some("wrong month")));
        bench.store.finish(lease.clone(), report).await.unwrap();
        assert_eq!(bench.status(lease.run_id()).await, status);
        let log = bench.log().await;
        let ends = ["run.finalised", "run.cancelled"];
        let told = log.iter().filter(|event| event.run_id == lease.run_id()).map(|event| event.name.as_str());
        let told: Vec<_> = told.filter(|name| ends.contains(name)).collect();
        if status == Status::Cancelled {
            assert_eq!(told, ["run.cancelled"], "no mail for a cancelled run");
        } else {
            assert_eq!(told, ["run.finalised"]);
            let refused = cancel(lease.run_id()).await.unwrap_err();
            assert!(matches!(refused, StoreError::Refused(Refusal::Finished(_))), "{refused}");
        }
    }

    let silent = bench.running("revenue").await;
    cancel(silent.run_id()).await.unwrap();
    bench.advance(bench.settings.lease_ms);
    bench.store.expire(silent.run_id(), "sweep").await.unwrap();
    assert_eq!(bench.status(silent.run_id()).await, Status::Cancelled);
}

pub(crate) async fn a_secret_in_a_reason_is_not_kept(bench: Bench) {
    let run_id = bench.trigger("revenue").await;
    let reason = Some("wrong one: postgres://ann:hunter2@db/trueup");
    let (record, _) = bench.store.request_cancel(bench.tenant_id, run_id, "ann", reason).await.unwrap();
    for record in [record, bench.record(run_id).await] {
        let kept = record.run.cancel.unwrap().reason;
        assert_eq!(kept.as_deref(), Some("wrong one: postgres://ann:***@db/trueup"));
    }
    let told = bench.log().await;
    assert!(!told.iter().any(|event| event.data.to_string().contains("hunter2")), "{told:?}");
}

pub(crate) async fn a_cancel_races_a_finish(bench: Bench) {
    for _ in 0..10 {
        let lease = bench.running("revenue").await;
        let (run_id, tenant_id) = (lease.run_id(), bench.tenant_id);
        let (canceller, finisher) = (Arc::clone(&bench.store), Arc::clone(&bench.store));
        let cancel =
            tokio::spawn(async move { canceller.request_cancel(tenant_id, run_id, "ann", None).await });
        let finish = tokio::spawn(async move { finisher.finish(lease, MATCHED).await });
        finish.await.unwrap().unwrap();
        match cancel.await.unwrap() {
            Ok((_, answer)) => assert_eq!(answer, CancelAnswer::Asked),
            Err(error) => assert!(matches!(error, StoreError::Refused(Refusal::Finished(_))), "{error}"),
        }
        assert_eq!(bench.status(run_id).await, Status::Completed, "it completed, so the cancel was stale");
    }
}

pub(crate) async fn another_tenants_run_does_not_exist(bench: Bench) {
    let run_id = bench.trigger("revenue").await;
    let other = bench.store.tenant("globex").await.unwrap();
    let error = bench.store.request_cancel(other, run_id, "eve", None).await.unwrap_err();
    assert!(matches!(error, StoreError::NoSuchRun(_)), "{error}");
    assert_eq!(bench.store.run(other, run_id).await.unwrap(), None);
    assert_eq!(bench.status(run_id).await, Status::Requested);
    assert_eq!(bench.log().await.len(), 2);
    assert_eq!(bench.store.read_from(0, Some(other), 10).await.unwrap(), []);
}
