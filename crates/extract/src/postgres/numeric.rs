//! `NUMERIC` as it is on the wire: digits to the base of 10,000, and what they come to.

use super::copy::Malformed;

const NEGATIVE: u16 = 0x4000;
const NOT_A_NUMBER: u16 = 0xc000;
const INFINITY: u16 = 0xd000;
const NEGATIVE_INFINITY: u16 = 0xf000;

/// What a decimal of 128 bits holds.
pub(super) const DIGITS_MAX: i32 = 38;

/// How many digits the values of a column need.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Extent {
    whole: i32,
    scale: i32,
    has_words: bool,
}

impl Extent {
    /// The scale of decimals that hold every value; there is none where some are too long, or no number.
    pub(super) fn scale(self) -> Option<i8> {
        let fits = !self.has_words && self.whole + self.scale <= DIGITS_MAX;
        i8::try_from(self.scale).ok().filter(|_| fits)
    }

    /// Takes in a value as it is written.
    pub(super) fn widen_shown(&mut self, numeral: &str) {
        let digits = numeral.trim_start_matches('-');
        let whole = digits.split('.').next().unwrap_or_default().trim_start_matches('0');
        self.has_words |= digits.starts_with(|first: char| first.is_ascii_alphabetic());
        self.whole = self.whole.max(i32::try_from(whole.len()).unwrap_or(i32::MAX));
    }

    /// Takes in a scale.
    pub(super) fn widen_scale(&mut self, scale: i32) {
        self.scale = self.scale.max(scale);
    }

    pub(super) fn widen(&mut self, bytes: &[u8]) -> Result<(), Malformed> {
        let number = Numeric::read(bytes)?;
        self.has_words |= number.word().is_some();
        self.whole = self.whole.max(number.whole_digits());
        self.scale = self.scale.max(number.scale);
        Ok(())
    }
}

/// One value.
pub(super) struct Numeric<'a> {
    /// The power of 10,000 of the first digit.
    weight: i32,
    sign: u16,
    /// Digits after the point that are shown.
    scale: i32,
    digits: &'a [[u8; 2]],
}

impl<'a> Numeric<'a> {
    pub(super) fn read(bytes: &'a [u8]) -> Result<Self, Malformed> {
        let (words, rest) = bytes.as_chunks::<2>();
        let [count, weight, sign, scale, digits @ ..] = words else { return Err(Malformed) };
        if !rest.is_empty() || digits.len() != usize::from(u16::from_be_bytes(*count)) {
            return Err(Malformed);
        }
        let weight = i32::from(i16::from_be_bytes(*weight));
        let scale = i32::from(u16::from_be_bytes(*scale));
        Ok(Self { weight, sign: u16::from_be_bytes(*sign), scale, digits })
    }

    /// What it is when it is no number.
    fn word(&self) -> Option<&'static str> {
        match self.sign {
            NOT_A_NUMBER => Some("NaN"),
            INFINITY => Some("Infinity"),
            NEGATIVE_INFINITY => Some("-Infinity"),
            _ => None,
        }
    }

    /// Digits before the point.
    fn whole_digits(&self) -> i32 {
        let first = self.digits.first().map_or(0, |first| u16::from_be_bytes(*first));
        let of_first = first.checked_ilog10().map_or(0, |log| log.cast_signed() + 1);
        (4 * self.weight + of_first).max(0)
    }

    /// The digits with the powers of ten that they count, shifted by a scale.
    fn powers(&self, scale: i32) -> impl Iterator<Item = (u16, i32)> {
        let first = 4 * self.weight + scale;
        (0..).zip(self.digits).map(move |(at, digit)| (u16::from_be_bytes(*digit), first - 4 * at))
    }

    /// The value as a whole number of units of that scale, which [`Extent`] has found to hold it.
    pub(super) fn units(&self, scale: i8) -> Result<i128, Malformed> {
        let ten = |power: i32| u32::try_from(power).ok().and_then(|power| 10_i128.checked_pow(power));
        let mut units: i128 = 0;
        for (digit, power) in self.powers(i32::from(scale)) {
            let digit = i128::from(digit);
            let part = match ten(power) {
                Some(unit) => digit.checked_mul(unit),
                // Behind the last digit shown there are only zeros.
                None => ten(-power).map(|unit| digit / unit),
            };
            units = part.and_then(|part| units.checked_add(part)).ok_or(Malformed)?;
        }
        Ok(if self.sign == NEGATIVE { -units } else { units })
    }

    /// The value as it is written.
    pub(super) fn numeral(&self) -> String {
        if let Some(word) = self.word() {
            return word.to_owned();
        }
        let (whole, scale) = (self.whole_digits().max(1), self.scale);
        let mut digits = vec![b'0'; usize::try_from(whole + scale).unwrap_or_default()];
        for (digit, power) in self.powers(scale) {
            let mut digit = digit;
            for place in power..power + 4 {
                // Behind the last digit shown there are only zeros, which have no place.
                let at = usize::try_from(whole + scale - 1 - place).ok();
                if let Some(shown) = at.and_then(|at| digits.get_mut(at)) {
                    *shown = b'0' + (digit % 10) as u8;
                }
                digit /= 10;
            }
        }
        let (before, behind) = digits.split_at(usize::try_from(whole).unwrap_or_default());
        let text = |digits: &[u8]| digits.iter().map(|digit| char::from(*digit)).collect::<String>();
        let sign = if self.sign == NEGATIVE { "-" } else { "" };
        let point = if behind.is_empty() { "" } else { "." };
        format!("{sign}{}{point}{}", text(before), text(behind))
    }
}
