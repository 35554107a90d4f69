//! What things look like in answers.

mod event;
mod execution;
mod job;
mod run;

pub(crate) use event::LogEntry;
pub(crate) use execution::{Course, DescribedTold, Detailed, Listed, Told, capitals};
pub(crate) use job::{Job, JobSummary, SavedJob};
pub use run::Run;

use trueup_events::Time;

/// A time in milliseconds since 1970, as it is written.
pub(crate) fn moment(ms: i64) -> String {
    Time::from_unix_us(ms.saturating_mul(1000)).to_string()
}
