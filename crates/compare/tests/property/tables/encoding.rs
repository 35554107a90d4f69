//! The same values as columns of different types.

use std::sync::Arc;

use arrow_array::types::{
    Date32Type, Date64Type, Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type,
    Int64Type, Time32MillisecondType, Time32SecondType, Time64MicrosecondType, Time64NanosecondType,
    TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType,
    UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{
    ArrayRef, ArrowPrimitiveType, BinaryArray, BinaryViewArray, BooleanArray, DictionaryArray,
    LargeBinaryArray, LargeStringArray, PrimitiveArray, StringArray, StringViewArray,
};
use chrono::{DateTime, NaiveDateTime};

use super::cell::{Cell, DAY, Kind, SECOND};
use super::random::Random;

/// The offset of `Asia/Kolkata`, which has had no other since 1945.
pub(super) const ZONE: &str = "Asia/Kolkata";
const ZONE_NANOS: i128 = 19_800 * SECOND;

/// A column as a source has it.
pub(super) struct Encoded {
    pub array: ArrayRef,
    pub is_double: bool,
    pub is_single: bool,
    /// Nanoseconds.
    pub precision: i128,
}

/// Ways to write a column.
#[derive(Debug, Clone, Copy)]
enum Form {
    Int8,
    Int16,
    Int32,
    Int64,
    UInt8,
    UInt16,
    UInt32,
    UInt64,
    Float32,
    Float64,
    Decimal,
    Boolean,
    Text,
    Date32,
    Date64,
    Stamp,
    ZonedStamp,
    Clock,
    Binary,
}

fn forms(kind: Kind, naive: bool) -> &'static [Form] {
    use Form::*;
    match kind {
        Kind::Integer => {
            &[Int8, Int16, Int32, Int64, UInt8, UInt16, UInt32, UInt64, Float32, Float64, Decimal, Text]
        }
        Kind::Decimal => &[Float32, Float64, Float64, Decimal, Decimal, Text],
        Kind::Special => &[Float32, Float64, Text],
        Kind::Wild => &[Float64],
        Kind::Big => &[Int64, UInt64, Decimal, Text],
        Kind::Boolean => &[Boolean, Text],
        Kind::Flag => &[Boolean, Text, Int8, UInt32, Int64],
        Kind::Text => &[Text],
        Kind::Date => &[Date32, Date64, Text],
        Kind::Timestamp => &[Date32, Stamp, Stamp, Text],
        Kind::Instant if naive => &[ZonedStamp, Stamp, Text],
        Kind::Instant => &[ZonedStamp, Text],
        Kind::Time => &[Clock],
        Kind::Binary => &[Binary],
    }
}

/// Writes the cells of a column in one of the ways that can hold them; `naive` says that the source declares [`ZONE`].
pub(super) fn encode(kind: Kind, cells: &[Cell], naive: bool, random: &mut Random) -> Encoded {
    loop {
        let form = random.pick(forms(kind, naive));
        let Some((array, precision)) = attempt(form, kind, cells, naive, random) else {
            continue;
        };
        return Encoded {
            array,
            precision,
            is_double: matches!(form, Form::Float64),
            is_single: matches!(form, Form::Float32),
        };
    }
}

