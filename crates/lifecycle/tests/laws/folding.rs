//! What a history folds to, in the order of the log and in any other.

use proptest::prelude::*;
use trueup_events::Payload;
use trueup_events::outcome::{Outcome, Verdict};
use trueup_events::payload::{Cancelled, Finalised};
use trueup_lifecycle::{Ending, Folded, Run, State, Status, fold};

use crate::walk::{errors, lives};

/// A life with its history in another order, some of it twice.
fn disorders() -> impl Strategy<Value = (Run, Vec<Payload>, Vec<Payload>)> {
    lives().prop_flat_map(|life| {
        let history = life.history();
        let repeated = prop::collection::vec(prop::sample::select(history.clone()), 0..6);
        repeated.prop_flat_map(move |repeated| {
            let (run, history) = (life.run.clone(), history.clone());
            let all = [history.clone(), repeated].concat();
            Just(all).prop_shuffle().prop_map(move |disorder| (run.clone(), history.clone(), disorder))
        })
    })
}

fn ending(run: &Run) -> Option<Ending> {
    match &run.state {
        State::Finished(finished) => Some(finished.ending.clone()),
        _ => None,
    }
}

fn endings() -> impl Strategy<Value = Ending> {
    prop_oneof![
        Just(Ending::Cancelled),
        prop::sample::select(Verdict::ALL.to_vec())
            .prop_map(|verdict| Ending::Concluded(Outcome::Result(verdict))),
        errors().prop_map(|error| Ending::Concluded(Outcome::Error(error))),
    ]
}

fn told(ending: &Ending) -> Payload {
    match ending {
        Ending::Concluded(outcome) => Finalised { outcome: outcome.clone() }.into(),
        Ending::Cancelled => Cancelled { cancelled_by: "ann".to_owned(), reason: String::new() }.into(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    /// A claim is no event: until the hand-off the history shows what the run was before it.
    #[test]
    fn the_log_folds_to_the_run(life in lives()) {
        let Folded { status, epoch, ending: end, beside } = fold(&life.history());
        match life.run.state.status() {
            Status::Scheduling => {
                prop_assert!(matches!(status, Status::Requested | Status::Scheduled | Status::Scheduling));
            }
            is => prop_assert_eq!(status, is),
        }
        prop_assert!(epoch <= life.run.epoch);
        prop_assert_eq!(end, ending(&life.run));
        prop_assert_eq!(beside, life.run.beside.map(Ending::Concluded));
    }

    #[test]
    fn a_history_folds_to_its_outcome_in_any_order((run, history, disorder) in disorders()) {
        let (ordered, disordered) = (fold(&history), fold(&disorder));
        prop_assert_eq!(disordered.ending, ending(&run));
        prop_assert_eq!(disordered.epoch, ordered.epoch);
        prop_assert_eq!(disordered.status, ordered.status);
    }

    #[test]
    fn nothing_that_comes_later_changes_an_end((_, history, disorder) in disorders()) {
        let before = fold(&history);
        prop_assume!(before.ending.is_some());
        let after = fold(history.iter().chain(&disorder));
        prop_assert_eq!((before.status, before.ending), (after.status, after.ending));
    }

    #[test]
    fn of_two_ends_the_first_stands_and_the_other_is_kept_beside(
        (_, history, later) in disorders(),
        first in endings(),
        second in endings(),
    ) {
        let is_end = |event: &&Payload| matches!(event, Payload::Finalised(_) | Payload::Cancelled(_));
        let is_report = |event: &&Payload| matches!(event, Payload::Completed(_) | Payload::Errored(_));
        let before = history.iter().filter(|event| !is_end(event));
        let (first_told, second_told) = (told(&first), told(&second));
        let after = later.iter().filter(|event| !is_end(event) && !is_report(event));
        let folded = fold(before.chain([&first_told]).chain(after).chain([&second_told]));
        prop_assert_eq!(folded.status, first.status());
        prop_assert_eq!(folded.beside, (first != second).then_some(second));
        prop_assert_eq!(folded.ending, Some(first));
    }
}
