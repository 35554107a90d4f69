//! Answers that are kept, so that a request which comes again is answered as before.

use trueup_events::TenantId;

use super::now_ms;
use crate::context::Context;
use crate::error::StoreError;
use crate::record::Answer;
use crate::tx::{Tx, Verb};

/// Keeps an answer; the audit log has what was done before, and hears of no answer.
pub(crate) struct KeepAnswer {
    pub(crate) tenant_id: TenantId,
    pub(crate) key: String,
    pub(crate) answer: Answer,
}

impl Verb for KeepAnswer {
    type Output = Answer;
    const DOING: &'static str = "keeping an answer";

    async fn apply<T: Tx>(&self, tx: &mut T, context: &Context) -> Result<Answer, StoreError> {
        let kept_at_ms = now_ms(tx, context).await?;
        tx.keep_answer(self.tenant_id, &self.key, &self.answer, kept_at_ms).await
    }
}

pub(crate) struct ForgetAnswers {
    pub(crate) before_ms: i64,
    pub(crate) limit: u32,
}

impl Verb for ForgetAnswers {
    type Output = u64;
    const DOING: &'static str = "forgetting answers";

    async fn apply<T: Tx>(&self, tx: &mut T, _: &Context) -> Result<u64, StoreError> {
        tx.forget_answers(self.before_ms, self.limit).await
    }
}
