//! Making keys and taking them back.

use serde_json::json;
use trueup_events::TenantId;
use uuid::Uuid;

use super::now_ms;
use super::tenant::ensure;
use crate::context::Context;
use crate::error::StoreError;
use crate::key::{Key, KeyRole, NewKey};
use crate::record::Entry;
use crate::tx::{Tx, Verb};

/// Who makes the first key, and what that is called.
const BOOTSTRAP: &str = "bootstrap";

pub(crate) struct MakeKey {
    pub(crate) new: NewKey,
    pub(crate) by: String,
}

impl Verb for MakeKey {
    type Output = Key;
    const DOING: &'static str = "making a key";

    async fn apply<T: Tx>(&self, tx: &mut T, context: &Context) -> Result<Key, StoreError> {
        match tx.key(self.new.id).await? {
            Some((key, hash)) if self.new.is(&key, &hash) => return Ok(key),
            Some(_) => return Err(StoreError::Differs { what: "key", id: self.new.id }),
            None => {}
        }
        if tx.tenant_by_id(self.new.tenant_id).await?.is_none() {
            return Err(StoreError::NoSuchTenant(self.new.tenant_id));
        }
        make(tx, context, &self.new, &self.by).await
    }
}

pub(crate) struct RevokeKey {
    pub(crate) tenant_id: TenantId,
    pub(crate) key_id: Uuid,
    pub(crate) by: String,
}

impl Verb for RevokeKey {
    type Output = Option<Key>;
    const DOING: &'static str = "revoking a key";

    async fn apply<T: Tx>(&self, tx: &mut T, context: &Context) -> Result<Option<Key>, StoreError> {
        let found = tx.key(self.key_id).await?.map(|(key, _)| key);
        let Some(key) = found.filter(|key| key.tenant_id == self.tenant_id) else { return Ok(None) };
        if key.revoked_at_ms.is_some() {
            return Ok(Some(key));
        }
        let at_ms = now_ms(tx, context).await?;
        tx.revoke_key(key.id, at_ms).await?;
        tx.audit(&Entry {
            at_ms,
            tenant_id: key.tenant_id,
            actor: self.by.clone(),
            action: "revoke_key".into(),
            subject: key.id.to_string(),
            detail: json!({ "name": key.name, "role": key.role.name() }),
        })
        .await?;
        Ok(Some(Key { revoked_at_ms: Some(at_ms), ..key }))
    }
}

/// Makes the first key of all, and the tenant whose it is; where there is a key already, nothing.
pub(crate) struct Bootstrap {
    /// The id, should the tenant be new.
    pub(crate) tenant_id: TenantId,
    pub(crate) tenant: String,
    pub(crate) hash: [u8; 32],
    pub(crate) key_id: Uuid,
}

impl Verb for Bootstrap {
    type Output = Option<Key>;
    const DOING: &'static str = "making the first key";

    async fn apply<T: Tx>(&self, tx: &mut T, context: &Context) -> Result<Option<Key>, StoreError> {
        // Every server asks when it starts, so that the lock is for those alone that may need it.
        if tx.has_keys().await? {
            return Ok(None);
        }
        tx.lock_keys().await?;
        if tx.has_keys().await? {
            return Ok(None);
        }
        let made_at_ms = now_ms(tx, context).await?;
        let new = NewKey {
            id: self.key_id,
            tenant_id: ensure(tx, self.tenant_id, &self.tenant, made_at_ms).await?,
            name: BOOTSTRAP.to_owned(),
            role: KeyRole::Admin,
            hash: self.hash,
            expires_at_ms: None,
        };
        make(tx, context, &new, BOOTSTRAP).await.map(Some)
    }
}

async fn make<T: Tx>(tx: &mut T, context: &Context, new: &NewKey, by: &str) -> Result<Key, StoreError> {
    let created_at_ms = now_ms(tx, context).await?;
    tx.insert_key(new, created_at_ms, by).await?;
    let NewKey { id, tenant_id, name, role, expires_at_ms, .. } = new.clone();
    tx.audit(&Entry {
        at_ms: created_at_ms,
        tenant_id,
        actor: by.to_owned(),
        action: "make_key".into(),
        subject: id.to_string(),
        detail: json!({ "name": name, "role": role.name(), "expires_at_ms": expires_at_ms }),
    })
    .await?;
    let created_by = by.to_owned();
    Ok(Key { id, tenant_id, name, role, created_at_ms, created_by, expires_at_ms, revoked_at_ms: None })
}
