//! The verbs: each is one transaction over one or a few runs, the same for either database.

mod answer;
mod attempt;
mod cancel;
mod forget;
mod job;
mod log;
mod one;
mod start;
mod submit;
mod sweep;
mod task;
mod work;

pub(crate) use answer::Answer;
pub(crate) use attempt::{HandBack, Tell};
pub(crate) use cancel::RequestCancel;
pub(crate) use forget::{Forget, SweepFinished};
pub(crate) use job::{EnsureTenant, SaveJob, SetLine};
pub(crate) use log::AppendEvents;
pub(crate) use one::{ClaimRun, TakeRun};
pub(crate) use start::Trigger;
pub(crate) use submit::{ClaimForScheduling, HandOff, SubmitFailed};
pub(crate) use sweep::{Expire, SweepHandOffs, SweepLeases, SweepStaleClaims, TakeOver};
pub(crate) use task::{NotePass, Now};
pub(crate) use work::{Finish, Heartbeat, Take};

use trueup_events::RunId;
use trueup_lifecycle::{Change, Refusal, Run, Settings};

use crate::context::Context;
use crate::error::StoreError;
use crate::record::Record;
use crate::tx::{Deed, Move, Tx};

/// Loads a run that should be there.
async fn existing<T: Tx>(tx: &mut T, id: RunId) -> Result<Record, StoreError> {
    tx.run(id).await?.ok_or(StoreError::NoSuchRun(id))
}

/// Loads a run, asks what becomes of it, and writes that.
async fn change<T: Tx>(
    tx: &mut T,
    context: &Context,
    id: RunId,
    deed: Deed<'_>,
    ask: impl FnOnce(&Run, i64, &Settings) -> Result<Change, Refusal> + Send,
) -> Result<Record, StoreError> {
    let record = existing(tx, id).await?;
    let now_ms = now_ms(tx, context).await?;
    let change = ask(&record.run, now_ms, context.settings()).map_err(|refusal| refused(refusal, context))?;
    let run = change.run.clone();
    if run != record.run {
        tx.write(&[Move::new(&record.run, change, context, deed, now_ms)]).await?;
    }
    Ok(Record { run, ..record })
}

/// The time that counts: the database's, or the one set by hand.
async fn now_ms<T: Tx>(tx: &mut T, context: &Context) -> Result<i64, StoreError> {
    match context.options.clock.by_hand_ms() {
        Some(now_ms) => Ok(now_ms),
        None => tx.now_ms().await,
    }
}

/// Passes a refusal on; one that no race explains is counted.
fn refused(refusal: Refusal, context: &Context) -> StoreError {
    if matches!(refusal, Refusal::Illegal(_)) {
        context.count_illegal();
    }
    refusal.into()
}

/// Drops a refusal: a run that was found but does not allow it after all is left to the next sweep, so that it holds up no other.
fn granted<T>(answer: Result<T, Refusal>, context: &Context) -> Option<T> {
    answer.map_err(|refusal| refused(refusal, context)).ok()
}
