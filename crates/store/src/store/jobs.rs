//! Jobs and their revisions.

use trueup_events::{JobId, TenantId};
use uuid::Uuid;

use super::{Backend, Store};
use crate::error::StoreError;
use crate::record::{Expected, Job, JobDocument, JobListed, Saved};
use crate::text::refuse_nul;
use crate::verbs;

impl Store {
    /// Saves a job; one that says something else than before gets a new revision.
    pub async fn save_job(
        &self,
        tenant_id: TenantId,
        document: JobDocument,
        by: &str,
    ) -> Result<Job, StoreError> {
        self.save_job_if(tenant_id, document, Expected::Any, by).await
    }

    /// Saves a job if it is what it is taken to be; one that says something else than before gets a new revision.
    pub async fn save_job_if(
        &self,
        tenant_id: TenantId,
        document: JobDocument,
        expected: Expected,
        by: &str,
    ) -> Result<Job, StoreError> {
        refuse_nul([("name", document.name.as_str()), ("queue", &document.queue), ("by", by)])?;
        let by = by.to_owned();
        self.transact(verbs::SaveJob { id: Uuid::now_v7(), tenant_id, document, expected, by }).await
    }

    /// A job in its present revision.
    pub async fn job(&self, tenant_id: TenantId, name: &str) -> Result<Option<Job>, StoreError> {
        refuse_nul([("name", name)])?;
        ask!(self, backend => backend.job(tenant_id, name).await)
    }

    /// A job in its present revision, by its id, if it is the tenant's.
    pub async fn job_by_id(&self, tenant_id: TenantId, job_id: JobId) -> Result<Option<Job>, StoreError> {
        ask!(self, backend => backend.job_by_id(tenant_id, job_id).await)
    }

    /// The jobs of a tenant after a name, by name.
    pub async fn jobs(
        &self,
        tenant_id: TenantId,
        after: Option<&str>,
        limit: u32,
    ) -> Result<Vec<JobListed>, StoreError> {
        let after = after.unwrap_or_default();
        refuse_nul([("after", after)])?;
        ask!(self, backend => backend.jobs(tenant_id, after, limit).await)
    }

    /// The revisions of a tenant's job before one of them, the latest first.
    pub async fn revisions(
        &self,
        tenant_id: TenantId,
        job_id: JobId,
        before: Option<u32>,
        limit: u32,
    ) -> Result<Vec<Saved>, StoreError> {
        ask!(self, backend => backend.revisions(tenant_id, job_id, before, limit).await)
    }

    /// A revision of a job, if it is the tenant's.
    pub async fn revision_of(
        &self,
        tenant_id: TenantId,
        job_id: JobId,
        revision: u32,
    ) -> Result<Option<Job>, StoreError> {
        ask!(self, backend => backend.revision_of(tenant_id, job_id, revision).await)
    }

    /// A revision of a job, whosever it is.
    pub async fn revision(&self, job_id: JobId, revision: u32) -> Result<Option<Job>, StoreError> {
        ask!(self, backend => backend.revision(job_id, revision).await)
    }
}
