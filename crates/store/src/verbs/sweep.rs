//! What sweeps do with runs whose owner is silent.

use trueup_events::RunId;
use trueup_lifecycle::{Claim, Refusal, Run};

use super::find::find;
use super::{change, change_each, now_ms};
use crate::context::Context;
use crate::error::StoreError;
use crate::record::{Claimed, Record};
use crate::tx::{Deed, Search, Tx, Verb};

pub(crate) struct SweepStaleClaims {
    pub(crate) executor: String,
    /// Whether claims in this executor's own name count as stale at once, as they do when it starts.
    pub(crate) own: bool,
    pub(crate) limit: u32,
}

impl Verb for SweepStaleClaims {
    type Output = Vec<Claimed>;
    const DOING: &'static str = "taking over stale claims";

    async fn apply<T: Tx>(&self, tx: &mut T, context: &Context) -> Result<Vec<Claimed>, StoreError> {
        let now_ms = now_ms(tx, context).await?;
        let own = self.own.then(|| self.executor.clone());
        let deed = Deed { actor: &self.executor, action: "take_over" };
        let found = find(tx, context, Search::StaleClaims { now_ms, own }, self.limit).await?;
        let take_over = |run: &Run| run.take_over(&self.executor, now_ms, context.settings());
        let taken = change_each(tx, context, found, deed, now_ms, take_over).await?;
        let claimed = |(claim, record): (Option<Claim>, Record)| claim.map(|claim| Claimed { claim, record });
        Ok(taken.into_iter().filter_map(claimed).collect())
    }
}

/// Whose silence a sweep looks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Silence {
    /// That of the engine, about a run that was handed to it long ago.
    HandOffs,
    /// That of the engine, about a run that somebody wants to end, or that ended without its word.
    Cancels,
    /// That of a worker whose lease ran out, or of all about a run whose time did.
    Leases,
}

/// Finds runs that nobody is heard of, for the engine to be asked about or for them to be expired; it changes only when they were looked at.
pub(crate) struct Look {
    pub(crate) silence: Silence,
    pub(crate) limit: u32,
}

impl Verb for Look {
    type Output = Vec<Record>;
    const DOING: &'static str = "looking for runs that nobody is heard of";

    async fn apply<T: Tx>(&self, tx: &mut T, context: &Context) -> Result<Vec<Record>, StoreError> {
        let now_ms = now_ms(tx, context).await?;
        let found = match self.silence {
            Silence::HandOffs => {
                let before_ms = now_ms.saturating_sub(context.settings().reconcile_grace_ms);
                find(tx, context, Search::HandedOff { before_ms }, self.limit).await?
            }
            Silence::Cancels => {
                let before_ms = now_ms.saturating_sub(context.settings().lease_ms);
                find(tx, context, Search::ToWithdraw { before_ms }, self.limit).await?
            }
            Silence::Leases => {
                let mut found = find(tx, context, Search::Overdue { now_ms }, self.limit).await?;
                let left = self.limit.saturating_sub(found.len().try_into().unwrap_or(u32::MAX));
                found.extend(find(tx, context, Search::LeaseOut { now_ms }, left).await?);
                found
            }
        };
        let ids: Vec<RunId> = found.iter().map(Record::id).collect();
        tx.checked(&ids, now_ms).await?;
        Ok(found)
    }
}

/// Notes that the engine was told that runs are to end.
pub(crate) struct Withdrawn {
    pub(crate) runs: Vec<RunId>,
}

impl Verb for Withdrawn {
    type Output = ();
    const DOING: &'static str = "noting that the engine was told of runs that are to end";

    async fn apply<T: Tx>(&self, tx: &mut T, context: &Context) -> Result<(), StoreError> {
        let now_ms = now_ms(tx, context).await?;
        tx.withdrawn(&self.runs, now_ms).await
    }
}

/// Takes over one run that the engine does not know.
pub(crate) struct TakeOver {
    pub(crate) run_id: RunId,
    pub(crate) executor: String,
}

impl Verb for TakeOver {
    type Output = Option<Claimed>;
    const DOING: &'static str = "taking a run over";

    async fn apply<T: Tx>(&self, tx: &mut T, context: &Context) -> Result<Option<Claimed>, StoreError> {
        let deed = Deed { actor: &self.executor, action: "take_over" };
        let mut granted = None;
        let record = change(tx, context, self.run_id, deed, |run, now_ms, settings| {
            let (change, claim) = run.take_over(&self.executor, now_ms, settings)?;
            granted = claim;
            Ok(change)
        })
        .await?;
        Ok(granted.map(|claim| Claimed { claim, record }))
    }
}

/// Ends or retries a run whose lease ran out, or ends one whose time did; gives none if there was nothing to do.
pub(crate) struct Expire {
    pub(crate) run_id: RunId,
    pub(crate) sweeper: String,
}

impl Verb for Expire {
    type Output = Option<Record>;
    const DOING: &'static str = "ending a run whose worker is lost";

    async fn apply<T: Tx>(&self, tx: &mut T, context: &Context) -> Result<Option<Record>, StoreError> {
        let deed = Deed { actor: &self.sweeper, action: "expire" };
        let expired = change(tx, context, self.run_id, deed, Run::expire).await;
        match expired {
            // Its end, or a sign of life, came first.
            Err(StoreError::Refused(Refusal::Finished(_) | Refusal::Early { .. } | Refusal::Illegal(_))) => {
                Ok(None)
            }
            other => other.map(Some),
        }
    }
}
