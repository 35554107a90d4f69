//! The executor's side: claiming runs and handing them off.

use trueup_events::outcome::RunError;
use trueup_lifecycle::{Claim, Refusal, Run, Settings};

use super::find::{find, find_all};
use super::{Granted, Wish, change, change_all, change_each, now_ms, refused};
use crate::context::Context;
use crate::error::StoreError;
use crate::record::{Claimed, Record};
use crate::tx::{Deed, Move, Search, Tx, Verb};

pub(crate) struct ClaimForScheduling {
    pub(crate) executor: String,
    pub(crate) limit: u32,
}

impl Verb for ClaimForScheduling {
    type Output = Vec<Claimed>;
    const DOING: &'static str = "claiming runs";

    async fn apply<T: Tx>(&self, tx: &mut T, context: &Context) -> Result<Vec<Claimed>, StoreError> {
        let (found, now_ms) = to_claim(tx, context, self.limit).await?;
        let deed = Deed { actor: &self.executor, action: "claim" };
        let claim = |run: &Run| run.claim(&self.executor, now_ms, context.settings());
        let claimed = change_each(tx, context, found, deed, now_ms, claim).await?;
        Ok(claimed.into_iter().map(|(claim, record)| Claimed { claim, record }).collect())
    }
}

/// Finds the runs that wait longest and have a slot, and says when it did.
async fn to_claim<T: Tx>(
    tx: &mut T,
    context: &Context,
    limit: u32,
) -> Result<(Vec<Record>, i64), StoreError> {
    let mut queues = tx.waiting_queues().await?.into_iter();
    let now_ms = now_ms(tx, context).await?;
    // Those that pause between submits or attempts hold a slot already, so they need no room; the queue whose turn it is goes along, in one flight.
    let mut searches = vec![(Search::PauseOver { now_ms }, limit)];
    searches.extend(queues.next().and_then(|queue| queue.search(limit)));
    let mut found = find_all(tx, context, &searches).await?;
    for queue in queues {
        let left = limit.saturating_sub(found.len().try_into().unwrap_or(u32::MAX));
        if let Some((search, room)) = queue.search(left) {
            found.extend(find(tx, context, search, room).await?);
        }
    }
    found.truncate(limit as usize);
    Ok((found, now_ms))
}

/// Claims runs for workers that find them in the store, and hands them off: there is nobody else to submit them to.
pub(crate) struct Schedule {
    pub(crate) executor: String,
    pub(crate) limit: u32,
}

impl Schedule {
    /// Claims a run and hands it off.
    fn step(&self, run: &Run, context: &Context, now_ms: i64) -> Result<Move, Refusal> {
        let deed = |action| Deed { actor: &self.executor, action };
        let (claimed, claim) = run.claim(&self.executor, now_ms, context.settings())?;
        let handed_off = claimed.run.hand_off(&claim, now_ms, context.settings())?;
        let between = claimed.run.clone();
        let claimed = Move::new(run, claimed, context, deed("claim"), now_ms);
        Ok(claimed.then(Move::new(&between, handed_off, context, deed("hand_off"), now_ms)))
    }
}

impl Verb for Schedule {
    type Output = usize;
    const DOING: &'static str = "scheduling runs";

    async fn apply<T: Tx>(&self, tx: &mut T, context: &Context) -> Result<usize, StoreError> {
        let (found, now_ms) = to_claim(tx, context, self.limit).await?;
        let mut moves = Vec::with_capacity(found.len());
        for record in found {
            match self.step(&record.run, context, now_ms) {
                Ok(step) => moves.push(step),
                // It is left to the next sweep, so that it holds up no other.
                Err(refusal) => drop(refused(refusal, record.id(), &self.executor, context)),
            }
        }
        tx.write(&moves).await?;
        Ok(moves.len())
    }
}

/// Hands off all that one executor has submitted; one that refuses holds up no other.
pub(crate) struct HandOff {
    pub(crate) claims: Vec<Claim>,
}

impl Verb for HandOff {
    type Output = Vec<Result<Record, StoreError>>;
    const DOING: &'static str = "handing runs off";

    async fn apply<T: Tx>(&self, tx: &mut T, context: &Context) -> Result<Self::Output, StoreError> {
        let wish = |claim| Wish {
            run_id: Claim::run_id(claim),
            deed: Deed { actor: claim.executor(), action: "hand_off" },
            ask: move |run: &Run, now_ms: i64, settings: &Settings| run.hand_off(claim, now_ms, settings),
        };
        let answers = change_all(tx, context, self.claims.iter().map(wish).collect()).await?;
        Ok(answers.into_iter().map(|answer| answer.and_then(Granted::into_result)).collect())
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
