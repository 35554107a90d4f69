//! What a verb can do about keys and tenants.

use trueup_events::TenantId;
use uuid::Uuid;

use crate::error::StoreError;
use crate::key::{Key, NewKey, Tenant};

/// A transaction, as far as it is about keys and tenants.
pub(crate) trait Keys: Send {
    /// Loads a key, with the hash of its text.
    fn key(&mut self, id: Uuid) -> impl Future<Output = Result<Option<(Key, [u8; 32])>, StoreError>> + Send;

    /// Whether there is any key, of whomever.
    fn has_keys(&mut self) -> impl Future<Output = Result<bool, StoreError>> + Send;

    /// Lets nobody else make a key until the end.
    fn lock_keys(&mut self) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Adds a key.
    fn insert_key(
        &mut self,
        new: &NewKey,
        created_at_ms: i64,
        created_by: &str,
    ) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Notes that a key was taken back.
    fn revoke_key(&mut self, id: Uuid, at_ms: i64) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Makes a tenant, unless there is one of that name, whose id it then is.
    fn tenant(
        &mut self,
        id: TenantId,
        name: &str,
        made_at_ms: i64,
    ) -> impl Future<Output = Result<TenantId, StoreError>> + Send;

    /// The tenant of that id.
    fn tenant_by_id(
        &mut self,
        id: TenantId,
    ) -> impl Future<Output = Result<Option<Tenant>, StoreError>> + Send;
}
