//! A running system for tests, and the tidy test (`tests/tidy`); nothing that ships depends on it.

mod postgres;

pub use postgres::{Postgres, PostgresError};
