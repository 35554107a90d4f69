//! Ctrl-C and SIGTERM: the first ends the comparison in order, the second at once.

use std::sync::Arc;

use trueup_compare::Progress;

use crate::failure::{Failure, INTERRUPTED};

/// Lets interrupts cancel the comparison.
pub fn cancels(progress: &Arc<Progress>) -> Result<(), Failure> {
    let progress = Arc::clone(progress);
    ctrlc::set_handler(move || {
        if progress.is_cancelled() {
            std::process::exit(i32::from(INTERRUPTED));
        }
        progress.cancel();
    })?;
    Ok(())
}
