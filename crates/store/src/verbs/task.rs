//! What background tasks need of the store, and leave behind in it: the time, and a report of their last pass.

use super::now_ms;
use crate::context::Context;
use crate::error::StoreError;
use crate::record::Pass;
use crate::tx::{Tx, Verb};

/// Asks what time it is.
pub(crate) struct Now;

impl Verb for Now {
    type Output = i64;
    const DOING: &'static str = "asking for the time";

    async fn apply<T: Tx>(&self, tx: &mut T, context: &Context) -> Result<i64, StoreError> {
        now_ms(tx, context).await
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
