//! Jobs carried out on real files: what is told, what they come to, and what they leave behind.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod across;
mod cancelling;
mod checksum;
mod databases;
mod drilling;
mod failing;
mod finding;
mod matrix;
mod objects;
mod odbc;
mod parallel;
mod refusing;
mod scene;
mod shaping;
mod telling;
