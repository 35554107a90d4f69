//! How everything comes to an end: first nothing new is begun, then what is under way is given up.

use std::time::Duration;

use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// How long what was given up may take to end: an attempt to stop, and its run to be handed back.
const LAST_MOMENT: Duration = Duration::from_millis(1_600);
/// How long the store may take to answer in that time, so that there is some left to ask it again on another connection.
const LAST_WORD: Duration = Duration::from_millis(500);

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

    /// Waits until a call that is under way is to be given up too: when everything is, and it was waited for a moment longer.
    pub(crate) async fn last_word(&self) {
        self.given_up().await;
        sleep(LAST_WORD).await;
    }

    /// Starts a task that [`Self::finish`] waits for.
    pub fn spawn<T: Send + 'static>(&self, task: impl Future<Output = T> + Send + 'static) -> JoinHandle<T> {
        self.tasks.spawn(task)
    }

    /// Waits for all tasks; what is not done within the grace is given up, and what does not even end then, within a moment, is left as it is: a sweep finds what it held.
    pub async fn finish(&self, grace: Duration) {
        self.begin();
        self.tasks.close();
        if timeout(grace, self.tasks.wait()).await.is_ok() {
            return;
        }
        self.given_up.cancel();
        if timeout(LAST_MOMENT, self.tasks.wait()).await.is_err() {
            tracing::warn!(tasks = self.tasks.len(), "something does not end, and is left to the next sweep");
        }
    }
}
