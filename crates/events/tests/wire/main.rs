//! The wire forms against samples, laws, the documentation and a second implementation.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod attempt;
mod cloud;
mod comparison;
mod docs;
mod ingest;
mod payloads;
mod python;
