//! Why a comparison could not be made.

use crate::table::TableError;

/// Why a comparison could not be made; every message names what and where, [`Error::hint`] what to do.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A source could not be read.
    #[error("{source_name}: {error}")]
    Read {
        /// The source's name.
        source_name: String,
        /// What its table said.
        error: TableError,
    },
    /// The specification does not fit the sources.
    #[error("{what}")]
    Spec {
        /// What does not fit.
        what: String,
        /// What to do about it.
        hint: Option<String>,
    },
    /// A source lacks a key column.
    #[error("key column `{column}` is missing in {source_name}")]
    MissingKey {
        /// The source's name.
        source_name: String,
        /// The key column.
        column: String,
        /// A column of the source that may have been meant.
        near: Option<String>,
    },
    /// A tolerance or an aggregate is not for what its column is compared as.
    #[error("{what}: `{column}` is compared as {kind}")]
    Unfit {
        /// What does not fit.
        what: String,
        /// The column's name.
        column: String,
        /// What it is compared as.
        kind: &'static str,
        /// What to do about it, or why the column is text.
        hint: String,
    },
    /// A value cannot be what its column must hold.
    #[error("{source_name}: {place}: column `{column}`: `{value}` {problem}")]
    Value {
        /// The source's name.
        source_name: String,
        /// Where it is, as the table says: `bank.csv, line 17`.
        place: String,
        /// The column's name.
        column: String,
        /// The value, or its beginning.
        value: String,
        /// What is wrong with it.
        problem: ValueProblem,
    },
    /// Keys repeat though they must not.
    #[error("{source_name}: {}, for example {examples}", repeated(*count))]
    Duplicates {
        /// The source's name.
        source_name: String,
        /// How many keys.
        count: u64,
        /// Some of them.
        examples: String,
    },
    /// A sum has no exact decimal of 38 digits.
    #[error("{source_name}: {measure} of {group} needs more than 38 digits")]
    Overflow {
        /// The source's name.
        source_name: String,
        /// The key of the group: `account=A-17 ccy=EUR`.
        group: String,
        /// The measure: `sum(amount)`.
        measure: String,
    },
    /// More rows than a locator can count.
    #[error("{source_name} has more than 4,294,967,295 rows")]
    TooManyRows {
        /// The source's name.
        source_name: String,
    },
    /// A source gave other rows when it was read again.
    #[error("{source_name}: it changed while it was being read")]
    Changed {
        /// The source's name.
        source_name: String,
    },
    /// Temporary files could not be written or read.
    #[error("temporary files in {directory}: {error}")]
    Spill {
        /// Where.
        directory: String,
        /// What the system said.
        error: std::io::Error,
    },
    /// Whoever takes the breaks refused one.
    #[error("writing the breaks: {0}")]
    Breaks(TableError),
    /// Somebody asked it to stop.
    #[error("cancelled")]
    Cancelled,
}

/// What is wrong with a value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ValueProblem {
    /// Not a number of at most 38 digits.
    #[error("has more digits than can be compared")]
    TooLong,
    /// Not a number with a reasonable exponent.
    #[error("has an exponent beyond ±10,000")]
    Exponent,
    /// Not a date or time in the format that was declared.
    #[error("does not fit the declared date format")]
    DateFormat,
    /// Not a truth value, in a column declared to hold them.
    #[error("is no truth value")]
    Boolean,
    /// A date that is not the midnight of a day.
    #[error("is a date with a time of day")]
    TimeOfDay,
    /// The first of many dates, none of which shows whether the day or the month comes first.
    #[error("may be day first or month first: no value of the column is above 12")]
    DayOrMonth,
    /// Something that Arrow cannot convert or display.
    #[error("cannot be read: {0}")]
    Unreadable(Box<str>),
}

impl ValueProblem {
    /// What to do about it, where that is known.
    #[must_use]
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::TooLong => {
                Some("a number may have 38 digits; what only looks like one can be compared as text")
            }
            Self::Exponent => Some("what only looks like a number can be compared as text"),
            Self::DateFormat => Some("correct the format"),
            Self::Boolean => Some("truth values are true, false, t, f, yes, no, y, n, 1 and 0"),
            Self::TimeOfDay => Some("store it as a timestamp"),
            Self::DayOrMonth => Some("declare a date format for the column"),
            Self::Unreadable(_) => None,
        }
    }
}

fn repeated(keys: u64) -> String {
    if keys == 1 { "1 key is repeated".into() } else { format!("{keys} keys are repeated") }
}

impl Error {
    /// What to do about it, where that is known.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Spec { hint, .. } => hint.clone(),
            Self::MissingKey { near: Some(near), column, .. } => {
                Some(format!("it has `{near}`; rename it to `{column}`"))
            }
            Self::MissingKey { .. } => Some("rename a column, or choose another key".into()),
            Self::Unfit { hint, .. } => Some(hint.clone()),
            Self::Value { problem, .. } => problem.hint().map(str::to_owned),
            Self::Duplicates { .. } => Some(
                "allow them with `multiset`, or aggregate them with a measure such as sum(amount)".into(),
            ),
            Self::Spill { error, .. } if error.kind() == std::io::ErrorKind::StorageFull => {
                Some("free some space there, choose another folder, or allow more memory".into())
            }
            Self::Changed { .. } => Some("compare a copy that nothing writes to".into()),
            Self::TooManyRows { .. } => Some("compare it in pieces".into()),
            _ => None,
        }
    }

    pub(crate) fn spec(what: impl Into<String>) -> Self {
        Self::Spec { what: what.into(), hint: None }
    }

    pub(crate) fn spec_hint(what: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::Spec { what: what.into(), hint: Some(hint.into()) }
    }
}
