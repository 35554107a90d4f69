//! The jobs that a worker executes; a revision never changes, so that it is read once.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use trueup_events::JobId;
use trueup_store::{Job, Store, StoreError};

/// How many revisions are kept; they are few, and all are dropped when they are not.
const KEPT_MAX: usize = 64;

/// Revisions of jobs that were read before.
#[derive(Debug, Default)]
pub(crate) struct Jobs {
    kept: Mutex<HashMap<(JobId, u32), Arc<Job>>>,
}

impl Jobs {
    /// A revision of a job, from the store if it was not asked for before.
    pub(crate) async fn revision(
        &self,
        store: &Store,
        job_id: JobId,
        revision: u32,
    ) -> Result<Option<Arc<Job>>, StoreError> {
        let known = self.kept().get(&(job_id, revision)).cloned();
        if known.is_some() {
            return Ok(known);
        }
        let job = store.revision(job_id, revision).await?.map(Arc::new);
        let mut kept = self.kept();
        if kept.len() >= KEPT_MAX {
            kept.clear();
        }
        kept.extend(job.clone().map(|job| ((job_id, revision), job)));
        Ok(job)
    }

    fn kept(&self) -> std::sync::MutexGuard<'_, HashMap<(JobId, u32), Arc<Job>>> {
        // A map cannot be left half-changed by a panic elsewhere.
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
