//! What to compare, and what counts as equal.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::number::{Decimal, Number};
use crate::table::Table;

/// One of the tables compared.
pub struct Source<'a> {
    /// The name in every report.
    pub name: String,
    /// Where its rows come from.
    pub table: &'a dyn Table,
    /// New names by the table's own column names.
    pub renames: BTreeMap<String, String>,
    /// The zone of times that carry none, as an IANA name.
    pub timezone: Option<String>,
    /// `strftime`-style formats of text columns that hold dates or times, by column name (after renaming).
    pub date_formats: BTreeMap<String, String>,
}

/// What to compare.
#[derive(Debug, Clone, Default)]
pub struct Spec {
    /// The dimensions, after renaming.
    pub key: Vec<String>,
    /// Aggregates; empty means row by row over every column the sources share.
    pub measures: Vec<Measure>,
    /// Row by row: only these columns; empty means all.
    pub compare: Vec<String>,
    /// Row by row: all columns but these.
    pub ignore: Vec<String>,
    /// By measure name or column name; what is not listed is exact.
    pub tolerances: BTreeMap<String, Tolerance>,
    /// By column name.
    pub normalisers: BTreeMap<String, Vec<Normaliser>>,
    /// Columns whose text or numbers (`1`, `0`, `yes`, `no`, …) are truth values.
    pub booleans: Vec<String>,
    /// Columns that are text in every source, whatever they look like.
    pub texts: Vec<String>,
    /// What to do with keys that repeat; `None` is `Aggregate` with measures and `Multiset` without.
    pub duplicates: Option<Duplicates>,
    /// The source that the others are held against; without one, the spread over all sources counts.
    pub reference: Option<usize>,
    /// Compare every key and text by value instead of by fingerprint.
    pub verify: bool,
    /// What every source has beside the rows of its table.
    pub left_out: LeftOut,
    /// What is known beforehand, and to be told among the notes.
    pub notes: Vec<String>,
    /// How many breaks to keep in the [`crate::Comparison`]; a break sink gets all of them.
    pub limit: usize,
}

/// Rows that are known to be the same in all sources: each counts as a matched group of one key.
#[derive(Debug, Clone, Default)]
pub struct LeftOut {
    /// How many there are.
    pub rows: u64,
    /// What their values add up to, in parts, by column; what is not listed has no control total.
    pub totals: BTreeMap<String, Vec<Number>>,
}

/// An aggregate of a column within a group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Measure {
    /// The name in every report, by default as written: `sum(amount)`.
    pub name: String,
    /// How the rows of a group become one value.
    pub aggregate: Aggregate,
    /// The column, after renaming; `*` with [`Aggregate::Count`] counts rows.
    pub column: String,
}

/// How the rows of a group become one value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Aggregate {
    /// The exact sum of what is not NULL; NULL when all is.
    Sum,
    /// How many are not NULL.
    Count,
    /// How many different values that are not NULL.
    CountDistinct,
    /// The smallest.
    Min,
    /// The largest.
    Max,
    /// The exact ratio of sum and count.
    Avg,
    /// The value itself, row by row.
    Value,
}

/// How far values may be apart.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Tolerance {
    /// The rule for one group.
    pub rule: Rule,
    /// How many groups may break the rule before the comparison fails.
    pub allow: Allow,
}

/// Which of the rules one is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RuleType {
    /// [`Rule::Exact`].
    Exact,
    /// [`Rule::Absolute`].
    Absolute,
    /// [`Rule::Percentage`].
    Percentage,
    /// [`Rule::Duration`].
    Duration,
}

/// The rule for one group.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Rule {
    /// Equal.
    #[default]
    Exact,
    /// `|a − b| <= value`.
    Absolute(Decimal),
    /// `|a − b| <= value % of base`.
    Percentage {
        /// `0.1` is a tenth of a percent.
        value: Decimal,
        /// What it is a share of.
        base: Base,
    },
    /// Dates and times: `from <= other − reference <= to`, in seconds. One-sided and symmetric when `from == -to`.
    Duration {
        /// Seconds, zero or negative.
        from: Decimal,
        /// Seconds, zero or positive.
        to: Decimal,
    },
}

/// What a percentage is a share of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Base {
    /// The larger magnitude of the pair.
    #[default]
    Larger,
    /// The smaller magnitude of the pair.
    Smaller,
    /// The mean of the two magnitudes.
    Mean,
    /// The magnitude in the source with this index.
    Source(usize),
}

/// How many groups may break a rule.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Allow {
    /// None.
    #[default]
    None,
    /// This many.
    Count(u64),
    /// This many in a hundred of the groups present everywhere.
    Percent(Decimal),
}

/// What is done to text before it is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Normaliser {
    /// Removes white space at both ends.
    Trim,
    /// Turns each run of white space into one space.
    CollapseSpace,
    /// Full Unicode case folding.
    Casefold,
    /// Unicode normalisation form C.
    Nfc,
}

/// What to do with keys that repeat within a source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Duplicates {
    /// Aggregate them.
    Aggregate,
    /// Pair equal rows, then the rest with the fewest differences; what is left over is unmatched.
    Multiset,
    /// Stop with an error that names some.
    Error,
}

/// What a comparison may use.
#[derive(Debug, Clone)]
pub struct Limits {
    /// Bytes of memory.
    pub memory: u64,
    /// Threads.
    pub threads: usize,
    /// Where to spill; removed afterwards.
    pub temp_dir: PathBuf,
}
