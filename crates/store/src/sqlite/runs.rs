//! Runs, one or many, as they are read.

use std::ops::RangeInclusive;

use rusqlite::types::Null;
use rusqlite::{Connection, ToSql, params};
use trueup_events::{RunId, TenantId};
use uuid::Uuid;

use super::rows::Loaded;
use super::{Sqlite, rows, sql};
use crate::error::StoreError;
use crate::filter::{RunFilter, Wanted, merged};
use crate::record::Record;
use crate::tx::Found;

impl Sqlite {
    pub(crate) async fn run(&self, tenant_id: TenantId, run_id: RunId) -> Result<Option<Record>, StoreError> {
        let read = move |connection: &_| {
            let of = params![run_id.to_string(), tenant_id.to_string()];
            rows::first(connection, sql::RUN_OF_TENANT, of, rows::record)
        };
        self.readers.read("reading a run", read).await
    }

    pub(crate) async fn runs(&self, filter: &RunFilter) -> Result<Vec<Found>, StoreError> {
        let filter = filter.clone();
        self.readers.read("listing runs", move |connection: &_| list(connection, &filter)).await
    }

    pub(crate) async fn runs_between(
        &self,
        tenant_id: TenantId,
        ids: RangeInclusive<Uuid>,
        limit: u32,
    ) -> Result<Vec<Record>, StoreError> {
        let read = move |connection: &_| {
            let of = params![tenant_id.to_string(), ids.start().to_string(), ids.end().to_string(), limit];
            rows::all(connection, sql::RUNS_BETWEEN, of, rows::record)
        };
        self.readers.read("looking for runs", read).await
    }
}

fn list(connection: &Connection, filter: &RunFilter) -> Loaded<Vec<Found>> {
    let (first, last) = numbers(connection, sql::NUMBERS_BETWEEN, filter)?;
    let (tenant_id, limit) = (filter.tenant_id.to_string(), filter.limit);
    let (since_ms, until_ms) = filter.span_ms();
    let before = filter.before.map_or(last, |before| before.min(last));
    let of: [&dyn ToSql; 6] = [&tenant_id, &before, &first, &since_ms, &until_ms, &limit];
    let all = |statement, more: &[&dyn ToSql]| {
        rows::all(connection, statement, &*[&of[..], more].concat(), rows::found)
    };
    // Each by its own index: among a million that ended well, the few that did not are found at once.
    let each = |wanted: &[&str], find: &dyn Fn(&str) -> Loaded<Vec<Found>>| {
        let mut found = Vec::new();
        for one in wanted {
            found.append(&mut find(one)?);
        }
        Ok(merged(found, limit))
    };
    let wanted = filter.wanted();
    if let Some(job_id) = filter.job_id.map(|id| id.to_string()) {
        if wanted == Wanted::Any {
            return all(sql::RUNS_OF_JOB, &[&job_id]);
        }
        let mut found = each(&wanted.ends(), &|end| all(sql::RUNS_OF_JOB_IN_STATE, &[&job_id, &end]))?;
        let going_on = |state: &str| all(sql::RUNS_IN_STATE, &[&state, &job_id]);
        found.append(&mut each(&wanted.going_on(), &going_on)?);
        return Ok(merged(found, limit));
    }
    match wanted {
        Wanted::Any => all(sql::RUNS, &[]),
        Wanted::States(states) => {
            let states: Vec<&str> = states.iter().map(|state| state.name()).collect();
            each(&states, &|state| all(sql::RUNS_IN_STATE, &[&state, &Null]))
        }
        Wanted::Verdicts(verdicts) => {
            let verdicts: Vec<&str> = verdicts.iter().map(|verdict| verdict.name()).collect();
            each(&verdicts, &|verdict| all(sql::RUNS_OF_VERDICT, &[&verdict]))
        }
    }
}

/// The numbers after which and before which those are that were asked for, or opened, at the right time.
pub(super) fn numbers(connection: &Connection, statement: &str, filter: &RunFilter) -> Loaded<(i64, i64)> {
    let Some((since_ms, until_ms)) = filter.times_ms() else { return Ok((0, i64::MAX)) };
    let mut statement = connection.prepare_cached(statement)?;
    let numbers = statement.query_row(params![filter.tenant_id.to_string(), since_ms, until_ms], |row| {
        Ok((row.get::<_, Option<i64>>(0)?, row.get::<_, Option<i64>>(1)?))
    })?;
    Ok((numbers.0.unwrap_or(0), numbers.1.unwrap_or(i64::MAX)))
}
