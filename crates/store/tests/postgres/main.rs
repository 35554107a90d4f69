//! What is special to the store in PostgreSQL.

#![expect(clippy::unwrap_used, reason = "what a test's own parts cannot do fails the test")]

mod admission;
mod audit;
mod away;
mod constraints;
mod contention;
#[path = "../both/damaged.rs"]
mod damaged;
mod database;
mod fence;
mod life;
mod opening;
mod plans;
mod sequencer;
mod sql_users;
mod statements;
mod tls;
