//! The first step: streams every source through decoding and hashing into partitions of records.

pub(crate) mod encode;
mod probe;
pub(crate) mod record;
pub(crate) mod totals;

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use arrow_array::{ArrayRef, RecordBatch};

use crate::decode::{Decoded, Misfit};
use crate::error::Error;
use crate::fingerprint::Seeds;
use crate::ingest::encode::{Encoder, Encoding, Shape, decode_batch};
use crate::ingest::probe::Probe;
use crate::ingest::totals::Totals;
use crate::plan::Plan;
use crate::plan::learn::first_batch;
use crate::plan::stray::Watch;
use crate::progress::Progress;
use crate::report::census::Census;
use crate::spec::Source;
use crate::spill::partition::{Budget, Chunk, Radix, Scatter};
use crate::table::{Scan, Selection};
use crate::temporal::OrderEvidence;

/// Why reading stopped: for good, or to start over with a better plan.
pub(crate) enum Stop {
    Failed(Error),
    Surprise(Box<Surprise>),
    /// So many rows break that a record should tell more.
    TooMany,
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

/// A column of a batch that does not fit its plan.
pub(crate) struct Surprise {
    pub(crate) source: usize,
    pub(crate) column: usize,
    pub(crate) misfit: Misfit,
    pub(crate) values: ArrayRef,
    pub(crate) block: Block,
}

/// Rows that were read one after the other from one part.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Block {
    /// The locator of the first row.
    pub(crate) first: u32,
    pub(crate) rows: u32,
    pub(crate) part: usize,
    /// Rows of the part before it.
    pub(crate) offset: usize,
}

/// Everything that reading the sources gave.
pub(crate) struct Ingested {
    /// Chunks by partition and source.
    pub(crate) partitions: Vec<Vec<Vec<Chunk>>>,
    /// Where rows are, per source, by locator.
    pub(crate) blocks: Vec<Vec<Block>>,
    /// Rows looked at, per source.
    pub(crate) rows: Vec<u64>,
    /// Rows that have a locator, per source: all of them.
    pub(crate) located: Vec<u64>,
    pub(crate) null_keys: Vec<u64>,
    pub(crate) totals: Vec<Totals>,
    pub(crate) census: Census,
    pub(crate) watch: Watch,
    pub(crate) evidence: Vec<Vec<OrderEvidence>>,
}

/// What all threads share.
pub(crate) struct Reading<'a> {
    pub(crate) sources: &'a [Source<'a>],
    pub(crate) plan: &'a Plan,
    pub(crate) shape: &'a Shape,
    pub(crate) seeds: &'a Seeds,
    pub(crate) budget: &'a Budget,
    pub(crate) progress: &'a Progress,
    pub(crate) radix: Radix,
    pub(crate) threads: usize,
    /// Rows of the second source to be looked for in the first.
    pub(crate) probe: Option<Probe>,
    /// The rows to look at, per source; all without it.
    pub(crate) within: Option<&'a [Selection]>,
}

/// What one thread has read.
struct Thread {
    chunks: Vec<Vec<Vec<Chunk>>>,
    blocks: Vec<Vec<Block>>,
    rows: Vec<u64>,
    null_keys: Vec<u64>,
    totals: Vec<Totals>,
    census: Census,
    watch: Watch,
    evidence: Vec<Vec<OrderEvidence>>,
}

