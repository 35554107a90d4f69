//! Executions that something else started, as they are read.

use rusqlite::{Connection, params};
use trueup_events::{Event, RunId, TenantId};

use super::rows::Loaded;
use super::runs::numbers;
use super::{Sqlite, rows, sql};
use crate::error::StoreError;
use crate::filter::RunFilter;
use crate::observed::Observed;
use crate::tx::{Found, STAGE_EVENTS_MAX};

impl Sqlite {
    pub(crate) async fn observed(
        &self,
        tenant_id: TenantId,
        id: RunId,
    ) -> Result<Option<Observed>, StoreError> {
        let read = move |connection: &_| {
            let of = params![tenant_id.to_string(), id.to_string()];
            rows::first(connection, sql::OBSERVED_BY_ID, of, rows::observed)
        };
        self.readers.read("reading an observed execution", read).await
    }

    pub(crate) async fn observed_in(&self, filter: &RunFilter) -> Result<Vec<Observed>, StoreError> {
        let filter = filter.clone();
        let read = move |connection: &_| listed(connection, &filter);
        self.readers.read("listing observed executions", read).await
    }

    pub(crate) async fn silent(
        &self,
        tenant_id: TenantId,
        before_ms: i64,
        limit: u32,
    ) -> Result<(Vec<Found>, Vec<Observed>), StoreError> {
        let read = move |connection: &_| {
            let of = params![tenant_id.to_string(), before_ms, limit];
            let runs = rows::all(connection, sql::RUNS_SILENT, of, rows::found)?;
            Ok((runs, rows::all(connection, sql::OBSERVED_SILENT, of, rows::observed)?))
        };
        self.readers.read("looking for executions that nothing is heard of", read).await
    }

    pub(crate) async fn stages_of(
        &self,
        tenant_id: TenantId,
        run_id: RunId,
    ) -> Result<Vec<Event>, StoreError> {
        let read = move |connection: &_| {
            let of = params![run_id.to_string(), tenant_id.to_string(), STAGE_EVENTS_MAX];
            rows::all(connection, sql::STAGES_OF_RUN, of, rows::event)
        };
        self.readers.read("reading the stages of a run", read).await
    }
}

fn listed(connection: &Connection, filter: &RunFilter) -> Loaded<Vec<Observed>> {
    let (first, last) = numbers(connection, sql::OBSERVED_BETWEEN, filter)?;
    let before = filter.before.map_or(last, |before| before.min(last));
    let (tenant_id, limit) = (filter.tenant_id.to_string(), filter.limit);
    let (since_ms, until_ms) = filter.span_ms();
    if filter.statuses.is_empty() {
        let of = params![tenant_id, before, first, since_ms, until_ms, limit];
        return rows::all(connection, sql::OBSERVED, of, rows::observed);
    }
    // Each state by its own index, as runs are.
    let mut found = Vec::new();
    for status in &filter.statuses {
        let of = params![tenant_id, before, first, since_ms, until_ms, limit, status.name()];
        found.append(&mut rows::all(connection, sql::OBSERVED_IN_STATE, of, rows::observed)?);
    }
    found.sort_by_key(|observed: &Observed| std::cmp::Reverse(observed.number));
    found.dedup_by_key(|observed| observed.number);
    found.truncate(limit as usize);
    Ok(found)
}
