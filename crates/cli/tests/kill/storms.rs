//! A worker that freezes, and a database that goes away under load.

use std::io::Write as _;
use std::time::Duration;

use tokio_postgres::NoTls;
use trueup_events::{Event, EventType};
use trueup_lifecycle::Status;
use trueup_store::Pass;
use trueup_testkit::{Postgres, until};

use crate::scene::{AT_ONCE, BANK, Kind, Scene};

on_both! {
    a_frozen_worker_is_refused,
}

/// A worker with a lease that is not lost by itself, however busy the machine is.
fn worker(name: &str) -> [&str; 5] {
    ["worker", "--lease", "300s", "--name", name]
}

async fn a_frozen_worker_is_refused(kind: Kind) {
    let scene = Scene::set(kind).await;
    let mut bank = scene.let_the_bank_wait();
    let _server = scene.serve(None, &["--places", "0"]);
    let mut frozen = scene.command(&worker("frozen"), None);
    let run_id = scene.start("daily").await;
    let told = async || scene.store.events_of(scene.tenant_id, run_id, 0, 100).await.unwrap();
    let is_reading = |event_type| event_type == Some(EventType::ExtractionStarted);
    until(scene.store.changes(), told, |told| {
        told.iter().filter(|event| is_reading(event.name.event_type())).count() == 2
    })
    .await;
    frozen.signal("STOP");
    scene.let_the_bank_open();
    scene.set_due(run_id, AT_ONCE).await;
    let _other = scene.command(&worker("other"), None);
    scene.completes(run_id).await;
    let record = scene.run(run_id).await;
    // Its attempt comes to an end, too, and has a result.
    bank.write_all(b"id,amount\n1,99.00\n").unwrap();
    drop(bank);
    frozen.signal("CONT");
    frozen.says("refused");
    assert_eq!(scene.run(run_id).await.run.state, record.run.state, "what stands is not changed");
    scene.ends_well(1).await;
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
async fn a_database_that_crashes_under_load_loses_nothing() {
    let postgres = Postgres::start().unwrap();
    let scene = Scene::at(postgres.database().unwrap(), tempfile::tempdir().unwrap()).await;
    let mut server = scene.serve(None, &["--places", "2"]);
    server.says("started");
    for _ in 0..10 {
        scene.start("daily").await;
    }
    for _ in 0..2 {
        postgres.crash().unwrap();
        postgres.start_again().unwrap();
        for _ in 0..5 {
            scene.start_until_heard("daily").await;
        }
    }
    scene.ends_well(20).await;
    assert!(scene.runs().await.iter().all(|record| record.run.state.status() == Status::Completed));
}

/// No worker can be heard of while the database is away: who comes new, and did not see that, calls no run lost for it.
#[tokio::test(flavor = "multi_thread")]
async fn a_run_outlives_a_database_that_was_away_for_longer_than_its_lease() {
    let postgres = Postgres::start().unwrap();
    let scene = Scene::at(postgres.database().unwrap(), tempfile::tempdir().unwrap()).await;
    scene.save_job("once", "default", 0).await;
    let mut bank = scene.let_the_bank_wait();
    let lease = ["--lease", "300s"];
    let _worker = scene.serve(None, &lease);
    let run_id = scene.start("once").await;
    // What it has to tell is told, so that it keeps its lease alive no more for a while.
    let told = async || scene.store.events_of(scene.tenant_id, run_id, 0, 100).await.unwrap();
    let is_reading = |told: &Vec<Event>| {
        told.iter().filter(|event| event.name.event_type() == Some(EventType::ExtractionStarted)).count() == 2
    };
    until(scene.store.changes(), told, is_reading).await;
    scene.set_due(run_id, AT_ONCE).await;
    postgres.crash().unwrap();
    postgres.start_again().unwrap();
    let _fresh = scene.serve(None, &[&lease[..], &["--name", "fresh", "--places", "0"]].concat());
    let is_told = |pass: &Pass| {
        pass.instance == "fresh"
            && pass.note.as_ref().is_some_and(|note| note.starts_with("the store was away"))
    };
    let mut changes = scene.store.changes();
    while !scene.store.passes().await.is_ok_and(|passes| passes.iter().any(is_told)) {
        // Reports are no changes, so that nobody is woken.
        drop(tokio::time::timeout(Duration::from_millis(100), changes.changed()).await);
    }
    bank.write_all(BANK.as_bytes()).unwrap();
    drop(bank);
    scene.completes(run_id).await;
}
