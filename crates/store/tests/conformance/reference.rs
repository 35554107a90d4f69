//! The store as it would be without a database: a list of runs, a list of events, and the verbs in their plainest form.

use std::collections::BTreeSet;

use trueup_events::outcome::RunError;
use trueup_events::payload::Mode;
use trueup_events::{Ids, JobId, Payload, RunId, TenantId};
use trueup_lifecycle::{
    Cancel, Change, Claim, Hold, Lease, Limits, Policy, Refusal, Report, Request, Run, Scheduled, Scheduling,
    Settings, State,
};
use uuid::Uuid;

/// A queue and a job of the same name.
pub(crate) struct Queue {
    pub name: &'static str,
    pub limits: Limits,
    pub policy: Policy,
}

/// A run, and what sweeps and queues need to know of it.
pub(crate) struct Entry {
    pub run: Run,
    queue: usize,
    checked_at_ms: i64,
}

pub(crate) struct Reference {
    pub queues: Vec<Queue>,
    pub entries: Vec<Entry>,
    /// Of which run, by its place in the list, and what was told.
    pub log: Vec<(usize, Payload)>,
    /// The places of runs that are kept no longer.
    pub forgotten: BTreeSet<usize>,
    pub now_ms: i64,
    pub settings: Settings,
}

impl Reference {
    /// The place of a run that a claim or lease is for.
    pub(crate) fn place(run_id: RunId) -> usize {
        match run_id {
            RunId::Number(number) => usize::try_from(number).unwrap(),
            RunId::Uuid(_) => unreachable!("runs are numbered here"),
        }
    }

    fn apply(&mut self, place: usize, change: Change) {
        self.entries[place].run = change.run;
        self.log.extend(change.events.into_iter().map(|event| (place, event)));
    }

    /// Places of the runs that pass, those that were not looked at for longest first.
    fn search(&self, limit: u32, passes: impl Fn(&State) -> bool) -> Vec<usize> {
        let mut places: Vec<usize> =
            (0..self.entries.len()).filter(|place| passes(&self.entries[*place].run.state)).collect();
        places.sort_by_key(|place| (self.entries[*place].checked_at_ms, *place));
        places.truncate(limit as usize);
        places
    }

    fn count(&self, queue: usize, counts: impl Fn(&Run) -> bool) -> u64 {
        self.entries.iter().filter(|entry| entry.queue == queue && counts(&entry.run)).count() as u64
    }

    fn waits(run: &Run) -> bool {
        run.state == State::Requested
    }

    pub(crate) fn trigger(&mut self, queue: usize) -> bool {
        let Queue { name, limits, policy } = &self.queues[queue];
        if limits.admit(self.count(queue, Self::waits)).is_err() {
            return false;
        }
        let (job_id, tenant_id) = (JobId(Uuid::nil()), TenantId(Uuid::nil()));
        let ids = Ids { run_id: RunId::Number(self.entries.len() as u64), job_id, tenant_id };
        let request = Request { mode: Mode::Immediate, by: "ann".to_owned(), queue: (*name).to_owned() };
        let change = Run::request(ids, *policy, &request);
        self.entries.push(Entry { run: change.run.clone(), queue, checked_at_ms: 0 });
        self.apply(self.entries.len() - 1, change);
        true
    }

    pub(crate) fn claim(&mut self, executor: &str, limit: u32) -> Vec<Claim> {
        let now_ms = self.now_ms;
        let mut places = self.search(limit, |state| {
            matches!(state, State::Scheduling(Scheduling { hold: Hold::BackingOff { until_ms }, .. }) if *until_ms <= now_ms)
                && !is_overdue(state, now_ms)
        });
        let oldest = |queue: usize| {
            self.entries.iter().position(|entry| entry.queue == queue && Self::waits(&entry.run))
        };
        let mut queues: Vec<usize> =
            (0..self.queues.len()).filter(|queue| oldest(*queue).is_some()).collect();
        queues.sort_by_key(|queue| oldest(*queue));
        for queue in queues {
            let holding = self.count(queue, |run| run.state.status().holds_slot());
            let left = u64::from(limit) - places.len() as u64;
            let room = self.queues[queue].limits.room(holding).min(left);
            let waiting = (0..self.entries.len()).filter(|place| {
                self.entries[*place].queue == queue && Self::waits(&self.entries[*place].run)
            });
            places.extend(waiting.take(usize::try_from(room).unwrap()));
        }
        let mut claims = Vec::new();
        for place in places {
            let (change, claim) = self.entries[place].run.claim(executor, now_ms, &self.settings).unwrap();
            self.apply(place, change);
            claims.push(claim);
        }
        claims
    }

