//! What must hold in every state that can be reached, and what must be reachable for that to mean anything.

use stateright::Property;
use trueup_events::outcome::Outcome;
use trueup_lifecycle::{Claim, Ending, Hold, Lease, Running, Scheduled, Scheduling, State, Status};

use crate::model::System;
use crate::settle::is_over;
use crate::store::{Deed, Transaction};
use crate::world::{Executor, Message, Row, Worker, World};

pub(crate) const ONE_OUTCOME: &str = "a run has at most one outcome, and tells it once";
pub(crate) const ONE_ATTEMPT: &str = "at most one executor and one worker can commit";
pub(crate) const ATTEMPTS: &str = "a run has no more attempts than its job allows";
pub(crate) const CANCELS: &str = "the cancel table holds";
pub(crate) const CLAIM_FIRST: &str = "nothing is submitted before its claim is committed";
pub(crate) const ONE_ENGINE_ID: &str = "the engine knows a run by one id";
pub(crate) const SLOTS: &str = "a slot is held from the claim to the end";
pub(crate) const LOG: &str = "the log folds to the row";
pub(crate) const IN_TIME: &str = "no attempt starts past the deadline";
pub(crate) const ENDS: &str = "once faults stop, every run ends";

pub(crate) const SLOT_AWAITED: &str = "a run waits for a slot";
pub(crate) const SLOT_PASSED_ON: &str = "a run gets the slot of one that is over";
pub(crate) const COMPLETED: &str = "a run completes";
pub(crate) const FAILED: &str = "a run fails";
pub(crate) const TIMED_OUT: &str = "a run times out";
pub(crate) const CANCELLED: &str = "a run is cancelled";
pub(crate) const ABANDONED: &str = "a run is abandoned";
pub(crate) const CLAIM_TAKEN_OVER: &str = "a stale claim is taken over";
pub(crate) const HAND_OFF_TAKEN_OVER: &str = "a hand-off that the engine lost is taken over";
pub(crate) const SUBMIT_REPEATED: &str = "a repeated submit meets a run that the engine knows";
pub(crate) const ENGINE_BEHIND: &str = "the engine knows a run that is over";
pub(crate) const TAKEN_TWICE: &str = "two workers try to take one run";
pub(crate) const LEASE_LOST: &str = "a worker works on under a lost lease";
pub(crate) const OVERDUE: &str = "a run waits for another attempt past its deadline";
pub(crate) const PAUSES: &str = "a run pauses after an attempt that died";
pub(crate) const RETRIED: &str = "an attempt is retried";
pub(crate) const HANDED_BACK: &str = "another worker runs what one has handed back";
pub(crate) const ANSWERED: &str = "an engine answers for a run whose worker is silent";
pub(crate) const ANSWER_LATE: &str = "an engine's answer meets a run that is over";
pub(crate) const CANCEL_RACES_REPORT: &str = "a cancel comes between the load and the write of a report";
pub(crate) const CANCEL_STALE: &str = "a cancel is stale: the run completes";
pub(crate) const KEPT_BESIDE: &str = "a late outcome is kept beside the first";
pub(crate) const REPORT_REPEATED: &str = "a report is repeated after its commit";

pub(crate) fn properties() -> Vec<Property<System>> {
    let promises = [
        Property::always(ONE_OUTCOME, |_, world: &World| world.rows.iter().all(has_one_outcome)),
        Property::always(ONE_ATTEMPT, |_, world: &World| has_one_attempt(world)),
        Property::always(ATTEMPTS, |system: &System, world| {
            let again = system.policy.retries + u32::from(system.left.leaves - world.left.leaves);
            world.rows.iter().all(|row| u32::from(row.log.attempts) <= 1 + again)
        }),
        Property::always(CANCELS, |_, world: &World| world.rows.iter().all(keeps_cancel_table)),
        Property::always(CLAIM_FIRST, |_, world: &World| submits_what_is_claimed(world)),
        Property::always(ONE_ENGINE_ID, |_, world: &World| has_one_engine_id(world)),
        Property::always(SLOTS, |system: &System, world| keeps_slots(system, world)),
        Property::always(LOG, |_, world: &World| world.rows.iter().all(folds_to_row)),
        Property::always(IN_TIME, |_, world: &World| starts_in_time(world)),
        Property::always(ENDS, |system: &System, world| system.comes_to_an_end(world)),
    ];
    promises.into_iter().chain(situations()).collect()
}

fn has_one_outcome(row: &Row) -> bool {
    let (finalised, cancelled) = match row.run.state.status() {
        Status::Cancelled => (0, 1),
        status => (u8::from(status.is_terminal()), 0),
    };
    row.log.finalised == finalised
        && row.log.cancelled == cancelled
        && row.log.execution_completed == finalised + cancelled
}

