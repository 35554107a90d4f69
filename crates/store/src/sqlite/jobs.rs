//! Jobs and their revisions, as they are read.

use rusqlite::params;
use trueup_events::{JobId, TenantId};

use super::{Sqlite, rows, sql};
use crate::error::StoreError;
use crate::record::{Job, JobListed, Saved};

const READING: &str = "reading a job";

impl Sqlite {
    pub(crate) async fn job(&self, tenant_id: TenantId, name: &str) -> Result<Option<Job>, StoreError> {
        let name = name.to_owned();
        let read = move |connection: &_| {
            rows::first(connection, sql::JOB, params![tenant_id.to_string(), name], rows::job)
        };
        self.readers.read(READING, read).await
    }

    pub(crate) async fn job_by_id(
        &self,
        tenant_id: TenantId,
        job_id: JobId,
    ) -> Result<Option<Job>, StoreError> {
        let read = move |connection: &_| {
            let of = params![tenant_id.to_string(), job_id.to_string()];
            rows::first(connection, sql::JOB_BY_ID, of, rows::job)
        };
        self.readers.read(READING, read).await
    }

    pub(crate) async fn jobs(
        &self,
        tenant_id: TenantId,
        after: &str,
        limit: u32,
    ) -> Result<Vec<JobListed>, StoreError> {
        let after = after.to_owned();
        let read = move |connection: &_| {
            let of = params![tenant_id.to_string(), after, limit];
            rows::all(connection, sql::JOBS, of, rows::job_listed)
        };
        self.readers.read("listing jobs", read).await
    }

    pub(crate) async fn revisions(
        &self,
        tenant_id: TenantId,
        job_id: JobId,
        before: Option<u32>,
        limit: u32,
    ) -> Result<Vec<Saved>, StoreError> {
        let before = before.map_or(i64::MAX, i64::from);
        let read = move |connection: &_| {
            let of = params![tenant_id.to_string(), job_id.to_string(), before, limit];
            rows::all(connection, sql::REVISIONS, of, rows::saved)
        };
        self.readers.read("listing revisions", read).await
    }

    pub(crate) async fn revision_of(
        &self,
        tenant_id: TenantId,
        job_id: JobId,
        revision: u32,
    ) -> Result<Option<Job>, StoreError> {
        let read = move |connection: &_| {
            let of = params![tenant_id.to_string(), job_id.to_string(), revision];
            rows::first(connection, sql::REVISION_OF, of, rows::job)
        };
        self.readers.read(READING, read).await
    }

    pub(crate) async fn revision(&self, job_id: JobId, revision: u32) -> Result<Option<Job>, StoreError> {
        let read = move |connection: &_| {
            rows::first(connection, sql::REVISION, params![job_id.to_string(), revision], rows::job)
        };
        self.readers.read(READING, read).await
    }
}
