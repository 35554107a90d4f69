//! A running system for tests, and the tidy test (`tests/tidy`); nothing that ships depends on it.

mod markdown;
mod postgres;
mod schema;
mod waiting;

pub use markdown::blocks;
pub use postgres::{Postgres, PostgresError};
pub use schema::violations;
pub use waiting::{PATIENCE, until};
