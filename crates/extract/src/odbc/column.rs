//! The types that drivers tell of, and the arrays they become.

use std::sync::Arc;

use arrow_array::ArrayRef;
use arrow_array::builder::{
    BinaryViewBuilder, BooleanBuilder, Date32Builder, Decimal128Builder, Float32Builder, Float64Builder,
    Int64Builder, StringViewBuilder, Time64NanosecondBuilder, TimestampMicrosecondBuilder,
    TimestampNanosecondBuilder, UInt64Builder,
};
use arrow_schema::{DataType, Field, TimeUnit};
use chrono::{NaiveDate, NaiveDateTime, NaiveTime, Timelike};
use odbc_api::buffers::Indicator;
use odbc_api::parameter::{Binary, VarCell, VarKind, WideText};
use odbc_api::sys::{Date, SqlDataType, Timestamp};
use odbc_api::{Bit, ColumnDescription, CursorRow, DataType as Kind, Nullable, Pod, ResultSetMetadata};

use crate::decimal::{DIGITS_MAX, units};

/// How much of a value is fetched at once, and how long it may be.
const CHUNK: usize = 4096;
const LONGEST_BYTES: usize = 64 << 20;
/// How many are a second.
const NANOSECONDS: u32 = 1_000_000_000;
/// Its `time`, which has a number that ODBC does not know.
const TIME_OF_SQL_SERVER: SqlDataType = SqlDataType(-154);
/// The day that dates are counted from.
const EPOCH: NaiveDate = NaiveDate::from_ymd_opt(1970, 1, 1).expect("it is a date");

/// Why a value cannot be added to its column.
#[derive(Debug, thiserror::Error)]
pub(super) enum Unread {
    /// The driver does not give it.
    #[error(transparent)]
    Driver(#[from] odbc_api::Error),
    /// It has more digits than it should.
    #[error(
        "is {0}, which is no decimal with {1} digits behind the point, as the driver says; cast it in the query"
    )]
    Digits(String, i8),
    /// It is no moment, or none that can be counted.
    #[error("is {0}, which is out of range, or no date or time; cast it to text in the query")]
    NoMoment(String),
    /// It is no text, though it should be.
    #[error("is not Unicode; cast it in the query")]
    Unicode,
    /// It does not end within reason.
    #[error("is longer than {} MiB; leave it out, or take a part of it in the query", LONGEST_BYTES >> 20)]
    TooLong,
}

/// What is used again for each value.
pub(super) struct Buffers {
    wide_chunk: Vec<u16>,
    wide: Vec<u16>,
    text: String,
    chunk: Vec<u8>,
    bytes: Vec<u8>,
}

impl Default for Buffers {
    fn default() -> Self {
        Self {
            wide_chunk: vec![0; CHUNK],
            wide: Vec::new(),
            text: String::new(),
            chunk: vec![0; CHUNK],
            bytes: Vec::new(),
        }
    }
}

impl Buffers {
    /// Text, whatever the driver has it as.
    fn text(&mut self, form: Form, row: &mut CursorRow<'_>, number: u16) -> Result<Option<&str>, Unread> {
        if !whole::<WideText>(row, number, &mut self.wide_chunk, &mut self.wide)? {
            return Ok(None);
        }
        self.text.clear();
        for letter in char::decode_utf16(self.wide.iter().copied()) {
            self.text.push(letter.map_err(|_| Unread::Unicode)?);
        }
        match form {
            Form::Plain => {}
            Form::Padded => self.text.truncate(self.text.trim_end_matches(' ').len()),
            Form::Uuid => self.text.make_ascii_lowercase(),
        }
        Ok(Some(&self.text))
    }

    fn bytes(&mut self, row: &mut CursorRow<'_>, number: u16) -> Result<Option<&[u8]>, Unread> {
        let is_there = whole::<Binary>(row, number, &mut self.chunk, &mut self.bytes)?;
        Ok(is_there.then_some(&self.bytes))
    }
}

/// Fetches a value chunk by chunk, so that none is cut off, unless it is NULL.
fn whole<K: VarKind>(
    row: &mut CursorRow<'_>,
    number: u16,
    chunk: &mut [K::Element],
    value: &mut Vec<K::Element>,
) -> Result<bool, Unread> {
    value.clear();
    loop {
        let mut cell = VarCell::<&mut [K::Element], K>::from_buffer(&mut *chunk, Indicator::NoTotal);
        row.get_data(number, &mut cell)?;
        let Some(part) = cell.as_slice() else { return Ok(false) };
        value.extend_from_slice(part);
        if cell.is_complete() {
            return Ok(true);
        }
        if size_of_val(value.as_slice()) > LONGEST_BYTES {
            return Err(Unread::TooLong);
        }
    }
}

fn fixed<T: Pod>(row: &mut CursorRow<'_>, number: u16) -> Result<Option<T>, Unread> {
    let mut value = Nullable::<T>::null();
    row.get_data(number, &mut value)?;
    Ok(value.into_opt())
}

