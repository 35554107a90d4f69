//! A job, and its revisions.

use serde::Serialize;
use serde_json::Value;
use trueup_store::{JobListed, Saved};
use utoipa::ToSchema;

use super::moment;

/// A job in one of its revisions.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Job {
    /// Its id, the same in all revisions.
    #[schema(value_type = Uuid)]
    id: String,
    /// Its name, unique within a tenant.
    name: String,
    /// Counts how often it was changed, from 1; also its `ETag`.
    revision: u32,
    /// The queue that its runs wait in.
    queue: String,
    /// The whole document.
    #[schema(value_type = Object)]
    document: Value,
}

/// A job in a list.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct JobSummary {
    /// Its id.
    #[schema(value_type = Uuid)]
    id: String,
    /// Its name.
    pub(crate) name: String,
    /// Its present revision.
    revision: u32,
    /// The queue that its runs wait in.
    queue: String,
    /// When the revision was saved.
    #[schema(format = DateTime)]
    saved_at: String,
    /// By whom.
    saved_by: String,
}

/// A revision in a list.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Revision)]
pub(crate) struct SavedJob {
    /// Its number.
    pub(crate) revision: u32,
    /// When it was saved.
    #[schema(format = DateTime)]
    saved_at: String,
    /// By whom.
    saved_by: String,
}

impl From<trueup_store::Job> for Job {
    fn from(job: trueup_store::Job) -> Self {
        let trueup_store::Job { id, revision, document } = job;
        Self {
            id: id.to_string(),
            revision,
            name: document.name,
            queue: document.queue,
            document: document.document,
        }
    }
}

impl From<JobListed> for JobSummary {
    fn from(job: JobListed) -> Self {
        let JobListed { id, name, revision, queue, saved_at_ms, saved_by } = job;
        Self { id: id.to_string(), name, revision, queue, saved_at: moment(saved_at_ms), saved_by }
    }
}

impl From<Saved> for SavedJob {
    fn from(saved: Saved) -> Self {
        let Saved { revision, saved_at_ms, saved_by } = saved;
        Self { revision, saved_at: moment(saved_at_ms), saved_by }
    }
}
