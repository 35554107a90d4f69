//! What the events of an execution that something else started fold to, in the order of arrival and in any other.

use proptest::prelude::*;
use serde_json::{Value, json};
use trueup_events::envelope::Envelope;
use trueup_events::{Event, EventId, Mark, RunId, Time};
use trueup_lifecycle::{Cancel, Observation, Status, StepState};

#[expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]
fn event(fields: Value) -> Event {
    let Value::Object(mut members) = fields else { unreachable!("fields are an object") };
    members.insert("execution_id".to_owned(), json!(42));
    members.entry("step").or_insert_with(|| json!("start"));
    let envelope = Envelope::from_json(members.into()).unwrap();
    let tenant_id = "0a1b2c3d-4e5f-4607-8899-aabbccddeeff".parse().unwrap();
    envelope.into_event(tenant_id, EventId::new(7).unwrap(), Time::from_unix_us(0), "/elsewhere")
}

fn told(name: &str) -> Event {
    event(json!({ "event_type": name }))
}

fn fold<'a>(history: impl IntoIterator<Item = &'a Event>) -> Observation {
    let mut state = Observation::default();
    for event in history {
        state.observe(event);
    }
    state
}

#[test]
fn only_an_end_of_the_execution_ends_it() {
    let error = |code: &str| json!({ "error": { "code": code, "message": "m" } });
    let table = [
        (json!({ "event_type": "playbook.initialized" }), Status::Running),
        (json!({ "event_type": "playbook_started" }), Status::Running),
        (json!({ "event_type": "command.issued", "status": "STARTED" }), Status::Running),
        (json!({ "event_type": "step.exit" }), Status::Running),
        (json!({ "event_type": "step.failed" }), Status::Running),
        (json!({ "event_type": "call.done" }), Status::Running),
        (json!({ "event_type": "command.completed", "status": "COMPLETED" }), Status::Running),
        (json!({ "event_type": "workflow.task.completed" }), Status::Running),
        (json!({ "event_type": "completed" }), Status::Running),
        (json!({ "event_type": "playbook.completed" }), Status::Completed),
        (json!({ "event_type": "playbook_completed" }), Status::Completed),
        (json!({ "event_type": "PLAYBOOK.COMPLETED" }), Status::Completed),
        (json!({ "event_type": "playbook.failed" }), Status::Failed),
        (json!({ "event_type": "playbook.completed", "status": "FAILED" }), Status::Failed),
        (json!({ "event_type": "playbook.completed", "status": "RUNNING" }), Status::Completed),
        (json!({ "event_type": "playbook.paused", "status": "COMPLETED" }), Status::Running),
        (json!({ "event_type": "workflow.completed" }), Status::Completed),
        (json!({ "event_type": "workflow_execution_failed" }), Status::Failed),
        (json!({ "event_type": "execution.completed" }), Status::Completed),
        (json!({ "event_type": "execution.completed", "status": "FAILED" }), Status::Failed),
        (json!({ "event_type": "execution.completed", "payload": { "state": "timeout" } }), Status::Timeout),
        (json!({ "event_type": "execution.failed" }), Status::Failed),
        (json!({ "event_type": "execution.cancelled" }), Status::Cancelled),
        (json!({ "event_type": "execution.requested" }), Status::Requested),
        (json!({ "event_type": "execution.scheduled" }), Status::Scheduled),
        (
            json!({ "event_type": "execution.status_changed", "payload": { "state": "scheduled" } }),
            Status::Scheduled,
        ),
        (
            json!({ "event_type": "execution.status_changed", "payload": { "state": "completed" } }),
            Status::Running,
        ),
        (json!({ "event_type": "run.succeeded" }), Status::Completed),
        (json!({ "event_type": "run.finalised", "payload": { "result": "UNMATCHED" } }), Status::Completed),
        (json!({ "event_type": "run.finalised", "payload": error("QUERY_FAILED") }), Status::Failed),
        (json!({ "event_type": "run.finalised", "payload": error("TIMED_OUT") }), Status::Timeout),
        (json!({ "event_type": "run.cancelled", "payload": { "cancelled_by": "ann" } }), Status::Cancelled),
        // An attempt ended, and another may follow.
        (
            json!({ "event_type": "run.completed", "payload": { "workflow_name": "w", "result": "MATCHED" } }),
            Status::Running,
        ),
    ];
    for (fields, status) in table {
        assert_eq!(fold([&event(fields.clone())]).status, status, "{fields}");
    }
}

#[test]
fn a_step_is_completed_by_its_own_events() {
    let history = [
        event(json!({ "event_type": "playbook.initialized", "step": "tests/nightly" })),
        event(json!({ "event_type": "command.issued", "step": "start" })),
        event(json!({ "event_type": "step.exit", "step": "start" })),
        event(json!({ "event_type": "step.enter", "step": "load", "payload": { "path": "/data/in.csv" } })),
        event(json!({ "event_type": "run.stage.started", "payload": { "stage_name": "by-account" } })),
    ];
    let seen = fold(&history);
    let steps: Vec<_> = seen.steps.0.iter().map(|step| (step.name.as_str(), step.state)).collect();
    let running = StepState::Running;
    assert_eq!(steps, [("start", StepState::Completed), ("load", running), ("by-account", running)]);
    assert_eq!((seen.status, seen.name.as_deref()), (Status::Running, Some("tests/nightly")));
}

