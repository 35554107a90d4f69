//! The exact sum of floats, rounded once.

use std::ops::Range;

use super::Specials;

/// Chunks 32 bits apart from 2^-1074 on: 2,098 bits of doubles and 64 of carries, two to spare.
const CHUNKS: usize = 70;

/// How often a chunk, below 2^31 after carrying, takes up to 2^32 before it must carry again: 2^62 at most.
const PENDING_LIMIT: u32 = 1 << 30;

/// The exact sum of any number of floats, in any order.
///
/// A fixed-point number as wide as all doubles together, in chunks with room for carries, so that adding is three
/// additions wherever the float's bits fall.
#[derive(Debug, Clone)]
pub(crate) struct FloatSum {
    chunks: [i64; CHUNKS],
    /// The chunks that may not be zero are `low..high`.
    low: usize,
    high: usize,
    pending: u32,
    specials: Specials,
}

impl Default for FloatSum {
    fn default() -> Self {
        Self::new()
    }
}

impl FloatSum {
    /// The sum of nothing.
    #[must_use]
    pub(crate) fn new() -> Self {
        Self { chunks: [0; CHUNKS], low: CHUNKS, high: 0, pending: 0, specials: Specials::default() }
    }

    /// Makes it the sum of nothing again, at the cost of what was added.
    pub(crate) fn clear(&mut self) {
        if self.low < self.high {
            self.chunks[self.low..self.high].fill(0);
        }
        self.low = CHUNKS;
        self.high = 0;
        self.pending = 0;
        self.specials = Specials::default();
    }

    /// Adds a float.
    #[inline]
    pub(crate) fn add(&mut self, value: f64) {
        let bits = value.to_bits();
        let exponent = (bits >> 52 & 0x7ff) as usize;
        if exponent == 0x7ff {
            self.add_special(value);
            return;
        }
        // Subnormals have the exponent of the smallest normal doubles and no leading one.
        let fraction = bits & ((1 << 52) - 1) | u64::from(exponent != 0) << 52;
        let position = exponent - usize::from(exponent != 0);
        let index = position / 32;
        let sign = bits.cast_signed() >> 63;
        let shift = position % 32;
        let spread = fraction << shift;
        // What the shift pushes out; in two steps, for a shift by all 64 bits is none.
        let pushed_out = fraction >> 1 >> (63 - shift);
        let Some([first, second, third]) = self.chunks[..].get_mut(index..index + 3) else {
            return;
        };
        *first += signed(spread & 0xffff_ffff, sign);
        *second += signed(spread >> 32, sign);
        *third += signed(pushed_out, sign);
        self.low = self.low.min(index);
        self.high = self.high.max(index + 3);
        self.pending += 1;
        if self.pending >= PENDING_LIMIT {
            self.carry();
        }
    }

    /// Adds what another sum has added.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.specials.merge(other.specials);
        if other.low >= other.high {
            return;
        }
        self.carry();
        for (chunk, added) in
            self.chunks[other.low..other.high].iter_mut().zip(&other.chunks[other.low..other.high])
        {
            *chunk += added;
        }
        self.low = self.low.min(other.low);
        self.high = self.high.max(other.high);
        self.carry();
    }

    /// The float nearest to the exact sum, half to even; an infinity when that is beyond all floats.
    #[must_use]
    pub(crate) fn total(&self) -> f64 {
        if let Some(special) = self.specials.total() {
            return special;
        }
        let mut digits = [0; CHUNKS];
        let negative = self.resolve(&mut digits);
        let magnitude = round(&digits, self.low.saturating_sub(2)..(self.high + 2).min(CHUNKS));
        if negative { -magnitude } else { magnitude }
    }

    #[cold]
    fn add_special(&mut self, value: f64) {
        if value.is_nan() {
            self.specials.nan = true;
        } else if value > 0.0 {
            self.specials.infinity = true;
        } else {
            self.specials.neg_infinity = true;
        }
    }

    /// Leaves every chunk within 2^31 of zero; signed, so that a small negative sum does not reach the last chunk.
    fn carry(&mut self) {
        let mut carry = 0;
        let mut index = self.low;
        while index < self.high || (carry != 0 && index < CHUNKS) {
            let sum = self.chunks[index] + carry;
            carry = (sum + (1 << 31)) >> 32;
            self.chunks[index] = sum - (carry << 32);
            index += 1;
        }
        self.high = self.high.max(index);
        self.pending = 0;
    }

    /// Writes the magnitude in base 2^32 and says whether it is negative.
    fn resolve(&self, digits: &mut [u32; CHUNKS]) -> bool {
        let used = self.low..(self.high + 2).min(CHUNKS);
        let mut write = |sign: i64| {
            let mut carry = 0;
            for index in used.clone() {
                let sum = self.chunks[index] * sign + carry;
                digits[index] = sum.cast_unsigned() as u32;
                carry = sum >> 32;
            }
            carry
        };
        let negative = write(1) < 0;
        if negative {
            write(-1);
        }
        negative
    }
}

