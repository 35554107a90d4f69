//! What can be read beside the verbs.

mod connections;
mod jobs;
mod keys;
mod observed;
mod runs;

use futures_util::future::try_join3;
use tokio::time::timeout;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Row, Statement};
use trueup_events::{Event, RunId, TenantId};

use super::Postgres;
use super::error::failed;
use super::pool::PATIENCE;
use super::rows::{self, key};
use super::statements::Statements;
use super::writer::Writer;
use crate::audit::{Audited, Head, Walk};
use crate::error::StoreError;
use crate::place::Role;
use crate::record::{Audit, Pass, QueueLoad};

const READING: &str = "reading the store";
/// How many audit entries are fetched at a time.
const PAGE: i64 = 1_000;

impl Postgres {
    pub(crate) async fn read_from(
        &self,
        position: u64,
        tenant_id: Option<TenantId>,
        limit: u32,
    ) -> Result<Vec<Event>, StoreError> {
        self.number().await?;
        let (position, limit) = (at(position), i64::from(limit));
        let found = match tenant_id {
            None => self.read(|sql| &sql.read_from, &[&position, &limit]).await?,
            Some(id) => {
                let of: [&(dyn ToSql + Sync); 3] = [&position, &id.to_string(), &limit];
                self.read_of(id, |sql| &sql.read_from_of_tenant, &of).await?
            }
        };
        found.iter().map(rows::event).collect()
    }

    pub(crate) async fn events_of(
        &self,
        tenant_id: TenantId,
        run_id: RunId,
        position: u64,
        limit: u32,
    ) -> Result<Vec<Event>, StoreError> {
        self.number().await?;
        let (position, limit) = (at(position), i64::from(limit));
        let of: [&(dyn ToSql + Sync); 4] = [&key(run_id), &position, &limit, &tenant_id.to_string()];
        let found = self.read_of(tenant_id, |sql| &sql.events_of_run, &of).await?;
        found.iter().map(rows::event).collect()
    }

    pub(crate) async fn remembers(&self, run_id: RunId) -> Result<bool, StoreError> {
        let found = self.read(|sql| &sql.remembers, &[&key(run_id)]).await?;
        Ok(found.first().is_some_and(|row| row.get(0)))
    }

    pub(crate) async fn up_for_ms(&self) -> Result<i64, StoreError> {
        let found = self.read(|sql| &sql.up_for_ms, &[]).await?;
        Ok(found.first().map_or(i64::MAX, |row| row.get(0)))
    }

    pub(crate) async fn now_ms(&self) -> Result<i64, StoreError> {
        let found = self.read(|sql| &sql.now_ms, &[]).await?;
        Ok(found.first().map_or(0, |row| row.get(0)))
    }

    pub(crate) async fn to_stop(&self, worker: &str) -> Result<Vec<RunId>, StoreError> {
        self.read(|sql| &sql.to_stop, &[&worker]).await?.iter().map(rows::run_id).collect()
    }

    pub(crate) async fn settings(&self) -> Result<Vec<(String, String)>, StoreError> {
        let found = self.read(|sql| &sql.settings, &[]).await?;
        Ok(found.iter().map(|row| (row.get(0), row.get(1))).collect())
    }

    pub(crate) async fn passes(&self) -> Result<Vec<Pass>, StoreError> {
        Ok(self.read(|sql| &sql.passes, &[]).await?.iter().map(rows::pass).collect())
    }

    pub(crate) async fn queues(&self, tenant_id: TenantId) -> Result<Vec<QueueLoad>, StoreError> {
        self.read_of(tenant_id, |sql| &sql.queues, &[&tenant_id.to_string()])
            .await?
            .iter()
            .map(rows::queue_load)
            .collect()
    }

