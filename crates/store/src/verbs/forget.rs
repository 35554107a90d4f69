//! Forgetting runs that ended long ago.

use trueup_events::RunId;
use trueup_lifecycle::{Run, State};

use super::find::find;
use super::now_ms;
use crate::context::Context;
use crate::error::StoreError;
use crate::record::Record;
use crate::tx::{Search, Tx, Verb};

/// Finds runs that ended so long ago, the first to end first.
pub(crate) struct SweepFinished {
    pub(crate) retention_ms: i64,
    /// The last one that was looked at.
    pub(crate) after: Option<Record>,
    pub(crate) limit: u32,
}

impl Verb for SweepFinished {
    type Output = Vec<Record>;
    const DOING: &'static str = "looking for runs to forget";

    async fn apply<T: Tx>(&self, tx: &mut T, context: &Context) -> Result<Vec<Record>, StoreError> {
        let before_ms = now_ms(tx, context).await?.saturating_sub(self.retention_ms);
        let after = match &self.after {
            Some(Record { run: Run { state: State::Finished(ended), .. }, number, .. }) => {
                (ended.at_ms, *number)
            }
            _ => (i64::MIN, i64::MIN),
        };
        find(tx, context, Search::Finished { before_ms, after }, self.limit).await
    }
}

/// Deletes runs that have ended, with their events; the audit log keeps what was done.
pub(crate) struct Forget {
    pub(crate) runs: Vec<RunId>,
}

impl Verb for Forget {
    type Output = ();
    const DOING: &'static str = "forgetting runs";

    async fn apply<T: Tx>(&self, tx: &mut T, _: &Context) -> Result<(), StoreError> {
        tx.forget(&self.runs).await
    }
}
