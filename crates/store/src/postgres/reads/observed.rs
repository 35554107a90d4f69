//! Executions that something else started.

use tokio_postgres::types::ToSql;
use trueup_events::{Event, RunId, TenantId};

use crate::error::StoreError;
use crate::filter::RunFilter;
use crate::observed::Observed;
use crate::postgres::rows::key;
use crate::postgres::{Postgres, rows};
use crate::tx::{Found, STAGE_EVENTS_MAX};

impl Postgres {
    pub(crate) async fn observed(
        &self,
        tenant_id: TenantId,
        id: RunId,
    ) -> Result<Option<Observed>, StoreError> {
        let found =
            self.read_of(tenant_id, |sql| &sql.observed_by_id, &[&tenant_id.to_string(), &key(id)]).await?;
        found.first().map(rows::observed).transpose()
    }

    pub(crate) async fn observed_in(&self, filter: &RunFilter) -> Result<Vec<Observed>, StoreError> {
        let (first, last) = self.numbers(|sql| &sql.observed_between, filter).await?;
        let (tenant_id, limit) = (filter.tenant_id.to_string(), i64::from(filter.limit));
        let (since_ms, until_ms) = filter.span_ms();
        let before = filter.before.map_or(last, |before| before.min(last));
        let of: [&(dyn ToSql + Sync); 6] = [&tenant_id, &before, &first, &since_ms, &until_ms, &limit];
        let states: Vec<&str> = filter.statuses.iter().map(|status| status.name()).collect();
        let found = if states.is_empty() {
            self.read_of(filter.tenant_id, |sql| &sql.observed, &of).await?
        } else {
            self.read_of(filter.tenant_id, |sql| &sql.observed_in_state, &[&of[..], &[&states]].concat())
                .await?
        };
        found.iter().map(rows::observed).collect()
    }

    pub(crate) async fn silent(
        &self,
        tenant_id: TenantId,
        before_ms: i64,
        limit: u32,
    ) -> Result<(Vec<Found>, Vec<Observed>), StoreError> {
        // What was told a moment ago may wait for its place in the log.
        self.number().await?;
        let of: [&(dyn ToSql + Sync); 3] = [&tenant_id.to_string(), &before_ms, &i64::from(limit)];
        let runs = self.read_of(tenant_id, |sql| &sql.runs_silent, &of).await?;
        let observed = self.read_of(tenant_id, |sql| &sql.observed_silent, &of).await?;
        let observed = observed.iter().map(rows::observed).collect::<Result<_, _>>()?;
        Ok((runs.iter().map(rows::found).collect(), observed))
    }

    pub(crate) async fn stages_of(
        &self,
        tenant_id: TenantId,
        run_id: RunId,
    ) -> Result<Vec<Event>, StoreError> {
        self.number().await?;
        let limit = i64::from(STAGE_EVENTS_MAX);
        let found = self
            .read_of(tenant_id, |sql| &sql.stages_of_run, &[&key(run_id), &tenant_id.to_string(), &limit])
            .await?;
        found.iter().map(rows::event).collect()
    }
}
