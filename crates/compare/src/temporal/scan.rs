//! The pieces that dates and times are written with; each function returns what it read and what follows.

use super::Order;

/// What was read, and the text after it.
pub(super) type Scanned<'a, T> = Option<(T, &'a [u8])>;

fn digit(byte: u8) -> Option<u32> {
    let value = byte.wrapping_sub(b'0');
    (value < 10).then_some(u32::from(value))
}

/// Reads exactly two digits.
#[inline]
pub(super) fn two_digits(text: &[u8]) -> Scanned<'_, u32> {
    let [tens, units, rest @ ..] = text else {
        return None;
    };
    Some((digit(*tens)? * 10 + digit(*units)?, rest))
}

/// Reads one or two digits, two if there are two.
#[inline]
pub(super) fn one_or_two_digits(text: &[u8]) -> Scanned<'_, u32> {
    let [first, rest @ ..] = text else { return None };
    let units = digit(*first)?;
    if let [second, beyond @ ..] = rest
        && let Some(second) = digit(*second)
    {
        return Some((units * 10 + second, beyond));
    }
    Some((units, rest))
}

/// Reads exactly four digits.
#[inline]
pub(super) fn four_digits(text: &[u8]) -> Scanned<'_, u32> {
    let (high, rest) = two_digits(text)?;
    let (low, rest) = two_digits(rest)?;
    Some((high * 100 + low, rest))
}

/// Marks the bytes of a word that hold no digit, first byte lowest: `dddd-dd-`.
const YEAR_FIRST_MARKS: u64 = 0xff00_00ff_0000_0000;
/// `dd-dd-dd`, which is also the layout of `HH:MM:SS`.
const PAIR_MARKS: u64 = 0x0000_ff00_00ff_0000;
const EVERY_BYTE: u64 = 0x0101_0101_0101_0101;

/// Reads eight bytes at once: `mark` where `marks` says so, digits elsewhere.
///
/// Byte n of the result is the number that the digits n and n + 1 write.
#[inline]
fn digit_pairs(text: &[u8], marks: u64, mark: u8) -> Scanned<'_, [u8; 8]> {
    const TOP_BITS: u64 = EVERY_BYTE << 7;
    let (bytes, rest) = text.split_first_chunk()?;
    let expected = ((EVERY_BYTE * u64::from(b'0')) & !marks) | ((EVERY_BYTE * u64::from(mark)) & marks);
    // Digits become 0 to 9 and marks 0; anything else in their place becomes more than that.
    let digits = u64::from_le_bytes(*bytes) ^ expected;
    // The sums reach the top bit of a byte for digits above 9 and marks above 0.
    let sums = digits.wrapping_add(((EVERY_BYTE * 0x76) & !marks) | ((EVERY_BYTE * 0x7f) & marks));
    if (sums | digits) & TOP_BITS != 0 {
        return None;
    }
    Some(((digits * 10 + (digits >> 8)).to_le_bytes(), rest))
}

/// Reads year, month and day, which need not be those of an existing date.
#[inline]
pub(super) fn date(text: &[u8], order: Order, separator: u8) -> Scanned<'_, (u32, u32, u32)> {
    if order == Order::YearFirst {
        let Some((pairs, rest)) = digit_pairs(text, YEAR_FIRST_MARKS, separator) else {
            return date_of_single_digits(text, order, separator);
        };
        let (day, rest) = one_or_two_digits(rest)?;
        return Some(((u32::from(pairs[0]) * 100 + u32::from(pairs[2]), pairs[5].into(), day), rest));
    }
    let Some((pairs, rest)) = digit_pairs(text, PAIR_MARKS, separator) else {
        return date_of_single_digits(text, order, separator);
    };
    let (year_of_century, rest) = two_digits(rest)?;
    let (month, day) = if order == Order::DayFirst { (pairs[3], pairs[0]) } else { (pairs[0], pairs[3]) };
    Some(((u32::from(pairs[6]) * 100 + year_of_century, month.into(), day.into()), rest))
}

fn date_of_single_digits(text: &[u8], order: Order, separator: u8) -> Scanned<'_, (u32, u32, u32)> {
    if order == Order::YearFirst {
        let (year, rest) = four_digits(text)?;
        let (month, rest) = one_or_two_digits(literal(rest, separator)?)?;
        let (day, rest) = one_or_two_digits(literal(rest, separator)?)?;
        return Some(((year, month, day), rest));
    }
    let (first, rest) = one_or_two_digits(text)?;
    let (second, rest) = one_or_two_digits(literal(rest, separator)?)?;
    let (year, rest) = four_digits(literal(rest, separator)?)?;
    let (month, day) = if order == Order::DayFirst { (second, first) } else { (first, second) };
    Some(((year, month, day), rest))
}

