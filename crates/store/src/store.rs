//! The store that the rest of trueup sees: the verbs, and what can be read.

use std::ops::RangeInclusive;

use tokio::sync::watch;
use trueup_events::outcome::RunError;
use trueup_events::{Event, EventId, Payload, RunId, TenantId, Time};
use trueup_lifecycle::{Cancel, CancelAnswer, Claim, Lease, Limits, Report};
use uuid::Uuid;

use crate::audit::{Audited, Head};
use crate::context::Options;
use crate::error::StoreError;
use crate::filter::RunFilter;
use crate::place::{Place, Role};
use crate::postgres::Postgres;
use crate::record::{Audit, Claimed, Finish, NewRun, Pass, QueueLoad, Record, Taken};
use crate::sqlite::Sqlite;
use crate::text::refuse_nul;
use crate::tx::Verb;
use crate::verbs;

/// An open store; cheap to share by reference, and safe to use from many tasks.
#[derive(Debug)]
pub struct Store {
    backend: Backend,
}

#[derive(Debug)]
enum Backend {
    Sqlite(Sqlite),
    Postgres(Postgres),
}

/// Asks whichever database it is.
macro_rules! ask {
    ($store:expr, $backend:ident => $call:expr) => {
        match &$store.backend {
            Backend::Sqlite($backend) => $call,
            Backend::Postgres($backend) => $call,
        }
    };
}

mod connections;
mod executions;
mod jobs;
mod keys;

impl Store {
    /// Opens a store, making it or bringing its schema up to date where need be, unless it is only to be read.
    pub async fn open(place: &Place, role: Role, options: Options) -> Result<Self, StoreError> {
        let backend = match place {
            Place::Sqlite(path) => Backend::Sqlite(Sqlite::open(path, role, options).await?),
            Place::Postgres(url) => Backend::Postgres(Postgres::open(url, role, options).await?),
        };
        Ok(Self { backend })
    }

    /// Makes the changes that are under way visible, and lets go of the database.
    pub async fn close(self) -> Result<(), StoreError> {
        match self.backend {
            Backend::Sqlite(sqlite) => sqlite.close().await,
            Backend::Postgres(postgres) => postgres.close().await,
        }
    }

    async fn transact<V: Verb>(&self, verb: V) -> Result<V::Output, StoreError> {
        ask!(self, backend => backend.transact(verb).await)
    }

    /// The version of its schema, which opening it has brought up to date.
    pub fn schema(&self) -> i64 {
        match self.backend {
            Backend::Sqlite(_) => Sqlite::SCHEMA,
            Backend::Postgres(_) => Postgres::SCHEMA,
        }
    }

    /// Counts up whenever something may have been committed, here or by another process; missed counts are one.
    pub fn changes(&self) -> watch::Receiver<u64> {
        ask!(self, backend => backend.changes())
    }

    /// What a commit waits for, as the database says it: names of its settings, and what they are on the store's own connections.
    pub async fn settings(&self) -> Result<Vec<(String, String)>, StoreError> {
        ask!(self, backend => backend.settings().await)
    }

    /// How many changes were asked for that no state allows.
    pub fn illegal_transitions(&self) -> u64 {
        ask!(self, backend => backend.context().illegal())
    }

    /// An id for an event whose producer gave it none.
    pub fn next_event_id(&self) -> EventId {
        ask!(self, backend => backend.context().next_event_id())
    }

    /// Makes a queue, or changes its limits.
    pub async fn set_queue(
        &self,
        tenant_id: TenantId,
        queue: &str,
        limits: Limits,
        by: &str,
    ) -> Result<(), StoreError> {
        refuse_nul([("queue", queue), ("by", by)])?;
        self.transact(verbs::SetQueue { tenant_id, queue: queue.to_owned(), limits, by: by.to_owned() }).await
    }

    /// Commits the intent to run a job; asked again with the same id, it changes nothing.
    pub async fn trigger(&self, new: NewRun) -> Result<RunId, StoreError> {
        refuse_nul([("job", new.job.as_str()), ("triggered_by", &new.triggered_by)])?;
        ask!(self, backend => backend.trigger(new).await)
    }

