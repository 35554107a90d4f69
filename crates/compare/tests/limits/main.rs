//! What a comparison may use, what stops it, and what it leaves behind.

mod cancelling;
mod failures;
mod ledger;
mod memory;
mod order;
mod restarts;
mod stage;
