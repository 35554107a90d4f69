//! ODBC: whatever has a driver. Its calls block, so that they are made by a thread that can be left alone.

mod bound;
mod column;
mod refusal;

use std::mem;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use arrow_array::RecordBatch;
use arrow_schema::{ArrowError, Schema, SchemaRef};
use odbc_api::{Connection, ConnectionOptions, Cursor, Environment, Prepared, ResultSetMetadata};

use self::column::{Buffers, Column, Unread};
use self::refusal::Refusal;
use crate::database::{Database, Query, Value, check_columns};
use crate::error::{Error, Refused, guarded};
use crate::keep::{Keep, PART_BYTES, PART_ROWS};
use crate::reach::PATIENCE;
use crate::table::Table;

/// How often it is asked whether to go on.
const LOOK: Duration = Duration::from_millis(100);
/// How many parts wait to be written down.
const PARTS_AHEAD: usize = 1;

/// Held while a connection is made.
static CONNECTING: Mutex<()> = Mutex::new(());

/// What is to be said to a database, by the first words of its name.
struct Known {
    name: &'static str,
    /// Keeps a session from writing; elsewhere nothing is committed.
    only_reads: &'static [&'static str],
    /// Keeps its driver from holding all rows in memory: a setting of its connection strings that is off unless said.
    streams: Option<&'static str>,
    /// Whether transactions are left alone, since within one the driver holds all rows nevertheless.
    commits: bool,
}

const KNOWN: [Known; 5] = [
    Known {
        name: "PostgreSQL",
        only_reads: &["set transaction isolation level repeatable read, read only", "set time zone 'UTC'"],
        streams: Some("UseDeclareFetch"),
        commits: false,
    },
    Known { name: "Oracle", only_reads: &["set transaction read only"], streams: None, commits: false },
    Known {
        name: "MySQL",
        only_reads: &["set session transaction read only"],
        streams: None,
        commits: false,
    },
    Known {
        name: "MariaDB",
        only_reads: &["set session transaction read only"],
        streams: None,
        commits: false,
    },
    Known {
        name: "SQLite",
        only_reads: &["pragma query_only = on"],
        streams: Some("StepAPI"),
        commits: true,
    },
];

impl Known {
    fn of(connection: &Connection<'_>) -> Result<Option<&'static Self>, odbc_api::Error> {
        let name = connection.database_management_system_name()?;
        Ok(KNOWN.iter().find(|known| name.starts_with(known.name)))
    }
}

/// Reads all that a query delivers.
pub(crate) fn read(database: &Database<'_>, query: &Query) -> Result<Table, Error> {
    let asked = Asked {
        connection_string: database.url.to_owned(),
        // Drivers put words behind a query, which may end in a comment.
        sql: query.sql(|_| "?".to_owned()) + "\n",
        values: query.values.clone(),
        has_rows: database.has_rows,
    };
    let mut delivery = Delivery::of(database, asked)?;
    let nothing = || database.refused(Refused::Query, "the driver delivers nothing".to_owned());
    let columns = delivery.next()?.ok_or_else(nothing)?;
    let fields = columns.schema().fields().iter().map(|field| field.as_ref().clone()).collect();
    let mut keep = Keep::new(database, fields)?;
    while let Some(part) = delivery.next()? {
        keep.write(part.columns().to_vec())?;
    }
    keep.finish("ODBC")
}

/// What comes from the thread that makes the calls.
struct Delivery<'a> {
    database: &'a Database<'a>,
    parts: Receiver<RecordBatch>,
    asking: Option<JoinHandle<Result<Result<(), Trouble>, String>>>,
}

impl<'a> Delivery<'a> {
    fn of(database: &'a Database<'a>, asked: Asked) -> Result<Self, Error> {
        let (taker, parts) = sync_channel(PARTS_AHEAD);
        // What a driver says against the rules makes the crate that calls it panic.
        let ask = move || guarded(|| Ok::<_, String>(asked.deliver(&taker)));
        let asking = thread::Builder::new().name("odbc".to_owned()).spawn(ask);
        let asking = asking.map_err(|error| database.refused(Refused::Connection, error.to_string()))?;
        Ok(Self { database, parts, asking: Some(asking) })
    }

