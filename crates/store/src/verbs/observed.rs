//! What can be done about executions that something else started.

use trueup_events::{RunId, TenantId};
use trueup_lifecycle::{Cancel, Status};

use super::cancel::masked;
use super::now_ms;
use crate::context::Context;
use crate::error::StoreError;
use crate::observed::Observed;
use crate::record::Entry;
use crate::tx::{Note, Tx, Verb};

/// Cancels an execution here: nobody here can tell whoever runs it.
pub(crate) struct CancelObserved {
    pub(crate) tenant_id: TenantId,
    pub(crate) id: RunId,
    pub(crate) by: String,
    pub(crate) reason: Option<String>,
}

impl Verb for CancelObserved {
    type Output = Observed;
    const DOING: &'static str = "cancelling an observed execution";

    async fn apply<T: Tx>(&self, tx: &mut T, context: &Context) -> Result<Observed, StoreError> {
        let found = tx.subjects(self.tenant_id, &[self.id]).await?.observed.pop();
        let mut observed = found.ok_or(StoreError::NoSuchRun(self.id))?;
        let now_ms = now_ms(tx, context).await?;
        let from = observed.seen.status;
        let reason = self.reason.as_deref().map(masked);
        let told = match observed.seen.cancel(Cancel { by: self.by.clone(), at_ms: now_ms, reason }) {
            Ok(told) => told,
            // The second of two cancels has the answer of the first.
            Err(Status::Cancelled) if observed.seen.cancel.is_some() => return Ok(observed),
            Err(status) => return Err(StoreError::Over { id: self.id, status }),
        };
        let observed = observed.changed(now_ms);
        let entry = Entry {
            at_ms: now_ms,
            tenant_id: self.tenant_id,
            actor: self.by.clone(),
            action: "cancel_observed".into(),
            subject: self.id.to_string(),
            detail: serde_json::json!({ "from": from.name(), "to": observed.seen.status.name() }),
        };
        let events = context.events_of_observed((self.tenant_id, self.id), &told, now_ms);
        tx.put_observed(&observed, Some(&Note { events, entry })).await?;
        Ok(observed)
    }
}

/// Forgets executions that ended so long ago, with their events; says how many.
pub(crate) struct ForgetObserved {
    pub(crate) retention_ms: i64,
    pub(crate) limit: u32,
}

impl Verb for ForgetObserved {
    type Output = u64;
    const DOING: &'static str = "forgetting observed executions";

    async fn apply<T: Tx>(&self, tx: &mut T, context: &Context) -> Result<u64, StoreError> {
        let before_ms = now_ms(tx, context).await?.saturating_sub(self.retention_ms);
        tx.forget_observed(before_ms, self.limit).await
    }
}
