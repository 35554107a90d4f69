//! Lengths of time: `1h`, `1h30m`, `2d`, `-1d..+3d`.

use std::time::Duration;

use crate::decimal::Decimal;

/// Units from long to short, in nanoseconds.
const UNITS: [(&str, i128); 8] = [
    ("w", 604_800_000_000_000),
    ("d", 86_400_000_000_000),
    ("h", 3_600_000_000_000),
    ("m", 60_000_000_000),
    ("s", 1_000_000_000),
    ("ms", 1_000_000),
    ("us", 1_000),
    ("ns", 1),
];

/// Ten thousand years; what is longer is a mistake, and would overflow sums later.
const NANOS_MAX: i128 = 10_000 * 366 * 86_400_000_000_000;

/// A text that is no length of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum DurationError {
    /// It is not written as one.
    #[error("expected a duration such as 30s, 5m, 1h30m or 2d")]
    NotDuration,
    /// It is too long to be meant.
    #[error("a duration is at most ten thousand years")]
    TooLong,
    /// It says that something takes no or negative time.
    #[error("expected a duration of at least a second")]
    TooShort,
    /// It says that something takes negative time.
    #[error("expected a duration that is not negative")]
    Negative,
    /// A range that leaves out 0 would refuse equal values.
    #[error("expected a range around 0 such as -1d..+3d")]
    NotAroundZero,
}

/// Reads a length of time, which may be none.
pub fn parse_duration(text: &str) -> Result<Duration, DurationError> {
    let nanos = parse_nanos(text)?;
    let seconds = u64::try_from(nanos.div_euclid(1_000_000_000)).map_err(|_| DurationError::Negative)?;
    let rest = u32::try_from(nanos.rem_euclid(1_000_000_000)).map_err(|_| DurationError::NotDuration)?;
    Ok(Duration::new(seconds, rest))
}

/// Reads a length of time of at least a second, in seconds.
pub fn parse_limit(text: &str) -> Result<Duration, DurationError> {
    let nanos = parse_nanos(text)?;
    match u64::try_from(nanos / 1_000_000_000) {
        Ok(seconds) if seconds > 0 => Ok(Duration::from_secs(seconds)),
        _ => Err(DurationError::TooShort),
    }
}

/// Reads how far times may be apart, in seconds: `2d` either way, or `-1d..+3d`.
pub(crate) fn parse_span(text: &str) -> Result<(Decimal, Decimal), DurationError> {
    let seconds = |nanos: i128| Decimal::new(nanos, -9);
    if let Some((from, to)) = text.split_once("..") {
        let (from, to) = (parse_nanos(from)?, parse_nanos(to)?);
        return if from > 0 || to < 0 {
            Err(DurationError::NotAroundZero)
        } else {
            Ok((seconds(from), seconds(to)))
        };
    }
    let either_way = parse_nanos(text)?;
    if either_way < 0 {
        return Err(DurationError::NotAroundZero);
    }
    Ok((seconds(-either_way), seconds(either_way)))
}

/// Reads units from long to short, each once, the last with decimals if need be.
fn parse_nanos(text: &str) -> Result<i128, DurationError> {
    let text = text.trim();
    let (sign, mut rest) = match text.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, text.strip_prefix('+').unwrap_or(text)),
    };
    if rest == "0" {
        return Ok(0);
    }
    let mut nanos: i128 = 0;
    let mut units = UNITS.iter();
    while !rest.is_empty() {
        let unit_at = rest.find(|c: char| c.is_ascii_alphabetic()).ok_or(DurationError::NotDuration)?;
        let (numeral, behind) = rest.split_at(unit_at);
        let end = behind.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(behind.len());
        let (unit, behind) = behind.split_at(end);
        let (_, size) = units.find(|(name, _)| *name == unit).ok_or(DurationError::NotDuration)?;
        nanos += count_nanos(numeral, *size)?;
        if nanos > NANOS_MAX {
            return Err(DurationError::TooLong);
        }
        rest = behind.trim_start();
    }
    if nanos == 0 && text.is_empty() { Err(DurationError::NotDuration) } else { Ok(sign * nanos) }
}

fn count_nanos(numeral: &str, unit: i128) -> Result<i128, DurationError> {
    let (whole, fraction) = numeral.split_once('.').unwrap_or((numeral, ""));
    let are_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || !are_digits(whole) || !are_digits(fraction) || numeral.ends_with('.') {
        return Err(DurationError::NotDuration);
    }
    if whole.len() > 15 || fraction.len() > 9 {
        return Err(DurationError::TooLong);
    }
    let scale = 10_i128.pow(u32::try_from(fraction.len()).unwrap_or_default());
    let number: i128 = format!("{whole}{fraction}").parse().map_err(|_| DurationError::NotDuration)?;
    // A fraction of a nanosecond is nothing that anything here could tell apart.
    if (number * unit) % scale == 0 { Ok(number * unit / scale) } else { Err(DurationError::NotDuration) }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{DurationError, parse_duration, parse_limit, parse_span};

    #[test]
    fn limits_and_spans() {
        for (text, seconds) in
            [("1h", 3600), ("90m", 5400), ("1h30m", 5400), ("1d 12h", 129_600), ("1.5s", 1)]
        {
            assert_eq!(parse_limit(text).map(|it| it.as_secs()), Ok(seconds), "{text}");
        }
        for (text, millis) in [("0", 0), ("0s", 0), ("200ms", 200), ("1.5s", 1500), ("30d", 2_592_000_000)] {
            assert_eq!(parse_duration(text), Ok(Duration::from_millis(millis)), "{text}");
        }
        for (text, from, to) in [
            ("2d", "-172800", "172800"),
            ("-1d..+3d", "-86400", "259200"),
            ("0..5s", "0", "5"),
            ("250ms", "-0.25", "0.25"),
        ] {
            let (low, high) = parse_span(text).unwrap();
            assert_eq!((low.to_string().as_str(), high.to_string().as_str()), (from, to), "{text}");
        }
    }

    #[test]
    fn what_is_no_duration() {
        let table = [
            ("", DurationError::NotDuration),
            ("1", DurationError::NotDuration),
            ("h", DurationError::NotDuration),
            ("1h 1h", DurationError::NotDuration),
            ("1m1h", DurationError::NotDuration),
            ("1x", DurationError::NotDuration),
            ("-1h", DurationError::TooShort),
            ("0", DurationError::TooShort),
            ("5ms", DurationError::TooShort),
            ("99999999999d", DurationError::TooLong),
            ("9999999999999999999999999999999999999999d", DurationError::TooLong),
        ];
        for (text, expected) in table {
            assert_eq!(parse_limit(text), Err(expected), "{text}");
        }
        assert_eq!(parse_duration("-1h"), Err(DurationError::Negative));
        assert_eq!(parse_duration("soon"), Err(DurationError::NotDuration));
        assert_eq!(parse_span("1d..3d"), Err(DurationError::NotAroundZero));
        assert_eq!(parse_span("-2d"), Err(DurationError::NotAroundZero));
    }
}
