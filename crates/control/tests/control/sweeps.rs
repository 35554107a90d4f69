//! What is silent is asked about, and called lost only when it is.

use std::sync::Arc;
use std::time::Duration;

use trueup_control::{Answer, Engine, EngineError, Kept, Local, sweep_once};
use trueup_events::outcome::{Outcome, RunError, Verdict};
use trueup_events::{EventType, RunId};
use trueup_lifecycle::{Lease, Policy, Report, Status};
use trueup_store::{Pass, Record, Store};
use trueup_testkit::until;

use crate::script::{Call, Mood, Script};
use crate::system::{Server, System};

const GRACE: Duration = Duration::from_secs(8);
const LEASE_MS: i64 = 30_000;
/// Shorter than the database of the test has been there: time passes for the store alone.
const SHORT_LEASE: Duration = Duration::from_millis(30);
const RECONCILE_GRACE_MS: i64 = 300_000;
const DAY_MS: i64 = 24 * 3_600_000;

/// A run that a worker took and was not heard of again, and whose lease has run out.
pub(crate) async fn silent(system: &System, policy: Policy) -> RunId {
    silent_lease(system, policy).await.run_id()
}

async fn silent_lease(system: &System, policy: Policy) -> Lease {
    system.trigger("match", policy).await;
    let claimed = system.store.claim_for_scheduling("gone", 10).await.unwrap();
    system.store.hand_off(claimed[0].claim.clone()).await.unwrap();
    let mut taken = system.store.take("gone", 10).await.unwrap();
    assert_eq!(taken.len(), 1);
    system.advance(LEASE_MS + 1);
    taken.remove(0).lease
}

/// An engine that knows nothing of a run, whose worker is heard of while it is asked.
struct Overtaken {
    script: Script,
    store: Arc<Store>,
    lease: Lease,
}

impl Engine for Overtaken {
    fn misses_until_lost(&self) -> u32 {
        1
    }

    async fn submit(&self, run: &Record) -> Result<(), RunError> {
        self.script.submit(run).await
    }

    async fn ask(&self, _: &Record) -> Answer {
        self.store.heartbeat(&self.lease).await.unwrap();
        Answer::NotFound
    }

    async fn cancel(&self, run: &Record) -> Result<(), EngineError> {
        self.script.cancel(run).await
    }

    async fn list(&self, after: Option<&str>, limit: usize) -> Result<Vec<Kept>, EngineError> {
        self.script.list(after, limit).await
    }

    async fn delete(&self, name: &str) -> Result<(), EngineError> {
        self.script.delete(name).await
    }
}

pub(crate) async fn a_sign_of_life_leaves_nothing_to_tell_the_engine(system: System) {
    let lease = silent_lease(&system, Policy::default()).await;
    let run_id = lease.run_id();
    let engine =
        Arc::new(Overtaken { script: system.engine.clone(), store: Arc::clone(&system.store), lease });
    let done = sweep_once(&engine, &system.store, "passer-by", SHORT_LEASE).await.unwrap();
    assert_eq!(done, 0, "nothing was lost");
    assert_eq!(system.run(run_id).await.run.state.status(), Status::Running);
    assert_eq!(system.engine.cancelled(), []);
}

pub(crate) async fn an_engine_is_told_of_what_another_process_has_ended(system: System) {
    let run_id = silent(&system, Policy::default()).await;
    system.engine.say(run_id, Answer::Running);
    system.advance(Policy::default().deadline_ms);
    let engine = Arc::new(system.engine.clone());
    assert_eq!(sweep_once(&engine, &system.store, "passer-by", SHORT_LEASE).await.unwrap(), 1);
    assert_eq!(system.run(run_id).await.run.state.status(), Status::Timeout);
    assert_eq!(system.engine.cancelled(), [], "who ended it is gone before it has told");
    let stopping = system.serve(Server::IDLE);
    system.engine.becomes(|engine| engine.cancelled() == [run_id]).await;
    stopping.finish(GRACE).await;
}

pub(crate) async fn a_silent_run_is_what_its_engine_says(system: System) {
    let matched = Answer::Ended(Report::Ended(Outcome::Result(Verdict::Matched)));
    let table = [
        (matched, Status::Completed),
        (Answer::Ended(Report::Stopped), Status::Failed),
        (Answer::NotFound, Status::Abandoned),
    ];
    for (answer, expected) in table {
        let run_id = silent(&system, Policy::default()).await;
        system.engine.say(run_id, answer.clone());
        let stopping = system.serve(Server::IDLE);
        system.reaches(run_id, expected).await;
        assert_eq!(system.count(run_id, EventType::Finalised).await, 1, "{answer:?}");
        stopping.finish(GRACE).await;
    }
}

