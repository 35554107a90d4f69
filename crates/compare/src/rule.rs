//! Writing and reading rules (`0.01`, `0.5%`, `2d`, `-1d..+3d`, `exact`) and durations.

use std::fmt;

use crate::number::{Decimal, NumeralError};
use crate::spec::{Allow, Base, Rule, RuleType, Tolerance};

/// Why a text is no rule.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RuleError {
    /// Neither number, percentage nor duration.
    #[error("`{0}` is no tolerance; write 0.01, 0.5%, 2d, -1d..+3d or exact")]
    NotRule(String),
    /// A number that cannot be held.
    #[error("the tolerance `{text}` has {source}")]
    NotHeld {
        /// As written.
        text: String,
        /// What is too much.
        source: NumeralError,
    },
    /// Below zero.
    #[error("the tolerance `{0}` is negative; write how far values may be apart, or both sides: -1d..+3d")]
    Negative(String),
    /// Two sides that do not enclose zero.
    #[error("the tolerance `{0}` does not enclose 0; write the negative side first: -1d..+3d")]
    NotAroundZero(String),
    /// One of the sides, or the text before `%`.
    #[error(transparent)]
    Duration(#[from] DurationError),
}

/// Why a text is no duration.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DurationError {
    /// Not numbers with units.
    #[error("`{0}` is no duration; write 2d, 1h30m, 5s or 250ms (units: w, d, h, m, s, ms, us, ns)")]
    NotDuration(String),
    /// The same unit twice, or a smaller one before a larger.
    #[error("the units of `{0}` are not from large to small; write it like 1d 12h 30m")]
    UnitOrder(String),
    /// More than a decimal holds.
    #[error("`{0}` has too many digits for a duration")]
    TooLong(String),
}

/// The units of durations from large to small: `mantissa * 10^exponent` seconds.
const UNITS: [(&str, i64, i32); 8] = [
    ("w", 604_800, 0),
    ("d", 86_400, 0),
    ("h", 3_600, 0),
    ("m", 60, 0),
    ("s", 1, 0),
    ("ms", 1, -3),
    ("us", 1, -6),
    ("ns", 1, -9),
];

impl Rule {
    /// Which of the rules it is.
    #[must_use]
    pub const fn rule_type(&self) -> RuleType {
        match self {
            Self::Exact => RuleType::Exact,
            Self::Absolute(_) => RuleType::Absolute,
            Self::Percentage { .. } => RuleType::Percentage,
            Self::Duration { .. } => RuleType::Duration,
        }
    }
}

impl RuleType {
    /// Its name in every report.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Exact => "EXACT",
            Self::Absolute => "ABSOLUTE",
            Self::Percentage => "PERCENTAGE",
            Self::Duration => "DURATION",
        }
    }
}

/// As [`parse_rule`] reads it; the base of a percentage is not part of it.
impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exact => f.write_str("exact"),
            Self::Absolute(value) => value.fmt(f),
            Self::Percentage { value, .. } => write!(f, "{value}%"),
            Self::Duration { from, to } if *from == -*to => f.write_str(&display_duration(to)),
            Self::Duration { from, to } => {
                write!(f, "{}..{}", display_signed_duration(from), display_signed_duration(to))
            }
        }
    }
}

impl Tolerance {
    /// Writes all of it, as `--tolerance` takes it: `0.01`, `0.5%,base=smaller,allow=5`, `exact,allow=0.1%`.
    #[must_use]
    pub fn written(&self, sources: &[String]) -> String {
        let base = match &self.rule {
            Rule::Percentage { base: Base::Larger, .. } => ",base=larger".to_owned(),
            Rule::Percentage { base: Base::Smaller, .. } => ",base=smaller".to_owned(),
            Rule::Percentage { base: Base::Mean, .. } => ",base=mean".to_owned(),
            Rule::Percentage { base: Base::Source(source), .. } => format!(",base={}", sources[*source]),
            Rule::Exact | Rule::Absolute(_) | Rule::Duration { .. } => String::new(),
        };
        let allow = match &self.allow {
            Allow::None => String::new(),
            Allow::Count(groups) => format!(",allow={groups}"),
            Allow::Percent(share) => format!(",allow={share}%"),
        };
        format!("{}{base}{allow}", self.rule)
    }
}

