//! The smaller rules: what an error amounts to, whether it may pass, and who may wait.

use proptest::prelude::*;
use trueup_events::outcome::{ErrorCode, Reason, RunError};
use trueup_lifecycle::{Fact, Limits, QueueFull, classify, is_passing};

use crate::walk::errors;

fn facts() -> impl Strategy<Value = Fact> {
    prop_oneof![
        Just(Fact::DeadlinePassed),
        Just(Fact::OutOfMemory),
        errors().prop_map(|error| Fact::Said {
            reason: error.reason().unwrap_or(Reason::InvalidJob),
            message: error.message().to_owned(),
        }),
        any::<i32>().prop_map(Fact::Signalled),
        any::<i32>().prop_map(Fact::Exited),
        any::<String>().prop_map(Fact::Unseen),
        Just(Fact::WorkerSilent),
    ]
}

proptest! {
    #[test]
    fn evidence_amounts_to_the_same_in_any_order(
        (facts, shuffled) in prop::collection::vec(facts(), 0..6)
            .prop_flat_map(|facts| (Just(facts.clone()), Just(facts).prop_shuffle())),
    ) {
        let error = classify(&facts);
        prop_assert_eq!(&error, &classify(&shuffled));
        prop_assert_eq!(&error, &classify(&[facts, shuffled].concat()));
        prop_assert!(!error.message().is_empty());
        prop_assert!(error.reason().is_none_or(|reason| reason.code() == error.code()));
    }

    #[test]
    fn a_line_never_lets_in_more_than_it_holds(max in 0_u32..5, count in 0_u64..10) {
        let limits = Limits { max_running: Some(max), max_waiting: Some(max) };
        prop_assert!(limits.room(count) == 0 || limits.room(count) + count == u64::from(max));
        let full = QueueFull { waiting: count, max_waiting: max };
        prop_assert_eq!(limits.admit(count), if count < u64::from(max) { Ok(()) } else { Err(full) });
        prop_assert_eq!(Limits::default().room(count), u64::MAX);
        prop_assert_eq!(Limits::default().admit(count), Ok(()));
    }
}

#[test]
fn what_weighs_most_names_the_error() {
    let said = || Fact::Said { reason: Reason::SourceMissing, message: "no such table".to_owned() };
    let table: [(&[Fact], &str); 8] = [
        (&[], "UNKNOWN: the run ended, and nothing says why"),
        (
            &[Fact::WorkerSilent, Fact::Unseen("no such program".to_owned())],
            "CRASHED: the attempt could not be seen through: no such program",
        ),
        (&[Fact::Exited(3)], "CRASHED: the process ended with exit code 3 and said nothing"),
        (&[Fact::Exited(1), said()], "SOURCE_MISSING: no such table"),
        (
            &[Fact::Signalled(9), Fact::OutOfMemory],
            "OUT_OF_MEMORY: the run needed more memory than it may use",
        ),
        (&[Fact::Signalled(9)], "CRASHED: the process was ended by signal 9"),
        (
            &[Fact::Signalled(9), Fact::DeadlinePassed, said()],
            "DEADLINE_EXCEEDED: the run did not end before its deadline",
        ),
        (
            &[Fact::WorkerSilent],
            "WORKER_LOST: the worker was not heard of again, and nothing says how the run ended",
        ),
    ];
    for (facts, error) in table {
        assert_eq!(classify(facts).to_string(), error, "{facts:?}");
    }
}

#[test]
fn only_what_may_pass_is_tried_again() {
    let passing = [Reason::ConnectionFailed, Reason::OutOfMemory, Reason::QueueRejected, Reason::WorkerLost];
    for reason in Reason::ALL {
        let error = RunError::new(*reason, "");
        assert_eq!(is_passing(&error), passing.contains(reason), "{reason}");
    }
    for code in ErrorCode::ALL {
        let error = RunError::of_code(*code, "");
        assert_eq!(is_passing(&error), *code == ErrorCode::Crashed, "{code}");
    }
}
