//! What can happen next: every step of every actor, and every fault.

use std::collections::HashSet;
use std::sync::{Arc, Mutex};

use stateright::{Model, Property};
use trueup_events::payload::Mode;
use trueup_events::{Ids, JobId, RunId, TenantId};
use trueup_lifecycle::{
    Claim, Hold, Lease, Limits, Policy, Refusal, Report, Request, Run, Scheduling, Settings, State,
};
use uuid::Uuid;

use crate::action::{Action, Said};
use crate::properties::properties;
use crate::store::{Deed, Grant, Transaction};
use crate::world::{
    Actor, EXECUTORS, Engine, EngineId, Executor, Left, Log, Message, Row, WORKERS, Worker, World,
};

/// The system under the checker: how large it is, how much may go wrong, and what is broken in it.
pub(crate) struct System {
    pub runs: usize,
    pub limits: Limits,
    pub policy: Policy,
    pub settings: Settings,
    pub left: Left,
    /// Whether others may come between the load and the write of every transaction, or of reports alone.
    pub is_split: bool,
    pub defect: Option<Defect>,
    /// The states that are known to come to an end; see `settle`.
    pub settled: Mutex<HashSet<u64>>,
}

/// A known way of getting it wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Defect {
    /// A write takes no notice of who has written since the load.
    NoEpochCheck,
    /// A write compares the epoch and the status, but the row was not locked from the load on.
    RowNotLocked,
    /// A claim counts the slots in use, but the queue is not locked from then on.
    QueueNotLocked,
    /// The engine is called before the claim is committed.
    SubmitBeforeClaim,
    /// The engine's id changes with the claim.
    EngineIdOfClaim,
    /// A sweep takes the first few runs and then looks which of them need it.
    LimitBeforeFilter,
    /// A cancel before the start only sets the flag.
    CancelLostBeforeStart,
    /// A worker gives a run back, and nobody looks whether it was to end.
    CancelLostByHandBack,
    /// A worker takes a run whatever its deadline.
    TakenPastDeadline,
    /// Each message that a run is complete frees a slot, not only the one that ends it.
    SlotFreedByMessage,
}

impl Model for System {
    type State = World;
    type Action = Action;

    fn init_states(&self) -> Vec<World> {
        let request = Request { mode: Mode::Immediate, by: "ann".to_owned(), queue: "default".to_owned() };
        let row = |number| {
            let ids = Ids {
                run_id: RunId::Number(number),
                job_id: JobId(Uuid::nil()),
                tenant_id: TenantId(Uuid::nil()),
            };
            let change = Run::request(ids, self.policy, &request);
            Row { run: Arc::new(change.run), log: Log::new(&change.events) }
        };
        vec![World {
            now_ms: 0,
            rows: (0..self.runs as u64).map(row).collect(),
            checked: (0..self.runs).collect(),
            slots: 0,
            executors: [Executor::Idle, Executor::Idle],
            workers: [Worker::Idle, Worker::Idle],
            person: None,
            engine: Engine::default(),
            left: self.left,
        }]
    }

    fn actions(&self, world: &World, actions: &mut Vec<Action>) {
        if world.left.ticks > 0 {
            actions.push(Action::Tick);
        }
        if world.left.cancels > 0 && world.person.is_none() {
            actions.extend((0..self.runs).map(Action::Cancel));
        }
        actions.extend(actors().flat_map(|actor| self.turns(world, actor)));
        actions.extend(world.engine.mail.iter().map(|message| Action::Deliver(*message)));
        if world.left.faults > 0 {
            actions.extend(actors().map(Action::Crash));
            actions.extend((0..WORKERS.len()).map(Action::WriteUnheard));
            let mail = world.engine.mail.iter().copied();
            actions.extend(mail.flat_map(|message| [Action::Lose(message), Action::Repeat(message)]));
            actions.extend(world.engine.knows.iter().map(|id| Action::Forget(*id)));
        }
    }

    fn next_state(&self, world: &World, action: Action) -> Option<World> {
        let mut next = world.clone();
        self.apply(&mut next, action)?;
        if !self.is_split {
            self.write_at_once(&mut next);
        }
        (next != *world).then_some(next)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        properties()
    }
}

