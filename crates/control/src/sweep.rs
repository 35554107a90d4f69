//! The sweeps: what they find, they ask the engine about, and they call lost only what is.

mod cancels;
mod claims;
mod hand_offs;
mod leases;
mod misses;
mod once;
mod retention;

pub(crate) use cancels::Cancels;
pub(crate) use claims::{Pauses, StaleClaims, Waiting};
pub(crate) use hand_offs::HandOffs;
pub(crate) use leases::Leases;
pub(crate) use misses::Misses;
pub(crate) use once::SWEPT_AT_ONCE;
pub use once::sweep_once;
pub(crate) use retention::{Orphans, Retention};

use trueup_store::{Record, StoreError};

/// Lets a pass go on to the next run when this one went on without it; only a fault that may pass ends the pass, to be tried again.
fn settled(record: &Record, looked: Result<bool, StoreError>) -> Result<bool, StoreError> {
    match looked {
        Err(StoreError::Refused(refusal)) => {
            tracing::info!(run_id = %record.id(), %refusal, "the run went on without the sweep");
            Ok(false)
        }
        Err(error) if !error.is_passing() => {
            tracing::error!(run_id = %record.id(), %error, "the sweep could do nothing for a run");
            Ok(false)
        }
        looked => looked,
    }
}
