//! Connections, and answers that are given again.

use trueup_events::TenantId;

use crate::connection::Connection;
use crate::error::StoreError;
use crate::postgres::{Postgres, rows};
use crate::record::Answer;

impl Postgres {
    pub(crate) async fn connection(
        &self,
        tenant_id: TenantId,
        name: &str,
    ) -> Result<Option<Connection>, StoreError> {
        let found = self.read_of(tenant_id, |sql| &sql.connection, &[&tenant_id.to_string(), &name]).await?;
        found.first().map(rows::connection).transpose()
    }

    pub(crate) async fn connections(
        &self,
        tenant_id: TenantId,
        after: &str,
        limit: u32,
    ) -> Result<Vec<Connection>, StoreError> {
        let (tenant, limit) = (tenant_id.to_string(), i64::from(limit));
        let found = self.read_of(tenant_id, |sql| &sql.connections, &[&tenant, &after, &limit]).await?;
        found.iter().map(rows::connection).collect()
    }

    pub(crate) async fn answer_of(
        &self,
        tenant_id: TenantId,
        key: &str,
    ) -> Result<Option<Answer>, StoreError> {
        let found = self.read_of(tenant_id, |sql| &sql.answer_of, &[&tenant_id.to_string(), &key]).await?;
        found.first().map(rows::answer).transpose()
    }
}
