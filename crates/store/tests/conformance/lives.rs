//! Whole lives of runs.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::json;
use trueup_events::RunId;
use trueup_events::outcome::{ErrorCode, Outcome, Reason, RunError, Verdict};
use trueup_lifecycle::{Epoch, Policy, Refusal, Report, State, Status, fold};
use trueup_store::{Finish, NewRun, RunFilter, StoreError};
use uuid::Uuid;

use crate::bench::{Bench, EXECUTOR, START_MS, WORKER, names};

fn ended(error: RunError) -> Report {
    Report::Ended(Outcome::Error(error))
}

fn matched() -> Report {
    Report::Ended(Outcome::Result(Verdict::Matched))
}

pub(crate) async fn a_run_lives_from_trigger_to_finalised(bench: Bench) {
    let run_id = bench.trigger("revenue").await;
    let record = bench.record(run_id).await;
    assert_eq!(record.run.state, State::Requested);
    assert_eq!((record.revision, record.queue.as_str()), (1, "default"));
    assert_eq!((record.params, record.requested_at_ms), (r#"{"date":"2026-09-21"}"#.to_owned(), START_MS));

    let claimed = bench.claim().await;
    assert_eq!(claimed.record.run.epoch, Epoch(1));
    assert_eq!(bench.store.claim_for_scheduling("executor-2", 10).await.unwrap(), []);
    bench.store.hand_off(claimed.claim).await.unwrap();
    assert_eq!(bench.status(run_id).await, Status::Scheduled);

    let taken = bench.take().await;
    assert_eq!(bench.store.heartbeat(&taken.lease).await.unwrap(), None);
    let Finish::Accepted(record) = bench.store.finish(taken.lease, matched()).await.unwrap() else {
        panic!("the only worker's report counts")
    };
    assert_eq!(record.run.state.status(), Status::Completed);
    assert_eq!(bench.record(run_id).await, record);

    let events = bench.log().await;
    assert_eq!(
        names(&events),
        [
            "run.triggered",
            "execution.requested",
            "run.queued",
            "execution.scheduled",
            "execution.status_changed",
            "run.completed",
            "run.finalised",
            "execution.status_changed",
            "execution.completed",
        ]
    );
    assert_eq!(bench.store.events_of(bench.tenant_id, run_id, 0, 100).await.unwrap(), events);
    assert!(events.iter().all(|event| event.data["run_id"] == json!(run_id) && event.run_id == run_id));
    assert_eq!(events[6].data["result"], "MATCHED");
    assert_eq!(events[6].causation_id, Some(events[5].event_id));
}

pub(crate) async fn every_outcome_ends_in_its_state(bench: Bench) {
    let table = [
        (matched(), Status::Completed),
        (Report::Ended(Outcome::Result(Verdict::Unmatched)), Status::Completed),
        (ended(RunError::new(Reason::SourceMissing, "no such file")), Status::Failed),
        (ended(RunError::of_code(ErrorCode::Crashed, "signal 9")), Status::Failed),
        (ended(RunError::new(Reason::DeadlineExceeded, "too long")), Status::Timeout),
        (ended(RunError::new(Reason::WorkerLost, "the node is gone")), Status::Abandoned),
        (Report::Stopped, Status::Failed),
    ];
    for (number, (report, status)) in table.into_iter().enumerate() {
        let lease = bench.running("revenue").await;
        let run_id = lease.run_id();
        bench.store.finish(lease, report).await.unwrap();
        assert_eq!(bench.status(run_id).await, status);
        let events = bench.log().await;
        let payloads: Vec<_> = events[number * 9..]
            .iter()
            .map(|event| trueup_events::Payload::read(event.name.event_type().unwrap(), &event.data).unwrap())
            .collect();
        assert_eq!(fold(&payloads).status, status, "the log says what the row says");
    }
}

pub(crate) async fn an_attempt_that_died_is_retried_if_the_job_says_so(bench: Bench) {
    bench.set_queue("narrow", Some(1), None).await;
    bench.save_job("retried", "narrow", Policy { retries: 1, ..Policy::default() }).await;
    let first = bench.running("retried").await;
    let run_id = first.run_id();
    let crashed = || ended(RunError::of_code(ErrorCode::Crashed, "signal 11"));
    bench.store.finish(first.clone(), crashed()).await.unwrap();
    assert_eq!(bench.status(run_id).await, Status::Scheduling);

    let waiting = bench.trigger("retried").await;
    assert_eq!(bench.store.next_pause_ms().await.unwrap(), Some(bench.settings.backoff_ms));
    bench.advance(bench.settings.backoff_ms - 1);
    assert_eq!(
        bench.store.claim_for_scheduling(EXECUTOR, 10).await.unwrap(),
        [],
        "it pauses, and has the slot"
    );
    assert_eq!(bench.store.sweep_stale_claims("executor-2", true, 10).await.unwrap(), []);
    assert_eq!(bench.store.sweep_leases(10).await.unwrap(), []);
    let second = bench.take_again().await.lease;
    assert_eq!(second.run_id(), run_id);
    assert!(second.epoch() > first.epoch());
    assert_eq!(second.deadline_at_ms(), first.deadline_at_ms(), "a retry gets no more time");
    let stale = bench.store.heartbeat(&first).await.unwrap_err();
    assert!(matches!(stale, StoreError::Refused(Refusal::Lost { .. })), "{stale}");
    bench.store.finish(second, crashed()).await.unwrap();
    assert_eq!(bench.status(run_id).await, Status::Failed);

    bench.store.hand_off(bench.claim().await.claim).await.unwrap();
    bench.store.finish(bench.take().await.lease, crashed()).await.unwrap();
    bench.store.request_cancel(bench.tenant_id, waiting, "ann", None).await.unwrap();
    assert_eq!(bench.status(waiting).await, Status::Cancelled, "a pause is no reason to wait");
    assert_eq!(bench.store.next_pause_ms().await.unwrap(), None);
}

pub(crate) async fn a_late_outcome_is_kept_beside_the_first(bench: Bench) {
    let lease = bench.running("revenue").await;
    let run_id = lease.run_id();
    bench.advance(bench.settings.lease_ms);
    bench.store.expire(run_id, "sweep").await.unwrap();
    assert_eq!(bench.status(run_id).await, Status::Abandoned);

    for _ in 0..2 {
        let late = bench.store.finish(lease.clone(), matched()).await.unwrap();
        let Finish::Late(record) = late else { panic!("the run had ended") };
        assert_eq!(record.run.state.status(), Status::Abandoned);
        assert_eq!(record.run.beside, Some(Outcome::Result(Verdict::Matched)));
    }
    let events = bench.log().await;
    assert_eq!(
        names(&events)[5..],
        ["run.finalised", "execution.status_changed", "execution.completed", "run.completed"]
    );
}

pub(crate) async fn an_unknown_job_starts_nothing(bench: Bench) {
    let error = bench.store.trigger(bench.new_run("revenues")).await.unwrap_err();
    assert!(matches!(&error, StoreError::NoSuchJob { name } if name == "revenues"), "{error}");
    assert_eq!(bench.store.claim_for_scheduling(EXECUTOR, 10).await.unwrap(), []);
    assert_eq!(bench.log().await, []);
}

pub(crate) async fn a_run_that_is_asked_for_again_is_the_same(bench: Bench) {
    let new = bench.new_run("revenue");
    let run_id = bench.store.trigger(new.clone()).await.unwrap();
    assert_eq!(bench.store.trigger(new.clone()).await.unwrap(), run_id);
    assert_eq!(bench.log().await.len(), 2, "the second time adds nothing");
    bench.save_job("costs", "default", Policy::default()).await;
    let globex = bench.store.tenant("globex").await.unwrap();
    let revenue = bench.store.job(bench.tenant_id, "revenue").await.unwrap().unwrap().document;
    bench.store.save_job(globex, revenue, "bob").await.unwrap();
    for other in [
        NewRun { job: "costs".to_owned(), ..new.clone() },
        NewRun { params: json!({ "date": "2026-09-22" }), ..new.clone() },
        NewRun { tenant_id: globex, ..new },
    ] {
        let error = bench.store.trigger(other).await.unwrap_err();
        assert!(matches!(error, StoreError::RunDiffers(id) if id == run_id), "{error}");
    }
}

pub(crate) async fn many_executors_claim_each_run_once(bench: Bench) {
    let mut triggered = BTreeSet::new();
    for _ in 0..60 {
        triggered.insert(bench.trigger("revenue").await);
    }
    let executors: Vec<_> = (0..4)
        .map(|number| {
            let store = Arc::clone(&bench.store);
            tokio::spawn(async move {
                let mut runs = Vec::new();
                loop {
                    // Another executor may hold the queue for a moment, so that nothing found is no proof.
                    let claimed = store.claim_for_scheduling(&format!("executor-{number}"), 7).await.unwrap();
                    for claimed in claimed {
                        runs.push(claimed.record.id());
                        store.hand_off(claimed.claim).await.unwrap();
                    }
                    let filter = |tenant_id| RunFilter {
                        tenant_id,
                        statuses: vec![Status::Requested],
                        job_id: None,
                        before: None,
                        limit: 1,
                    };
                    let tenant_id = store.tenant("acme").await.unwrap();
                    if store.runs(&filter(tenant_id)).await.unwrap().is_empty() {
                        return runs;
                    }
                }
            })
        })
        .collect();
    let mut claimed = Vec::new();
    for executor in executors {
        claimed.extend(executor.await.unwrap());
    }
    assert_eq!(claimed.len(), 60);
    assert_eq!(claimed.into_iter().collect::<BTreeSet<_>>(), triggered);
    let taken = bench.store.take(WORKER, 100).await.unwrap();
    let numbers: Vec<_> = taken.iter().map(|taken| taken.record.number).collect();
    assert!(numbers.is_sorted() && numbers.len() == 60, "first in, first out: {numbers:?}");
}

pub(crate) async fn scheduling_is_a_claim_and_a_hand_off(bench: Bench) {
    bench.set_queue("narrow", Some(1), None).await;
    bench.save_job("narrow", "narrow", Policy::default()).await;
    let other = bench.another().await;
    let expected = other.scheduled("revenue").await;
    let expected = other.record(expected).await;
    let run_id = bench.trigger("revenue").await;
    assert_eq!(bench.store.schedule(EXECUTOR, 10).await.unwrap(), 1);
    let record = bench.record(run_id).await;
    assert_eq!((&record.run.state, record.run.epoch), (&expected.run.state, expected.run.epoch));
    assert_eq!(names(&bench.log().await), names(&other.log().await));
    let deeds = bench.store.audit(0, None, 100).await.unwrap();
    let deeds: Vec<_> = deeds.iter().filter(|audit| audit.entry.subject == run_id.to_string()).collect();
    let actions: Vec<_> = deeds.iter().map(|audit| audit.entry.action.as_ref()).collect();
    assert_eq!(actions, ["trigger", "claim", "hand_off"]);
    assert_eq!(deeds[1].entry.detail, json!({ "from": "requested", "to": "scheduling", "epoch": 1 }));
    assert_eq!(deeds[2].entry.detail, json!({ "from": "scheduling", "to": "scheduled", "epoch": 1 }));

    let runs = [bench.trigger("narrow").await, bench.trigger("narrow").await];
    assert_eq!(bench.store.schedule(EXECUTOR, 10).await.unwrap(), 1, "there is one slot");
    assert_eq!(bench.store.schedule(EXECUTOR, 10).await.unwrap(), 0);
    assert_eq!(bench.status(runs[1]).await, Status::Requested);
}

pub(crate) async fn a_run_keeps_the_revision_it_started_with(bench: Bench) {
    let run_id = bench.trigger("revenue").await;
    bench.save_job("revenue", "default", Policy { retries: 3, deadline_ms: 5 }).await;
    bench.save_job("revenue", "default", Policy { retries: 3, deadline_ms: 5 }).await;
    let later = bench.trigger("revenue").await;
    let (before, after) = (bench.record(run_id).await, bench.record(later).await);
    assert_eq!((before.revision, before.run.policy), (1, Policy::default()));
    assert_eq!((after.revision, after.run.policy.retries), (2, 3), "what says the same is no new revision");
    let job = bench.store.job(bench.tenant_id, "revenue").await.unwrap().unwrap();
    assert_eq!((job.revision, job.id), (2, after.run.ids.job_id));
}

pub(crate) async fn runs_are_listed_latest_first_by_page(bench: Bench) {
    let mut triggered = Vec::new();
    for _ in 0..5 {
        triggered.push(bench.trigger("revenue").await);
    }
    let lease_of = bench.store.claim_for_scheduling(EXECUTOR, 1).await.unwrap().remove(0);
    let mut filter =
        RunFilter { tenant_id: bench.tenant_id, statuses: vec![], job_id: None, before: None, limit: 2 };
    let mut listed = Vec::new();
    loop {
        let page = bench.store.runs(&filter).await.unwrap();
        let Some(last) = page.last() else { break };
        filter.before = Some(last.number);
        listed.extend(page.iter().map(trueup_store::Record::id));
    }
    triggered.reverse();
    assert_eq!(listed, triggered);
    let only = |statuses| RunFilter { statuses, before: None, limit: 10, ..filter.clone() };
    let scheduling = bench.store.runs(&only(vec![Status::Scheduling])).await.unwrap();
    assert_eq!(scheduling, [lease_of.record]);
    let both = bench.store.runs(&only(vec![Status::Scheduling, Status::Requested])).await.unwrap();
    assert_eq!(both.len(), 5);
    assert_eq!(bench.store.runs(&only(vec![Status::Failed])).await.unwrap(), []);
}

pub(crate) async fn runs_are_found_by_a_range_of_ids(bench: Bench) {
    let mut triggered = Vec::new();
    for _ in 0..3 {
        let RunId::Uuid(id) = bench.trigger("revenue").await else { panic!("our runs have UUIDs") };
        triggered.push(id);
    }
    triggered.sort();
    let other = bench.store.tenant("other").await.unwrap();
    let [first, second, third] = triggered[..] else { panic!("there are three") };
    let table = [
        (bench.tenant_id, Uuid::nil(), Uuid::max(), 9, vec![first, second, third]),
        (bench.tenant_id, Uuid::nil(), Uuid::max(), 2, vec![first, second]),
        (bench.tenant_id, second, third, 9, vec![second, third]),
        (bench.tenant_id, second, second, 9, vec![second]),
        (bench.tenant_id, third, second, 9, vec![]),
        (other, Uuid::nil(), Uuid::max(), 9, vec![]),
    ];
    for (tenant_id, from, to, limit, expected) in table {
        let found = bench.store.runs_between(tenant_id, from..=to, limit).await.unwrap();
        let found: Vec<RunId> = found.iter().map(trueup_store::Record::id).collect();
        assert_eq!(found, expected.into_iter().map(RunId::Uuid).collect::<Vec<_>>(), "{from} to {to}");
    }
}
