//! Runs, one or many.

use std::ops::RangeInclusive;

use tokio_postgres::Statement;
use tokio_postgres::types::ToSql;
use trueup_events::{RunId, TenantId};
use uuid::Uuid;

use crate::error::StoreError;
use crate::filter::{RunFilter, Wanted, merged};
use crate::postgres::Postgres;
use crate::postgres::rows::{self, key};
use crate::postgres::statements::Statements;
use crate::record::Record;
use crate::tx::Found;

impl Postgres {
    pub(crate) async fn run(&self, tenant_id: TenantId, run_id: RunId) -> Result<Option<Record>, StoreError> {
        let found = self
            .read_of(tenant_id, |sql| &sql.run_of_tenant, &[&tenant_id.to_string(), &key(run_id)])
            .await?;
        found.first().map(rows::record).transpose()
    }

    pub(crate) async fn runs(&self, filter: &RunFilter) -> Result<Vec<Found>, StoreError> {
        let (first, last) = self.numbers(|sql| &sql.numbers_between, filter).await?;
        let (tenant, limit) = (filter.tenant_id.to_string(), i64::from(filter.limit));
        let (since_ms, until_ms) = filter.span_ms();
        let before = filter.before.map_or(last, |before| before.min(last));
        let of: [&(dyn ToSql + Sync); 6] = [&tenant, &before, &first, &since_ms, &until_ms, &limit];
        let all = async |statement: fn(&Statements) -> &Statement, more: &[&(dyn ToSql + Sync)]| {
            let found = self.read_of(filter.tenant_id, statement, &[&of[..], more].concat()).await?;
            Ok::<Vec<Found>, StoreError>(found.iter().map(rows::found).collect())
        };
        let wanted = filter.wanted();
        if let Some(job_id) = filter.job_id.map(|id| id.to_string()) {
            if wanted == Wanted::Any {
                return all(|sql| &sql.runs_of_job, &[&job_id]).await;
            }
            let mut found = all(|sql| &sql.runs_of_job_in_state, &[&job_id, &wanted.ends()]).await?;
            let going_on = wanted.going_on();
            if !going_on.is_empty() {
                found.append(&mut all(|sql| &sql.runs_in_state, &[&going_on, &Some(job_id)]).await?);
            }
            return Ok(merged(found, filter.limit));
        }
        match wanted {
            Wanted::Any => all(|sql| &sql.runs, &[]).await,
            Wanted::States(states) => {
                let states: Vec<&str> = states.iter().map(|state| state.name()).collect();
                all(|sql| &sql.runs_in_state, &[&states, &None::<String>]).await
            }
            Wanted::Verdicts(verdicts) => {
                let verdicts: Vec<&str> = verdicts.iter().map(|verdict| verdict.name()).collect();
                all(|sql| &sql.runs_of_verdict, &[&verdicts]).await
            }
        }
    }

    /// The numbers after which and before which those are that were asked for, or opened, at the right time.
    pub(super) async fn numbers(
        &self,
        statement: impl Fn(&Statements) -> &Statement + Send,
        filter: &RunFilter,
    ) -> Result<(i64, i64), StoreError> {
        let Some((since_ms, until_ms)) = filter.times_ms() else { return Ok((0, i64::MAX)) };
        let of: [&(dyn ToSql + Sync); 3] = [&filter.tenant_id.to_string(), &since_ms, &until_ms];
        // Not as the role that sees no other tenant: that condition, once more, leads the planner away from the index. Numbers tell nothing of anybody.
        let found = self.read(statement, &of).await?;
        let number = |column| found.first().and_then(|row| row.get::<_, Option<i64>>(column));
        Ok((number(0).unwrap_or(0), number(1).unwrap_or(i64::MAX)))
    }

    pub(crate) async fn runs_between(
        &self,
        tenant_id: TenantId,
        ids: RangeInclusive<Uuid>,
        limit: u32,
    ) -> Result<Vec<Record>, StoreError> {
        let (first, last) = (ids.start().to_string(), ids.end().to_string());
        let of: [&(dyn ToSql + Sync); 4] = [&tenant_id.to_string(), &first, &last, &i64::from(limit)];
        self.read_of(tenant_id, |sql| &sql.runs_between, &of).await?.iter().map(rows::record).collect()
    }
}
