//! Databases: what their values are read as, and what is refused, on real servers and files.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod asking;
mod mysql;
#[cfg(feature = "odbc")]
mod odbc;
mod postgres;
mod sqlite;