    /// Gives an executor the runs that wait longest and have a slot, no more than it wants.
    pub async fn claim_for_scheduling(&self, executor: &str, limit: u32) -> Result<Vec<Claimed>, StoreError> {
        self.transact(verbs::ClaimForScheduling { executor: executor.to_owned(), limit }).await
    }

    /// Claims the runs that wait longest and have a slot and hands them to the worker side, in one transaction: for an engine that has to be told nothing in between. Says how many.
    pub async fn schedule(&self, executor: &str, limit: u32) -> Result<usize, StoreError> {
        self.transact(verbs::Schedule { executor: executor.to_owned(), limit }).await
    }

    /// Hands a submitted run to the worker side.
    pub async fn hand_off(&self, claim: Claim) -> Result<Record, StoreError> {
        let run_id = claim.run_id();
        self.hand_off_all(vec![claim]).await?.pop().unwrap_or(Err(StoreError::NoSuchRun(run_id)))
    }

    /// Hands submitted runs to the worker side in one transaction, and answers for each.
    pub async fn hand_off_all(
        &self,
        claims: Vec<Claim>,
    ) -> Result<Vec<Result<Record, StoreError>>, StoreError> {
        self.transact(verbs::HandOff { claims }).await
    }

    /// Notes that the engine did not take a run: it is tried again later, or fails.
    pub async fn submit_failed(&self, claim: Claim, error: RunError) -> Result<Record, StoreError> {
        self.transact(verbs::SubmitFailed { claim, error }).await
    }

    /// Gives a worker the runs that wait longest for one, no more than it wants.
    pub async fn take(&self, worker: &str, limit: u32) -> Result<Vec<Taken>, StoreError> {
        self.transact(verbs::Take { worker: worker.to_owned(), limit }).await
    }

    /// Prolongs a lease; tells the worker whether the run is to be cancelled.
    pub async fn heartbeat(&self, lease: &Lease) -> Result<Option<Cancel>, StoreError> {
        self.tell(lease, Vec::new()).await
    }

    /// Ends an attempt as its worker says, and with it the run.
    pub async fn finish(&self, lease: Lease, report: Report) -> Result<Finish, StoreError> {
        let run_id = lease.run_id();
        self.finish_all(vec![(lease, report)]).await?.pop().unwrap_or(Err(StoreError::NoSuchRun(run_id)))
    }

    /// Ends attempts as their worker says, in one transaction, and answers for each.
    pub async fn finish_all(
        &self,
        reports: Vec<(Lease, Report)>,
    ) -> Result<Vec<Result<Finish, StoreError>>, StoreError> {
        self.transact(verbs::Finish { reports }).await
    }

    /// Claims one run if its turn has come, and no other.
    pub async fn claim_run(&self, run_id: RunId, executor: &str) -> Result<Option<Claimed>, StoreError> {
        self.transact(verbs::ClaimRun { run_id, executor: executor.to_owned() }).await
    }

    /// Takes one run if it waits for a worker, and no other.
    pub async fn take_run(&self, run_id: RunId, worker: &str) -> Result<Option<Taken>, StoreError> {
        self.transact(verbs::TakeRun { run_id, worker: worker.to_owned() }).await
    }

    /// Tells what a worker has to say of an attempt, and prolongs its lease; tells the worker whether the run is to be cancelled.
    pub async fn tell(
        &self,
        lease: &Lease,
        told: Vec<(Time, Payload)>,
    ) -> Result<Option<Cancel>, StoreError> {
        self.transact(verbs::Tell { lease: lease.clone(), told }).await
    }

    /// Gives a run back that its worker cannot finish.
    pub async fn hand_back(&self, lease: Lease) -> Result<Record, StoreError> {
        self.transact(verbs::HandBack { lease }).await
    }

    /// Ends a run as its engine says; one that has ended or shown a sign of life since is left alone.
    pub async fn answer(&self, run_id: RunId, sweeper: &str, report: Report) -> Result<Record, StoreError> {
        self.transact(verbs::Answer { run_id, sweeper: sweeper.to_owned(), report }).await
    }

