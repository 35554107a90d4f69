//! Where attempts are run: what all of a worker's share.

use std::sync::Arc;
use std::time::Duration;

use trueup_store::Store;

use crate::perform::Means;
use crate::stopping::Stopping;

/// A worker's name, and what it works with.
#[derive(Debug)]
pub struct Station<P> {
    /// Where runs are remembered.
    pub store: Arc<Store>,
    /// What does the work.
    pub performer: P,
    /// What every attempt is given.
    pub means: Means,
    /// A name that no other worker has while this one lives.
    pub name: String,
    /// How long it may be silent; the store has the same.
    pub lease: Duration,
    /// What tells it to end.
    pub stopping: Stopping,
}
