//! One way to run a comparison that must not matter, and running it.

use std::collections::BTreeMap;

use trueup_compare::{
    Break, BreakHeader, BreakSink, Comparison, Error, Limits, MemoryTable, Progress, Source, Spec, Tuning,
    compare_tuned,
};

use crate::tables::Case;
use crate::tables::random::Random;

pub(crate) const MEGABYTE: u64 = 1 << 20;

#[derive(Debug, Clone)]
pub(crate) struct Way {
    pub threads: usize,
    pub shuffled: bool,
    /// Rows.
    pub largest_batch: usize,
    pub memory: u64,
    pub tuning: Tuning,
}

pub(crate) const PLAIN: Way = Way {
    threads: 1,
    shuffled: false,
    largest_batch: 100_000,
    memory: 256 * MEGABYTE,
    tuning: Tuning { partition_bits: None, bucket_bits: 16, wide: false, fingerprint_bits: 128 },
};

/// The comparison and all its breaks, or the error as a person reads it.
pub(crate) type Run = Result<(Comparison, Vec<Break>), String>;

/// Compares the sources of a case as it asks for.
pub(crate) fn run(case: &Case, way: &Way, random: &mut Random) -> Run {
    run_as(&case.spec, case, way, random)
}

/// Compares the sources of a case as another specification asks for.
pub(crate) fn run_as(spec: &Spec, case: &Case, way: &Way, random: &mut Random) -> Run {
    let mut breaks = Vec::new();
    let mut keep = |_: &BreakHeader, found: &Break| {
        breaks.push(found.clone());
        Ok(())
    };
    let comparison = compare_case(spec, case, way, random, Some(BreakSink::Each(&mut keep)))?;
    Ok((comparison, breaks))
}

/// The same without asking for every break.
pub(crate) fn summary(case: &Case, way: &Way, random: &mut Random) -> Result<Comparison, String> {
    compare_case(&case.spec, case, way, random, None)
}

fn compare_case(
    spec: &Spec,
    case: &Case,
    way: &Way,
    random: &mut Random,
    sink: Option<BreakSink<'_>>,
) -> Result<Comparison, String> {
    with_sources(case, way, random, |sources, limits, progress| {
        compare_tuned(sources, spec, limits, progress, sink, &way.tuning)
    })
}

/// Calls with the sources of a case and what may be used, and holds that nothing is left on the disk.
pub(crate) fn with_sources<T>(
    case: &Case,
    way: &Way,
    random: &mut Random,
    call: impl FnOnce(&[Source<'_>], &Limits, &Progress) -> Result<T, Error>,
) -> Result<T, String> {
    let tables: Vec<MemoryTable> =
        case.sources.iter().map(|sheet| sheet.table(way.shuffled, way.largest_batch, random)).collect();
    let sources: Vec<Source<'_>> = case
        .sources
        .iter()
        .zip(&tables)
        .map(|(sheet, table)| Source {
            name: sheet.name.clone(),
            table,
            renames: sheet.renames.clone(),
            timezone: sheet.timezone.clone(),
            date_formats: BTreeMap::default(),
        })
        .collect();
    let temp = tempfile::tempdir().expect("a temporary directory");
    let limits = Limits { memory: way.memory, threads: way.threads, temp_dir: temp.path().to_owned() };
    let progress = Progress::new(sources.len());
    let called = call(&sources, &limits, &progress);
    let left = std::fs::read_dir(temp.path()).expect("the temporary directory").count();
    if left > 0 {
        return Err(format!("{left} temporary files left behind"));
    }
    called.map_err(|error| error.to_string())
}
