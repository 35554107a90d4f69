//! Keys and tenants in a transaction.

use rusqlite::{Row, params};
use trueup_events::TenantId;
use uuid::Uuid;

use super::SqliteTx;
use crate::error::StoreError;
use crate::key::{Key, NewKey, Tenant};
use crate::sqlite::{rows, sql};
use crate::tx::Keys;

impl Keys for SqliteTx<'_> {
    async fn key(&mut self, id: Uuid) -> Result<Option<(Key, [u8; 32])>, StoreError> {
        let with_hash = |row: &Row<'_>| Ok((rows::key(row)?, rows::hash(row, 8)?));
        self.ask(|connection| rows::first(connection, sql::KEY, [id.to_string()], with_hash))
    }

    async fn has_keys(&mut self) -> Result<bool, StoreError> {
        self.ask(|connection| {
            Ok(connection.prepare_cached(sql::HAS_KEYS)?.query_row([], |row| row.get(0))?)
        })
    }

    async fn lock_keys(&mut self) -> Result<(), StoreError> {
        Ok(())
    }

    async fn insert_key(
        &mut self,
        new: &NewKey,
        created_at_ms: i64,
        created_by: &str,
    ) -> Result<(), StoreError> {
        let NewKey { id, tenant_id, name, role, hash, expires_at_ms } = new;
        let (id, tenant_id) = (id.to_string(), tenant_id.to_string());
        let of = params![id, tenant_id, name, role.name(), hash, created_at_ms, created_by, expires_at_ms];
        self.ask(|connection| Ok(connection.prepare_cached(sql::INSERT_KEY)?.execute(of).map(drop)?))
    }

    async fn revoke_key(&mut self, id: Uuid, at_ms: i64) -> Result<(), StoreError> {
        let of = params![id.to_string(), at_ms];
        self.ask(|connection| Ok(connection.prepare_cached(sql::REVOKE_KEY)?.execute(of).map(drop)?))
    }

    async fn tenant(&mut self, id: TenantId, name: &str, made_at_ms: i64) -> Result<TenantId, StoreError> {
        self.ask(|connection| {
            if let Some(tenant) = rows::first(connection, sql::TENANT, [name], rows::tenant_id)? {
                return Ok(tenant);
            }
            let of = params![id.to_string(), name, made_at_ms];
            connection.prepare_cached(sql::INSERT_TENANT)?.execute(of)?;
            Ok(id)
        })
    }

    async fn tenant_by_id(&mut self, id: TenantId) -> Result<Option<Tenant>, StoreError> {
        self.ask(|connection| rows::first(connection, sql::TENANT_BY_ID, [id.to_string()], rows::tenant))
    }
}
