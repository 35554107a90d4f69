//! How everything comes to an end: first nothing new is begun, then what is under way is given up.

use std::time::Duration;

use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// What all tasks of a process watch, and where they are counted.
#[derive(Debug, Clone, Default)]
pub struct Stopping {
    begun: CancellationToken,
    given_up: CancellationToken,
    tasks: TaskTracker,
}

impl Stopping {
    /// Begins: nobody starts anything new.
    pub fn begin(&self) {
        self.begun.cancel();
    }

    /// Whether nothing new is to be started.
    pub fn has_begun(&self) -> bool {
        self.begun.is_cancelled()
    }

    /// Waits until nothing new is to be started.
    pub async fn begun(&self) {
        self.begun.cancelled().await;
    }

    /// Waits until what is under way is to be given up.
    pub(crate) async fn given_up(&self) {
        self.given_up.cancelled().await;
    }

    /// Starts a task that [`Self::finish`] waits for.
    pub(crate) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        self.tasks.spawn(task);
    }

    /// Waits for all tasks; what is not done within the grace is given up, which takes a moment more.
    pub async fn finish(&self, grace: Duration) {
        self.begin();
        self.tasks.close();
        if tokio::time::timeout(grace, self.tasks.wait()).await.is_err() {
            self.given_up.cancel();
            self.tasks.wait().await;
        }
    }
}
