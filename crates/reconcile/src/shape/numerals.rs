//! How numbers are written in the text of a source.

use std::borrow::Cow;

use trueup_compare::{Number, NumeralError};

/// Behind a thousands separator there are this many digits, up to the next.
const GROUP: usize = 3;

/// How numbers are written in the text of a source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Numerals {
    /// What is before decimals.
    pub(crate) decimal: char,
    /// What may be between thousands.
    pub(crate) thousands: Option<char>,
}

impl Default for Numerals {
    fn default() -> Self {
        Self { decimal: '.', thousands: None }
    }
}

impl Numerals {
    /// Whether numerals are written as everybody else writes them here.
    pub(crate) fn are_plain(self) -> bool {
        self == Self::default()
    }

    /// Reads a number.
    pub(crate) fn read(self, text: &str) -> Result<Number, NumeralError> {
        let plain = self.plain(text).ok_or(NumeralError::NotNumeral)?;
        Number::parse(plain.as_bytes())
    }

    /// The same numeral with a point before its decimals and nothing between thousands; what is no numeral may come out as it is.
    pub(crate) fn plain(self, text: &str) -> Option<Cow<'_, str>> {
        if self.are_plain() {
            return Some(Cow::Borrowed(text));
        }
        let (sign, unsigned) = text.strip_prefix('-').map_or(("", text), |unsigned| ("-", unsigned));
        let end = unsigned.find(['e', 'E']).unwrap_or(unsigned.len());
        let (mantissa, power) = unsigned.split_at(end);
        let (whole, fraction) = match mantissa.split_once(self.decimal) {
            Some((whole, fraction)) => (whole, Some(fraction)),
            None => (mantissa, None),
        };
        let are_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        if fraction.is_some_and(|fraction| !are_digits(fraction)) {
            return None;
        }
        let whole = match self.thousands {
            Some(separator) if whole.contains(separator) => ungrouped(whole, separator)?,
            _ if are_digits(whole) => Cow::Borrowed(whole),
            // Such as NaN, which has neither decimals nor thousands.
            _ => return fraction.is_none().then_some(Cow::Borrowed(text)).filter(|text| !text.contains('.')),
        };
        let point = if fraction.is_some() { "." } else { "" };
        Some(Cow::Owned(format!("{sign}{whole}{point}{}{power}", fraction.unwrap_or_default())))
    }

    /// What a number may look like, for people.
    pub(crate) fn example(self) -> String {
        match self.thousands {
            Some(thousands) => format!("1{thousands}234{}56", self.decimal),
            None => format!("1234{}56", self.decimal),
        }
    }
}

/// The digits of `1.234.567`, where every group but the first is of three.
fn ungrouped(whole: &str, separator: char) -> Option<Cow<'_, str>> {
    let mut groups = whole.split(separator);
    let first = groups.next().filter(|first| (1..=GROUP).contains(&first.len()))?;
    let is_zero = first.starts_with('0');
    let mut digits = first.to_owned();
    for group in groups {
        if group.len() != GROUP {
            return None;
        }
        digits.push_str(group);
    }
    // `0.123` has no thousands: it is a number in another form.
    (!is_zero && digits.bytes().all(|byte| byte.is_ascii_digit())).then_some(Cow::Owned(digits))
}

#[cfg(test)]
mod tests {
    use super::Numerals;

    #[test]
    fn numbers_are_read_as_they_are_written() {
        let german = Numerals { decimal: ',', thousands: Some('.') };
        let swiss = Numerals { decimal: '.', thousands: Some('’') };
        let french = Numerals { decimal: ',', thousands: Some('\u{202f}') };
        let comma = Numerals { decimal: ',', thousands: None };
        let english = Numerals { decimal: '.', thousands: Some(',') };
        let table = [
            (german, "1.234,56", Some("1234.56")),
            (german, "-1.234.567,8", Some("-1234567.8")),
            (german, "1234,56", Some("1234.56")),
            (german, "0,5", Some("0.5")),
            (german, "7", Some("7")),
            (german, "1,5e3", Some("1500")),
            (german, "999", Some("999")),
            (german, "NaN", Some("NaN")),
            (german, "-inf", Some("-inf")),
            (german, "1.234", Some("1234")),
            (german, "12.34", None),
            (german, "0.123", None),
            (german, "1.2345", None),
            (german, "1234.567", None),
            (german, "1,234.56", None),
            (german, "1.234,", None),
            (german, ",5", None),
            (german, ".234", None),
            (german, "1..234", None),
            (german, "007", None),
            (german, "+1,5", None),
            (german, "", None),
            (german, "1.23４", None),
            (swiss, "1’234.50", Some("1234.5")),
            (swiss, "1'234.50", None),
            (french, "1\u{202f}234,50", Some("1234.5")),
            (comma, "1,50", Some("1.5")),
            (comma, "1.50", None),
            (english, "1,234,567.89", Some("1234567.89")),
            (english, "12,34,567.89", None),
            (Numerals::default(), "1.50", Some("1.5")),
            (Numerals::default(), "1,50", None),
        ];
        for (numerals, text, expected) in table {
            let read = numerals.read(text).ok().map(|number| number.to_string());
            assert_eq!(read.as_deref(), expected, "{text} as {}", numerals.example());
        }
    }
}
