//! How far a comparison is, readable from any thread, and the way to stop it.

use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};

use crate::error::Error;

/// How far a comparison is, readable from any thread, and the way to stop it.
#[derive(Debug)]
pub struct Progress {
    rows: Vec<AtomicU64>,
    /// Zero where unknown.
    expected: Vec<AtomicU64>,
    stage: AtomicU8,
    cancelled: AtomicBool,
}

/// What a comparison is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// Reading the sources.
    Reading,
    /// Comparing what was read.
    Comparing,
    /// Reading again what broke.
    ReadingAgain,
    /// Nothing any more.
    Done,
}

impl Progress {
    /// Nothing read yet.
    #[must_use]
    pub fn new(sources: usize) -> Self {
        let zeros = || (0..sources).map(|_| AtomicU64::new(0)).collect();
        Self { rows: zeros(), expected: zeros(), stage: AtomicU8::new(0), cancelled: AtomicBool::new(false) }
    }

    /// Rows read of a source so far.
    #[must_use]
    pub fn rows(&self, source: usize) -> u64 {
        self.rows[source].load(Ordering::Relaxed)
    }

    /// Rows that a source is thought to have.
    #[must_use]
    pub fn expected(&self, source: usize) -> Option<u64> {
        match self.expected[source].load(Ordering::Relaxed) {
            0 => None,
            rows => Some(rows),
        }
    }

    /// What is being done.
    #[must_use]
    pub fn stage(&self) -> Stage {
        // Whoever sees a stage sees the rows of those before it.
        match self.stage.load(Ordering::Acquire) {
            0 => Stage::Reading,
            1 => Stage::Comparing,
            2 => Stage::ReadingAgain,
            _ => Stage::Done,
        }
    }

    /// Ends the comparison soon, with [`Error::Cancelled`].
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }

    /// Whether somebody asked it to stop.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }

    pub(crate) fn check(&self) -> Result<(), Error> {
        if self.is_cancelled() { Err(Error::Cancelled) } else { Ok(()) }
    }

    pub(crate) fn enter(&self, stage: Stage) {
        self.stage.store(stage as u8, Ordering::Release);
    }

    pub(crate) fn expect(&self, source: usize, rows: u64) {
        self.expected[source].store(rows, Ordering::Relaxed);
    }

    /// Nothing read yet, once more: for the next of several comparisons.
    pub fn restart(&self) {
        self.rows.iter().for_each(|rows| rows.store(0, Ordering::Relaxed));
        self.enter(Stage::Reading);
    }

    pub(crate) fn advance(&self, source: usize, rows: u64) {
        self.rows[source].fetch_add(rows, Ordering::Relaxed);
    }
}
