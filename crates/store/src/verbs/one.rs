//! Claiming and taking one run alone, for who executes nothing but what it asked for.

use trueup_events::RunId;
use trueup_lifecycle::State;

use super::{existing, granted, now_ms};
use crate::context::Context;
use crate::error::StoreError;
use crate::record::{Claimed, Record, Taken};
use crate::tx::{Deed, Move, Search, Tx, Verb};

/// Claims a run if its turn has come.
pub(crate) struct ClaimRun {
    pub(crate) run_id: RunId,
    pub(crate) executor: String,
}

impl ClaimRun {
    /// Whether there is room for it in its queue, and for all that wait before it.
    async fn has_room<T: Tx>(&self, tx: &mut T) -> Result<bool, StoreError> {
        let lines = tx.lines().await?;
        let record = existing(tx, self.run_id).await?;
        if !matches!(record.run.state, State::Requested) {
            return Ok(true);
        }
        let is_its = |line: &&crate::tx::WaitingLine| {
            line.tenant_id == record.run.ids.tenant_id && line.queue == record.queue
        };
        let Some(line) = lines.iter().find(is_its) else { return Ok(false) };
        if line.line.max_running.is_none() {
            return Ok(true);
        }
        let room = line.line.room(line.holding).try_into().unwrap_or(u32::MAX);
        let search = Search::Waiting { tenant_id: line.tenant_id, queue: line.queue.clone() };
        Ok(tx.find(search, room).await?.iter().any(|waiting| waiting.id() == self.run_id))
    }
}

impl Verb for ClaimRun {
    type Output = Option<Claimed>;
    const DOING: &'static str = "claiming a run";

    async fn apply<T: Tx>(&self, tx: &mut T, context: &Context) -> Result<Option<Claimed>, StoreError> {
        if !self.has_room(tx).await? {
            return Ok(None);
        }
        let record = existing(tx, self.run_id).await?;
        let now_ms = now_ms(tx, context).await?;
        let deed = Deed { actor: &self.executor, action: "claim" };
        let Ok((change, claim)) = record.run.claim(&self.executor, now_ms, context.settings()) else {
            return Ok(None);
        };
        let run = change.run.clone();
        tx.write(&[Move::new(&record.run, change, context, deed, now_ms)]).await?;
        Ok(Some(Claimed { claim, record: Record { run, ..record } }))
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
        let answer = record.run.take(&self.worker, now_ms, context.settings());
        let Some((change, lease)) = granted(answer, context) else { return Ok(None) };
        let run = change.run.clone();
        tx.write(&[Move::new(&record.run, change, context, deed, now_ms)]).await?;
        Ok(Some(Taken { lease, record: Record { run, ..record } }))
    }
}
