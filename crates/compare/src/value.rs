//! Values by themselves, and rows of them as bytes that sort as the rows do.

use crate::decode::{Decoded, Values};
use crate::fingerprint::Seeds;
use crate::number::{Number, Quantity};
use crate::plan::{Column, Encoding};
use crate::show::{show_bytes, show_number};

/// A value that is not NULL; ordered within its kind.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Value {
    /// Numbers, truth values, dates and times.
    Number(Number),
    /// Text and binary.
    Bytes(Vec<u8>),
}

// The first byte; those of numbers are between the two.
const NULL: u8 = 0;
const BYTES: u8 = 7;

impl Value {
    /// The value at a row, `None` for NULL.
    pub(crate) fn at(decoded: &Decoded, row: usize, encoding: Encoding) -> Option<Self> {
        if decoded.is_null(row) {
            return None;
        }
        match &decoded.values {
            Values::Bytes(bytes) => Some(Self::Bytes(bytes.value(row).to_vec())),
            _ => decoded.number(row, encoding).map(Self::Number),
        }
    }

    /// The number, if it is one.
    pub(crate) fn quantity(&self) -> Option<Quantity> {
        match self {
            Self::Number(number) => Some(Quantity::Number(*number)),
            Self::Bytes(_) => None,
        }
    }

    /// In the canonical form that reports show.
    pub(crate) fn show(&self, column: &Column) -> String {
        match self {
            Self::Number(number) => show_number(column.kind, *number),
            Self::Bytes(bytes) => show_bytes(column.kind, bytes),
        }
    }
}

/// Appends bytes that sort as the value does, NULL first, and delimit themselves.
pub(crate) fn write_sorted(value: Option<&Value>, out: &mut Vec<u8>) {
    match value {
        None => out.push(NULL),
        Some(Value::Number(number)) => number.sort_key(out),
        Some(Value::Bytes(bytes)) => {
            out.push(BYTES);
            for byte in bytes {
                out.push(*byte);
                // A zero inside is followed by 255, the two zeros at the end by nothing larger.
                if *byte == 0 {
                    out.push(255);
                }
            }
            out.extend([0, 0]);
        }
    }
}

/// Reads what [`write_sorted`] wrote, and moves past it.
pub(crate) fn read_sorted(from: &mut &[u8]) -> Option<Value> {
    match from[0] {
        NULL => {
            *from = &from[1..];
            None
        }
        BYTES => {
            let mut bytes = Vec::new();
            let mut at = 1;
            loop {
                match (from[at], from[at + 1]) {
                    (0, 0) => break,
                    (0, _) => {
                        bytes.push(0);
                        at += 2;
                    }
                    (byte, _) => {
                        bytes.push(byte);
                        at += 1;
                    }
                }
            }
            *from = &from[at + 2..];
            Some(Value::Bytes(bytes))
        }
        _ => {
            let (number, rest) = Number::from_sort_key(from);
            *from = rest;
            Some(Value::Number(number))
        }
    }
}

/// The word that [`Seeds::words`] gives a value of this column.
pub(crate) fn word(seeds: &Seeds, index: usize, column: &Column, value: Option<&Value>) -> u64 {
    seeds.word(index, &one(column, value), 0)
}

/// A column of one value.
fn one(column: &Column, value: Option<&Value>) -> Decoded {
    let values = match value {
        None => Values::Null,
        Some(Value::Bytes(bytes)) => {
            Values::Bytes(arrow_array::BinaryViewArray::from_iter_values([bytes.as_slice()]))
        }
        Some(Value::Number(number)) => match (column.encoding, number.finite()) {
            (Encoding::Fixed { scale }, Some(decimal)) => {
                Values::Fixed(vec![decimal.units(scale).unwrap_or_default()].into())
            }
            (Encoding::Float, _) => Values::Float(vec![to_f64(*number)].into()),
            _ => Values::General(vec![*number]),
        },
    };
    Decoded { values, nulls: None }
}

/// The float that means this number.
pub(crate) fn to_f64(number: Number) -> f64 {
    match number {
        Number::Finite(decimal) => decimal.to_f64(),
        Number::Infinity => f64::INFINITY,
        Number::NegInfinity => f64::NEG_INFINITY,
        Number::NaN => f64::NAN,
    }
}

/// Moves past what [`write_sorted`] wrote.
pub(crate) fn skip_sorted(from: &mut &[u8]) {
    let length = match from[0] {
        NULL => 1,
        // The end is the first zero that is not followed by 255.
        BYTES => {
            let mut at = 1;
            while !matches!((from[at], from[at + 1]), (0, 0)) {
                at += if from[at] == 0 { 2 } else { 1 };
            }
            at + 2
        }
        first => Number::sort_key_len(first),
    };
    *from = &from[length..];
}
