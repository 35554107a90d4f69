//! What a verb can do in its transaction; SQLite and PostgreSQL each do it in their own SQL.

mod kept;
mod keys;
mod observed;

use std::future::Future;

use trueup_events::{Event, EventId, JobId, RunId, TenantId};
use trueup_lifecycle::{Change, Limits, Policy, Run};

use crate::context::Context;
use crate::error::StoreError;
use crate::record::{Entry, Job, JobDocument, NewRun, Pass, Record};

pub(crate) use kept::Kept;
pub(crate) use keys::Keys;
pub(crate) use observed::{Owner, Sightings, Subjects};

/// How many events are read to say how far a run is in its stages.
pub(crate) const STAGE_EVENTS_MAX: u32 = 10_000;

/// A transaction that has begun; whoever runs the verb commits it when the verb succeeds and rolls it back otherwise.
///
/// What it loads stays as it is until the end: no other writer can change it.
pub(crate) trait Tx: Keys + Kept + Sightings + Send {
    /// The database's time in milliseconds since 1970.
    fn now_ms(&mut self) -> impl Future<Output = Result<i64, StoreError>> + Send;

    /// Loads a run.
    fn run(&mut self, id: RunId) -> impl Future<Output = Result<Option<Record>, StoreError>> + Send;

    /// Loads several runs; those that do not exist are left out.
    fn runs(&mut self, ids: &[RunId]) -> impl Future<Output = Result<Vec<Record>, StoreError>> + Send;

    /// Loads runs that no other transaction holds: for each search no more than so many, those that no sweep has seen for longest first.
    fn find(
        &mut self,
        searches: &[(Search, u32)],
    ) -> impl Future<Output = Result<Vec<Vec<Found>>, StoreError>> + Send;

    /// Loads the queues in which runs wait, the one with the oldest first, and how many runs hold a slot in each.
    fn waiting_queues(&mut self) -> impl Future<Output = Result<Vec<WaitingQueue>, StoreError>> + Send;

    /// Counts the runs that wait in a queue, no further than asked.
    fn waiting(
        &mut self,
        tenant_id: TenantId,
        queue: &str,
        up_to: u32,
    ) -> impl Future<Output = Result<u64, StoreError>> + Send;

    /// The limits of a queue.
    fn limits(
        &mut self,
        tenant_id: TenantId,
        queue: &str,
    ) -> impl Future<Output = Result<Option<Limits>, StoreError>> + Send;

    /// Makes a queue, or changes its limits.
    fn set_limits(
        &mut self,
        tenant_id: TenantId,
        queue: &str,
        limits: Limits,
    ) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// The job of that name in its present revision.
    fn job(
        &mut self,
        tenant_id: TenantId,
        name: &str,
    ) -> impl Future<Output = Result<Option<Job>, StoreError>> + Send;

    /// Adds a revision to a job, or a job with its first.
    fn insert_revision(
        &mut self,
        revision: Revision<'_>,
    ) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Loads what there is to know before runs are asked for, of each in turn.
    fn openings(
        &mut self,
        wishes: &[NewRun],
    ) -> impl Future<Output = Result<Vec<Opening>, StoreError>> + Send;

    /// Adds a run, with its events and its audit entry; its number is the database's to give.
    fn insert(&mut self, record: &Record, note: &Note)
    -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Changes runs where they still have the epoch and the state they were loaded with, with their events and audit entries.
    fn write(&mut self, moves: &[Move]) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Notes that a sweep has looked at runs and left them alone.
    fn checked(&mut self, runs: &[RunId], now_ms: i64)
    -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Notes that the engine was told that runs are to end.
    fn withdrawn(
        &mut self,
        runs: &[RunId],
        now_ms: i64,
    ) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// When the first pause between submits or attempts is over of those runs that have time left.
    fn next_pause(&mut self, now_ms: i64) -> impl Future<Output = Result<Option<i64>, StoreError>> + Send;

    /// Deletes runs that have ended, with their events.
    fn forget(&mut self, runs: &[RunId]) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Keeps the report of a task's last pass in place of the one before.
    fn note_pass(&mut self, pass: &Pass) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Deletes the reports of processes that have left none since a time.
    fn forget_passes(&mut self, before_ms: i64) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Appends events, each of which is given once; those that are there already with the same content add nothing, and are named.
    fn append(&mut self, events: &[Event]) -> impl Future<Output = Result<Vec<EventId>, StoreError>> + Send;

    /// Adds an entry to the audit log.
    fn audit(&mut self, entry: &Entry) -> impl Future<Output = Result<(), StoreError>> + Send;
}

/// A run that was found; somebody may have damaged its row.
pub(crate) type Found = Result<Record, Unreadable>;

/// A row of a run that makes no sense.
#[derive(Debug, Clone)]
pub(crate) struct Unreadable {
    /// The run's number.
    pub(crate) number: i64,
    pub(crate) problem: StoreError,
}

