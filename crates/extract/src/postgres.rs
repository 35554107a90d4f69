//! PostgreSQL through binary `COPY`: what a query delivers is kept on disk as it comes, and decoded by whoever scans it.

mod cell;
mod copy;
mod hashed;
mod numeric;

use std::collections::HashMap;
use std::pin::pin;

use futures_util::TryStreamExt;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::Type;
use tokio_postgres::{Client, SimpleQueryMessage, Statement};
use trueup_connect::Server;

use self::cell::Cell;
use self::copy::{CopyFile, Spool};
pub(crate) use self::hashed::HashedQuery;
use self::numeric::Extent;
use crate::database::{Database, Query, check_columns, quoted, unended};
use crate::error::{Error, Refused};
use crate::reach::{PATIENCE, Talk};
use crate::table::Table;

/// What text forms depend on is the same whatever the server is set to, and nothing can be written.
const BEGIN: &str = "begin isolation level repeatable read, read only;
    set local timezone = 'UTC'; set local datestyle = 'ISO, YMD'; set local intervalstyle = 'iso_8601';
    set local bytea_output = 'hex'; set local extra_float_digits = 1";

/// Reads all that a query delivers.
pub(crate) fn read(database: &Database<'_>, query: &Query) -> Result<Table, Error> {
    Session::open(database)?.copy(query, &Extents::new())
}

/// How many digits the values of some columns need, by name.
pub(crate) type Extents = HashMap<String, Extent>;

/// A connection in a transaction that can write nothing and sees one moment of the database.
pub(crate) struct Session<'a> {
    database: &'a Database<'a>,
    server: Server,
    client: Client,
    talk: Talk<'a>,
}

impl<'a> Session<'a> {
    pub(crate) fn open(database: &'a Database<'a>) -> Result<Self, Error> {
        let mut server = Server::at(database.url, PATIENCE)
            .map_err(|error| database.refused(Refused::Url, error.to_string()))?;
        server.only_reads();
        let (talk, (client, connection)) =
            Talk::open(database, async || server.connect().await, |error| refused(database, error))?;
        talk.spawn(connection);
        let session = Self { database, server, client, talk };
        session.wait(async {
            session.client.batch_execute(BEGIN).await.map_err(|error| refused(database, &error))
        })?;
        Ok(session)
    }

    /// Keeps all that a query delivers; columns of numbers hold at least those extents.
    pub(crate) fn copy(&self, query: &Query, extents: &Extents) -> Result<Table, Error> {
        self.wait(copy(&self.client, self.database, query, extents))
    }

    /// The columns of a query.
    pub(crate) fn columns(&self, query: &Query) -> Result<Vec<Column>, Error> {
        self.wait(async { ask(&self.client, self.database, query).await.map(|(_, columns)| columns) })
    }

    /// What a statement delivers, as text; some settings of the transaction are made first.
    pub(crate) fn rows(
        &self,
        statement: &str,
        settings: &[(&str, &str)],
    ) -> Result<Vec<Vec<Option<String>>>, Error> {
        let refused = |error| refused(self.database, &error);
        self.wait(async {
            for (name, value) in settings {
                set(&self.client, name, value).await.map_err(refused)?;
            }
            let told = self.client.simple_query(statement).await.map_err(refused)?;
            let rows = told.iter().filter_map(|message| match message {
                SimpleQueryMessage::Row(row) => Some(row),
                _ => None,
            });
            Ok(rows.map(|row| (0..row.len()).map(|at| row.get(at).map(str::to_owned)).collect()).collect())
        })
    }

    fn wait<T>(&self, doing: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
        self.talk.wait(doing, self.server.cancel(&self.client))
    }
}

/// The query as it was written, so that what is wrong with it is told in its own terms, and its columns.
async fn ask(
    client: &Client,
    database: &Database<'_>,
    query: &Query,
) -> Result<(Statement, Vec<Column>), Error> {
    let asked = client.prepare(&query.sql(|number| format!("${number}"))).await;
    let asked = asked.map_err(|error| refused(database, &error))?;
    let columns = columns(&asked).map_err(|problem| database.refused(Refused::Query, problem))?;
    Ok((asked, columns))
}

async fn set(client: &Client, name: &str, value: &str) -> Result<(), tokio_postgres::Error> {
    client.execute("select set_config($1, $2, true)", &[&name, &value]).await.map(drop)
}

async fn copy(
    client: &Client,
    database: &Database<'_>,
    query: &Query,
    extents: &Extents,
) -> Result<Table, Error> {
    let refused = |error| refused(database, &error);
    let (asked, mut columns) = ask(client, database, query).await?;
    for column in &mut columns {
        if let (Cell::Numeric(extent), Some(known)) = (&mut column.cell, extents.get(&column.name)) {
            *extent = *known;
        }
    }
    for (number, value) in (1..).zip(&query.values) {
        set(client, &setting(number), &value.to_string()).await.map_err(refused)?;
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
pub(crate) struct Column {
    pub(crate) name: String,
    cell: Cell,
    is_cast: bool,
    kind: Type,
    /// What was declared beside the type: precision and scale of `numeric`.
    modifier: i32,
}

impl Column {
    /// The value as it is copied.
    fn value(&self) -> String {
        let name = quoted(&self.name);
        if self.is_cast { format!("{name}::text") } else { name }
    }
}

fn columns(asked: &Statement) -> Result<Vec<Column>, String> {
    let names: Vec<&str> = asked.columns().iter().map(tokio_postgres::Column::name).collect();
    check_columns(&names)?;
    let column = |column: &tokio_postgres::Column| {
        let cell = Cell::of(column.type_());
        Column {
            name: column.name().to_owned(),
            cell: cell.unwrap_or(Cell::Text),
            is_cast: cell.is_none(),
            kind: column.type_().clone(),
            modifier: column.type_modifier(),
        }
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
    let selected = columns.iter().map(|column| {
        let (value, name) = (column.value(), quoted(&column.name));
        if column.is_cast { format!("{value} as {name}") } else { value }
    });
    let selected = selected.collect::<Vec<_>>().join(", ");
    let limit = if has_rows { "" } else { " limit 0" };
    // A line of its own, for a query may end in a comment.
    let source = format!("(\n{}\n) as source{limit}", unended(&query.sql(bound)));
    format!("copy (select {selected} from {source}) to stdout (format binary)")
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
