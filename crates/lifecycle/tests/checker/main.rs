//! A model checker over the code that production runs: every order of steps and faults, within bounds, and what must hold in each.
//!
//! `cargo test -p trueup-lifecycle --test checker -- --nocapture` also prints how many states were looked at.
//!
//! What is modelled: two executors, two workers, a person who cancels, and an engine, over a store of one or two runs in a queue with one
//! slot. The runs are [`trueup_lifecycle::Run`]s, and every change of them is the answer of one of its verbs. A transaction loads a run,
//! asks, and writes only over what it loaded, with its events and its slot; in the split systems anybody may come between its load and
//! its write. Executors claim, submit and hand off, and sweep stale claims, lost hand-offs and leases that ran out, one run at a time.
//! Workers take what the engine starts, prolong their leases, report, and give back what they cannot finish; of a run that is silent the
//! engine may say how it ended. A process may die between any two of its steps; a message to
//! the engine may be lost, repeated, late or overtaken; the engine may forget a run, or start it at both workers; an acknowledgement may
//! be lost; a cancel may come at any time; and the store's clock, which alone decides, goes on whenever it likes.
//!
//! What is left out: the rest of the log (only what it folds to and how often it tells what is kept), when a run ended, progress,
//! retention, and the waiting line's limit. How many faults, cancels and ticks of the clock there are is bounded, as is every period (one
//! or two ticks), so that every state can be looked at. Where transactions are not split nothing is lost: one that succeeds has seen
//! nobody else's write, so that it could as well have loaded when it wrote; the split systems check that argument too.
//!
//! Each known way of getting it wrong is kept as a [`Defect`], and the checker has to find it.

mod action;
mod model;
mod properties;
mod settle;
mod store;
mod world;

use std::collections::{BTreeSet, HashSet};
use std::sync::Mutex;

use stateright::{Checker, HasDiscoveries, Model};
use trueup_lifecycle::{Limits, Policy, Settings};

use crate::model::{Defect, System};
use crate::properties::{
    ABANDONED, ANSWER_LATE, ANSWERED, CANCEL_RACES_REPORT, CANCEL_STALE, CANCELLED, CANCELS, CLAIM_FIRST,
    ENDS, HAND_OFF_TAKEN_OVER, HANDED_BACK, IN_TIME, LEASE_LOST, ONE_ENGINE_ID, ONE_OUTCOME, OVERDUE, PAUSES,
    RETRIED, SLOT_AWAITED, SLOT_PASSED_ON, SLOTS, TAKEN_TWICE, TIMED_OUT,
};
use crate::world::Left;

fn system(runs: usize, is_split: bool, retries: u32, left: Left) -> System {
    System {
        runs,
        limits: Limits { max_running: Some(1), max_waiting: None },
        policy: Policy { deadline_ms: 2, retries },
        settings: Settings { lease_ms: 1, reconcile_grace_ms: 1, max_submit_attempts: 2, backoff_ms: 1 },
        left,
        is_split,
        defect: None,
        settled: Mutex::new(HashSet::new()),
    }
}

/// Looks at every state: all promises must hold, and all situations but those that this system is too small for must occur.
fn check(system: System, too_small_for: &[&[&str]]) {
    let name = format!("{} run(s), split: {}, {:?}", system.runs, system.is_split, system.left);
    let checker = system.checker().threads(2).spawn_bfs().join();
    println!("{name}: {} states, {} steps", checker.unique_state_count(), checker.state_count());
    let mut not_reached = BTreeSet::new();
    for property in checker.model().properties() {
        match (checker.discovery(property.name), property.expectation.discovery_is_failure()) {
            (Some(path), true) => {
                let (last, steps) = (path.last_state().clone(), path.into_actions());
                panic!("not so: {}\nafter {steps:#?}\nin {last:#?}", property.name);
            }
            (None, false) => {
                not_reached.insert(property.name);
            }
            _ => {}
        }
    }
    let too_small_for = too_small_for.concat().into_iter().collect();
    assert_eq!(not_reached, too_small_for, "what the search does not reach");
}

/// What one run alone never gets into.
const ALONE: [&str; 2] = [SLOT_AWAITED, SLOT_PASSED_ON];
/// What never happens where workers stay and the engine does not answer for them.
const STEADY: [&str; 3] = [HANDED_BACK, ANSWERED, ANSWER_LATE];

/// What no run comes to that is retried: a pause and two leases take all of its time, so that its worker is lost past its deadline.
const RETRYING: [&str; 1] = [ABANDONED];

