//! MySQL and MariaDB: a query is prepared, and its rows are kept on disk as they come, in columns of the types it has.

mod calendar;
mod column;
mod definition;
mod hashed;

use trueup_connect::mysql::{self, Client, Packet, Server, put_text};

use self::column::Column;
use self::definition::Definition;
pub(crate) use self::hashed::HashedQuery;
use crate::database::{Database, Query, Value, check_columns};
use crate::error::{Error, Refused};
use crate::keep::{Keep, Spool};
use crate::reach::{PATIENCE, Talk};
use crate::table::Table;

/// What its tables are called in reports.
const KIND: &str = "MySQL";
const PREPARE: u8 = 0x16;
const EXECUTE: u8 = 0x17;
/// What ends definitions and rows, in a packet that is shorter than any row.
const END: u8 = 0xfe;
const END_BYTES: usize = 9;

/// What values and queries mean is the same whatever the server is set to, nothing is cut off, and nothing can be written.
const BEGIN: [&str; 4] = [
    "set names utf8mb4",
    "set sql_mode = '', time_zone = '+00:00', sql_select_limit = 18446744073709551615, group_concat_max_len = 4294967295",
    "set session transaction isolation level repeatable read",
    "start transaction with consistent snapshot, read only",
];

/// Reads all that a query delivers.
pub(crate) fn read(database: &Database<'_>, query: &Query) -> Result<Table, Error> {
    Session::open(database)?.copy(query)
}

/// A connection in a transaction that can write nothing and sees one moment of the database.
struct Session<'a> {
    database: &'a Database<'a>,
    server: Server,
    client: Client,
    talk: Talk<'a>,
}

impl<'a> Session<'a> {
    fn open(database: &'a Database<'a>) -> Result<Self, Error> {
        let server = Server::at(database.url, PATIENCE)
            .map_err(|error| database.refused(Refused::Url, error.to_string()))?;
        let refused = |error: &mysql::Error| refused(database, error);
        let (talk, client) = Talk::open(database, async || server.connect().await, refused)?;
        let mut session = Self { database, server, client, talk };
        session.wait(async |client| {
            for statement in BEGIN {
                client.execute(statement).await.map_err(|error| refused(&error))?;
            }
            Ok(())
        })?;
        Ok(session)
    }

    /// Keeps all that a query delivers.
    fn copy(&mut self, query: &Query) -> Result<Table, Error> {
        let database = self.database;
        self.wait(async |client| deliver(client, database, query).await)
    }

    /// The columns of a query.
    fn columns(&mut self, query: &Query) -> Result<Vec<Definition>, Error> {
        let database = self.database;
        self.wait(async |client| ask(client, database, query).await.map(|asked| asked.columns))
    }

    /// What a statement delivers, whose columns are all text.
    fn rows(&mut self, statement: &str) -> Result<Vec<Vec<Option<String>>>, Error> {
        let database = self.database;
        self.wait(async |client| texts(client, statement).await.map_err(|error| refused(database, &error)))
    }

    fn wait<T>(&mut self, doing: impl AsyncFnOnce(&mut Client) -> Result<T, Error>) -> Result<T, Error> {
        let id = self.client.id();
        self.talk.wait(doing(&mut self.client), end_query(&self.server, id))
    }
}

/// Ends what another connection is waiting for.
async fn end_query(server: &Server, id: u32) -> Result<(), mysql::Error> {
    server.connect().await?.execute(&format!("kill query {id}")).await
}

/// The query as it was written, once the server has understood it.
async fn ask(client: &mut Client, database: &Database<'_>, query: &Query) -> Result<Asked, Error> {
    let asked = Asked::prepare(client, &query.sql(|_| "?".to_owned())).await;
    let asked = asked.map_err(|error| refused(database, &error))?;
    asked.check(query).map_err(|problem| database.refused(Refused::Query, problem))?;
    Ok(asked)
}

async fn deliver(client: &mut Client, database: &Database<'_>, query: &Query) -> Result<Table, Error> {
    let refused = |error| refused(database, &error);
    let asked = ask(client, database, query).await?;
    if !database.has_rows {
        return spool(database, &asked.columns)?.finish(KIND);
    }
    client.send(EXECUTE, &execution(asked.id, &query.values)).await.map_err(refused)?;
    let columns = asked.delivered(client).await.map_err(refused)?;
    let mut spool = spool(database, &columns)?;
    loop {
        let packet = client.receive().await.map_err(refused)?;
        if is_end(&packet) {
            return spool.finish(KIND);
        }
        spool.take(packet)?;
    }
}

async fn texts(client: &mut Client, statement: &str) -> Result<Vec<Vec<Option<String>>>, mysql::Error> {
    let asked = Asked::prepare(client, statement).await?;
    client.send(EXECUTE, &execution(asked.id, &[])).await?;
    let count = asked.delivered(client).await?.len();
    let mut rows = Vec::new();
    loop {
        let packet = client.receive().await?;
        if is_end(&packet) {
            return Ok(rows);
        }
        let mut row = Vec::with_capacity(count);
        each_cell::<mysql::Error>(packet, count, |_, cell| {
            let text = cell.map(Packet::text).transpose()?;
            row.push(text.map(|text| String::from_utf8_lossy(text).into_owned()));
            Ok(())
        })?;
        rows.push(row);
    }
}