/// A grant can commit while its epoch is the run's and the run is in the state that it is for.
fn has_one_attempt(world: &World) -> bool {
    let claims = world.executors.iter().filter_map(claim_of);
    let leases = world.workers.iter().filter_map(lease_of);
    (0..world.rows.len()).all(|at| {
        let run = &world.rows[at].run;
        let is_of = |id| id == run.ids.run_id;
        let is_held = |claim: &&Claim| is_of(claim.run_id()) && claim.epoch() == run.epoch;
        let is_leased = |lease: &&Lease| is_of(lease.run_id()) && lease.epoch() == run.epoch;
        match run.state {
            State::Scheduling(_) => claims.clone().filter(is_held).count() <= 1,
            State::Running(_) => leases.clone().filter(is_leased).count() <= 1,
            _ => true,
        }
    })
}

fn claim_of(executor: &Executor) -> Option<&Claim> {
    match executor {
        Executor::Holds(claim) | Executor::Submits(claim) => Some(claim),
        Executor::Writes(Transaction { deed: Deed::HandOff(claim) | Deed::SubmitFailed(claim), .. }) => {
            Some(claim)
        }
        Executor::Idle | Executor::Hears(..) | Executor::Writes(_) => None,
    }
}

fn lease_of(worker: &Worker) -> Option<&Lease> {
    match worker {
        Worker::Works { lease, .. }
        | Worker::Repeats(lease, _)
        | Worker::Writes(Transaction {
            deed: Deed::Heartbeat(lease) | Deed::Report(lease, _) | Deed::HandBack(lease),
            ..
        }) => Some(lease),
        Worker::Idle | Worker::Writes(_) => None,
    }
}

/// Before the start a cancel ends a run at once; after it, only a result stands against it. No cancel that was told is forgotten.
fn keeps_cancel_table(row: &Row) -> bool {
    let status = row.run.state.status();
    let is_asked = row.run.cancel.is_some();
    let is_answered = matches!(status, Status::Running | Status::Cancelled | Status::Completed);
    row.log.cancel_requested == u8::from(is_asked)
        && (is_answered || !is_asked)
        && (is_asked || status != Status::Cancelled)
}

fn submits_what_is_claimed(world: &World) -> bool {
    let is_claimed = |run: usize| world.rows[run].run.state != State::Requested;
    let are_sent = world.engine.mail.iter().all(|message| match message {
        Message::Submit(id) => is_claimed(id.run),
        Message::Withdraw(_) => true,
    });
    are_sent && world.engine.knows.iter().all(|id| is_claimed(id.run))
}

fn has_one_engine_id(world: &World) -> bool {
    (0..world.rows.len()).all(|run| world.engine.knows.iter().filter(|id| id.run == run).count() <= 1)
}

fn keeps_slots(system: &System, world: &World) -> bool {
    let holding = world.rows.iter().filter(|row| row.run.state.status().holds_slot()).count();
    let is_exact = i8::try_from(holding).is_ok_and(|holding| holding == world.slots);
    is_exact && system.limits.max_running.is_none_or(|max| holding <= max as usize)
}

fn starts_in_time(world: &World) -> bool {
    world.workers.iter().all(|worker| match worker {
        Worker::Writes(Transaction { deed: Deed::Take(_), loaded, now_ms, .. }) => match &loaded.state {
            State::Scheduled(scheduled) => scheduled.deadline_at_ms.is_none_or(|deadline| *now_ms < deadline),
            _ => true,
        },
        _ => true,
    })
}

/// A claim is no event: until the hand-off the log shows what the run was before it, or that it pauses between attempts.
fn folds_to_row(row: &Row) -> bool {
    let (run, folded) = (&row.run, &row.log.folded);
    let is_status_told = match run.state.status() {
        Status::Scheduling => {
            matches!(folded.status, Status::Requested | Status::Scheduled | Status::Scheduling)
        }
        status => folded.status == status,
    };
    let ending = match &run.state {
        State::Finished(finished) => Some(&finished.ending),
        _ => None,
    };
    let beside = run.beside.clone().map(Ending::Concluded);
    is_status_told && folded.ending.as_ref() == ending && folded.beside == beside && folded.epoch <= run.epoch
}

