//! What a generated column is about, and single values of it.

use super::random::Random;
use crate::oracle::{Number, Value};

pub(crate) const SECOND: i128 = 1_000_000_000;
pub(crate) const DAY: i128 = 86_400 * SECOND;

/// What a column is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Integer,
    Decimal,
    /// Decimals with NaN, infinities and negative zeros among them.
    Special,
    /// Doubles from 5e-324 to 1e300.
    Wild,
    /// Integers around 2^53 and beyond, and decimals of thirty digits.
    Big,
    Boolean,
    /// A column of `Spec::booleans`.
    Flag,
    Text,
    Date,
    Timestamp,
    Instant,
    Time,
    Binary,
}

impl Kind {
    pub(crate) fn is_number(self) -> bool {
        matches!(self, Self::Integer | Self::Decimal | Self::Special | Self::Wild | Self::Big)
    }

    pub(crate) fn is_time(self) -> bool {
        matches!(self, Self::Date | Self::Timestamp | Self::Instant | Self::Time)
    }
}

/// A generated value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Cell {
    Null,
    /// Digits and how many of them are behind the point.
    Decimal(i128, i32),
    /// `NaN`, `inf`, `-inf` or `-0`.
    Special(&'static str),
    Bool(bool),
    Text(String),
    Bytes(Vec<u8>),
    Nanos(i128),
}

impl Cell {
    /// The shortest plain numeral.
    pub(crate) fn numeral(&self) -> Option<String> {
        match self {
            Self::Decimal(digits, scale) if *scale <= 0 => {
                Some(format!("{digits}{}", "0".repeat(usize::try_from(-scale).expect("not negative"))))
            }
            Self::Decimal(digits, scale) => {
                let scale = usize::try_from(*scale).expect("not negative");
                let padded = format!("{:0>width$}", digits.unsigned_abs(), width = scale + 1);
                let (whole, fraction) = padded.split_at(padded.len() - scale);
                let plain = format!("{}{whole}.{fraction}", if *digits < 0 { "-" } else { "" });
                Some(plain.trim_end_matches('0').trim_end_matches('.').to_owned())
            }
            Self::Special(name) => Some((*name).to_owned()),
            _ => None,
        }
    }

    pub(crate) fn value(&self) -> Value {
        match self {
            Self::Null => Value::Null,
            Self::Decimal(..) | Self::Special(_) => {
                Value::Number(self.numeral().and_then(|numeral| Number::parse(&numeral)).expect("a number"))
            }
            Self::Bool(bool) => Value::Bool(*bool),
            Self::Text(text) => Value::Text(text.clone()),
            Self::Bytes(bytes) => Value::Bytes(bytes.clone()),
            Self::Nanos(nanos) => Value::Time(*nanos),
        }
    }
}

/// Texts that can be read as nothing else, many of which a normaliser makes equal.
const TEXTS: [&str; 18] = [
    "",
    " ",
    "apple",
    "Apple",
    " apple",
    "apple\t",
    "APPLE",
    "two words",
    "two  words",
    "two \n words",
    "Straße",
    "STRASSE",
    "caf\u{e9}",
    "cafe\u{301}",
    "007",
    "n/a",
    "NULL",
    "NaN",
];

/// A value of a pool in which values repeat.
pub(crate) fn any(kind: Kind, random: &mut Random) -> Cell {
    match kind {
        Kind::Integer => Cell::Decimal(random.between(-3, 120).into(), 0),
        Kind::Decimal => {
            Cell::Decimal(i128::from(random.between(-500, 500)) * random.pick(&[10_000, 100, 500_000]), 4)
        }
        Kind::Special if random.percent(30) => Cell::Special(random.pick(&["NaN", "inf", "-inf", "-0"])),
        Kind::Special => Cell::Decimal(random.between(-9, 9).into(), 1),
        Kind::Wild => random.pick(&[
            Cell::Decimal(1, -300),
            Cell::Decimal(-1, -300),
            Cell::Decimal(5, 324),
            Cell::Decimal(1, 1),
            Cell::Decimal(3, 1),
            Cell::Special("-0"),
            Cell::Decimal(1, -16),
        ]),
        Kind::Big => random.pick(&[
            Cell::Decimal(1 << 53, 0),
            Cell::Decimal((1 << 53) + 1, 0),
            Cell::Decimal(-(1 << 53) - 1, 0),
            Cell::Decimal(i64::MAX.into(), 0),
            Cell::Decimal(i64::MIN.into(), 0),
            Cell::Decimal(0, 0),
        ]),
        Kind::Boolean | Kind::Flag => Cell::Bool(random.percent(50)),
        Kind::Text => Cell::Text(random.pick(&TEXTS).to_owned()),
        Kind::Date => Cell::Nanos(i128::from(random.between(-400, 20_000)) * DAY),
        Kind::Timestamp | Kind::Instant if random.percent(20) => {
            Cell::Nanos(i128::from(random.between(-3, 20_000)) * DAY)
        }
        Kind::Timestamp | Kind::Instant => {
            let fraction =
                i128::from(random.between(0, 2)) * random.pick(&[0, 1, 1_000, 1_000_000, 500_000_000]);
            Cell::Nanos(i128::from(random.between(-100_000, 1_700_000_000)) * SECOND + fraction)
        }
        Kind::Time => Cell::Nanos(
            i128::from(random.between(0, 86_399)) * SECOND + random.pick(&[0, 1, 1_500, 2_000_000]),
        ),
        Kind::Binary => {
            Cell::Bytes(vec![u8::try_from(random.between(0, 255)).expect("a byte"); random.below(3)])
        }
    }
}

/// The value with this number among the different ones of a kind, for keys.
pub(crate) fn numbered(kind: Kind, number: usize) -> Cell {
    let signed = i128::try_from(number).expect("small");
    match kind {
        Kind::Integer => Cell::Decimal(signed % 120 - 3, 0),
        Kind::Decimal => Cell::Decimal(signed * 2_500 - 10_000, 4),
        Kind::Special => {
            [Cell::Special("NaN"), Cell::Special("-0"), Cell::Special("inf"), Cell::Decimal(0, 0)]
                .get(number)
                .cloned()
                .unwrap_or(Cell::Decimal(signed, 2))
        }
        Kind::Wild => Cell::Decimal(signed, if number.is_multiple_of(2) { -290 } else { 290 }),
        Kind::Big => Cell::Decimal((1 << 53) + signed, 0),
        Kind::Boolean | Kind::Flag => Cell::Bool(number % 2 == 1),
        Kind::Text => {
            Cell::Text(TEXTS.get(number).map_or_else(|| format!("key {number}"), |text| (*text).to_owned()))
        }
        Kind::Date => Cell::Nanos(signed * DAY),
        Kind::Timestamp | Kind::Instant => Cell::Nanos(signed * 1_000_000 * SECOND + signed % 3 * 1_000),
        Kind::Time => Cell::Nanos(signed % 86_400 * SECOND),
        Kind::Binary => Cell::Bytes(number.to_be_bytes().to_vec()),
    }
}
