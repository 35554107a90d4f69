//! One kill at each boundary of each verb that a process of ours comes to.

use std::time::Duration;

use trueup_lifecycle::{Policy, Status};

use self::Leaving::{Free, Nothing, Owned};
use crate::scene::{Kind, Scene};

/// The boundaries, as fail points spell them.
const BOUNDARIES: [&str; 3] = ["before", "before_commit", "after_commit"];

/// Verbs that a server comes to by itself when there is a run.
const OF_A_SERVER: [&str; 8] =
    ["ClaimForScheduling", "HandOff", "Take", "Tell", "Finish", "NotePass", "SweepStaleClaims", "Look"];

async fn a_server_is_killed(kind: Kind) {
    for verb in OF_A_SERVER {
        for boundary in BOUNDARIES {
            let scene = Scene::set(kind).await;
            let point = format!("{verb}/{boundary}");
            let mut server = scene.serve(Some(&point), &[]);
            let run_id = scene.start("daily").await;
            server.says(&format!("fail point {point}"));
            server.kill();
            let _second = scene.serve(None, &[]);
            let record = scene.becomes(run_id, |record| record.run.state.status().is_terminal()).await;
            assert_eq!(record.run.state.status(), Status::Completed, "{point}");
            scene.ends_well(1).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_is_killed_on_sqlite() {
    a_server_is_killed(Kind::Sqlite).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_is_killed_on_postgres() {
    a_server_is_killed(Kind::Postgres).await;
}

/// A worker is lost, and so is the server that finds out; the job allows no retry.
async fn a_sweep_is_killed(kind: Kind) {
    for boundary in BOUNDARIES {
        let scene = Scene::set(kind).await;
        scene.save_job("once", "0.01", Policy::default()).await;
        let run_id = scene.start("once").await;
        let mut server = scene.serve(Some("Tell/before"), &[]);
        server.says("fail point Tell/before");
        server.kill();
        let point = format!("Expire/{boundary}");
        let mut second = scene.serve(Some(&point), &[]);
        second.says(&format!("fail point {point}"));
        second.kill();
        let _third = scene.serve(None, &[]);
        let record = scene.becomes(run_id, |record| record.run.state.status().is_terminal()).await;
        assert_eq!(record.run.state.status(), Status::Abandoned, "{point}");
        scene.ends_well(1).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sweep_is_killed_on_sqlite() {
    a_sweep_is_killed(Kind::Sqlite).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sweep_is_killed_on_postgres() {
    a_sweep_is_killed(Kind::Postgres).await;
}

/// What a person does is cut off: it has happened, or it has not.
async fn a_command_is_killed(kind: Kind) {
    for boundary in BOUNDARIES {
        let scene = Scene::set(kind).await;
        let run_id = scene.start("daily").await;
        let point = format!("RequestCancel/{boundary}");
        let mut cancel = scene.command(&["runs", "cancel", &run_id.to_string()], Some(&point));
        cancel.says(&format!("fail point {point}"));
        cancel.kill();
        let _server = scene.serve(None, &[]);
        let record = scene.becomes(run_id, |record| record.run.state.status().is_terminal()).await;
        let expected = if boundary == "after_commit" { Status::Cancelled } else { Status::Completed };
        assert_eq!(record.run.state.status(), expected, "{point}");
        scene.ends_well(1).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_is_killed_on_sqlite() {
    a_command_is_killed(Kind::Sqlite).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_is_killed_on_postgres() {
    a_command_is_killed(Kind::Postgres).await;
}

/// Where a run in the foreground is killed, and what it leaves behind: nothing, something that a server goes on with at once, or what it still owns until it counts as lost.
const IN_THE_FOREGROUND: [(&str, Left); 6] = [
    ("SaveJob", [Nothing, Nothing, Nothing]),
    ("Trigger", [Nothing, Nothing, Free]),
    ("ClaimRun", [Free, Free, Owned]),
    ("HandOff", [Owned, Owned, Free]),
    ("TakeRun", [Free, Free, Owned]),
    ("Finish", [Owned, Owned, Free]),
];

/// What is left at each boundary.
type Left = [Leaving; 3];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Leaving {
    Nothing,
    Free,
    Owned,
}

/// Somebody's own run is cut off at any point of it; a server that comes later ends what was begun.
async fn a_run_in_the_foreground_is_killed(kind: Kind) {
    for (verb, left) in IN_THE_FOREGROUND {
        for (boundary, left) in BOUNDARIES.iter().zip(left) {
            let scene = Scene::set(kind).await;
            let job =
                "name: mine\nkey: [id]\nsources:\n  ledger: {file: ledger.csv}\n  bank: {file: bank.csv}\n";
            std::fs::write(scene.path("job.yaml"), job).unwrap();
            let point = format!("{verb}/{boundary}");
            let mut run =
                scene.command(&["run", &scene.path("job.yaml").display().to_string()], Some(&point));
            run.says(&format!("fail point {point}"));
            run.kill();
            let _server = scene.serve(None, &[]);
            if left == Owned {
                // Another run shows that the server is at work; this one is still its owner's, for as long as that may be silent.
                let other = scene.start("daily").await;
                scene.becomes(other, |record| record.run.state.status().is_terminal()).await;
                let runs = scene.runs().await;
                let mine = runs.iter().find(|record| record.id() != other).unwrap();
                assert!(!mine.run.state.status().is_terminal(), "{point}: {mine:?}");
            } else {
                scene.ends_well(usize::from(left == Free)).await;
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_in_the_foreground_is_killed_on_sqlite() {
    a_run_in_the_foreground_is_killed(Kind::Sqlite).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_in_the_foreground_is_killed_on_postgres() {
    a_run_in_the_foreground_is_killed(Kind::Postgres).await;
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
        second.says(&format!("fail point {point}"));
        second.kill();
        let told = scene.store.events_of(run_id, 0, 100).await.unwrap().len();
        assert_eq!(scene.runs().await.len(), usize::from(told > 0), "{point}");
        let _third = scene.serve(None, &["--retention", "0s"]);
        let mut changes = scene.store.changes();
        while scene.store.remembers(run_id).await.unwrap() {
            // Nothing is told of it, so that nobody is woken.
            drop(tokio::time::timeout(Duration::from_millis(100), changes.changed()).await);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn forgetting_is_killed_on_sqlite() {
    forgetting_is_killed(Kind::Sqlite).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn forgetting_is_killed_on_postgres() {
    forgetting_is_killed(Kind::Postgres).await;
}
