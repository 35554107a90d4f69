//! The store in SQLite.

mod chain;
mod connections;
mod error;
mod inspect;
mod jobs;
mod keys;
mod lock;
mod migrate;
mod observed;
mod open;
mod readers;
mod rows;
mod runs;
mod sql;
mod tx;
mod writer;

use std::path::Path;
use std::sync::Arc;

use rusqlite::{Row, params};
use tokio::sync::watch;
use trueup_events::{Event, RunId, TenantId};

use self::inspect::{Depth, Found};
use self::lock::Lock;
use self::readers::Readers;
use self::writer::Writer;
use crate::audit::{Audited, Head};
use crate::context::{Context, Options};
use crate::error::StoreError;
use crate::place::Role;
use crate::record::{Audit, NewRun, Pass, QueueLoad};
use crate::tx::Verb;
use crate::verbs::Trigger;

/// An open SQLite store.
#[derive(Debug)]
pub(crate) struct Sqlite {
    context: Arc<Context>,
    changes: watch::Sender<u64>,
    readers: Readers,
    /// None for who only reads.
    writer: Option<Writer>,
    /// Of a server; it goes after the writer.
    lock: Option<Lock>,
}

impl Sqlite {
    /// The version of the schema of every open store.
    pub(crate) const SCHEMA: i64 = migrate::KNOWN;

    pub(crate) async fn open(place: &Path, role: Role, options: Options) -> Result<Self, StoreError> {
        let path = place.to_owned();
        blocking("opening the store", move || Self::open_now(&path, role, options)).await
    }

    fn open_now(path: &Path, role: Role, options: Options) -> Result<Self, StoreError> {
        let path = &inspect::real(path);
        // Who only looks cannot make it worse, and finds out by itself.
        let depth = if role == Role::Reader { Depth::Schema } else { Depth::Pages };
        // First, so that a file that is refused gets no lock beside it.
        let found = inspect::inspect(path, depth)?;
        if role == Role::Reader {
            return Self::open_to_read(path, found, options);
        }
        inspect::refuse_read_only(path)?;
        let lock = if role == Role::Server { Some(Lock::take(path)?) } else { None };
        let source = (role == Role::Server).then_some(options.sources.core.as_str());
        let (connection, node) = open::open(path, found, depth, source)?;
        let context = Arc::new(Context::new(options, node));
        let changes = watch::Sender::new(0);
        let writer = Some(Writer::start(connection, Arc::clone(&context), changes.clone())?);
        Ok(Self { context, changes, readers: Readers::beside_a_writer(path.to_owned()), writer, lock })
    }

    fn open_to_read(path: &Path, found: Found, options: Options) -> Result<Self, StoreError> {
        if found == Found::Nothing {
            let problem = format!("{} is missing or empty", path.display());
            return Err(StoreError::NoStore { problem });
        }
        let readers = Readers::alone(path.to_owned())?;
        let context = Arc::new(Context::new(options, 0));
        Ok(Self { context, changes: watch::Sender::new(0), readers, writer: None, lock: None })
    }

    pub(crate) async fn close(self) -> Result<(), StoreError> {
        let Self { readers, mut writer, lock, .. } = self;
        blocking("closing the store", move || {
            // The writer goes last, so that it finds nobody else and tidies up the log of writes.
            readers.close();
            let stopped = writer.as_mut().map_or(Ok(()), Writer::stop);
            drop(lock);
            stopped
        })
        .await
    }

    pub(crate) fn context(&self) -> &Context {
        &self.context
    }

    pub(crate) fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    /// Commits the intent to run a job; the writer commits together what is asked for at once.
    pub(crate) async fn trigger(&self, new: NewRun) -> Result<RunId, StoreError> {
        self.transact(Trigger::alone(new)).await.and_then(Trigger::answer)
    }

    pub(crate) async fn transact<V: Verb>(&self, verb: V) -> Result<V::Output, StoreError> {
        match &self.writer {
            Some(writer) => writer.ask(verb).await,
            None => Err(StoreError::ReadOnly { problem: "it was opened to be read".to_owned() }),
        }
    }

    pub(crate) async fn read_from(
        &self,
        position: u64,
        tenant_id: Option<TenantId>,
        limit: u32,
    ) -> Result<Vec<Event>, StoreError> {
        let position = position.cast_signed();
        let read = move |connection: &_| match tenant_id {
            None => rows::all(connection, sql::READ_FROM, params![position, limit], rows::event),
            Some(tenant_id) => {
                let of = params![position, tenant_id.to_string(), limit];
                rows::all(connection, sql::READ_FROM_OF_TENANT, of, rows::event)
            }
        };
        self.readers.read("reading the log", read).await
    }