    pub(crate) async fn audit(
        &self,
        after: u64,
        tenant_id: Option<TenantId>,
        limit: u32,
    ) -> Result<Vec<Audit>, StoreError> {
        self.link().await?;
        let (after, limit) = (at(after), i64::from(limit));
        let found = match tenant_id {
            None => self.read(|sql| &sql.audit_from, &[&after, &limit]).await?,
            Some(id) => {
                let of: [&(dyn ToSql + Sync); 3] = [&after, &id.to_string(), &limit];
                self.read_of(id, |sql| &sql.audit_from_of_tenant, &of).await?
            }
        };
        found.iter().map(|row| rows::entry(row, 1).read(row.get(0))).collect()
    }

    pub(crate) async fn verify_audit(&self, expected: Option<Head>) -> Result<Audited, StoreError> {
        self.link().await?;
        let mut walk = Walk::new(expected);
        let mut after = 0_i64;
        loop {
            let page = self.read(|sql| &sql.audit_chain, &[&after, &PAGE]).await?;
            let is_whole = page.iter().all(|row| {
                after = row.get(0);
                let entry = row.get::<_, Option<i64>>(2).map(|_| rows::entry(row, 2));
                walk.step(after, entry.as_ref(), row.get(1))
            });
            if !is_whole || page.is_empty() {
                break;
            }
        }
        let unlinked = self.read(|sql| &sql.unlinked, &[]).await?;
        Ok(walk.end(unlinked.first().map_or(0, |row| row.get::<_, i64>(0).cast_unsigned())))
    }

    /// Links what is there, unless it is only to be read.
    async fn link(&self) -> Result<(), StoreError> {
        if self.writer.role == Role::Reader {
            Ok(())
        } else {
            self.writer.sequencer.catch_up(&self.writer.pool).await
        }
    }

    /// Numbers what this store has written, so that whoever wrote it reads it; a command cannot count on a server that does.
    async fn number(&self) -> Result<(), StoreError> {
        let Writer { role, sequencer, pool, .. } = &self.writer;
        match role {
            Role::Command => sequencer.catch_up(pool).await,
            _ => sequencer.catch_up_with_own(pool).await,
        }
    }

    /// Reads what is one tenant's, as a role that sees nothing else where there is one; all of it is one flight.
    async fn read_of(
        &self,
        tenant_id: TenantId,
        statement: impl Fn(&Statements) -> &Statement + Send,
        params: &[&(dyn ToSql + Sync)],
    ) -> Result<Vec<Row>, StoreError> {
        if !self.is_fenced {
            return self.read(statement, params).await;
        }
        let lent = self.writer.pool.lend(READING).await?;
        let (client, sql) = (&lent.connection.client, &lent.connection.sql);
        let begin = format!(
            "begin isolation level read committed read only; set local role trueup_tenant; set local trueup.tenant = '{tenant_id}'"
        );
        let flight = try_join3(
            client.batch_execute(&begin),
            client.query(statement(sql), params),
            client.batch_execute("commit"),
        );
        let answer = timeout(PATIENCE, flight).await.map_err(|_| no_answer())?;
        let ((), rows, ()) = answer.map_err(|error| failed(&error, READING))?;
        self.writer.pool.give_back(lent);
        Ok(rows)
    }

    async fn read(
        &self,
        statement: impl Fn(&Statements) -> &Statement + Send,
        params: &[&(dyn ToSql + Sync)],
    ) -> Result<Vec<Row>, StoreError> {
        let lent = self.writer.pool.lend(READING).await?;
        let (client, sql) = (&lent.connection.client, &lent.connection.sql);
        let answer = timeout(PATIENCE, client.query(statement(sql), params)).await;
        let rows = answer.map_err(|_| no_answer())?.map_err(|error| failed(&error, READING))?;
        self.writer.pool.give_back(lent);
        Ok(rows)
    }
}

fn no_answer() -> StoreError {
    StoreError::Away { doing: READING, problem: "no answer".to_owned() }
}

/// A position as its column holds it; those that no column can hold come after every event.
fn at(position: u64) -> i64 {
    position.try_into().unwrap_or(i64::MAX)
}