impl Reading<'_> {
    /// Remembers the first rows of the second source, to guess from the first how many rows break.
    pub(crate) fn probe(&self) -> Result<Option<Probe>, Error> {
        let columns: Vec<usize> = self.plan.columns.iter().map(|column| column.readers[1].index).collect();
        let Some(batch) = first_batch(&self.sources[1], &columns)? else { return Ok(None) };
        let evidence = &mut vec![OrderEvidence::default(); columns.len()];
        // What does not fit the plan is found, and told, when the source is read.
        let Ok(decoded) = decode_batch(self.plan, 1, &batch, evidence) else { return Ok(None) };
        let mut encoder = Encoder::default();
        let by = Encoding { plan: self.plan, shape: self.shape, seeds: self.seeds };
        encoder.hash(&by, &decoded, batch.num_rows());
        let (fingerprints, digests) = encoder.hashes();
        Ok(Some(Probe::new(fingerprints, digests)))
    }

    /// Reads every source.
    pub(crate) fn ingest(&self) -> Result<Ingested, Stop> {
        let mut scans = Vec::new();
        for (number, source) in self.sources.iter().enumerate() {
            let columns: Vec<usize> =
                self.plan.columns.iter().map(|column| column.readers[number].index).collect();
            scans.push(source.table.scan(&columns, None).map_err(|error| read_error(source, error))?);
        }
        let located: Vec<AtomicU64> = self.sources.iter().map(|_| AtomicU64::new(0)).collect();
        let threads = on_threads(self.threads, |stop| self.thread(&scans, &located, stop))?;
        let all = self.gather(threads, located.into_iter().map(AtomicU64::into_inner).collect());
        for (source, within) in self.within.into_iter().flatten().enumerate() {
            if all.rows[source] != count(within) {
                return Err(self.changed(source).into());
            }
        }
        Ok(all)
    }

    fn thread(
        &self,
        scans: &[Box<dyn Scan<'_> + '_>],
        located: &[AtomicU64],
        stop: &AtomicBool,
    ) -> Result<Thread, Stop> {
        let sources = self.sources.len();
        let mut thread = Thread {
            chunks: Vec::new(),
            blocks: vec![Vec::new(); sources],
            rows: vec![0; sources],
            null_keys: vec![0; sources],
            totals: (0..sources).map(|_| Totals::new(self.plan)).collect(),
            census: Census::new(self.plan),
            watch: Watch::new(self.plan, sources),
            evidence: vec![vec![OrderEvidence::default(); self.plan.columns.len()]; sources],
        };
        let mut scatter = Scatter::new(self.radix, self.shape.layout.stride(), self.budget);
        let mut encoder = Encoder::default();
        for (source, scan) in scans.iter().enumerate() {
            let failed = |error| read_error(&self.sources[source], error);
            while let Some(part) = scan.next_part().map_err(failed)? {
                let mut offset = 0;
                for batch in part.batches {
                    self.progress.check()?;
                    if stop.load(Ordering::Relaxed) {
                        return Err(Error::Cancelled.into());
                    }
                    let batch = batch.map_err(failed)?;
                    if batch.num_rows() == 0 {
                        // It would have the locator of the next batch.
                        continue;
                    }
                    let block =
                        self.block(source, part.number, offset, batch.num_rows(), &located[source])?;
                    self.batch(&mut thread, &mut encoder, &mut scatter, source, &batch, block)?;
                    offset += batch.num_rows();
                }
            }
            if self.within.is_none() {
                // What was expected may have been a guess; a thread that is still at a part corrects it again.
                self.progress.expect(source, located[source].load(Ordering::Relaxed));
            }
            thread.null_keys[source] = std::mem::take(&mut encoder.null_keys);
            scatter.end_source();
        }
        thread.chunks = scatter.into_chains();
        Ok(thread)
    }

    /// Numbers the rows of a batch.
    fn block(
        &self,
        source: usize,
        part: usize,
        offset: usize,
        rows: usize,
        all: &AtomicU64,
    ) -> Result<Block, Error> {
        let first = all.fetch_add(rows as u64, Ordering::Relaxed);
        let too_many = || Error::TooManyRows { source_name: self.sources[source].name.clone() };
        let first = u32::try_from(first).map_err(|_| too_many())?;
        let rows = u32::try_from(rows).map_err(|_| too_many())?;
        first.checked_add(rows).ok_or_else(too_many)?;
        Ok(Block { first, rows, part, offset })
    }

    fn batch(
        &self,
        thread: &mut Thread,
        encoder: &mut Encoder,
        scatter: &mut Scatter<'_>,
        source: usize,
        batch: &RecordBatch,
        block: Block,
    ) -> Result<(), Stop> {
        // All rows, whichever are looked at: what a column is, is decided by the whole of it.
        let decoded: Vec<Decoded> = decode_batch(self.plan, source, batch, &mut thread.evidence[source])
            .map_err(|(column, misfit)| {
                let values = batch.column(column).clone();
                Stop::Surprise(Box::new(Surprise { source, column, misfit, values, block }))
            })?;
        thread.watch.observe(self.plan, source, batch, block);
        thread.blocks[source].push(block);
        let by = Encoding { plan: self.plan, shape: self.shape, seeds: self.seeds };
        let (columns, rows) = match self.kept(source, block)? {
            None => {
                encoder.encode(&by, &decoded, batch.num_rows(), |row| block.first + row, scatter)?;
                (decoded, batch.num_rows())
            }
            Some(kept) => {
                let columns: Vec<Decoded> = decoded.iter().map(|column| column.take(&kept)).collect();
                let locator = |row: u32| block.first + kept[row as usize];
                encoder.encode(&by, &columns, kept.len(), locator, scatter)?;
                (columns, kept.len())
            }
        };
        if let Some(probe) = self.probe.as_ref().filter(|_| source == 0) {
            let (fingerprints, digests) = encoder.hashes();
            if probe.too_many_differ(fingerprints, digests) {
                return Err(Stop::TooMany);
            }
        }
        thread.totals[source].add(&columns);
        thread.census.count(self.plan, self.seeds, &columns, rows);
        thread.rows[source] += rows as u64;
        self.progress.advance(source, rows as u64);
        Ok(())
    }

    /// The rows of a block to look at; `None` is all of them.
    fn kept(&self, source: usize, block: Block) -> Result<Option<Vec<u32>>, Error> {
        let Some(within) = self.within else { return Ok(None) };
        let Some(rows) = within[source].get(&block.part) else { return Ok(Some(Vec::new())) };
        let length = block.rows as usize;
        if block.offset + length > rows.len() {
            return Err(self.changed(source));
        }
        let rows = rows.slice(block.offset, length);
        Ok((rows.count_set_bits() < length).then(|| rows.set_indices_u32().collect()))
    }

    /// The error of a source that has other rows than when some of them were chosen.
    fn changed(&self, source: usize) -> Error {
        Error::Changed { source_name: self.sources[source].name.clone() }
    }

    fn gather(&self, threads: Vec<Thread>, located: Vec<u64>) -> Ingested {
        let sources = self.sources.len();
        let mut all = Ingested {
            partitions: (0..self.radix.partitions())
                .map(|_| (0..sources).map(|_| Vec::new()).collect())
                .collect(),
            blocks: vec![Vec::new(); sources],
            rows: vec![0; sources],
            located,
            null_keys: vec![0; sources],
            totals: (0..sources).map(|_| Totals::new(self.plan)).collect(),
            census: Census::new(self.plan),
            watch: Watch::new(self.plan, sources),
            evidence: vec![vec![OrderEvidence::default(); self.plan.columns.len()]; sources],
        };
        for thread in threads {
            for (source, partitions) in thread.chunks.into_iter().enumerate() {
                for (partition, chunks) in partitions.into_iter().enumerate() {
                    all.partitions[partition][source].extend(chunks);
                }
            }
            for (source, blocks) in thread.blocks.into_iter().enumerate() {
                all.blocks[source].extend(blocks);
                all.rows[source] += thread.rows[source];
                all.null_keys[source] += thread.null_keys[source];
                all.totals[source].merge(&thread.totals[source]);
                for (all, one) in all.evidence[source].iter_mut().zip(&thread.evidence[source]) {
                    all.merge(*one);
                }
            }
            all.census.merge(thread.census);
            all.watch.merge(thread.watch);
        }
        all.blocks.iter_mut().for_each(|blocks| blocks.sort_unstable_by_key(|block| block.first));
        all
    }
}