    pub(crate) async fn events_of(
        &self,
        tenant_id: TenantId,
        run_id: RunId,
        position: u64,
        limit: u32,
    ) -> Result<Vec<Event>, StoreError> {
        let read = move |connection: &_| {
            let of = params![run_id.to_string(), position.cast_signed(), limit, tenant_id.to_string()];
            rows::all(connection, sql::EVENTS_OF_RUN, of, rows::event)
        };
        self.readers.read("reading the events of a run", read).await
    }

    pub(crate) async fn remembers(&self, run_id: RunId) -> Result<bool, StoreError> {
        let read = move |connection: &rusqlite::Connection| {
            let mut statement = connection.prepare_cached(sql::REMEMBERS)?;
            Ok(statement.query_row([run_id.to_string()], |row| row.get(0))?)
        };
        self.readers.read("looking for a run", read).await
    }

    pub(crate) async fn to_stop(&self, worker: &str) -> Result<Vec<RunId>, StoreError> {
        let worker = worker.to_owned();
        let read = move |connection: &_| rows::all(connection, sql::TO_STOP, [worker], rows::run_id);
        self.readers.read("looking for runs to stop", read).await
    }

    /// Asked of a connection that reads; those that write are tuned by the same function.
    pub(crate) async fn settings(&self) -> Result<Vec<(String, String)>, StoreError> {
        let read = |connection: &rusqlite::Connection| {
            let journal_mode = connection.pragma_query_value(None, "journal_mode", |row| row.get(0))?;
            let synchronous = match connection.pragma_query_value(None, "synchronous", |row| row.get(0))? {
                0 => "off".to_owned(),
                1 => "normal".to_owned(),
                2 => "full".to_owned(),
                3 => "extra".to_owned(),
                other => i64::to_string(&other),
            };
            let names = ["journal_mode", "synchronous", "version"].map(str::to_owned);
            let values = [journal_mode, synchronous, rusqlite::version().to_owned()];
            Ok(names.into_iter().zip(values).collect())
        };
        self.readers.read("asking for the settings", read).await
    }

    pub(crate) async fn now_ms(&self) -> Result<i64, StoreError> {
        let read = |connection: &_| rows::first(connection, sql::NOW_MS, [], |row| Ok(row.get(0)?));
        Ok(self.readers.read("asking for the time", read).await?.unwrap_or_default())
    }

    pub(crate) async fn passes(&self) -> Result<Vec<Pass>, StoreError> {
        let read = move |connection: &_| rows::all(connection, sql::PASSES, [], rows::pass);
        self.readers.read("reading what tasks did", read).await
    }

    pub(crate) async fn queues(&self, tenant_id: TenantId) -> Result<Vec<QueueLoad>, StoreError> {
        let read = move |connection: &_| {
            rows::all(connection, sql::QUEUES, [tenant_id.to_string()], rows::queue_load)
        };
        self.readers.read("looking at queues", read).await
    }

    pub(crate) async fn audit(
        &self,
        after: u64,
        tenant_id: Option<TenantId>,
        limit: u32,
    ) -> Result<Vec<Audit>, StoreError> {
        let read = move |connection: &_| {
            let audit = |row: &Row<'_>| Ok(rows::entry(row, 1)?.read(row.get(0)?)?);
            let after = after.cast_signed();
            match tenant_id {
                None => rows::all(connection, sql::AUDIT_FROM, params![after, limit], audit),
                Some(tenant_id) => {
                    let of = params![after, tenant_id.to_string(), limit];
                    rows::all(connection, sql::AUDIT_FROM_OF_TENANT, of, audit)
                }
            }
        };
        self.readers.read("reading the audit log", read).await
    }

    pub(crate) async fn verify_audit(&self, expected: Option<Head>) -> Result<Audited, StoreError> {
        self.readers
            .read("checking the audit log", move |connection: &_| chain::verify(connection, expected))
            .await
    }
}

/// Does something that blocks, where it holds up no other task.
async fn blocking<T: Send + 'static>(
    doing: &'static str,
    work: impl FnOnce() -> Result<T, StoreError> + Send + 'static,
) -> Result<T, StoreError> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|error| StoreError::Failed { doing, problem: error.to_string() })?
}
