//! Executions that something else started, beside our own runs.

use std::sync::Arc;

use serde_json::{Value, json};
use trueup_events::envelope::Envelope;
use trueup_events::outcome::{Outcome, Verdict};
use trueup_events::payload::{StageCompleted, StageStarted};
use trueup_events::{Event, Mark, RunId, TenantId, Time};
use trueup_lifecycle::{Report, Status};
use trueup_store::{Execution, Observed, RunFilter, Store, StoreError};
use uuid::Uuid;

use crate::bench::{Bench, START_MS, names};

const EXECUTION: RunId = RunId::Number(478_775_660_589_088_776);
const HOUR_MS: i64 = 3_600_000;

/// An event as a producer elsewhere reports it.
fn told(store: &Store, tenant_id: TenantId, id: RunId, name: &str, step: &str, more: &Value) -> Event {
    let mut body = json!({ "execution_id": id, "event_type": name, "step": step });
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let (event_id, now) = (store.next_event_id(), Time::from_unix_us(START_MS * 1000));
    Envelope::from_json(body).unwrap().into_event(tenant_id, event_id, now, "/elsewhere")
}

impl Bench {
    fn told(&self, id: RunId, name: &str, step: &str) -> Event {
        told(&self.store, self.tenant_id, id, name, step, &json!({}))
    }

    async fn tell(&self, id: RunId, name: &str, step: &str) -> Option<Mark> {
        let event = self.told(id, name, step);
        self.store.ingest(self.tenant_id, vec![event]).await.unwrap()[0].mark
    }

    async fn seen(&self, id: RunId) -> Observed {
        self.store.observed(self.tenant_id, id).await.unwrap().unwrap()
    }

    async fn execution(&self, id: RunId) -> Execution {
        self.store.execution(self.tenant_id, id).await.unwrap().unwrap()
    }

    fn filter(&self, statuses: &[Status], before: Option<i64>, limit: u32) -> RunFilter {
        RunFilter { statuses: statuses.to_vec(), before, ..RunFilter::of(self.tenant_id, limit) }
    }
}

pub(crate) async fn what_others_execute_is_observed(bench: Bench) {
    assert_eq!(bench.store.observed(bench.tenant_id, EXECUTION).await.unwrap(), None);
    let path = "tests/nightly";
    for (name, step) in [
        ("playbook.initialized", path),
        ("command.issued", "start"),
        ("step.enter", "start"),
        ("step.exit", "start"),
        ("step.enter", "load"),
        ("step.failed", "check"),
    ] {
        assert_eq!(bench.tell(EXECUTION, name, step).await, None, "{name}");
    }
    bench.advance(5_000);
    assert_eq!(bench.tell(EXECUTION, "worker.heartbeat", "load").await, None);
    let seen = bench.seen(EXECUTION).await;
    assert_eq!((seen.seen.status, seen.seen.name.as_deref()), (Status::Running, Some(path)));
    assert_eq!((seen.opened_at_ms, seen.updated_at_ms), (START_MS, START_MS + 5_000));
    let progress = bench.store.progress(bench.tenant_id, &bench.execution(EXECUTION).await).await.unwrap();
    assert_eq!((progress.total_steps, progress.running_steps, progress.failed_steps), (3, 1, 1));
    assert_eq!(
        (progress.completed_steps, progress.current_step),
        (vec!["start".to_owned()], Some("load".to_owned()))
    );

    bench.advance(1_000);
    assert_eq!(bench.tell(EXECUTION, "playbook.completed", path).await, None);
    let ended = bench.seen(EXECUTION).await;
    assert_eq!((ended.seen.status, ended.finished_at_ms), (Status::Completed, Some(START_MS + 6_000)));
    bench.advance(1_000);
    for late in ["workflow.completed", "playbook.failed", "step.exit", "run.started"] {
        assert_eq!(bench.tell(EXECUTION, late, "load").await, Some(Mark::Stale), "{late}");
        assert_eq!(bench.seen(EXECUTION).await, ended, "{late}");
    }
    bench.log().await;
    let events = bench.store.events_of(bench.tenant_id, EXECUTION, 0, 100).await.unwrap();
    let marked: Vec<_> = events.iter().filter(|event| event.mark.is_some()).cloned().collect();
    assert_eq!(names(&marked), ["workflow.completed", "playbook.failed", "step.exit", "run.started"]);
}

