//! How often in a row the engine has not known a run.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use trueup_events::RunId;
use trueup_lifecycle::Epoch;
use trueup_store::Record;

/// Counts kept in memory: a process that starts anew counts from zero, which can only make it slower to call a run lost.
#[derive(Debug, Default)]
pub(crate) struct Misses {
    counts: Mutex<HashMap<RunId, (Epoch, u32)>>,
}

impl Misses {
    /// Counts a miss; says how many it has been under this owner.
    pub(crate) fn count(&self, record: &Record) -> u32 {
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        let (epoch, count) = counts.entry(record.id()).or_insert((record.run.epoch, 0));
        if *epoch != record.run.epoch {
            (*epoch, *count) = (record.run.epoch, 0);
        }
        *count += 1;
        *count
    }

    /// Forgets the misses of a run that was heard of, or is dealt with.
    pub(crate) fn forget(&self, record: &Record) {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner).remove(&record.id());
    }
}
