//! What holds of every life, whatever is tried.

use std::collections::HashSet;

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use trueup_events::{EventType, Payload};
use trueup_lifecycle::{Run, State, Status};

use crate::walk::{Life, lives};

fn count(events: &[Payload], event_type: EventType) -> usize {
    events.iter().filter(|event| event.event_type() == event_type).count()
}

fn steps(life: &Life) -> impl Iterator<Item = (&Run, &Run)> {
    life.changes.iter().zip(&life.changes[1..]).map(|(before, after)| (&before.run, &after.run))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3_000))]

    #[test]
    fn an_end_is_for_good(life in lives()) {
        for (before, after) in steps(&life) {
            if before.state.status().is_terminal() {
                prop_assert_eq!(&before.state, &after.state);
                prop_assert_eq!(&before.cancel, &after.cancel);
                prop_assert!(before.beside.is_none() || before.beside == after.beside);
            }
        }
    }

    #[test]
    fn an_epoch_never_falls_and_each_new_owner_has_its_own(life in lives()) {
        for (before, after) in steps(&life) {
            prop_assert!(before.epoch <= after.epoch);
            let is_new_owner = match (&before.state, &after.state) {
                (State::Scheduling(was), State::Scheduling(is)) => was.submits < is.submits,
                (State::Scheduling(_) | State::Running(_), State::Scheduled(_)) => before.state.status() == Status::Running,
                (_, State::Scheduling(_) | State::Running(_)) => before.state.status() != after.state.status(),
                _ => false,
            };
            prop_assert_eq!(is_new_owner, before.epoch < after.epoch);
        }
    }

    #[test]
    fn no_attempt_is_made_beyond_what_the_job_allows(life in lives()) {
        let runs = life.changes.iter().map(|change| &change.run);
        let attempts = steps(&life).filter(|(before, after)| {
            before.state.status() == Status::Scheduled && after.state.status() == Status::Running
        });
        prop_assert!(attempts.count() <= 1 + life.run.policy.retries as usize);
        let deadlines = runs.filter_map(|run| match &run.state {
            State::Running(running) => Some(running.deadline_at_ms),
            _ => None,
        });
        prop_assert!(deadlines.collect::<HashSet<_>>().len() <= 1, "the first attempt sets the deadline");
    }

    #[test]
    fn a_run_that_is_over_has_said_so_once(life in lives()) {
        let history = life.history();
        let status = life.run.state.status();
        let is_cancelled = status == Status::Cancelled;
        prop_assert_eq!(count(&history, EventType::Cancelled), usize::from(is_cancelled));
        prop_assert_eq!(count(&history, EventType::Finalised), usize::from(status.is_terminal() && !is_cancelled));
        prop_assert_eq!(count(&history, EventType::ExecutionCompleted), usize::from(status.is_terminal()));
        prop_assert_eq!(count(&history, EventType::CancelRequested), usize::from(life.run.cancel.is_some()));
    }

    #[test]
    fn a_cancel_is_answered_by_the_table(life in lives()) {
        let is_answered = matches!(life.run.state.status(), Status::Running | Status::Cancelled | Status::Completed);
        prop_assert!(is_answered || life.run.cancel.is_none());
        prop_assert!(life.run.cancel.is_some() || life.run.state.status() != Status::Cancelled);
    }
}

/// The lives are worth something only if they get everywhere.
#[test]
fn lives_reach_every_state() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let mut reached = HashSet::new();
    let mut beside = 0;
    for _ in 0..2_000 {
        let life = lives().new_tree(&mut runner).expect("a life").current();
        reached.extend(life.changes.iter().map(|change| change.run.state.status()));
        beside += usize::from(life.run.beside.is_some());
    }
    assert_eq!(reached, HashSet::from(Status::ALL));
    assert!(beside > 0, "no late outcome in any life");
}