/// How text is written.
#[derive(Debug, Clone, Copy)]
pub(super) enum Form {
    Plain,
    /// With blanks at its end that mean nothing.
    Padded,
    /// A UUID, of which some drivers have the letters large.
    Uuid,
}

/// The values of a part.
pub(super) enum Column {
    Signed(Int64Builder),
    Unsigned(UInt64Builder),
    Float(Float32Builder),
    Double(Float64Builder),
    Decimal(i8, Decimal128Builder),
    Truth(BooleanBuilder),
    Date(Date32Builder),
    Time(Time64NanosecondBuilder),
    Moment(TimestampMicrosecondBuilder),
    FineMoment(TimestampNanosecondBuilder),
    Text(Form, StringViewBuilder),
    Bytes(BinaryViewBuilder),
}

impl Column {
    /// The columns of a result by their names.
    pub(super) fn all(described: &mut impl ResultSetMetadata) -> Result<Vec<(Field, Self)>, odbc_api::Error> {
        let count = u16::try_from(described.num_result_cols()?).unwrap_or(0);
        let column = |number| {
            let mut description = ColumnDescription::default();
            described.describe_col(number, &mut description)?;
            let name = String::from_utf16_lossy(&description.name);
            let kind = description.data_type;
            let is_unsigned = kind == Kind::BigInt && described.column_is_unsigned(number)?;
            let column = if is_unsigned { Self::Unsigned(UInt64Builder::new()) } else { Self::of(kind) };
            Ok((Field::new(name, column.data_type(), true), column))
        };
        (1..=count).map(column).collect()
    }

    fn of(kind: Kind) -> Self {
        match kind {
            Kind::TinyInt | Kind::SmallInt | Kind::Integer | Kind::BigInt => {
                Self::Signed(Int64Builder::new())
            }
            Kind::Real => Self::Float(Float32Builder::new()),
            Kind::Float { .. } | Kind::Double => Self::Double(Float64Builder::new()),
            Kind::Numeric { precision, scale } | Kind::Decimal { precision, scale } => {
                Self::decimal(precision, scale)
            }
            Kind::Bit => Self::Truth(BooleanBuilder::new()),
            Kind::Date => Self::Date(Date32Builder::new()),
            Kind::Time { .. } | Kind::Other { data_type: TIME_OF_SQL_SERVER, .. } => {
                Self::Time(Time64NanosecondBuilder::new())
            }
            Kind::Timestamp { precision: 7.. } => Self::FineMoment(TimestampNanosecondBuilder::new()),
            Kind::Timestamp { .. } => Self::Moment(TimestampMicrosecondBuilder::new()),
            Kind::Binary { .. } | Kind::Varbinary { .. } | Kind::LongVarbinary { .. } => {
                Self::Bytes(BinaryViewBuilder::new())
            }
            Kind::Char { .. } | Kind::WChar { .. } => Self::Text(Form::Padded, StringViewBuilder::new()),
            Kind::Other { data_type: SqlDataType::EXT_GUID, .. } => {
                Self::Text(Form::Uuid, StringViewBuilder::new())
            }
            _ => Self::Text(Form::Plain, StringViewBuilder::new()),
        }
    }

    /// Decimals, or numerals where some may be longer than they hold.
    fn decimal(precision: usize, scale: i16) -> Self {
        match i8::try_from(scale) {
            Ok(scale @ 0..) if precision.max(scale.unsigned_abs().into()) <= DIGITS_MAX.into() => {
                let values = Decimal128Builder::new().with_data_type(DataType::Decimal128(DIGITS_MAX, scale));
                Self::Decimal(scale, values)
            }
            _ => Self::Text(Form::Plain, StringViewBuilder::new()),
        }
    }

    fn data_type(&self) -> DataType {
        match self {
            Self::Signed(_) => DataType::Int64,
            Self::Unsigned(_) => DataType::UInt64,
            Self::Float(_) => DataType::Float32,
            Self::Double(_) => DataType::Float64,
            Self::Decimal(scale, _) => DataType::Decimal128(DIGITS_MAX, *scale),
            Self::Truth(_) => DataType::Boolean,
            Self::Date(_) => DataType::Date32,
            Self::Time(_) => DataType::Time64(TimeUnit::Nanosecond),
            Self::Moment(_) => DataType::Timestamp(TimeUnit::Microsecond, None),
            Self::FineMoment(_) => DataType::Timestamp(TimeUnit::Nanosecond, None),
            Self::Text(..) => DataType::Utf8View,
            Self::Bytes(_) => DataType::BinaryView,
        }
    }

