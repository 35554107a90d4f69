//! What a comparison says.

pub(crate) mod breaks_file;
pub(crate) mod census;
pub(crate) mod show;
pub(crate) mod shown;
pub(crate) mod summary;

use std::fmt;

use crate::kind::Kind;
use crate::spec::{RuleType, Tolerance};

/// The answer to a comparison.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Comparison {
    /// The names of the sources; every `Vec` "per source" below is in this order.
    pub sources: Vec<String>,
    /// The names of the key columns.
    pub key: Vec<String>,
    /// The verdict.
    pub verdict: Verdict,
    /// Rows read, per source.
    pub source_row_counts: Vec<u64>,
    /// Groups present in every source.
    pub matched_groups: u64,
    /// Groups absent somewhere, counted for each source that has them.
    pub unmatched_by_source: Vec<u64>,
    /// Distinct groups.
    pub rows_compared: u64,
    /// Groups present everywhere and within every tolerance.
    pub rows_matched: u64,
    /// All other groups.
    pub rows_unmatched: u64,
    /// One per measure.
    pub measures: Vec<MeasureReport>,
    /// What the keys look like, per source.
    pub key_report: Vec<KeyReport>,
    /// Every column of every source and what became of it.
    pub columns: Vec<ColumnReport>,
    /// What makes the verdict UNMATCHED whatever the rows say: columns missing or of another type.
    pub findings: Vec<Finding>,
    /// Anything else a reader should know, such as how many keys have rows that were not paired in the best way.
    pub notes: Vec<String>,
    /// Where the breaks are far more than the share of a value.
    pub concentration: Vec<Concentration>,
    /// The first breaks in the order of their keys, at most [`crate::Spec::limit`].
    pub breaks: Vec<Break>,
}

/// The verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Nothing unmatched, every tolerance passed, no finding.
    Matched,
    /// Anything else.
    Unmatched,
}

/// What became of one measure (row by row: one column).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MeasureReport {
    /// `amount`, or `sum(amount)`.
    pub name: String,
    /// What kind of rule decided.
    pub tolerance_type: RuleType,
    /// The tolerance as written: `0.01`, `2d`, `-1d..+3d`; none when exact.
    pub tolerance_value: Option<String>,
    /// Groups present everywhere and within.
    pub within: u64,
    /// Groups present everywhere and outside.
    pub outside: u64,
    /// Whether no more are outside than allowed, and nothing about the column is a finding.
    pub passed: bool,
    /// The largest difference found between numbers (`0.03`) or times (`2d`) in groups present everywhere, within or outside.
    pub largest_difference: Option<String>,
    /// Control totals per source: of numbers the exact sum over all rows, or that it `overflows 38 digits`, `None` of only
    /// NULLs; of `count`, the count.
    pub totals: Option<Vec<Option<String>>>,
}

/// What the keys of one source look like.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyReport {
    /// Rows.
    pub rows: u64,
    /// Distinct keys.
    pub distinct_keys: u64,
    /// Keys that more than one row has.
    pub duplicated_keys: u64,
    /// Rows with a NULL in the key.
    pub null_keys: u64,
    /// The key columns whose kind is not the same in every source, so that `007` and `7` may be meant for the same.
    pub type_drift: Vec<TypeDrift>,
}

/// What a key column is in one source, when it is something else in another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TypeDrift {
    /// The column.
    pub column: String,
    /// What it is by itself.
    pub kind: Kind,
}

/// One column, across the sources.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ColumnReport {
    /// The name, after renaming.
    pub name: String,
    /// What it was used for.
    pub role: Role,
    /// What it was compared as.
    pub compared_as: Option<Kind>,
    /// Its type in each source (`Int64`, `text`, `text: number`, …); `None` where it is missing.
    pub types: Vec<Option<String>>,
    /// Anything a reader should know: `compared at ms, the coarser precision`, `text in bank because of …`.
    pub notes: Vec<String>,
}

/// What a column was used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Part of the key.
    Key,
    /// Compared.
    Compared,
    /// Left out by the user, or not needed by any measure.
    Ignored,
    /// Not in every source.
    Missing,
}

/// Something wrong with a column as a whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The column.
    pub column: String,
    /// What is wrong with it, in words: `missing in bank`, `number in ledger, text in bank`.
    pub problem: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.column, self.problem)
    }
}

/// A value whose rows break far more often than others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Concentration {
    /// The column.
    pub column: String,
    /// The value; `None` is NULL.
    pub value: Option<String>,
    /// Rows with the value, over all sources.
    pub rows: u64,
    /// Those of them in a break.
    pub broken_rows: u64,
    /// All rows, over all sources.
    pub all_rows: u64,
    /// All rows in a break.
    pub all_broken_rows: u64,
}

/// What the cells of every [`Break`] are, as it was planned; known before the first break is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BreakHeader {
    /// The names of the sources.
    pub sources: Vec<String>,
    /// The names of the key columns.
    pub key: Vec<String>,
    /// Each measure's name, and how far its values may be apart.
    pub measures: Vec<(String, Tolerance)>,
}

/// One group that is not matched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Break {
    /// The key, in canonical form; `None` is NULL.
    pub key: Vec<Option<String>>,
    /// Tells breaks of one key apart: the first is 1.
    pub occurrence: u64,
    /// Which sources have it.
    pub present: Vec<bool>,
    /// Which sources have any row of its key: one that lacks the group may have fewer rows than the others.
    pub has_key: Vec<bool>,
    /// One per measure, in the order of [`Comparison::measures`].
    pub cells: Vec<Cell>,
}

impl Break {
    /// Whether every source has the group, so that a measure must be outside.
    #[must_use]
    pub fn is_outside(&self) -> bool {
        self.present.iter().all(|&present| present)
    }

    /// Where it is missing: `absent from bank` or, of rows that are left over, `fewer rows of this key in bank`.
    #[must_use]
    pub fn absence(&self, sources: &[String]) -> String {
        absence(sources, &self.present, &self.has_key)
    }
}

/// Where a group is missing, given which sources have it, and which have its key.
pub(crate) fn absence(sources: &[String], present: &[bool], has_key: &[bool]) -> String {
    let lacking = |with_key: bool| {
        let flags = present.iter().zip(has_key);
        let lacking = sources.iter().zip(flags).filter(|(_, flags)| *flags == (&false, &with_key));
        lacking.map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(", ")
    };
    let absent = Some(lacking(false)).filter(|names| !names.is_empty());
    let fewer = Some(lacking(true)).filter(|names| !names.is_empty());
    let absent = absent.map(|names| format!("absent from {names}"));
    let fewer = fewer.map(|names| format!("fewer rows of this key in {names}"));
    absent.into_iter().chain(fewer).collect::<Vec<_>>().join("; ")
}

/// One measure of a break.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cell {
    /// As found in each source; the outer `None` is a source without the group, the inner one is NULL.
    pub values: Vec<Option<Option<String>>>,
    /// Why it is outside; `None` when within, or when the group is absent somewhere.
    pub outside: Option<Outside>,
}

/// Why a measure is outside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outside {
    /// The two sources furthest apart (or one and the reference).
    pub pair: (usize, usize),
    /// Second minus first, for numbers (`-0.03`) and times (`+2d`).
    pub difference: Option<String>,
}
