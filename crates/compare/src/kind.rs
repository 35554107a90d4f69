//! What a column is compared as, decided across all sources.

use arrow_schema::{DataType, TimeUnit};

/// What a column is compared as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Nothing but NULL.
    Null,
    /// Numbers of any type, compared as decimals.
    Number,
    /// Truth values.
    Boolean,
    /// Days.
    Date,
    /// Wall-clock times.
    Timestamp,
    /// Points in time.
    Instant,
    /// Times of day.
    Time,
    /// Text.
    Text,
    /// Bytes that are no text.
    Binary,
}

impl Kind {
    /// Its name in every report.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Number => "number",
            Self::Boolean => "boolean",
            Self::Date => "date",
            Self::Timestamp => "timestamp",
            Self::Instant => "instant",
            Self::Time => "time",
            Self::Text => "text",
            Self::Binary => "binary",
        }
    }

    pub(crate) const fn is_temporal(self) -> bool {
        matches!(self, Self::Date | Self::Timestamp | Self::Instant | Self::Time)
    }
}

/// What a column's Arrow type amounts to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Physical {
    Null,
    Boolean,
    Integer,
    Decimal {
        scale: i8,
    },
    Float,
    Date,
    Timestamp {
        digits: u32,
        zoned: bool,
    },
    Time {
        digits: u32,
    },
    Text,
    Binary,
    /// Lists, structs, intervals: compared as text in canonical form.
    Other,
}

impl Physical {
    pub(crate) fn of(data_type: &DataType) -> Self {
        match data_type {
            DataType::Null => Self::Null,
            DataType::Boolean => Self::Boolean,
            DataType::Decimal32(_, scale)
            | DataType::Decimal64(_, scale)
            | DataType::Decimal128(_, scale)
            | DataType::Decimal256(_, scale) => Self::Decimal { scale: *scale },
            DataType::Float16 | DataType::Float32 | DataType::Float64 => Self::Float,
            integer if integer.is_integer() => Self::Integer,
            DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => Self::Text,
            DataType::Binary
            | DataType::LargeBinary
            | DataType::BinaryView
            | DataType::FixedSizeBinary(_) => Self::Binary,
            DataType::Date32 | DataType::Date64 => Self::Date,
            DataType::Timestamp(unit, zone) => {
                Self::Timestamp { digits: digits(*unit), zoned: zone.is_some() }
            }
            DataType::Time32(unit) | DataType::Time64(unit) => Self::Time { digits: digits(*unit) },
            DataType::Dictionary(_, values) => Self::of(values),
            DataType::RunEndEncoded(_, values) => Self::of(values.data_type()),
            _ => Self::Other,
        }
    }

    /// The kind it is by itself.
    pub(crate) const fn kind(self) -> Kind {
        match self {
            Self::Null => Kind::Null,
            Self::Boolean => Kind::Boolean,
            Self::Integer | Self::Decimal { .. } | Self::Float => Kind::Number,
            Self::Date => Kind::Date,
            Self::Timestamp { zoned: false, .. } => Kind::Timestamp,
            Self::Timestamp { zoned: true, .. } => Kind::Instant,
            Self::Time { .. } => Kind::Time,
            Self::Text | Self::Other => Kind::Text,
            Self::Binary => Kind::Binary,
        }
    }

    /// Decimal digits of a second that values can tell apart; `None` where there is no such thing.
    pub(crate) const fn second_digits(self) -> Option<u32> {
        match self {
            Self::Timestamp { digits, .. } | Self::Time { digits } => Some(digits),
            Self::Text => Some(9),
            _ => None,
        }
    }
}

pub(crate) const fn digits(unit: TimeUnit) -> u32 {
    match unit {
        TimeUnit::Second => 0,
        TimeUnit::Millisecond => 3,
        TimeUnit::Microsecond => 6,
        TimeUnit::Nanosecond => 9,
    }
}

/// What one source says its column is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Offer {
    pub(crate) physical: Physical,
    /// With text read as what it all can be read as, and zones declared.
    pub(crate) kind: Kind,
    /// Whether the source has a zone for times that carry none.
    pub(crate) has_zone: bool,
}

/// Whether the sources agree on what a column is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Agreement {
    Full,
    /// All are text, which in some sources could be read as something else.
    Drift,
    Conflict,
}

/// The one kind for all sources, and whether they agree on it.
pub(crate) fn agree(offers: &[Offer]) -> (Kind, Agreement) {
    if let Some(kind) = shared(offers, &[Kind::Null]) {
        return (kind, Agreement::Full);
    }
    let all_text = offers.iter().all(|offer| matches!(offer.physical, Physical::Text | Physical::Null));
    let drifts = all_text && shared(offers, &[Kind::Null, Kind::Text]).is_some();
    (Kind::Text, if drifts { Agreement::Drift } else { Agreement::Conflict })
}

/// The kind that all sources but those of the kinds left out can be read as.
fn shared(offers: &[Offer], left_out: &[Kind]) -> Option<Kind> {
    let kinds: Vec<Kind> =
        offers.iter().map(|offer| offer.kind).filter(|kind| !left_out.contains(kind)).collect();
    let all = |allowed: &[Kind]| kinds.iter().all(|kind| allowed.contains(kind));
    let dates_have_zones = offers.iter().all(|offer| offer.kind != Kind::Date || offer.has_zone);
    match kinds.first() {
        None => Some(Kind::Null),
        Some(&first) if all(&[first]) => Some(first),
        Some(_) if all(&[Kind::Date, Kind::Timestamp]) => Some(Kind::Timestamp),
        Some(_) if all(&[Kind::Date, Kind::Instant]) && dates_have_zones => Some(Kind::Instant),
        Some(_) => None,
    }
}