pub(crate) async fn a_repetition_moves_nothing(bench: Bench) {
    let batch: Vec<Event> = ["step.enter", "step.exit", "playbook.completed"]
        .map(|name| bench.told(EXECUTION, name, "start"))
        .to_vec();
    let twice = [batch[..1].to_vec(), batch[..2].to_vec()].concat();
    let answers = bench.store.ingest(bench.tenant_id, twice).await.unwrap();
    assert_eq!(answers.iter().map(|one| one.is_new).collect::<Vec<_>>(), [true, false, true]);
    let before = bench.seen(EXECUTION).await;
    bench.advance(1_000);
    let answers = bench.store.ingest(bench.tenant_id, batch[..2].to_vec()).await.unwrap();
    assert!(answers.iter().all(|one| !one.is_new && one.mark.is_none()), "{answers:?}");
    assert_eq!(bench.seen(EXECUTION).await, before);
    bench.store.ingest(bench.tenant_id, batch.clone()).await.unwrap();
    let ended = bench.seen(EXECUTION).await;
    assert_eq!(ended.seen.status, Status::Completed);
    bench.advance(1_000);
    // The end comes once more, and is not held against the mark that it would get now.
    bench.store.ingest(bench.tenant_id, batch.clone()).await.unwrap();
    assert_eq!(bench.seen(EXECUTION).await, ended);
    let differs = Event { data: json!({ "rows": 7 }), ..batch[1].clone() };
    let other = bench.told(RunId::Number(8), "step.enter", "start");
    let refused = bench.store.ingest(bench.tenant_id, vec![other, differs]).await.unwrap_err();
    assert!(matches!(refused, StoreError::EventDiffers(id) if id == batch[1].event_id), "{refused}");
    assert_eq!(
        bench.store.observed(bench.tenant_id, RunId::Number(8)).await.unwrap(),
        None,
        "all or nothing"
    );
    bench.log().await;
    let stored = bench.store.events_of(bench.tenant_id, EXECUTION, 0, 100).await.unwrap();
    let stored: Vec<_> = stored.into_iter().map(|event| Event { position: None, ..event }).collect();
    assert_eq!(stored, batch);
}

pub(crate) async fn an_execution_with_a_uuid_has_as_many_ends_as_are_told(bench: Bench) {
    let id = RunId::Uuid(Uuid::now_v7());
    let stranger = bench.store.tenant("globex").await.unwrap();
    for tenant_id in [bench.tenant_id, stranger] {
        let end = |more: Value| {
            let result = json!({ "payload": { "result": "MATCHED" } });
            let mut more = more;
            more.as_object_mut().unwrap().extend(result.as_object().unwrap().clone());
            told(&bench.store, tenant_id, id, "run.finalised", "run", &more)
        };
        let batch = vec![end(json!({ "actionable": false })), end(json!({})), end(json!({}))];
        let answers = bench.store.ingest(tenant_id, batch).await.unwrap();
        let marks: Vec<_> = answers.iter().map(|one| one.mark).collect();
        assert_eq!(marks, [Some(Mark::Noted), None, Some(Mark::Stale)]);
        let seen = bench.store.observed(tenant_id, id).await.unwrap().unwrap();
        assert_eq!(seen.seen.status, Status::Completed);
    }
    bench.log().await;
    for tenant_id in [bench.tenant_id, stranger] {
        assert_eq!(bench.store.events_of(tenant_id, id, 0, 100).await.unwrap().len(), 3);
    }
}