/// Reads a rule: `0.01`, `0.5%` (of the larger magnitude), `2d`, `-1d..+3d` or `exact`.
///
/// # Errors
/// The text is none of these, negative, or has more digits than a decimal.
pub fn parse_rule(text: &str) -> Result<Rule, RuleError> {
    let text = text.trim();
    if text.eq_ignore_ascii_case("exact") {
        return Ok(Rule::Exact);
    }
    if let Some((from, to)) = text.split_once("..") {
        let (from, to) = (parse_duration(from)?, parse_duration(to)?);
        if from > Decimal::ZERO || to < Decimal::ZERO {
            return Err(RuleError::NotAroundZero(text.to_owned()));
        }
        return Ok(Rule::Duration { from, to });
    }
    let not_negative = |value: Decimal| {
        if value.is_negative() {
            return Err(RuleError::Negative(text.to_owned()));
        }
        Ok(value)
    };
    let (numeral, percent) = match text.strip_suffix('%') {
        Some(numeral) => (numeral.trim_end(), true),
        None => (text, false),
    };
    match numeral.parse::<Decimal>() {
        Ok(value) if percent => Ok(Rule::Percentage { value: not_negative(value)?, base: Base::default() }),
        Ok(value) => not_negative(value).map(Rule::Absolute),
        Err(
            source @ (NumeralError::TooManyDigits
            | NumeralError::ExponentOutOfRange
            | NumeralError::LeadingZero),
        ) => Err(RuleError::NotHeld { text: text.to_owned(), source }),
        Err(NumeralError::NotNumeral)
            if percent || !text.ends_with(|last: char| last.is_ascii_lowercase()) =>
        {
            Err(RuleError::NotRule(text.to_owned()))
        }
        Err(NumeralError::NotNumeral) => match parse_duration(text) {
            Ok(to) => {
                let to = not_negative(to)?;
                Ok(Rule::Duration { from: -to, to })
            }
            Err(DurationError::NotDuration(_)) => Err(RuleError::NotRule(text.to_owned())),
            Err(error) => Err(error.into()),
        },
    }
}

/// Reads a duration as seconds: `2d`, `1h30m`, `1d 12h`, `0.5s`, `250ms`, `-3w`, or `0`.
///
/// # Errors
/// The text is no such duration, or has more digits than a decimal.
pub fn parse_duration(text: &str) -> Result<Decimal, DurationError> {
    let text = text.trim();
    let (negative, mut rest) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    if rest == "0" {
        return Ok(Decimal::ZERO);
    }
    let not_duration = || DurationError::NotDuration(text.to_owned());
    let mut seconds = Decimal::ZERO;
    let mut next_unit = 0;
    loop {
        let numeral_end = rest.find(|byte: char| !byte.is_ascii_digit() && byte != '.');
        let (numeral, behind) = rest.split_at(numeral_end.unwrap_or(rest.len()));
        let unit_end = behind.find(|byte: char| !byte.is_ascii_alphabetic());
        let (unit, behind) = behind.split_at(unit_end.unwrap_or(behind.len()));
        let count: Decimal = numeral.parse().map_err(|_| not_duration())?;
        let place = UNITS.iter().position(|(name, ..)| *name == unit).ok_or_else(not_duration)?;
        if place < next_unit {
            return Err(DurationError::UnitOrder(text.to_owned()));
        }
        next_unit = place + 1;
        let (_, mantissa, exponent) = UNITS[place];
        seconds = Decimal::new(mantissa.into(), exponent)
            .and_then(|unit| unit.checked_mul(count))
            .and_then(|part| part.checked_add(seconds))
            .ok_or_else(|| DurationError::TooLong(text.to_owned()))?;
        rest = behind.trim_start();
        if rest.is_empty() {
            return Ok(if negative { -seconds } else { seconds });
        }
    }
}

/// Writes seconds in days, hours, minutes and seconds, leaving out what is zero: `2d`, `-1d 3h`, `0.5s`, `0s`.
#[must_use]
pub fn display_duration(seconds: &Decimal) -> String {
    let sign = if seconds.is_negative() { "-" } else { "" };
    format!("{sign}{}", magnitude_of_duration(seconds.abs()))
}

/// The same with a plus before what is above zero, for differences: `+1d 3h`, `-2s`, `0s`.
#[must_use]
pub(crate) fn display_signed_duration(seconds: &Decimal) -> String {
    let sign = if *seconds > Decimal::ZERO { "+" } else { "" };
    format!("{sign}{}", display_duration(seconds))
}

fn magnitude_of_duration(seconds: Decimal) -> String {
    let Some((whole, fraction)) = split_seconds(seconds) else {
        return format!("{seconds}s");
    };
    let parts = [(whole / 86_400, "d"), (whole / 3_600 % 24, "h"), (whole / 60 % 60, "m")];
    let mut words: Vec<String> =
        parts.iter().filter(|(count, _)| *count > 0).map(|(count, unit)| format!("{count}{unit}")).collect();
    let below_minute = Decimal::from(whole % 60).checked_add(fraction).unwrap_or(fraction);
    if !below_minute.is_zero() || words.is_empty() {
        words.push(format!("{below_minute}s"));
    }
    words.join(" ")
}

