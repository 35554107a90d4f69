//! Stages at once: the same answers as in order, and one that fails ends all.

use std::fs;

use trueup_events::outcome::Verdict;
use trueup_events::{EventType, Payload};
use trueup_reconcile::Stopped;

use crate::scene::Scene;

fn job(strategy: &str) -> String {
    format!(
        "
name: big
sources: {{a: {{file: a.csv}}, b: {{file: b.csv}}}}
dimensions: [side, id]
measures: [{{name: amount, aggregate: sum}}]
stages:
  - {{name: sides, dimensions: [side]}}
  - {{name: ids, dimensions: [id]}}
  - {{name: all}}
strategy: {strategy}
"
    )
}

fn rows(shift: usize) -> String {
    let lines =
        (0..30_000).map(|id| format!("{},{id},{}\n", id % 7, id % 100 + (id % 1_000 + shift) / 1_000));
    "side,id,amount\n".to_owned() + &lines.collect::<String>()
}

fn scene(memory: u64, threads: usize) -> Scene {
    let (a, b) = (rows(0), rows(1));
    Scene::new(&[("a.csv", &a), ("b.csv", &b)]).within(memory, threads)
}

fn at_most_at_once(told: &[Payload]) -> usize {
    let mut under_way: usize = 0;
    let counts = told.iter().map(|payload| {
        match payload.event_type() {
            EventType::StageStarted => under_way += 1,
            EventType::StageCompleted | EventType::StageErrored => under_way -= 1,
            _ => {}
        }
        under_way
    });
    counts.max().unwrap()
}

#[test]
fn as_many_at_once_as_there_are_threads_and_memory_for() {
    let in_order = scene(256 << 20, 4);
    let carried = in_order.carry_out(&job("ALL"), &[]).1.unwrap();
    assert_eq!(carried.verdict, Verdict::Unmatched);
    let bytes = |scene: &Scene, stage: &str| fs::read(scene.path(&format!("run/{stage}.parquet"))).unwrap();
    for (more, memory, threads, expected) in [
        ("", 256 << 20, 4, 3),
        ("", 256 << 20, 2, 2),
        ("", 100 << 20, 4, 2),
        ("", 256 << 20, 1, 1),
        ("", 48 << 20, 4, 1),
        ("\nmax_stage_concurrency: 2", 256 << 20, 4, 2),
        ("\nmax_stage_concurrency: 1", 256 << 20, 4, 1),
        ("\nmax_stage_concurrency: 9", 256 << 20, 4, 3),
    ] {
        let scene = scene(memory, threads);
        let (told, outcome) = scene.carry_out(&job(&format!("PARALLEL{more}")), &[]);
        assert_eq!(at_most_at_once(&told), expected, "{more}, {memory} bytes, {threads} threads");
        let found = outcome.unwrap();
        assert_eq!((found.verdict, &found.stages), (carried.verdict, &carried.stages));
        for stage in ["sides", "ids", "all"] {
            assert!(bytes(&scene, stage) == bytes(&in_order, stage), "other breaks of {stage}");
        }
        let started: Vec<&str> = (told.iter())
            .filter_map(|payload| match payload {
                Payload::StageStarted(started) => Some(started.stage_name.as_str()),
                _ => None,
            })
            .collect();
        assert_eq!(started, ["sides", "ids", "all"]);
        let extracted: Vec<u64> = (told.iter())
            .filter_map(|payload| match payload {
                Payload::ExtractionCompleted(completed) => Some(completed.rows_extracted),
                _ => None,
            })
            .collect();
        assert_eq!(extracted, [30_000, 30_000], "told once");
    }
}

#[test]
fn one_that_fails_ends_all() {
    // Two numbers of 38 digits are too much for one group, as they are in the first stage only.
    let nines = "9".repeat(38);
    let (a, b) = (rows(0) + &format!("0,x,{nines}\n0,y,{nines}\n"), rows(1));
    let scene = Scene::new(&[("a.csv", &a), ("b.csv", &b)]).within(256 << 20, 4);
    let (told, outcome) = scene.carry_out(&job("PARALLEL"), &[]);
    let reason = scene.reason(outcome);
    assert!(reason.starts_with("COMPARISON_FAILED: a: "), "{reason}");
    let count = |event: EventType| told.iter().filter(|payload| payload.event_type() == event).count();
    let ended = count(EventType::StageCompleted) + count(EventType::StageErrored);
    assert_eq!((count(EventType::StageStarted), ended), (3, 3), "{}", scene.shown(&told));
    assert_eq!((count(EventType::ComparisonErrored), count(EventType::ComparisonCompleted)), (1, 0));
    assert_eq!(scene.names_in("tmp"), [""; 0]);
}

#[test]
fn a_cancel_ends_all() {
    let scene = scene(256 << 20, 4);
    let mut told = Vec::new();
    let outcome = scene.watch(&job("PARALLEL"), &[], &mut |payload, progress| {
        told.push(payload.event_type());
        if told.iter().filter(|event| **event == EventType::StageStarted).count() == 2 {
            progress.cancel();
        }
    });
    assert_eq!(outcome.unwrap_err(), Stopped::Cancelled);
    assert!(!told.contains(&EventType::StageErrored) && !told.contains(&EventType::ComparisonErrored));
    assert_eq!(scene.names_in("tmp"), [""; 0]);
}
