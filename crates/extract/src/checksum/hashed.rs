//! What two databases have to say of a query, so that each hashes its rows as the other does.

use std::collections::BTreeMap;

use arrow_schema::DataType;

use super::cut::{Cut, Segment};
use crate::error::Error;
use crate::table::Table;

/// Of what numbers, truth values, dates and times are written: text with any other character is nothing but text.
pub(crate) const TYPED_CHARACTERS: &str = "-+./: 0123456789AaEeFfIiLlMmNnPpRrSsTtUuYyZz";

/// A query whose rows are hashed where they are, all at one moment of the database.
pub(crate) trait Hashed: Send {
    fn columns(&self) -> &[HashedColumn];

    /// What columns of text hold.
    fn values(&mut self, columns: &[usize]) -> Result<Vec<Values>, Error>;

    /// How many rows there are, or about as many.
    fn rows_expected(&mut self) -> Result<u64, Error>;

    /// Cuts a share of the rows, drawn by lot, into ranges of the same size.
    fn bounds(&mut self, wanted: &[Wanted], share: f64) -> Result<Vec<Bounds>, Error>;

    /// The hash of every segment that has rows, or of some.
    fn hashes(
        &mut self,
        cut: &Cut,
        side: usize,
        fields: &[Hashing],
        only: Option<&[Segment]>,
    ) -> Result<Hashes, Error>;

    /// All rows of some segments, in columns of the types that they have with all others.
    fn read(&mut self, cut: &Cut, side: usize, only: &[Segment]) -> Result<Table, Error>;

    /// All rows.
    fn read_all(&mut self) -> Result<Table, Error>;
}

/// A column of such a query.
pub(crate) struct HashedColumn {
    pub(crate) name: String,
    /// The type it is read as.
    pub(crate) data_type: DataType,
    /// How its values are ordered, if that is the same in every database.
    pub(crate) order: Option<Order>,
    /// How its digits are written, of exact numbers.
    pub(crate) digits: Option<Digits>,
}

impl HashedColumn {
    pub(crate) fn is_number(&self) -> bool {
        self.data_type.is_numeric()
    }

    /// Whether a comparison takes both for the same kind.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        self.data_type == other.data_type || (self.is_number() && other.is_number())
    }
}

/// How the values of a column are ordered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    Integer,
    Decimal,
    Date,
    Timestamp,
    Instant,
    Uuid,
    /// By its bytes in UTF-8.
    Text,
}

impl Order {
    /// The order of a type.
    pub(crate) fn of(data_type: &DataType) -> Option<Self> {
        Some(match data_type {
            integer if integer.is_integer() => Self::Integer,
            DataType::Decimal128(..) => Self::Decimal,
            DataType::Date32 => Self::Date,
            DataType::Timestamp(_, None) => Self::Timestamp,
            DataType::Timestamp(_, Some(_)) => Self::Instant,
            DataType::Utf8View => Self::Text,
            _ => return None,
        })
    }

    /// The order in which columns of these two both can be.
    pub(crate) fn shared(self, other: Self) -> Option<Self> {
        match (self, other) {
            _ if self == other => Some(self),
            (Self::Integer, Self::Decimal) | (Self::Decimal, Self::Integer) => Some(Self::Decimal),
            (Self::Uuid, Self::Text) | (Self::Text, Self::Uuid) => Some(Self::Text),
            _ => None,
        }
    }

    /// Whether a server walks along the bounds for each row, since they are not all of one width.
    pub(crate) fn is_uneven(self) -> bool {
        matches!(self, Self::Decimal | Self::Text)
    }

    /// Whether every database takes a value for a bound.
    pub(crate) fn takes(self, bound: &str) -> bool {
        match self {
            Self::Integer => bound.parse::<i64>().is_ok(),
            Self::Decimal => bound.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'.' | b'-')),
            // Years of four digits, after the birth of Christ.
            Self::Date | Self::Timestamp | Self::Instant => {
                let is_plain =
                    bound.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'-' | b' ' | b':' | b'.'));
                is_plain && bound.as_bytes().get(4) == Some(&b'-') && !bound.starts_with("0000")
            }
            Self::Uuid => true,
            Self::Text => !bound.contains('\0'),
        }
    }
}

/// How the digits of exact numbers are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Digits {
    /// As integers.
    Whole,
    /// With so many behind the point.
    Scaled(i32),
    /// With as many as each value was given.
    Free,
}

/// What a column of text holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Values {
    /// A value that can be nothing but text.
    Text,
    /// Values that may all be numbers, truth values, dates or times.
    Typed,
    /// Only NULL.
    None,
}

impl Values {
    /// From whether there is a value that is only text, and whether there is any.
    pub(crate) fn of(has_text: bool, has_any: bool) -> Self {
        match (has_text, has_any) {
            (true, _) => Self::Text,
            (false, true) => Self::Typed,
            (false, false) => Self::None,
        }
    }
}

/// A column that is to be cut into so many segments.
pub(crate) struct Wanted {
    pub(crate) column: usize,
    pub(crate) order: Order,
    pub(crate) segments: usize,
}

/// Where the segments of a column end.
pub(crate) struct Bounds {
    /// Values in ascending order, as they are written for the other database.
    pub(crate) values: Vec<String>,
    /// How many different values were seen.
    pub(crate) distinct: usize,
}

/// What of a row is hashed of a column, and whether it is added up.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Hashing {
    pub(crate) column: usize,
    pub(crate) written: Written,
    pub(crate) is_summed: bool,
}

/// How the values of a column are written to be hashed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Written {
    /// As they are.
    Plain,
    /// Without zeros at the end, because numbers of the other table may have others.
    Trimmed,
    /// As truth values, whether they are some or the numbers 0 and 1.
    Truth,
}

/// What is known of a segment.
#[derive(Debug, Clone)]
pub(crate) struct Hash {
    pub(crate) rows: u64,
    /// The exact sum of the hashes of its rows.
    pub(crate) sum: String,
    /// The sums of the columns that are added up, of what is not NULL.
    pub(crate) totals: Vec<Option<String>>,
}

impl Hash {
    /// Takes what a database answers apart: the number of the segment, its rows, its hash, so many totals, and what else was asked.
    pub(crate) fn split(row: &[Option<String>], totals: usize) -> Option<(Segment, Self, &[Option<String>])> {
        let [Some(segment), Some(rows), Some(sum), rest @ ..] = row else { return None };
        let (totals, rest) = rest.split_at_checked(totals)?;
        let hash = Self { rows: rows.parse().ok()?, sum: sum.clone(), totals: totals.to_vec() };
        Some((segment.parse().ok()?, hash, rest))
    }

    /// Whether both are of the same rows.
    pub(crate) fn agrees_with(&self, other: &Self) -> bool {
        self.rows == other.rows && self.sum == other.sum
    }
}

pub(crate) type Hashes = BTreeMap<Segment, Hash>;
