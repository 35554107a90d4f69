//! Executions that something else started, in a transaction.

use rusqlite::params;
use trueup_events::{RunId, TenantId};

use super::SqliteTx;
use crate::error::StoreError;
use crate::observed::{Observed, SeenColumns};
use crate::sqlite::{rows, sql};
use crate::tx::{Note, Sightings, Subjects};

impl Sightings for SqliteTx<'_> {
    async fn subjects(&mut self, tenant_id: TenantId, ids: &[RunId]) -> Result<Subjects, StoreError> {
        let tenant_id = tenant_id.to_string();
        let mut subjects = Subjects { runs: Vec::new(), observed: Vec::new() };
        for id in ids {
            let key = id.to_string();
            self.ask(|connection| {
                subjects.runs.extend(rows::first(connection, sql::OWNERS_OF_RUNS, [&key], rows::owner)?);
                let of = params![tenant_id, key];
                subjects.observed.extend(rows::first(connection, sql::OBSERVED_BY_ID, of, rows::observed)?);
                Ok(())
            })?;
        }
        Ok(subjects)
    }

    async fn put_observed(&mut self, observed: &Observed, note: Option<&Note>) -> Result<(), StoreError> {
        let SeenColumns { name, state, steps, cancel } = SeenColumns::of(&observed.seen);
        let (id, tenant_id) = (observed.id.to_string(), observed.tenant_id.to_string());
        let Observed { opened_at_ms, updated_at_ms, finished_at_ms, changes, .. } = observed;
        let changed = self.ask(|connection| {
            Ok(if observed.is_new() {
                connection.prepare_cached(sql::INSERT_OBSERVED)?.execute(params![
                    id,
                    tenant_id,
                    name,
                    state,
                    steps,
                    cancel,
                    opened_at_ms,
                    updated_at_ms,
                    finished_at_ms,
                    changes
                ])?
            } else {
                connection.prepare_cached(sql::WRITE_OBSERVED)?.execute(params![
                    id,
                    tenant_id,
                    name,
                    state,
                    steps,
                    cancel,
                    updated_at_ms,
                    finished_at_ms,
                    changes
                ])?
            })
        })?;
        if changed != 1 {
            return Err(StoreError::Contended { doing: self.doing });
        }
        note.map_or(Ok(()), |note| self.tell(note))
    }

    async fn forget_observed(&mut self, before_ms: i64, limit: u32) -> Result<u64, StoreError> {
        self.ask(|connection| {
            let key = |row: &rusqlite::Row<'_>| Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?));
            let ended = rows::all(connection, sql::OBSERVED_TO_FORGET, params![before_ms, limit], key)?;
            for (id, tenant_id) in &ended {
                for statement in [sql::FORGET_EVENTS_OBSERVED, sql::FORGET_OBSERVED] {
                    connection.prepare_cached(statement)?.execute(params![id, tenant_id])?;
                }
            }
            Ok(ended.len() as u64)
        })
    }
}
