//! Brings rows that are decided by value together by key, in the order of the keys.

use crate::error::Error;
use crate::finish::decide::Decider;
use crate::join::aggregate::{Aggregator, NoValues};
use crate::progress::Progress;
use crate::reread::entry::Entry;
use crate::spill::distinct::Room;
use crate::spill::partition::Budget;
use crate::spill::queue::Queue;

/// Pairs rows key by key; with `counts_keys`, the key report is counted too.
pub(crate) fn pair_rows<'e>(
    mut next_entry: impl FnMut() -> Result<Option<Entry<'e>>, Error>,
    decider: &mut Decider<'_>,
    counts_keys: bool,
    budget: &Budget,
    progress: &Progress,
) -> Result<(), Error> {
    let mut key = Key::new(decider.sources.len(), budget);
    let mut next = next_entry()?;
    while let Some(entry) = next {
        progress.check()?;
        key.rows[entry.source()] += 1;
        next = next_entry()?;
        let same_key = next.as_ref().is_some_and(|next| next.key() == entry.key());
        let same_cells = same_key && next.as_ref().is_some_and(|next| next.cells() == entry.cells());
        key.equal[entry.source()].push(entry, 1)?;
        if !same_cells {
            decider.told.tally.matched += key.take_equal()?;
        }
        if !same_key {
            if counts_keys {
                count_key(decider, &key.rows);
            }
            if key.left.iter().any(|rows| rows.len() > 0) {
                let has_key: Vec<bool> = key.rows.iter().map(|rows| *rows > 0).collect();
                decider.rows(&mut key.left, &has_key, progress)?;
            }
            key.rows.fill(0);
        }
    }
    Ok(())
}

/// Aggregates rows key by key; with `counts`, groups and keys are counted, otherwise only told of.
pub(crate) fn aggregate_rows<'e>(
    mut next_entry: impl FnMut() -> Result<Option<Entry<'e>>, Error>,
    decider: &mut Decider<'_>,
    counts: bool,
    room: Room<'_>,
) -> Result<(), Error> {
    let mut aggregators: Vec<Aggregator<'_>> =
        decider.sources.iter().map(|_| Aggregator::new(decider.plan, None, room)).collect();
    let mut next = next_entry()?;
    while let Some(entry) = next {
        aggregators[entry.source()].add_values(decider.plan, &entry.values(decider.plan))?;
        next = next_entry()?;
        if next.as_ref().is_some_and(|next| next.key() == entry.key()) {
            continue;
        }
        room.progress.check()?;
        let rows: Vec<u64> = aggregators.iter().map(|aggregator| aggregator.rows).collect();
        let mut by_source = Vec::new();
        for (source, aggregator) in decider.sources.iter().zip(&mut aggregators) {
            let failed = |why| match why {
                NoValues::Failed(error) => error,
                NoValues::Overflow { measure } => Error::Overflow {
                    source_name: source.name.clone(),
                    group: Entry::group_of(decider.plan, entry.key()),
                    measure: decider.plan.measures[measure].name.clone(),
                },
            };
            by_source.push(if aggregator.rows > 0 {
                Some(aggregator.values().map_err(failed)?)
            } else {
                None
            });
            aggregator.clear();
        }
        let broke = decider.aggregates(entry.key(), &by_source, !counts)?;
        if counts {
            count_key(decider, &rows);
        }
        if broke {
            let rows = rows.iter().sum();
            decider.told.tally.broken_rows += if counts { rows } else { 0 };
            let key = entry.key_values(decider.plan);
            for (part, value) in decider.plan.key.iter().zip(&key) {
                decider.count_broken_value(*part, value.as_ref(), rows);
            }
        }
    }
    Ok(())
}

pub(crate) fn count_key(decider: &mut Decider<'_>, rows: &[u64]) {
    for (source, rows) in rows.iter().enumerate() {
        decider.told.tally.distinct_keys[source] += u64::from(*rows > 0);
        decider.told.tally.duplicated_keys[source] += u64::from(*rows > 1);
    }
}

/// The rows of one key.
struct Key<'a> {
    /// Rows that are equal to each other, per source.
    equal: Vec<Queue<'a>>,
    /// Rows that no equal row of every source was found for, per source in the order of their values.
    left: Vec<Queue<'a>>,
    rows: Vec<u64>,
}

impl<'a> Key<'a> {
    fn new(sources: usize, budget: &'a Budget) -> Self {
        let queues = || (0..sources).map(|_| Queue::new(budget)).collect();
        Self { equal: queues(), left: queues(), rows: vec![0; sources] }
    }

    /// Takes out as many equal rows as every source has, and keeps the rest; how many were taken.
    fn take_equal(&mut self) -> Result<u64, Error> {
        let taken = self.equal.iter().map(Queue::len).min().unwrap_or(0);
        for (equal, left) in self.equal.iter_mut().zip(&mut self.left) {
            if equal.len() == 0 {
                continue;
            }
            let mut rows = equal.take()?;
            let mut skip = taken;
            while let Some((row, count)) = rows.next_alike()? {
                let skipped = skip.min(count);
                skip -= skipped;
                if count > skipped {
                    left.push(row, count - skipped)?;
                }
            }
        }
        Ok(taken)
    }
}
