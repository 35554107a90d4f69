//! Says how N tables differ: Arrow in, a comparison out.

mod decode;
mod error;
mod fingerprint;
mod finish;
mod ingest;
mod join;
mod kind;
mod memory_table;
mod number;
mod plan;
mod progress;
mod report;
mod reread;
mod rule;
mod run;
pub mod single;
mod spec;
mod spill;
mod sum;
mod table;
mod temporal;
mod text;
mod tolerance;
mod unique;
mod value;

pub use error::{Error, ValueProblem};
pub use kind::Kind;
pub use memory_table::MemoryTable;
pub use number::{Decimal, Number, NumeralError};
pub use progress::{Progress, Stage};
pub use report::breaks_file::{BreaksFile, BreaksFileError, BreaksFormat, StoredBreaks, StoredBreaksError};
pub use report::{
    Break, BreakHeader, Cell, ColumnReport, Comparison, Concentration, Finding, KeyReport, MeasureReport,
    Outside, Role, TypeDrift, Verdict,
};
pub use rule::{DurationError, RuleError, display_duration, parse_duration, parse_rule};
#[doc(hidden)]
pub use run::Tuning;
pub use spec::{
    Aggregate, Allow, Base, Duplicates, LeftOut, Limits, Measure, Normaliser, Rule, RuleType, Source, Spec,
    Tolerance,
};
pub use table::{Batches, Part, Scan, Selection, Table, TableError};
pub use text::near_miss;
pub use unique::unique_keys;

use std::path::Path;

use run::{Found, Run};

/// Says whether `Source::timezone` may be this: an IANA name, or an offset such as `+01:00`.
///
/// # Errors
/// What is wrong with it, and one that is spelt alike.
pub fn check_timezone(name: &str) -> Result<(), String> {
    temporal::Zone::named(name).map(drop).map_err(|error| error.to_string())
}

/// Where every break goes, in the order of the keys.
pub enum BreakSink<'a> {
    /// To whoever is called with each, and with what its cells are.
    Each(&'a mut dyn FnMut(&BreakHeader, &Break) -> Result<(), TableError>),
    /// To a file in the format of its extension, see [`BreaksFormat::of`]; it has its name once it is complete.
    File(&'a Path),
}

/// Compares the sources as the specification says; every break is told, in the order of the keys.
///
/// # Errors
/// The specification does not fit the sources, a source cannot be read, or somebody cancelled it.
pub fn compare(
    sources: &[Source<'_>],
    spec: &Spec,
    limits: &Limits,
    progress: &Progress,
    breaks: Option<BreakSink<'_>>,
) -> Result<Comparison, Error> {
    compare_tuned(sources, spec, limits, progress, breaks, &Tuning::default())
}

/// Compares as [`compare`] does, but looks only at the rows given per source, and says which of them are in groups that do not match.
///
/// The rows are those of whole groups that a comparison by fewer dimensions gave back, so that this one drills into them. What a
/// column is, is still decided by all its values.
///
/// # Errors
/// As [`compare`]; and with `verify`, for which aggregated groups are told apart only after their rows were flagged.
pub fn compare_within(
    sources: &[Source<'_>],
    within: Option<&[Selection]>,
    spec: &Spec,
    limits: &Limits,
    progress: &Progress,
    breaks: Option<BreakSink<'_>>,
) -> Result<(Comparison, Vec<Selection>), Error> {
    if spec.verify {
        return Err(Error::spec("what is verified cannot be drilled into"));
    }
    let tuning = Tuning::default();
    let run = Run { within, gives_rows: true, ..Run::new(sources, spec, limits, progress, &tuning) };
    let Found { comparison, unmatched } = run.compare(breaks)?;
    Ok((comparison, unmatched))
}

/// The same with knobs for tests.
///
/// # Errors
/// As [`compare`].
#[doc(hidden)]
pub fn compare_tuned(
    sources: &[Source<'_>],
    spec: &Spec,
    limits: &Limits,
    progress: &Progress,
    breaks: Option<BreakSink<'_>>,
    tuning: &Tuning,
) -> Result<Comparison, Error> {
    Ok(Run::new(sources, spec, limits, progress, tuning).compare(breaks)?.comparison)
}
