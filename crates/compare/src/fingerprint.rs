//! Keyed hashes of keys and values; the key is random per process, so that nobody can craft a collision.

use std::hash::{BuildHasher, Hasher, RandomState};

use xxhash_rust::xxh3::{xxh3_64_with_seed, xxh3_128_with_seed};

use crate::decode::{Decoded, Values};
use crate::number::Number;

/// The random part of every hash in one comparison.
pub(crate) struct Seeds {
    key: u64,
    /// Per column: the seed of its values, and the word of a NULL.
    columns: Vec<(u64, u64)>,
    /// Bits of a key's fingerprint that count; all but in tests of what happens when they are too few.
    mask: u128,
}

impl Seeds {
    pub(crate) fn new(columns: usize, mask: u128) -> Self {
        let random = || RandomState::new().build_hasher().finish();
        Self {
            key: random(),
            columns: (0..columns).map(|_| (random(), random())).collect(),
            mask,
        }
    }

    /// The fingerprint of a key written by [`write_part`].
    pub(crate) fn fingerprint(&self, key: &[u8]) -> u128 {
        xxh3_128_with_seed(key, self.key) & self.mask
    }

    /// Gives each row the word of its value: equal for equal values, and NULL a word of its own.
    pub(crate) fn words(
        &self,
        column: usize,
        decoded: &Decoded,
        rows: usize,
        mut give: impl FnMut(usize, u64),
    ) {
        let (seed, null) = self.columns[column];
        let is_null = |row: usize| decoded.nulls.as_ref().is_some_and(|nulls| nulls.is_null(row));
        macro_rules! each {
            ($row:ident, $word:expr) => {
                for $row in 0..rows {
                    give($row, if is_null($row) { null } else { $word });
                }
            };
        }
        match &decoded.values {
            Values::Null => (0..rows).for_each(|row| give(row, null)),
            Values::Fixed(units) => each!(row, xxh3_64_with_seed(&units[row].to_le_bytes(), seed)),
            Values::Float(floats) => {
                each!(
                    row,
                    xxh3_64_with_seed(&canonical_bits(floats[row]).to_le_bytes(), seed)
                );
            }
            Values::General(numbers) => each!(row, xxh3_64_with_seed(&number_bytes(numbers[row]), seed)),
            Values::Bytes(bytes) => each!(row, xxh3_64_with_seed(bytes.value(row), seed)),
        }
    }

    /// The same for the one value at a row.
    pub(crate) fn word(&self, column: usize, decoded: &Decoded, row: usize) -> u64 {
        let (seed, null) = self.columns[column];
        with_bytes(decoded, row, |bytes| {
            bytes.map_or(null, |bytes| xxh3_64_with_seed(bytes, seed))
        })
    }

    /// 128 bits of the value at a row that is not NULL.
    pub(crate) fn long_word(&self, column: usize, decoded: &Decoded, row: usize) -> u128 {
        let seed = self.columns[column].0;
        with_bytes(decoded, row, |bytes| {
            xxh3_128_with_seed(bytes.unwrap_or_default(), seed)
        })
    }
}

/// Appends a part of a key so that no two different tuples are written alike; says whether it is NULL.
pub(crate) fn write_part(decoded: &Decoded, row: usize, key: &mut Vec<u8>) -> bool {
    with_bytes(decoded, row, |bytes| match bytes {
        None => {
            key.push(0);
            true
        }
        Some(bytes) => {
            key.push(1);
            if matches!(decoded.values, Values::Bytes(_)) {
                key.extend_from_slice(&(bytes.len() as u64).to_le_bytes());
            }
            key.extend_from_slice(bytes);
            false
        }
    })
}

/// Calls with the bytes of the value, `None` for NULL; the same bytes for equal values.
fn with_bytes<T>(decoded: &Decoded, row: usize, call: impl FnOnce(Option<&[u8]>) -> T) -> T {
    if decoded.is_null(row) {
        return call(None);
    }
    match &decoded.values {
        Values::Null => call(None),
        Values::Fixed(units) => call(Some(&units[row].to_le_bytes())),
        Values::Float(floats) => call(Some(&canonical_bits(floats[row]).to_le_bytes())),
        Values::General(numbers) => call(Some(&number_bytes(numbers[row]))),
        Values::Bytes(bytes) => call(Some(bytes.value(row))),
    }
}

/// The bits of a float, the same for both zeros and for every NaN.
pub(crate) fn canonical_bits(float: f64) -> u64 {
    if float == 0.0 {
        0
    } else if float.is_nan() {
        f64::NAN.to_bits()
    } else {
        float.to_bits()
    }
}

/// Mantissa and exponent; what is not finite has an exponent of its own.
pub(crate) fn number_parts(number: Number) -> (i128, i32) {
    match number {
        Number::Finite(decimal) => (decimal.mantissa(), decimal.exponent()),
        Number::NaN => (0, i32::MAX),
        Number::Infinity => (1, i32::MAX),
        Number::NegInfinity => (-1, i32::MAX),
    }
}

fn number_bytes(number: Number) -> [u8; 20] {
    let (mantissa, exponent) = number_parts(number);
    let mut bytes = [0; 20];
    bytes[..16].copy_from_slice(&mantissa.to_le_bytes());
    bytes[16..].copy_from_slice(&exponent.to_le_bytes());
    bytes
}