/// Situations without which the search would prove nothing.
fn situations() -> Vec<Property<System>> {
    let any = |name, condition: fn(&System, &World) -> bool| Property::sometimes(name, condition);
    vec![
        any(SLOT_AWAITED, |_, world| {
            world.slots > 0 && any_row(world, |row| row.run.state == State::Requested)
        }),
        any(SLOT_PASSED_ON, |_, world| world.slots > 0 && any_row(world, |row| is_over(&row.run))),
        any(COMPLETED, |_, world| any_row(world, |row| status(row) == Status::Completed)),
        any(FAILED, |_, world| any_row(world, |row| status(row) == Status::Failed)),
        any(TIMED_OUT, |_, world| any_row(world, |row| status(row) == Status::Timeout)),
        any(CANCELLED, |_, world| any_row(world, |row| status(row) == Status::Cancelled)),
        any(ABANDONED, |_, world| any_row(world, |row| status(row) == Status::Abandoned)),
        any(CLAIM_TAKEN_OVER, |_, world| {
            any_row(world, |row| {
                let is_claimed = |hold: &Hold| matches!(hold, Hold::Claimed { .. });
                row.log.folded.status == Status::Requested
                    && matches!(&row.run.state, State::Scheduling(Scheduling { hold, submits: 2, .. }) if is_claimed(hold))
            })
        }),
        any(HAND_OFF_TAKEN_OVER, |_, world| {
            any_row(world, |row| {
                status(row) == Status::Scheduling && row.log.folded.status == Status::Scheduled
            })
        }),
        any(SUBMIT_REPEATED, |_, world| {
            let knows =
                |message: &Message| matches!(message, Message::Submit(id) if world.engine.knows.contains(id));
            world.engine.mail.iter().any(knows)
        }),
        any(ENGINE_BEHIND, |_, world| world.engine.knows.iter().any(|id| is_over(&world.rows[id.run].run))),
        any(TAKEN_TWICE, |_, world| {
            let takes =
                |worker: &Worker| matches!(worker, Worker::Writes(Transaction { deed: Deed::Take(_), .. }));
            world.workers.iter().all(takes)
        }),
        any(LEASE_LOST, |_, world| {
            let leases = world.workers.iter().filter_map(lease_of);
            leases.into_iter().any(|lease| {
                any_row(world, |row| row.run.ids.run_id == lease.run_id() && row.run.epoch > lease.epoch())
            })
        }),
        any(OVERDUE, |_, world| {
            any_row(world, |row| match &row.run.state {
                State::Scheduled(Scheduled { deadline_at_ms, .. })
                | State::Scheduling(Scheduling { deadline_at_ms, .. }) => {
                    deadline_at_ms.is_some_and(|deadline| world.now_ms >= deadline)
                }
                _ => false,
            })
        }),
        any(PAUSES, |_, world| {
            any_row(world, |row| {
                let is_off =
                    |hold: &Hold| matches!(hold, Hold::BackingOff { until_ms } if *until_ms > world.now_ms);
                matches!(&row.run.state, State::Scheduling(Scheduling { hold, attempt: 2, .. }) if is_off(hold))
            })
        }),
        any(RETRIED, |_, world| {
            any_row(world, |row| match &row.run.state {
                State::Scheduled(Scheduled { attempt, .. }) | State::Running(Running { attempt, .. }) => {
                    *attempt == 2
                }
                _ => false,
            })
        }),
        any(HANDED_BACK, |system, world| {
            world.left.leaves < system.left.leaves
                && any_row(world, |row| {
                    matches!(&row.run.state, State::Running(running) if running.attempt == 1)
                        && row.log.attempts == 2
                })
        }),
        any(ANSWERED, |_, world| {
            world.executors.iter().any(|executor| {
                matches!(executor, Executor::Hears(run, _) if status(&world.rows[*run]) == Status::Running)
            })
        }),
        any(ANSWER_LATE, |_, world| {
            world
                .executors
                .iter()
                .any(|executor| matches!(executor, Executor::Hears(run, _) if is_over(&world.rows[*run].run)))
        }),
        any(CANCEL_RACES_REPORT, |_, world| {
            world.workers.iter().any(|worker| match worker {
                Worker::Writes(Transaction { run, deed: Deed::Report(..), loaded, .. }) => {
                    loaded.cancel.is_none() && world.rows[*run].run.cancel.is_some()
                }
                _ => false,
            })
        }),
        any(CANCEL_STALE, |_, world| {
            any_row(world, |row| status(row) == Status::Completed && row.run.cancel.is_some())
        }),
        any(KEPT_BESIDE, |_, world| any_row(world, |row| matches!(row.run.beside, Some(Outcome::Result(_))))),
        any(REPORT_REPEATED, |_, world| {
            world.workers.iter().any(|worker| match worker {
                Worker::Repeats(lease, _) => any_row(world, |row| {
                    row.run.ids.run_id == lease.run_id()
                        && is_over(&row.run)
                        && row.run.epoch == lease.epoch()
                }),
                _ => false,
            })
        }),
    ]
}

fn any_row(world: &World, holds: impl Fn(&Row) -> bool) -> bool {
    world.rows.iter().any(holds)
}

fn status(row: &Row) -> Status {
    row.run.state.status()
}