    /// Runs that ended longer ago than they are kept, the first to end first: the next ones after the last that was looked at.
    pub async fn sweep_finished(
        &self,
        retention_ms: i64,
        after: Option<&Record>,
        limit: u32,
    ) -> Result<Vec<Record>, StoreError> {
        let after = after.cloned();
        self.transact(verbs::SweepFinished { retention_ms, after, limit }).await
    }

    /// Deletes runs that have ended, with their events.
    pub async fn forget(&self, runs: Vec<RunId>) -> Result<(), StoreError> {
        self.transact(verbs::Forget { runs }).await
    }

    /// The time that leases and deadlines are judged by, in milliseconds since 1970.
    pub async fn now_ms(&self) -> Result<i64, StoreError> {
        ask!(self, backend => match backend.context().options.clock.by_hand_ms() {
            Some(now_ms) => Ok(now_ms),
            None => backend.now_ms().await,
        })
    }

    /// Keeps the report of a background task's last pass.
    pub async fn note_pass(&self, pass: Pass) -> Result<(), StoreError> {
        self.transact(verbs::NotePass { pass }).await
    }

    /// Forgets the reports of processes that have left none for so long.
    pub async fn forget_passes(&self, silence_ms: i64) -> Result<(), StoreError> {
        self.transact(verbs::ForgetPasses { silence_ms }).await
    }

    /// The last pass of every background task in every process, by name.
    pub async fn passes(&self) -> Result<Vec<Pass>, StoreError> {
        ask!(self, backend => backend.passes().await)
    }

    /// The queues of a tenant and what is in them, by name.
    pub async fn queues(&self, tenant_id: TenantId) -> Result<Vec<QueueLoad>, StoreError> {
        ask!(self, backend => backend.queues(tenant_id).await)
    }

    /// Those runs of a worker that somebody wants to end.
    pub async fn to_stop(&self, worker: &str) -> Result<Vec<RunId>, StoreError> {
        ask!(self, backend => backend.to_stop(worker).await)
    }

    /// For how long the database has been there to be told something; a file always was.
    pub async fn up_for_ms(&self) -> Result<i64, StoreError> {
        match &self.backend {
            Backend::Sqlite(_) => Ok(i64::MAX),
            Backend::Postgres(postgres) => postgres.up_for_ms().await,
        }
    }

    /// Whether there is such a run, whosever it is.
    pub async fn remembers(&self, run_id: RunId) -> Result<bool, StoreError> {
        ask!(self, backend => backend.remembers(run_id).await)
    }

    /// Cancels a run, or asks its worker to stop.
    pub async fn request_cancel(
        &self,
        tenant_id: TenantId,
        run_id: RunId,
        by: &str,
        reason: Option<&str>,
    ) -> Result<(Record, CancelAnswer), StoreError> {
        refuse_nul([("by", by), ("reason", reason.unwrap_or_default())])?;
        let (by, reason) = (by.to_owned(), reason.map(str::to_owned));
        self.transact(verbs::RequestCancel { tenant_id, run_id, by, reason }).await
    }

    /// Takes over claims whose executor is lost; those in its own name at once, when an executor has just started.
    pub async fn sweep_stale_claims(
        &self,
        executor: &str,
        own: bool,
        limit: u32,
    ) -> Result<Vec<Claimed>, StoreError> {
        self.transact(verbs::SweepStaleClaims { executor: executor.to_owned(), own, limit }).await
    }

    /// Runs that were handed off long ago and not taken since, those not looked at for longest first.
    pub async fn sweep_hand_offs(&self, limit: u32) -> Result<Vec<Record>, StoreError> {
        self.transact(verbs::Look { silence: verbs::Silence::HandOffs, limit }).await
    }

    /// Runs that somebody wants to end, or that were cancelled, timed out or were abandoned, and of which the engine was not told, or not for a lease; those not looked at for longest first.
    pub async fn sweep_cancels(&self, limit: u32) -> Result<Vec<Record>, StoreError> {
        self.transact(verbs::Look { silence: verbs::Silence::Cancels, limit }).await
    }

