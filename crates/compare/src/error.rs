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
    /// A value cannot be what its column must hold.
    #[error("{source_name}: column `{column}`: {what}")]
    Value {
        /// The source's name.
        source_name: String,
        /// The column's name.
        column: String,
        /// The value and what is wrong with it.
        what: String,
        /// What to do about it.
        hint: Option<String>,
    },
    /// Keys repeat though they must not.
    #[error("{source_name}: {count} keys are repeated, for example {examples}")]
    Duplicates {
        /// The source's name.
        source_name: String,
        /// How many keys.
        count: u64,
        /// Some of them.
        examples: String,
    },
    /// A sum has no exact decimal of 38 digits.
    #[error("the sum of `{column}` needs more than 38 digits")]
    Overflow {
        /// The column.
        column: String,
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

impl Error {
    /// What to do about it, where that is known.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Spec { hint, .. } | Self::Value { hint, .. } => hint.clone(),
            Self::Duplicates { .. } => Some(
                "allow them with `multiset`, or aggregate them with a measure such as sum(amount)".into(),
            ),
            Self::Spill { error, .. } if error.kind() == std::io::ErrorKind::StorageFull => {
                Some("free some space there, point TMPDIR elsewhere, or raise --memory".into())
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
