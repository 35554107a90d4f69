//! SQLite files: a query is looked at once for what its values are, and read once more into columns of that.

mod column;

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use arrow_schema::Field;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, ErrorCode, OpenFlags, Row, Statement, params_from_iter};

use self::column::{Column, Seen};
use crate::database::{Database, Query, Value, check_columns};
use crate::error::{Error, Refused};
use crate::keep::{Keep, Spool};
use crate::table::Table;

/// How long another process may keep the file locked.
const PATIENCE: Duration = Duration::from_secs(10);
/// How often it is asked whether to go on.
const LOOK: Duration = Duration::from_millis(100);

/// Reads all that a query delivers.
pub(crate) fn read(database: &Database<'_>, query: &Query) -> Result<Table, Error> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(database.url, flags)
        .and_then(|connection| connection.busy_timeout(PATIENCE).map(|()| connection))
        .map_err(|error| refused(database, &error))?;
    let handle = connection.get_interrupt_handle();
    thread::scope(|scope| {
        let (done, ended) = channel::<()>();
        scope.spawn(move || {
            while ended.recv_timeout(LOOK) == Err(RecvTimeoutError::Timeout) {
                if (database.is_stopped)() {
                    handle.interrupt();
                }
            }
        });
        let read = read_from(&connection, database, query);
        drop(done);
        if read.is_err() && (database.is_stopped)() { Err(Error::Stopped) } else { read }
    })
}

fn read_from(connection: &Connection, database: &Database<'_>, query: &Query) -> Result<Table, Error> {
    let refused = |error| refused(database, &error);
    // Both readings see the same moment of the file.
    connection.execute_batch("begin").map_err(refused)?;
    let mut statement = connection.prepare(&query.sql(|number| format!("?{number}"))).map_err(refused)?;
    let names: Vec<String> = statement.column_names().map(str::to_owned).collect();
    check(&statement).map_err(|problem| database.refused(Refused::Query, problem))?;
    let values = query.values.iter().map(bound).collect::<Result<Vec<_>, _>>();
    let values = values.map_err(|problem| database.refused(Refused::Query, problem))?;
    let values = database.has_rows.then_some(values.as_slice());
    let mut seen = vec![Seen::default(); names.len()];
    each_row(
        &mut statement,
        values,
        |row| {
            for (at, seen) in seen.iter_mut().enumerate() {
                seen.look_at(row.get_ref(at).map_err(refused)?);
            }
            Ok(())
        },
        refused,
    )?;
    let fields = names.iter().zip(&seen).map(|(name, seen)| Field::new(name, seen.data_type(), true));
    let keep = Keep::new(database, fields.collect())?;
    let columns = seen.iter().map(|seen| Column::of(*seen)).collect();
    let mut spool = Spool { database, keep, columns };
    each_row(&mut statement, values, |row| spool.take(row), refused)?;
    spool.finish("SQLite")
}

fn check(statement: &Statement<'_>) -> Result<(), String> {
    let names: Vec<&str> = statement.column_names().collect();
    check_columns(&names)?;
    if statement.readonly() { Ok(()) } else { Err("it would write; a source is a SELECT".to_owned()) }
}

/// Runs the query, unless no row is wanted.
fn each_row(
    statement: &mut Statement<'_>,
    values: Option<&[rusqlite::types::Value]>,
    mut take: impl FnMut(&Row<'_>) -> Result<(), Error>,
    refused: impl Fn(rusqlite::Error) -> Error,
) -> Result<(), Error> {
    let Some(values) = values else { return Ok(()) };
    let mut rows = statement.query(params_from_iter(values)).map_err(&refused)?;
    while let Some(row) = rows.next().map_err(&refused)? {
        take(row)?;
    }
    Ok(())
}

/// Numbers are bound as numbers, since SQLite compares values by what they are; one that it cannot hold exactly is refused.
fn bound(value: &Value) -> Result<rusqlite::types::Value, String> {
    Ok(match value {
        Value::Integer(number) => (*number).into(),
        Value::Boolean(flag) => (*flag).into(),
        Value::Text(text) => text.clone().into(),
        Value::Decimal(numeral) => match (numeral.parse::<i64>(), numeral.parse::<f64>()) {
            (Ok(number), _) => number.into(),
            (Err(_), Ok(real)) if real.to_string() == *numeral => real.into(),
            _ => {
                return Err(format!(
                    "SQLite cannot hold {numeral} exactly; make it a parameter of type string"
                ));
            }
        },
    })
}

impl Spool<'_, Column> {
    fn take(&mut self, row: &Row<'_>) -> Result<(), Error> {
        let mut bytes = 0;
        for (at, column) in self.columns.iter_mut().enumerate() {
            let value = row.get_ref(at).map_err(|error| refused(self.database, &error))?;
            bytes += match value {
                ValueRef::Text(value) | ValueRef::Blob(value) => value.len(),
                ValueRef::Null | ValueRef::Integer(_) | ValueRef::Real(_) => size_of::<i64>(),
            };
            column.push(value).map_err(|problem| {
                self.database.refused(Refused::Query, format!("{}: {problem}", self.keep.name(at)))
            })?;
        }
        self.count(bytes)
    }
}

/// What SQLite has against it, in its own words.
fn refused(database: &Database<'_>, error: &rusqlite::Error) -> Error {
    let problem = error.to_string();
    let kind = match error.sqlite_error_code() {
        Some(
            ErrorCode::CannotOpen
            | ErrorCode::DatabaseBusy
            | ErrorCode::DatabaseLocked
            | ErrorCode::PermissionDenied,
        ) => Refused::Connection,
        // SQLite has one code for all that is wrong with a statement.
        _ if problem.starts_with("no such ") => Refused::Missing,
        _ => Refused::Query,
    };
    database.refused(kind, problem)
}
