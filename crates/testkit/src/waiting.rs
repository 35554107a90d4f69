//! Waiting for something to become true, woken by changes rather than by a clock.

use std::fmt::Debug;
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::timeout;

/// How long anything may take before a test gives up on it.
pub const PATIENCE: Duration = Duration::from_secs(90);

/// Looks again at every change until what is seen is right, and gives that.
///
/// # Panics
///
/// With what was seen last, when that takes too long.
pub async fn until<T: Debug, F: Future<Output = T>>(
    mut changes: watch::Receiver<u64>,
    look: impl Fn() -> F,
    is_right: impl Fn(&T) -> bool,
) -> T {
    let seen = async {
        loop {
            changes.mark_unchanged();
            let seen = look().await;
            if is_right(&seen) {
                return seen;
            }
            changes.changed().await.expect("the store is open while a test looks at it");
        }
    };
    match timeout(PATIENCE, seen).await {
        Ok(seen) => seen,
        Err(elapsed) => panic!("it does not come to that ({elapsed}): {:#?}", look().await),
    }
}
