//! Starting: committed intent is always started in the end, exactly once.

use std::sync::Arc;
use std::time::Duration;

use trueup_events::EventType;
use trueup_lifecycle::{Policy, Status};

use crate::system::{Server, System};

const GRACE: Duration = Duration::from_secs(8);
const RECONCILE_GRACE_MS: i64 = 300_000;

pub(crate) async fn what_was_committed_before_anybody_listened_is_started(system: System) {
    let run_id = system.trigger("match", Policy::default()).await;
    // Without a sweep: the one look at the start is enough.
    let stopping = system.serve(Server { reconcile_interval: None, ..Server::BUSY });
    system.reaches(run_id, Status::Completed).await;
    stopping.finish(GRACE).await;
}

pub(crate) async fn a_claim_whose_executor_is_gone_is_taken_over(system: System) {
    let run_id = system.trigger("match", Policy::default()).await;
    assert_eq!(system.store.claim_for_scheduling("gone", 10).await.unwrap().len(), 1);
    let stopping = system.serve(Server::BUSY);
    let fresh = system.start("match").await;
    system.reaches(fresh, Status::Completed).await;
    assert_eq!(system.run(run_id).await.run.state.status(), Status::Scheduling, "its claim is not stale yet");
    system.advance(RECONCILE_GRACE_MS + 1);
    system.reaches(run_id, Status::Completed).await;
    assert_eq!(system.count(run_id, EventType::QueueErrored).await, 1);
    stopping.finish(GRACE).await;
}

pub(crate) async fn a_claim_of_ones_own_is_taken_up_at_once(system: System) {
    let run_id = system.trigger("match", Policy::default()).await;
    assert_eq!(system.store.claim_for_scheduling(Server::BUSY.name, 10).await.unwrap().len(), 1);
    let stopping = system.serve(Server::BUSY);
    system.reaches(run_id, Status::Completed).await;
    stopping.finish(GRACE).await;
}

pub(crate) async fn a_poison_start_fails_and_holds_up_nobody(system: System) {
    let poison = system.trigger("match", Policy::default()).await;
    system.engine.refuse(poison);
    let stopping = system.serve(Server::BUSY);
    for attempt in 1..=5 {
        let healthy = system.start("match").await;
        system.reaches(healthy, Status::Completed).await;
        let mut changes = system.store.changes();
        while system.count(poison, EventType::QueueErrored).await < attempt {
            changes.changed().await.unwrap();
        }
        system.advance(60_000);
    }
    system.reaches(poison, Status::Failed).await;
    assert_eq!(system.engine.submits(poison), 5);
    assert_eq!(system.count(poison, EventType::Finalised).await, 1);
    stopping.finish(GRACE).await;
}

pub(crate) async fn dead_entries_do_not_starve_a_live_one(system: System) {
    system.save_job("match", "default", Policy::default()).await;
    for _ in 0..1_000 {
        let new = system.new_run("match");
        system.engine.refuse(new.run_id.into());
        system.store.trigger(new).await.unwrap();
    }
    let live = system.start("match").await;
    let stopping = system.serve(Server::BUSY);
    system.reaches(live, Status::Completed).await;
    stopping.finish(GRACE).await;
}

pub(crate) async fn four_executors_start_each_run_once(system: System) {
    system.save_job("match", "default", Policy::default()).await;
    let names = ["one", "two", "three", "four"];
    let servers = names.map(|name| system.serve(Server { name, places: 4, ..Server::BUSY }));
    let system = Arc::new(system);
    let mut runs = Vec::new();
    for _ in 0..1_000 {
        runs.push(system.start("match").await);
    }
    for run_id in &runs {
        system.reaches(*run_id, Status::Completed).await;
        assert_eq!(system.engine.submits(*run_id), 1);
        let told = system.told(*run_id).await;
        let count = |event_type| told.iter().filter(|told| **told == event_type).count();
        assert_eq!((count(EventType::ExecutionScheduled), count(EventType::Finalised)), (1, 1));
    }
    for server in servers {
        server.finish(GRACE).await;
    }
}
