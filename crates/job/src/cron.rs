//! When a schedule is due: five fields of cron.

use std::fmt;
use std::str::FromStr;

use chrono::{Datelike, NaiveDateTime, Timelike};

const MONTHS: [&str; 12] =
    ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"];
const WEEKDAYS: [&str; 7] = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"];

/// The fields in order: what they count, and the numbers they take.
const FIELDS: [(&str, u32, u32); 5] =
    [("minute", 0, 59), ("hour", 0, 23), ("day", 1, 31), ("month", 1, 12), ("weekday", 0, 7)];

/// The days of each month, in a leap year.
const DAYS: [u32; 12] = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/// Minutes, by wall clock, at which a schedule is due.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cron {
    text: String,
    /// A bit for each number of each field; Sunday is 0.
    fields: [u64; 5],
    /// Days and weekdays that are both restricted are due when either is, as cron has always done.
    either_day: bool,
}

/// A text that is no cron expression.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CronError {
    /// It has not five fields.
    #[error("expected five fields, minute hour day month weekday, such as `0 6 * * MON-FRI`; found {0}")]
    FieldCount(usize),
    /// A field says something else.
    #[error("`{text}` is no {field}: expected {least}-{most}, a list, a range, a step such as */5, or *")]
    Field {
        /// What the field counts.
        field: &'static str,
        /// What it says.
        text: String,
        /// The first number it takes.
        least: u32,
        /// The last number it takes.
        most: u32,
    },
    /// No month has that day.
    #[error("this day never comes: no month of these has it")]
    Never,
}

impl Cron {
    /// Whether it is due in the minute of a wall-clock time.
    pub fn is_due(&self, at: NaiveDateTime) -> bool {
        let has = |field: usize, number: u32| self.fields[field] & (1 << number) != 0;
        let day = has(2, at.day());
        let weekday = has(4, at.weekday().num_days_from_sunday());
        let due_day = if self.either_day { day || weekday } else { day && weekday };
        has(0, at.minute()) && has(1, at.hour()) && has(3, at.month()) && due_day
    }

    /// Whether there is a date on which it is due, given that weekdays fall on every date in time.
    fn ever_comes(&self) -> bool {
        let comes = |month: u32, days: u32| {
            self.fields[3] & (1 << month) != 0 && (1..=days).any(|day| self.fields[2] & (1 << day) != 0)
        };
        self.either_day || (1..).zip(DAYS).any(|(month, days)| comes(month, days))
    }
}

impl FromStr for Cron {
    type Err = CronError;

    fn from_str(text: &str) -> Result<Self, CronError> {
        let parts: Vec<&str> = text.split_whitespace().collect();
        if parts.len() != FIELDS.len() {
            return Err(CronError::FieldCount(parts.len()));
        }
        let mut fields = [0; 5];
        for (at, part) in parts.iter().enumerate() {
            let (field, least, most) = FIELDS[at];
            let wrong = || CronError::Field { field, text: part.chars().take(60).collect(), least, most };
            for item in part.split(',') {
                fields[at] |= numbers(item, at).ok_or_else(wrong)?;
            }
        }
        // Both 0 and 7 are Sunday.
        fields[4] |= (fields[4] >> 7) & 1;
        let either_day = !parts[2].starts_with('*') && !parts[4].starts_with('*');
        let cron = Self { text: parts.join(" "), fields, either_day };
        if cron.ever_comes() { Ok(cron) } else { Err(CronError::Never) }
    }
}

/// The bits of one item of a list: `*`, `5`, `1-5`, `*/15`, `10-40/10`.
fn numbers(item: &str, field: usize) -> Option<u64> {
    let (_, least, most) = FIELDS[field];
    let (range, step) = match item.split_once('/') {
        Some((range, step)) => (range, step.parse().ok().filter(|step| (1..=most).contains(step))?),
        None => (item, 1),
    };
    let (from, to) = match range.split_once('-') {
        _ if range == "*" => (least, if field == 4 { 6 } else { most }),
        Some((from, to)) => (number(from, field)?, number(to, field)?),
        None if step > 1 => (number(range, field)?, most),
        None => (number(range, field)?, number(range, field)?),
    };
    (from <= to).then(|| (from..=to).step_by(step as usize).fold(0, |bits, number| bits | 1 << number))
}

fn number(text: &str, field: usize) -> Option<u32> {
    let (name, least, most) = FIELDS[field];
    let named = |names: &[&str]| names.iter().position(|known| known.eq_ignore_ascii_case(text));
    let by_name = match name {
        "month" => named(&MONTHS).map(|at| at + 1),
        "weekday" => named(&WEEKDAYS),
        _ => None,
    };
    let number = match by_name {
        Some(at) => u32::try_from(at).ok()?,
        None if text.len() <= 2 && text.bytes().all(|byte| byte.is_ascii_digit()) => text.parse().ok()?,
        None => return None,
    };
    (least..=most).contains(&number).then_some(number)
}

/// As it is written in the document.
impl fmt::Display for Cron {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use chrono::{Days, NaiveDate};

    use super::Cron;

    /// The first days from 2026-01-01, a Thursday, on which it is due at 06:00.
    fn due(cron: &str) -> Vec<String> {
        let cron: Cron = cron.parse().unwrap();
        let start = NaiveDate::from_ymd_opt(2026, 1, 1).unwrap();
        let days = (0..400).map(|days| start + Days::new(days));
        let due = days.filter(|day| cron.is_due(day.and_hms_opt(6, 0, 30).unwrap()));
        due.take(3).map(|day| day.format("%m-%d").to_string()).collect()
    }

    #[test]
    fn days_on_which_it_is_due() {
        let table = [
            ("0 6 * * *", ["01-01", "01-02", "01-03"]),
            ("0 6 * * MON-FRI", ["01-01", "01-02", "01-05"]),
            ("*/30 6 * * 7", ["01-04", "01-11", "01-18"]),
            ("0 0-12/6 1,15 * *", ["01-01", "01-15", "02-01"]),
            ("0 6 13 * FRI", ["01-02", "01-09", "01-13"]),
            ("0 6 31 */2 *", ["01-31", "03-31", "05-31"]),
            ("0 6 1 feb *", ["02-01", "02-01", ""]),
        ];
        for (cron, expected) in table {
            let found = due(cron);
            let expected: Vec<&str> = expected.into_iter().filter(|day| !day.is_empty()).collect();
            assert_eq!(found, expected, "{cron}");
        }
        assert!(due("1 6 * * *").is_empty() && due("0 7 * * *").is_empty());
    }

    #[test]
    fn what_is_no_cron() {
        let table = [
            ("", "expected five fields"),
            ("0 6 * *", "expected five fields"),
            ("0 0 6 * * *", "found 6"),
            ("60 6 * * *", "`60` is no minute"),
            ("0 24 * * *", "`24` is no hour"),
            ("0 6 0 * *", "`0` is no day"),
            ("0 6 * MON *", "`MON` is no month"),
            ("5-1 6 * * *", "`5-1` is no minute"),
            ("*/0 6 * * *", "`*/0` is no minute"),
            ("1, 6 * * *", "`1,` is no minute"),
            ("é 6 * * *", "`é` is no minute"),
            ("0 6 30 2 *", "never comes"),
            ("0 6 31 4,6 *", "never comes"),
        ];
        for (text, expected) in table {
            let error = text.parse::<Cron>().unwrap_err().to_string();
            assert!(error.contains(expected), "{text}: {error}");
        }
    }
}
