//! The executor's side: claiming runs and handing them off.

use trueup_events::outcome::RunError;
use trueup_lifecycle::{Claim, Run};

use super::find::{find, find_all};
use super::{change, change_each, now_ms};
use crate::context::Context;
use crate::error::StoreError;
use crate::record::{Claimed, Record};
use crate::tx::{Deed, Search, Tx, Verb};

pub(crate) struct ClaimForScheduling {
    pub(crate) executor: String,
    pub(crate) limit: u32,
}

impl Verb for ClaimForScheduling {
    type Output = Vec<Claimed>;
    const DOING: &'static str = "claiming runs";

    async fn apply<T: Tx>(&self, tx: &mut T, context: &Context) -> Result<Vec<Claimed>, StoreError> {
        let mut lines = tx.lines().await?.into_iter();
        let now_ms = now_ms(tx, context).await?;
        // Those that pause between submits hold a slot already, so they need no room; the queue whose turn it is goes along, in one flight.
        let mut searches = vec![(Search::PauseOver { now_ms }, self.limit)];
        searches.extend(lines.next().and_then(|line| line.search(self.limit)));
        let mut found = find_all(tx, context, &searches).await?;
        for line in lines {
            let left = self.limit.saturating_sub(found.len().try_into().unwrap_or(u32::MAX));
            if let Some((search, room)) = line.search(left) {
                found.extend(find(tx, context, search, room).await?);
            }
        }
        found.truncate(self.limit as usize);
        let deed = Deed { actor: &self.executor, action: "claim" };
        let claim = |run: &Run| run.claim(&self.executor, now_ms, context.settings());
        let claimed = change_each(tx, context, found, deed, now_ms, claim).await?;
        Ok(claimed.into_iter().map(|(claim, record)| Claimed { claim, record }).collect())
    }
}

pub(crate) struct HandOff {
    pub(crate) claim: Claim,
}

impl Verb for HandOff {
    type Output = Record;
    const DOING: &'static str = "handing a run off";

    async fn apply<T: Tx>(&self, tx: &mut T, context: &Context) -> Result<Record, StoreError> {
        let deed = Deed { actor: self.claim.executor(), action: "hand_off" };
        change(tx, context, self.claim.run_id(), deed, |run, now_ms, settings| {
            run.hand_off(&self.claim, now_ms, settings)
        })
        .await
    }
}

pub(crate) struct SubmitFailed {
    pub(crate) claim: Claim,
    pub(crate) error: RunError,
}

impl Verb for SubmitFailed {
    type Output = Record;
    const DOING: &'static str = "noting a failed submit";

    async fn apply<T: Tx>(&self, tx: &mut T, context: &Context) -> Result<Record, StoreError> {
        let deed = Deed { actor: self.claim.executor(), action: "submit_failed" };
        change(tx, context, self.claim.run_id(), deed, |run, now_ms, settings| {
            run.submit_failed(&self.claim, &self.error, now_ms, settings)
        })
        .await
    }
}
