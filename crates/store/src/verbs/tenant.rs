//! Making tenants.

use serde_json::json;
use trueup_events::TenantId;
use trueup_lifecycle::Limits;

use super::now_ms;
use crate::context::Context;
use crate::error::StoreError;
use crate::key::Tenant;
use crate::record::Entry;
use crate::tx::{Tx, Verb};

/// The queue that every tenant has.
const DEFAULT_QUEUE: &str = "default";

pub(crate) struct EnsureTenant {
    pub(crate) id: TenantId,
    pub(crate) name: String,
}

impl Verb for EnsureTenant {
    type Output = TenantId;
    const DOING: &'static str = "making a tenant";

    async fn apply<T: Tx>(&self, tx: &mut T, context: &Context) -> Result<TenantId, StoreError> {
        let made_at_ms = now_ms(tx, context).await?;
        ensure(tx, self.id, &self.name, made_at_ms).await
    }
}

/// Makes a tenant with its queue, unless there is one of that name, whose id it then is.
pub(super) async fn ensure<T: Tx>(
    tx: &mut T,
    id: TenantId,
    name: &str,
    made_at_ms: i64,
) -> Result<TenantId, StoreError> {
    let tenant_id = tx.tenant(id, name, made_at_ms).await?;
    if tx.limits(tenant_id, DEFAULT_QUEUE).await?.is_none() {
        tx.set_limits(tenant_id, DEFAULT_QUEUE, Limits::default()).await?;
    }
    Ok(tenant_id)
}

/// Makes a tenant that is not there yet.
pub(crate) struct MakeTenant {
    pub(crate) id: TenantId,
    pub(crate) name: String,
    pub(crate) by: String,
}

impl Verb for MakeTenant {
    type Output = Tenant;
    const DOING: &'static str = "making a tenant";

    async fn apply<T: Tx>(&self, tx: &mut T, context: &Context) -> Result<Tenant, StoreError> {
        match tx.tenant_by_id(self.id).await? {
            Some(tenant) if tenant.name == self.name => return Ok(tenant),
            Some(_) => return Err(StoreError::Differs { what: "tenant", id: self.id.0 }),
            None => {}
        }
        let made_at_ms = now_ms(tx, context).await?;
        if ensure(tx, self.id, &self.name, made_at_ms).await? != self.id {
            return Err(StoreError::TenantTaken { name: self.name.clone() });
        }
        tx.audit(&Entry {
            at_ms: made_at_ms,
            tenant_id: self.id,
            actor: self.by.clone(),
            action: "make_tenant".into(),
            subject: self.id.to_string(),
            detail: json!({ "name": self.name }),
        })
        .await?;
        Ok(Tenant { id: self.id, name: self.name.clone(), made_at_ms })
    }
}