#[test]
fn one_run_with_several_faults_and_a_retry() {
    let left = Left { faults: 2, cancels: 1, ticks: 2, ..Left::default() };
    check(system(1, false, 1, left), &[&ALONE, &STEADY, &RETRYING, &[TAKEN_TWICE]]);
}

#[test]
fn one_run_that_workers_leave() {
    let left = Left { faults: 1, cancels: 1, leaves: 1, answers: 1, ticks: 2 };
    check(system(1, false, 1, left), &[&ALONE, &RETRYING, &[TAKEN_TWICE]]);
}

#[test]
fn one_run_with_races_between_leaving_and_answering() {
    let left = Left { cancels: 1, leaves: 1, answers: 1, ticks: 1, ..Left::default() };
    check(
        system(1, true, 0, left),
        &[&ALONE, &[TIMED_OUT, HAND_OFF_TAKEN_OVER, LEASE_LOST, OVERDUE, PAUSES, RETRIED]],
    );
}

#[test]
fn one_run_with_races_inside_transactions() {
    let left = Left { faults: 1, cancels: 1, ticks: 1, ..Left::default() };
    check(system(1, true, 1, left), &[&ALONE, &STEADY, &RETRYING, &[TIMED_OUT, OVERDUE]]);
}

#[test]
fn one_run_that_is_cancelled_twice() {
    let left = Left { cancels: 2, ticks: 1, ..Left::default() };
    let too_small_for = [TIMED_OUT, HAND_OFF_TAKEN_OVER, LEASE_LOST, OVERDUE, PAUSES, RETRIED];
    check(system(1, true, 0, left), &[&ALONE, &STEADY, &too_small_for]);
}

#[test]
fn two_runs_that_share_a_slot() {
    let left = Left { faults: 1, cancels: 1, ticks: 1, ..Left::default() };
    check(
        system(2, false, 0, left),
        &[&STEADY, &[TIMED_OUT, TAKEN_TWICE, LEASE_LOST, OVERDUE, PAUSES, RETRIED]],
    );
}

#[test]
fn two_runs_with_races_inside_transactions() {
    let left = Left { ticks: 1, ..Left::default() };
    let no_cancel = [CANCELLED, CANCEL_RACES_REPORT, CANCEL_STALE];
    let too_small_for = [TIMED_OUT, HAND_OFF_TAKEN_OVER, LEASE_LOST, OVERDUE, PAUSES, RETRIED];
    check(system(2, true, 0, left), &[&STEADY, &no_cancel, &too_small_for]);
}

/// Shows that a broken system is found out, by the promise that it breaks.
fn catch(defect: Defect, broken: &'static str, system: System) {
    let system = System { defect: Some(defect), ..system };
    let found = HasDiscoveries::AllOf(BTreeSet::from([broken]));
    let checker = system.checker().threads(2).finish_when(found).spawn_bfs().join();
    let steps = checker.discovery(broken).map(stateright::Path::into_actions);
    let steps = steps.unwrap_or_else(|| panic!("{defect:?} goes unnoticed: {broken}"));
    println!("{defect:?} is found out after {} states: {steps:?}", checker.unique_state_count());
}

#[test]
fn every_defect_is_found() {
    let quiet = Left::default();
    let ticking = Left { ticks: 1, ..quiet };
    let cancelled = Left { cancels: 1, ..quiet };
    let faulty = Left { faults: 1, ..quiet };
    let (split, whole) = (true, false);
    catch(Defect::NoEpochCheck, ONE_OUTCOME, system(1, split, 0, ticking));
    catch(Defect::RowNotLocked, CANCELS, system(1, split, 0, cancelled));
    catch(Defect::QueueNotLocked, SLOTS, system(2, split, 0, quiet));
    catch(Defect::SubmitBeforeClaim, CLAIM_FIRST, system(1, split, 0, quiet));
    catch(Defect::EngineIdOfClaim, ONE_ENGINE_ID, system(1, whole, 0, ticking));
    catch(Defect::LimitBeforeFilter, ENDS, system(2, whole, 0, faulty));
    catch(Defect::CancelLostBeforeStart, CANCELS, system(1, whole, 0, cancelled));
    let short = Policy { deadline_ms: 1, retries: 1 };
    let retried = System { policy: short, ..system(1, split, 1, ticking) };
    catch(Defect::TakenPastDeadline, IN_TIME, retried);
    catch(Defect::CancelLostByHandBack, CANCELS, system(1, whole, 0, Left { leaves: 1, ..cancelled }));
    catch(Defect::SlotFreedByMessage, SLOTS, system(1, whole, 0, faulty));
}
