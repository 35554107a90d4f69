//! Whole lives, from the trigger to the end.

use std::time::Duration;

use serde_json::json;
use trueup_events::EventType;
use trueup_events::outcome::{ErrorCode, Outcome, Verdict};
use trueup_lifecycle::{Ending, Hold, Policy, Scheduling, State, Status};

use crate::system::{Server, System};

/// How long what is under way may take to end.
const GRACE: Duration = Duration::from_secs(8);
const LEASE_MS: i64 = 30_000;

pub(crate) async fn a_run_is_executed_and_told_of(system: System) {
    let stopping = system.serve(Server::BUSY);
    let run_id = system.trigger("match", Policy::default()).await;
    system.reaches(run_id, Status::Completed).await;
    let expected = [
        EventType::Triggered,
        EventType::ExecutionRequested,
        EventType::Queued,
        EventType::ExecutionScheduled,
        EventType::ExecutionStatusChanged,
        EventType::StageStarted,
        EventType::Completed,
        EventType::Finalised,
        EventType::ExecutionStatusChanged,
        EventType::ExecutionCompleted,
    ];
    assert_eq!(system.told(run_id).await, expected);
    stopping.finish(GRACE).await;
}

pub(crate) async fn a_failure_that_would_come_again_is_not_retried(system: System) {
    let stopping = system.serve(Server::BUSY);
    let run_id = system.trigger("fail", Policy { retries: 3, ..Policy::default() }).await;
    system.reaches(run_id, Status::Failed).await;
    assert_eq!(system.count(run_id, EventType::Errored).await, 1);
    stopping.finish(GRACE).await;
}

pub(crate) async fn an_attempt_that_dies_is_tried_again(system: System) {
    let stopping = system.serve(Server { reconcile_interval: None, ..Server::BUSY });
    let run_id = system.trigger("die", Policy { retries: 2, ..Policy::default() }).await;
    for (next, pause_ms) in [(2, 1_000), (3, 2_000)] {
        let record = system.pauses_before(run_id, next).await;
        let State::Scheduling(Scheduling { hold: Hold::BackingOff { until_ms }, .. }) = record.run.state
        else {
            unreachable!("it pauses")
        };
        assert_eq!(until_ms - system.store.now_ms().await.unwrap(), pause_ms);
        system.advance(pause_ms);
    }
    let record = system.reaches(run_id, Status::Failed).await;
    let State::Finished(finished) = &record.run.state else { panic!("{record:?}") };
    let Ending::Concluded(Outcome::Error(error)) = &finished.ending else { panic!("{record:?}") };
    assert_eq!(error.code(), ErrorCode::Crashed);
    assert_eq!(error.message(), "the process was ended by signal 9; its last words: ouch");
    assert_eq!(system.count(run_id, EventType::Errored).await, 3);
    assert_eq!(system.count(run_id, EventType::Finalised).await, 1);
    stopping.finish(GRACE).await;
}

pub(crate) async fn a_cancel_stops_a_running_attempt(system: System) {
    let stopping = system.serve(Server::BUSY);
    let run_id = system.trigger("wait", Policy::default()).await;
    system.reaches(run_id, Status::Running).await;
    system.store.request_cancel(system.tenant_id, run_id, "ann", Some("too slow")).await.unwrap();
    system.reaches(run_id, Status::Cancelled).await;
    assert_eq!(system.count(run_id, EventType::CancelRequested).await, 1);
    assert_eq!(system.count(run_id, EventType::Cancelled).await, 1);
    assert_eq!(system.count(run_id, EventType::Finalised).await, 0);
    stopping.finish(GRACE).await;
}

pub(crate) async fn a_run_past_its_deadline_times_out(system: System) {
    let stopping = system.serve(Server::BUSY);
    let run_id = system.trigger("wait", Policy { deadline_ms: 50, retries: 3 }).await;
    system.reaches(run_id, Status::Timeout).await;
    stopping.finish(GRACE).await;
}

pub(crate) async fn stopping_hands_back_what_is_under_way(system: System) {
    let stopping = system.serve(Server::BUSY);
    let mut runs = Vec::new();
    for does in ["wait", "die-late"] {
        let run_id = system.trigger(does, Policy::default()).await;
        system.reaches(run_id, Status::Running).await;
        runs.push((does, run_id));
    }
    stopping.finish(Duration::ZERO).await;
    for (does, run_id) in runs {
        let record = system.run(run_id).await;
        let State::Scheduled(scheduled) = &record.run.state else { panic!("{does}: {record:?}") };
        assert_eq!(scheduled.attempt, 1, "it is the same attempt");
    }
}

pub(crate) async fn what_the_caller_wrote_names_nobody(system: System) {
    let stopping = system.serve(Server::BUSY);
    let other = system.trigger("wait", Policy::default()).await;
    let stranger = system.store.tenant("stranger").await.unwrap();
    system.save_job("match", "default", Policy::default()).await;
    let mut new = system.new_run("match");
    new.params = json!({ "run_id": other.to_string(), "tenant_id": stranger.to_string(), "job_id": "wait" });
    let run_id = system.store.trigger(new).await.unwrap();
    system.reaches(run_id, Status::Completed).await;
    system.told(run_id).await;
    let events = system.store.events_of(system.tenant_id, run_id, 0, 100).await.unwrap();
    let stage = events.iter().find(|event| event.name.event_type() == Some(EventType::StageStarted)).unwrap();
    assert_eq!(stage.tenant_id, system.tenant_id);
    assert_eq!(stage.data["stage_name"], format!("of {}", system.tenant_id));
    assert_eq!(system.reaches(other, Status::Running).await.run.cancel, None);
    stopping.finish(Duration::ZERO).await;
}

pub(crate) async fn what_a_lost_run_came_to_is_kept_beside_its_end(system: System) {
    let run_id = system.trigger("match-late", Policy::default()).await;
    let stopping = system.serve(Server { places: 1, ..Server::BUSY });
    system.reaches(run_id, Status::Running).await;
    // A sign of life may come between.
    loop {
        system.advance(LEASE_MS + 1);
        if system.store.expire(run_id, "sweep").await.unwrap().is_some() {
            break;
        }
    }
    let record = system.becomes(run_id, |record| record.run.beside.is_some()).await;
    assert_eq!(record.run.state.status(), Status::Abandoned);
    assert_eq!(record.run.beside, Some(Outcome::Result(Verdict::Matched)));
    stopping.finish(GRACE).await;
}
