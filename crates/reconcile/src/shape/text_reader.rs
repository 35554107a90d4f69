//! What a text says where it is known what it has to be.

use std::fmt;
use std::sync::Arc;

use trueup_compare::single::{self, Format, Moment, TemporalKind, Zone};
use trueup_compare::{Number, NumeralError};

use super::numerals::Numerals;

const DAY_SECONDS: i64 = 86_400;

/// Why a text is not what it has to be; a sentence that starts with the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NotRead(pub(crate) String);

impl fmt::Display for NotRead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// How many characters of a value are shown.
const SHOWN: usize = 60;

/// A value for people, or its beginning.
pub(crate) fn shown(text: &str) -> String {
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// Reads numbers.
pub(crate) fn number(text: &str, numerals: Numerals) -> Result<Number, NotRead> {
    numerals.read(text).map_err(|error| {
        NotRead(match error {
            NumeralError::LeadingZero => {
                "has a leading zero, and is no number unless it is cast to one".into()
            }
            NumeralError::TooManyDigits => "has more than 38 digits".into(),
            NumeralError::ExponentOutOfRange => format!("has {error}"),
            NumeralError::NotNumeral => format!("is no number such as {}", numerals.example()),
        })
    })
}

/// Reads a truth value.
pub(crate) fn truth(text: &str) -> Result<bool, NotRead> {
    single::boolean(text).ok_or_else(|| NotRead("is neither true nor false".into()))
}

/// How dates and times of one column are read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct MomentReader {
    /// What they have to be.
    pub(crate) kind: TemporalKind,
    /// How they are written; otherwise with the year first and dashes.
    pub(crate) format: Option<Format>,
    /// The zone of those that carry none.
    pub(crate) zone: Option<Arc<Zone>>,
}

impl MomentReader {
    pub(crate) fn read(&self, text: &str) -> Result<Moment, NotRead> {
        let (moment, found) = self.found(text)?;
        match (self.kind, found) {
            (wanted, found) if wanted == found => Ok(moment),
            (TemporalKind::Timestamp, TemporalKind::Date) => Ok(moment),
            (TemporalKind::Date, TemporalKind::Timestamp) => {
                let is_midnight = moment.seconds.rem_euclid(DAY_SECONDS) == 0 && moment.nanos == 0;
                if is_midnight { Ok(moment) } else { Err(NotRead("is a date with a time of day".into())) }
            }
            (TemporalKind::Instant, TemporalKind::Date | TemporalKind::Timestamp) => {
                let zone = self
                    .zone
                    .as_ref()
                    .ok_or_else(|| NotRead("carries no zone; declare the `timezone` of the source".into()))?;
                Ok(zone.to_instant(moment))
            }
            (wanted, found) => Err(NotRead(format!("is {} and not {}", word(found), word(wanted)))),
        }
    }

    fn found(&self, text: &str) -> Result<(Moment, TemporalKind), NotRead> {
        let bytes = text.as_bytes();
        if let Some(format) = &self.format {
            let moment =
                format.parse(bytes).ok_or_else(|| NotRead("does not fit the declared date format".into()))?;
            return Ok((moment, format.kind()));
        }
        let found = match self.kind {
            TemporalKind::Time => single::of_clock(bytes).map(|moment| (moment, TemporalKind::Time)),
            _ => single::year_first(bytes),
        };
        found.ok_or_else(|| {
            NotRead(format!(
                "is not {} such as {}; if it is written otherwise, declare `date_formats`",
                word(self.kind),
                example(self.kind)
            ))
        })
    }
}

/// What it is called, with its article.
pub(crate) fn word(kind: TemporalKind) -> &'static str {
    match kind {
        TemporalKind::Date => "a date",
        TemporalKind::Timestamp => "a timestamp",
        TemporalKind::Instant => "an instant",
        TemporalKind::Time => "a time",
    }
}

fn example(kind: TemporalKind) -> &'static str {
    match kind {
        TemporalKind::Date => "2026-01-31",
        TemporalKind::Timestamp => "2026-01-31 18:30:00",
        TemporalKind::Instant => "2026-01-31T18:30:00Z",
        TemporalKind::Time => "18:30:00",
    }
}