/// The whole seconds and what is left; `None` beyond what a `u64` counts or an `i128` divides by.
fn split_seconds(seconds: Decimal) -> Option<(u64, Decimal)> {
    if seconds.exponent() >= 0 {
        let whole = seconds.units(0)?;
        return Some((u64::try_from(whole).ok()?, Decimal::ZERO));
    }
    let power = 10i128.checked_pow(seconds.exponent().unsigned_abs())?;
    let whole = u64::try_from(seconds.mantissa() / power).ok()?;
    Some((whole, Decimal::new(seconds.mantissa() % power, seconds.exponent())?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decimal(text: &str) -> Decimal {
        text.parse().unwrap()
    }

    fn duration(from: &str, to: &str) -> Rule {
        Rule::Duration { from: decimal(from), to: decimal(to) }
    }

    fn percentage(value: &str) -> Rule {
        Rule::Percentage { value: decimal(value), base: Base::Larger }
    }

    #[test]
    fn rules_are_read_and_written() {
        let cases = [
            ("exact", Rule::Exact, "exact", "EXACT"),
            ("EXACT", Rule::Exact, "exact", "EXACT"),
            ("0.01", Rule::Absolute(decimal("0.01")), "0.01", "ABSOLUTE"),
            ("0", Rule::Absolute(Decimal::ZERO), "0", "ABSOLUTE"),
            ("1e-3", Rule::Absolute(decimal("0.001")), "0.001", "ABSOLUTE"),
            ("0.50%", percentage("0.5"), "0.5%", "PERCENTAGE"),
            ("5 %", percentage("5"), "5%", "PERCENTAGE"),
            ("2d", duration("-172800", "172800"), "2d", "DURATION"),
            ("1h30m", duration("-5400", "5400"), "1h 30m", "DURATION"),
            ("250ms", duration("-0.25", "0.25"), "0.25s", "DURATION"),
            ("0s", duration("0", "0"), "0s", "DURATION"),
            ("-1d..+3d", duration("-86400", "259200"), "-1d..+3d", "DURATION"),
            ("-1d..3d", duration("-86400", "259200"), "-1d..+3d", "DURATION"),
            ("0..3d", duration("0", "259200"), "0s..+3d", "DURATION"),
            ("-2h .. +2h", duration("-7200", "7200"), "2h", "DURATION"),
        ];
        for (text, rule, written, type_name) in cases {
            assert_eq!(parse_rule(text), Ok(rule.clone()), "{text}");
            assert_eq!(rule.to_string(), written);
            assert_eq!(rule.rule_type().name(), type_name);
            assert_eq!(parse_rule(written), Ok(rule), "{written}");
        }
    }

    #[test]
    fn what_is_no_rule_says_why() {
        let cases = [
            ("", "is no tolerance"),
            ("about right", "is no tolerance"),
            (".5", "is no tolerance"),
            ("x%", "is no tolerance"),
            ("2d%", "is no tolerance"),
            ("2 days", "is no tolerance"),
            ("2µs", "is no tolerance"),
            ("+0.01", "is no tolerance"),
            ("NaN", "is no tolerance"),
            ("-0.01", "is negative"),
            ("-1%", "is negative"),
            ("-2d", "is negative"),
            ("1d..3d", "does not enclose 0"),
            ("+3d..-1d", "does not enclose 0"),
            ("-1..+3", "is no duration"),
            ("..3d", "is no duration"),
            ("1m1h", "from large to small"),
            ("1h1h", "from large to small"),
            ("007", "leading zero"),
            ("1e99999", "exponent beyond"),
            ("0.123456789012345678901234567890123456789", "38 significant digits"),
            ("12345678901234567890123456789012345678w", "too many digits"),
        ];
        for (text, expected) in cases {
            let message = parse_rule(text).unwrap_err().to_string();
            assert!(message.contains(expected), "{text}: {message}");
        }
    }

    #[test]
    fn durations_are_read_and_written() {
        let cases = [
            ("2d", "172800", "2d", "+2d"),
            ("5s", "5", "5s", "+5s"),
            ("90m", "5400", "1h 30m", "+1h 30m"),
            ("3w", "1814400", "21d", "+21d"),
            ("1d 3h", "97200", "1d 3h", "+1d 3h"),
            ("-1d 3h", "-97200", "-1d 3h", "-1d 3h"),
            ("1.5h", "5400", "1h 30m", "+1h 30m"),
            ("250ms", "0.25", "0.25s", "+0.25s"),
            ("1m1us", "60.000001", "1m 0.000001s", "+1m 0.000001s"),
            ("7ns", "0.000000007", "0.000000007s", "+0.000000007s"),
            ("0", "0", "0s", "0s"),
            ("1000000000000000000000s", "1e21", "1000000000000000000000s", "+1000000000000000000000s"),
        ];
        for (text, seconds, written, signed) in cases {
            let seconds = decimal(seconds);
            assert_eq!(parse_duration(text), Ok(seconds), "{text}");
            assert_eq!(display_duration(&seconds), written);
            assert_eq!(display_signed_duration(&seconds), signed);
            assert_eq!(parse_duration(signed), Ok(seconds));
        }
    }
}
