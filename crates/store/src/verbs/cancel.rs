//! Cancelling a run.

use trueup_events::{RunId, TenantId, mask_text};
use trueup_lifecycle::{Cancel, CancelAnswer};

use super::{change, existing};
use crate::context::Context;
use crate::error::StoreError;
use crate::record::Record;
use crate::tx::{Deed, Tx, Verb};

pub(crate) struct RequestCancel {
    pub(crate) tenant_id: TenantId,
    pub(crate) run_id: RunId,
    pub(crate) by: String,
    pub(crate) reason: Option<String>,
}

impl Verb for RequestCancel {
    type Output = (Record, CancelAnswer);
    const DOING: &'static str = "cancelling a run";

    async fn apply<T: Tx>(&self, tx: &mut T, context: &Context) -> Result<Self::Output, StoreError> {
        // Another tenant's run is none of theirs: they are told the same as if it did not exist.
        if existing(tx, self.run_id).await?.run.ids.tenant_id != self.tenant_id {
            return Err(StoreError::NoSuchRun(self.run_id));
        }
        let deed = Deed { actor: &self.by, action: "request_cancel" };
        let reason = self.reason.as_deref().map(masked);
        let mut answer = CancelAnswer::Asked;
        let record = change(tx, context, self.run_id, deed, |run, now_ms, settings| {
            let cancel = Cancel { by: self.by.clone(), at_ms: now_ms, reason };
            let (change, told) = run.cancel(&cancel, settings)?;
            answer = told;
            Ok(change)
        })
        .await?;
        Ok((record, answer))
    }
}

/// A reason without secrets: what is kept is shown like what is told.
pub(super) fn masked(reason: &str) -> String {
    mask_text(reason).unwrap_or_else(|| reason.to_owned())
}
