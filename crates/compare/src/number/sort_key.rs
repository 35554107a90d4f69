//! Bytes whose order is the order of numbers.

use super::{Decimal, MAX_DIGITS, Number};

// The first byte, ascending; 0 is left to whoever needs something that sorts before every number.
const NEG_INFINITY: u8 = 1;
const NEGATIVE: u8 = 2;
const ZERO: u8 = 3;
const POSITIVE: u8 = 4;
const INFINITY: u8 = 5;
const NAN: u8 = 6;

impl Decimal {
    /// Appends bytes that sort as the number does: 1 for zero and 19 otherwise, so that more may follow.
    pub fn sort_key(self, out: &mut Vec<u8>) {
        if self.is_zero() {
            out.push(ZERO);
            return;
        }
        let digits = self.magnitude_digits();
        let padding = MAX_DIGITS.saturating_add_signed(self.exponent() - digits);
        let mantissa = self.mantissa().unsigned_abs() * 10u128.pow(padding);
        // Offset so that negative exponents sort first; 10,000 and 38 digits are well within.
        let size = u16::try_from(digits + (1 << 15)).unwrap_or(u16::MAX);
        if self.is_negative() {
            out.push(NEGATIVE);
            out.extend((!size).to_be_bytes());
            out.extend((!mantissa).to_be_bytes());
        } else {
            out.push(POSITIVE);
            out.extend(size.to_be_bytes());
            out.extend(mantissa.to_be_bytes());
        }
    }
}

impl Number {
    /// Appends bytes that sort as the number does and delimit themselves.
    pub fn sort_key(self, out: &mut Vec<u8>) {
        match self {
            Self::NegInfinity => out.push(NEG_INFINITY),
            Self::Finite(decimal) => decimal.sort_key(out),
            Self::Infinity => out.push(INFINITY),
            Self::NaN => out.push(NAN),
        }
    }
}

impl Number {
    /// How many bytes [`Number::sort_key`] wrote, by the first of them.
    #[must_use]
    pub fn sort_key_len(first: u8) -> usize {
        if matches!(first, NEGATIVE | POSITIVE) { 19 } else { 1 }
    }

    /// Reads what [`Number::sort_key`] wrote, and gives back what follows it.
    ///
    /// # Panics
    /// The bytes do not start with such a key.
    #[must_use]
    pub fn from_sort_key(bytes: &[u8]) -> (Self, &[u8]) {
        let (class, rest) = (bytes[0], &bytes[1..]);
        let number = match class {
            NEG_INFINITY => Self::NegInfinity,
            ZERO => Self::ZERO,
            INFINITY => Self::Infinity,
            NAN => Self::NaN,
            _ => {
                let flip = |byte: u8| if class == NEGATIVE { !byte } else { byte };
                let size = u16::from_be_bytes([flip(rest[0]), flip(rest[1])]);
                let digits = i32::from(size) - (1 << 15);
                let magnitude =
                    rest[2..18].iter().fold(0, |sum: i128, byte| sum << 8 | i128::from(flip(*byte)));
                let mantissa = if class == NEGATIVE { -magnitude } else { magnitude };
                let decimal = Decimal::new(mantissa, digits - MAX_DIGITS.cast_signed());
                return (decimal.map_or(Self::NaN, Self::Finite), &rest[18..]);
            }
        };
        (number, rest)
    }
}