pub(crate) fn actors() -> impl Iterator<Item = Actor> {
    let executors = (0..EXECUTORS.len()).map(Actor::Executor);
    executors.chain((0..WORKERS.len()).map(Actor::Worker)).chain([Actor::Person])
}

/// The row that a run is in: the model numbers them.
fn row_of(run_id: RunId) -> usize {
    match run_id {
        RunId::Number(number) => number as usize,
        RunId::Uuid(_) => unreachable!("modelled runs have numbers"),
    }
}

impl System {
    /// What an actor may try next; faults aside.
    pub(crate) fn turns(&self, world: &World, actor: Actor) -> Vec<Action> {
        match actor {
            Actor::Executor(at) => match world.executors[at] {
                Executor::Idle => vec![
                    Action::Claim(at),
                    Action::SweepClaims(at),
                    Action::SweepHandOffs(at),
                    Action::SweepLeases(at),
                    Action::Hear(at, Said::Matched),
                    Action::Hear(at, Said::Crashed),
                    Action::Hear(at, Said::Stopped),
                ],
                Executor::Hears(..) => vec![Action::Answer(at)],
                Executor::Writes(_) if self.defect == Some(Defect::SubmitBeforeClaim) => {
                    vec![Action::Write(actor), Action::Submit(at)]
                }
                Executor::Writes(_) => vec![Action::Write(actor)],
                Executor::Holds(_) => vec![Action::Submit(at)],
                Executor::Submits(_) => vec![Action::Accepted(at), Action::NoAnswer(at)],
            },
            Actor::Worker(at) => match world.workers[at] {
                Worker::Idle => (0..self.runs).map(|run| Action::Start(at, run)).collect(),
                Worker::Writes(_) => vec![Action::Write(actor)],
                Worker::Works { .. } => vec![
                    Action::Report(at, Said::Matched),
                    Action::Report(at, Said::Crashed),
                    Action::Report(at, Said::Stopped),
                    Action::Heartbeat(at),
                    Action::HandBack(at),
                ],
                Worker::Repeats(..) => vec![Action::ReportAgain(at)],
            },
            Actor::Person => world.person.iter().map(|_| Action::Write(actor)).collect(),
        }
    }

