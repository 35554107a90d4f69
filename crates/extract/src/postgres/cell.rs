//! The types of PostgreSQL whose binary form is decoded here, and the arrays they become.

use std::sync::Arc;

use arrow_array::types::{Date32Type, Time64MicrosecondType, TimestampMicrosecondType};
use arrow_array::{
    ArrayRef, BinaryViewArray, BooleanArray, Decimal128Array, Float32Array, Float64Array, Int16Array,
    Int32Array, Int64Array, PrimitiveArray, StringViewArray,
};
use arrow_schema::{DataType, TimeUnit};
use tokio_postgres::types::{Kind, Type};

use super::copy::Malformed;
use super::numeric::{DIGITS_MAX, Extent, Numeric};

/// The days from 1970 to 2000, where PostgreSQL's calendar starts.
const EPOCH_DAYS: i32 = 10_957;
const EPOCH_US: i64 = EPOCH_DAYS as i64 * 86_400_000_000;

/// How the values of a column are written.
#[derive(Debug, Clone, Copy)]
pub(super) enum Cell {
    Boolean,
    Int16,
    Int32,
    Int64,
    Float32,
    Float64,
    Numeric(Extent),
    Date,
    Time,
    Timestamp,
    Instant,
    Text,
    Bytes,
}

/// Why cells do not become an array.
#[derive(Debug)]
pub(super) enum Undecoded {
    /// They are not what they should be.
    Malformed,
    /// A date or time that is no moment, or too far away to be counted.
    Endless,
}

impl From<Malformed> for Undecoded {
    fn from(_: Malformed) -> Self {
        Self::Malformed
    }
}

impl Cell {
    /// How a type is decoded; the others are left to the server to write as text.
    pub(super) fn of(kind: &Type) -> Option<Self> {
        Some(match *kind {
            Type::BOOL => Self::Boolean,
            Type::INT2 => Self::Int16,
            Type::INT4 => Self::Int32,
            Type::INT8 => Self::Int64,
            Type::FLOAT4 => Self::Float32,
            Type::FLOAT8 => Self::Float64,
            Type::NUMERIC => Self::Numeric(Extent::default()),
            Type::DATE => Self::Date,
            Type::TIME => Self::Time,
            Type::TIMESTAMP => Self::Timestamp,
            Type::TIMESTAMPTZ => Self::Instant,
            // Not `char(n)`, whose blanks at the end mean nothing to PostgreSQL: it leaves them out of the text it makes of it.
            Type::TEXT | Type::VARCHAR | Type::NAME | Type::JSON => Self::Text,
            Type::BYTEA => Self::Bytes,
            _ => match kind.kind() {
                Kind::Enum(_) => Self::Text,
                Kind::Domain(base) => return Self::of(base),
                _ => return None,
            },
        })
    }

    /// The type of its arrays.
    pub(super) fn data_type(self) -> DataType {
        match self {
            Self::Boolean => DataType::Boolean,
            Self::Int16 => DataType::Int16,
            Self::Int32 => DataType::Int32,
            Self::Int64 => DataType::Int64,
            Self::Float32 => DataType::Float32,
            Self::Float64 => DataType::Float64,
            Self::Numeric(extent) => match extent.scale() {
                Some(scale) => DataType::Decimal128(DIGITS_MAX as u8, scale),
                None => DataType::Utf8View,
            },
            Self::Date => DataType::Date32,
            Self::Time => DataType::Time64(TimeUnit::Microsecond),
            Self::Timestamp => DataType::Timestamp(TimeUnit::Microsecond, None),
            Self::Instant => DataType::Timestamp(TimeUnit::Microsecond, Some("+00:00".into())),
            Self::Text => DataType::Utf8View,
            Self::Bytes => DataType::BinaryView,
        }
    }