/// Reads `HH:MM:SS`, which need not be a time of the day.
#[inline]
pub(super) fn clock(text: &[u8]) -> Scanned<'_, (u32, u32, u32)> {
    let (pairs, rest) = digit_pairs(text, PAIR_MARKS, b':')?;
    Some(((pairs[0].into(), pairs[3].into(), pairs[6].into()), rest))
}

/// Reads up to `most` digits, at least one.
pub(super) fn number(text: &[u8], most: usize) -> Scanned<'_, u64> {
    let length = text.iter().take(most).take_while(|byte| byte.is_ascii_digit()).count();
    if length == 0 {
        return None;
    }
    let (digits, rest) = text.split_at(length);
    let value = digits.iter().fold(0, |value, byte| value * 10 + u64::from(byte - b'0'));
    Some((value, rest))
}

/// Steps over one byte, if it is the next.
#[inline]
pub(super) fn literal(text: &[u8], byte: u8) -> Option<&[u8]> {
    match text {
        [first, rest @ ..] if *first == byte => Some(rest),
        _ => None,
    }
}

/// Reads the digits behind a decimal point as nanoseconds; past the ninth they must be zeros.
pub(super) fn fraction(text: &[u8]) -> Scanned<'_, u32> {
    let mut nanos = 0;
    let mut length = 0;
    for value in text.iter().map_while(|byte| digit(*byte)) {
        if length < 9 {
            nanos = nanos * 10 + value;
        } else if value != 0 {
            return None;
        }
        length += 1;
    }
    if length == 0 {
        return None;
    }
    for _ in length..9 {
        nanos *= 10;
    }
    Some((nanos, &text[length..]))
}

/// Reads `AM` or `PM` in any case; true for `PM`.
pub(super) fn meridiem(text: &[u8]) -> Scanned<'_, bool> {
    let [half, b'M' | b'm', rest @ ..] = text else {
        return None;
    };
    match half {
        b'A' | b'a' => Some((false, rest)),
        b'P' | b'p' => Some((true, rest)),
        _ => None,
    }
}

/// Reads `Z` or `±HH[:]MM` as seconds east of UTC.
pub(super) fn offset(text: &[u8]) -> Scanned<'_, i64> {
    if let Some(rest) = literal(text, b'Z') {
        return Some((0, rest));
    }
    let (hours, rest) = offset_hours(text)?;
    let rest = literal(rest, b':').unwrap_or(rest);
    let (minutes, rest) = two_digits(rest)?;
    if minutes > 59 {
        return None;
    }
    let minutes = i64::from(minutes) * 60;
    Some((if text[0] == b'-' { hours - minutes } else { hours + minutes }, rest))
}

/// Reads `±HH` as seconds east of UTC.
pub(super) fn offset_hours(text: &[u8]) -> Scanned<'_, i64> {
    let [sign @ (b'+' | b'-'), rest @ ..] = text else {
        return None;
    };
    let (hours, rest) = two_digits(rest)?;
    if hours > 23 {
        return None;
    }
    let seconds = i64::from(hours) * 3600;
    Some((if *sign == b'-' { -seconds } else { seconds }, rest))
}

/// Finds the hour of the day from the hour written and whether it is past noon; `None` if no clock shows that.
#[inline]
pub(super) fn hour_of_day(hour: u32, afternoon: Option<bool>) -> Option<u32> {
    match afternoon {
        None => (hour < 24).then_some(hour),
        Some(afternoon) => (1..=12).contains(&hour).then_some(hour % 12 + if afternoon { 12 } else { 0 }),
    }
}

/// Finds the second of the day; `None` for leap seconds and for 24:00.
#[inline]
pub(super) fn second_of_day(hour: u32, minute: u32, second: u32) -> Option<i64> {
    (hour < 24 && minute < 60 && second < 60).then_some(i64::from(hour * 3600 + minute * 60 + second))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reading_eight_bytes_at_once_finds_what_reading_them_singly_does() {
        for (order, text) in [
            (Order::YearFirst, *b"2024-12-31"),
            (Order::DayFirst, *b"31-12-2024"),
            (Order::MonthFirst, *b"09-08-0706"),
        ] {
            for position in 0..text.len() {
                for byte in 0..=u8::MAX {
                    let mut changed = text;
                    changed[position] = byte;
                    let expected = date_of_single_digits(&changed, order, b'-');
                    assert_eq!(date(&changed, order, b'-'), expected, "{changed:?}");
                }
            }
        }
    }

    #[test]
    fn clocks_are_two_digits_between_colons() {
        for (text, expected) in [
            ("13:47:09", Some((13, 47, 9))),
            ("99:99:99", Some((99, 99, 99))),
            ("13:47:9", None),
            ("13:47-09", None),
            ("1::47:09", None),
            ("13:4\u{e9}:0", None),
        ] {
            assert_eq!(clock(text.as_bytes()).map(|(clock, _)| clock), expected, "{text}");
        }
    }
}
