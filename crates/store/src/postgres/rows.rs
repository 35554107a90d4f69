//! What the rows of PostgreSQL say.

use std::error::Error;

use serde_json::Value;
use tokio_postgres::Row;
use tokio_postgres::types::private::BytesMut;
use tokio_postgres::types::{FromSql, IsNull, ToSql, Type, accepts, to_sql_checked};
use trueup_events::{Event, EventId, EventName, Ids, JobId, Mark, RunId, TenantId};
use trueup_lifecycle::{Limits, Policy};

use crate::audit;
use crate::columns::{Columns, damaged, read, role};
use crate::connection::Connection;
use crate::error::StoreError;
use crate::key::{Key, Tenant};
use crate::observed::{Observed, SeenColumns};
use crate::record::{Answer, Job, JobDocument, JobListed, Pass, QueueLoad, Record, Saved};
use crate::tx::{Found, Offer, Owner, Unreadable};

/// The text of a column of type `json`, which keeps it as it was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Json(pub(crate) String);

impl<'a> FromSql<'a> for Json {
    fn from_sql(ty: &Type, raw: &'a [u8]) -> Result<Self, Box<dyn Error + Sync + Send>> {
        <String as FromSql>::from_sql(ty, raw).map(Self)
    }

    accepts!(JSON);
}

impl ToSql for Json {
    fn to_sql(&self, ty: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        self.0.to_sql(ty, out)
    }

    accepts!(JSON);
    to_sql_checked!();
}

/// A run, from the columns in the order in which every statement lists them.
pub(crate) fn record(row: &Row) -> Result<Record, StoreError> {
    let ids = Ids {
        run_id: parsed("a run's id", row, 1)?,
        job_id: parsed("a run's job", row, 3)?,
        tenant_id: parsed("a run's tenant", row, 2)?,
    };
    let policy = Policy { deadline_ms: row.get(10), retries: count("a run's retries", row.get(11))? };
    let columns = Columns {
        state: row.get(12),
        epoch: row.get(13),
        executor: row.get(14),
        due_at_ms: row.get(15),
        submits: row.get(16),
        attempt: row.get(17),
        worker: row.get(18),
        deadline_at_ms: row.get(19),
        finished_at_ms: row.get(20),
        verdict: row.get(21),
        error: text(row, 22),
        cancel: text(row, 23),
        beside: text(row, 24),
    };
    Ok(Record {
        run: columns.run(ids, policy)?,
        number: row.get(0),
        revision: count("a run's revision", row.get(4))?,
        queue: row.get(5),
        params: text(row, 6).unwrap_or_default(),
        mode: parsed("a run's mode", row, 7)?,
        triggered_by: row.get(8),
        requested_at_ms: row.get(9),
    })
}

/// A run, or that its row makes no sense.
pub(crate) fn found(row: &Row) -> Found {
    record(row).map_err(|problem| Unreadable { number: row.get(0), problem })
}

/// An event, from its position and its columns.
pub(crate) fn event(row: &Row) -> Result<Event, StoreError> {
    let extensions = text(row, 10).map(|text| read("an event's extensions", &text)).transpose()?;
    let name: &str = row.get(4);
    Ok(Event {
        event_id: event_id(row.get(1))?,
        position: row.get::<_, Option<i64>>(0).map(i64::cast_unsigned),
        tenant_id: parsed("an event's tenant", row, 2)?,
        run_id: parsed("an event's run", row, 3)?,
        name: EventName::from(name),
        source: row.get(5),
        time: parsed("an event's time", row, 6)?,
        stamped_here: row.get(12),
        data: value("an event's data", row, 7)?,
        causation_id: row.get::<_, Option<i64>>(8).map(event_id).transpose()?,
        traceparent: row.get(9),
        extensions: extensions.unwrap_or_default(),
        details: text(row, 11).map(|text| read("an event's details", &text)).transpose()?,
        mark: row.get::<_, Option<&str>>(13).map(mark).transpose()?,
    })
}

/// Whose a run is.
pub(crate) fn owner(row: &Row) -> Result<Owner, StoreError> {
    Ok(Owner { run_id: run_id(row)?, tenant_id: tenant_id(row, 1)?, is_over: row.get(2) })
}

/// An execution that something else started.
pub(crate) fn observed(row: &Row) -> Result<Observed, StoreError> {
    let steps = text(row, 5).unwrap_or_default();
    let columns = SeenColumns { name: row.get(3), state: row.get(4), steps, cancel: text(row, 6) };
    Ok(Observed {
        number: row.get(0),
        id: parsed("an observed execution's id", row, 1)?,
        tenant_id: tenant_id(row, 2)?,
        seen: columns.seen()?,
        opened_at_ms: row.get(7),
        updated_at_ms: row.get(8),
        finished_at_ms: row.get(9),
        changes: row.get(10),
    })
}

/// A job in its present revision.
pub(crate) fn job(row: &Row) -> Result<Job, StoreError> {
    let policy = Policy { deadline_ms: row.get(5), retries: count("a job's retries", row.get(6))? };
    Ok(Job {
        id: parsed::<JobId>("a job's id", row, 0)?,
        revision: count("a job's revision", row.get(1))?,
        document: JobDocument {
            name: row.get(2),
            document: value("a job's document", row, 3)?,
            queue: row.get(4),
            policy,
        },
    })
}

pub(crate) fn job_listed(row: &Row) -> Result<JobListed, StoreError> {
    Ok(JobListed {
        id: parsed("a job's id", row, 0)?,
        name: row.get(1),
        revision: count("a job's revision", row.get(2))?,
        queue: row.get(3),
        saved_at_ms: row.get(4),
        saved_by: row.get(5),
    })
}

