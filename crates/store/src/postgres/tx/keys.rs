//! Keys and tenants in a transaction.

use trueup_events::TenantId;
use uuid::Uuid;

use super::PgTx;
use crate::error::StoreError;
use crate::key::{Key, NewKey, Tenant};
use crate::postgres::rows;
use crate::tx::Keys;

impl Keys for PgTx<'_> {
    async fn key(&mut self, id: Uuid) -> Result<Option<(Key, [u8; 32])>, StoreError> {
        let sql = &self.connection.sql;
        let found = self.query(&sql.key, &[&id.to_string()]).await?;
        found.first().map(|row| Ok((rows::key_of(row)?, rows::hash(row, 8)?))).transpose()
    }

    async fn has_keys(&mut self) -> Result<bool, StoreError> {
        let sql = &self.connection.sql;
        Ok(self.query(&sql.has_keys, &[]).await?.first().is_some_and(|row| row.get(0)))
    }

    async fn lock_keys(&mut self) -> Result<(), StoreError> {
        let sql = &self.connection.sql;
        self.query(&sql.lock_keys, &[]).await.map(drop)
    }

    async fn insert_key(
        &mut self,
        new: &NewKey,
        created_at_ms: i64,
        created_by: &str,
    ) -> Result<(), StoreError> {
        let NewKey { id, tenant_id, name, role, hash, expires_at_ms } = new;
        let sql = &self.connection.sql;
        let (id, tenant_id, role, hash) = (id.to_string(), tenant_id.to_string(), role.name(), &hash[..]);
        self.query(
            &sql.insert_key,
            &[&id, &tenant_id, name, &role, &hash, &created_at_ms, &created_by, expires_at_ms],
        )
        .await
        .map(drop)
    }

    async fn revoke_key(&mut self, id: Uuid, at_ms: i64) -> Result<(), StoreError> {
        let sql = &self.connection.sql;
        self.query(&sql.revoke_key, &[&id.to_string(), &at_ms]).await.map(drop)
    }

    async fn tenant(&mut self, id: TenantId, name: &str, made_at_ms: i64) -> Result<TenantId, StoreError> {
        let sql = &self.connection.sql;
        let mut found = self.query(&sql.tenant, &[&name]).await?;
        if found.is_empty() {
            self.query(&sql.insert_tenant, &[&id.to_string(), &name, &made_at_ms]).await?;
            found = self.query(&sql.tenant, &[&name]).await?;
        }
        found.first().map_or(Ok(id), |row| rows::tenant_id(row, 0))
    }

    async fn tenant_by_id(&mut self, id: TenantId) -> Result<Option<Tenant>, StoreError> {
        let sql = &self.connection.sql;
        let found = self.query(&sql.tenant_by_id, &[&id.to_string()]).await?;
        found.first().map(rows::tenant).transpose()
    }
}
