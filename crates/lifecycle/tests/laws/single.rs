//! The smaller rules: what an error amounts to, whether it may pass, and who may wait.

use proptest::prelude::*;
use trueup_events::outcome::{ErrorCode, Outcome, Reason, RunError};
use trueup_events::payload::Mode;
use trueup_events::{Ids, JobId, RunId, TenantId};
use trueup_lifecycle::{
    Fact, Hold, Limits, Policy, QueueFull, Refusal, Report, Request, Run, Scheduling, Settings, State,
    classify, is_passing,
};
use uuid::Uuid;

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

/// Lets every attempt of a run die at once, and says how long it paused after each that another followed.
fn pauses(policy: Policy, settings: &Settings) -> Vec<i64> {
    let ids = Ids { run_id: RunId::Number(1), job_id: JobId(Uuid::nil()), tenant_id: TenantId(Uuid::nil()) };
    let request = Request { mode: Mode::Immediate, by: "ann".to_owned(), queue: "default".to_owned() };
    let died = Report::Ended(Outcome::Error(RunError::new(Reason::ConnectionFailed, "refused")));
    let (mut run, mut now_ms, mut pauses) = (Run::request(ids, policy, &request).run, 0, Vec::new());
    loop {
        let (change, claim) = run.claim("executor", now_ms, settings).expect("it may");
        let change = change.run.hand_off(&claim, now_ms, settings).expect("it may");
        let (change, lease) = change.run.take("worker", now_ms, settings).expect("it may");
        run = change.run.report(&lease, &died, now_ms, settings).expect("it may").run;
        let State::Scheduling(Scheduling { hold: Hold::BackingOff { until_ms }, submits: 0, .. }) = run.state
        else {
            return pauses;
        };
        let early = run.claim("executor", until_ms - 1, settings);
        assert!(until_ms == now_ms || matches!(early, Err(Refusal::Early { .. })), "{early:?}");
        pauses.push(until_ms - now_ms);
        now_ms = until_ms;
    }
}

#[test]
fn an_attempt_that_died_is_followed_by_a_pause_that_doubles() {
    let settings = Settings { reconcile_grace_ms: 10_000, ..Settings::default() };
    let table: [(Policy, &[i64]); 4] = [
        (Policy { retries: 0, ..Policy::default() }, &[]),
        (Policy { retries: 2, ..Policy::default() }, &[1_000, 2_000]),
        (Policy { retries: 6, ..Policy::default() }, &[1_000, 2_000, 4_000, 8_000, 10_000, 10_000]),
        // Half of the time that is left, at most.
        (Policy { retries: 4, deadline_ms: 5_000 }, &[1_000, 2_000, 1_000, 500]),
    ];
    for (policy, expected) in table {
        assert_eq!(pauses(policy, &settings), expected, "{policy:?}");
    }
}