pub(crate) async fn both_kinds_are_listed_in_one_order(bench: Bench) {
    let mut expected = Vec::new();
    for at in 0..3_u64 {
        let id = RunId::Number(100 + at);
        bench.tell(id, "step.enter", "start").await;
        expected.extend([id, bench.trigger("revenue").await]);
    }
    bench.tell(RunId::Number(101), "playbook.failed", "p").await;
    let stranger = bench.store.tenant("globex").await.unwrap();
    let event = told(&bench.store, stranger, RunId::Number(9), "step.enter", "start", &json!({}));
    bench.store.ingest(stranger, vec![event]).await.unwrap();
    expected.reverse();

    let all = bench.store.executions(&bench.filter(&[], None, 10)).await.unwrap();
    assert_eq!(all.iter().map(Execution::id).collect::<Vec<_>>(), expected);
    let numbers: Vec<_> = all.iter().map(Execution::number).collect();
    assert!(numbers.is_sorted_by(|one, next| one > next), "{numbers:?}");
    let mut paged = Vec::new();
    while let Some(page) = Some(paged.last().map(Execution::number))
        .map(|before| bench.filter(&[], before, 2))
        .filter(|_| paged.len() < all.len())
    {
        paged.extend(bench.store.executions(&page).await.unwrap());
    }
    assert_eq!(paged, all);
    for (statuses, count) in [
        (&[Status::Failed][..], 1),
        (&[Status::Running], 2),
        (&[Status::Requested], 3),
        (&[Status::Running, Status::Requested, Status::Running], 5),
        (&[Status::Completed], 0),
    ] {
        let found = bench.store.executions(&bench.filter(statuses, None, 10)).await.unwrap();
        assert_eq!(found.len(), count, "{statuses:?}");
        assert!(found.iter().all(|one| statuses.contains(&one.status())), "{found:?}");
    }
    let runs = bench.store.runs(&bench.filter(&[], None, 10)).await.unwrap();
    assert_eq!(runs.len(), 3, "runs are only our own");
    let of_job = RunFilter { job_id: Some(runs[0].run.ids.job_id), ..bench.filter(&[], None, 10) };
    assert_eq!(bench.store.executions(&of_job).await.unwrap().len(), 3);
    let of_verdict = RunFilter { verdicts: vec![Verdict::Matched], ..bench.filter(&[], None, 10) };
    assert_eq!(bench.store.executions(&of_verdict).await.unwrap(), [], "what others execute has none");
    bench.advance(1_000);
    bench.tell(EXECUTION, "step.enter", "start").await;
    let (since_ms, until_ms) = (Some(START_MS + 1), Some(START_MS + 1_000));
    for (since_ms, until_ms, count) in [(since_ms, None, 1), (None, until_ms, 6), (since_ms, until_ms, 0)] {
        for statuses in [&[][..], &[Status::Running, Status::Requested, Status::Failed]] {
            let filter = RunFilter { since_ms, until_ms, ..bench.filter(statuses, None, 10) };
            assert_eq!(bench.store.executions(&filter).await.unwrap().len(), count, "{filter:?}");
        }
    }
}

pub(crate) async fn the_stages_of_a_run_are_its_steps(bench: Bench) {
    let lease = bench.running("revenue").await;
    let now = Time::from_unix_us(START_MS * 1000);
    let stage = |name: &str| StageStarted { stage_name: name.to_owned() }.into();
    let done = |name: &str| {
        StageCompleted { stage_name: name.to_owned(), result: Verdict::Matched, tolerances: Vec::new() }
            .into()
    };
    let told = [stage("by-day"), done("by-day"), stage("by-account")];
    bench.store.tell(&lease, told.map(|payload| (now.clone(), payload)).to_vec()).await.unwrap();
    let run_id = lease.run_id();
    let progress =
        async || bench.store.progress(bench.tenant_id, &bench.execution(run_id).await).await.unwrap();
    let running = progress().await;
    assert_eq!((running.total_steps, running.running_steps, running.failed_steps), (2, 1, 0));
    assert_eq!(running.completed_steps, ["by-day"]);
    assert_eq!(running.current_step.as_deref(), Some("by-account"));
    bench.store.finish(lease, Report::Ended(Outcome::Result(Verdict::Matched))).await.unwrap();
    let over = progress().await;
    assert_eq!((over.total_steps, over.running_steps, over.current_step), (2, 0, None));
}

