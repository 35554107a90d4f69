//! Guesses early how many rows break, by looking in one source for the first rows of another.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::join::FEW;

/// Rows that must have been found before the guess is made.
const ENOUGH: u64 = 500;
/// Several times as many places as rows, so that a look-up ends soon.
const PLACES: usize = 1 << 15;
/// More rows than this say no more.
const MOST_ROWS: usize = PLACES / 4;

/// The first rows of one source, looked for in another.
pub(crate) struct Probe {
    /// Fingerprint of the key and digest, `None` for a free place; no digest for a key that repeats.
    places: Vec<Option<(u128, Option<u64>)>>,
    found: AtomicU64,
    differing: AtomicU64,
    is_over: AtomicBool,
}

impl Probe {
    /// Remembers rows by their fingerprints and digests.
    pub(crate) fn new(fingerprints: &[u128], digests: &[u64]) -> Self {
        let mut places = vec![None; PLACES];
        for (&fingerprint, &digest) in fingerprints.iter().zip(digests).take(MOST_ROWS) {
            let mut at = fingerprint as usize % PLACES;
            while places[at].is_some_and(|(known, _)| known != fingerprint) {
                at = (at + 1) % PLACES;
            }
            let repeats = places[at].is_some();
            places[at] = Some((fingerprint, if repeats { None } else { Some(digest) }));
        }
        Self {
            places,
            found: AtomicU64::new(0),
            differing: AtomicU64::new(0),
            is_over: AtomicBool::new(false),
        }
    }

    /// Looks for the rows remembered among those of the other source; says whether too many differ.
    pub(crate) fn too_many_differ(&self, fingerprints: &[u128], digests: &[u64]) -> bool {
        if self.is_over.load(Ordering::Relaxed) {
            return false;
        }
        let (mut found, mut differing) = (0, 0);
        for (&fingerprint, &digest) in fingerprints.iter().zip(digests) {
            let mut at = fingerprint as usize % PLACES;
            while let Some((known, of_known)) = self.places[at] {
                if known == fingerprint {
                    found += u64::from(of_known.is_some());
                    differing += u64::from(of_known.is_some_and(|of_known| of_known != digest));
                    break;
                }
                at = (at + 1) % PLACES;
            }
        }
        let found = self.found.fetch_add(found, Ordering::Relaxed) + found;
        let differing = self.differing.fetch_add(differing, Ordering::Relaxed) + differing;
        if found >= ENOUGH {
            self.is_over.store(true, Ordering::Relaxed);
        }
        found >= ENOUGH && differing * FEW > found
    }
}