    /// The next part: the first has no rows, and shows the columns. A thread that is stopped is left in the call that it
    /// makes, and ends with it.
    fn next(&mut self) -> Result<Option<RecordBatch>, Error> {
        loop {
            if (self.database.is_stopped)() {
                return Err(Error::Stopped);
            }
            match self.parts.recv_timeout(LOOK) {
                Ok(part) => return Ok(Some(part)),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return self.end().map(|()| None),
            }
        }
    }

    /// How it ended.
    fn end(&mut self) -> Result<(), Error> {
        let Some(asking) = self.asking.take() else { return Ok(()) };
        match asking.join() {
            Ok(Ok(Ok(()))) => Ok(()),
            Ok(Ok(Err(Trouble::Unheard))) => Err(Error::Stopped),
            Ok(Ok(Err(Trouble::Refused(Refusal { kind, problem })))) => {
                Err(self.database.refused(kind, problem))
            }
            Ok(Err(_)) | Err(_) => {
                let problem = "the driver does not keep to the rules of ODBC; look for a newer one";
                Err(self.database.refused(Refused::Query, problem.to_owned()))
            }
        }
    }
}

/// What ends a delivery before its last row.
enum Trouble {
    Refused(Refusal),
    /// Nobody takes the rows any more.
    Unheard,
}

impl From<Refusal> for Trouble {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

/// A query, and where it is asked.
struct Asked {
    connection_string: String,
    sql: String,
    values: Vec<Value>,
    has_rows: bool,
}

impl Asked {
    fn deliver(&self, taker: &SyncSender<RecordBatch>) -> Result<(), Trouble> {
        let refused = |error| self.refused(&error);
        let environment = Environment::new().map_err(refused)?;
        let connection = self.connect(&environment)?;
        only_reads(&connection).map_err(refused)?;
        let mut statement = connection.prepare(&self.sql).map_err(refused)?;
        self.check(&mut statement)?;
        if !self.has_rows {
            return Spool::of(self, &mut statement, taker).map(drop);
        }
        let values = bound::all(&self.values, &mut statement);
        let Some(mut cursor) = statement.execute(&values[..]).map_err(refused)? else {
            return check_columns(&[]).map_err(|problem| Refusal::of_query(problem).into());
        };
        let delivered = self.deliver_rows(&mut cursor, taker);
        if delivered.is_err() {
            // Some drivers refuse to close what is lost, which nobody expects of them; it goes with the process.
            mem::forget(cursor);
        }
        delivered
    }

    fn deliver_rows(&self, cursor: &mut impl Cursor, taker: &SyncSender<RecordBatch>) -> Result<(), Trouble> {
        let mut spool = Spool::of(self, cursor, taker)?;
        while let Some(mut row) = cursor.next_row().map_err(|error| self.refused(&error))? {
            spool.take(&mut row)?;
        }
        spool.write()
    }

