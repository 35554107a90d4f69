//! Remembers runs, what happened to them, and who did it: a change, its events and its audit entry commit together.
//!
//! [`Store`] is SQLite or PostgreSQL behind the same verbs. A verb is one transaction: it loads a run, asks `lifecycle` what becomes of it, and writes
//! that where the row still is what was loaded. Nothing of a verb that fails is kept.

mod audit;
mod columns;
mod connection;
mod context;
mod error;
pub mod fail_point;
mod filter;
mod key;
mod observed;
mod place;
mod postgres;
mod record;
mod sqlite;
mod store;
mod text;
mod tx;
mod verbs;

pub use audit::{Audited, Fault, Head, NotAHead};
pub use connection::{Connection, NewConnection};
pub use context::{Clock, Options};
pub use error::StoreError;
pub use filter::RunFilter;
pub use key::{Key, KeyRole, NewKey, Tenant};
pub use observed::{Execution, Ingested, Observed};
pub use place::{Place, Role, UnknownPlace};
pub use record::{
    Answer, Audit, Claimed, Entry, Expected, Finish, Job, JobDocument, JobListed, NewRun, Pass, QueueLoad,
    Record, Saved, Taken,
};
pub use store::Store;
