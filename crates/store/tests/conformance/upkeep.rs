//! What is kept beside the runs, and for how long the runs are.

use serde_json::json;
use trueup_events::RunId;
use trueup_lifecycle::{Limits, Policy, Report};
use trueup_store::{Pass, Record};

use crate::bench::{Bench, EXECUTOR, START_MS, WORKER};

const DAY_MS: i64 = 86_400_000;

pub(crate) async fn only_what_has_ended_is_forgotten(bench: Bench) {
    let lease = bench.running("revenue").await;
    let ended = lease.run_id();
    bench.store.finish(lease, Report::Stopped).await.unwrap();
    bench.advance(DAY_MS);
    let running = bench.running("revenue").await.run_id();
    let scheduled = bench.scheduled("revenue").await;
    let requested = bench.trigger("revenue").await;
    let found: Vec<_> =
        bench.store.sweep_finished(DAY_MS - 1, None, 10).await.unwrap().iter().map(Record::id).collect();
    assert_eq!(found, [ended]);
    assert_eq!(bench.store.sweep_finished(DAY_MS, None, 10).await.unwrap(), []);

    let before = bench.log().await;
    let audited = bench.store.audit(0, None, 100).await.unwrap();
    bench.store.forget(vec![ended, running, scheduled, requested]).await.unwrap();
    bench.store.forget(vec![ended]).await.unwrap();
    for (run_id, is_known) in [(ended, false), (running, true), (scheduled, true), (requested, true)] {
        assert_eq!(bench.store.remembers(run_id).await.unwrap(), is_known);
    }
    let kept: Vec<_> = before.iter().filter(|event| event.run_id != ended).cloned().collect();
    assert_eq!(bench.log().await, kept, "its events went with it, and the others kept their positions");
    assert_eq!(bench.store.events_of(bench.tenant_id, ended, 0, 100).await.unwrap(), []);
    assert_eq!(bench.store.audit(0, None, 100).await.unwrap(), audited, "what was done stays known");
    assert_eq!(bench.store.verify_audit(None).await.unwrap().fault, None);

    // The newest events are deleted; their positions are nobody else's all the same.
    bench.store.request_cancel(bench.tenant_id, requested, "ann", None).await.unwrap();
    let last = bench.log().await.last().unwrap().position;
    bench.store.forget(vec![requested]).await.unwrap();
    let next = bench.trigger("revenue").await;
    bench.log().await;
    let next = &bench.store.events_of(bench.tenant_id, next, 0, 1).await.unwrap()[0];
    assert!(next.position > last, "{:?} after {last:?}", next.position);
}

pub(crate) async fn what_cannot_be_forgotten_holds_up_no_other(bench: Bench) {
    let mut ended = Vec::new();
    for at in 0..6 {
        let run_id = bench.trigger("revenue").await;
        bench.store.request_cancel(bench.tenant_id, run_id, "ann", None).await.unwrap();
        ended.push(run_id);
        // Two at a time end in the same moment.
        bench.advance(at % 2);
    }
    bench.advance(DAY_MS);
    let mut seen = Vec::new();
    let mut after = None;
    loop {
        let found = bench.store.sweep_finished(DAY_MS - 1, after.as_ref(), 2).await.unwrap();
        seen.extend(found.iter().map(Record::id));
        // Of each page only the first can be forgotten.
        bench.store.forget(found.iter().take(1).map(Record::id).collect()).await.unwrap();
        after = match found.into_iter().last() {
            Some(last) => Some(last),
            None => break,
        };
    }
    assert_eq!(seen, ended, "each is looked at once, the first to end first");
    let left: Vec<_> =
        bench.store.sweep_finished(0, None, 10).await.unwrap().iter().map(Record::id).collect();
    assert_eq!(left, [ended[1], ended[3], ended[5]]);
}

