//! Events appended in batches, beside a bare multi-row INSERT of the same rows.

use std::time::{Duration, Instant};

use serde_json::json;
use trueup_events::{Event, RunId};

use crate::bare::Bare;
use crate::place::Bench;

const BATCH: usize = 100;

/// Takes turns, so that both meet the same noise, and prints the medians.
pub(crate) async fn measure(bench: &Bench, short: bool) {
    let rounds = if short { 20 } else { 400 };
    let mut bare = Bare::open(&bench.place).await;
    bare.prepare(BATCH).await;
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        let batch: Vec<Event> = (0..BATCH).map(|_| event(bench)).collect();
        let started = Instant::now();
        bare.insert(&batch).await;
        theirs.push(started.elapsed());
        let started = Instant::now();
        bench.store.append_events(batch).await.unwrap();
        ours.push(started.elapsed());
    }
    let (ours, theirs) = (per_second(ours), per_second(theirs));
    println!("| events in batches of {BATCH} | a second |\n| --- | ---: |");
    println!("| appended | {ours:.0} |\n| bare INSERT | {theirs:.0} |\n| ratio | {:.2} |\n", ours / theirs);
    bench.print_target("events appended at half the rate of a bare INSERT", ours / theirs >= 0.5);
}

fn per_second(mut times: Vec<Duration>) -> f64 {
    times.sort();
    BATCH as f64 / times[times.len() / 2].as_secs_f64()
}

/// An event like those that a worker sends most.
pub(crate) fn event(bench: &Bench) -> Event {
    let event_id = bench.store.next_event_id();
    Event {
        event_id,
        position: None,
        tenant_id: bench.tenant_id,
        run_id: RunId::Number(event_id.get() % 1_000),
        name: "run.rows_processed".into(),
        source: "/datarecs/reconciliation-worker".to_owned(),
        time: "2026-09-21T10:00:00Z".parse().unwrap(),
        stamped_here: false,
        data: json!({ "stage_name": "by-account", "row_count": 1_000_000, "mismatch_count": 17 }),
        causation_id: None,
        traceparent: None,
        extensions: std::collections::BTreeMap::new(),
        details: None,
    }
}
