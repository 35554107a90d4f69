//! Kills the real process at every boundary of every verb, starts it again, and looks for what was lost, doubled or left hanging.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod chaos;
mod points;
mod process;
mod scene;
mod storms;
