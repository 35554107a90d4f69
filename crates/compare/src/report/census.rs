//! Counts the rows of each value in columns with few values, to tell where breaks concentrate.

use std::collections::HashMap;

use crate::decode::Decoded;
use crate::fingerprint::Seeds;
use crate::plan::Plan;
use crate::report::Concentration;
use crate::report::show::show;
use crate::spec::Rule;

/// A column with more values than this is no place where breaks concentrate.
const MOST_VALUES: usize = 64;
/// Nor is one with a longer value, so that the values that are kept take little memory.
const MOST_BYTES: usize = 256;
/// Fewer broken rows say nothing.
const LEAST_BROKEN_ROWS: u64 = 10;
/// How many times its share of breaks a value must have.
const FAR_MORE: u128 = 3;

/// Rows, and rows in breaks, of each value of the columns that have few.
pub(crate) struct Census {
    /// Per column of the plan; `None` when it has too many values, or is of no interest.
    columns: Vec<Option<HashMap<u64, Count>>>,
}

#[derive(Clone)]
struct Count {
    value: Option<String>,
    rows: u64,
    broken: u64,
}

impl Census {
    pub(crate) fn new(plan: &Plan) -> Self {
        let exact = |column: usize| {
            !plan.aggregates
                && plan
                    .measures
                    .iter()
                    .any(|measure| measure.column == Some(column) && measure.rule == Rule::Exact)
        };
        let columns = (0..plan.columns.len())
            .map(|column| (plan.key.contains(&column) || exact(column)).then(HashMap::new))
            .collect();
        Self { columns }
    }

    /// Whether the column has few values.
    pub(crate) fn counts(&self, column: usize) -> bool {
        self.columns[column].is_some()
    }

    /// Counts the rows of a batch.
    pub(crate) fn count(&mut self, plan: &Plan, seeds: &Seeds, columns: &[Decoded], rows: usize) {
        for (index, slot) in self.columns.iter_mut().enumerate() {
            let Some(counts) = slot else { continue };
            let mut tally = Tally::default();
            seeds.words(index, &columns[index], rows, |row, word| tally.count(row, word));
            let mut any_long = false;
            for &(word, row, times) in tally.values() {
                let count = counts.entry(word).or_insert_with(|| {
                    let value = show(&plan.columns[index], &columns[index], row);
                    any_long |= value.as_ref().is_some_and(|value| value.len() > MOST_BYTES);
                    Count { value, rows: 0, broken: 0 }
                });
                count.rows += times;
            }
            if any_long || tally.has_many() || counts.len() > MOST_VALUES {
                *slot = None;
            }
        }
    }

    /// Counts broken rows with the value that has this word.
    pub(crate) fn count_broken(&mut self, column: usize, word: u64, rows: u64) {
        if let Some(count) = self.columns[column].as_mut().and_then(|counts| counts.get_mut(&word)) {
            count.broken += rows;
        }
    }

    /// Counts broken rows with this word, of a value that may not be known here.
    pub(crate) fn tick(&mut self, column: usize, word: u64, rows: u64) {
        if let Some(counts) = &mut self.columns[column] {
            counts.entry(word).or_insert(Count { value: None, rows: 0, broken: 0 }).broken += rows;
        }
    }

    /// Adds the broken rows that another has counted.
    pub(crate) fn add_broken(&mut self, other: &Self) {
        for (column, counts) in other.columns.iter().enumerate() {
            for (word, count) in counts.iter().flatten() {
                self.count_broken(column, *word, count.broken);
            }
        }
    }

    pub(crate) fn merge(&mut self, other: Self) {
        for (slot, other) in self.columns.iter_mut().zip(other.columns) {
            let (Some(counts), Some(other)) = (slot.as_mut(), other) else {
                *slot = None;
                continue;
            };
            for (word, count) in other {
                let known = counts.entry(word).or_insert(Count { rows: 0, broken: 0, ..count.clone() });
                known.rows += count.rows;
                known.broken += count.broken;
            }
            if counts.len() > MOST_VALUES {
                *slot = None;
            }
        }
    }

    /// The values with far more breaks than their share, worst first.
    pub(crate) fn concentration(
        &self,
        plan: &Plan,
        all_rows: u64,
        all_broken_rows: u64,
    ) -> Vec<Concentration> {
        let mut found = Vec::new();
        for (column, counts) in plan.columns.iter().zip(&self.columns) {
            for count in counts.iter().flat_map(HashMap::values) {
                let of_value = u128::from(count.broken) * u128::from(all_rows);
                let of_all = u128::from(all_broken_rows) * u128::from(count.rows);
                if count.broken >= LEAST_BROKEN_ROWS && of_value >= FAR_MORE * of_all {
                    found.push(Concentration {
                        column: column.name.clone(),
                        value: count.value.clone(),
                        rows: count.rows,
                        broken_rows: count.broken,
                        all_rows,
                        all_broken_rows,
                    });
                }
            }
        }
        found.sort_by(|a, b| {
            b.broken_rows.cmp(&a.broken_rows).then_with(|| (&a.column, &a.value).cmp(&(&b.column, &b.value)))
        });
        found
    }
}

/// The values of one batch: a table small enough to stay in the nearest cache.
struct Tally {
    /// Word, first row and count; a count of zero is a free place.
    places: [(u64, usize, u64); PLACES],
    taken: usize,
}

/// Four times as many as values that are counted, so that a look-up ends soon.
const PLACES: usize = MOST_VALUES * 4;

impl Default for Tally {
    fn default() -> Self {
        Self { places: [(0, 0, 0); PLACES], taken: 0 }
    }
}

impl Tally {
    fn has_many(&self) -> bool {
        self.taken > MOST_VALUES
    }

    fn count(&mut self, row: usize, word: u64) {
        if self.has_many() {
            return;
        }
        let mut at = word as usize % PLACES;
        loop {
            let place = &mut self.places[at];
            if place.2 == 0 {
                *place = (word, row, 1);
                self.taken += 1;
                return;
            }
            if place.0 == word {
                place.2 += 1;
                return;
            }
            at = (at + 1) % PLACES;
        }
    }

    fn values(&self) -> impl Iterator<Item = &(u64, usize, u64)> {
        self.places.iter().filter(|place| place.2 > 0)
    }
}