    /// Decodes the cells of a column.
    pub(super) fn decode(self, cells: &[Option<&[u8]>]) -> Result<ArrayRef, Undecoded> {
        Ok(match self {
            Self::Boolean => Arc::new(
                each(cells, |bytes| Ok(fixed::<1>(bytes)? != [0])).collect::<Result<BooleanArray, _>>()?,
            ),
            Self::Int16 => Arc::new(numbers(cells, i16::from_be_bytes).collect::<Result<Int16Array, _>>()?),
            Self::Int32 => Arc::new(numbers(cells, i32::from_be_bytes).collect::<Result<Int32Array, _>>()?),
            Self::Int64 => Arc::new(numbers(cells, i64::from_be_bytes).collect::<Result<Int64Array, _>>()?),
            Self::Float32 => {
                Arc::new(numbers(cells, f32::from_be_bytes).collect::<Result<Float32Array, _>>()?)
            }
            Self::Float64 => {
                Arc::new(numbers(cells, f64::from_be_bytes).collect::<Result<Float64Array, _>>()?)
            }
            Self::Numeric(extent) => decode_numeric(extent, cells)?,
            Self::Date => Arc::new(
                each(cells, |bytes| {
                    moved(i32::from_be_bytes(fixed(bytes)?), i32::MIN, i32::MAX, EPOCH_DAYS, i32::checked_add)
                })
                .collect::<Result<PrimitiveArray<Date32Type>, _>>()?,
            ),
            Self::Time => Arc::new(
                numbers(cells, i64::from_be_bytes)
                    .collect::<Result<PrimitiveArray<Time64MicrosecondType>, _>>()?,
            ),
            Self::Timestamp | Self::Instant => {
                let moments = each(cells, |bytes| {
                    moved(i64::from_be_bytes(fixed(bytes)?), i64::MIN, i64::MAX, EPOCH_US, i64::checked_add)
                });
                let moments = moments.collect::<Result<PrimitiveArray<TimestampMicrosecondType>, _>>()?;
                Arc::new(moments.with_data_type(self.data_type()))
            }
            Self::Text => Arc::new(
                each(cells, |bytes| simdutf8::basic::from_utf8(bytes).map_err(|_| Undecoded::Malformed))
                    .collect::<Result<StringViewArray, _>>()?,
            ),
            Self::Bytes => Arc::new(cells.iter().copied().collect::<BinaryViewArray>()),
        })
    }
}

/// Numbers as decimals, or as text where no decimal holds them all.
fn decode_numeric(extent: Extent, cells: &[Option<&[u8]>]) -> Result<ArrayRef, Undecoded> {
    let Some(scale) = extent.scale() else {
        let numerals = each(cells, |bytes| Ok(Numeric::read(bytes)?.numeral()));
        return Ok(Arc::new(numerals.collect::<Result<StringViewArray, Undecoded>>()?));
    };
    let units = each(cells, |bytes| Ok(Numeric::read(bytes)?.units(scale)?));
    let units = units.collect::<Result<Decimal128Array, Undecoded>>()?;
    Ok(Arc::new(units.with_data_type(Cell::Numeric(extent).data_type())))
}

/// Decodes what is not NULL.
fn each<'a, T>(
    cells: &'a [Option<&'a [u8]>],
    decode: impl Fn(&'a [u8]) -> Result<T, Undecoded> + 'a,
) -> impl Iterator<Item = Result<Option<T>, Undecoded>> + 'a {
    cells.iter().map(move |cell| cell.map(&decode).transpose())
}

fn numbers<'a, T, const N: usize>(
    cells: &'a [Option<&'a [u8]>],
    of: impl Fn([u8; N]) -> T + 'a,
) -> impl Iterator<Item = Result<Option<T>, Undecoded>> + 'a {
    each(cells, move |bytes| Ok(of(fixed(bytes)?)))
}

fn fixed<const N: usize>(bytes: &[u8]) -> Result<[u8; N], Undecoded> {
    bytes.try_into().map_err(|_| Undecoded::Malformed)
}

/// A moment of our calendar; the first and the last number stand for the infinities.
fn moved<T: PartialEq + Copy>(
    moment: T,
    first: T,
    last: T,
    epoch: T,
    add: impl Fn(T, T) -> Option<T>,
) -> Result<T, Undecoded> {
    if moment == first || moment == last {
        return Err(Undecoded::Endless);
    }
    add(moment, epoch).ok_or(Undecoded::Endless)
}
