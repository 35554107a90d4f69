//! What governs everything that happens without a request.

use std::time::Duration;

/// How often things are looked at, and how long they are waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settings {
    /// How often an executor looks for runs that it was not told of; none turns that off.
    pub reconcile_interval: Option<Duration>,
    /// How long a worker may be silent; the store has the same.
    pub lease: Duration,
    /// How long a run, its events and its files are kept after its end.
    pub retention: Duration,
    /// How often old runs are looked for.
    pub retention_interval: Duration,
    /// How long a call of the engine may take.
    pub engine_patience: Duration,
    /// How many runs one pass of a task takes up.
    pub batch: u32,
    /// How long what is under way may take to end after somebody has asked for that.
    pub grace: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            reconcile_interval: Some(Duration::from_secs(15)),
            lease: Duration::from_secs(30),
            retention: Duration::from_hours(30 * 24),
            retention_interval: Duration::from_mins(10),
            engine_patience: Duration::from_secs(20),
            batch: 100,
            grace: Duration::from_secs(8),
        }
    }
}

/// A time as the store counts it.
pub fn millis(time: Duration) -> i64 {
    time.as_millis().try_into().unwrap_or(i64::MAX)
}
