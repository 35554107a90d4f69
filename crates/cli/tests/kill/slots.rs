//! Kills beside a queue with few slots: no more than those are ever held, none is lost, and nobody is overtaken.

use std::collections::BTreeSet;

use trueup_events::{EventType, RunId};
use trueup_lifecycle::Limits;

use crate::scene::{Kind, RETRIES, Scene};

const SLOTS: usize = 3;
/// More than there are slots for, before every kill.
const RUNS_A_KILL: usize = 5;

/// Where slots are taken, held and freed.
const POINTS: [&str; 6] = [
    "Schedule/before_commit",
    "Schedule/after_commit",
    "Take/after_commit",
    "Finish/before_commit",
    "Finish/after_commit",
    "Finish/after_commit#2",
];

on_both! {
    slots_outlive_who_is_killed,
}

async fn slots_outlive_who_is_killed(kind: Kind) {
    let scene = Scene::set(kind).await;
    let limits = Limits { max_running: Some(3), max_waiting: None };
    scene.store.set_queue(scene.tenant_id, "narrow", limits, "ann").await.unwrap();
    scene.save_job("queued", "narrow", RETRIES).await;
    let mut runs = Vec::new();
    for point in POINTS {
        for _ in 0..RUNS_A_KILL {
            runs.push(scene.start("queued").await);
        }
        let mut server = scene.serve(Some(point), &["--places", "5"]);
        server.is_held_at(point);
        server.kill();
    }
    let _server = scene.serve(None, &["--places", "5"]);
    for run_id in &runs {
        scene.completes(*run_id).await;
    }
    scene.ends_well(runs.len()).await;
    are_held_by_few(&scene).await;
    are_given_in_order(&scene, &runs).await;
}

async fn are_held_by_few(scene: &Scene) {
    let mut holding = BTreeSet::new();
    let mut most = 0;
    for event in scene.store.read_from(0, Some(scene.tenant_id), 100_000).await.unwrap() {
        match event.name.event_type() {
            Some(EventType::ExecutionScheduled) => holding.insert(event.run_id.to_string()),
            Some(EventType::ExecutionCompleted) => holding.remove(&event.run_id.to_string()),
            _ => continue,
        };
        most = most.max(holding.len());
    }
    assert_eq!((most, holding.len()), (SLOTS, 0), "all slots were used, and none too many");
}

/// Slots are given with the first claim, so that is where nobody may be overtaken.
async fn are_given_in_order(scene: &Scene, runs: &[RunId]) {
    let entries = scene.store.audit(0, Some(scene.tenant_id), 100_000).await.unwrap();
    let mut claimed: Vec<&str> = Vec::new();
    for entry in entries.iter().map(|audit| &audit.entry).filter(|entry| entry.action == "claim") {
        if !claimed.contains(&entry.subject.as_str()) {
            claimed.push(&entry.subject);
        }
    }
    let asked_for: Vec<String> = runs.iter().map(RunId::to_string).collect();
    assert_eq!(claimed, asked_for);
}
