//! Opens a file as a store, or refuses it and leaves it as it is.

use std::path::Path;
use std::thread;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, TransactionBehavior};

use super::error::kind;
use super::inspect::{self, Depth, Found};
use super::{migrate, sql};
use crate::error::StoreError;

/// Marks a file as ours: `trup`.
pub(crate) const APPLICATION_ID: i32 = i32::from_be_bytes(*b"trup");
/// How often a statement looks whether another process has ended its transaction, before it gives up.
const TURNS_MAX: i32 = 5_000;
/// The pause between. Short, because a busy server leaves only short gaps between its transactions.
const TURN: Duration = Duration::from_millis(1);
/// Every statement there is, and those that begin and end transactions.
const STATEMENTS_MAX: usize = 96;
/// How large the log of writes grows, in pages, before they are moved into the file: rarely, as that waits for the disk twice more.
const LOG_PAGES: i32 = 4_000;
const DOING: &str = "opening the store";

/// Opens what was found for writing, makes it a store if it is new, and takes a number for the ids of events; a server also says what the events of SQL users name
/// as their source.
pub(crate) fn open(
    path: &Path,
    found: Found,
    depth: Depth,
    source: Option<&str>,
) -> Result<(Connection, u16), StoreError> {
    let error = |error| kind(&error, DOING);
    let flags =
        OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(path, flags).map_err(error)?;
    tune(&mut connection).map_err(error)?;
    match found {
        Found::Nothing => mark(&mut connection)?,
        Found::Whole => {}
        Found::InUse => check_in_use(&connection, path, depth)?,
    }
    log_writes(&connection)?;
    migrate::migrate(&mut connection)?;
    let node = connection.query_row(sql::TAKE_NODE, [source], |row| row.get(0)).map_err(error)?;
    Ok((connection, node))
}

/// Sets what every connection needs.
pub(crate) fn tune(connection: &mut Connection) -> rusqlite::Result<()> {
    connection.busy_handler(Some(|turns| {
        thread::sleep(TURN);
        turns < TURNS_MAX
    }))?;
    connection.pragma_update(None, "synchronous", "full")?;
    connection.pragma_update(None, "foreign_keys", true)?;
    connection.pragma_update(None, "wal_autocheckpoint", LOG_PAGES)?;
    // What a savepoint needs to be undone outgrows SQLite's small buffer, and would go through a file for every verb.
    connection.pragma_update(None, "temp_store", "memory")?;
    // Otherwise a statement whose parameter could decide for another index is prepared anew whenever it is bound.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS_MAX);
    Ok(())
}

/// Marks an empty file as ours, before there is a log of writes beside it: the file itself is to say whose it is.
fn mark(connection: &mut Connection) -> Result<(), StoreError> {
    let error = |error| kind(&error, DOING);
    // What is looked at stays so until it is marked, however many processes do so at once.
    let tx = connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(error)?;
    let number = |pragma| tx.pragma_query_value(None, pragma, |row| row.get::<_, i32>(0));
    let marked = number("application_id").map_err(error)?;
    if marked != APPLICATION_ID {
        if marked != 0 || number("schema_version").map_err(error)? > 0 {
            return Err(StoreError::Foreign {
                problem: "another application has just made it its own".to_owned(),
            });
        }
        tx.pragma_update(None, "application_id", APPLICATION_ID).map_err(error)?;
    }
    tx.commit().map_err(error)
}

/// Checks a store that only SQLite can read; should it be damaged, closing it moves nothing from the log into the file.
fn check_in_use(connection: &Connection, path: &Path, depth: Depth) -> Result<(), StoreError> {
    let error = |error| kind(&error, DOING);
    let as_it_is = DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE;
    connection.set_db_config(as_it_is, true).map_err(error)?;
    inspect::check(connection, depth, path.metadata().map_or(0, |metadata| metadata.len()))?;
    connection.set_db_config(as_it_is, false).map(drop).map_err(error)
}

/// Turns on the log of writes, which lets others read beside the writer.
fn log_writes(connection: &Connection) -> Result<(), StoreError> {
    for _ in 0..TURNS_MAX {
        let mode =
            connection.pragma_update_and_check(None, "journal_mode", "wal", |row| row.get::<_, String>(0));
        match mode.map_err(|error| kind(&error, DOING)) {
            Ok(mode) if mode == "wal" => return Ok(()),
            Ok(mode) => {
                let problem = format!("the folder allows no log of writes, only {mode:?}");
                return Err(StoreError::NoPlace { problem });
            }
            // Another process turns it on at this moment; SQLite does not wait for that by itself.
            Err(StoreError::Contended { .. }) => thread::sleep(TURN),
            Err(error) => return Err(error),
        }
    }
    Err(StoreError::Contended { doing: DOING })
}
