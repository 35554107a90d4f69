//! Queues: how many runs go on at once, and how many may wait.
//!
//! A run holds a slot exactly while its status says so ([`crate::Status::holds_slot`]). Nothing counts slots beside that, so they cannot leak, go
//! below zero, or be freed twice: the commit that ends a run is the commit that frees its slot and lets the next one in.

/// The limits of a queue; `None` is no limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Limits {
    /// How many of its runs may hold a slot.
    pub max_running: Option<u32>,
    /// How many of its runs may wait for one.
    pub max_waiting: Option<u32>,
}

/// A queue whose waiting line is full.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{waiting} runs wait already, and {max_waiting} may")]
pub struct QueueFull {
    /// How many wait.
    pub waiting: u64,
    /// How many may.
    pub max_waiting: u32,
}

impl Limits {
    /// How many more runs may be claimed while so many hold a slot.
    pub fn room(&self, holding: u64) -> u64 {
        self.max_running.map_or(u64::MAX, |max| u64::from(max).saturating_sub(holding))
    }

    /// Lets one more run wait, unless the line is full.
    pub fn admit(&self, waiting: u64) -> Result<(), QueueFull> {
        match self.max_waiting {
            Some(max_waiting) if waiting >= u64::from(max_waiting) => Err(QueueFull { waiting, max_waiting }),
            _ => Ok(()),
        }
    }
}