fn attempt(
    form: Form,
    kind: Kind,
    cells: &[Cell],
    naive: bool,
    random: &mut Random,
) -> Option<(ArrayRef, i128)> {
    let exact = |array: Option<ArrayRef>| array.map(|array| (array, 1));
    match form {
        Form::Int8 => exact(integers::<Int8Type>(cells)),
        Form::Int16 => exact(integers::<Int16Type>(cells)),
        Form::Int32 => exact(integers::<Int32Type>(cells)),
        Form::Int64 => exact(integers::<Int64Type>(cells)),
        Form::UInt8 => exact(integers::<UInt8Type>(cells)),
        Form::UInt16 => exact(integers::<UInt16Type>(cells)),
        Form::UInt32 => exact(integers::<UInt32Type>(cells)),
        Form::UInt64 => exact(integers::<UInt64Type>(cells)),
        Form::Float32 => exact(floats::<Float32Type>(cells)),
        Form::Float64 => exact(floats::<Float64Type>(cells)),
        Form::Decimal => exact(decimals(cells, random)),
        Form::Boolean => exact(Some(Arc::new(
            cells
                .iter()
                .map(|cell| if let Cell::Bool(bool) = cell { Some(*bool) } else { None })
                .collect::<BooleanArray>(),
        ))),
        Form::Text => exact(texts(kind, cells, naive, random)),
        Form::Date32 | Form::Date64
            if cells.iter().any(|cell| matches!(cell, Cell::Nanos(nanos) if nanos % DAY != 0)) =>
        {
            None
        }
        Form::Date64 => exact(Some(times::<Date64Type>(cells, 1_000_000, 0))),
        Form::Date32 => exact(Some(times::<Date32Type>(cells, DAY, 0))),
        Form::Stamp => Some(stamps(cells, if naive { ZONE_NANOS } else { 0 }, None, random)),
        Form::ZonedStamp => {
            let zone = random.pick(&["UTC", "+00:00", "+02:00", "Europe/Berlin"]);
            Some(stamps(cells, 0, Some(zone), random))
        }
        Form::Clock => Some(match random.below(4) {
            0 => (times::<Time32SecondType>(cells, SECOND, 0), SECOND),
            1 => (times::<Time32MillisecondType>(cells, 1_000_000, 0), 1_000_000),
            2 => (times::<Time64MicrosecondType>(cells, 1_000, 0), 1_000),
            _ => (times::<Time64NanosecondType>(cells, 1, 0), 1),
        }),
        Form::Binary => {
            let bytes = cells
                .iter()
                .map(|cell| if let Cell::Bytes(bytes) = cell { Some(bytes.as_slice()) } else { None });
            exact(Some(match random.below(3) {
                0 => Arc::new(bytes.collect::<BinaryArray>()),
                1 => Arc::new(bytes.collect::<LargeBinaryArray>()),
                _ => Arc::new(bytes.collect::<BinaryViewArray>()),
            }))
        }
    }
}

fn integers<T: ArrowPrimitiveType>(cells: &[Cell]) -> Option<ArrayRef>
where
    T::Native: TryFrom<i128>,
{
    let integer = |cell: &Cell| match cell {
        Cell::Null => Some(None),
        Cell::Decimal(digits, 0) => T::Native::try_from(*digits).ok().map(Some),
        Cell::Bool(bool) => T::Native::try_from(i128::from(*bool)).ok().map(Some),
        _ => None,
    };
    let integers: Option<Vec<Option<T::Native>>> = cells.iter().map(integer).collect();
    Some(Arc::new(integers?.into_iter().collect::<PrimitiveArray<T>>()))
}

/// Floats, when each is the nearest to its numeral and the numeral the shortest for it.
fn floats<T: ArrowPrimitiveType>(cells: &[Cell]) -> Option<ArrayRef>
where
    T::Native: std::str::FromStr + std::fmt::Display,
{
    let float = |cell: &Cell| match cell.numeral() {
        None => Some(None),
        Some(numeral) => {
            let float: T::Native = numeral.parse().ok()?;
            let same =
                crate::oracle::Number::parse(&float.to_string()) == crate::oracle::Number::parse(&numeral);
            same.then_some(Some(float))
        }
    };
    let floats: Option<Vec<Option<T::Native>>> = cells.iter().map(float).collect();
    Some(Arc::new(floats?.into_iter().collect::<PrimitiveArray<T>>()))
}

fn decimals(cells: &[Cell], random: &mut Random) -> Option<ArrayRef> {
    let target = i32::try_from(random.between(0, 9)).ok()?;
    let decimal = |cell: &Cell| match cell {
        Cell::Null => Some(None),
        Cell::Decimal(digits, scale) if *scale <= target => {
            digits.checked_mul(10_i128.pow(target.abs_diff(*scale))).map(Some)
        }
        _ => None,
    };
    let decimals: Option<Vec<Option<i128>>> = cells.iter().map(decimal).collect();
    let array = decimals?.into_iter().collect::<PrimitiveArray<Decimal128Type>>();
    Some(Arc::new(array.with_precision_and_scale(38, i8::try_from(target).ok()?).ok()?))
}

fn times<T: ArrowPrimitiveType>(cells: &[Cell], unit: i128, shift: i128) -> ArrayRef
where
    T::Native: TryFrom<i128>,
{
    let time = |cell: &Cell| match cell {
        Cell::Nanos(nanos) => T::Native::try_from((nanos + shift).div_euclid(unit)).ok(),
        _ => None,
    };
    Arc::new(cells.iter().map(time).collect::<PrimitiveArray<T>>())
}

fn stamps(cells: &[Cell], shift: i128, zone: Option<&str>, random: &mut Random) -> (ArrayRef, i128) {
    macro_rules! stamps {
        ($unit:ty, $nanos:expr) => {{
            let naive = times::<$unit>(cells, $nanos, shift);
            let array = arrow_array::cast::AsArray::as_primitive::<$unit>(&naive).clone();
            (Arc::new(array.with_timezone_opt(zone)) as ArrayRef, $nanos)
        }};
    }
    match random.below(4) {
        0 => stamps!(TimestampSecondType, SECOND),
        1 => stamps!(TimestampMillisecondType, 1_000_000),
        2 => stamps!(TimestampMicrosecondType, 1_000),
        _ => stamps!(TimestampNanosecondType, 1),
    }
}

