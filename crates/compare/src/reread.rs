//! The third step: reads chosen rows again, for their keys and values.

pub(crate) mod bitmap;
pub(crate) mod entry;
mod found;

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicU64, Ordering};

use arrow_array::RecordBatch;

use crate::decode::{Decoded, Values, decode};
use crate::error::Error;
use crate::fingerprint::Seeds;
use crate::ingest::{Block, on_threads, read_error};
use crate::join::kept::Kept;
use crate::plan::Plan;
use crate::progress::Progress;
use crate::report::census::Census;
use crate::reread::bitmap::Chosen;
use crate::reread::entry::{Purpose, Row, write_entry, write_key, write_key_up_to};
use crate::reread::found::Found;
use crate::spec::Source;
use crate::spill::partition::Budget;
use crate::spill::sorter::Sorter;
use crate::temporal::OrderEvidence;

/// Reads chosen rows again.
pub(crate) struct Reread<'a> {
    pub(crate) sources: &'a [Source<'a>],
    pub(crate) plan: &'a Plan,
    pub(crate) seeds: &'a Seeds,
    pub(crate) budget: &'a Budget,
    pub(crate) progress: &'a Progress,
    pub(crate) threads: usize,
    pub(crate) blocks: &'a [Vec<Block>],
    /// Bytes that sorting may hold in memory, over all threads.
    pub(crate) sort_bytes: usize,
}

/// Some rows read again.
struct Rows<'a> {
    source: usize,
    batch: &'a RecordBatch,
    /// By column of the plan; those not asked for are all NULL.
    columns: &'a [Decoded],
    /// Where each row is in its part.
    positions: &'a [usize],
    part: usize,
}

/// The smallest keys among broken rows, with where a row of each source is.
pub(crate) type FirstKeys = BTreeMap<Vec<u8>, Vec<(usize, usize, usize)>>;

impl<'a> Reread<'a> {
    /// Calls with the chosen rows of every source, on every thread.
    fn read<T: Send>(
        &self,
        chosen: &[Chosen],
        columns: &[usize],
        start: impl Fn() -> T + Sync,
        each: impl Fn(&mut T, &Rows<'_>) -> Result<(), Error> + Sync,
    ) -> Result<Vec<T>, Error> {
        let mut scans = Vec::new();
        for (number, source) in self.sources.iter().enumerate() {
            let indices: Vec<usize> =
                columns.iter().map(|column| self.plan.columns[*column].readers[number].index).collect();
            let scan = source.table.scan(&indices, Some(&chosen[number].rows));
            scans.push(scan.map_err(|error| read_error(source, error))?);
        }
        let zeros = || -> Vec<AtomicU64> { self.sources.iter().map(|_| AtomicU64::new(0)).collect() };
        let (found, parts) = (zeros(), zeros());
        let states = on_threads(self.threads, |stop| -> Result<T, Error> {
            let mut state = start();
            let mut fingerprints = Vec::new();
            for (source, scan) in scans.iter().enumerate() {
                let failed = |error| read_error(&self.sources[source], error);
                while let Some(part) = scan.next_part().map_err(failed)? {
                    let Some(rows) = chosen[source].rows.get(&part.number) else { continue };
                    let mut positions = rows.set_indices();
                    for batch in part.batches {
                        self.progress.check()?;
                        if stop.load(Ordering::Relaxed) {
                            return Err(Error::Cancelled);
                        }
                        let batch = batch.map_err(failed)?;
                        let positions: Vec<usize> = positions.by_ref().take(batch.num_rows()).collect();
                        if positions.len() < batch.num_rows() {
                            return Err(self.changed(source));
                        }
                        let decoded = self.decode(source, columns, &batch)?;
                        self.seeds.fingerprints(
                            &self.plan.key,
                            &decoded,
                            batch.num_rows(),
                            &mut fingerprints,
                        );
                        let keys = fingerprints.iter().fold(0, |sum: u64, it| sum.wrapping_add(*it as u64));
                        found[source].fetch_add(keys, Ordering::Relaxed);
                        let rows = Rows {
                            source,
                            batch: &batch,
                            columns: &decoded,
                            positions: &positions,
                            part: part.number,
                        };
                        each(&mut state, &rows)?;
                    }
                    if positions.next().is_some() {
                        return Err(self.changed(source));
                    }
                    parts[source].fetch_add(1, Ordering::Relaxed);
                }
            }
            Ok(state)
        })?;
        for (source, chosen) in chosen.iter().enumerate() {
            let keys = found[source].load(Ordering::Relaxed);
            let all_parts = parts[source].load(Ordering::Relaxed) == chosen.rows.len() as u64;
            if !all_parts || chosen.keys.is_some_and(|expected| expected != keys) {
                return Err(self.changed(source));
            }
        }
        Ok(states)
    }

    /// The error of a source that gives other rows than before.
    pub(crate) fn changed(&self, source: usize) -> Error {
        Error::Changed { source_name: self.sources[source].name.clone() }
    }

    fn decode(&self, source: usize, columns: &[usize], batch: &RecordBatch) -> Result<Vec<Decoded>, Error> {
        let null = || Decoded { values: Values::Null, nulls: None };
        let mut decoded: Vec<Decoded> = self.plan.columns.iter().map(|_| null()).collect();
        for (at, &column) in columns.iter().enumerate() {
            let planned = &self.plan.columns[column];
            let evidence = &mut OrderEvidence::default();
            decoded[column] =
                decode(planned, source, batch.column(at), evidence).map_err(|_| self.changed(source))?;
        }
        Ok(decoded)
    }

    /// Chosen rows in full, sorted.
    pub(crate) fn entries(&self, chosen: &[Chosen], purpose: Purpose) -> Result<Vec<Sorter<'a>>, Error> {
        let all: Vec<usize> = (0..self.plan.columns.len()).collect();
        self.sorted(chosen, purpose, &all, &[], &Kept::default())
    }