#[test]
fn what_moves_nothing_is_marked() {
    let mut state = fold([&told("step.enter")]);
    let aside = event(json!({ "event_type": "playbook.completed", "actionable": false }));
    assert_eq!(state.observe(&aside), Some(Mark::Noted));
    assert_eq!(state, fold([&told("step.enter")]));
    assert_eq!(state.observe(&told("playbook.completed")), None);
    for late in ["playbook.completed", "playbook.failed", "step.exit", "run.started"] {
        let before = state.clone();
        assert_eq!((state.observe(&told(late)), &state), (Some(Mark::Stale), &before), "{late}");
    }
}

#[test]
fn a_cancel_ends_what_has_not_ended() {
    let cancel = |by: &str| Cancel { by: by.to_owned(), at_ms: 5, reason: Some("loop".to_owned()) };
    let mut state = fold([&told("step.enter")]);
    let names: Vec<_> =
        state.cancel(cancel("ann")).unwrap().iter().map(|told| told.event_type().name()).collect();
    assert_eq!(names, ["run.cancel_requested", "run.cancelled"]);
    assert_eq!((state.status, state.cancel.clone()), (Status::Cancelled, Some(cancel("ann"))));
    assert_eq!(state.cancel(cancel("bob")), Err(Status::Cancelled));
    assert_eq!(fold([&told("playbook.failed")]).cancel(cancel("ann")), Err(Status::Failed));

    let asked = event(json!({
        "event_type": "run.cancel_requested", "created_at": "1970-01-01T00:00:00.005Z",
        "payload": { "cancelled_by": "eve", "reason": "loop" },
    }));
    let mut asked = fold([&told("step.enter"), &asked]);
    assert_eq!((asked.status, &asked.cancel), (Status::Running, &Some(cancel("eve"))));
    asked.cancel(cancel("ann")).unwrap();
    assert_eq!(asked.cancel, Some(cancel("eve")), "the first wish is kept");
}

/// Events that end nothing.
fn going_on() -> impl Strategy<Value = Event> {
    let names = [
        "playbook.initialized",
        "execution.requested",
        "step.enter",
        "step.exit",
        "step.failed",
        "call.done",
    ];
    (prop::sample::select(names.to_vec()), 0..4, any::<bool>()).prop_map(|(name, step, actionable)| {
        event(json!({ "event_type": name, "step": format!("step-{step}"), "actionable": actionable }))
    })
}

fn ends() -> impl Strategy<Value = Event> {
    let names = ["playbook.completed", "workflow.failed", "execution.cancelled", "execution.completed"];
    prop::sample::select(names.to_vec()).prop_map(told)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn a_history_with_one_end_folds_to_it_in_any_order(
        end in ends(),
        (shuffled, history) in prop::collection::vec(going_on(), 0..12)
            .prop_flat_map(|history| (Just(history.clone()).prop_shuffle(), Just(history))),
        place in any::<prop::sample::Index>(),
    ) {
        let mut disorder = shuffled;
        disorder.insert(place.index(disorder.len() + 1), end.clone());
        let ordered = fold(history.iter().chain([&end]));
        prop_assert_eq!(fold(&disorder).status, ordered.status);
        prop_assert_eq!(fold([&end]).status, ordered.status);
    }

    #[test]
    fn before_its_end_neither_order_nor_repetition_matters(
        (history, disorder) in prop::collection::vec(going_on(), 0..12).prop_flat_map(|history| {
            let twice = [history.clone(), history.clone()].concat();
            (Just(history), Just(twice).prop_shuffle())
        }),
    ) {
        let sorted = |mut state: Observation| {
            state.steps.0.sort_by(|one, other| one.name.cmp(&other.name));
            (state.status, state.steps)
        };
        prop_assert_eq!(sorted(fold(&history)), sorted(fold(&disorder)));
    }

    #[test]
    fn nothing_that_comes_after_an_end_changes_anything(
        history in prop::collection::vec(going_on(), 0..8),
        end in ends(),
        late in prop::collection::vec(prop_oneof![going_on(), ends()], 1..8),
    ) {
        let before = fold(history.iter().chain([&end]));
        let mut after = before.clone();
        for event in history.iter().chain([&end]).chain(&late) {
            prop_assert_eq!(after.observe(event), Some(Mark::Stale));
        }
        prop_assert_eq!(before, after);
    }
}

#[test]
fn an_execution_may_have_a_uuid() {
    let id: RunId = "3f0c1f5e-7d0b-4a55-9a6f-1f6f1a2b3c4d".parse().unwrap();
    assert_eq!(fold([&Event { run_id: id, ..told("workflow.completed") }]).status, Status::Completed);
}
