//! Events taken in in batches, beside a bare multi-row INSERT of the same rows.

use std::time::{Duration, Instant};

use serde_json::json;
use trueup_events::{Event, RunId};

use crate::bare::Bare;
use crate::place::Bench;

const BATCH: usize = 100;
/// How many workers there are, each of which sends a batch in its turn, and how many runs each has in its hands.
const WORKERS: usize = 250;
const RUNS_EACH: usize = 4;
/// The execution that all events of a batch are about.
const ALONE: RunId = RunId::Number(1 << 40);

/// Takes turns, so that both meet the same noise, and prints the medians.
pub(crate) async fn measure(bench: &Bench, short: bool) {
    let rounds = if short { 20 } else { 400 };
    let mut bare = Bare::open(&bench.place).await;
    bare.prepare(BATCH).await;
    let (mut one, mut several, mut theirs) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..rounds {
        let batch = |run_of: &dyn Fn(usize) -> RunId| -> Vec<Event> {
            (0..BATCH).map(|number| event(bench, run_of(number))).collect()
        };
        let of_several = batch(&|number| run_of(round, number));
        let started = Instant::now();
        bare.insert(&of_several).await;
        theirs.push(started.elapsed());
        for (times, batch) in [(&mut several, of_several), (&mut one, batch(&|_| ALONE))] {
            let started = Instant::now();
            bench.store.ingest(bench.tenant_id, batch).await.unwrap();
            times.push(started.elapsed());
        }
    }
    let (one, several, theirs) = (per_second(one), per_second(several), per_second(theirs));
    println!("| events in batches of {BATCH} | a second | ratio |\n| --- | ---: | ---: |");
    println!("| taken in, of one execution | {one:.0} | {:.2} |", one / theirs);
    println!("| taken in, of {RUNS_EACH} executions | {several:.0} | {:.2} |", several / theirs);
    println!("| bare INSERT | {theirs:.0} | 1 |\n");
    bench.print_target("events taken in at half the rate of a bare INSERT", one / theirs >= 0.5);
}

fn per_second(mut times: Vec<Duration>) -> f64 {
    times.sort();
    BATCH as f64 / times[times.len() / 2].as_secs_f64()
}

fn run_of(round: usize, number: usize) -> RunId {
    RunId::Number(((round % WORKERS) * RUNS_EACH + number % RUNS_EACH) as u64)
}

/// An event like those that a worker sends most.
pub(crate) fn event(bench: &Bench, run_id: RunId) -> Event {
    Event {
        event_id: bench.store.next_event_id(),
        position: None,
        tenant_id: bench.tenant_id,
        run_id,
        name: "run.rows_processed".into(),
        source: "/datarecs/reconciliation-worker".to_owned(),
        time: "2026-09-21T10:00:00Z".parse().unwrap(),
        stamped_here: false,
        data: json!({ "stage_name": "by-account", "row_count": 1_000_000, "mismatch_count": 17 }),
        causation_id: None,
        traceparent: None,
        extensions: std::collections::BTreeMap::new(),
        details: None,
        mark: None,
    }
}
