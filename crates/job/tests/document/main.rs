//! Holds the job document to what docs/jobs.md promises.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod anchor;
mod canonical;
mod examples;
mod faults;
mod filters;
mod property;
mod schema;
mod templates;
