//! What a measure of a group is: a number or, for averages, a ratio.

use std::borrow::Cow;
use std::cmp::Ordering;

use super::{Decimal, Fraction, Number};

/// A measure of a group; equal and ordered by value, NaN being larger than all else.
#[derive(Debug, Clone)]
pub(crate) enum Quantity {
    /// A number as found, a sum or a count.
    Number(Number),
    /// An average, or a difference beyond 38 digits.
    Ratio(Fraction),
}

impl Quantity {
    /// The exact average; `None` of nothing.
    #[must_use]
    pub(crate) fn average(sum: Number, count: u64) -> Option<Self> {
        match sum {
            Number::Finite(sum) => Fraction::ratio(sum, count).map(Self::Ratio),
            special => (count > 0).then_some(Self::Number(special)),
        }
    }

    /// Whether it is NaN.
    #[must_use]
    pub(crate) fn is_nan(&self) -> bool {
        matches!(self, Self::Number(Number::NaN))
    }

    /// Whether it is zero.
    #[must_use]
    pub(crate) fn is_zero(&self) -> bool {
        match self {
            Self::Number(number) => *number == Number::ZERO,
            Self::Ratio(fraction) => fraction.is_zero(),
        }
    }

    /// The decimal, where it is held as one.
    #[must_use]
    pub(crate) fn decimal(&self) -> Option<Decimal> {
        match self {
            Self::Number(number) => number.finite(),
            Self::Ratio(_) => None,
        }
    }

    /// `self - other`, exactly; `None` unless both are finite.
    #[must_use]
    pub(crate) fn minus(&self, other: &Self) -> Option<Self> {
        let short = self.decimal().zip(other.decimal()).and_then(|(a, b)| a.checked_sub(b));
        match short {
            Some(difference) => Some(difference.into()),
            None => Some(Self::Ratio(self.fraction()?.minus(&*other.fraction()?))),
        }
    }

    /// `self * factor`, exactly; `None` unless finite.
    #[must_use]
    pub(crate) fn times(&self, factor: Decimal) -> Option<Self> {
        match self.decimal().and_then(|decimal| decimal.checked_mul(factor)) {
            Some(product) => Some(product.into()),
            None => Some(Self::Ratio(self.fraction()?.times(factor))),
        }
    }

    /// The magnitude.
    #[must_use]
    pub(crate) fn abs(&self) -> Self {
        match self {
            Self::Number(Number::Finite(decimal)) => decimal.abs().into(),
            Self::Number(Number::NegInfinity) => Self::Number(Number::Infinity),
            Self::Number(number) => Self::Number(*number),
            Self::Ratio(fraction) => Self::Ratio(fraction.abs()),
        }
    }

    /// `-self`.
    #[must_use]
    pub(crate) fn negated(&self) -> Self {
        match self {
            Self::Number(Number::Finite(decimal)) => (-*decimal).into(),
            Self::Number(Number::NegInfinity) => Self::Number(Number::Infinity),
            Self::Number(Number::Infinity) => Self::Number(Number::NegInfinity),
            Self::Number(Number::NaN) => Self::Number(Number::NaN),
            Self::Ratio(fraction) => Self::Ratio(fraction.negated()),
        }
    }

    fn fraction(&self) -> Option<Cow<'_, Fraction>> {
        match self {
            Self::Number(number) => number.finite().map(|decimal| Cow::Owned(decimal.into())),
            Self::Ratio(fraction) => Some(Cow::Borrowed(fraction)),
        }
    }
}

impl From<Number> for Quantity {
    fn from(value: Number) -> Self {
        Self::Number(value)
    }
}

impl From<Decimal> for Quantity {
    fn from(value: Decimal) -> Self {
        Self::Number(Number::Finite(value))
    }
}

impl Ord for Quantity {
    fn cmp(&self, other: &Self) -> Ordering {
        if let (Self::Number(a), Self::Number(b)) = (self, other) {
            return a.cmp(b);
        }
        match (self.fraction(), other.fraction()) {
            (Some(a), Some(b)) => a.cmp(&b),
            // A ratio is finite, so the other is NaN or an infinity, and any finite number stands for the ratio.
            (Some(_), None) => Self::Number(Number::ZERO).cmp(other),
            (None, _) => self.cmp(&Self::Number(Number::ZERO)),
        }
    }
}

impl PartialOrd for Quantity {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Quantity {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Quantity {}
