//! Queues and jobs.

use serde_json::json;
use trueup_events::{JobId, TenantId};
use trueup_lifecycle::Limits;
use uuid::Uuid;

use super::now_ms;
use crate::context::Context;
use crate::error::StoreError;
use crate::record::{Entry, Expected, Job, JobDocument};
use crate::tx::{Revision, Tx, Verb};

pub(crate) struct SetQueue {
    pub(crate) tenant_id: TenantId,
    pub(crate) queue: String,
    pub(crate) limits: Limits,
    pub(crate) by: String,
}

impl Verb for SetQueue {
    type Output = ();
    const DOING: &'static str = "changing a queue";

    async fn apply<T: Tx>(&self, tx: &mut T, context: &Context) -> Result<(), StoreError> {
        let at_ms = now_ms(tx, context).await?;
        tx.set_limits(self.tenant_id, &self.queue, self.limits).await?;
        let Limits { max_running, max_waiting } = self.limits;
        tx.audit(&Entry {
            at_ms,
            tenant_id: self.tenant_id,
            actor: self.by.clone(),
            action: "set_queue".into(),
            subject: self.queue.clone(),
            detail: json!({ "max_running": max_running, "max_waiting": max_waiting }),
        })
        .await
    }
}

pub(crate) struct SaveJob {
    /// The id, should the job be new.
    pub(crate) id: Uuid,
    pub(crate) tenant_id: TenantId,
    pub(crate) document: JobDocument,
    pub(crate) expected: Expected,
    pub(crate) by: String,
}

impl Verb for SaveJob {
    type Output = Job;
    const DOING: &'static str = "saving a job";

    async fn apply<T: Tx>(&self, tx: &mut T, context: &Context) -> Result<Job, StoreError> {
        let JobDocument { name, queue, .. } = &self.document;
        if tx.limits(self.tenant_id, queue).await?.is_none() {
            return Err(StoreError::NoSuchQueue { name: queue.clone() });
        }
        let present = tx.job(self.tenant_id, name).await?;
        self.expected.check(present.as_ref().map(|job| job.revision))?;
        if let Some(job) = present.as_ref().filter(|job| job.document == self.document) {
            return Ok(job.clone());
        }
        let saved_at_ms = now_ms(tx, context).await?;
        let (job_id, number) = present.map_or((JobId(self.id), 1), |job| (job.id, job.revision + 1));
        tx.insert_revision(Revision {
            tenant_id: self.tenant_id,
            job_id,
            number,
            document: &self.document,
            saved_at_ms,
            saved_by: &self.by,
        })
        .await?;
        tx.audit(&Entry {
            at_ms: saved_at_ms,
            tenant_id: self.tenant_id,
            actor: self.by.clone(),
            action: "save_job".into(),
            subject: job_id.to_string(),
            detail: json!({ "name": name, "revision": number }),
        })
        .await?;
        Ok(Job { id: job_id, revision: number, document: self.document.clone() })
    }
}