pub(crate) fn saved(row: &Row) -> Result<Saved, StoreError> {
    let revision = count("a job's revision", row.get(0))?;
    Ok(Saved { revision, saved_at_ms: row.get(1), saved_by: row.get(2) })
}

pub(crate) fn tenant(row: &Row) -> Result<Tenant, StoreError> {
    Ok(Tenant { id: tenant_id(row, 0)?, name: row.get(1), made_at_ms: row.get(2) })
}

/// A key by which requests say who they are.
pub(crate) fn key_of(row: &Row) -> Result<Key, StoreError> {
    Ok(Key {
        id: parsed("a key's id", row, 0)?,
        tenant_id: tenant_id(row, 1)?,
        name: row.get(2),
        role: role(row.get(3))?,
        created_at_ms: row.get(4),
        created_by: row.get(5),
        expires_at_ms: row.get(6),
        revoked_at_ms: row.get(7),
    })
}

/// A column that holds a SHA-256.
pub(crate) fn hash(row: &Row, column: usize) -> Result<[u8; 32], StoreError> {
    let bytes: &[u8] = row.get(column);
    bytes.try_into().map_err(|_| damaged(format!("a hash has {} bytes", bytes.len())))
}

pub(crate) fn connection(row: &Row) -> Result<Connection, StoreError> {
    Ok(Connection {
        tenant_id: tenant_id(row, 0)?,
        name: row.get(1),
        kind: row.get(2),
        settings: value("a connection's settings", row, 3)?,
        sealed: row.get(4),
        version: count("a connection's version", row.get(5))?,
        changed_at_ms: row.get(6),
        changed_by: row.get(7),
    })
}

pub(crate) fn answer(row: &Row) -> Result<Answer, StoreError> {
    let status: i64 = row.get(1);
    Ok(Answer {
        request_hash: hash(row, 0)?,
        status: status.try_into().map_err(|_| damaged(format!("an answer's status is {status}")))?,
        body: row.get(2),
    })
}

/// What a job says of its next run, by whose it is and its name.
pub(crate) fn offer(row: &Row) -> Result<((TenantId, String), Offer), StoreError> {
    let limits = || -> Result<Limits, StoreError> {
        Ok(Limits { max_running: limit(row, 8)?, max_waiting: limit(row, 9)? })
    };
    let offer = Offer {
        job_id: parsed::<JobId>("a job's id", row, 2)?,
        revision: count("a job's revision", row.get(3))?,
        queue: row.get(4),
        policy: Policy { deadline_ms: row.get(5), retries: count("a job's retries", row.get(6))? },
        limits: row.get::<_, bool>(7).then(limits).transpose()?,
    };
    Ok(((tenant_id(row, 0)?, row.get(1)), offer))
}

/// An entry of the audit log, from its columns after the first so many.
pub(crate) fn entry(row: &Row, after: usize) -> audit::Row {
    audit::Row {
        id: row.get(after),
        at_ms: row.get(after + 1),
        tenant_id: row.get(after + 2),
        actor: row.get(after + 3),
        action: row.get(after + 4),
        subject: row.get(after + 5),
        detail: row.get::<_, Json>(after + 6).0,
    }
}

/// The id of a run, first in its row.
pub(crate) fn run_id(row: &Row) -> Result<RunId, StoreError> {
    parsed("a run's id", row, 0)
}

pub(crate) fn pass(row: &Row) -> Pass {
    Pass {
        task: row.get(0),
        instance: row.get(1),
        at_ms: row.get(2),
        took_ms: row.get(3),
        seen: row.get::<_, i64>(4).cast_unsigned(),
        done: row.get::<_, i64>(5).cast_unsigned(),
        note: row.get(6),
    }
}

pub(crate) fn queue_load(row: &Row) -> Result<QueueLoad, StoreError> {
    let number = |column| row.get::<_, i64>(column).cast_unsigned();
    Ok(QueueLoad {
        queue: row.get(0),
        limits: Limits { max_running: limit(row, 1)?, max_waiting: limit(row, 2)? },
        waiting: number(3),
        scheduled: number(4),
        running: number(5),
    })
}

pub(crate) fn tenant_id(row: &Row, column: usize) -> Result<TenantId, StoreError> {
    parsed("a tenant's id", row, column)
}

/// A limit of a queue.
pub(crate) fn limit(row: &Row, column: usize) -> Result<Option<u32>, StoreError> {
    row.get::<_, Option<i64>>(column).map(|limit| count("a queue's limit", limit)).transpose()
}

/// The key of a run in its table.
pub(crate) fn key(id: RunId) -> String {
    id.to_string()
}

fn parsed<T: std::str::FromStr>(what: &str, row: &Row, column: usize) -> Result<T, StoreError>
where
    T::Err: std::fmt::Display,
{
    let text: &str = row.get(column);
    text.parse().map_err(|error| damaged(format!("{what} is {text:?}: {error}")))
}

fn text(row: &Row, column: usize) -> Option<String> {
    row.get::<_, Option<Json>>(column).map(|json| json.0)
}

fn value(what: &str, row: &Row, column: usize) -> Result<Value, StoreError> {
    read(what, &row.get::<_, Json>(column).0)
}

fn count(what: &str, number: i64) -> Result<u32, StoreError> {
    u32::try_from(number).map_err(|_| damaged(format!("{what} is {number}")))
}

fn mark(name: &str) -> Result<Mark, StoreError> {
    name.parse().map_err(|error| damaged(format!("the mark of an event: {error}")))
}

fn event_id(number: i64) -> Result<EventId, StoreError> {
    let id = u64::try_from(number).ok().and_then(|number| EventId::new(number).ok());
    id.ok_or_else(|| damaged(format!("an event's id is {number}")))
}