    /// Does a step; none says that it cannot be done now.
    pub(crate) fn apply(&self, world: &mut World, action: Action) -> Option<()> {
        match action {
            Action::Tick => {
                world.left.ticks = world.left.ticks.checked_sub(1)?;
                world.now_ms += 1;
            }
            Action::Cancel(run) => {
                world.left.cancels = world.left.cancels.checked_sub(1)?;
                let is_free = world.person.is_none();
                world.person = Some(self.load(world, run, Deed::Cancel).ok().filter(|_| is_free)?);
            }
            Action::Claim(at) => self.claim(world, at)?,
            Action::SweepClaims(at) => self.sweep_claims(world, at)?,
            Action::SweepHandOffs(at) => self.sweep_hand_offs(world, at)?,
            Action::SweepLeases(at) => {
                let is_out = |run: &Run| run.expire(world.now_ms, &self.settings).is_ok();
                let run = self.find(world, is_out)?;
                self.executor_loads(world, at, run, Deed::Expire)?;
            }
            Action::Hear(at, said) => self.hear(world, at, said)?,
            Action::Answer(at) => {
                let Executor::Hears(run, said) = world.executors[at] else { return None };
                // Whoever was faster is right, and there is nothing to withdraw: the engine is done with it.
                let loaded = self.load(world, run, Deed::Answer(said.report()));
                world.executors[at] = loaded.map_or(Executor::Idle, Executor::Writes);
            }
            Action::Submit(at) => self.submit(world, at)?,
            Action::Accepted(at) => {
                let claim = submitted(world, at)?;
                let is_known = world.engine.knows.contains(&self.engine_id(&claim));
                let run = row_of(claim.run_id());
                self.settle_submit(world, at, run, is_known.then_some(Deed::HandOff(claim))?);
            }
            Action::NoAnswer(at) => {
                let claim = submitted(world, at)?;
                let id = self.engine_id(&claim);
                // A call that was lost on the way is found so by waiting; one that was not is a lost or late answer.
                if world.engine.knows.contains(&id) || world.engine.mail.contains(&Message::Submit(id)) {
                    fault(world)?;
                }
                self.settle_submit(world, at, row_of(claim.run_id()), Deed::SubmitFailed(claim));
            }
            Action::Start(at, run) => {
                let can_start = world.workers[at] == Worker::Idle && world.engine.knows_run(run);
                let taken = self.load(world, run, Deed::Take(WORKERS[at])).ok().filter(|_| can_start)?;
                world.workers[at] = Worker::Writes(taken);
            }
            Action::Heartbeat(at) => self.heartbeat(world, at)?,
            Action::HandBack(at) => {
                world.left.leaves = world.left.leaves.checked_sub(1)?;
                let Worker::Works { lease, .. } = world.workers[at].clone() else { return None };
                let loaded = self.load(world, row_of(lease.run_id()), Deed::HandBack(lease));
                world.workers[at] = loaded.map_or(Worker::Idle, Worker::Writes);
            }
            Action::Report(at, said) => {
                let Worker::Works { lease, is_told_to_stop } = &world.workers[at] else { return None };
                let may_say = said != Said::Stopped || *is_told_to_stop;
                let lease = may_say.then(|| lease.clone())?;
                self.report(world, at, lease, said.report());
            }
            Action::ReportAgain(at) => {
                let Worker::Repeats(lease, report) = world.workers[at].clone() else { return None };
                self.report(world, at, lease, report);
            }
            Action::Write(actor) => self.write_of(world, actor, true)?,
            Action::WriteUnheard(at) => {
                fault(world)?;
                self.write_of(world, Actor::Worker(at), false)?;
            }
            Action::Crash(actor) => crash(world, actor)?,
            Action::Deliver(message) => {
                world.engine.mail.remove(&message);
                deliver(&mut world.engine, message);
            }
            Action::Lose(message) => {
                fault(world)?;
                world.engine.mail.remove(&message);
            }
            Action::Repeat(message) => {
                fault(world)?;
                deliver(&mut world.engine, message);
            }
            Action::Forget(id) => {
                fault(world)?;
                world.engine.knows.remove(&id);
            }
        }
        Some(())
    }

    /// Writes what was loaded before anybody can come between; a report waits, since its acknowledgement may be lost.
    fn write_at_once(&self, world: &mut World) {
        for actor in actors() {
            let is_report = |at: usize| {
                matches!(&world.workers[at], Worker::Writes(Transaction { deed: Deed::Report(..), .. }))
            };
            if !matches!(actor, Actor::Worker(at) if is_report(at)) {
                self.write_of(world, actor, true);
            }
        }
    }

    /// Finds the run that a sweep turns to: one of those that need it, the one that was not looked at for longest.
    fn find(&self, world: &World, needs_it: impl Fn(&Run) -> bool) -> Option<usize> {
        let mut runs = world.checked.iter().copied();
        let needs_it = |run: &usize| needs_it(&world.rows[*run].run);
        match self.defect {
            Some(Defect::LimitBeforeFilter) => runs.next().filter(needs_it),
            _ => runs.find(needs_it),
        }
    }

    fn executor_loads(&self, world: &mut World, at: usize, run: usize, deed: Deed) -> Option<()> {
        let is_idle = world.executors[at] == Executor::Idle;
        let loaded = self.load(world, run, deed).ok().filter(|_| is_idle)?;
        world.executors[at] = Executor::Writes(loaded);
        Some(())
    }

    /// A run that pauses has its slot; another needs room in the queue, and comes in its turn, but after those that others have loaded.
    fn claim(&self, world: &mut World, at: usize) -> Option<()> {
        let is_pausing = |row: &Row| {
            let is_off = |hold: &Hold| matches!(hold, Hold::BackingOff { .. });
            matches!(&row.run.state, State::Scheduling(Scheduling { hold, .. }) if is_off(hold))
                && row.run.claim(EXECUTORS[at], world.now_ms, &self.settings).is_ok()
        };
        let has_room = self.limits.room(u64::try_from(world.slots).unwrap_or(0)) > 0;
        let paused = world.rows.iter().position(is_pausing);
        let is_waiting = |run: &usize| world.rows[*run].run.state == State::Requested;
        let is_loaded = |run: &usize| world.executors.iter().any(|executor| executor.has_loaded(*run));
        let waiting = (0..self.runs).filter(is_waiting).min_by_key(is_loaded);
        let run = paused.or(waiting.filter(|_| has_room))?;
        self.executor_loads(world, at, run, Deed::Claim(EXECUTORS[at]))
    }