    /// Takes a value off a row, and says about how many bytes it has.
    pub(super) fn push(
        &mut self,
        row: &mut CursorRow<'_>,
        number: u16,
        buffers: &mut Buffers,
    ) -> Result<usize, Unread> {
        match self {
            Self::Signed(values) => values.append_option(fixed(row, number)?),
            Self::Unsigned(values) => values.append_option(fixed(row, number)?),
            Self::Float(values) => values.append_option(fixed(row, number)?),
            Self::Double(values) => values.append_option(fixed(row, number)?),
            Self::Decimal(scale, values) => {
                let numeral = buffers.text(Form::Plain, row, number)?;
                values.append_option(numeral.map(|numeral| decimal(numeral, *scale)).transpose()?);
            }
            Self::Truth(values) => {
                values.append_option(fixed::<Bit>(row, number)?.map(|bit| bit.0 != 0));
            }
            Self::Date(values) => values.append_option(fixed(row, number)?.map(days).transpose()?),
            // As text, for the time that ODBC has numbers for has no fractions of seconds.
            Self::Time(values) => {
                values.append_option(buffers.text(Form::Plain, row, number)?.map(time_of_day).transpose()?);
            }
            Self::Moment(values) => {
                values.append_option(fixed(row, number)?.map(microseconds).transpose()?);
            }
            Self::FineMoment(values) => {
                values.append_option(fixed(row, number)?.map(nanoseconds).transpose()?);
            }
            Self::Text(form, values) => {
                let text = buffers.text(*form, row, number)?;
                values.append_option(text);
                return Ok(text.map_or(0, str::len));
            }
            Self::Bytes(values) => {
                let bytes = buffers.bytes(row, number)?;
                values.append_option(bytes);
                return Ok(bytes.map_or(0, <[u8]>::len));
            }
        }
        Ok(size_of::<i64>())
    }

    /// The values so far.
    pub(super) fn finish(&mut self) -> ArrayRef {
        match self {
            Self::Signed(values) => Arc::new(values.finish()),
            Self::Unsigned(values) => Arc::new(values.finish()),
            Self::Float(values) => Arc::new(values.finish()),
            Self::Double(values) => Arc::new(values.finish()),
            Self::Decimal(_, values) => Arc::new(values.finish()),
            Self::Truth(values) => Arc::new(values.finish()),
            Self::Date(values) => Arc::new(values.finish()),
            Self::Time(values) => Arc::new(values.finish()),
            Self::Moment(values) => Arc::new(values.finish()),
            Self::FineMoment(values) => Arc::new(values.finish()),
            Self::Text(_, values) => Arc::new(values.finish()),
            Self::Bytes(values) => Arc::new(values.finish()),
        }
    }
}

fn decimal(numeral: &str, scale: i8) -> Result<i128, Unread> {
    // Zeros that a driver adds at the end are no digits that would be lost.
    let shortest = if numeral.contains('.') { numeral.trim_end_matches('0') } else { numeral };
    units(shortest.as_bytes(), scale).ok_or_else(|| Unread::Digits(numeral.to_owned(), scale))
}

fn days(date: Date) -> Result<i32, Unread> {
    let Date { year, month, day } = date;
    let found = NaiveDate::from_ymd_opt(year.into(), month.into(), day.into());
    let days = found.and_then(|date| i32::try_from(date.signed_duration_since(EPOCH).num_days()).ok());
    days.ok_or_else(|| Unread::NoMoment(format!("{year:04}-{month:02}-{day:02}")))
}

fn time_of_day(text: &str) -> Result<i64, Unread> {
    match NaiveTime::parse_from_str(text, "%H:%M:%S%.f") {
        // What is beyond a second is how a leap second is written.
        Ok(time) if time.nanosecond() < NANOSECONDS => {
            let seconds = i64::from(time.num_seconds_from_midnight());
            Ok(seconds * i64::from(NANOSECONDS) + i64::from(time.nanosecond()))
        }
        _ => Err(Unread::NoMoment(text.to_owned())),
    }
}

fn microseconds(moment: Timestamp) -> Result<i64, Unread> {
    let found = date_time(&moment).filter(|_| moment.fraction.is_multiple_of(1000));
    found.map(|found| found.and_utc().timestamp_micros()).ok_or_else(|| no_moment(&moment))
}

fn nanoseconds(moment: Timestamp) -> Result<i64, Unread> {
    let found = date_time(&moment).and_then(|found| found.and_utc().timestamp_nanos_opt());
    found.ok_or_else(|| no_moment(&moment))
}

fn date_time(moment: &Timestamp) -> Option<NaiveDateTime> {
    let &Timestamp { year, month, day, hour, minute, second, fraction } = moment;
    let date = NaiveDate::from_ymd_opt(year.into(), month.into(), day.into())?;
    date.and_hms_nano_opt(hour.into(), minute.into(), second.into(), fraction)
}

fn no_moment(moment: &Timestamp) -> Unread {
    let &Timestamp { year, month, day, hour, minute, second, fraction } = moment;
    Unread::NoMoment(format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}.{fraction:09}"))
}
