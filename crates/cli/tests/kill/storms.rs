//! A worker that freezes, and a database that goes away under load.

use std::fmt::Write as _;

use tokio_postgres::NoTls;
use trueup_lifecycle::{Policy, State, Status};
use trueup_testkit::Postgres;

use crate::scene::{Kind, Scene};

/// Rows that take an attempt long enough to be frozen in the middle of it.
const MANY_ROWS: u32 = 400_000;

fn worker(name: &str) -> [&str; 5] {
    ["worker", "--lease", "1s", "--name", name]
}

async fn a_frozen_worker_is_refused(kind: Kind) {
    let scene = Scene::set(kind).await;
    let mut rows = "id,amount\n".to_owned();
    (0..MANY_ROWS).for_each(|id| writeln!(rows, "{id},1.00").unwrap());
    std::fs::write(scene.path("ledger.csv"), &rows).unwrap();
    std::fs::write(scene.path("bank.csv"), &rows).unwrap();
    let _server = scene.serve(None, &["--places", "0"]);
    let mut frozen = scene.command(&worker("frozen"), None);
    let run_id = scene.start("daily").await;
    scene.becomes(run_id, |record| record.run.state.status() == Status::Running).await;
    frozen.signal("STOP");
    let _other = scene.command(&worker("other"), None);
    let is_others = |state: &State| matches!(state, State::Running(running) if running.worker == "other");
    scene
        .becomes(run_id, |record| is_others(&record.run.state) || record.run.state.status().is_terminal())
        .await;
    let record = scene.becomes(run_id, |record| record.run.state.status().is_terminal()).await;
    assert_eq!(record.run.state.status(), Status::Completed);
    frozen.signal("CONT");
    frozen.says("refused");
    assert_eq!(scene.run(run_id).await.run.state, record.run.state, "what stands is not changed");
    scene.ends_well(1).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_frozen_worker_is_refused_on_sqlite() {
    a_frozen_worker_is_refused(Kind::Sqlite).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_frozen_worker_is_refused_on_postgres() {
    a_frozen_worker_is_refused(Kind::Postgres).await;
}

/// Ends every connection but the one that asks.
pub(crate) async fn cut_all(url: &str) {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await.unwrap();
    let connection = tokio::spawn(connection);
    let cut = "select pg_terminate_backend(pid) from pg_stat_activity \
               where pid <> pg_backend_pid() and datname = current_database()";
    client.batch_execute(cut).await.unwrap();
    drop(client);
    connection.await.unwrap().unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn connections_that_are_cut_under_load_lose_nothing() {
    let url = Postgres::shared().database().unwrap();
    let scene = Scene::at(url.clone(), tempfile::tempdir().unwrap()).await;
    let mut server = scene.serve(None, &["--places", "2", "--reconcile-interval", "0"]);
    server.says("started");
    for number in 0..20 {
        if number % 4 == 3 {
            cut_all(&url).await;
        }
        // The trigger's own connection may be cut, too: asked again, it is the same wish.
        scene.start_until_heard("daily").await;
    }
    scene.ends_well(20).await;
    assert!(scene.runs().await.iter().all(|record| record.run.state.status() == Status::Completed));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_that_restarts_under_load_loses_nothing() {
    let postgres = Postgres::start().unwrap();
    let scene = Scene::at(postgres.database().unwrap(), tempfile::tempdir().unwrap()).await;
    scene.save_job("daily", "0.01", Policy { retries: 5, ..Policy::default() }).await;
    let mut server = scene.serve(None, &["--places", "2"]);
    server.says("started");
    for _ in 0..10 {
        scene.start("daily").await;
    }
    postgres.stop().unwrap();
    postgres.start_again().unwrap();
    for _ in 0..10 {
        scene.start_until_heard("daily").await;
    }
    scene.ends_well(20).await;
    assert!(scene.runs().await.iter().all(|record| record.run.state.status() == Status::Completed));
}
