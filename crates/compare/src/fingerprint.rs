//! Keyed hashes of keys and values; the key is random per process, so that nobody can craft a collision.

use std::hash::{BuildHasher, Hasher, RandomState};

use xxhash_rust::xxh3::{xxh3_64_with_seed, xxh3_128_with_seed};

use crate::decode::{Decoded, Values};
use crate::number::Number;

/// The random part of every hash in one comparison.
pub(crate) struct Seeds {
    /// Per column: the seed of its values, and what stands for NULL.
    columns: Vec<(u64, u128)>,
    /// Bits of a key's fingerprint that count; all but in tests of what happens when they are too few.
    mask: u128,
}

/// Calls `give` with each row and the hash of its value's bytes, or what stands for NULL.
macro_rules! hash_rows {
    ($hash:ident, $decoded:expr, $rows:expr, $seed:expr, $null:expr, $give:expr) => {{
        let (decoded, rows, seed, null) = ($decoded, $rows, $seed, $null);
        macro_rules! each {
            ($row:ident, $bytes:expr) => {
                match &decoded.nulls {
                    None => (0..rows).for_each(|$row| $give($row, $hash($bytes, seed))),
                    Some(nulls) => (0..rows).for_each(|$row| {
                        $give($row, if nulls.is_null($row) { null } else { $hash($bytes, seed) });
                    }),
                }
            };
        }
        match &decoded.values {
            Values::Null => (0..rows).for_each(|row| $give(row, null)),
            Values::Fixed(units) => each!(row, &units[row].to_le_bytes()),
            Values::Float(floats) => each!(row, &canonical_bits(floats[row]).to_le_bytes()),
            Values::General(numbers) => each!(row, &number_bytes(numbers[row])),
            Values::Bytes(bytes) => each!(row, bytes.value(row)),
        }
    }};
}

impl Seeds {
    pub(crate) fn new(columns: usize, mask: u128) -> Self {
        let random = || RandomState::new().build_hasher().finish();
        let null = || u128::from(random()) << 64 | u128::from(random());
        Self { columns: (0..columns).map(|_| (random(), null())).collect(), mask }
    }

    /// The fingerprint of each row's key: a sum of independently keyed hashes of its parts, so that tuples are never
    /// joined into one text, and two that differ agree by chance only, 1 in 2^128.
    pub(crate) fn fingerprints(&self, key: &[usize], columns: &[Decoded], rows: usize, out: &mut Vec<u128>) {
        out.clear();
        out.resize(rows, 0);
        for &part in key {
            let (seed, null) = self.columns[part];
            hash_rows!(xxh3_128_with_seed, &columns[part], rows, seed, null, |row: usize, hash: u128| {
                out[row] = out[row].wrapping_add(hash);
            });
        }
        if self.mask != u128::MAX {
            out.iter_mut().for_each(|fingerprint| *fingerprint &= self.mask);
        }
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
        hash_rows!(xxh3_64_with_seed, decoded, rows, seed, null as u64, |row: usize, word: u64| give(
            row, word
        ));
    }

    /// The same for the bytes of a value, `None` for NULL.
    pub(crate) fn word_of(&self, column: usize, bytes: Option<&[u8]>) -> u64 {
        let (seed, null) = self.columns[column];
        bytes.map_or(null as u64, |bytes| xxh3_64_with_seed(bytes, seed))
    }

    /// 128 bits of the value at a row that is not NULL.
    pub(crate) fn long_word(&self, column: usize, decoded: &Decoded, row: usize) -> u128 {
        let seed = self.columns[column].0;
        // Who asks has seen that there is a value.
        with_bytes(decoded, row, |bytes| xxh3_128_with_seed(bytes.unwrap_or_default(), seed))
    }
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

/// The bytes of a number that its words are made of.
pub(crate) fn number_bytes(number: Number) -> [u8; 20] {
    let (mantissa, exponent) = number_parts(number);
    let mut bytes = [0; 20];
    bytes[..16].copy_from_slice(&mantissa.to_le_bytes());
    bytes[16..].copy_from_slice(&exponent.to_le_bytes());
    bytes
}
