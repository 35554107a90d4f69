//! What background tasks leave behind: a report of their last pass.

use super::now_ms;
use crate::context::Context;
use crate::error::StoreError;
use crate::record::Pass;
use crate::tx::{Tx, Verb};

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
