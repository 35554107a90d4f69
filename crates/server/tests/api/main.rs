//! The API as its callers see it: a real server on a real store, asked over HTTP.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod clients;
mod executions;
mod ingest;
mod jobs;
mod keys;
mod openapi;
mod served;
mod views;