    /// Notes that the engine was told that runs are to end.
    pub async fn withdrawn(&self, runs: Vec<RunId>) -> Result<(), StoreError> {
        self.transact(verbs::Withdrawn { runs }).await
    }

    /// How many milliseconds it is until the first pause between submits or attempts is over; none if no run pauses.
    pub async fn next_pause_ms(&self) -> Result<Option<i64>, StoreError> {
        self.transact(verbs::NextPause).await
    }

    /// Takes over a run that the engine does not know; none is claimed when it has been tried too often.
    pub async fn take_over(&self, run_id: RunId, executor: &str) -> Result<Option<Claimed>, StoreError> {
        self.transact(verbs::TakeOver { run_id, executor: executor.to_owned() }).await
    }

    /// Runs whose deadline passed while they waited for another attempt, and those whose lease ran out; of each, those not looked at for longest first.
    pub async fn sweep_leases(&self, limit: u32) -> Result<Vec<Record>, StoreError> {
        self.transact(verbs::Look { silence: verbs::Silence::Leases, limit }).await
    }

    /// Ends or retries a run whose worker is lost or whose time is over; one that has ended or shown a sign of life since is left alone, and not given back.
    pub async fn expire(&self, run_id: RunId, sweeper: &str) -> Result<Option<Record>, StoreError> {
        self.transact(verbs::Expire { run_id, sweeper: sweeper.to_owned() }).await
    }

    /// Events after a position, in the order of the log, no more than asked; of one tenant, or of all.
    pub async fn read_from(
        &self,
        position: u64,
        tenant_id: Option<TenantId>,
        limit: u32,
    ) -> Result<Vec<Event>, StoreError> {
        ask!(self, backend => backend.read_from(position, tenant_id, limit).await)
    }

    /// What a tenant knows of one run: its events after a position, in the order of the log.
    pub async fn events_of(
        &self,
        tenant_id: TenantId,
        run_id: RunId,
        position: u64,
        limit: u32,
    ) -> Result<Vec<Event>, StoreError> {
        ask!(self, backend => backend.events_of(tenant_id, run_id, position, limit).await)
    }

    /// A run, if it is the tenant's.
    pub async fn run(&self, tenant_id: TenantId, run_id: RunId) -> Result<Option<Record>, StoreError> {
        ask!(self, backend => backend.run(tenant_id, run_id).await)
    }

    /// Runs, the latest first; a row that cannot be read is logged and passed over.
    pub async fn runs(&self, filter: &RunFilter) -> Result<Vec<Record>, StoreError> {
        let mut asked = filter.clone();
        loop {
            let found = ask!(self, backend => backend.runs(&asked).await)?;
            match verbs::short_of(&found, filter.limit, asked.limit) {
                Some(limit) => asked.limit = limit,
                None => return Ok(ask!(self, backend => verbs::readable(backend.context(), found))),
            }
        }
    }

    /// Those of a tenant's runs whose ids are between two, those two included, in the order of their ids.
    pub async fn runs_between(
        &self,
        tenant_id: TenantId,
        ids: RangeInclusive<Uuid>,
        limit: u32,
    ) -> Result<Vec<Record>, StoreError> {
        ask!(self, backend => backend.runs_between(tenant_id, ids, limit).await)
    }

    /// Entries of the audit log after a place in it, in its order, no more than asked; of one tenant, or of all.
    pub async fn audit(
        &self,
        after: u64,
        tenant_id: Option<TenantId>,
        limit: u32,
    ) -> Result<Vec<Audit>, StoreError> {
        ask!(self, backend => backend.audit(after, tenant_id, limit).await)
    }

    /// Goes through the audit log from its first entry and checks every link; a head from an earlier check must be among them.
    pub async fn verify_audit(&self, expected: Option<Head>) -> Result<Audited, StoreError> {
        ask!(self, backend => backend.verify_audit(expected).await)
    }
}
