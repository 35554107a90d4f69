//! One sweep by who runs none in the background.

use std::sync::Arc;
use std::time::Duration;

use trueup_store::{Store, StoreError};

use super::Leases;
use crate::bounded::Bounded;
use crate::engine::Engine;
use crate::executor::Executor;
use crate::settings::Settings;
use crate::stopping::Stopping;
use crate::task::Task;

/// How many runs one sweep takes up.
pub(crate) const SWEPT_AT_ONCE: u32 = 100;

/// Ends or retries the runs whose worker was lost, as a server would have; says how many.
pub async fn sweep_once<E: Engine>(
    engine: &Arc<E>,
    store: &Arc<Store>,
    name: &str,
    lease: Duration,
) -> Result<u64, StoreError> {
    let patience = Settings::default().engine_patience;
    let engine = Bounded { engine: Arc::clone(engine), patience };
    let executor = Arc::new(Executor::new(store, engine, name, &Stopping::default()));
    Leases::new(executor, SWEPT_AT_ONCE, lease).pass().await.map(|tally| tally.done)
}
