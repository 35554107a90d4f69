//! Named points at the boundaries of every verb, at which a test can hold the process to kill it there.
//!
//! A point is `VERB/BOUNDARY`, or `VERB/BOUNDARY#N` for the Nth time it is reached: `Finish/before_commit`, `Tell/after_commit#3`.

use std::str::FromStr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::tx::Verb;

/// Where in a verb a point is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Boundary {
    /// Nothing has been asked of the database.
    Before,
    /// All of it is done, and none of it committed.
    BeforeCommit,
    /// It is committed, and nobody has been told.
    AfterCommit,
}

impl Boundary {
    /// Every boundary, in the order in which a verb comes to them.
    pub const ALL: [Self; 3] = [Self::Before, Self::BeforeCommit, Self::AfterCommit];

    /// The one spelling of it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Before => "before",
            Self::BeforeCommit => "before_commit",
            Self::AfterCommit => "after_commit",
        }
    }
}

/// A point at which this process stops for ever.
#[derive(Debug)]
pub struct FailPoint {
    verb: String,
    boundary: Boundary,
    times_left: AtomicU32,
}

/// A text that names no point.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0:?} names no fail point: write VERB/before, VERB/before_commit or VERB/after_commit, and #N for the Nth time"
)]
pub struct UnknownPoint(String);

impl FromStr for FailPoint {
    type Err = UnknownPoint;

    fn from_str(text: &str) -> Result<Self, UnknownPoint> {
        let unknown = || UnknownPoint(text.to_owned());
        let (point, times) = text.split_once('#').unwrap_or((text, "1"));
        let (verb, boundary) = point.split_once('/').ok_or_else(unknown)?;
        let boundary =
            Boundary::ALL.into_iter().find(|known| known.name() == boundary).ok_or_else(unknown)?;
        let times_left = times.parse().ok().filter(|times| *times > 0).ok_or_else(unknown)?;
        Ok(Self { verb: verb.to_owned(), boundary, times_left: AtomicU32::new(times_left) })
    }
}

static ARMED: OnceLock<FailPoint> = OnceLock::new();

impl FailPoint {
    /// Holds the process when it gets there; only the first point of a process counts.
    pub fn arm(self) {
        // A second one changes nothing, as it says.
        drop(ARMED.set(self));
    }

    /// Whether this is the time to stop.
    fn is_reached(&self, verb: &str, boundary: Boundary) -> bool {
        self.boundary == boundary
            && self.verb == verb
            && self.times_left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1))
                == Ok(1)
    }
}

/// Stops here for ever if a test wants that: the test hears of it, and kills the process.
pub(crate) fn reach<V: Verb>(boundary: Boundary) {
    let Some(armed) = ARMED.get() else { return };
    let verb = std::any::type_name::<V>().rsplit("::").next().unwrap_or_default();
    if armed.is_reached(verb, boundary) {
        eprintln!("fail point {verb}/{}", boundary.name());
        loop {
            std::thread::park();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_point_is_reached_at_its_time() {
        let point: FailPoint = "Finish/before_commit#2".parse().unwrap();
        let reached = |verb, boundary| point.is_reached(verb, boundary);
        assert!(!reached("Finish", Boundary::Before));
        assert!(!reached("Take", Boundary::BeforeCommit));
        let times =
            [false, true, false].map(|expected| reached("Finish", Boundary::BeforeCommit) == expected);
        assert_eq!(times, [true; 3]);
    }

    #[test]
    fn what_names_no_point_is_refused() {
        for text in ["", "Finish", "Finish/", "Finish/during", "Finish/before#0", "Finish/before#x"] {
            assert!(text.parse::<FailPoint>().is_err(), "{text}");
        }
    }
}
