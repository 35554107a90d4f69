//! What an engine says of the end of a run whose worker was not heard of.

use trueup_events::RunId;
use trueup_lifecycle::{Refusal, Report};

use super::{change, existing};
use crate::context::Context;
use crate::error::StoreError;
use crate::record::Record;
use crate::tx::{Deed, Tx, Verb};

pub(crate) struct Answer {
    pub(crate) run_id: RunId,
    pub(crate) sweeper: String,
    pub(crate) report: Report,
}

impl Verb for Answer {
    type Output = Record;
    const DOING: &'static str = "ending a run as its engine says";

    async fn apply<T: Tx>(&self, tx: &mut T, context: &Context) -> Result<Record, StoreError> {
        let deed = Deed { actor: &self.sweeper, action: "answer" };
        let answered = change(tx, context, self.run_id, deed, |run, now_ms, settings| {
            run.answer(&self.report, now_ms, settings)
        })
        .await;
        match answered {
            // Its end, or a sign of life, came first.
            Err(StoreError::Refused(Refusal::Finished(_) | Refusal::Early { .. })) => {
                existing(tx, self.run_id).await
            }
            other => other,
        }
    }
}