/// Takes a row apart, whose cells are there unless they are NULL.
fn each_cell<E: From<mysql::Error>>(
    mut row: Packet<'_>,
    count: usize,
    mut take: impl FnMut(usize, Option<&mut Packet<'_>>) -> Result<(), E>,
) -> Result<(), E> {
    row.byte()?;
    // Two bits before those of the columns mean nothing.
    let nulls = row.take((count + 2).div_ceil(8))?;
    (0..count).try_for_each(|at| {
        let is_null = nulls[(at + 2) / 8] & (1 << ((at + 2) % 8)) != 0;
        take(at, (!is_null).then_some(&mut row))
    })
}

/// A statement that the server has understood.
struct Asked {
    id: u32,
    columns: Vec<Definition>,
    values: usize,
}

impl Asked {
    async fn prepare(client: &mut Client, sql: &str) -> Result<Self, mysql::Error> {
        client.send(PREPARE, sql.as_bytes()).await?;
        let mut packet = client.receive().await?;
        packet.byte()?;
        let id = packet.long()?;
        let (columns, values) = (usize::from(packet.short()?), usize::from(packet.short()?));
        definitions(client, values).await?;
        Ok(Self { id, columns: definitions(client, columns).await?, values })
    }

    /// The columns of the rows that are coming: what they are may depend on what was bound.
    async fn delivered(&self, client: &mut Client) -> Result<Vec<Definition>, mysql::Error> {
        let count = client.receive().await?.length()?;
        if count != self.columns.len() as u64 {
            return Err(mysql::Error::Malformed);
        }
        definitions(client, self.columns.len()).await
    }

    /// Refuses what is no source; MySQL would end the transaction for some statements, and write after all.
    fn check(&self, query: &Query) -> Result<(), String> {
        let names: Vec<&str> = self.columns.iter().map(|column| column.name.as_str()).collect();
        check_columns(&names)?;
        let given = query.values.len();
        if self.values == given {
            return Ok(());
        }
        Err(format!("it has {} values to bind where {given} are given; a `?` is one", self.values))
    }
}

async fn definitions(client: &mut Client, count: usize) -> Result<Vec<Definition>, mysql::Error> {
    let mut found = Vec::with_capacity(count);
    for _ in 0..count {
        found.push(Definition::read(client.receive().await?)?);
    }
    if count > 0 && !is_end(&client.receive().await?) {
        return Err(mysql::Error::Malformed);
    }
    Ok(found)
}

fn is_end(packet: &Packet<'_>) -> bool {
    packet.rest().first() == Some(&END) && packet.rest().len() < END_BYTES
}

/// The types that values are bound as, by their numbers.
const TINY: u8 = 1;
const BIG: u8 = 8;
const DECIMAL: u8 = 246;
const STRING: u8 = 253;

/// Asks for the rows of a statement, all at once and without a cursor, so that they come as they are found.
fn execution(id: u32, values: &[Value]) -> Vec<u8> {
    let mut packet = id.to_le_bytes().to_vec();
    packet.push(0);
    packet.extend_from_slice(&1_u32.to_le_bytes());
    if values.is_empty() {
        return packet;
    }
    // None of them is NULL.
    packet.resize(packet.len() + values.len().div_ceil(8), 0);
    packet.push(1);
    for value in values {
        let kind = match value {
            Value::Integer(_) => BIG,
            Value::Boolean(_) => TINY,
            Value::Decimal(_) => DECIMAL,
            Value::Text(_) => STRING,
        };
        packet.extend_from_slice(&[kind, 0]);
    }
    for value in values {
        match value {
            Value::Integer(number) => packet.extend_from_slice(&number.to_le_bytes()),
            Value::Boolean(flag) => packet.push(u8::from(*flag)),
            Value::Decimal(text) | Value::Text(text) => put_text(&mut packet, text.as_bytes()),
        }
    }
    packet
}

/// Begins to write down rows of those columns.
fn spool<'a>(database: &'a Database<'a>, definitions: &[Definition]) -> Result<Spool<'a, Column>, Error> {
    let columns = definitions.iter().map(Column::of).collect::<Result<Vec<_>, _>>();
    let columns = columns.map_err(|problem| database.refused(Refused::Query, problem))?;
    let fields = definitions.iter().zip(&columns).map(|(definition, column)| column.field(&definition.name));
    let keep = Keep::new(database, fields.collect())?;
    Ok(Spool { database, keep, columns })
}

impl Spool<'_, Column> {
    fn take(&mut self, row: Packet<'_>) -> Result<(), Error> {
        let bytes = row.rest().len();
        let mut last = 0;
        let pushed = each_cell(row, self.columns.len(), |at, cell| {
            last = at;
            self.columns[at].push(cell)
        });
        pushed.map_err(|unread| match unread {
            column::Unread::Malformed(error) => refused(self.database, &error),
            unread => {
                let (name, place) = (self.keep.name(last), self.keep.next_row());
                let hint = format!("write `cast({name} as char) as {name}` in the query");
                self.database.refused(Refused::Query, format!("{name} in row {place} {unread}; {hint}"))
            }
        })?;
        self.count(bytes)
    }
}

/// What the server, or the way to it, has against it, in its own words.
fn refused(database: &Database<'_>, error: &mysql::Error) -> Error {
    let kind = match error {
        mysql::Error::Refused { code, .. } => kind_of(*code),
        mysql::Error::Lost(_) | mysql::Error::Unfit(_) | mysql::Error::Malformed => Refused::Connection,
    };
    database.refused(kind, error.to_string())
}

/// What a refusal is about, by its number in the manual.
fn kind_of(code: u16) -> Refused {
    match code {
        // Database, column, table and function.
        1049 | 1054 | 1109 | 1146 | 1305 => Refused::Missing,
        // Who may connect, from where, how many at once; and servers that are being shut down, or end the connection.
        1040
        | 1044
        | 1045
        | 1053
        | 1129
        | 1130
        | 1152
        | 1158..=1161
        | 1184
        | 1203
        | 1226
        | 1251
        | 1698
        | 1820
        | 1862
        | 1927
        | 3118
        | 3159 => Refused::Connection,
        _ => Refused::Query,
    }
}