    fn sweep_claims(&self, world: &mut World, at: usize) -> Option<()> {
        let can_take_over = |run: &Run| run.take_over(EXECUTORS[at], world.now_ms, &self.settings).is_ok();
        let is_stale = |run: &Run| matches!(run.state, State::Scheduling(_)) && can_take_over(run);
        let run = self.find(world, is_stale)?;
        self.executor_loads(world, at, run, Deed::TakeOver(EXECUTORS[at]))
    }

    /// A hand-off that the engine knows only waits its turn: the next sweep begins with another.
    fn sweep_hand_offs(&self, world: &mut World, at: usize) -> Option<()> {
        let can_take_over = |run: &Run| run.take_over(EXECUTORS[at], world.now_ms, &self.settings).is_ok();
        let is_old = |run: &Run| matches!(run.state, State::Scheduled(_)) && can_take_over(run);
        let run = self.find(world, is_old)?;
        if !world.engine.knows_run(run) {
            return self.executor_loads(world, at, run, Deed::TakeOver(EXECUTORS[at]));
        }
        let is_idle = world.executors[at] == Executor::Idle;
        world.checked.retain(|checked| *checked != run);
        world.checked.push(run);
        is_idle.then_some(())
    }

    /// Sweeps ask the engine about old hand-offs and leases that ran out; it knows of what it was told, and of a stop if one was asked for.
    fn hear(&self, world: &mut World, at: usize, said: Said) -> Option<()> {
        world.left.answers = world.left.answers.checked_sub(1)?;
        let is_silent = |run: &Run| match &run.state {
            State::Scheduled(_) => run.take_over(EXECUTORS[at], world.now_ms, &self.settings).is_ok(),
            State::Running(_) => run.expire(world.now_ms, &self.settings).is_ok(),
            _ => false,
        };
        let run = self.find(world, is_silent).filter(|run| world.engine.knows_run(*run))?;
        let may_say = said != Said::Stopped || world.rows[run].run.cancel.is_some();
        let is_idle = world.executors[at] == Executor::Idle;
        (may_say && is_idle).then(|| world.executors[at] = Executor::Hears(run, said))
    }

    fn submit(&self, world: &mut World, at: usize) -> Option<()> {
        let claim = match &world.executors[at] {
            Executor::Holds(claim) => claim.clone(),
            Executor::Writes(loaded) if self.defect == Some(Defect::SubmitBeforeClaim) => {
                let Deed::Claim(executor) = loaded.deed else { return None };
                let claimed = loaded.loaded.claim(executor, world.now_ms, &self.settings);
                let id = self.engine_id(&claimed.ok()?.1);
                world.engine.mail.insert(Message::Submit(id));
                return Some(());
            }
            _ => return None,
        };
        world.engine.mail.insert(Message::Submit(self.engine_id(&claim)));
        world.executors[at] = Executor::Submits(claim);
        Some(())
    }

    fn engine_id(&self, claim: &Claim) -> EngineId {
        let is_of_claim = self.defect == Some(Defect::EngineIdOfClaim);
        EngineId { run: row_of(claim.run_id()), salt: is_of_claim.then(|| claim.epoch()) }
    }

    /// Loads a run to note what came of submitting it; an executor that has lost it stops, and withdraws a run that has ended.
    fn settle_submit(&self, world: &mut World, at: usize, run: usize, deed: Deed) {
        world.executors[at] = match self.load(world, run, deed) {
            Ok(loaded) => Executor::Writes(loaded),
            Err(refusal) => {
                if matches!(refusal, Refusal::Finished(_)) {
                    withdraw(&mut world.engine, run);
                }
                Executor::Idle
            }
        };
    }