pub(crate) async fn an_observed_execution_is_cancelled_here(bench: Bench) {
    bench.tell(EXECUTION, "step.enter", "start").await;
    let stranger = bench.store.tenant("globex").await.unwrap();
    let cancel = async |tenant_id, id, by: &str| {
        bench.store.cancel_observed(tenant_id, id, by, Some("loop, password=hunter2")).await
    };
    for (tenant_id, id) in [(stranger, EXECUTION), (bench.tenant_id, RunId::Number(7))] {
        let refused = cancel(tenant_id, id, "eve").await.unwrap_err();
        assert!(matches!(refused, StoreError::NoSuchRun(of) if of == id), "{refused}");
    }
    let cancelled = cancel(bench.tenant_id, EXECUTION, "ann").await.unwrap();
    assert_eq!((cancelled.seen.status, cancelled.finished_at_ms), (Status::Cancelled, Some(START_MS)));
    let wish = cancelled.seen.cancel.clone().unwrap();
    assert_eq!((wish.by.as_str(), wish.reason.as_deref()), ("ann", Some("loop, password=***")));
    assert_eq!(
        cancel(bench.tenant_id, EXECUTION, "bob").await.unwrap(),
        cancelled,
        "the answer of the first"
    );
    assert_eq!(bench.seen(EXECUTION).await, cancelled);
    assert_eq!(bench.tell(EXECUTION, "playbook.completed", "p").await, Some(Mark::Stale));
    assert_eq!(bench.seen(EXECUTION).await, cancelled);

    bench.log().await;
    let events = bench.store.events_of(bench.tenant_id, EXECUTION, 0, 100).await.unwrap();
    assert_eq!(names(&events), ["step.enter", "run.cancel_requested", "run.cancelled", "playbook.completed"]);
    assert_eq!((events[2].causation_id, events[2].mark), (Some(events[1].event_id), None));
    assert_eq!(events[2].data["cancelled_by"], json!("ann"));
    let audit = bench.store.audit(0, None, 100).await.unwrap();
    let entry = &audit.last().unwrap().entry;
    assert_eq!(
        (&*entry.actor, &*entry.action, &*entry.subject),
        ("ann", "cancel_observed", &*EXECUTION.to_string())
    );

    let ended = RunId::Number(8);
    bench.tell(ended, "playbook.failed", "p").await;
    let refused = cancel(bench.tenant_id, ended, "ann").await.unwrap_err();
    assert!(matches!(refused, StoreError::Over { status: Status::Failed, .. }), "{refused}");
}