pub(crate) async fn one_sweep_ends_what_was_lost(system: System) {
    let run_id = silent(&system, Policy::default()).await;
    let runs_dir = tempfile::tempdir().unwrap();
    let engine = Arc::new(Local::new(runs_dir.path().to_owned()));
    for expected in [1, 0] {
        assert_eq!(sweep_once(&engine, &system.store, "passer-by", SHORT_LEASE).await.unwrap(), expected);
        assert_eq!(system.run(run_id).await.run.state.status(), Status::Abandoned);
    }
}

pub(crate) async fn not_to_know_is_not_to_be_lost(system: System) {
    for answer in [Answer::Running, Answer::Expired, Answer::ProbeError("no route".to_owned())] {
        let run_id = silent(&system, Policy::default()).await;
        system.engine.say(run_id, answer.clone());
        let stopping = system.serve(Server::IDLE);
        system.engine.is_called(Call::Ask, 5).await;
        assert_eq!(system.run(run_id).await.run.state.status(), Status::Running, "{answer:?}");
        // Whatever the engine says, nothing is waited for past its deadline.
        system.advance(Policy::default().deadline_ms);
        system.reaches(run_id, Status::Timeout).await;
        system.engine.becomes(|engine| engine.cancelled().contains(&run_id)).await;
        stopping.finish(GRACE).await;
    }
}

pub(crate) async fn an_engine_that_is_not_well_loses_nothing(system: System) {
    let run_id = silent(&system, Policy::default()).await;
    system.engine.say(run_id, Answer::NotFound);
    system.engine.be(Call::List, Mood::Fails);
    let stopping = system.serve(Server::IDLE);
    system.engine.is_called(Call::Ask, 10).await;
    assert_eq!(system.run(run_id).await.run.state.status(), Status::Running);
    system.engine.be(Call::List, Mood::Well);
    system.reaches(run_id, Status::Abandoned).await;
    stopping.finish(GRACE).await;
}

pub(crate) async fn a_lost_run_is_retried_if_its_job_says_so(system: System) {
    let run_id = silent(&system, Policy { retries: 1, ..Policy::default() }).await;
    system.engine.say(run_id, Answer::NotFound);
    let stopping = system.serve(Server::BUSY);
    system.pauses_before(run_id, 2).await;
    system.advance(60_000);
    system.reaches(run_id, Status::Completed).await;
    assert_eq!(system.count(run_id, EventType::Finalised).await, 1);
    stopping.finish(GRACE).await;
}

pub(crate) async fn a_hand_off_that_the_engine_forgot_is_submitted_again(system: System) {
    let run_id = system.trigger("match", Policy::default()).await;
    let stopping = system.serve(Server::IDLE);
    system.reaches(run_id, Status::Scheduled).await;
    assert_eq!(system.engine.submits(run_id), 1);
    system.engine.say(run_id, Answer::NotFound);
    system.advance(RECONCILE_GRACE_MS + 1);
    system
        .becomes(run_id, |record| record.run.epoch.0 == 2 && record.run.state.status() == Status::Scheduled)
        .await;
    assert_eq!(system.engine.submits(run_id), 2);
    // On PostgreSQL the log follows what was committed.
    let look = async || system.count(run_id, EventType::QueueErrored).await;
    until(system.store.changes(), look, |count| *count == 1).await;
    stopping.finish(GRACE).await;
}

pub(crate) async fn a_hand_off_that_the_engine_may_have_is_left_to_it(system: System) {
    for answer in [Answer::Running, Answer::Expired, Answer::ProbeError("no route".to_owned())] {
        let run_id = system.trigger("match", Policy::default()).await;
        let claimed = system.store.claim_for_scheduling("gone", 10).await.unwrap();
        system.store.hand_off(claimed[0].claim.clone()).await.unwrap();
        system.engine.say(run_id, answer.clone());
        system.advance(RECONCILE_GRACE_MS + 1);
        // It has seen nothing of what was before, and asks all the same.
        let stopping = system.serve(Server::IDLE);
        system.engine.is_called(Call::Ask, 5).await;
        let run = system.run(run_id).await.run;
        assert_eq!((run.state.status(), run.epoch.0), (Status::Scheduled, 1), "{answer:?}");
        assert_eq!(system.engine.submits(run_id), 0, "{answer:?}");
        stopping.finish(GRACE).await;
        system.store.request_cancel(system.tenant_id, run_id, "ann", None).await.unwrap();
    }
}