/// How many rows are chosen.
pub(crate) fn count(rows: &Selection) -> u64 {
    rows.values().map(|rows| rows.count_set_bits() as u64).sum()
}

pub(crate) fn read_error(source: &Source<'_>, error: crate::table::TableError) -> Error {
    Error::Read { source_name: source.name.clone(), error }
}

/// Runs the same work on every thread; the first that fails makes the others stop early.
pub(crate) fn on_threads<T: Send, E: Send + From<Error>>(
    threads: usize,
    work: impl Fn(&AtomicBool) -> Result<T, E> + Sync,
) -> Result<Vec<T>, E> {
    let stop = AtomicBool::new(false);
    let failed = std::sync::Mutex::new(None);
    let results: Vec<Option<T>> = std::thread::scope(|scope| {
        let one = || match work(&stop) {
            Ok(done) => Some(done),
            Err(error) => {
                // The first failure is the cause; later ones are threads that were told to stop.
                if !stop.swap(true, Ordering::Relaxed) {
                    failed.lock().unwrap_or_else(std::sync::PoisonError::into_inner).replace(error);
                }
                None
            }
        };
        let handles: Vec<_> = (1..threads).map(|_| scope.spawn(one)).collect();
        let own = one();
        let others = handles.into_iter().map(|handle| match handle.join() {
            Ok(result) => result,
            Err(panic) => std::panic::resume_unwind(panic),
        });
        std::iter::once(own).chain(others).collect()
    });
    match failed.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner) {
        Some(error) => Err(error),
        None => Ok(results.into_iter().flatten().collect()),
    }
}
