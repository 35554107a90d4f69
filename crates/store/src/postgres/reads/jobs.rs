//! Jobs and their revisions.

use trueup_events::{JobId, TenantId};

use crate::error::StoreError;
use crate::postgres::{Postgres, rows};
use crate::record::{Job, JobListed, Saved};

impl Postgres {
    pub(crate) async fn job(&self, tenant_id: TenantId, name: &str) -> Result<Option<Job>, StoreError> {
        let found = self.read_of(tenant_id, |sql| &sql.job, &[&tenant_id.to_string(), &name]).await?;
        found.first().map(rows::job).transpose()
    }

    pub(crate) async fn job_by_id(
        &self,
        tenant_id: TenantId,
        job_id: JobId,
    ) -> Result<Option<Job>, StoreError> {
        let found = self
            .read_of(tenant_id, |sql| &sql.job_by_id, &[&tenant_id.to_string(), &job_id.to_string()])
            .await?;
        found.first().map(rows::job).transpose()
    }

    pub(crate) async fn jobs(
        &self,
        tenant_id: TenantId,
        after: &str,
        limit: u32,
    ) -> Result<Vec<JobListed>, StoreError> {
        let found = self
            .read_of(tenant_id, |sql| &sql.jobs, &[&tenant_id.to_string(), &after, &i64::from(limit)])
            .await?;
        found.iter().map(rows::job_listed).collect()
    }

    pub(crate) async fn revisions(
        &self,
        tenant_id: TenantId,
        job_id: JobId,
        before: Option<u32>,
        limit: u32,
    ) -> Result<Vec<Saved>, StoreError> {
        let (tenant, job) = (tenant_id.to_string(), job_id.to_string());
        let (before, limit) = (before.map_or(i64::MAX, i64::from), i64::from(limit));
        let found = self.read_of(tenant_id, |sql| &sql.revisions, &[&tenant, &job, &before, &limit]).await?;
        found.iter().map(rows::saved).collect()
    }

    pub(crate) async fn revision_of(
        &self,
        tenant_id: TenantId,
        job_id: JobId,
        revision: u32,
    ) -> Result<Option<Job>, StoreError> {
        let (tenant, job) = (tenant_id.to_string(), job_id.to_string());
        let found =
            self.read_of(tenant_id, |sql| &sql.revision_of, &[&tenant, &job, &i64::from(revision)]).await?;
        found.first().map(rows::job).transpose()
    }

    pub(crate) async fn revision(&self, job_id: JobId, revision: u32) -> Result<Option<Job>, StoreError> {
        let found = self.read(|sql| &sql.revision, &[&job_id.to_string(), &i64::from(revision)]).await?;
        found.first().map(rows::job).transpose()
    }
}
