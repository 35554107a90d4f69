//! Claiming and taking one run alone, for who executes nothing but what it asked for.

use trueup_events::RunId;
use trueup_lifecycle::{Run, State};

use super::find::find;
use super::{change_each, existing, now_ms};
use crate::context::Context;
use crate::error::StoreError;
use crate::record::{Claimed, Taken};
use crate::tx::{Deed, Tx, Verb, WaitingQueue};

/// Claims a run if its turn has come.
pub(crate) struct ClaimRun {
    pub(crate) run_id: RunId,
    pub(crate) executor: String,
}

impl ClaimRun {
    /// Whether there is room for it in its queue, and for all that wait before it.
    async fn has_room<T: Tx>(&self, tx: &mut T, context: &Context) -> Result<bool, StoreError> {
        let queues = tx.waiting_queues().await?;
        let record = existing(tx, self.run_id).await?;
        if !matches!(record.run.state, State::Requested) {
            return Ok(true);
        }
        let is_its =
            |queue: &WaitingQueue| queue.tenant_id == record.run.ids.tenant_id && queue.queue == record.queue;
        let Some(queue) = queues.into_iter().find(is_its) else { return Ok(false) };
        if queue.limits.max_running.is_none() {
            return Ok(true);
        }
        let Some((search, room)) = queue.search(u32::MAX) else { return Ok(false) };
        let next = find(tx, context, search, room).await?;
        Ok(next.iter().any(|waiting| waiting.id() == self.run_id))
    }
}

impl Verb for ClaimRun {
    type Output = Option<Claimed>;
    const DOING: &'static str = "claiming a run";

    async fn apply<T: Tx>(&self, tx: &mut T, context: &Context) -> Result<Option<Claimed>, StoreError> {
        if !self.has_room(tx, context).await? {
            return Ok(None);
        }
        let record = existing(tx, self.run_id).await?;
        if !matches!(record.run.state, State::Requested | State::Scheduling(_)) {
            return Ok(None);
        }
        let now_ms = now_ms(tx, context).await?;
        let deed = Deed { actor: &self.executor, action: "claim" };
        let claim = |run: &Run| run.claim(&self.executor, now_ms, context.settings());
        let claimed = change_each(tx, context, vec![record], deed, now_ms, claim).await?;
        Ok(claimed.into_iter().next().map(|(claim, record)| Claimed { claim, record }))
    }
}

/// Takes a run if it waits for a worker.
pub(crate) struct TakeRun {
    pub(crate) run_id: RunId,
    pub(crate) worker: String,
}

impl Verb for TakeRun {
    type Output = Option<Taken>;
    const DOING: &'static str = "taking a run";

    async fn apply<T: Tx>(&self, tx: &mut T, context: &Context) -> Result<Option<Taken>, StoreError> {
        let record = existing(tx, self.run_id).await?;
        if !matches!(record.run.state, State::Scheduled(_)) {
            return Ok(None);
        }
        let now_ms = now_ms(tx, context).await?;
        let deed = Deed { actor: &self.worker, action: "take" };
        let take = |run: &Run| run.take(&self.worker, now_ms, context.settings());
        let taken = change_each(tx, context, vec![record], deed, now_ms, take).await?;
        Ok(taken.into_iter().next().map(|(lease, record)| Taken { lease, record }))
    }
}
