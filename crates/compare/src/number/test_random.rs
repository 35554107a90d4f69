//! Seeded random numbers for tests.

use super::Decimal;

/// A xorshift generator.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(bound.max(1))) >> 64) as u64
    }

    /// A decimal of up to so many digits and an exponent up to so far from zero.
    pub(crate) fn decimal(&mut self, digits: u64, exponent: u64) -> Decimal {
        let magnitude = 10u128.pow(self.below(digits) as u32 + 1);
        let bits = u128::from(self.next()) << 64 | u128::from(self.next());
        let mantissa = (bits % magnitude).cast_signed() * if self.below(2) == 0 { 1 } else { -1 };
        // Trailing zeros move into the exponent, which may then exceed the bound; leave those out.
        let shift = self.below(2 * exponent + 1) as i32 - exponent as i32;
        Decimal::new(mantissa, shift)
            .filter(|decimal| decimal.exponent().unsigned_abs() <= exponent as u32)
            .unwrap_or_default()
    }
}
