//! Where memory ends and the disk begins.

pub(crate) mod distinct;
pub(crate) mod partition;
pub(crate) mod queue;
pub(crate) mod sorter;
pub(crate) mod spool;