fn texts(kind: Kind, cells: &[Cell], naive: bool, random: &mut Random) -> Option<ArrayRef> {
    let spelled: Vec<Option<String>> = match kind {
        Kind::Date | Kind::Timestamp | Kind::Instant => moments(kind, cells, naive, random)?,
        _ => cells.iter().map(|cell| spell(kind, cell, random)).collect(),
    };
    let is_numeral = |cell: &Cell| matches!(cell, Cell::Decimal(..) | Cell::Special("-0"));
    if kind.is_number() && !cells.iter().any(is_numeral) {
        return None;
    }
    let texts = spelled.iter().map(Option::as_deref);
    Some(match random.below(4) {
        0 => Arc::new(texts.collect::<StringArray>()),
        1 => Arc::new(texts.collect::<LargeStringArray>()),
        2 => Arc::new(texts.collect::<StringViewArray>()),
        _ => Arc::new(texts.collect::<DictionaryArray<Int32Type>>()),
    })
}

fn spell(kind: Kind, cell: &Cell, random: &mut Random) -> Option<String> {
    let mixed = |text: &str, random: &mut Random| match random.below(3) {
        0 => text.to_uppercase(),
        1 => text[..1].to_uppercase() + &text[1..],
        _ => text.to_owned(),
    };
    match cell {
        Cell::Bool(true) if kind == Kind::Flag => {
            Some(random.pick(&["t", "yes", "y", "1", "true"])).map(|text| mixed(text, random))
        }
        Cell::Bool(false) if kind == Kind::Flag => {
            Some(random.pick(&["f", "no", "n", "0", "false"])).map(|text| mixed(text, random))
        }
        Cell::Bool(bool) => Some(mixed(&bool.to_string(), random)),
        Cell::Text(text) => Some(text.clone()),
        Cell::Special("inf") => Some(random.pick(&["inf", "Infinity"]).to_owned()),
        Cell::Special("-inf") => Some(random.pick(&["-inf", "-Infinity"]).to_owned()),
        Cell::Special("-0") => Some(random.pick(&["-0", "-0.0", "0", "0e5"]).to_owned()),
        Cell::Decimal(digits, scale) => {
            let plain = cell.numeral()?;
            Some(match random.below(4) {
                0 if plain.contains('.') => plain + "00",
                0 => plain + ".0",
                1 => format!("{digits}e{}", -scale),
                2 => format!("{digits}.0E{:+}", -scale),
                _ => plain,
            })
        }
        _ => cell.numeral(),
    }
}

/// Dates and times in one spelling for the column, or none if it would leave the order of day and month open.
fn moments(kind: Kind, cells: &[Cell], naive: bool, random: &mut Random) -> Option<Vec<Option<String>>> {
    let separator = random.pick(&["-", "/", "."]);
    let (date, proof) = random.pick(&[
        ("%Y/%m/%d", None),
        ("%Y/%-m/%-d", None),
        ("%d/%m/%Y", Some("%d")),
        ("%-m/%-d/%Y", Some("%d")),
    ]);
    let time = random.pick(&[" %H:%M:%S%.f", "T%H:%M:%S%.f"]);
    let format = date.replace('/', separator) + if kind == Kind::Date { "" } else { time };
    let moment = |nanos: i128| -> Option<NaiveDateTime> {
        Some(DateTime::from_timestamp_nanos(i64::try_from(nanos).ok()?).naive_utc())
    };
    let mut proven = proof.is_none() || cells.iter().all(|cell| *cell == Cell::Null);
    let mut spelled = Vec::new();
    for cell in cells {
        let Cell::Nanos(nanos) = cell else {
            spelled.push(None);
            continue;
        };
        let (shift, suffix) = match kind {
            Kind::Instant if naive => (ZONE_NANOS, ""),
            Kind::Instant => {
                random.pick(&[(0, "Z"), (7_200 * SECOND, "+02:00"), (-19_800 * SECOND, "-0530")])
            }
            _ => (0, ""),
        };
        let local = moment(nanos + shift)?;
        proven |= local.format("%d").to_string().parse::<u32>().ok()? > 12;
        spelled.push(Some(local.format(&format).to_string() + suffix));
    }
    proven.then_some(spelled)
}