pub(crate) async fn the_last_pass_of_each_task_is_kept(bench: Bench) {
    let pass = |task: &str, instance: &str, done| Pass {
        task: task.to_owned(),
        instance: instance.to_owned(),
        at_ms: 0,
        took_ms: 12,
        seen: 30,
        done,
        note: (done == 0).then(|| "the store was away".to_owned()),
    };
    for noted in [pass("leases", "b", 1), pass("claims", "a", 0), pass("leases", "a", 2)] {
        bench.store.note_pass(noted).await.unwrap();
    }
    bench.advance(1_000);
    bench.store.note_pass(pass("leases", "a", 3)).await.unwrap();
    let at = |at_ms, pass| Pass { at_ms, ..pass };
    assert_eq!(
        bench.store.passes().await.unwrap(),
        [
            at(START_MS, pass("claims", "a", 0)),
            at(START_MS + 1_000, pass("leases", "a", 3)),
            at(START_MS, pass("leases", "b", 1)),
        ]
    );
    assert_eq!(bench.store.now_ms().await.unwrap(), START_MS + 1_000);
}

pub(crate) async fn queues_tell_what_is_in_them(bench: Bench) {
    bench.set_queue("narrow", Some(2), Some(9)).await;
    bench.save_job("narrow", "narrow", Policy::default()).await;
    let elsewhere = bench.store.tenant("elsewhere").await.unwrap();
    for _ in 0..4 {
        bench.trigger("narrow").await;
    }
    for claimed in bench.store.claim_for_scheduling(EXECUTOR, 10).await.unwrap() {
        bench.store.hand_off(claimed.claim).await.unwrap();
    }
    let lease = bench.store.take(WORKER, 1).await.unwrap().remove(0).lease;
    let narrow = async || {
        let queues = bench.store.queues(bench.tenant_id).await.unwrap();
        let narrow = queues.into_iter().find(|load| load.queue == "narrow").unwrap();
        assert_eq!(narrow.limits, Limits { max_running: Some(2), max_waiting: Some(9) });
        (narrow.waiting, narrow.scheduled, narrow.running)
    };
    assert_eq!(narrow().await, (2, 1, 1));
    bench.store.finish(lease, Report::Stopped).await.unwrap();
    assert_eq!(narrow().await, (2, 1, 0));
    let others = bench.store.queues(elsewhere).await.unwrap();
    assert!(others.iter().all(|load| load.queue != "narrow" && load.waiting == 0), "{others:?}");
}

pub(crate) async fn a_worker_hears_which_runs_to_stop(bench: Bench) {
    let (first, second) = (bench.running("revenue").await, bench.running("revenue").await);
    assert_eq!(bench.store.to_stop(WORKER).await.unwrap(), []);
    bench.store.request_cancel(bench.tenant_id, second.run_id(), "ann", None).await.unwrap();
    assert_eq!(bench.store.to_stop(WORKER).await.unwrap(), [second.run_id()]);
    assert_eq!(bench.store.to_stop("worker-2").await.unwrap(), [], "those are another's");
    bench.store.finish(second, Report::Stopped).await.unwrap();
    assert_eq!(bench.store.to_stop(WORKER).await.unwrap(), [], "it has stopped");
    assert!(bench.store.remembers(first.run_id()).await.unwrap());
    assert!(!bench.store.remembers(RunId::Number(7)).await.unwrap());
}

pub(crate) async fn a_revision_can_be_read_when_it_is_an_old_one(bench: Bench) {
    let first = bench.store.job(bench.tenant_id, "revenue").await.unwrap().unwrap();
    let mut document = first.document.clone();
    document.document = json!({ "name": "revenue", "sources": 2 });
    let second = bench.store.save_job(bench.tenant_id, document, "ann").await.unwrap();
    assert_eq!((first.revision, second.revision), (1, 2));
    assert_eq!(bench.store.revision(first.id, 1).await.unwrap(), Some(first.clone()));
    assert_eq!(bench.store.revision(first.id, 2).await.unwrap(), Some(second));
    assert_eq!(bench.store.revision(first.id, 3).await.unwrap(), None);
}

pub(crate) async fn commits_are_on_stable_storage(bench: Bench) {
    let settings = bench.store.settings().await.unwrap();
    let setting = |name: &str| settings.iter().find(|(of, _)| of == name).map(|(_, value)| value.as_str());
    let waits = match setting("journal_mode") {
        Some(mode) => (mode, setting("synchronous")) == ("wal", Some("full")),
        None => setting("synchronous_commit") == Some("on"),
    };
    assert!(waits, "{settings:?}");
}
