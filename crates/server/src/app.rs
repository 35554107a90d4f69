//! What all requests share.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use trueup_events::JobId;
use trueup_store::{KeyRole, Record, Store, StoreError};

use crate::caller::Known;
use crate::rate::{Buckets, Rate};

/// How many names of jobs are kept; all are dropped when they are more.
const NAMES_MAX: usize = 10_000;

/// What requests are held to.
#[derive(Debug, Clone, PartialEq)]
pub struct Limits {
    /// How long a body may be.
    pub body_bytes: usize,
    /// How many events a batch may have.
    pub batch_events: usize,
    /// How many connections may be open at once.
    pub connections: usize,
    /// How long a request may take to arrive and to be answered.
    pub patience: Duration,
    /// How much a key may ask for.
    pub rate: Rate,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            body_bytes: 4 << 20,
            batch_events: 1000,
            connections: 1024,
            patience: Duration::from_secs(30),
            rate: Rate::default(),
        }
    }
}

/// What all requests share.
#[derive(Debug)]
pub struct App {
    /// Where everything is remembered.
    pub store: Arc<Store>,
    /// Where runs leave their files, each in a folder of its own.
    pub runs_dir: PathBuf,
    /// What requests are held to.
    pub limits: Limits,
    /// What a caller may do who shows no key; nothing, if none.
    pub anonymous: Option<KeyRole>,
    pub(crate) callers: Known,
    pub(crate) buckets: Buckets,
    names: Mutex<HashMap<JobId, String>>,
}

impl App {
    /// Serves a store.
    pub fn new(store: Arc<Store>, runs_dir: PathBuf, limits: Limits, anonymous: Option<KeyRole>) -> Self {
        let buckets = Buckets::new(limits.rate);
        Self {
            store,
            runs_dir,
            limits,
            anonymous,
            callers: Known::default(),
            buckets,
            names: Mutex::default(),
        }
    }

    /// The name of a run's job, which never changes.
    pub(crate) async fn job_name(&self, record: &Record) -> Result<String, StoreError> {
        let job_id = record.run.ids.job_id;
        let names = || self.names.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(name) = names().get(&job_id) {
            return Ok(name.clone());
        }
        let job = self.store.revision(job_id, record.revision).await?;
        let name = job.map(|job| job.document.name).unwrap_or_default();
        let mut names = names();
        if names.len() >= NAMES_MAX {
            names.clear();
        }
        names.insert(job_id, name.clone());
        Ok(name)
    }
}
