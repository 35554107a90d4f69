//! One kill at each boundary of each verb that a person's command comes to.

use trueup_lifecycle::Status;

use self::Leaving::{Free, Nothing, Owned};
use crate::scene::{AT_ONCE, BOUNDARIES, Kind, NEVER, Scene};

/// Verbs with a case of their own.
pub(crate) const IN_A_CASE: [&str; 3] = ["RequestCancel", "EnsureTenant", "SetQueue"];

/// Where a run in the foreground is killed, and what it leaves behind.
pub(crate) const IN_THE_FOREGROUND: [(&str, [Leaving; 3]); 6] = [
    ("SaveJob", [Nothing, Nothing, Nothing]),
    ("Trigger", [Nothing, Nothing, Free]),
    ("ClaimRun", [Free, Free, Owned]),
    ("HandOff", [Owned, Owned, Free]),
    ("TakeRun", [Free, Free, Owned]),
    ("Finish", [Owned, Owned, Free]),
];

/// What a process that was killed leaves behind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Leaving {
    /// No run.
    Nothing,
    /// A run that a server goes on with at once, or that has ended.
    Free,
    /// A run that is still its own until it counts as lost.
    Owned,
}

on_both! {
    a_cancel_is_killed,
    a_change_of_a_queue_is_killed,
    a_run_in_the_foreground_is_killed,
}

/// It has happened, or it has not.
async fn a_cancel_is_killed(kind: Kind) {
    for boundary in BOUNDARIES {
        let scene = Scene::set(kind).await;
        let run_id = scene.start("daily").await;
        let point = format!("RequestCancel/{boundary}");
        let mut cancel = scene.command(&["runs", "cancel", &run_id.to_string()], Some(&point));
        cancel.is_held_at(&point);
        cancel.kill();
        let _server = scene.serve(None, &[]);
        let record = scene.becomes(run_id, |record| record.run.state.status().is_terminal()).await;
        let expected = if boundary == "after_commit" { Status::Cancelled } else { Status::Completed };
        assert_eq!(record.run.state.status(), expected, "{point}");
        scene.ends_well(1).await;
    }
}

async fn a_change_of_a_queue_is_killed(kind: Kind) {
    for verb in ["EnsureTenant", "SetQueue"] {
        for boundary in BOUNDARIES {
            let scene = Scene::set(kind).await;
            let point = format!("{verb}/{boundary}");
            let mut set = scene.command(&["queues", "set", "default", "--max-running", "3"], Some(&point));
            set.is_held_at(&point);
            set.kill();
            let queues = scene.store.queues(scene.tenant_id).await.unwrap();
            let expected = (point == "SetQueue/after_commit").then_some(3);
            assert_eq!(queues[0].limits.max_running, expected, "{point}");
            let _server = scene.serve(None, &[]);
            let run_id = scene.start("daily").await;
            scene.completes(run_id).await;
            scene.ends_well(1).await;
        }
    }
}

/// Somebody's own run is cut off at any point of it; a server that comes later ends what was begun.
async fn a_run_in_the_foreground_is_killed(kind: Kind) {
    for (verb, left) in IN_THE_FOREGROUND {
        for (boundary, left) in BOUNDARIES.iter().zip(left) {
            let scene = Scene::set(kind).await;
            let job = "name: mine\nkey: [id]\nretries: 50\nsources:\n  ledger: {file: ledger.csv}\n  bank: {file: bank.csv}\n";
            std::fs::write(scene.path("job.yaml"), job).unwrap();
            let point = format!("{verb}/{boundary}");
            let mut run =
                scene.command(&["run", &scene.path("job.yaml").display().to_string()], Some(&point));
            run.is_held_at(&point);
            run.kill();
            let runs = scene.runs().await;
            assert_eq!(runs.len(), usize::from(left != Nothing), "{point}");
            if left == Owned {
                stays_its_owners(&scene, runs[0].id()).await;
            }
            let _server = scene.serve(None, &[]);
            for record in &runs {
                scene.completes(record.id()).await;
            }
            scene.ends_well(runs.len() + usize::from(left == Owned)).await;
        }
    }
}

/// A server leaves alone what another process may still be at work on, and goes on with it once that counts as lost.
async fn stays_its_owners(scene: &Scene, run_id: trueup_events::RunId) {
    scene.set_due(run_id, NEVER).await;
    let _server = scene.serve(None, &[]);
    // Another run shows that the server is at work.
    let other = scene.start("daily").await;
    scene.completes(other).await;
    let record = scene.run(run_id).await;
    assert!(!record.run.state.status().is_terminal(), "{record:?}");
    scene.set_due(run_id, AT_ONCE).await;
}
