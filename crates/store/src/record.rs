//! What the store gives and takes: jobs, runs, and entries of the audit log.

use std::borrow::Cow;

use serde_json::Value;
use trueup_events::payload::Mode;
use trueup_events::{JobId, RunId, TenantId};
use trueup_lifecycle::{Claim, Lease, Limits, Policy, Run};
use uuid::Uuid;

use crate::error::StoreError;

/// A run, and what its row says of it that never changes.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    /// Where it is in its life.
    pub run: Run,
    /// Its place in the order in which runs were asked for.
    pub number: i64,
    /// The revision of the job that it executes.
    pub revision: u32,
    /// The queue it waits in.
    pub queue: String,
    /// What the caller wrote, as JSON text that only the job reads: what it cannot read fails this run and no other. It never says who or what the run is.
    pub params: String,
    /// How it came to be.
    pub mode: Mode,
    /// A user, or `scheduled`.
    pub triggered_by: String,
    /// When it was asked for.
    pub requested_at_ms: i64,
}

impl Record {
    /// The run's id.
    pub fn id(&self) -> RunId {
        self.run.ids.run_id
    }
}

/// A wish for a run.
#[derive(Debug, Clone, PartialEq)]
pub struct NewRun {
    /// Its id, made by who asks: to ask again after an answer was lost is no second wish.
    pub run_id: Uuid,
    /// Whose it is.
    pub tenant_id: TenantId,
    /// The job's name.
    pub job: String,
    /// What the job is given.
    pub params: Value,
    /// How it came to be.
    pub mode: Mode,
    /// A user, or `scheduled`.
    pub triggered_by: String,
}

/// A job as its present revision has it.
#[derive(Debug, Clone, PartialEq)]
pub struct Job {
    /// Its id, the same in all revisions.
    pub id: JobId,
    /// Counts how often it was changed, from 1.
    pub revision: u32,
    /// What the revision says.
    pub document: JobDocument,
}

/// What a revision of a job says, as far as the store looks into it.
#[derive(Debug, Clone, PartialEq)]
pub struct JobDocument {
    /// Its name, unique within a tenant.
    pub name: String,
    /// The whole document.
    pub document: Value,
    /// The queue its runs wait in.
    pub queue: String,
    /// What it allows its runs.
    pub policy: Policy,
}

/// A job in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobListed {
    /// Its id.
    pub id: JobId,
    /// Its name.
    pub name: String,
    /// Its present revision.
    pub revision: u32,
    /// The queue its runs wait in.
    pub queue: String,
    /// When that revision was saved.
    pub saved_at_ms: i64,
    /// Who saved it.
    pub saved_by: String,
}

/// A revision of a job in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Saved {
    /// Which.
    pub revision: u32,
    /// When it was saved.
    pub saved_at_ms: i64,
    /// Who saved it.
    pub saved_by: String,
}

/// What whoever changes something takes it to be, so that nobody undoes what they have not seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expected {
    /// Whatever it is.
    Any,
    /// Not there.
    New,
    /// Last changed to this.
    Revision(u32),
}

impl Expected {
    /// Refuses what is not what it was taken to be.
    pub(crate) fn check(self, now: Option<u32>) -> Result<(), StoreError> {
        let is_so = match self {
            Self::Any => true,
            Self::New => now.is_none(),
            Self::Revision(revision) => now == Some(revision),
        };
        if is_so { Ok(()) } else { Err(StoreError::Changed { now }) }
    }
}

/// What a request was answered, to be answered again should it come again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The SHA-256 of the request: another one under the same key is told so.
    pub request_hash: [u8; 32],
    /// The HTTP status.
    pub status: u16,
    /// What was answered.
    pub body: String,
}

/// A run that an executor may submit.
#[derive(Debug, Clone, PartialEq)]
pub struct Claimed {
    /// The right to do so.
    pub claim: Claim,
    /// The run.
    pub record: Record,
}

/// A run that a worker may execute.
#[derive(Debug, Clone, PartialEq)]
pub struct Taken {
    /// The right to do so.
    pub lease: Lease,
    /// The run.
    pub record: Record,
}

/// What became of a worker's report.
#[derive(Debug, Clone, PartialEq)]
pub enum Finish {
    /// It counts: the run has ended so, or gets another attempt.
    Accepted(Record),
    /// The run had ended before; that stands, and the report is kept beside it.
    Late(Record),
}

/// Who did what, to what, when.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// When, by the store's clock.
    pub at_ms: i64,
    /// Whose it was done to.
    pub tenant_id: TenantId,
    /// Who did it: a user, an executor, a worker, a sweep.
    pub actor: String,
    /// What was done: the name of the verb.
    pub action: Cow<'static, str>,
    /// The run or job it was done to.
    pub subject: String,
    /// What it made of it.
    pub detail: Value,
}

/// An entry where it stands in the audit log.
#[derive(Debug, Clone, PartialEq)]
pub struct Audit {
    /// Its place in the chain, from 1.
    pub number: u64,
    /// What it says.
    pub entry: Entry,
}

/// What a background task did in its last pass.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pass {
    /// The task's name.
    pub task: String,
    /// The process that it ran in.
    pub instance: String,
    /// When it ended, by the store's clock; the store writes it.
    pub at_ms: i64,
    /// How long it took.
    pub took_ms: i64,
    /// How many it looked at.
    pub seen: u64,
    /// How many of them it changed something of.
    pub done: u64,
    /// Why it left the rest, or could not go on.
    pub note: Option<String>,
}

/// A queue, and how many runs are in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueueLoad {
    /// Its name.
    pub queue: String,
    /// Its limits.
    pub limits: Limits,
    /// How many wait for a slot.
    pub waiting: u64,
    /// How many hold one and do not run yet.
    pub scheduled: u64,
    /// How many run.
    pub running: u64,
}
