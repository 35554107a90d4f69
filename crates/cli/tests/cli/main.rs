//! `trueup` from end to end: real files in, exit code, report and break file out.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod attempt;
mod audit;
mod check;
mod contradictions;
mod diff;
mod disk_full;
mod events_tail;
mod examples;
mod failures;
mod https;
mod init;
#[cfg(unix)]
mod interrupt;
#[cfg(target_os = "linux")]
mod memory_cap;
#[cfg(target_os = "linux")]
mod memory_flat;
mod place;
mod queues;
mod readme;
mod run;
mod runs;
mod same_answer;
mod schema;
mod secrets;
#[cfg(unix)]
mod serve;
mod shared_store;