pub(crate) async fn what_is_old_is_forgotten_and_what_lives_is_not(system: System) {
    let ended = system.trigger("match", Policy::default()).await;
    let stopping = system.serve(Server::BUSY);
    system.reaches(ended, Status::Completed).await;
    let live = system.trigger("wait", Policy { deadline_ms: 90 * DAY_MS, retries: 0 }).await;
    system.reaches(live, Status::Running).await;
    let (over, going_on) = (RunId::Number(8), RunId::Number(9));
    system.tell(over, "playbook.completed").await;
    system.tell(going_on, "step.exit").await;
    let orphan = |id: u64, age_ms| Kept { name: format!("r-{id}"), ended_ms_ago: age_ms };
    system.engine.keep(orphan(1, Some(31 * DAY_MS)));
    system.engine.keep(orphan(2, Some(29 * DAY_MS)));
    system.engine.keep(orphan(3, None));
    system.engine.keep(Kept { name: "another's".to_owned(), ended_ms_ago: Some(99 * DAY_MS) });
    system.engine.say(live, Answer::Running);
    system.advance(31 * DAY_MS);
    let mut changes = system.store.changes();
    while system.store.remembers(ended).await.unwrap() {
        changes.changed().await.unwrap();
    }
    assert!(system.store.events_of(system.tenant_id, ended, 0, 10).await.unwrap().is_empty());
    assert!(system.store.remembers(live).await.unwrap());
    let observed = async |id| system.store.observed(system.tenant_id, id).await.unwrap();
    // The engine is called in every round.
    while observed(over).await.is_some() {
        system.engine.is_called(Call::List, 1).await;
    }
    assert!(observed(going_on).await.is_some(), "it has not ended");
    system.engine.becomes(|engine| engine.deleted().contains(&"r-1".to_owned())).await;
    stopping.finish(Duration::ZERO).await;
    let deleted = system.engine.deleted();
    assert!(deleted.contains(&ended.workflow_name()), "{deleted:?}");
    assert!(!deleted.iter().any(|name| ["r-2", "r-3", "another's"].contains(&name.as_str())), "{deleted:?}");
}

pub(crate) async fn a_worker_deletes_what_its_runs_left(system: System) {
    system.engine.keep(Kept { name: "r-1".to_owned(), ended_ms_ago: Some(31 * DAY_MS) });
    let stopping = system.serve(Server::WORKER);
    system.engine.becomes(|engine| engine.deleted() == ["r-1"]).await;
    stopping.finish(GRACE).await;
}

pub(crate) async fn reports_of_processes_that_are_gone_are_forgotten(system: System) {
    let report = |instance: &str| Pass {
        task: "leases".to_owned(),
        instance: instance.to_owned(),
        at_ms: 0,
        took_ms: 1,
        seen: 0,
        done: 0,
        note: None,
    };
    system.store.note_pass(report("gone")).await.unwrap();
    system.advance(DAY_MS);
    system.store.note_pass(report("alive")).await.unwrap();
    let stopping = system.serve(Server::IDLE);
    let is_there =
        async |name: &str| system.store.passes().await.unwrap().iter().any(|pass| pass.instance == name);
    // Reports are no change that anybody is told of; the engine is called in every round.
    while is_there("gone").await {
        system.engine.is_called(Call::List, 1).await;
    }
    assert!(is_there("alive").await);
    stopping.finish(GRACE).await;
}

pub(crate) async fn reports_tell_of_illegal_transitions(system: System) {
    let run_id = system.trigger("match", Policy::default()).await;
    // No sweep finds a run that only waits.
    system.store.expire(run_id, "sweep").await.unwrap();
    let stopping = system.serve(Server::BUSY);
    let note = Some("illegal transitions refused so far: 1; the log has them");
    let tells = |pass: &Pass, task: &str| pass.task == task && pass.note.as_deref() == note;
    loop {
        let passes = system.store.passes().await.unwrap();
        if ["executor", "worker"].iter().all(|task| passes.iter().any(|pass| tells(pass, task))) {
            break;
        }
        // Reports are no change that anybody is told of; the engine is called in every round.
        system.engine.is_called(Call::List, 1).await;
    }
    stopping.finish(GRACE).await;
}
