//! Brings the schema up to date.

use tokio_postgres::{Client, Error};
use trueup_connect::Server;

use super::error::failed;
use super::pool::{PATIENCE, connect};
use crate::error::StoreError;
use crate::place::Role;

const DOING: &str = "opening the store";
/// The oldest server that will do, as it numbers itself.
const OLDEST: i64 = 140_000;

/// In order; the first is version 1. They only ever add, so that an older trueup works beside a newer one.
const MIGRATIONS: [&str; 8] = [
    include_str!("../../migrations/postgres/0001_first.sql"),
    include_str!("../../migrations/postgres/0002_start_run.sql"),
    include_str!("../../migrations/postgres/0003_sweeps.sql"),
    include_str!("../../migrations/postgres/0004_shapes.sql"),
    include_str!("../../migrations/postgres/0005_tasks.sql"),
    include_str!("../../migrations/postgres/0006_stops.sql"),
    include_str!("../../migrations/postgres/0007_access.sql"),
    include_str!("../../migrations/postgres/0008_observed.sql"),
];
/// The schema that this version knows.
pub(crate) const KNOWN: i64 = MIGRATIONS.len().cast_signed() as i64;

const TABLES: &str = include_str!("../../sql/postgres/schema/tables.sql");
const FIRST: &str = include_str!("../../sql/postgres/schema/first.sql");
const LOCK: &str = include_str!("../../sql/postgres/schema/lock.sql");
const VERSION: &str = include_str!("../../sql/postgres/schema/version.sql");
const APPLIED: &str = include_str!("../../sql/postgres/schema/applied.sql");

/// Makes the schema, or adds what is missing; several processes may do so at once. Who only reads has to find it whole.
pub(crate) async fn open(server: &Server, role: Role) -> Result<(), StoreError> {
    let away = |_| StoreError::Away { doing: DOING, problem: "no answer".to_owned() };
    let connected = tokio::time::timeout(PATIENCE, connect(server)).await.map_err(away)?;
    let (client, driver) = connected.map_err(|error| failed(&error, DOING))?;
    // A large store takes its time to be brought up to date, and so may whoever waits for that.
    let opened = if role == Role::Reader { refuse_other(&client).await } else { catch_up(&client).await };
    drop(client);
    // A connection that ended in an error has ended as well.
    drop(driver.await);
    opened
}

async fn catch_up(client: &Client) -> Result<(), StoreError> {
    let mut version = look(client).await?;
    // To make a store takes no time; to change one that is full may.
    if (1..KNOWN).contains(&version) {
        tracing::info!(from = version, to = KNOWN, "bringing the schema up to date");
    }
    while version < KNOWN {
        version = apply_next(client).await.map_err(|error| failed(&error, DOING))?;
    }
    if version > KNOWN { Err(StoreError::Newer { found: version, known: KNOWN }) } else { Ok(()) }
}

/// Refuses a schema that is not this version's.
async fn refuse_other(client: &Client) -> Result<(), StoreError> {
    match look(client).await? {
        0 => Err(StoreError::NoStore { problem: "the database has no schema named trueup".to_owned() }),
        found if found < KNOWN => Err(StoreError::Older { found, known: KNOWN }),
        found if found > KNOWN => Err(StoreError::Newer { found, known: KNOWN }),
        _ => Ok(()),
    }
}

/// The version of the schema, 0 if there is none.
async fn look(client: &Client) -> Result<i64, StoreError> {
    let told = client.query_one(TABLES, &[]).await.map_err(|error| failed(&error, DOING))?;
    let (is_ours, is_taken, number): (bool, bool, i64) = (told.get(0), told.get(1), told.get(2));
    refuse_old(number, told.get(3))?;
    match (is_ours, is_taken) {
        (true, _) => version(client).await.map_err(|error| failed(&error, DOING)),
        (false, false) => Ok(0),
        (false, true) => {
            let problem = "the database has a schema named trueup with other tables in it".to_owned();
            Err(StoreError::Foreign { problem })
        }
    }
}

fn refuse_old(number: i64, server: &str) -> Result<(), StoreError> {
    if number >= OLDEST {
        return Ok(());
    }
    let problem = format!("PostgreSQL {server} is too old: use PostgreSQL 14 or newer");
    Err(StoreError::Failed { doing: DOING, problem })
}

async fn version(client: &Client) -> Result<i64, Error> {
    Ok(client.query_one(VERSION, &[]).await?.get::<_, Option<i64>>(0).unwrap_or(0))
}

/// Applies the next migration unless another process was faster, and says which version that makes.
async fn apply_next(client: &Client) -> Result<i64, Error> {
    client.batch_execute("begin isolation level read committed").await?;
    client.query_one(LOCK, &[]).await?;
    client.batch_execute(FIRST).await?;
    let mut version = version(client).await?;
    if let Some(migration) = usize::try_from(version).ok().and_then(|next| MIGRATIONS.get(next)) {
        version += 1;
        client.batch_execute(migration).await?;
        client.execute(APPLIED, &[&version]).await?;
    }
    client.batch_execute("commit").await?;
    Ok(version)
}

#[cfg(test)]
mod tests {
    use super::refuse_old;

    #[test]
    fn old_servers_are_refused() {
        for (number, server, fits) in
            [(130_023, "13.23", false), (140_000, "14.0", true), (180_001, "18.1", true)]
        {
            assert_eq!(refuse_old(number, server).is_ok(), fits, "{server}");
        }
    }
}
