//! Executions that something else started, in a transaction.

use trueup_events::{RunId, TenantId};

use super::{PgTx, number};
use crate::error::StoreError;
use crate::observed::Observed;
use crate::postgres::rows::{self, key};
use crate::tx::{Note, Sightings, Subjects};

impl Sightings for PgTx<'_> {
    async fn subjects(&mut self, tenant_id: TenantId, ids: &[RunId]) -> Result<Subjects, StoreError> {
        let sql = &self.connection.sql;
        let tenant_id = tenant_id.to_string();
        let all: Vec<String> = ids.iter().copied().map(key).collect();
        let uuids: Vec<String> =
            ids.iter().filter(|id| matches!(id, RunId::Uuid(_))).copied().map(key).collect();
        let locked = (&sql.lock_observed, &[&tenant_id as _, &all as _][..]);
        let (runs, [observed, now]) = if uuids.is_empty() {
            (Vec::new(), self.query_all([locked, (&sql.now_ms, &[])]).await?)
        } else {
            let owners = (&sql.owners_of_runs, &[&uuids as _][..]);
            let [runs, observed, now] = self.query_all([owners, locked, (&sql.now_ms, &[])]).await?;
            (runs, [observed, now])
        };
        self.now_ms = Some(number(&now));
        Ok(Subjects {
            runs: runs.iter().map(rows::owner).collect::<Result<_, _>>()?,
            observed: observed.iter().map(rows::observed).collect::<Result<_, _>>()?,
        })
    }

    async fn put_observed(&mut self, observed: &Observed, note: Option<&Note>) -> Result<(), StoreError> {
        self.writes.put_observed(observed, note);
        Ok(())
    }

    async fn forget_observed(&mut self, before_ms: i64, limit: u32) -> Result<u64, StoreError> {
        let sql = &self.connection.sql;
        let counted = self.query(&sql.forget_observed, &[&before_ms, &i64::from(limit)]).await?;
        Ok(number(&counted).cast_unsigned())
    }
}
