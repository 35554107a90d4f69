//! The same rows into a plain table with a primary key, by one INSERT a batch: what the database can do.

use std::collections::HashMap;
use std::fmt::Write;

use rusqlite::params_from_iter;
use tokio_postgres::types::ToSql;
use tokio_postgres::{NoTls, Statement};
use trueup_events::Event;
use trueup_store::Place;

const COLUMNS: usize = 7;
const TABLE: &str = "create table if not exists bare_events (event_id bigint primary key, tenant_id text not null, run_id text not null, \
    type text not null, source text not null, time text not null, data text not null)";

pub(crate) enum Bare {
    Sqlite(rusqlite::Connection),
    Postgres(tokio_postgres::Client, HashMap<usize, Statement>),
}

impl Bare {
    pub(crate) async fn open(place: &Place) -> Self {
        match place {
            Place::Sqlite(path) => {
                // A file of its own: the store's has one writer.
                let connection = rusqlite::Connection::open(path.with_extension("bare")).unwrap();
                connection.execute_batch("pragma journal_mode = wal; pragma synchronous = full;").unwrap();
                connection.execute_batch(TABLE).unwrap();
                Self::Sqlite(connection)
            }
            Place::Postgres(url) => {
                let (client, connection) = tokio_postgres::connect(url, NoTls).await.unwrap();
                tokio::spawn(connection);
                client.batch_execute(TABLE).await.unwrap();
                Self::Postgres(client, HashMap::new())
            }
        }
    }

    /// Prepares the statement for so many rows, which is no part of what is measured; of SQLite's the connection keeps it.
    pub(crate) async fn prepare(&mut self, rows: usize) {
        match self {
            Self::Sqlite(connection) => {
                drop(connection.prepare_cached(&statement(rows, |_| "?".to_owned())).unwrap());
            }
            Self::Postgres(client, prepared) => {
                let sql = statement(rows, |number| format!("${number}"));
                prepared.insert(rows, client.prepare(&sql).await.unwrap());
            }
        }
    }

    pub(crate) async fn insert(&mut self, events: &[Event]) {
        let rows: Vec<_> = events.iter().map(row).collect();
        match self {
            Self::Sqlite(connection) => {
                let values = rows.iter().flat_map(|(id, texts)| {
                    std::iter::once(rusqlite::types::Value::from(*id))
                        .chain(texts.iter().cloned().map(Into::into))
                });
                let sql = statement(rows.len(), |_| "?".to_owned());
                connection.prepare_cached(&sql).unwrap().execute(params_from_iter(values)).unwrap();
            }
            Self::Postgres(client, prepared) => {
                let values: Vec<&(dyn ToSql + Sync)> = rows
                    .iter()
                    .flat_map(|(id, texts)| {
                        std::iter::once(id as &(dyn ToSql + Sync))
                            .chain(texts.iter().map(|text| text as &(dyn ToSql + Sync)))
                    })
                    .collect();
                client.execute(&prepared[&rows.len()], &values).await.unwrap();
            }
        }
    }
}

fn row(event: &Event) -> (i64, [String; COLUMNS - 1]) {
    let texts = [
        event.tenant_id.to_string(),
        event.run_id.to_string(),
        event.name.to_string(),
        event.source.clone(),
        event.time.to_string(),
        event.data.to_string(),
    ];
    (event.event_id.get().cast_signed(), texts)
}

fn statement(rows: usize, placeholder: impl Fn(usize) -> String) -> String {
    let mut sql = "insert into bare_events values ".to_owned();
    for row in 0..rows {
        let values: Vec<_> = (1..=COLUMNS).map(|column| placeholder(row * COLUMNS + column)).collect();
        let comma = if row == 0 { "" } else { ", " };
        write!(sql, "{comma}({})", values.join(", ")).unwrap();
    }
    sql
}