    /// Claims one run: if it waits, only when there is room for it and all that wait before it.
    pub(crate) fn claim_run(&mut self, place: usize, executor: &str) -> Option<Claim> {
        let Entry { run, queue, .. } = &self.entries[place];
        if Self::waits(run) {
            let holding = self.count(*queue, |run| run.state.status().holds_slot());
            let before = self.entries[..place]
                .iter()
                .filter(|entry| entry.queue == *queue && Self::waits(&entry.run))
                .count();
            if before as u64 >= self.queues[*queue].limits.room(holding) {
                return None;
            }
        }
        let (change, claim) = run.claim(executor, self.now_ms, &self.settings).ok()?;
        self.apply(place, change);
        Some(claim)
    }

    pub(crate) fn take_run(&mut self, place: usize, worker: &str) -> Option<Lease> {
        let (change, lease) = self.entries[place].run.take(worker, self.now_ms, &self.settings).ok()?;
        self.apply(place, change);
        Some(lease)
    }

    pub(crate) fn tell(&mut self, lease: &Lease, told: Payload) -> Result<(), Refusal> {
        self.heartbeat(lease)?;
        self.log.push((Self::place(lease.run_id()), told));
        Ok(())
    }

    pub(crate) fn hand_back(&mut self, lease: &Lease) -> Result<(), Refusal> {
        let place = Self::place(lease.run_id());
        let change = self.entries[place].run.hand_back(lease, self.now_ms, &self.settings)?;
        self.apply(place, change);
        Ok(())
    }

    pub(crate) fn answer(&mut self, place: usize, report: &Report) -> Result<(), Refusal> {
        match self.entries[place].run.answer(report, self.now_ms, &self.settings) {
            Ok(change) => self.apply(place, change),
            // Its end, or a sign of life, came first.
            Err(Refusal::Finished(_) | Refusal::Early { .. }) => {}
            Err(refusal) => return Err(refusal),
        }
        Ok(())
    }

    /// Forgets a run that has ended, with what was told of it; says whether it had.
    pub(crate) fn forget(&mut self, place: usize) -> bool {
        let is_over = self.entries[place].run.state.status().is_terminal();
        if is_over {
            self.log.retain(|(told_of, _)| *told_of != place);
            self.forgotten.insert(place);
        }
        is_over
    }

    pub(crate) fn hand_off(&mut self, claim: &Claim) -> Result<(), Refusal> {
        let place = Self::place(claim.run_id());
        let change = self.entries[place].run.hand_off(claim, self.now_ms, &self.settings)?;
        self.apply(place, change);
        Ok(())
    }

    pub(crate) fn submit_failed(&mut self, claim: &Claim, error: &RunError) -> Result<(), Refusal> {
        let place = Self::place(claim.run_id());
        let change = self.entries[place].run.submit_failed(claim, error, self.now_ms, &self.settings)?;
        self.apply(place, change);
        Ok(())
    }

    pub(crate) fn take(&mut self, worker: &str, limit: u32) -> Vec<Lease> {
        let places = (0..self.entries.len())
            .filter(|place| {
                let state = &self.entries[*place].run.state;
                matches!(state, State::Scheduled(_)) && !is_overdue(state, self.now_ms)
            })
            .take(limit as usize);
        let mut leases = Vec::new();
        for place in places.collect::<Vec<_>>() {
            let (change, lease) = self.entries[place].run.take(worker, self.now_ms, &self.settings).unwrap();
            self.apply(place, change);
            leases.push(lease);
        }
        leases
    }

