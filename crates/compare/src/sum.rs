//! Sums that are exact and do not depend on the order of what is added.

mod decimal;
mod float;

pub(crate) use decimal::{DecimalSum, Overflow};
pub(crate) use float::FloatSum;

/// What is added besides finite numbers: NaN wins, and so do opposite infinities together.
#[derive(Debug, Clone, Copy, Default)]
struct Specials {
    nan: bool,
    infinity: bool,
    neg_infinity: bool,
}

impl Specials {
    fn merge(&mut self, other: Self) {
        self.nan |= other.nan;
        self.infinity |= other.infinity;
        self.neg_infinity |= other.neg_infinity;
    }

    /// What the sum is, if it is not finite.
    fn total(self) -> Option<f64> {
        match self {
            Self { nan: true, .. } | Self { infinity: true, neg_infinity: true, .. } => Some(f64::NAN),
            Self { infinity: true, .. } => Some(f64::INFINITY),
            Self { neg_infinity: true, .. } => Some(f64::NEG_INFINITY),
            _ => None,
        }
    }
}
