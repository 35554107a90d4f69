//! Dates and times, typed or as text, in seconds since 1970 or since midnight.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Date32Type, Time64NanosecondType, TimestampMicrosecondType, TimestampMillisecondType,
    TimestampNanosecondType, TimestampSecondType,
};
use arrow_array::{Array, ArrayRef};
use arrow_buffer::ScalarBuffer;
use arrow_schema::{DataType, TimeUnit};

use super::{Misfit, Values};
use crate::error::ValueProblem;
use crate::kind::digits;
use crate::number::{Decimal, Number};
use crate::plan::{Column, Encoding, How, Reader};
use crate::temporal::{Moment, OrderEvidence, TemporalKind, display, offset_at, truncate};

const DAY_SECONDS: i64 = 86_400;
const NANOSECOND_DIGITS: u32 = 9;

/// Reads the dates or times of a column.
pub(super) fn decode(
    array: &ArrayRef,
    column: &Column,
    reader: &Reader,
    evidence: &mut OrderEvidence,
) -> Result<Values, Misfit> {
    match &reader.how {
        How::TextTemporal(shape) => {
            let texts = array.as_string_view();
            collect(array, column, reader, |row| {
                let text = texts.value(row).as_bytes();
                shape.parse_noting(text, evidence).ok_or_else(|| Misfit::Reading(text.to_vec()))
            })
        }
        How::TextFormat(format) => {
            let texts = array.as_string_view();
            collect(array, column, reader, |row| {
                let text = texts.value(row);
                format.parse(text.as_bytes()).ok_or(Misfit::Value(ValueProblem::DateFormat))
            })
        }
        _ => {
            if let Some(units) = same_units(array, column, reader) {
                return Ok(Values::Fixed(units));
            }
            if let Some(units) = days_in_seconds(array, column, reader) {
                return Ok(Values::Fixed(units));
            }
            let ticks =
                ticks(array).ok_or_else(|| Misfit::Value(ValueProblem::Unreadable("no time".into())))?;
            collect(array, column, reader, |row| Ok(ticks.moment(row)))
        }
    }
}

/// The column as it is, when its ticks are the units of the encoding already.
fn same_units(array: &ArrayRef, column: &Column, reader: &Reader) -> Option<ScalarBuffer<i64>> {
    let ticks = ticks(array)?;
    let same = column.encoding == Encoding::Fixed { scale: ticks.digits } && reader.zone.is_none();
    (same && !ticks.are_days).then_some(ticks.values)
}

/// Dates compared as dates: the most common case, and no overflow is possible.
fn days_in_seconds(array: &ArrayRef, column: &Column, reader: &Reader) -> Option<ScalarBuffer<i64>> {
    let days = array.as_primitive_opt::<Date32Type>()?;
    let plain = column.encoding == Encoding::Fixed { scale: 0 } && reader.zone.is_none();
    plain.then(|| days.values().iter().map(|day| i64::from(*day) * DAY_SECONDS).collect())
}

fn collect(
    array: &ArrayRef,
    column: &Column,
    reader: &Reader,
    mut read: impl FnMut(usize) -> Result<Moment, Misfit>,
) -> Result<Values, Misfit> {
    let mut moment = |row: usize| -> Result<Moment, Misfit> {
        let moment = read(row)?;
        let moment = reader.zone.as_ref().map_or(moment, |zone| zone.to_instant(moment));
        Ok(truncate(moment, column.second_digits))
    };
    let rows = 0..array.len();
    if let Encoding::Fixed { scale } = column.encoding {
        let units: Result<Vec<i64>, Misfit> =
            rows.map(|row| {
                if array.is_null(row) { Ok(0) } else { units(moment(row)?, scale).ok_or(Misfit::Scale) }
            })
            .collect();
        return Ok(Values::Fixed(units?.into()));
    }
    let numbers: Result<Vec<Number>, Misfit> = rows
        .map(|row| if array.is_null(row) { Ok(Number::ZERO) } else { Ok(seconds(moment(row)?)) })
        .collect();
    Ok(Values::General(numbers?))
}

fn units(moment: Moment, scale: u32) -> Option<i64> {
    let whole = moment.seconds.checked_mul(10i64.checked_pow(scale)?)?;
    whole.checked_add(i64::from(moment.nanos / 10u32.pow(NANOSECOND_DIGITS - scale)))
}

/// A moment as a number of seconds.
fn seconds(moment: Moment) -> Number {
    let nanos = i128::from(moment.seconds) * 1_000_000_000 + i128::from(moment.nanos);
    // 64 bits of seconds and nine digits behind them are 28 digits.
    Decimal::new(nanos, -9).map_or(Number::NaN, Number::Finite)
}

