//! What background tasks need of the store, and leave behind in it: the next pause, and a report of their last pass.

use super::now_ms;
use crate::context::Context;
use crate::error::StoreError;
use crate::record::Pass;
use crate::tx::{Tx, Verb};

/// Asks how long it is until the first pause between submits is over.
pub(crate) struct NextPause;

impl Verb for NextPause {
    type Output = Option<i64>;
    const DOING: &'static str = "looking for the next submit";

    async fn apply<T: Tx>(&self, tx: &mut T, context: &Context) -> Result<Option<i64>, StoreError> {
        let now_ms = now_ms(tx, context).await?;
        Ok(tx.next_pause(now_ms).await?.map(|over_at_ms| over_at_ms.saturating_sub(now_ms)))
    }
}

pub(crate) struct NotePass {
    pub(crate) pass: Pass,
}

impl Verb for NotePass {
    type Output = ();
    const DOING: &'static str = "noting what a task did";

    async fn apply<T: Tx>(&self, tx: &mut T, context: &Context) -> Result<(), StoreError> {
        let at_ms = now_ms(tx, context).await?;
        tx.note_pass(&Pass { at_ms, ..self.pass.clone() }).await
    }
}

/// Forgets the reports of processes that were not heard of for so long.
pub(crate) struct ForgetPasses {
    pub(crate) silence_ms: i64,
}

impl Verb for ForgetPasses {
    type Output = ();
    const DOING: &'static str = "forgetting what tasks of processes did that are gone";

    async fn apply<T: Tx>(&self, tx: &mut T, context: &Context) -> Result<(), StoreError> {
        let before_ms = now_ms(tx, context).await?.saturating_sub(self.silence_ms);
        tx.forget_passes(before_ms).await
    }
}
