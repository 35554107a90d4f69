//! The types of MySQL as they come in rows, and the arrays they become.

use std::sync::Arc;

use arrow_array::builder::{
    BinaryViewBuilder, Date32Builder, Decimal128Builder, Float32Builder, Float64Builder, Int64Builder,
    StringViewBuilder, Time64MicrosecondBuilder, TimestampMicrosecondBuilder, UInt64Builder,
};
use arrow_array::{ArrayRef, new_null_array};
use arrow_schema::{DataType, Field, TimeUnit};
use trueup_connect::mysql::{Error, Packet};

use super::calendar::{self, NoMoment};
use super::definition::Definition;
use crate::decimal::{DIGITS_MAX, units};
use crate::keep::Filled;

/// The character set of what is no text.
const BINARY: u16 = 63;

/// Why a value cannot be added to its column.
#[derive(Debug, thiserror::Error)]
pub(super) enum Unread {
    /// It is not what it should be.
    #[error(transparent)]
    Malformed(#[from] Error),
    /// It is no date, or no time of a day.
    #[error(transparent)]
    NoMoment(#[from] NoMoment),
    /// It is no text, though it should be.
    #[error("is not UTF-8")]
    Utf8,
}

/// The values of a part, and how they are written; numbers by how many bytes they have.
pub(super) enum Column {
    Null(usize),
    Signed(usize, Int64Builder),
    Unsigned(usize, UInt64Builder),
    Bits(UInt64Builder),
    Float(Float32Builder),
    Double(Float64Builder),
    Decimal(i8, Decimal128Builder),
    Date(Date32Builder),
    Time(Time64MicrosecondBuilder),
    Moment(DataType, TimestampMicrosecondBuilder),
    Text(StringViewBuilder),
    Bytes(BinaryViewBuilder),
}

impl Column {
    /// How a column is read; the numbers are those of the protocol.
    pub(super) fn of(definition: &Definition) -> Result<Self, String> {
        let Definition { name, kind, charset, .. } = definition;
        let integer = |bytes| {
            if definition.is_unsigned() {
                Self::Unsigned(bytes, UInt64Builder::new())
            } else {
                Self::Signed(bytes, Int64Builder::new())
            }
        };
        Ok(match kind {
            6 => Self::Null(0),
            1 => integer(1),
            2 | 13 => integer(2),
            3 | 9 => integer(4),
            8 => integer(8),
            16 => Self::Bits(UInt64Builder::new()),
            4 => Self::Float(Float32Builder::new()),
            5 => Self::Double(Float64Builder::new()),
            0 | 246 => Self::decimal(definition),
            10 | 14 => Self::Date(Date32Builder::new()),
            11 => Self::Time(Time64MicrosecondBuilder::new()),
            7 => Self::moment(Some("+00:00".into())),
            12 => Self::moment(None),
            15 | 249..=254 if *charset == BINARY => Self::Bytes(BinaryViewBuilder::new()),
            // JSON is 245, and text whatever it says of its characters.
            15 | 245 | 247..=254 => Self::Text(StringViewBuilder::new()),
            255 => {
                return Err(format!(
                    "{name} is a geometry; write `st_astext({name}) as {name}` in the query"
                ));
            }
            other => return Err(format!("{name} is of a type that is not read, number {other}")),
        })
    }

    /// Decimals, or numerals where some may be longer than they hold.
    fn decimal(definition: &Definition) -> Self {
        match i8::try_from(definition.decimals) {
            Ok(scale) if definition.digits() <= u32::from(DIGITS_MAX) => {
                let values = Decimal128Builder::new().with_data_type(DataType::Decimal128(DIGITS_MAX, scale));
                Self::Decimal(scale, values)
            }
            _ => Self::Text(StringViewBuilder::new()),
        }
    }

    fn moment(zone: Option<Arc<str>>) -> Self {
        let kind = DataType::Timestamp(TimeUnit::Microsecond, zone);
        Self::Moment(kind.clone(), TimestampMicrosecondBuilder::new().with_data_type(kind))
    }

    /// The column by its name.
    pub(super) fn field(&self, name: &str) -> Field {
        let kind = match self {
            Self::Null(_) => DataType::Null,
            Self::Signed(..) => DataType::Int64,
            Self::Unsigned(..) | Self::Bits(_) => DataType::UInt64,
            Self::Float(_) => DataType::Float32,
            Self::Double(_) => DataType::Float64,
            Self::Decimal(scale, _) => DataType::Decimal128(DIGITS_MAX, *scale),
            Self::Date(_) => DataType::Date32,
            Self::Time(_) => DataType::Time64(TimeUnit::Microsecond),
            Self::Moment(kind, _) => kind.clone(),
            Self::Text(_) => DataType::Utf8View,
            Self::Bytes(_) => DataType::BinaryView,
        };
        Field::new(name, kind, true)
    }

    /// Takes the next value off a row, unless it is NULL.
    pub(super) fn push(&mut self, row: Option<&mut Packet<'_>>) -> Result<(), Unread> {
        match self {
            Self::Null(count) => *count += 1,
            Self::Signed(bytes, values) => {
                values.append_option(row.map(|row| signed(row.take(*bytes)?)).transpose()?);
            }
            Self::Unsigned(bytes, values) => {
                values.append_option(row.map(|row| row.take(*bytes).map(unsigned)).transpose()?);
            }
            Self::Bits(values) => {
                let number = |bytes: &[u8]| bytes.iter().fold(0, |bits, byte| bits << 8 | u64::from(*byte));
                values.append_option(row.map(|row| row.text().map(number)).transpose()?);
            }
            Self::Float(values) => {
                values.append_option(row.map(|row| row.fixed().map(f32::from_le_bytes)).transpose()?);
            }
            Self::Double(values) => {
                values.append_option(row.map(|row| row.fixed().map(f64::from_le_bytes)).transpose()?);
            }
            Self::Decimal(scale, values) => {
                let units = |row: &mut Packet<'_>| units(row.text()?, *scale).ok_or(Error::Malformed);
                values.append_option(row.map(units).transpose()?);
            }
            Self::Date(values) => values.append_option(row.map(calendar::date).transpose()?),
            Self::Time(values) => values.append_option(row.map(calendar::time).transpose()?),
            Self::Moment(_, values) => values.append_option(row.map(calendar::moment).transpose()?),
            Self::Text(values) => values.append_option(row.map(text).transpose()?),
            Self::Bytes(values) => values.append_option(row.map(Packet::text).transpose()?),
        }
        Ok(())
    }
}

impl Filled for Column {
    fn finish(&mut self) -> ArrayRef {
        match self {
            Self::Null(count) => new_null_array(&DataType::Null, std::mem::take(count)),
            Self::Signed(_, values) => Arc::new(values.finish()),
            Self::Unsigned(_, values) | Self::Bits(values) => Arc::new(values.finish()),
            Self::Float(values) => Arc::new(values.finish()),
            Self::Double(values) => Arc::new(values.finish()),
            Self::Decimal(_, values) => Arc::new(values.finish()),
            Self::Date(values) => Arc::new(values.finish()),
            Self::Time(values) => Arc::new(values.finish()),
            Self::Moment(_, values) => Arc::new(values.finish()),
            Self::Text(values) => Arc::new(values.finish()),
            Self::Bytes(values) => Arc::new(values.finish()),
        }
    }
}

fn unsigned(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

fn signed(bytes: &[u8]) -> Result<i64, Error> {
    // The sign is the first bit of the last byte, and goes on to the left of it.
    let unused = u32::try_from(64 - 8 * bytes.len()).map_err(|_| Error::Malformed)?;
    Ok((unsigned(bytes) << unused).cast_signed() >> unused)
}

fn text<'a>(row: &mut Packet<'a>) -> Result<&'a str, Unread> {
    simdutf8::basic::from_utf8(row.text()?).map_err(|_| Unread::Utf8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_their_sign() {
        let table: [(&[u8], i64); 4] =
            [(&[0xff], -1), (&[0x7f], 127), (&[0, 0x80], -32768), (&[0xff; 8], -1)];
        for (bytes, expected) in table {
            assert_eq!(signed(bytes).unwrap(), expected, "{bytes:?}");
        }
    }
}
