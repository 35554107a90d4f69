//! Rows of tables, and what they hold.

use std::fmt::Display;
use std::str::FromStr;
use std::sync::LazyLock;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, Row, ToSql};
use trueup_events::{Event, EventId, Ids, Mark, RunId, TenantId};
use trueup_lifecycle::{Limits, Policy};

use super::sql;
use crate::audit;
use crate::columns::{Columns, damaged, json, read, role};
use crate::error::StoreError;
use crate::key::{Key, Tenant};
use crate::observed::{Observed, SeenColumns};
use crate::record::{Answer, Job, JobDocument, JobListed, Pass, QueueLoad, Record, Saved};
use crate::tx::{Found, Owner, Unreadable, WaitingQueue};

/// Something that a row holds, or why it cannot be read.
pub(crate) type Loaded<T> = Result<T, Unread>;

/// Why a row could not be read: the database said so, or what it holds makes no sense.
#[derive(Debug)]
pub(crate) enum Unread {
    Sqlite(rusqlite::Error),
    Store(StoreError),
}

impl From<rusqlite::Error> for Unread {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sqlite(error)
    }
}

impl From<StoreError> for Unread {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl Unread {
    pub(crate) fn while_doing(self, doing: &'static str) -> StoreError {
        match self {
            Self::Sqlite(error) => super::error::kind(&error, doing),
            Self::Store(error) => error,
        }
    }
}

/// Reads a column of text as what the text names.
fn parsed<T: FromStr<Err: Display>>(row: &Row<'_>, column: usize) -> Loaded<T> {
    let text = row.get_ref(column)?.as_str().map_err(rusqlite::Error::from)?;
    text.parse().map_err(|error| damaged(format!("{text:?} {error}")).into())
}

/// Reads a column of JSON.
fn document<T: serde::de::DeserializeOwned>(row: &Row<'_>, column: usize, name: &str) -> Loaded<T> {
    Ok(read(name, row.get_ref(column)?.as_str().map_err(rusqlite::Error::from)?)?)
}

/// Reads a column of JSON that may be empty.
fn document_if_any<T: serde::de::DeserializeOwned>(
    row: &Row<'_>,
    column: usize,
    name: &str,
) -> Loaded<Option<T>> {
    match row.get_ref(column)? {
        ValueRef::Null => Ok(None),
        _ => document(row, column, name).map(Some),
    }
}

/// Reads a run from the columns that every statement about runs selects.
pub(crate) fn record(row: &Row<'_>) -> Loaded<Record> {
    let ids = Ids { run_id: parsed(row, 1)?, tenant_id: parsed(row, 2)?, job_id: parsed(row, 3)? };
    let policy = Policy { deadline_ms: row.get(10)?, retries: row.get(11)? };
    let columns = Columns {
        state: row.get(12)?,
        epoch: row.get(13)?,
        executor: row.get(14)?,
        due_at_ms: row.get(15)?,
        submits: row.get(16)?,
        attempt: row.get(17)?,
        worker: row.get(18)?,
        deadline_at_ms: row.get(19)?,
        finished_at_ms: row.get(20)?,
        verdict: row.get(21)?,
        error: row.get(22)?,
        cancel: row.get(23)?,
        beside: row.get(24)?,
    };
    Ok(Record {
        run: columns.run(ids, policy)?,
        number: row.get(0)?,
        revision: row.get(4)?,
        queue: row.get(5)?,
        params: row.get(6)?,
        mode: parsed(row, 7)?,
        triggered_by: row.get(8)?,
        requested_at_ms: row.get(9)?,
    })
}

/// Reads the id of a run, alone in its row.
pub(crate) fn run_id(row: &Row<'_>) -> Loaded<RunId> {
    parsed(row, 0)
}

pub(crate) fn pass(row: &Row<'_>) -> Loaded<Pass> {
    Ok(Pass {
        task: row.get(0)?,
        instance: row.get(1)?,
        at_ms: row.get(2)?,
        took_ms: row.get(3)?,
        seen: row.get::<_, i64>(4)?.cast_unsigned(),
        done: row.get::<_, i64>(5)?.cast_unsigned(),
        note: row.get(6)?,
    })
}

pub(crate) fn queue_load(row: &Row<'_>) -> Loaded<QueueLoad> {
    let number = |column| row.get::<_, i64>(column).map(i64::cast_unsigned);
    Ok(QueueLoad {
        queue: row.get(0)?,
        limits: limits(row, 1)?,
        waiting: number(3)?,
        scheduled: number(4)?,
        running: number(5)?,
    })
}

/// Reads a run, or says that its row makes no sense.
pub(crate) fn found(row: &Row<'_>) -> Loaded<Found> {
    match record(row).map_err(|unread| unread.while_doing("reading a run")) {
        Ok(record) => Ok(Ok(record)),
        Err(problem @ StoreError::Damaged { .. }) => Ok(Err(Unreadable { number: row.get(0)?, problem })),
        Err(error) => Err(error.into()),
    }
}

/// Reads an event from the columns that every statement about events selects.
pub(crate) fn event(row: &Row<'_>) -> Loaded<Event> {
    let position: i64 = row.get(0)?;
    let causation_id: Option<i64> = row.get(8)?;
    Ok(Event {
        event_id: event_id(row.get(1)?)?,
        position: Some(position.cast_unsigned()),
        tenant_id: parsed(row, 2)?,
        run_id: parsed(row, 3)?,
        name: row.get::<_, String>(4)?.as_str().into(),
        source: row.get(5)?,
        time: parsed(row, 6)?,
        stamped_here: row.get(12)?,
        data: document(row, 7, "data")?,
        causation_id: causation_id.map(event_id).transpose()?,
        traceparent: row.get(9)?,
        extensions: document_if_any(row, 10, "extensions")?.unwrap_or_default(),
        details: document_if_any(row, 11, "details")?,
        mark: row.get_ref(13)?.as_str_or_null().map_err(rusqlite::Error::from)?.map(mark).transpose()?,
    })
}

fn mark(name: &str) -> Loaded<Mark> {
    name.parse().map_err(|error| damaged(format!("the mark of an event: {error}")).into())
}

fn event_id(number: i64) -> Loaded<EventId> {
    EventId::new(number.cast_unsigned())
        .map_err(|error| damaged(format!("the id of an event {error}")).into())
}

/// How many events one statement adds, the most first: a statement costs more than a row does.
pub(crate) const STRIDES: [usize; 4] = [32, 8, 2, 1];

/// The statements that add so many.
static INSERT_EVENTS: LazyLock<[String; STRIDES.len()]> = LazyLock::new(|| {
    let row = sql::INSERT_EVENT.trim_end().lines().last().unwrap_or_default();
    STRIDES.map(|count| format!("{}{}", sql::INSERT_EVENT.trim_end(), format!(", {row}").repeat(count - 1)))
});

/// Writes as many events to the end of the log as one statement may, and gives how many: all of these, or none.
pub(crate) fn insert_events(connection: &Connection, events: &[Event]) -> rusqlite::Result<usize> {
    let stride = STRIDES.into_iter().position(|stride| stride <= events.len());
    let Some(stride) = stride else { return Ok(0) };
    let mut statement = connection.prepare_cached(&INSERT_EVENTS[stride])?;
    let id = |id: EventId| id.get().cast_signed();
    let mut parameter = 0;
    for event in &events[..STRIDES[stride]] {
        let extensions = (!event.extensions.is_empty()).then(|| json(&event.extensions));
        let values: [&dyn ToSql; 13] = [
            &id(event.event_id),
            &event.tenant_id.to_string(),
            &event.run_id.to_string(),
            &event.name.as_str(),
            &event.source,
            &event.time.as_str(),
            &json(&event.data),
            &event.causation_id.map(id),
            &event.traceparent,
            &extensions,
            &event.details.as_deref().map(json),
            &event.stamped_here,
            &event.mark.map(Mark::name),
        ];
        for value in values {
            parameter += 1;
            statement.raw_bind_parameter(parameter, value)?;
        }
    }
    statement.raw_execute()?;
    Ok(STRIDES[stride])
}

/// Reads a job in its present revision.
pub(crate) fn job(row: &Row<'_>) -> Loaded<Job> {
    Ok(Job {
        id: parsed(row, 0)?,
        revision: row.get(1)?,
        document: JobDocument {
            name: row.get(2)?,
            document: document(row, 3, "document")?,
            queue: row.get(4)?,
            policy: Policy { deadline_ms: row.get(5)?, retries: row.get(6)? },
        },
    })
}

pub(crate) fn job_listed(row: &Row<'_>) -> Loaded<JobListed> {
    Ok(JobListed {
        id: parsed(row, 0)?,
        name: row.get(1)?,
        revision: row.get(2)?,
        queue: row.get(3)?,
        saved_at_ms: row.get(4)?,
        saved_by: row.get(5)?,
    })
}

pub(crate) fn saved(row: &Row<'_>) -> Loaded<Saved> {
    Ok(Saved { revision: row.get(0)?, saved_at_ms: row.get(1)?, saved_by: row.get(2)? })
}

/// Reads the limits of a queue, which start at a column.
pub(crate) fn limits(row: &Row<'_>, at: usize) -> Loaded<Limits> {
    Ok(Limits { max_running: row.get(at)?, max_waiting: row.get(at + 1)? })
}

/// Reads an entry of the audit log, which starts at a column.
pub(crate) fn entry(row: &Row<'_>, at: usize) -> Loaded<audit::Row> {
    Ok(audit::Row {
        id: row.get(at)?,
        at_ms: row.get(at + 1)?,
        tenant_id: row.get(at + 2)?,
        actor: row.get(at + 3)?,
        action: row.get(at + 4)?,
        subject: row.get(at + 5)?,
        detail: row.get(at + 6)?,
    })
}

/// Reads every row that a statement gives.
pub(crate) fn all<T>(
    connection: &Connection,
    statement: &str,
    parameters: impl rusqlite::Params,
    read: impl Fn(&Row<'_>) -> Loaded<T>,
) -> Loaded<Vec<T>> {
    let mut statement = connection.prepare_cached(statement)?;
    let mut rows = statement.query(parameters)?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        found.push(read(row)?);
    }
    Ok(found)
}

/// Reads the one row that a statement gives, if it gives one.
pub(crate) fn first<T>(
    connection: &Connection,
    statement: &str,
    parameters: impl rusqlite::Params,
    read: impl Fn(&Row<'_>) -> Loaded<T>,
) -> Loaded<Option<T>> {
    let mut statement = connection.prepare_cached(statement)?;
    let mut rows = statement.query(parameters)?;
    rows.next()?.map(read).transpose()
}

/// Reads a queue in which runs wait.
pub(crate) fn waiting_queue(row: &Row<'_>) -> Loaded<WaitingQueue> {
    let holding: i64 = row.get(4)?;
    Ok(WaitingQueue {
        tenant_id: parsed(row, 0)?,
        queue: row.get(1)?,
        limits: limits(row, 2)?,
        holding: holding.cast_unsigned(),
    })
}

/// Reads whose a run is.
pub(crate) fn owner(row: &Row<'_>) -> Loaded<Owner> {
    Ok(Owner { run_id: parsed(row, 0)?, tenant_id: parsed(row, 1)?, is_over: row.get(2)? })
}

/// Reads an execution that something else started.
pub(crate) fn observed(row: &Row<'_>) -> Loaded<Observed> {
    let columns =
        SeenColumns { name: row.get(3)?, state: row.get(4)?, steps: row.get(5)?, cancel: row.get(6)? };
    Ok(Observed {
        number: row.get(0)?,
        id: parsed(row, 1)?,
        tenant_id: parsed(row, 2)?,
        seen: columns.seen()?,
        opened_at_ms: row.get(7)?,
        updated_at_ms: row.get(8)?,
        finished_at_ms: row.get(9)?,
        changes: row.get(10)?,
    })
}

/// Reads the id of a tenant.
pub(crate) fn tenant_id(row: &Row<'_>) -> Loaded<TenantId> {
    parsed(row, 0)
}

pub(crate) fn tenant(row: &Row<'_>) -> Loaded<Tenant> {
    Ok(Tenant { id: parsed(row, 0)?, name: row.get(1)?, made_at_ms: row.get(2)? })
}

pub(crate) fn key(row: &Row<'_>) -> Loaded<Key> {
    Ok(Key {
        id: parsed(row, 0)?,
        tenant_id: parsed(row, 1)?,
        name: row.get(2)?,
        role: role(&row.get::<_, String>(3)?)?,
        created_at_ms: row.get(4)?,
        created_by: row.get(5)?,
        expires_at_ms: row.get(6)?,
        revoked_at_ms: row.get(7)?,
    })
}

pub(crate) fn connection(row: &Row<'_>) -> Loaded<crate::Connection> {
    Ok(crate::Connection {
        tenant_id: parsed(row, 0)?,
        name: row.get(1)?,
        kind: row.get(2)?,
        settings: document(row, 3, "settings")?,
        sealed: row.get(4)?,
        version: row.get(5)?,
        changed_at_ms: row.get(6)?,
        changed_by: row.get(7)?,
    })
}

pub(crate) fn answer(row: &Row<'_>) -> Loaded<Answer> {
    Ok(Answer { request_hash: hash(row, 0)?, status: row.get(1)?, body: row.get(2)? })
}

/// Reads a column that holds a SHA-256.
pub(crate) fn hash(row: &Row<'_>, column: usize) -> Loaded<[u8; 32]> {
    Ok(row.get(column)?)
}