    fn heartbeat(&self, world: &mut World, at: usize) -> Option<()> {
        let Worker::Works { lease, .. } = &world.workers[at] else { return None };
        let run = row_of(lease.run_id());
        // A worker that has lost its lease stops and drops its result.
        let loaded = self.load(world, run, Deed::Heartbeat(lease.clone()));
        world.workers[at] = loaded.map_or(Worker::Idle, Worker::Writes);
        Some(())
    }

    fn report(&self, world: &mut World, at: usize, lease: Lease, report: Report) {
        let run = row_of(lease.run_id());
        let is_late = world.rows[run].run.state.status().is_terminal();
        if is_late && self.defect == Some(Defect::SlotFreedByMessage) {
            world.slots -= 1;
        }
        let loaded = self.load(world, run, Deed::Report(lease, report));
        world.workers[at] = loaded.map_or(Worker::Idle, Worker::Writes);
    }

    fn write_of(&self, world: &mut World, actor: Actor, is_heard: bool) -> Option<()> {
        match actor {
            Actor::Person => {
                let transaction = world.person.take()?;
                match self.write(world, &transaction) {
                    Some(Grant::Withdraw) => withdraw(&mut world.engine, transaction.run),
                    Some(_) => {}
                    None => world.person = self.load(world, transaction.run, transaction.deed).ok(),
                }
            }
            Actor::Executor(at) => {
                let Executor::Writes(transaction) = world.executors[at].clone() else { return None };
                self.executor_writes(world, at, transaction);
            }
            Actor::Worker(at) => {
                let Worker::Writes(transaction) = world.workers[at].clone() else { return None };
                let is_report = matches!(transaction.deed, Deed::Report(..));
                self.worker_writes(world, at, transaction, (is_heard || is_report).then_some(is_heard)?);
            }
        }
        Some(())
    }

    fn executor_writes(&self, world: &mut World, at: usize, transaction: Transaction) {
        world.executors[at] = match self.write(world, &transaction) {
            Some(Grant::Claim(claim)) => Executor::Holds(claim),
            Some(_) => Executor::Idle,
            None => {
                let run = transaction.run;
                return match transaction.deed {
                    deed @ (Deed::HandOff(_) | Deed::SubmitFailed(_)) => {
                        self.settle_submit(world, at, run, deed);
                    }
                    _ => world.executors[at] = Executor::Idle,
                };
            }
        };
    }

    fn worker_writes(&self, world: &mut World, at: usize, transaction: Transaction, is_heard: bool) {
        let written = self.write(world, &transaction);
        world.workers[at] = match (transaction.deed, written) {
            (_, Some(Grant::Lease(lease))) => Worker::Works { lease, is_told_to_stop: false },
            (Deed::Heartbeat(lease), grant) => {
                Worker::Works { lease, is_told_to_stop: grant == Some(Grant::Stop) }
            }
            (Deed::Report(lease, report), written) => {
                if is_heard && written.is_some() {
                    Worker::Idle
                } else {
                    Worker::Repeats(lease, report)
                }
            }
            _ => Worker::Idle,
        };
    }
}

fn submitted(world: &World, at: usize) -> Option<Claim> {
    match &world.executors[at] {
        Executor::Submits(claim) => Some(claim.clone()),
        _ => None,
    }
}

/// Uses up one of the faults that may happen.
fn fault(world: &mut World) -> Option<()> {
    world.left.faults = world.left.faults.checked_sub(1)?;
    Some(())
}

fn crash(world: &mut World, actor: Actor) -> Option<()> {
    fault(world)?;
    match actor {
        Actor::Executor(at) if world.executors[at] != Executor::Idle => world.executors[at] = Executor::Idle,
        Actor::Worker(at) if world.workers[at] != Worker::Idle => world.workers[at] = Worker::Idle,
        Actor::Person if world.person.is_some() => world.person = None,
        _ => return None,
    }
    Some(())
}

fn deliver(engine: &mut Engine, message: Message) {
    match message {
        Message::Submit(id) => engine.knows.insert(id),
        Message::Withdraw(id) => engine.knows.remove(&id),
    };
}

/// Asks the engine to drop a run; that the message may be lost covers a crash just before it.
fn withdraw(engine: &mut Engine, run: usize) {
    engine.mail.insert(Message::Withdraw(EngineId { run, salt: None }));
}
