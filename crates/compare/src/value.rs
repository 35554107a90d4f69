//! Values by themselves, and rows of them as bytes that sort as the rows do.

use std::borrow::Cow;

use memchr::memchr;

use crate::decode::{Decoded, Values, fixed_number};
use crate::fingerprint::{Seeds, canonical_bits, number_bytes};
use crate::number::{Number, Quantity};
use crate::plan::{Column, Encoding};
use crate::report::show::{write_shown_bytes, write_shown_number};

/// A value that is not NULL; ordered within its kind.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Value {
    /// Numbers, truth values, dates and times.
    Number(Number),
    /// Text and binary.
    Bytes(Vec<u8>),
}

// The first byte; those of numbers in decimal form are between the first two.
const NULL: u8 = 0;
const BYTES: u8 = 7;
/// Of zero units; as many more as there are bytes of units above zero, as many fewer for those below.
const UNITS: u8 = 16;
const FLOAT: u8 = 32;

impl Value {
    /// The number, if it is one.
    pub(crate) fn quantity(&self) -> Option<Quantity> {
        match self {
            Self::Number(number) => Some(Quantity::Number(*number)),
            Self::Bytes(_) => None,
        }
    }

    /// In the canonical form that reports show.
    pub(crate) fn show(&self, column: &Column) -> String {
        let mut shown = String::new();
        self.write_shown(column, &mut shown);
        shown
    }

    /// Appends it in the canonical form that reports show.
    pub(crate) fn write_shown(&self, column: &Column, out: &mut String) {
        match self {
            Self::Number(number) => write_shown_number(column.kind, *number, out),
            Self::Bytes(bytes) => write_shown_bytes(column.kind, bytes, out),
        }
    }
}

/// Appends bytes that sort as the value at a row does among those of its column, NULL first, and delimit themselves.
pub(crate) fn write_cell(decoded: &Decoded, row: usize, out: &mut Vec<u8>) {
    if decoded.is_null(row) {
        return out.push(NULL);
    }
    match &decoded.values {
        Values::Fixed(units) => write_units(units[row], out),
        Values::Float(floats) => {
            out.push(FLOAT);
            out.extend(sortable(canonical_bits(floats[row])).to_be_bytes());
        }
        Values::General(numbers) => numbers[row].sort_key(out),
        Values::Bytes(bytes) => write_bytes(bytes.value(row), out),
        Values::Null => out.push(NULL),
    }
}

/// As few bytes as hold the units, so that keys differ early.
fn write_units(units: i64, out: &mut Vec<u8>) {
    let magnitude = if units < 0 { !units } else { units };
    let length = 8 - magnitude.leading_zeros() as usize / 8;
    // Minus one has no bit of its own, but is below zero.
    let length = if units < 0 { length.max(1) } else { length };
    out.push(if units < 0 { UNITS - length as u8 } else { UNITS + length as u8 });
    out.extend(&units.to_be_bytes()[8 - length..]);
}

/// The bits of a float, so that they sort as the floats do.
fn sortable(bits: u64) -> u64 {
    if bits >> 63 == 0 { bits ^ (1 << 63) } else { !bits }
}

fn unsortable(bits: u64) -> u64 {
    if bits >> 63 == 0 { !bits } else { bits ^ (1 << 63) }
}

/// Appends text or binary.
pub(crate) fn write_bytes(bytes: &[u8], out: &mut Vec<u8>) {
    out.push(BYTES);
    if bytes.contains(&0) {
        for byte in bytes {
            out.push(*byte);
            // A zero inside is followed by 255, the two zeros at the end by nothing larger.
            if *byte == 0 {
                out.push(255);
            }
        }
    } else {
        out.extend(bytes);
    }
    out.extend([0, 0]);
}

/// Appends bytes that tell values apart; numbers are in decimal form, whatever their column's encoding.
pub(crate) fn write_sorted(value: Option<&Value>, out: &mut Vec<u8>) {
    match value {
        None => out.push(NULL),
        Some(Value::Number(number)) => number.sort_key(out),
        Some(Value::Bytes(bytes)) => write_bytes(bytes, out),
    }
}

/// Reads what [`write_cell`] wrote for a column of this encoding.
pub(crate) fn read_cell(cell: &[u8], encoding: Encoding) -> Option<Value> {
    let behind = &cell[1..];
    match cell[0] {
        NULL => None,
        BYTES => Some(Value::Bytes(unescaped(behind).into_owned())),
        FLOAT => {
            let bits = behind.first_chunk().map_or(0, |bits| unsortable(u64::from_be_bytes(*bits)));
            Some(Value::Number(Number::from(f64::from_bits(bits))))
        }
        tag if tag >= UNITS - 8 => {
            let above = if tag < UNITS { -1 } else { 0 };
            let units = behind.iter().fold(above, |units: i64, byte| units << 8 | i64::from(*byte));
            Some(Value::Number(fixed_number(units, encoding)))
        }
        _ => Some(Value::Number(Number::from_sort_key(cell).0)),
    }
}

