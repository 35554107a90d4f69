//! PostgreSQL through binary `COPY`: what a query delivers is kept on disk as it comes, and decoded by whoever scans it.

mod cell;
mod copy;
mod numeric;

use std::pin::pin;

use futures_util::TryStreamExt;
use tokio::time::timeout;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::Type;
use tokio_postgres::{Client, Statement};
use trueup_connect::Server;

use self::cell::Cell;
use self::copy::{CopyFile, Spool};
use crate::database::{Database, Query, check_columns, quoted};
use crate::error::{Error, Refused};
use crate::reach::{self, FAREWELL, PATIENCE};
use crate::table::Table;

/// What text forms depend on is the same whatever the server is set to, and nothing can be written.
const BEGIN: &str = "begin isolation level repeatable read, read only;
    set local timezone = 'UTC'; set local datestyle = 'ISO, YMD'; set local intervalstyle = 'iso_8601';
    set local bytea_output = 'hex'; set local extra_float_digits = 1";

/// Reads all that a query delivers.
pub(crate) fn read(database: &Database<'_>, query: &Query) -> Result<Table, Error> {
    let mut server = Server::at(database.url, PATIENCE)
        .map_err(|error| database.refused(Refused::Url, error.to_string()))?;
    server.only_reads();
    reach::run(database, read_from(&server, database, query))
}

async fn read_from(server: &Server, database: &Database<'_>, query: &Query) -> Result<Table, Error> {
    let connecting =
        reach::connected(database, async || server.connect().await, |error| refused(database, error));
    let (client, connection) = connecting.await?;
    // It ends with the client.
    let driver = tokio::spawn(connection);
    let read = reach::unless_stopped(database, copy(&client, database, query)).await;
    if read.is_err() {
        // The server may be sorting for minutes before it would notice that nobody listens; whether it hears this or not, it has been left.
        drop(timeout(FAREWELL, server.cancel(&client)).await);
        driver.abort();
    }
    read?
}

async fn copy(client: &Client, database: &Database<'_>, query: &Query) -> Result<Table, Error> {
    let refused = |error| refused(database, &error);
    client.batch_execute(BEGIN).await.map_err(refused)?;
    // The query as it was written: what is wrong with it is told in its own terms.
    let asked = client.prepare(&query.sql(|number| format!("${number}"))).await.map_err(refused)?;
    let columns = columns(&asked).map_err(|problem| database.refused(Refused::Query, problem))?;
    for (number, value) in (1..).zip(&query.values) {
        let set = "select set_config($1, $2, true)";
        client.execute(set, &[&setting(number), &value.to_string()]).await.map_err(refused)?;
    }
    let statement = copy_statement(&asked, &columns, query, database.has_rows);
    let mut rows = pin!(client.copy_out(&statement).await.map_err(refused)?);
    let mut spool = Spool::new(database, columns)?;
    while let Some(bytes) = rows.try_next().await.map_err(refused)? {
        spool.take(&bytes)?;
    }
    let (file, bytes) = spool.finish()?;
    Ok(Table::of(database.place, Box::new(CopyFile::new(file)), bytes))
}

/// A column by its name, as it is decoded; what only the server understands comes as the text it makes of it.
struct Column {
    name: String,
    cell: Cell,
    is_cast: bool,
}

fn columns(asked: &Statement) -> Result<Vec<Column>, String> {
    let names: Vec<&str> = asked.columns().iter().map(tokio_postgres::Column::name).collect();
    check_columns(&names)?;
    let column = |column: &tokio_postgres::Column| {
        let cell = Cell::of(column.type_());
        Column { name: column.name().to_owned(), cell: cell.unwrap_or(Cell::Text), is_cast: cell.is_none() }
    };
    Ok(asked.columns().iter().map(column).collect())
}

/// `COPY` takes no parameters, so that values are bound into settings of the transaction, and read from there as the
/// types that the server has inferred for them.
fn copy_statement(asked: &Statement, columns: &[Column], query: &Query, has_rows: bool) -> String {
    let bound = |number: usize| {
        let kind = asked.params().get(number - 1).unwrap_or(&Type::TEXT);
        let kind = format!("{}.{}", quoted(kind.schema()), quoted(kind.name()));
        format!("cast(current_setting('{}') as {kind})", setting(number))
    };
    let selected = columns.iter().map(|Column { name, is_cast, .. }| {
        let name = quoted(name);
        if *is_cast { format!("{name}::text as {name}") } else { name }
    });
    let selected = selected.collect::<Vec<_>>().join(", ");
    let limit = if has_rows { "" } else { " limit 0" };
    // A line of its own, for a query may end in a comment.
    let source = format!("(\n{}\n) as source{limit}", unended(&query.sql(bound)));
    format!("copy (select {selected} from {source}) to stdout (format binary)")
}

/// A statement as a part of another: without the semicolon that ends it.
fn unended(sql: &str) -> &str {
    sql.trim_end().trim_end_matches(';')
}

fn setting(number: usize) -> String {
    format!("trueup.value_{number}")
}

/// What the server, or the way to it, has against it, in its own words.
fn refused(database: &Database<'_>, error: &tokio_postgres::Error) -> Error {
    let Some(told) = error.as_db_error() else {
        let cause = std::error::Error::source(error);
        let problem = cause.map_or_else(|| error.to_string(), |cause| format!("{error}: {cause}"));
        return database.refused(Refused::Connection, problem);
    };
    let more = [told.detail(), told.hint()].into_iter().flatten();
    let problem = more.fold(told.message().to_owned(), |words, more| format!("{words}; {more}"));
    let code = told.code();
    let missing = [
        SqlState::UNDEFINED_TABLE,
        SqlState::UNDEFINED_COLUMN,
        SqlState::UNDEFINED_FUNCTION,
        SqlState::INVALID_SCHEMA_NAME,
        SqlState::INVALID_CATALOG_NAME,
    ];
    // Classes of appendix A of the manual: the connection, who asks, resources, and operators who step in.
    let away = ["08", "28", "53", "57P"];
    let kind = if missing.contains(code) {
        Refused::Missing
    } else if away.iter().any(|class| code.code().starts_with(class)) {
        Refused::Connection
    } else {
        Refused::Query
    };
    database.refused(kind, problem)
}