    pub(crate) fn heartbeat(&mut self, lease: &Lease) -> Result<(), Refusal> {
        let place = Self::place(lease.run_id());
        let change = self.entries[place].run.heartbeat(lease, self.now_ms, &self.settings)?;
        self.apply(place, change);
        Ok(())
    }

    /// Whether the report counted; it does not when the run had ended.
    pub(crate) fn finish(&mut self, lease: &Lease, report: &Report) -> Result<bool, Refusal> {
        let place = Self::place(lease.run_id());
        let was_over = self.entries[place].run.state.status().is_terminal();
        match self.entries[place].run.report(lease, report, self.now_ms, &self.settings) {
            Ok(change) => self.apply(place, change),
            Err(Refusal::Finished(_)) => {}
            Err(refusal) => return Err(refusal),
        }
        Ok(!was_over)
    }

    pub(crate) fn cancel(&mut self, place: usize) -> Result<(), Refusal> {
        let cancel = Cancel { by: "ann".to_owned(), at_ms: self.now_ms, reason: None };
        let (change, _) = self.entries[place].run.cancel(&cancel, &self.settings)?;
        self.apply(place, change);
        Ok(())
    }

    pub(crate) fn sweep_stale_claims(&mut self, executor: &str, own: bool, limit: u32) -> Vec<Claim> {
        let now_ms = self.now_ms;
        let places = self.search(limit, |state| match state {
            State::Scheduling(Scheduling {
                hold: Hold::Claimed { executor: holder, stale_at_ms }, ..
            }) => *stale_at_ms <= now_ms || (own && holder == executor),
            _ => false,
        });
        let mut claims = Vec::new();
        for place in places {
            let (change, claim) =
                self.entries[place].run.take_over(executor, now_ms, &self.settings).unwrap();
            self.apply(place, change);
            claims.extend(claim);
        }
        claims
    }

    fn look_at(&mut self, places: Vec<usize>) -> Vec<usize> {
        for place in &places {
            self.entries[*place].checked_at_ms = self.now_ms;
        }
        places
    }

    pub(crate) fn sweep_hand_offs(&mut self, limit: u32) -> Vec<usize> {
        let before_ms = self.now_ms - self.settings.reconcile_grace_ms;
        let places = self.search(
            limit,
            |state| matches!(state, State::Scheduled(scheduled) if scheduled.since_ms <= before_ms),
        );
        self.look_at(places)
    }

    pub(crate) fn take_over(&mut self, place: usize, executor: &str) -> Result<Option<Claim>, Refusal> {
        let (change, claim) = self.entries[place].run.take_over(executor, self.now_ms, &self.settings)?;
        self.apply(place, change);
        Ok(claim)
    }

    pub(crate) fn sweep_leases(&mut self, limit: u32) -> Vec<usize> {
        let now_ms = self.now_ms;
        let is_claimed =
            |state: &State| matches!(state, State::Scheduling(Scheduling { hold: Hold::Claimed { .. }, .. }));
        let mut places = self.search(limit, |state| is_overdue(state, now_ms) && !is_claimed(state));
        places.extend(self.search(
            limit - places.len() as u32,
            |state| matches!(state, State::Running(running) if running.lease_until_ms <= now_ms),
        ));
        self.look_at(places)
    }

    /// Whether it did something: a run that has ended, or whose worker is heard of, is left alone.
    pub(crate) fn expire(&mut self, place: usize) -> bool {
        let expired = self.entries[place].run.expire(self.now_ms, &self.settings);
        let is_changed = expired.is_ok();
        expired.into_iter().for_each(|change| self.apply(place, change));
        is_changed
    }
}

/// Whether a run waits for another attempt, and has no time left for it.
fn is_overdue(state: &State, now_ms: i64) -> bool {
    match state {
        State::Scheduling(Scheduling { deadline_at_ms, .. })
        | State::Scheduled(Scheduled { deadline_at_ms, .. }) => {
            deadline_at_ms.is_some_and(|deadline_at_ms| deadline_at_ms <= now_ms)
        }
        _ => false,
    }
}
