//! A running system for tests, and the tidy test (`tests/tidy`); nothing that ships depends on it.

mod azure;
mod certificate;
mod http;
mod keeper;
mod mariadb;
mod markdown;
mod odbc;
mod postgres;
mod s3;
mod schema;
mod served;
mod waiting;
mod way;
mod web;

pub use azure::Azure;
pub use certificate::{Certified, certify, certify_server};
pub use http::{Http, Reply};
pub use mariadb::{Mariadb, MariadbError};
pub use markdown::blocks;
pub use odbc::{odbc_to_postgres, odbc_to_sqlite};
pub use postgres::{Postgres, PostgresError};
pub use s3::S3;
pub use schema::violations;
pub use waiting::{PATIENCE, until};
pub use way::{Fault, Way};
pub use web::Web;
