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
                    let tenant_id = store.tenant("acme").await.unwrap();
                    let statuses = vec![Status::Requested];
                    let filter = RunFilter { statuses, ..RunFilter::of(tenant_id, 1) };
                    if store.runs(&filter).await.unwrap().is_empty() {
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
    let mut filter = RunFilter::of(bench.tenant_id, 2);
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

pub(crate) async fn runs_are_listed_by_what_they_found_and_when_they_were_asked_for(bench: Bench) {
    use Verdict::{Matched, Unmatched};
    bench.save_job("cash", "default", Policy::default()).await;
    // Asked for in turn, a minute after each other.
    let reports = [
        ("revenue", Some(matched())),
        ("cash", Some(Report::Ended(Outcome::Result(Unmatched)))),
        ("revenue", Some(ended(RunError::new(Reason::SourceMissing, "no such file")))),
        ("revenue", Some(Report::Ended(Outcome::Result(Unmatched)))),
        ("cash", None),
        ("revenue", Some(matched())),
    ];
    let mut runs = Vec::new();
    for (job, report) in reports {
        let run_id = match report {
            None => bench.running(job).await.run_id(),
            Some(report) => {
                let lease = bench.running(job).await;
                bench.store.finish(lease.clone(), report).await.unwrap();
                lease.run_id()
            }
        };
        runs.push(run_id);
        bench.advance(60_000);
    }
    let revenue = bench.record(runs[0]).await.run.ids.job_id;
    let all = RunFilter::of(bench.tenant_id, 9);
    let at = |minute: i64| Some(START_MS + 60_000 * minute);
    let of = |verdicts: &[Verdict]| RunFilter { verdicts: verdicts.to_vec(), ..all.clone() };
    let of_job = |filter: RunFilter| RunFilter { job_id: Some(revenue), ..filter };
    let is = |statuses: &[Status], filter: RunFilter| RunFilter { statuses: statuses.to_vec(), ..filter };
    let asked = |since_ms, until_ms, filter: RunFilter| RunFilter { since_ms, until_ms, ..filter };
    let table = [
        (of(&[Matched]), vec![5, 0]),
        (of(&[Matched, Unmatched]), vec![5, 3, 1, 0]),
        (is(&[Status::Completed, Status::Failed], of(&[Unmatched])), vec![3, 1]),
        (is(&[Status::Failed], of(&[Unmatched])), vec![]),
        (of_job(of(&[Unmatched])), vec![3]),
        (of_job(is(&[Status::Completed], all.clone())), vec![5, 3, 0]),
        (of_job(is(&[Status::Failed, Status::Completed], all.clone())), vec![5, 3, 2, 0]),
        (of_job(is(&[Status::Failed], of(&[Unmatched]))), vec![]),
        (asked(at(2), None, all.clone()), vec![5, 4, 3, 2]),
        (asked(None, at(2), all.clone()), vec![1, 0]),
        (asked(at(1), at(4), all.clone()), vec![3, 2, 1]),
        (asked(at(9), None, all.clone()), vec![]),
        (asked(None, at(0), all.clone()), vec![]),
        (asked(at(4), at(1), all.clone()), vec![]),
        (asked(Some(i64::MIN), Some(i64::MAX), all.clone()), vec![5, 4, 3, 2, 1, 0]),
        (asked(at(1), at(6), of(&[Matched])), vec![5]),
        (asked(at(1), at(5), of_job(of(&[Unmatched]))), vec![3]),
        (asked(at(1), at(6), is(&[Status::Running, Status::Failed], all.clone())), vec![4, 2]),
        (asked(at(1), at(5), of_job(all.clone())), vec![3, 2]),
        (RunFilter { limit: 1, ..asked(at(1), at(5), of(&[Unmatched])) }, vec![3]),
        (RunFilter { before: Some(4), ..asked(at(1), at(5), of(&[Unmatched])) }, vec![1]),
        (RunFilter { tenant_id: bench.store.tenant("globex").await.unwrap(), ..of(&[Matched]) }, vec![]),
    ];
    for (filter, expected) in table {
        let found = bench.store.runs(&filter).await.unwrap();
        let found: Vec<usize> =
            found.iter().map(|run| runs.iter().position(|id| *id == run.id()).unwrap()).collect();
        assert_eq!(found, expected, "{filter:?}");
    }
}

pub(crate) async fn times_are_exact_where_numbers_are_in_another_order(bench: Bench) {
    // Each has a number before the one whose time is earlier.
    let mut runs = Vec::new();
    for step_ms in [0, -10, -10] {
        bench.advance(step_ms);
        runs.push(bench.trigger("revenue").await);
    }
    let all = RunFilter::of(bench.tenant_id, 9);
    for (since, until, expected) in [(-10, 1, vec![1, 0]), (-20, 0, vec![2, 1]), (0, 1, vec![0])] {
        let (since_ms, until_ms) = (Some(START_MS + since), Some(START_MS + until));
        let found = bench.store.runs(&RunFilter { since_ms, until_ms, ..all.clone() }).await.unwrap();
        let expected: Vec<RunId> = expected.into_iter().map(|at: usize| runs[at]).collect();
        assert_eq!(found.iter().map(trueup_store::Record::id).collect::<Vec<_>>(), expected);
    }
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
