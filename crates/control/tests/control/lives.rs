//! Whole lives, from the trigger to the end.

use std::time::Duration;

use trueup_events::EventType::*;
use trueup_lifecycle::{Policy, Status};

use crate::system::System;

pub(crate) async fn a_run_is_executed_and_told_of(system: System) {
    let stopping = system.serve("one", 2);
    let run_id = system.trigger("match", Policy::default()).await;
    system.reaches(run_id, Status::Completed).await;
    let told = system.told(run_id).await;
    let expected = [
        Triggered,
        ExecutionRequested,
        Queued,
        ExecutionScheduled,
        ExecutionStatusChanged,
        StageStarted,
        Completed,
        Finalised,
        ExecutionStatusChanged,
        ExecutionCompleted,
    ];
    assert_eq!(told, expected);
    stopping.finish(Duration::from_secs(8)).await;
}

pub(crate) async fn a_cancel_stops_a_running_attempt(system: System) {
    let stopping = system.serve("one", 1);
    let run_id = system.trigger("wait", Policy::default()).await;
    system.reaches(run_id, Status::Running).await;
    system.store.request_cancel(system.tenant_id, run_id, "ann", Some("too slow")).await.unwrap();
    system.reaches(run_id, Status::Cancelled).await;
    let told = system.told(run_id).await;
    assert!(
        told.contains(&CancelRequested) && told.contains(&Cancelled) && !told.contains(&Finalised),
        "{told:?}"
    );
    stopping.finish(Duration::from_secs(8)).await;
}

pub(crate) async fn a_run_past_its_deadline_times_out(system: System) {
    let stopping = system.serve("one", 1);
    let run_id = system.trigger("wait", Policy { deadline_ms: 50, retries: 3 }).await;
    system.reaches(run_id, Status::Timeout).await;
    stopping.finish(Duration::from_secs(8)).await;
}

pub(crate) async fn stopping_hands_back_what_is_under_way(system: System) {
    let stopping = system.serve("one", 1);
    let run_id = system.trigger("wait", Policy::default()).await;
    system.reaches(run_id, Status::Running).await;
    stopping.finish(Duration::ZERO).await;
    system.reaches(run_id, Status::Scheduled).await;
}