/// A digit below 2^32 with a sign, which is all ones for negative and else zero.
#[inline]
fn signed(digit: u64, sign: i64) -> i64 {
    (digit.cast_signed() ^ sign) - sign
}

/// The float nearest to the digits in base 2^32, counted in units of 2^-1074.
///
/// Only those in `used` may not be zero, and the first two of them are unless they are the first of all.
fn round(digits: &[u32; CHUNKS], used: Range<usize>) -> f64 {
    let start = used.start.min(used.end);
    let Some(top) = digits[start..used.end].iter().rposition(|&digit| digit != 0) else {
        return 0.0;
    };
    let digit = |index: usize| u128::from(digits[index]);
    let base = (start + top).saturating_sub(2);
    let window = digit(base + 2) << 64 | digit(base + 1) << 32 | digit(base);
    let below = digits[start..base.max(start)].iter().any(|&digit| digit != 0);
    let bits = base * 32 + window.checked_ilog2().map_or(0, |log| log as usize + 1);
    // Up to 53 bits are a subnormal or one of the smallest normals, whose bit pattern is the number itself.
    let dropped = bits.saturating_sub(53);
    let in_window = dropped.saturating_sub(base * 32);
    let kept = (window >> in_window) as u64;
    let rest = window & ((1 << in_window) - 1);
    let half = if in_window == 0 { 0 } else { 1u128 << (in_window - 1) };
    let up = in_window > 0 && (rest > half || (rest == half && (below || kept & 1 == 1)));
    // A mantissa with its leading one bit adds one to the exponent; one that rounds up to 2^53 adds another.
    let pattern = ((dropped as u64) << 52) + kept + u64::from(up);
    f64::from_bits(pattern.min(f64::INFINITY.to_bits()))
}

#[cfg(test)]
mod tests {
    use num_bigint::{BigInt, Sign};

    use super::*;
    use crate::number::test_random::Random;

    /// The sum in units of 2^-1074.
    fn exact(values: &[f64]) -> BigInt {
        values.iter().fold(BigInt::ZERO, |sum, value| {
            let bits = value.to_bits();
            let exponent = bits >> 52 & 0x7ff;
            let fraction = bits & ((1 << 52) - 1);
            let unit = match exponent {
                0 => BigInt::from(fraction),
                _ => BigInt::from(fraction | 1 << 52) << (exponent - 1),
            };
            if value.is_sign_negative() { sum - unit } else { sum + unit }
        })
    }

    /// The candidates are a float and its neighbours; the nearest wins, an even one among equals.
    fn is_nearest(total: f64, sum: &BigInt) -> bool {
        if total.is_infinite() {
            // Beyond the largest float by half of its last bit.
            let rim = exact(&[f64::MAX]) + (BigInt::from(1) << 2044);
            return if total > 0.0 { *sum >= rim } else { -sum >= rim };
        }
        let distance = |value: f64| BigInt::from((exact(&[value]) - sum).magnitude().clone());
        let own = distance(total);
        [total.next_up(), total.next_down()].into_iter().filter(|other| other.is_finite()).all(|other| {
            let theirs = distance(other);
            own < theirs || (own == theirs && total.to_bits() & 1 == 0)
        })
    }

    fn sum_of(values: &[f64]) -> FloatSum {
        let mut sum = FloatSum::new();
        for value in values {
            sum.add(*value);
        }
        sum
    }

    fn shuffled(values: &[f64], random: &mut Random) -> Vec<f64> {
        let mut values = values.to_vec();
        for index in (1..values.len()).rev() {
            values.swap(index, random.below(index as u64 + 1) as usize);
        }
        values
    }

