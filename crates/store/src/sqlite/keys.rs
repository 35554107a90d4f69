//! Tenants and keys, as they are read.

use rusqlite::params;
use trueup_events::TenantId;
use uuid::Uuid;

use super::{Sqlite, rows, sql};
use crate::error::StoreError;
use crate::key::{Key, Tenant};

impl Sqlite {
    pub(crate) async fn tenant_named(&self, name: &str) -> Result<Option<TenantId>, StoreError> {
        let name = name.to_owned();
        let read = move |connection: &_| rows::first(connection, sql::TENANT, [name], rows::tenant_id);
        self.readers.read("looking for a tenant", read).await
    }

    pub(crate) async fn tenant_by_id(&self, id: TenantId) -> Result<Option<Tenant>, StoreError> {
        let read =
            move |connection: &_| rows::first(connection, sql::TENANT_BY_ID, [id.to_string()], rows::tenant);
        self.readers.read("looking for a tenant", read).await
    }

    pub(crate) async fn tenants(
        &self,
        after: Option<TenantId>,
        limit: u32,
    ) -> Result<Vec<Tenant>, StoreError> {
        let after = after.map_or_else(String::new, |id| id.to_string());
        let read =
            move |connection: &_| rows::all(connection, sql::TENANTS, params![after, limit], rows::tenant);
        self.readers.read("listing tenants", read).await
    }

    pub(crate) async fn keys(
        &self,
        tenant_id: TenantId,
        after: Option<Uuid>,
        limit: u32,
    ) -> Result<Vec<Key>, StoreError> {
        let after = after.map_or_else(String::new, |id| id.to_string());
        let read = move |connection: &_| {
            let of = params![tenant_id.to_string(), after, limit];
            rows::all(connection, sql::KEYS, of, rows::key)
        };
        self.readers.read("listing keys", read).await
    }

    pub(crate) async fn key_of(&self, hash: [u8; 32]) -> Result<Option<Key>, StoreError> {
        let read = move |connection: &_| rows::first(connection, sql::KEY_OF, [hash], rows::key);
        self.readers.read("looking for a key", read).await
    }
}
