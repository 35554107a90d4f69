//! Counts what is distinct, in more values than memory holds.

use std::collections::HashSet;
use std::hash::Hash;

use crate::error::Error;
use crate::plan::Plan;
use crate::progress::Progress;
use crate::spec::Aggregate;
use crate::spill::partition::Budget;
use crate::spill::sorter::Sorter;

/// What a value takes in the set, beside what it points to.
const SEEN_BYTES: usize = 40;
/// Less would spend its time on spilling.
const LEAST_BYTES: usize = 1 << 16;

/// What memory a count may take, and where the rest goes.
#[derive(Clone, Copy)]
pub(crate) struct Room<'a> {
    pub(crate) bytes: usize,
    pub(crate) budget: &'a Budget,
    pub(crate) progress: &'a Progress,
}

impl Room<'_> {
    /// The room of each `count_distinct` of each source: half for what was seen, half for sorting it.
    pub(crate) fn shared(self, plan: &Plan, sources: usize) -> Self {
        let counts = plan.measures.iter().filter(|it| it.aggregate == Aggregate::CountDistinct).count();
        Self { bytes: (self.bytes / (2 * sources * counts.max(1))).max(LEAST_BYTES), ..self }
    }
}

/// The distinct values of a group; those beyond its memory are sorted on disk.
pub(crate) struct Distinct<'a, T> {
    room: Room<'a>,
    seen: HashSet<T>,
    bytes: usize,
    spilled: Option<Sorter<'a>>,
}

impl<'a, T: AsRef<[u8]> + Eq + Hash> Distinct<'a, T> {
    pub(crate) fn new(room: Room<'a>) -> Self {
        Self { room, seen: HashSet::new(), bytes: 0, spilled: None }
    }

    pub(crate) fn clear(&mut self) {
        self.seen.clear();
        (self.bytes, self.spilled) = (0, None);
    }

    pub(crate) fn insert(&mut self, value: T) -> Result<(), Error> {
        let bytes = SEEN_BYTES + value.as_ref().len();
        if self.seen.insert(value) {
            self.bytes += bytes;
            if self.bytes > self.room.bytes {
                self.spill()?;
            }
        }
        Ok(())
    }

    fn spill(&mut self) -> Result<(), Error> {
        let Room { bytes, budget, .. } = self.room;
        let sorter = self.spilled.get_or_insert_with(|| Sorter::new(bytes, budget));
        self.bytes = 0;
        self.seen.drain().try_for_each(|value| sorter.push(|out| out.extend(value.as_ref())))
    }

    /// How many there are; it starts again from none.
    pub(crate) fn count(&mut self) -> Result<u64, Error> {
        let mut count = self.seen.len() as u64;
        if self.spilled.is_some() {
            self.spill()?;
            count = 0;
        }
        let mut values = Sorter::merge(self.spilled.take().into_iter().collect(), self.room.progress)?;
        let mut last = None;
        while let Some(value) = values.next()? {
            if last.as_ref() != Some(&value) {
                self.room.progress.check()?;
                count += 1;
                last = Some(value);
            }
        }
        self.clear();
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::{Distinct, Room};
    use crate::progress::Progress;
    use crate::spill::partition::Budget;

    #[test]
    fn what_is_spilled_is_counted_once() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let (budget, progress) = (Budget::new(0, directory.path()), Progress::new(1));
        let mut distinct = Distinct::new(Room { bytes: 4_000, budget: &budget, progress: &progress });
        for (values, times) in [(10_u32, 3), (7_000, 4), (1, 1), (0, 1)] {
            for number in (0..times).flat_map(|_| 0..values) {
                distinct.insert(number.to_be_bytes()).expect("a disk");
            }
            assert_eq!(distinct.spilled.is_some(), values > 100);
            assert_eq!(distinct.count().expect("a disk"), u64::from(values));
        }
    }
}
