//! What is special to the store in SQLite: how a file is opened, refused, shared and guarded.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod constraints;
#[path = "../both/damaged.rs"]
mod damaged;
mod life;
mod opening;
mod place;
mod sharing;
mod start_run;