    /// Chosen rows with their long texts and nothing else.
    pub(crate) fn long_texts(&self, chosen: &[Chosen], long: &[usize]) -> Result<Vec<Sorter<'a>>, Error> {
        self.sorted(chosen, Purpose::List, &self.columns_of(long), &[], &Kept::default())
    }

    /// Chosen rows without their long texts, for which the words are given, sorted.
    pub(crate) fn lean_entries(
        &self,
        chosen: &[Chosen],
        long: &[usize],
        kept: &Kept,
    ) -> Result<Vec<Sorter<'a>>, Error> {
        let unread = self.columns_of(long);
        let columns: Vec<usize> =
            (0..self.plan.columns.len()).filter(|column| !unread.contains(column)).collect();
        self.sorted(chosen, Purpose::DecideLean, &columns, long, kept)
    }

    fn columns_of(&self, measures: &[usize]) -> Vec<usize> {
        measures.iter().filter_map(|measure| self.plan.measures[*measure].column).collect()
    }

    fn sorted(
        &self,
        chosen: &[Chosen],
        purpose: Purpose,
        columns: &[usize],
        long: &[usize],
        kept: &Kept,
    ) -> Result<Vec<Sorter<'a>>, Error> {
        let parts: Vec<HashMap<usize, Vec<Block>>> =
            self.blocks.iter().map(|blocks| by_part(blocks)).collect();
        let sorter = || Sorter::new(self.sort_bytes / self.threads, self.budget);
        let mut sorters = self.read(chosen, columns, sorter, |sorter, rows| {
            let found = Found::new(self.plan, rows.source, columns, rows.batch);
            let blocks = &parts[rows.source][&rows.part];
            for (row, &position) in rows.positions.iter().enumerate() {
                let locator = locator_at(blocks, position);
                let words = kept.get(rows.source, locator);
                let of = Row { source: rows.source, locator, columns: rows.columns, at: row, long, words };
                sorter.push(|out| write_entry(self.plan, purpose, &of, &found, out))?;
            }
            Ok(())
        })?;
        Sorter::close(&mut sorters)?;
        Ok(sorters)
    }

    /// The smallest keys of the chosen rows; the values they have in columns with few are counted as broken.
    pub(crate) fn first_keys(
        &self,
        chosen: &[Chosen],
        limit: usize,
        census: &mut Census,
    ) -> Result<FirstKeys, Error> {
        let columns: Vec<usize> = (0..self.plan.columns.len())
            .filter(|column| self.plan.key.contains(column) || census.counts(*column))
            .collect();
        let start = || (FirstKeys::new(), Census::new(self.plan), Vec::new());
        let counted: Vec<usize> = columns.iter().copied().filter(|column| census.counts(*column)).collect();
        let found = self.read(chosen, &columns, start, |(keys, counts, key), rows| {
            for &column in &counted {
                let count = rows.batch.num_rows();
                self.seeds
                    .words(column, &rows.columns[column], count, |_, word| counts.tick(column, word, 1));
            }
            for (row, &position) in rows.positions.iter().enumerate() {
                // A key whose first parts are beyond the largest kept need not be written to its end.
                let full = keys.len() >= limit;
                let largest = keys.last_key_value().filter(|_| full).map(|(largest, _)| largest.as_slice());
                if write_key_up_to(self.plan, rows.columns, row, largest, key) {
                    keep_smallest(keys, key, (rows.source, rows.part, position), limit);
                }
            }
            Ok(())
        })?;
        let mut all = FirstKeys::new();
        for (keys, counts, _) in found {
            census.add_broken(&counts);
            for (key, places) in keys {
                places.into_iter().for_each(|place| keep_smallest(&mut all, &key, place, limit));
            }
        }
        Ok(all)
    }

    /// The keys of the chosen rows, by source and locator.
    pub(crate) fn keys(&self, chosen: &[Chosen]) -> Result<HashMap<(usize, u32), Vec<u8>>, Error> {
        let parts: Vec<HashMap<usize, Vec<Block>>> =
            self.blocks.iter().map(|blocks| by_part(blocks)).collect();
        let found = self.read(chosen, &self.plan.key, HashMap::new, |keys, rows| {
            let blocks = &parts[rows.source][&rows.part];
            for (row, &position) in rows.positions.iter().enumerate() {
                let mut key = Vec::new();
                write_key(self.plan, rows.columns, row, &mut key);
                keys.insert((rows.source, locator_at(blocks, position)), key);
            }
            Ok(())
        })?;
        Ok(found.into_iter().flatten().collect())
    }
}

