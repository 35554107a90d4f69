//! Exact fractions without limits: what averages are, and differences that no decimal holds.

use std::cmp::Ordering;

use num_bigint::{BigInt, BigUint, Sign};

use super::Decimal;

/// `numerator * 10^exponent / denominator`; equal when the values are, however they are written.
#[derive(Debug, Clone)]
pub(crate) struct Fraction {
    numerator: BigInt,
    exponent: i32,
    denominator: BigUint,
}

impl Fraction {
    /// `sum / count`; `None` when there is nothing to share.
    #[must_use]
    pub(crate) fn ratio(sum: Decimal, count: u64) -> Option<Self> {
        (count > 0).then(|| Self { denominator: count.into(), ..Self::from(sum) })
    }

    pub(super) fn numerator(&self) -> &BigInt {
        &self.numerator
    }

    pub(super) fn exponent(&self) -> i32 {
        self.exponent
    }

    pub(super) fn denominator(&self) -> &BigUint {
        &self.denominator
    }

    /// `self - other`.
    #[must_use]
    pub(crate) fn minus(&self, other: &Self) -> Self {
        let (left, right, exponent) = self.aligned(other);
        Self { numerator: left - right, exponent, denominator: &self.denominator * &other.denominator }
    }

    /// `self * factor`.
    #[must_use]
    pub(crate) fn times(&self, factor: Decimal) -> Self {
        Self {
            numerator: &self.numerator * factor.mantissa(),
            exponent: self.exponent + factor.exponent(),
            denominator: self.denominator.clone(),
        }
    }

    /// The magnitude.
    #[must_use]
    pub(crate) fn abs(&self) -> Self {
        Self { numerator: self.numerator.magnitude().clone().into(), ..self.clone() }
    }

    /// `-self`.
    #[must_use]
    pub(crate) fn negated(&self) -> Self {
        Self { numerator: -&self.numerator, ..self.clone() }
    }

    /// Whether it is zero.
    #[must_use]
    pub(crate) fn is_zero(&self) -> bool {
        self.numerator.sign() == Sign::NoSign
    }

    /// Both numerators over the product of the denominators and one power of ten.
    fn aligned(&self, other: &Self) -> (BigInt, BigInt, i32) {
        let exponent = self.exponent.min(other.exponent);
        let lift = |numerator: &BigInt, from: i32, denominator: &BigUint| {
            let power = BigUint::from(10u8).pow(from.abs_diff(exponent));
            numerator * BigInt::from(denominator * power)
        };
        (
            lift(&self.numerator, self.exponent, &other.denominator),
            lift(&other.numerator, other.exponent, &self.denominator),
            exponent,
        )
    }
}

impl From<Decimal> for Fraction {
    fn from(value: Decimal) -> Self {
        Self {
            numerator: value.mantissa().into(),
            exponent: value.exponent(),
            denominator: BigUint::from(1u8),
        }
    }
}

impl Ord for Fraction {
    fn cmp(&self, other: &Self) -> Ordering {
        let (left, right, _) = self.aligned(other);
        left.cmp(&right)
    }
}

impl PartialOrd for Fraction {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Fraction {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Fraction {}
