//! Tenants, and the keys by which requests say who they are.

use trueup_events::TenantId;
use uuid::Uuid;

use super::{Backend, Store};
use crate::error::StoreError;
use crate::key::{Key, NewKey, Tenant};
use crate::text::refuse_nul;
use crate::verbs;

impl Store {
    /// The tenant of that name, made if need be.
    pub async fn tenant(&self, name: &str) -> Result<TenantId, StoreError> {
        refuse_nul([("tenant", name)])?;
        self.transact(verbs::EnsureTenant { id: TenantId(Uuid::now_v7()), name: name.to_owned() }).await
    }

    /// The tenant of that name, if there is one.
    pub async fn tenant_named(&self, name: &str) -> Result<Option<TenantId>, StoreError> {
        refuse_nul([("tenant", name)])?;
        ask!(self, backend => backend.tenant_named(name).await)
    }

    /// The tenant of that id, if there is one.
    pub async fn tenant_by_id(&self, id: TenantId) -> Result<Option<Tenant>, StoreError> {
        ask!(self, backend => backend.tenant_by_id(id).await)
    }

    /// The tenants after one of them, in the order of their ids.
    pub async fn tenants(&self, after: Option<TenantId>, limit: u32) -> Result<Vec<Tenant>, StoreError> {
        ask!(self, backend => backend.tenants(after, limit).await)
    }

    /// Makes a tenant; asked again with the same id and name, it changes nothing.
    pub async fn make_tenant(&self, id: TenantId, name: &str, by: &str) -> Result<Tenant, StoreError> {
        refuse_nul([("tenant", name), ("by", by)])?;
        self.transact(verbs::MakeTenant { id, name: name.to_owned(), by: by.to_owned() }).await
    }

    /// Makes a key; asked again with the same id, it changes nothing.
    pub async fn make_key(&self, new: NewKey, by: &str) -> Result<Key, StoreError> {
        refuse_nul([("name", new.name.as_str()), ("by", by)])?;
        self.transact(verbs::MakeKey { new, by: by.to_owned() }).await
    }

    /// Takes a key of a tenant back; one that was taken back before stays as it is.
    pub async fn revoke_key(
        &self,
        tenant_id: TenantId,
        key_id: Uuid,
        by: &str,
    ) -> Result<Option<Key>, StoreError> {
        refuse_nul([("by", by)])?;
        self.transact(verbs::RevokeKey { tenant_id, key_id, by: by.to_owned() }).await
    }

    /// The keys of a tenant after one of them, in the order of their ids.
    pub async fn keys(
        &self,
        tenant_id: TenantId,
        after: Option<Uuid>,
        limit: u32,
    ) -> Result<Vec<Key>, StoreError> {
        ask!(self, backend => backend.keys(tenant_id, after, limit).await)
    }

    /// The key whose text has that SHA-256, also one that is good for nothing any more.
    pub async fn key_of(&self, hash: [u8; 32]) -> Result<Option<Key>, StoreError> {
        ask!(self, backend => backend.key_of(hash).await)
    }

    /// Makes the first key, an admin's of the tenant of that name; where there is any key already, it changes nothing.
    pub async fn bootstrap(
        &self,
        tenant_name: &str,
        hash: [u8; 32],
        id: Uuid,
    ) -> Result<Option<Key>, StoreError> {
        refuse_nul([("tenant", tenant_name)])?;
        let tenant_id = TenantId(Uuid::now_v7());
        self.transact(verbs::Bootstrap { tenant_id, tenant: tenant_name.to_owned(), hash, key_id: id }).await
    }
}
