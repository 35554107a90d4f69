//! Races between many: cancels at any moment, and slots.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use trueup_events::{EventType, RunId};
use trueup_lifecycle::{Limits, Policy, Status};
use trueup_testkit::until;
use uuid::Uuid;

use crate::system::{Server, System};

const GRACE: Duration = Duration::from_secs(8);

/// What the log has to say of a run that ended so.
fn is_told_right(status: Status, told: &[EventType]) -> bool {
    let count = |event_type| told.iter().filter(|told| **told == event_type).count();
    let ends =
        (count(EventType::Finalised), count(EventType::Cancelled), count(EventType::ExecutionCompleted));
    match status {
        Status::Completed => ends == (1, 0, 1) && count(EventType::Completed) == 1,
        Status::Cancelled => ends == (0, 1, 1) && count(EventType::CancelRequested) == 1,
        _ => false,
    }
}

pub(crate) async fn a_thousand_cancels_at_random_moments(system: System) {
    system.save_job("match", "default", Policy::default()).await;
    system.save_job("wait", "default", Policy::default()).await;
    let stopping = system.serve(Server { places: 16, ..Server::BUSY });
    let system = Arc::new(system);
    let abreast = Arc::new(Semaphore::new(32));
    let mut tasks = JoinSet::new();
    for _ in 0..1_000 {
        let turn = Arc::clone(&abreast).acquire_owned().await.unwrap();
        let system = Arc::clone(&system);
        tasks.spawn(async move {
            let status = cancelled_at_random(&system).await;
            drop(turn);
            status
        });
    }
    let ended: Vec<Status> = tasks.join_all().await;
    assert!(ended.contains(&Status::Cancelled) && ended.contains(&Status::Completed));
    stopping.finish(GRACE).await;
}

/// Starts a run, cancels it at any moment, and checks what is told of how it ended.
async fn cancelled_at_random(system: &System) -> Status {
    // At a moment of the log rather than of a clock: after so many events of the run.
    let moment = usize::from(Uuid::new_v4().as_bytes()[0] % 12);
    // Some runs wait for their cancel, and some have ended before it: however slow the machine, there are both ends.
    let run_id = system.start(if moment < 3 { "wait" } else { "match" }).await;
    let look = async || (system.run(run_id).await.run.state.status(), system.told(run_id).await);
    let is_due = |(status, told): &(Status, Vec<_>)| told.len() >= moment || status.is_terminal();
    until(system.store.changes(), look, is_due).await;
    // Refused when it has ended already; either way what is recorded decides.
    drop(system.store.request_cancel(system.tenant_id, run_id, "ann", None).await);
    let (status, told) = until(system.store.changes(), look, |(status, _)| status.is_terminal()).await;
    assert!(is_told_right(status, &told), "{status} {told:?}");
    status
}

pub(crate) async fn a_queue_runs_no_more_than_it_may_and_in_order(system: System) {
    let limits = Limits { max_running: Some(3), max_waiting: None };
    system.store.set_queue(system.tenant_id, "narrow", limits, "ann").await.unwrap();
    system.save_job("match", "narrow", Policy::default()).await;
    let mut runs = Vec::new();
    for _ in 0..60 {
        runs.push(system.start("match").await);
    }
    let servers = ["one", "two"].map(|name| system.serve(Server { name, places: 8, ..Server::BUSY }));
    for run_id in &runs {
        system.reaches(*run_id, Status::Completed).await;
        system.told(*run_id).await;
    }
    for server in servers {
        server.finish(GRACE).await;
    }
    let mut holding = BTreeSet::new();
    for event in system.store.read_from(0, Some(system.tenant_id), 10_000).await.unwrap() {
        match event.name.event_type() {
            Some(EventType::ExecutionScheduled) => holding.insert(event.run_id.to_string()),
            Some(EventType::ExecutionCompleted) => holding.remove(&event.run_id.to_string()),
            _ => continue,
        };
        assert!(holding.len() <= 3, "{holding:?}");
    }
    assert!(holding.is_empty());
    // Slots are given with the claim, so that is where nobody may be overtaken.
    let entries = system.store.audit(0, Some(system.tenant_id), 10_000).await.unwrap();
    let claims = entries.iter().map(|audit| &audit.entry).filter(|entry| entry.action == "claim");
    let claimed: Vec<&str> = claims.map(|entry| entry.subject.as_str()).collect();
    let asked_for: Vec<String> = runs.iter().map(RunId::to_string).collect();
    assert_eq!(claimed, asked_for);
}
