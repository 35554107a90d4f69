//! A job that is called off, at whatever step, leaves nothing behind.

use trueup_events::EventType;
use trueup_reconcile::Stopped;

use crate::scene::Scene;

#[test]
fn at_every_step() {
    let rows = |shift: usize| {
        let lines = (0..50_000).map(|id| format!("{id},{}\n", id + shift));
        "id,amount\n".to_owned() + &lines.collect::<String>()
    };
    let (a, b) = (rows(0), rows(1));
    let scene = Scene::new(&[("a.csv", &a), ("b.csv", &b)]);
    let job = "
name: big
sources: {a: {file: a.csv}, b: {file: b.csv}}
dimensions: [id]
measures: [{name: amount, aggregate: sum}]
stages: [{name: first}, {name: second}]
";
    for step in [EventType::ExtractionStarted, EventType::ComparisonStarted, EventType::StageStarted] {
        let mut told = Vec::new();
        let outcome = scene.watch(job, &[], &mut |payload, progress| {
            told.push(payload.event_type());
            if payload.event_type() == step {
                progress.cancel();
            }
        });
        assert_eq!(outcome.unwrap_err(), Stopped::Cancelled, "at {step}");
        let ends = [EventType::ComparisonCompleted, EventType::ComparisonErrored, EventType::StageErrored];
        assert!(!told.iter().any(|event| ends.contains(event)), "{told:?}");
        for folder in ["run", "tmp"] {
            assert_eq!(scene.names_in(folder), [""; 0], "{folder} at {step}");
        }
    }
}

#[test]
fn what_a_stage_found_stays() {
    let scene = Scene::new(&[("a.csv", "id,n\n1,1\n"), ("b.csv", "id,n\n1,2\n")]);
    let job = "
name: two
sources: {a: {file: a.csv}, b: {file: b.csv}}
dimensions: [id]
measures: [{name: n, aggregate: sum}]
stages: [{name: first}, {name: second}]
";
    let outcome = scene.watch(job, &[], &mut |payload, progress| {
        if payload.event_type() == EventType::StageCompleted {
            progress.cancel();
        }
    });
    assert_eq!(outcome.unwrap_err(), Stopped::Cancelled);
    assert_eq!(scene.names_in("run"), ["first.parquet"]);
}
