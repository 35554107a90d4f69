//! Asking for a run.

use serde_json::{Value, json};
use trueup_events::{Ids, RunId};
use trueup_lifecycle::{Request, Run};

use super::now_ms;
use crate::context::Context;
use crate::error::StoreError;
use crate::record::{Entry, NewRun, Record};
use crate::tx::{Note, Tx, Verb};

pub(crate) struct Trigger {
    pub(crate) new: NewRun,
}

impl Verb for Trigger {
    type Output = RunId;
    const DOING: &'static str = "asking for a run";

    async fn apply<T: Tx>(&self, tx: &mut T, context: &Context) -> Result<RunId, StoreError> {
        let NewRun { run_id, tenant_id, job: name, params, mode, triggered_by } = &self.new;
        let run_id = RunId::Uuid(*run_id);
        let asked_before = tx.run(run_id).await?;
        let now_ms = now_ms(tx, context).await?;
        let job = tx.job(*tenant_id, name).await?;
        let job = job.ok_or_else(|| StoreError::NoSuchJob { name: name.clone() })?;
        if let Some(Record { run, params: before, .. }) = asked_before {
            let has_same_params =
                serde_json::from_str::<Value>(&before).is_ok_and(|before| before == *params);
            let is_same = run.ids.tenant_id == *tenant_id && run.ids.job_id == job.id && has_same_params;
            return if is_same { Ok(run_id) } else { Err(StoreError::RunDiffers(run_id)) };
        }
        let queue = &job.document.queue;
        let limits = tx.limits(*tenant_id, queue).await?;
        let limits = limits.ok_or_else(|| StoreError::NoSuchQueue { name: queue.clone() })?;
        if let Some(max_waiting) = limits.max_waiting {
            let waiting = tx.waiting(*tenant_id, queue, max_waiting).await?;
            limits.admit(waiting).map_err(|full| StoreError::QueueFull { queue: queue.clone(), full })?;
        }
        let ids = Ids { run_id, job_id: job.id, tenant_id: *tenant_id };
        let request = Request { mode: *mode, by: triggered_by.clone(), queue: queue.clone() };
        let change = Run::request(ids, job.document.policy, &request);
        let note = Note {
            events: context.events(&ids, &change.events, now_ms),
            entry: Entry {
                at_ms: now_ms,
                tenant_id: *tenant_id,
                actor: triggered_by.clone(),
                action: "trigger".into(),
                subject: ids.run_id.to_string(),
                detail: json!({ "job": name, "revision": job.revision, "queue": queue }),
            },
        };
        let record = Record {
            run: change.run,
            number: 0,
            revision: job.revision,
            queue: queue.clone(),
            params: params.to_string(),
            mode: *mode,
            triggered_by: triggered_by.clone(),
            requested_at_ms: now_ms,
        };
        tx.insert(&record, &note).await?;
        Ok(ids.run_id)
    }
}
