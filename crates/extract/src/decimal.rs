//! Numerals as decimals of 128 bits.

/// What a decimal of 128 bits holds.
pub(crate) const DIGITS_MAX: u8 = 38;

/// A numeral as a whole number of units of a scale, if that has all its digits.
pub(crate) fn units(numeral: &[u8], scale: i8) -> Option<i128> {
    let (is_negative, digits) = match numeral.split_first() {
        Some((b'-', digits)) => (true, digits),
        _ => (false, numeral),
    };
    let (mut units, mut behind) = (0_i128, None);
    for &byte in digits {
        match (byte, &mut behind) {
            (b'0'..=b'9', behind) => {
                units = units.checked_mul(10)? + i128::from(byte - b'0');
                behind.iter_mut().for_each(|count: &mut i8| *count += 1);
            }
            (b'.', None) => behind = Some(0),
            _ => return None,
        }
    }
    let missing = u32::try_from(scale - behind.unwrap_or(0)).ok()?;
    let units = 10_i128.checked_pow(missing).and_then(|shift| units.checked_mul(shift))?;
    Some(if is_negative { -units } else { units })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numerals_become_units_or_are_refused() {
        let table = [
            ("12.50", 2, Some(1250)),
            ("-0.01", 2, Some(-1)),
            ("-.5", 1, Some(-5)),
            ("7", 2, Some(700)),
            ("00012.5", 1, Some(125)),
            ("99999999999999999999999999999999999999", 0, Some(10_i128.pow(38) - 1)),
            ("1.005", 2, None),
            ("1e5", 0, None),
            ("1.0.0", 2, None),
        ];
        for (numeral, scale, expected) in table {
            assert_eq!(units(numeral.as_bytes(), scale), expected, "{numeral}");
        }
    }
}
