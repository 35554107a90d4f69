//! A running system for tests, and the tidy test (`tests/tidy`); nothing that ships depends on it.

mod markdown;
mod postgres;
mod schema;

pub use markdown::blocks;
pub use postgres::{Postgres, PostgresError};
pub use schema::violations;
