//! What is in a cell, as text.

use std::borrow::Cow;
use std::fmt::Write as _;

use calamine::{DataRef, ExcelDateTime, ExcelDateTimeType};

use crate::error::Problem;

const DAY_MS: i64 = 86_400_000;

/// The days up to the end of 9999, where Excel's calendar ends, counted from 1900 and from 1904.
const DAYS: [i64; 2] = [2_958_466, 2_957_004];

/// The day that Excel has in 1900, and no calendar.
const NO_DAY: i64 = 60;

/// The text of a cell; none where nothing is in it.
pub(super) fn text<'a>(value: &'a DataRef<'_>, from_1904: bool) -> Result<Option<Cow<'a, str>>, Problem> {
    Ok(Some(match value {
        DataRef::Empty => return Ok(None),
        DataRef::String(text) | DataRef::DateTimeIso(text) | DataRef::DurationIso(text) => {
            text.as_str().into()
        }
        DataRef::SharedString(text) => (*text).into(),
        DataRef::Int(number) => number.to_string().into(),
        DataRef::Float(number) => numeral(*number).into(),
        DataRef::Bool(flag) => if *flag { "true" } else { "false" }.into(),
        DataRef::DateTime(moment) if moment.is_duration() => duration(moment.as_f64()).into(),
        DataRef::DateTime(moment) => date_or_time(moment.as_f64(), from_1904)?.into(),
        DataRef::Error(error) => return Err(Problem::Formula(error.to_string())),
    }))
}

/// The shortest numeral that means this number; with an exponent, where it would be long without.
fn numeral(number: f64) -> String {
    if number == 0.0 {
        return "0".to_owned();
    }
    if (1e-7..1e17).contains(&number.abs()) { number.to_string() } else { format!("{number:e}") }
}

/// A number of days as the date, the time, or both that Excel shows.
fn date_or_time(serial: f64, from_1904: bool) -> Result<String, Problem> {
    let ms = (serial * DAY_MS as f64).round() as i64;
    let (day, ms) = (ms.div_euclid(DAY_MS), ms.rem_euclid(DAY_MS));
    let is_beyond = !(0..DAYS[usize::from(from_1904)]).contains(&day);
    if is_beyond || (day == NO_DAY && !from_1904) {
        return Err(Problem::NoDate(serial));
    }
    let mut text = String::new();
    if day > 0 {
        let midnight = ExcelDateTime::new(day as f64, ExcelDateTimeType::DateTime, from_1904);
        let (year, month, day, ..) = midnight.to_ymd_hms_milli();
        append(&mut text, format_args!("{year:04}-{month:02}-{day:02}"));
        if ms == 0 {
            return Ok(text);
        }
        text.push('T');
    }
    append(&mut text, format_args!("{:02}:{:02}:{:02}", ms / 3_600_000, ms / 60_000 % 60, ms / 1000 % 60));
    if ms % 1000 > 0 {
        append(&mut text, format_args!(".{:03}", ms % 1000));
    }
    Ok(text)
}

/// A number of days as ISO 8601 has durations, in hours and less.
fn duration(days: f64) -> String {
    let ms = (days * DAY_MS as f64).round() as i64;
    let mut text = if ms < 0 { "-PT" } else { "PT" }.to_owned();
    let ms = ms.unsigned_abs();
    for (count, unit) in [(ms / 3_600_000, 'H'), (ms / 60_000 % 60, 'M')] {
        if count > 0 {
            append(&mut text, format_args!("{count}{unit}"));
        }
    }
    let seconds = ms % 60_000;
    if seconds > 0 || text.ends_with('T') {
        append(&mut text, format_args!("{}S", seconds as f64 / 1000.0));
    }
    text
}

fn append(text: &mut String, pieces: std::fmt::Arguments<'_>) {
    text.write_fmt(pieces).expect("writing to a String cannot fail");
}

/// The name of a cell, as in `B17`, from its row and column, from 0.
pub(super) fn name(row: u32, column: u32) -> String {
    let mut letters = Vec::new();
    let mut left = column + 1;
    while left > 0 {
        left -= 1;
        letters.push(char::from(b'A' + (left % 26) as u8));
        left /= 26;
    }
    letters.into_iter().rev().collect::<String>() + &(row + 1).to_string()
}

#[cfg(test)]
mod tests {
    use super::{date_or_time, duration, name, numeral};

    #[test]
    fn numbers_are_what_is_stored() {
        let table = [
            (0.0, "0"),
            (-0.0, "0"),
            (1.0, "1"),
            (-1.5, "-1.5"),
            (0.1 + 0.2, "0.30000000000000004"),
            (1_234_567_890.12, "1234567890.12"),
            (9_007_199_254_740_992.0, "9007199254740992"),
            (1e300, "1e300"),
            (-2.5e-9, "-2.5e-9"),
        ];
        for (number, expected) in table {
            assert_eq!(numeral(number), expected);
        }
    }

    #[test]
    fn days_of_both_calendars() {
        let table = [
            (0.0, false, Ok("00:00:00")),
            (0.4375, false, Ok("10:30:00")),
            (1.0, false, Ok("1900-01-01")),
            (59.0, false, Ok("1900-02-28")),
            (60.0, false, Err(60.0)),
            (60.5, false, Err(60.5)),
            (61.0, false, Ok("1900-03-01")),
            (46_053.0, false, Ok("2026-01-31")),
            (46_053.5, false, Ok("2026-01-31T12:00:00")),
            (46_053.999_999_999, false, Ok("2026-02-01")),
            (45_943.541, false, Ok("2025-10-13T12:59:02.400")),
            (2_958_465.0, false, Ok("9999-12-31")),
            (2_958_466.0, false, Err(2_958_466.0)),
            (-1.0, false, Err(-1.0)),
            (1e300, false, Err(1e300)),
            (60.0, true, Ok("1904-03-01")),
            (44_591.0, true, Ok("2026-01-31")),
            (2_957_003.0, true, Ok("9999-12-31")),
            (2_957_004.0, true, Err(2_957_004.0)),
        ];
        for (serial, from_1904, expected) in table {
            let found = date_or_time(serial, from_1904);
            let expected = expected.map(str::to_owned).map_err(crate::error::Problem::NoDate);
            assert_eq!(found, expected, "{serial} {from_1904}");
        }
    }

    #[test]
    fn durations_are_in_hours() {
        let table = [
            (0.0, "PT0S"),
            (1.5, "PT36H"),
            (37.504_340_277_777_78 / 24.0, "PT37H30M15.625S"),
            (-0.25, "-PT6H"),
        ];
        for (days, expected) in table {
            assert_eq!(duration(days), expected);
        }
    }

    #[test]
    fn names_of_cells() {
        for (row, column, expected) in
            [(0, 0, "A1"), (16, 1, "B17"), (0, 25, "Z1"), (0, 26, "AA1"), (9, 16_383, "XFD10")]
        {
            assert_eq!(name(row, column), expected);
        }
    }
}