/// Which runs to look for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Search {
    /// Those that wait in a queue, oldest first.
    Waiting {
        /// Whose queue.
        tenant_id: TenantId,
        /// Its name.
        queue: String,
    },
    /// Those whose pause between submits or attempts is over, and which have time left.
    PauseOver {
        /// The time it is.
        now_ms: i64,
    },
    /// Those whose claim is stale, or is this executor's own.
    StaleClaims {
        /// The time it is.
        now_ms: i64,
        /// Whose claims count as stale at once.
        own: Option<String>,
    },
    /// Those that were handed off before a time and no worker has taken.
    HandedOff {
        /// That time.
        before_ms: i64,
    },
    /// Those that wait for a worker and have time left, oldest first.
    ToTake {
        /// The time it is, unless it is the database's.
        by_hand_ms: Option<i64>,
    },
    /// Those whose deadline passed while they waited for another attempt.
    Overdue {
        /// The time it is.
        now_ms: i64,
    },
    /// Those whose lease ran out.
    LeaseOut {
        /// The time it is.
        now_ms: i64,
    },
    /// Those that somebody wants to end, or that ended without the engine's word, and whose engine was not told since a time.
    ToWithdraw {
        /// That time.
        before_ms: i64,
    },
    /// Those that ended before a time, the first to end first.
    Finished {
        /// That time.
        before_ms: i64,
        /// When the one ended that they come after, and its number.
        after: (i64, i64),
    },
}

/// A queue in which runs wait.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct WaitingQueue {
    pub(crate) tenant_id: TenantId,
    pub(crate) queue: String,
    pub(crate) limits: Limits,
    pub(crate) holding: u64,
}

/// What there is to know before a run is asked for.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Opening {
    /// The run, if it was asked for before.
    pub(crate) before: Option<Record>,
    /// What its job says, if there is such a job.
    pub(crate) offer: Option<Offer>,
}

/// What a job says of its next run.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Offer {
    pub(crate) job_id: JobId,
    pub(crate) revision: u32,
    pub(crate) queue: String,
    pub(crate) policy: Policy,
    /// Those of the queue, if there is such a queue.
    pub(crate) limits: Option<Limits>,
}

/// What is told of a change: to the log, and to the audit.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Note {
    pub(crate) events: Vec<Event>,
    pub(crate) entry: Entry,
}

/// Who does what.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Deed<'a> {
    pub(crate) actor: &'a str,
    pub(crate) action: &'static str,
}

/// A change of a run, from what it was loaded as.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Move {
    pub(crate) before: Run,
    pub(crate) after: Run,
    /// Of each step of the change; none where nothing is told, as of a heartbeat.
    pub(crate) notes: Vec<Note>,
}

/// A revision of a job that is to be saved.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Revision<'a> {
    pub(crate) tenant_id: TenantId,
    pub(crate) job_id: JobId,
    pub(crate) number: u32,
    pub(crate) document: &'a JobDocument,
    pub(crate) saved_at_ms: i64,
    pub(crate) saved_by: &'a str,
}

/// One transaction's worth of work; it may be applied again when the database says that another came between.
pub(crate) trait Verb: Send + Sync + 'static {
    /// What it gives back.
    type Output: Send + 'static;

    /// What is being done, for errors.
    const DOING: &'static str;

    /// Whether it may use what is kept back for those that somebody loses a run without.
    const IS_URGENT: bool = false;

    /// Does it.
    fn apply<T: Tx>(
        &self,
        tx: &mut T,
        context: &Context,
    ) -> impl Future<Output = Result<Self::Output, StoreError>> + Send;
}

impl WaitingQueue {
    /// What finds the runs that may leave the queue, and how many may, if any.
    pub(crate) fn search(self, at_most: u32) -> Option<(Search, u32)> {
        let room = self.limits.room(self.holding).try_into().unwrap_or(u32::MAX).min(at_most);
        let search = Search::Waiting { tenant_id: self.tenant_id, queue: self.queue };
        (room > 0).then_some((search, room))
    }
}

impl Move {
    /// Makes a move of what `lifecycle` answered, told as the deed of an actor.
    pub(crate) fn new(before: &Run, change: Change, context: &Context, deed: Deed<'_>, now_ms: i64) -> Self {
        let Deed { actor, action } = deed;
        let events = context.events(&before.ids, &change.events, now_ms);
        let entry = Entry {
            at_ms: now_ms,
            tenant_id: before.ids.tenant_id,
            actor: actor.to_owned(),
            action: action.into(),
            subject: before.ids.run_id.to_string(),
            detail: serde_json::json!({
                "from": before.state.status().name(),
                "to": change.run.state.status().name(),
                "epoch": change.run.epoch.0,
            }),
        };
        Self { before: before.clone(), after: change.run, notes: vec![Note { events, entry }] }
    }

    /// Goes on from where it led, so that both are written as one.
    pub(crate) fn then(mut self, next: Self) -> Self {
        self.notes.extend(next.notes);
        Self { after: next.after, ..self }
    }
}
