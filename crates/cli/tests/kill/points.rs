//! One kill at each boundary of each verb that a process of ours comes to.

use std::time::Duration;

use trueup_lifecycle::{Policy, Status};

use crate::scene::{Kind, Scene};

/// The boundaries, as fail points spell them.
const BOUNDARIES: [&str; 3] = ["before", "before_commit", "after_commit"];

/// Verbs that a server comes to by itself when there is a run.
const OF_A_SERVER: [&str; 9] = [
    "ClaimForScheduling", "HandOff", "Take", "Tell", "Finish", "NotePass", "SweepStaleClaims", "SweepHandOffs",
    "SweepLeases",
];

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
        let mut server = scene.serve(Some("Take/after_commit"), &[]);
        server.says("fail point Take/after_commit");
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

/// Somebody's own run is cut off at any point of it; a server that comes later ends what was begun.
async fn a_run_in_the_foreground_is_killed(kind: Kind) {
    for verb in ["SaveJob", "Trigger", "ClaimRun", "HandOff", "TakeRun", "Finish"] {
        for boundary in BOUNDARIES {
            let scene = Scene::set(kind).await;
            let job = "name: mine\nkey: [id]\nretries: 2\nsources:\n  ledger: {file: ledger.csv}\n  bank: {file: bank.csv}\n";
            std::fs::write(scene.path("job.yaml"), job).unwrap();
            let point = format!("{verb}/{boundary}");
            let mut run = scene.command(&["run", &scene.path("job.yaml").display().to_string()], Some(&point));
            run.says(&format!("fail point {point}"));
            run.kill();
            let was_asked_for = verb != "SaveJob" && !(verb == "Trigger" && boundary != "after_commit");
            let _server = scene.serve(None, &[]);
            scene.ends_well(usize::from(was_asked_for)).await;
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
            tokio::time::timeout(Duration::from_secs(60), changes.changed()).await.unwrap().unwrap();
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