fn keep_smallest(keys: &mut FirstKeys, key: &[u8], place: (usize, usize, usize), limit: usize) {
    if let Some(places) = keys.get_mut(key) {
        // Only keys that must not repeat have more rows of a source, and they are named, not listed.
        if places.iter().all(|known| known.0 != place.0) {
            places.push(place);
        }
        return;
    }
    let is_full = keys.len() >= limit;
    if is_full && keys.last_key_value().is_none_or(|(largest, _)| key > largest.as_slice()) {
        return;
    }
    keys.insert(key.to_vec(), vec![place]);
    if is_full {
        keys.pop_last();
    }
}

fn by_part(blocks: &[Block]) -> HashMap<usize, Vec<Block>> {
    let mut parts: HashMap<usize, Vec<Block>> = HashMap::new();
    blocks.iter().for_each(|block| parts.entry(block.part).or_default().push(*block));
    parts.values_mut().for_each(|blocks| blocks.sort_unstable_by_key(|block| block.offset));
    parts
}

fn locator_at(blocks: &[Block], position: usize) -> u32 {
    let after = blocks.partition_point(|block| block.offset <= position);
    let block = blocks[after - 1];
    block.first + (position - block.offset) as u32
}

/// Rows chosen by part and place in it.
pub(crate) fn choose(places: impl Iterator<Item = (usize, usize)>, blocks: &[Block]) -> Chosen {
    let mut chosen: HashMap<usize, Vec<usize>> = HashMap::new();
    places.for_each(|(part, position)| chosen.entry(part).or_default().push(position));
    let parts = by_part(blocks);
    let rows = chosen
        .into_iter()
        .map(|(part, positions)| {
            let rows: usize = parts[&part].iter().map(|block| block.rows as usize).sum();
            let mut bits = arrow_buffer::BooleanBufferBuilder::new(rows);
            bits.append_n(rows, false);
            positions.into_iter().for_each(|position| bits.set_bit(position, true));
            (part, bits.finish())
        })
        .collect();
    Chosen { rows, keys: None }
}

/// The part of a row, and its place there.
pub(crate) fn place_of(blocks: &[Block], locator: u32) -> (usize, usize) {
    let after = blocks.partition_point(|block| block.first <= locator);
    let block = blocks[after - 1];
    (block.part, block.offset + (locator - block.first) as usize)
}

#[cfg(test)]
mod tests {
    use super::{FirstKeys, keep_smallest};

    #[test]
    fn the_smallest_keys_have_one_place_a_source() {
        let mut keys = FirstKeys::new();
        for row in 0..1_000 {
            keep_smallest(&mut keys, &[(row % 10) as u8], (row % 3, 0, row), 2);
        }
        let places = |key: u8| keys[&[key][..]].iter().map(|place| place.0).collect::<Vec<_>>();
        assert_eq!((keys.len(), places(0), places(1)), (2, vec![0, 1, 2], vec![1, 2, 0]));
    }
}