pub(crate) async fn what_is_silent_is_found(bench: Bench) {
    bench.tell(EXECUTION, "step.enter", "start").await;
    bench.tell(RunId::Number(8), "playbook.completed", "p").await;
    let silent_run = bench.trigger("revenue").await;
    let ended = bench.trigger("revenue").await;
    bench.store.request_cancel(bench.tenant_id, ended, "ann", None).await.unwrap();
    let told_of = bench.trigger("revenue").await;
    bench.advance(HOUR_MS);
    bench.tell(RunId::Number(9), "step.enter", "start").await;
    let event = Event { run_id: told_of, ..bench.foreign_event(bench.store.next_event_id()) };
    bench.store.ingest(bench.tenant_id, vec![event]).await.unwrap();
    let late = bench.trigger("revenue").await;
    let silent = async |tenant_id, before_ms, limit| {
        let found = bench.store.silent_since(tenant_id, before_ms, limit).await.unwrap();
        found.iter().map(Execution::id).collect::<Vec<_>>()
    };
    let tenant_id = bench.tenant_id;
    assert_eq!(silent(tenant_id, START_MS + HOUR_MS, 10).await, [silent_run, EXECUTION]);
    assert_eq!(silent(tenant_id, START_MS + HOUR_MS, 1).await, [silent_run]);
    assert_eq!(silent(tenant_id, START_MS, 10).await, []);
    let all = [silent_run, told_of, late, EXECUTION, RunId::Number(9)];
    assert_eq!(silent(tenant_id, START_MS + HOUR_MS + 1, 10).await, all);
    let stranger = bench.store.tenant("globex").await.unwrap();
    assert_eq!(silent(stranger, START_MS + 2 * HOUR_MS, 10).await, []);
}

pub(crate) async fn old_observed_executions_are_forgotten(bench: Bench) {
    let ended: Vec<RunId> = (1..=3).map(RunId::Number).collect();
    for id in &ended {
        bench.tell(*id, "step.enter", "start").await;
        bench.tell(*id, "playbook.completed", "p").await;
    }
    let stranger = bench.store.tenant("globex").await.unwrap();
    let theirs = told(&bench.store, stranger, ended[0], "step.enter", "start", &json!({}));
    bench.store.ingest(stranger, vec![theirs]).await.unwrap();
    bench.tell(EXECUTION, "step.enter", "start").await;
    bench.advance(HOUR_MS);
    let before = bench.log().await;
    assert_eq!(bench.store.forget_observed(HOUR_MS, 10).await.unwrap(), 0, "not yet");
    assert_eq!(bench.store.forget_observed(HOUR_MS - 1, 2).await.unwrap(), 2, "no more than so many");
    assert_eq!(bench.store.forget_observed(HOUR_MS - 1, 2).await.unwrap(), 1);
    assert_eq!(bench.store.forget_observed(0, 2).await.unwrap(), 0, "the others have not ended");
    for id in &ended {
        assert_eq!(bench.store.observed(bench.tenant_id, *id).await.unwrap(), None);
        assert_eq!(bench.store.events_of(bench.tenant_id, *id, 0, 10).await.unwrap(), []);
    }
    let is_kept = |event: &&Event| event.run_id == EXECUTION || event.tenant_id == stranger;
    let kept: Vec<_> = before.iter().filter(is_kept).cloned().collect();
    assert_eq!(bench.log().await, kept, "their events went with them, and no others");
    assert!(bench.store.observed(stranger, ended[0]).await.unwrap().is_some());
}

pub(crate) async fn many_who_tell_at_once_open_it_once(bench: Bench) {
    let tellers: Vec<_> = (0..8)
        .map(|teller| {
            let events: Vec<Event> =
                (0..10).map(|_| bench.told(EXECUTION, "step.exit", &format!("step-{teller}"))).collect();
            let (store, tenant_id) = (Arc::clone(&bench.store), bench.tenant_id);
            tokio::spawn(async move {
                for event in events {
                    store.ingest(tenant_id, vec![event]).await.unwrap();
                }
            })
        })
        .collect();
    for teller in tellers {
        teller.await.unwrap();
    }
    let progress = bench.store.progress(bench.tenant_id, &bench.execution(EXECUTION).await).await.unwrap();
    assert_eq!((progress.total_steps, progress.completed_steps.len()), (8, 8), "none was lost");
    let listed = bench.store.executions(&bench.filter(&[], None, 10)).await.unwrap();
    assert_eq!(listed.len(), 1);
    bench.log().await;
    assert_eq!(bench.store.events_of(bench.tenant_id, EXECUTION, 0, 100).await.unwrap().len(), 80);
}