/// Appends what [`write_cell`] wrote for a column as reports show it; says whether it is a value, not NULL.
pub(crate) fn write_shown_cell(cell: &[u8], column: &Column, out: &mut String) -> bool {
    if cell[0] == BYTES {
        write_shown_bytes(column.kind, &unescaped(&cell[1..]), out);
        return true;
    }
    let value = read_cell(cell, column.encoding);
    value.iter().for_each(|value| value.write_shown(column, out));
    value.is_some()
}

/// The bytes that [`write_bytes`] wrote behind the first.
fn unescaped(written: &[u8]) -> Cow<'_, [u8]> {
    let text = &written[..written.len() - 2];
    if !text.contains(&0) {
        return text.into();
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut escaped = false;
    for &byte in text {
        if !escaped {
            bytes.push(byte);
        }
        escaped = byte == 0 && !escaped;
    }
    bytes.into()
}

/// Takes the first cell off bytes that [`write_cell`] wrote.
pub(crate) fn take_cell<'a>(from: &mut &'a [u8]) -> &'a [u8] {
    let length = match from[0] {
        NULL => 1,
        // The end is the first zero that is not followed by 255.
        BYTES => {
            let mut at = 1;
            loop {
                at += memchr(0, &from[at..]).expect("bytes end with two zeros");
                if from[at + 1] == 0 {
                    break at + 2;
                }
                at += 2;
            }
        }
        FLOAT => 9,
        tag if tag >= UNITS - 8 => 1 + usize::from(tag.abs_diff(UNITS)),
        first => Number::sort_key_len(first),
    };
    let (cell, rest) = from.split_at(length);
    *from = rest;
    cell
}

/// The word that [`Seeds::words`] gives the value of a cell of this column.
pub(crate) fn cell_word(seeds: &Seeds, index: usize, column: &Column, cell: &[u8]) -> u64 {
    match cell[0] {
        BYTES => seeds.word_of(index, Some(&unescaped(&cell[1..]))),
        _ => word(seeds, index, column, read_cell(cell, column.encoding).as_ref()),
    }
}

/// The word that [`Seeds::words`] gives a value of this column.
pub(crate) fn word(seeds: &Seeds, index: usize, column: &Column, value: Option<&Value>) -> u64 {
    match (value, column.encoding) {
        (None, _) => seeds.word_of(index, None),
        (Some(Value::Bytes(bytes)), _) => seeds.word_of(index, Some(bytes)),
        (Some(Value::Number(Number::Finite(decimal))), Encoding::Fixed { scale }) => {
            let units = decimal.units(scale).expect("a column of a fixed scale has no other numbers");
            seeds.word_of(index, Some(&units.to_le_bytes()))
        }
        (Some(Value::Number(number)), Encoding::Float) => {
            seeds.word_of(index, Some(&canonical_bits(to_f64(*number)).to_le_bytes()))
        }
        (Some(Value::Number(number)), _) => seeds.word_of(index, Some(&number_bytes(*number))),
    }
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

#[cfg(test)]
mod tests {
    use arrow_array::BinaryViewArray;

    use super::{Value, read_cell, take_cell, write_cell};
    use crate::decode::{Decoded, Values};
    use crate::number::Number;
    use crate::plan::Encoding;

    /// Every value of an ascending column reads back, and its bytes sort behind those before it.
    fn check(values: Values, rows: usize, encoding: Encoding, expected: impl Fn(usize) -> Value) {
        let decoded = Decoded { values, nulls: None };
        let mut before = vec![0];
        for row in 0..rows {
            let mut cell = Vec::new();
            write_cell(&decoded, row, &mut cell);
            assert!(before < cell, "{row}: {before:?} {cell:?}");
            assert_eq!(read_cell(&cell, encoding), Some(expected(row)));
            before.clone_from(&cell);
            cell.extend([1, 2, 3]);
            let mut rest = cell.as_slice();
            assert_eq!((take_cell(&mut rest), rest), (before.as_slice(), [1, 2, 3].as_slice()));
        }
    }

    #[test]
    fn cells_sort_as_their_values_and_read_back() {
        let units =
            [i64::MIN, -65_537, -65_536, -257, -256, -255, -2, -1, 0, 1, 255, 256, 65_535, 1 << 55, i64::MAX];
        let fixed = Encoding::Fixed { scale: 2 };
        check(Values::Fixed(units.to_vec().into()), units.len(), fixed, |row| {
            Value::Number(Number::from_scaled(units[row].into(), 2).unwrap())
        });
        let floats = [f64::NEG_INFINITY, -1e300, -1.5, -1e-300, -0.0, 1e-300, 10.01, f64::INFINITY, f64::NAN];
        check(Values::Float(floats.to_vec().into()), floats.len(), Encoding::Float, |row| {
            Value::Number(Number::from(floats[row]))
        });
        let texts: [&[u8]; 8] = [b"", b"\0", b"\0\0", b"\0a", b"\0\xff", b"a", b"a\0", b"ab"];
        check(Values::Bytes(BinaryViewArray::from_iter_values(texts)), texts.len(), Encoding::Bytes, |row| {
            Value::Bytes(texts[row].to_vec())
        });
    }
}