    fn total_in_pieces(values: &[f64], random: &mut Random) -> f64 {
        let mut whole = FloatSum::new();
        let mut piece = FloatSum::new();
        for value in values {
            piece.add(*value);
            if random.below(3) == 0 {
                whole.merge(&piece);
                piece.clear();
            }
        }
        piece.merge(&whole);
        piece.total()
    }

    fn nasty(random: &mut Random) -> f64 {
        match random.below(9) {
            0 => f64::from_bits(random.next() & ((1 << 52) - 1)),
            1 => f64::MAX,
            2 => -f64::MAX,
            3 => f64::from_bits(1),
            4 => -f64::MIN_POSITIVE,
            5 => [1.0, -1.0, 0.0, -0.0][random.below(4) as usize],
            6 => 2f64.powi(random.below(120) as i32 - 60),
            7 => -(2f64.powi(random.below(120) as i32 - 60)),
            _ => {
                let any = f64::from_bits(random.next());
                if any.is_finite() { any } else { 0.1 }
            }
        }
    }

    #[test]
    fn random_and_nasty_sums_are_the_nearest_float_in_any_order_and_split() {
        let mut random = Random::new(7);
        for round in 0..4_000 {
            let count = random.below(if round % 10 == 0 { 200 } else { 8 }) as usize;
            let money = round % 3 == 0;
            let values: Vec<f64> = (0..count)
                .map(|_| {
                    if money { random.below(2_000_000) as f64 / 100.0 - 9_999.5 } else { nasty(&mut random) }
                })
                .collect();
            let total = sum_of(&values).total();
            assert!(is_nearest(total, &exact(&values)), "{values:?} gave {total:e}");
            let other_order = total_in_pieces(&shuffled(&values, &mut random), &mut random);
            assert_eq!(total.to_bits(), other_order.to_bits(), "{values:?}");
        }
    }

    #[test]
    fn known_sums() {
        let infinity = f64::INFINITY;
        let ulp = 2f64.powi(970);
        let cases: &[(&[f64], f64)] = &[
            (&[], 0.0),
            (&[0.1, 0.2, 0.3], 0.6),
            (&[1e100, 1.0, -1e100], 1.0),
            (&[f64::MAX, f64::MAX, -f64::MAX], f64::MAX),
            (&[f64::MAX, f64::MAX], infinity),
            (&[-f64::MAX, -f64::MAX], -infinity),
            (&[f64::MAX, ulp], infinity),
            (&[f64::MAX, ulp.next_down()], f64::MAX),
            (&[f64::from_bits(1), f64::from_bits(1)], f64::from_bits(2)),
            (&[f64::MIN_POSITIVE, -f64::from_bits(1)], f64::from_bits((1 << 52) - 1)),
            (&[1.0, f64::EPSILON / 2.0], 1.0),
            (&[1.0, f64::EPSILON / 2.0, f64::from_bits(1)], 1.0 + f64::EPSILON),
            (&[-1.0, -f64::EPSILON / 2.0, -f64::from_bits(1)], -1.0 - f64::EPSILON),
            (&[infinity, -1e308, -1e308], infinity),
            (&[-infinity, 1.0], -infinity),
        ];
        for (values, expected) in cases {
            assert_eq!(sum_of(values).total().to_bits(), expected.to_bits(), "{values:?}");
        }
        for values in [[f64::NAN, 1.0], [infinity, -infinity]] {
            let mut sum = sum_of(&values);
            assert!(sum.total().is_nan());
            sum.clear();
            assert_eq!(sum.total().to_bits(), 0);
        }
    }

    #[test]
    fn carries_before_a_chunk_can_overflow() {
        let mut sum = FloatSum::new();
        sum.pending = PENDING_LIMIT - 1;
        sum.chunks[33] = i64::from(PENDING_LIMIT) << 32;
        (sum.low, sum.high) = (33, 34);
        let expected =
            &exact(&[1.5]) + (BigInt::from_biguint(Sign::Plus, PENDING_LIMIT.into()) << (33 * 32 + 32));
        sum.add(1.5);
        assert_eq!(sum.pending, 0);
        assert!(sum.chunks.iter().all(|chunk| chunk.abs() <= 1 << 31));
        assert!(is_nearest(sum.total(), &expected));
    }
}
