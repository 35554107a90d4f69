//! Tenants and keys.

use trueup_events::TenantId;
use uuid::Uuid;

use crate::error::StoreError;
use crate::key::{Key, Tenant};
use crate::postgres::{Postgres, rows};

impl Postgres {
    pub(crate) async fn tenant_named(&self, name: &str) -> Result<Option<TenantId>, StoreError> {
        let found = self.read(|sql| &sql.tenant, &[&name]).await?;
        found.first().map(|row| rows::tenant_id(row, 0)).transpose()
    }

    pub(crate) async fn tenant_by_id(&self, id: TenantId) -> Result<Option<Tenant>, StoreError> {
        let found = self.read(|sql| &sql.tenant_by_id, &[&id.to_string()]).await?;
        found.first().map(rows::tenant).transpose()
    }

    pub(crate) async fn tenants(
        &self,
        after: Option<TenantId>,
        limit: u32,
    ) -> Result<Vec<Tenant>, StoreError> {
        let after = after.map_or_else(String::new, |id| id.to_string());
        self.read(|sql| &sql.tenants, &[&after, &i64::from(limit)]).await?.iter().map(rows::tenant).collect()
    }

    pub(crate) async fn keys(
        &self,
        tenant_id: TenantId,
        after: Option<Uuid>,
        limit: u32,
    ) -> Result<Vec<Key>, StoreError> {
        let after = after.map_or_else(String::new, |id| id.to_string());
        let found = self
            .read_of(tenant_id, |sql| &sql.keys, &[&tenant_id.to_string(), &after, &i64::from(limit)])
            .await?;
        found.iter().map(rows::key_of).collect()
    }

    pub(crate) async fn key_of(&self, hash: [u8; 32]) -> Result<Option<Key>, StoreError> {
        let found = self.read(|sql| &sql.key_of, &[&&hash[..]]).await?;
        found.first().map(rows::key_of).transpose()
    }
}
