//! The proleptic Gregorian calendar as numbers of days since 1970-01-01.

const DAYS_BEFORE_MONTH: [u16; 13] = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 365];
const DAYS_TO_1970: i64 = 719_162;
const DAYS_IN_400_YEARS: i64 = 146_097;
const DAYS_IN_100_YEARS: i64 = 36_524;
const DAYS_IN_4_YEARS: i64 = 1_461;

fn is_leap(year: u32) -> bool {
    // Years that 4 and 25 divide are centuries; of those, 16 divides every fourth.
    year.is_multiple_of(4) && (!year.is_multiple_of(25) || year.is_multiple_of(16))
}

fn days_before_year(year: u32) -> i64 {
    let complete = year - 1;
    i64::from(complete * 365 + complete / 4 - complete / 100 + complete / 400) - DAYS_TO_1970
}

/// Numbers the day of a date of the years 1 to 9999; `None` if there is no such date.
#[inline]
pub(super) fn days(year: u32, month: u32, day: u32) -> Option<i64> {
    if !(1..=9999).contains(&year) || !(1..=12).contains(&month) || day == 0 {
        return None;
    }
    let before = DAYS_BEFORE_MONTH[month as usize - 1];
    let leap = is_leap(year);
    // Only dates after the 28th need the length of their month.
    if day > 28 {
        let length = DAYS_BEFORE_MONTH[month as usize] - before + u16::from(leap && month == 2);
        if day > u32::from(length) {
            return None;
        }
    }
    let leap_day = i64::from(leap && month > 2);
    Some(days_before_year(year) + i64::from(before) + leap_day + i64::from(day) - 1)
}

/// Numbers the day of a year and its day counted from 1; `None` if the year has no such day.
pub(super) fn ordinal_days(year: u32, ordinal: u32) -> Option<i64> {
    let length = 365 + u32::from(is_leap(year));
    if !(1..=9999).contains(&year) || !(1..=length).contains(&ordinal) {
        return None;
    }
    Some(days_before_year(year) + i64::from(ordinal) - 1)
}

/// Finds year, month and day of a numbered day.
pub(super) fn civil(days: i64) -> (i64, u32, u32) {
    let since_year_1 = days + DAYS_TO_1970;
    let cycle = since_year_1.div_euclid(DAYS_IN_400_YEARS);
    let rest = since_year_1.rem_euclid(DAYS_IN_400_YEARS);
    // The last century and the last year of a span are a day longer than the others, hence `min`.
    let centuries = (rest / DAYS_IN_100_YEARS).min(3);
    let rest = rest - centuries * DAYS_IN_100_YEARS;
    let fours = rest / DAYS_IN_4_YEARS;
    let rest = rest - fours * DAYS_IN_4_YEARS;
    let years = (rest / 365).min(3);
    let day_of_year = rest - years * 365;
    let year = cycle * 400 + centuries * 100 + fours * 4 + years + 1;
    let leap = years == 3 && (fours != 24 || centuries == 3);
    let (month, day) = month_and_day(day_of_year, leap);
    (year, month, day)
}

fn month_and_day(day_of_year: i64, leap: bool) -> (u32, u32) {
    let mut first = 0;
    for month in 1..=12_u32 {
        let next = i64::from(DAYS_BEFORE_MONTH[month as usize]) + i64::from(leap && month >= 2);
        if day_of_year < next {
            let day = u32::try_from(day_of_year - first + 1).expect("a day of a month is 1 to 31");
            return (month, day);
        }
        first = next;
    }
    unreachable!("a year has at most 366 days")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_and_dates_are_inverse_over_ten_thousand_years() {
        let mut expected = days(1, 1, 1).expect("the first day");
        assert_eq!(expected, -719_162);
        for year in 1..=9999 {
            for month in 1..=12 {
                for day in 1..=31 {
                    if let Some(number) = days(year, month, day) {
                        assert_eq!(number, expected);
                        assert_eq!(civil(number), (i64::from(year), month, day));
                        expected += 1;
                    }
                }
            }
        }
        assert_eq!(expected, 2_932_897);
    }

    #[test]
    fn leap_years_have_a_29th_of_february() {
        for (year, leap) in
            [(2024, true), (2023, false), (2000, true), (1900, false), (2100, false), (4, true)]
        {
            assert_eq!(days(year, 2, 29).is_some(), leap, "{year}");
            assert_eq!(ordinal_days(year, 366).is_some(), leap, "{year}");
            assert_eq!(days(year, 2, 30), None);
        }
    }

    #[test]
    fn impossible_dates_are_refused() {
        for (year, month, day) in [
            (0, 1, 1),
            (10_000, 1, 1),
            (2024, 0, 1),
            (2024, 13, 1),
            (2024, 1, 0),
            (2024, 1, 32),
            (2024, 4, 31),
        ] {
            assert_eq!(days(year, month, day), None);
        }
    }
}
