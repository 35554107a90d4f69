//! Asking for runs.

use serde_json::{Value, json};
use trueup_events::{Ids, RunId};
use trueup_lifecycle::{Limits, Request, Run};

use super::now_ms;
use crate::context::Context;
use crate::error::StoreError;
use crate::record::{Entry, NewRun, Record};
use crate::tx::{Note, Offer, Opening, Tx, Verb};

/// Asks for runs; one that is refused holds up no other.
pub(crate) struct Trigger {
    pub(crate) wishes: Vec<NewRun>,
    /// Whether it may wait for others who count the same waiting line.
    pub(crate) may_wait: bool,
}

/// What became of a wish: none if it has to be asked for alone, because it would wait, or for another of the same run.
pub(crate) type Asked = Option<Result<RunId, StoreError>>;

impl Trigger {
    /// Asks for one run, and waits for what it has to.
    pub(crate) fn alone(wish: NewRun) -> Self {
        Self { wishes: vec![wish], may_wait: true }
    }

    /// What became of the one that was asked for alone.
    pub(crate) fn answer(mut asked: Vec<Asked>) -> Result<RunId, StoreError> {
        let no_answer = || StoreError::Failed { doing: Self::DOING, problem: "no answer".to_owned() };
        asked.pop().flatten().unwrap_or_else(|| Err(no_answer()))
    }
}

impl Verb for Trigger {
    type Output = Vec<Asked>;
    const DOING: &'static str = "asking for a run";

    async fn apply<T: Tx>(&self, tx: &mut T, context: &Context) -> Result<Vec<Asked>, StoreError> {
        let openings = tx.openings(&self.wishes).await?;
        let now_ms = now_ms(tx, context).await?;
        let mut answers = Vec::with_capacity(openings.len());
        for (place, (wish, opening)) in self.wishes.iter().zip(openings).enumerate() {
            let is_repeated = self.wishes[..place].iter().any(|before| before.run_id == wish.run_id);
            answers.push(match judge(wish, opening) {
                _ if is_repeated => None,
                Err(refusal) => Some(Err(refusal)),
                Ok(None) => Some(Ok(RunId::Uuid(wish.run_id))),
                Ok(Some((_, limits))) if limits.max_waiting.is_some() && !self.may_wait => None,
                Ok(Some((offer, limits))) => Some(match admit(tx, wish, &offer, limits).await? {
                    Ok(()) => Ok(add(tx, context, wish, offer, now_ms).await?),
                    Err(full) => Err(full),
                }),
            });
        }
        Ok(answers)
    }
}

/// Says what the run is to be and where it waits, or that it was asked for before.
fn judge(wish: &NewRun, opening: Opening) -> Result<Option<(Offer, Limits)>, StoreError> {
    let Opening { before, offer } = opening;
    let offer = offer.ok_or_else(|| StoreError::NoSuchJob { name: wish.job.clone() })?;
    if let Some(Record { run, params, .. }) = before {
        let has_same_params =
            serde_json::from_str::<Value>(&params).is_ok_and(|before| before == wish.params);
        let is_same =
            run.ids.tenant_id == wish.tenant_id && run.ids.job_id == offer.job_id && has_same_params;
        return if is_same { Ok(None) } else { Err(StoreError::RunDiffers(run.ids.run_id)) };
    }
    match offer.limits {
        Some(limits) => Ok(Some((offer, limits))),
        None => Err(StoreError::NoSuchQueue { name: offer.queue }),
    }
}

/// Says whether there is room in the waiting line.
async fn admit<T: Tx>(
    tx: &mut T,
    wish: &NewRun,
    offer: &Offer,
    limits: Limits,
) -> Result<Result<(), StoreError>, StoreError> {
    let Some(max_waiting) = limits.max_waiting else { return Ok(Ok(())) };
    let waiting = tx.waiting(wish.tenant_id, &offer.queue, max_waiting).await?;
    let full = |full| StoreError::QueueFull { queue: offer.queue.clone(), full };
    Ok(limits.admit(waiting).map_err(full))
}

/// Adds the run.
async fn add<T: Tx>(
    tx: &mut T,
    context: &Context,
    wish: &NewRun,
    offer: Offer,
    now_ms: i64,
) -> Result<RunId, StoreError> {
    let NewRun { run_id, tenant_id, job, params, mode, triggered_by } = wish;
    let Offer { job_id, revision, queue, policy, .. } = offer;
    let ids = Ids { run_id: RunId::Uuid(*run_id), job_id, tenant_id: *tenant_id };
    let request = Request { mode: *mode, by: triggered_by.clone(), queue: queue.clone() };
    let change = Run::request(ids, policy, &request);
    let note = Note {
        events: context.events(&ids, &change.events, now_ms),
        entry: Entry {
            at_ms: now_ms,
            tenant_id: *tenant_id,
            actor: triggered_by.clone(),
            action: "trigger".into(),
            subject: ids.run_id.to_string(),
            detail: json!({ "job": job, "revision": revision, "queue": queue }),
        },
    };
    let record = Record {
        run: change.run,
        number: 0,
        revision,
        queue,
        params: params.to_string(),
        mode: *mode,
        triggered_by: triggered_by.clone(),
        requested_at_ms: now_ms,
    };
    tx.insert(&record, &note).await?;
    Ok(ids.run_id)
}
