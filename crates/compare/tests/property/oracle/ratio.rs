//! Fractions of integers without a limit.

use std::cmp::Ordering;

use num_bigint::BigInt;
use trueup_compare::Decimal;

/// A number, in the order they are sorted in.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Number {
    MinusInfinity,
    Finite(Ratio),
    Infinity,
    NaN,
}

impl Number {
    /// Reads a numeral, or one of the names of what is not finite.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        Some(match text {
            "NaN" => Self::NaN,
            "inf" | "Infinity" => Self::Infinity,
            "-inf" | "-Infinity" => Self::MinusInfinity,
            numeral => Self::Finite(Ratio::parse(numeral)?),
        })
    }
}

impl From<usize> for Number {
    fn from(number: usize) -> Self {
        Self::Finite(Ratio::new(number, 1))
    }
}

/// A fraction, not reduced; the denominator is positive.
#[derive(Debug, Clone)]
pub(crate) struct Ratio {
    top: BigInt,
    bottom: BigInt,
}

impl Ratio {
    pub(crate) fn new(top: impl Into<BigInt>, bottom: impl Into<BigInt>) -> Self {
        Self { top: top.into(), bottom: bottom.into() }
    }

    pub(crate) fn zero() -> Self {
        Self::new(0, 1)
    }

    /// Reads `-12.50` or `-1250e-2`.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let top: BigInt = format!("{whole}{fraction}").parse().ok()?;
        let exponent = exponent.parse::<i32>().ok()? - i32::try_from(fraction.len()).ok()?;
        let power = BigInt::from(10).pow(exponent.unsigned_abs());
        Some(if exponent < 0 { Self::new(top, power) } else { Self::new(top * power, 1) })
    }

    pub(crate) fn plus(&self, other: &Self) -> Self {
        if self.bottom == other.bottom {
            return Self::new(&self.top + &other.top, self.bottom.clone());
        }
        Self::new(&self.top * &other.bottom + &other.top * &self.bottom, &self.bottom * &other.bottom)
    }

    pub(crate) fn negated(&self) -> Self {
        Self::new(-&self.top, self.bottom.clone())
    }

    pub(crate) fn minus(&self, other: &Self) -> Self {
        self.plus(&other.negated())
    }

    pub(crate) fn times(&self, other: &Self) -> Self {
        Self::new(&self.top * &other.top, &self.bottom * &other.bottom)
    }

    pub(crate) fn over(&self, count: usize) -> Self {
        Self::new(self.top.clone(), &self.bottom * count)
    }

    pub(crate) fn magnitude(&self) -> Self {
        if *self < Self::zero() { self.negated() } else { self.clone() }
    }

    /// The largest integer not above it.
    pub(crate) fn floor(&self) -> i128 {
        let quotient = &self.top / &self.bottom;
        let below = i128::from(Self::new(quotient.clone(), 1) > *self);
        i128::try_from(&quotient).expect("a small number") - below
    }

    /// The one spelling of the fraction: both sides without common factors.
    pub(crate) fn reduced(&self) -> String {
        let (mut one, mut other) = (self.top.clone(), self.bottom.clone());
        while other != BigInt::ZERO {
            (one, other) = (other.clone(), one % other);
        }
        let common = if one < BigInt::ZERO { -one } else { one };
        format!("{}/{}", &self.top / &common, &self.bottom / &common)
    }

    /// How many significant digits it has as a decimal, if it has an end.
    pub(crate) fn digits(&self) -> Option<usize> {
        let reduced = self.reduced();
        let (top, bottom) = reduced.split_once('/')?;
        let (mut top, mut bottom): (BigInt, BigInt) = (top.parse().ok()?, bottom.parse().ok()?);
        for factor in [2, 5] {
            while &bottom % factor == BigInt::ZERO {
                bottom /= factor;
                top *= 10 / factor;
            }
        }
        (bottom == BigInt::from(1))
            .then(|| top.to_string().trim_start_matches('-').trim_end_matches('0').len())
    }

    /// The exact sum of what doubles stand for in binary, rounded once; `str::parse` is what rounds.
    pub(crate) fn sum_of_doubles<'a>(numbers: impl Iterator<Item = &'a Self>) -> Self {
        const DIGITS: usize = 1074;
        let exact = |number: &Self| {
            let digits = format!("{:.DIGITS$}", number.to_double());
            digits.replace('.', "").parse::<BigInt>().expect("digits")
        };
        let sum: BigInt = numbers.map(exact).sum();
        let rounded: f64 = format!("{sum}e-{DIGITS}").parse().expect("a numeral");
        Self::parse(&format!("{rounded:e}")).expect("a finite sum")
    }

    /// The nearest double of a decimal, whose denominator is a power of ten.
    fn to_double(&self) -> f64 {
        let exponent = self.bottom.to_string().len() - 1;
        format!("{}e-{exponent}", self.top).parse().expect("a numeral")
    }
}

impl From<&Decimal> for Ratio {
    fn from(decimal: &Decimal) -> Self {
        Self::parse(&decimal.to_string()).expect("a decimal displays as a numeral")
    }
}

impl From<u64> for Ratio {
    fn from(number: u64) -> Self {
        Self::new(number, 1)
    }
}

impl Ord for Ratio {
    fn cmp(&self, other: &Self) -> Ordering {
        (&self.top * &other.bottom).cmp(&(&other.top * &self.bottom))
    }
}

impl PartialOrd for Ratio {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Ratio {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Ratio {}
