//! One kill at each boundary of each verb that a server comes to.

use std::time::Duration;

use trueup_lifecycle::Status;
use trueup_testkit::PATIENCE;

use crate::scene::{AT_ONCE, BOUNDARIES, Kind, Scene};

/// Verbs that a server comes to by itself when there is a run.
pub(crate) const BY_ITSELF: [&str; 10] = [
    "Schedule",
    "Take",
    "Tell",
    "Finish",
    "NotePass",
    "SweepStaleClaims",
    "Look",
    "SweepFinished",
    "NextPause",
    "ForgetPasses",
];
/// Verbs that a server comes to when something else has happened first, each with a case of its own.
pub(crate) const IN_A_CASE: [&str; 4] = ["Expire", "HandBack", "Forget", "Withdrawn"];

on_both! {
    a_server_is_killed,
    a_sweep_is_killed,
    handing_back_is_killed,
    forgetting_is_killed,
    withdrawing_is_killed,
}

async fn a_server_is_killed(kind: Kind) {
    for verb in BY_ITSELF {
        for boundary in BOUNDARIES {
            let scene = Scene::set(kind).await;
            let point = format!("{verb}/{boundary}");
            // Before there is a server, which may be held while it has the file to itself.
            let run_id = scene.start("daily").await;
            let mut server = scene.serve(Some(&point), &[]);
            server.is_held_at(&point);
            server.kill();
            let _second = scene.serve(None, &[]);
            scene.completes(run_id).await;
            scene.ends_well(1).await;
        }
    }
}

/// A worker is lost, and so is the server that finds out; the job allows no retry.
async fn a_sweep_is_killed(kind: Kind) {
    for boundary in BOUNDARIES {
        let scene = Scene::set(kind).await;
        scene.save_job("once", "default", 0).await;
        let run_id = scene.start("once").await;
        let mut server = scene.serve(Some("Tell/before"), &[]);
        server.is_held_at("Tell/before");
        server.kill();
        let point = format!("Expire/{boundary}");
        let mut second = scene.serve(Some(&point), &[]);
        second.is_held_at(&point);
        second.kill();
        let _third = scene.serve(None, &[]);
        let record = scene.becomes(run_id, |record| record.run.state.status().is_terminal()).await;
        assert_eq!(record.run.state.status(), Status::Abandoned, "{point}");
        scene.ends_well(1).await;
    }
}

/// A server is told to stop while a run waits for its data, and is killed as it gives the run back.
async fn handing_back_is_killed(kind: Kind) {
    let mut leaving = Vec::new();
    // All are told before the first is waited for: they wait for the run's end first, side by side.
    for boundary in BOUNDARIES {
        let scene = Scene::set(kind).await;
        let bank = scene.let_the_bank_wait();
        let point = format!("HandBack/{boundary}");
        // A lease that is not lost meanwhile, however busy the machine is.
        let server = scene.serve(Some(&point), &["--lease", "300s"]);
        let run_id = scene.start("daily").await;
        scene.becomes(run_id, |record| record.run.state.status() == Status::Running).await;
        server.signal("TERM");
        leaving.push((scene, server, run_id, point, bank));
    }
    for (scene, mut server, run_id, point, _bank) in leaving {
        server.is_held_at(&point);
        server.kill();
        scene.let_the_bank_open();
        let is_back = scene.run(run_id).await.run.state.status() == Status::Scheduled;
        assert_eq!(is_back, point.ends_with("after_commit"), "{point}");
        scene.set_due(run_id, AT_ONCE).await;
        let _second = scene.serve(None, &[]);
        scene.completes(run_id).await;
        scene.ends_well(1).await;
    }
}

/// Old runs are forgotten whole, or not at all.
async fn forgetting_is_killed(kind: Kind) {
    for boundary in BOUNDARIES {
        let scene = Scene::set(kind).await;
        let run_id = scene.start("daily").await;
        let first = scene.serve(None, &[]);
        scene.becomes(run_id, |record| record.run.state.status().is_terminal()).await;
        first.kill();
        let point = format!("Forget/{boundary}");
        let mut second = scene.serve(Some(&point), &["--retention", "0s"]);
        second.is_held_at(&point);
        second.kill();
        let told = scene.store.events_of(scene.tenant_id, run_id, 0, 100).await.unwrap().len();
        assert_eq!(scene.runs().await.len(), usize::from(told > 0), "{point}");
        let _third = scene.serve(None, &["--retention", "0s"]);
        let mut changes = scene.store.changes();
        while scene.store.remembers(run_id).await.unwrap() {
            // Nothing is told of it, so that nobody is woken.
            drop(tokio::time::timeout(Duration::from_millis(100), changes.changed()).await);
        }
    }
}

/// A run is cancelled before a worker took it, and the server is killed as it notes that the engine knows.
async fn withdrawing_is_killed(kind: Kind) {
    for boundary in BOUNDARIES {
        let scene = Scene::set(kind).await;
        let point = format!("Withdrawn/{boundary}");
        let mut server = scene.serve(Some(&point), &["--places", "0"]);
        let run_id = scene.start("daily").await;
        scene.becomes(run_id, |record| record.run.state.status() == Status::Scheduled).await;
        scene.store.request_cancel(scene.tenant_id, run_id, "ann", None).await.unwrap();
        server.is_held_at(&point);
        server.kill();
        if boundary == "after_commit" {
            assert!(scene.store.sweep_cancels(10).await.unwrap().is_empty(), "{point}");
        } else {
            // PostgreSQL may keep the transaction of who was killed for a moment, and what it holds is passed over.
            let is_left = async {
                while scene.store.sweep_cancels(10).await.unwrap().is_empty() {
                    tokio::task::yield_now().await;
                }
            };
            tokio::time::timeout(PATIENCE, is_left).await.expect("the engine is told again");
        }
        assert_eq!(scene.run(run_id).await.run.state.status(), Status::Cancelled, "{point}");
        let _second = scene.serve(None, &[]);
        let second = scene.start("daily").await;
        scene.completes(second).await;
        scene.ends_well(2).await;
    }
}