    /// Connects, and once more where only then it is known what the driver has to be told.
    fn connect<'e>(&self, environment: &'e Environment) -> Result<Connection<'e>, Refusal> {
        // Of two that connect at once, the driver of PostgreSQL now and then forgets what one was told, and holds all its rows.
        let _alone = CONNECTING.lock().unwrap_or_else(PoisonError::into_inner);
        let connect = |connection_string: &str| {
            let login_timeout_sec = Some(PATIENCE.as_secs() as u32);
            let options = ConnectionOptions { login_timeout_sec, ..ConnectionOptions::default() };
            environment
                .connect_with_connection_string(connection_string, options)
                .map_err(|error| Refusal::of_connecting(&error, connection_string))
        };
        let connection = connect(&self.connection_string)?;
        let known = Known::of(&connection).map_err(|error| self.refused(&error))?;
        let said = self.connection_string.to_ascii_lowercase();
        match known.and_then(|known| known.streams) {
            Some(setting) if !said.contains(&setting.to_ascii_lowercase()) => {
                drop(connection);
                connect(&format!("{};{setting}=1", self.connection_string.trim_end_matches(';')))
            }
            _ => Ok(connection),
        }
    }

    /// Refuses what is no source before it is carried out.
    fn check(&self, statement: &mut Prepared<impl odbc_api::handles::AsStatementRef>) -> Result<(), Trouble> {
        let refused = |error| self.refused(&error);
        let names =
            statement.column_names().map_err(refused)?.collect::<Result<Vec<_>, _>>().map_err(refused)?;
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        check_columns(&names).map_err(Refusal::of_query)?;
        let (expected, given) = (usize::from(statement.num_params().map_err(refused)?), self.values.len());
        if expected == given {
            return Ok(());
        }
        let problem = format!("it has {expected} values to bind where {given} are given; a `?` is one");
        Err(Refusal::of_query(problem).into())
    }

    fn refused(&self, error: &odbc_api::Error) -> Refusal {
        Refusal::of(error, &self.connection_string)
    }
}

/// Has nothing committed, if there are transactions to speak of, and nothing written, if the database can be told so.
fn only_reads(connection: &Connection<'_>) -> Result<(), odbc_api::Error> {
    let known = Known::of(connection)?;
    if !known.is_some_and(|known| known.commits) {
        match connection.set_autocommit(false) {
            Err(error) if refusal::is_unknown(&error) => {}
            set => set?,
        }
    }
    for statement in known.iter().flat_map(|known| known.only_reads) {
        connection.execute(statement, (), None)?;
    }
    Ok(())
}

/// Rows while they are collected to parts.
struct Spool<'a> {
    asked: &'a Asked,
    taker: &'a SyncSender<RecordBatch>,
    schema: SchemaRef,
    columns: Vec<Column>,
    buffers: Buffers,
    rows: u64,
    part_rows: u64,
    part_bytes: usize,
}

impl<'a> Spool<'a> {
    /// Shows the columns.
    fn of(
        asked: &'a Asked,
        described: &mut impl ResultSetMetadata,
        taker: &'a SyncSender<RecordBatch>,
    ) -> Result<Self, Trouble> {
        let found = Column::all(described).map_err(|error| asked.refused(&error))?;
        let (fields, columns): (Vec<_>, Vec<_>) = found.into_iter().unzip();
        let schema = Arc::new(Schema::new(fields));
        taker.send(RecordBatch::new_empty(Arc::clone(&schema))).map_err(|_| Trouble::Unheard)?;
        let buffers = Buffers::default();
        Ok(Self { asked, taker, schema, columns, buffers, rows: 0, part_rows: 0, part_bytes: 0 })
    }

    fn take(&mut self, row: &mut odbc_api::CursorRow<'_>) -> Result<(), Trouble> {
        self.rows += 1;
        for ((number, column), field) in (1..).zip(&mut self.columns).zip(self.schema.fields()) {
            self.part_bytes += column.push(row, number, &mut self.buffers).map_err(|unread| {
                let problem = match unread {
                    Unread::Driver(error) => return self.asked.refused(&error),
                    unread => unread.to_string(),
                };
                Refusal::of_query(format!("{} in row {} {problem}", field.name(), self.rows))
            })?;
        }
        self.part_rows += 1;
        if self.part_rows == PART_ROWS || self.part_bytes >= PART_BYTES { self.write() } else { Ok(()) }
    }

    /// Hands over the rows so far, if there are any.
    fn write(&mut self) -> Result<(), Trouble> {
        if mem::take(&mut self.part_rows) == 0 {
            return Ok(());
        }
        self.part_bytes = 0;
        let columns = self.columns.iter_mut().map(Column::finish).collect();
        let part = RecordBatch::try_new(Arc::clone(&self.schema), columns)
            .map_err(|error: ArrowError| Refusal::of_query(error.to_string()))?;
        self.taker.send(part).map_err(|_| Trouble::Unheard)
    }
}