/// What a number of seconds of a date or time column is called.
pub(crate) fn display_seconds(number: Number, kind: TemporalKind) -> String {
    let Some(decimal) = number.finite() else {
        return number.to_string();
    };
    let power = u32::try_from(9 + decimal.exponent()).unwrap_or(0);
    let nanos = decimal.mantissa().saturating_mul(10i128.saturating_pow(power));
    let seconds = i64::try_from(nanos.div_euclid(1_000_000_000)).unwrap_or(i64::MAX);
    display(Moment { seconds, nanos: nanos.rem_euclid(1_000_000_000) as u32 }, kind)
}

/// Typed dates or times as counts of a unit.
struct Ticks {
    values: ScalarBuffer<i64>,
    digits: u32,
    are_days: bool,
}

impl Ticks {
    fn moment(&self, row: usize) -> Moment {
        let tick = self.values[row];
        if self.are_days { midnight(tick) } else { after(tick, self.digits) }
    }
}

fn midnight(day: i64) -> Moment {
    Moment { seconds: day * DAY_SECONDS, nanos: 0 }
}

fn after(tick: i64, digits: u32) -> Moment {
    let per_second = 10i64.pow(digits);
    let rest = tick.rem_euclid(per_second) * 10i64.pow(NANOSECOND_DIGITS - digits);
    Moment { seconds: tick.div_euclid(per_second), nanos: rest.cast_unsigned() as u32 }
}

/// The date or time at a row that is not NULL; `None` if the array holds none.
pub(crate) fn moment(array: &ArrayRef, row: usize) -> Option<Moment> {
    let (tick, unit) = match array.data_type() {
        DataType::Date32 => return Some(midnight(array.as_primitive::<Date32Type>().value(row).into())),
        DataType::Timestamp(unit, _) => {
            let tick = match unit {
                TimeUnit::Second => array.as_primitive::<TimestampSecondType>().value(row),
                TimeUnit::Millisecond => array.as_primitive::<TimestampMillisecondType>().value(row),
                TimeUnit::Microsecond => array.as_primitive::<TimestampMicrosecondType>().value(row),
                TimeUnit::Nanosecond => array.as_primitive::<TimestampNanosecondType>().value(row),
            };
            (tick, *unit)
        }
        DataType::Time64(unit @ TimeUnit::Nanosecond) => {
            (array.as_primitive::<Time64NanosecondType>().value(row), *unit)
        }
        _ => return None,
    };
    Some(after(tick, digits(unit)))
}

fn ticks(array: &ArrayRef) -> Option<Ticks> {
    let values = match array.data_type() {
        DataType::Date32 => {
            let days =
                array.as_primitive::<Date32Type>().values().iter().map(|day| i64::from(*day)).collect();
            return Some(Ticks { values: days, digits: 0, are_days: true });
        }
        DataType::Timestamp(TimeUnit::Second, _) => array.as_primitive::<TimestampSecondType>().values(),
        DataType::Timestamp(TimeUnit::Millisecond, _) => {
            array.as_primitive::<TimestampMillisecondType>().values()
        }
        DataType::Timestamp(TimeUnit::Microsecond, _) => {
            array.as_primitive::<TimestampMicrosecondType>().values()
        }
        DataType::Timestamp(TimeUnit::Nanosecond, _) => {
            array.as_primitive::<TimestampNanosecondType>().values()
        }
        DataType::Time64(TimeUnit::Nanosecond) => array.as_primitive::<Time64NanosecondType>().values(),
        _ => return None,
    };
    let (DataType::Timestamp(unit, _) | DataType::Time64(unit)) = array.data_type() else {
        return None;
    };
    Some(Ticks { values: values.clone(), digits: digits(*unit), are_days: false })
}

/// The date or time at a row that is not NULL, in canonical form; `None` if the array holds none.
pub(super) fn one(array: &ArrayRef, row: usize) -> Option<String> {
    let kind = match array.data_type() {
        DataType::Date32 => TemporalKind::Date,
        DataType::Timestamp(_, None) => TemporalKind::Timestamp,
        DataType::Timestamp(_, Some(_)) => TemporalKind::Instant,
        DataType::Time64(_) => TemporalKind::Time,
        _ => return None,
    };
    Some(display(moment(array, row)?, kind))
}

/// The instant at a row that is not NULL as the clocks of its own zone show it; `None` if the array holds none.
pub(super) fn local(array: &ArrayRef, row: usize) -> Option<String> {
    let DataType::Timestamp(_, Some(zone)) = array.data_type() else {
        return None;
    };
    let instant = moment(array, row)?;
    let offset = offset_at(zone, instant)?;
    // An offset from before the time of zones has seconds, and no usual spelling.
    if offset % 60 != 0 || offset == 0 {
        return Some(display(instant, TemporalKind::Instant));
    }
    let civil = Moment { seconds: instant.seconds.checked_add(offset)?, ..instant };
    let minutes = offset.abs() / 60;
    let sign = if offset < 0 { '-' } else { '+' };
    Some(format!("{}{sign}{:02}:{:02}", display(civil, TemporalKind::Timestamp), minutes / 60, minutes % 60))
}
