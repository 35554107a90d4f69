//! Claims and lists with a million finished and ten thousand waiting runs in the table.

use std::time::{Duration, Instant};

use trueup_events::RunId;
use trueup_lifecycle::Status;
use trueup_store::{Place, RunFilter};

use crate::appends::event;
use crate::bare::Bare;
use crate::percentile;
use crate::place::Bench;

const FILL_SQLITE: &str = include_str!("fill_sqlite.sql");
const FILL_POSTGRES: &str = include_str!("fill_postgres.sql");

pub(crate) async fn measure(bench: &Bench, short: bool) {
    let (finished, waiting) = if short { (10_000, 1_000) } else { (1_000_000, 10_000) };
    fill(&bench.place, finished, waiting).await;
    println!("| with {finished} finished and {waiting} waiting runs | p50 | p99 |\n| --- | ---: | ---: |");
    let rounds = if short { 20 } else { 500 };
    let mut bare = Bare::open(&bench.place).await;
    bare.prepare(1).await;
    let mut commits = Vec::new();
    for _ in 0..rounds {
        let started = Instant::now();
        bare.insert(&[event(bench, RunId::Number(1))]).await;
        commits.push(started.elapsed());
    }
    print_row("a bare INSERT of one row, to compare", commits);
    let claimed = print_row(
        "claim 1 of them",
        timed(rounds, async || {
            assert_eq!(bench.store.claim_for_scheduling("executor", 1).await.unwrap().len(), 1);
        })
        .await,
    );
    print_row(
        "claim 10 of them",
        timed(rounds / 2, async || {
            assert_eq!(bench.store.claim_for_scheduling("executor", 10).await.unwrap().len(), 10);
        })
        .await,
    );
    let filter =
        |statuses: &[Status]| RunFilter { statuses: statuses.to_vec(), ..RunFilter::of(bench.tenant_id, 50) };
    for (name, statuses) in [
        ("list the latest 50", &[][..]),
        ("list 50 that wait", &[Status::Requested]),
        ("list 50 that failed", &[Status::Failed]),
        ("list 50 that run", &[Status::Running]),
    ] {
        let filter = filter(statuses);
        print_row(name, timed(rounds, async || drop(bench.store.runs(&filter).await.unwrap())).await);
    }
    println!();
    bench.print_target("a claim in less than 5 ms at p99", claimed < Duration::from_millis(5));
}

/// Prints how long something took, and gives the time that it seldom exceeds.
fn print_row(name: &str, mut times: Vec<Duration>) -> Duration {
    times.sort();
    let ms = |percent| percentile(&times, percent).as_secs_f64() * 1e3;
    println!("| {name} | {:.2} ms | {:.2} ms |", ms(50), ms(99));
    percentile(&times, 99)
}

async fn timed(rounds: usize, what: impl AsyncFn()) -> Vec<Duration> {
    let mut times = Vec::new();
    for _ in 0..rounds {
        let started = Instant::now();
        what().await;
        times.push(started.elapsed());
    }
    times
}

async fn fill(place: &Place, finished: u32, waiting: u32) {
    let sql = |text: &str| {
        text.replace(":finished", &finished.to_string()).replace(":waiting", &waiting.to_string())
    };
    match place {
        Place::Sqlite(path) => {
            let connection = rusqlite::Connection::open(path).unwrap();
            connection.busy_timeout(Duration::from_mins(1)).unwrap();
            connection.execute_batch(&sql(FILL_SQLITE)).unwrap();
        }
        Place::Postgres(url) => {
            let (client, connection) = tokio_postgres::connect(url, tokio_postgres::NoTls).await.unwrap();
            tokio::spawn(connection);
            client.batch_execute(&sql(FILL_POSTGRES)).await.unwrap();
            // What a server does by itself in the minutes after such a flood is no part of a claim.
            client.batch_execute("vacuum (analyze, freeze) trueup.runs").await.unwrap();
            client.batch_execute("checkpoint").await.unwrap();
        }
    }
}
