//! `trueup` from end to end: real files in, exit code, report and break file out.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod diff;
mod failures;
#[cfg(unix)]
mod interrupt;
mod place;
mod readme;
mod schema;
