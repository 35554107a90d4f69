//! Dates and times as they come in rows, which may be none.

use trueup_connect::mysql::{Error, Packet};

use super::column::Unread;

const SECOND_US: i64 = 1_000_000;
const DAY_US: i64 = 86_400 * SECOND_US;

/// What MySQL keeps as a date or time, and is none.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum NoMoment {
    /// It has zeros, or days that its month lacks.
    #[error("is {year:04}-{month:02}-{day:02}, which is no date")]
    Date { year: u16, month: u8, day: u8 },
    /// It is a duration: negative, or longer than a day.
    #[error("is {sign}{hours:02}:{minutes:02}:{seconds:02}, which is no time of a day")]
    Time { sign: &'static str, hours: u64, minutes: u8, seconds: u8 },
}

/// Takes a date off a row: its days from 1970 on.
pub(super) fn date(row: &mut Packet<'_>) -> Result<i32, Unread> {
    Ok(Date::read(&mut body(row)?)?.days()?)
}

/// Takes a moment off a row: its microseconds from 1970 on.
pub(super) fn moment(row: &mut Packet<'_>) -> Result<i64, Unread> {
    let mut body = body(row)?;
    let days = Date::read(&mut body)?.days()?;
    let [hours, minutes, seconds] = or_zeros(&mut body)?;
    let time_us = time_us(hours, minutes, seconds, &mut body)?;
    Ok(i64::from(days) * DAY_US + time_us)
}

/// Takes a time of a day off a row: its microseconds from midnight on.
pub(super) fn time(row: &mut Packet<'_>) -> Result<i64, Unread> {
    let mut body = body(row)?;
    let [is_negative] = or_zeros(&mut body)?;
    let days = u32::from_le_bytes(or_zeros(&mut body)?);
    let [hours, minutes, seconds] = or_zeros(&mut body)?;
    if is_negative != 0 || days > 0 || hours > 23 {
        let sign = if is_negative == 0 { "" } else { "-" };
        let hours = u64::from(days) * 24 + u64::from(hours);
        return Err(NoMoment::Time { sign, hours, minutes, seconds }.into());
    }
    Ok(time_us(hours, minutes, seconds, &mut body)?)
}

/// What belongs to a value: zeros at its end are left out.
fn body<'a>(row: &mut Packet<'a>) -> Result<&'a [u8], Error> {
    let length = row.byte()?;
    row.take(length.into())
}

fn or_zeros<const N: usize>(body: &mut &[u8]) -> Result<[u8; N], Error> {
    match body.split_first_chunk() {
        Some((taken, rest)) => {
            *body = rest;
            Ok(*taken)
        }
        None if body.is_empty() => Ok([0; N]),
        None => Err(Error::Malformed),
    }
}

fn time_us(hours: u8, minutes: u8, seconds: u8, body: &mut &[u8]) -> Result<i64, Error> {
    let seconds = (i64::from(hours) * 60 + i64::from(minutes)) * 60 + i64::from(seconds);
    Ok(seconds * SECOND_US + i64::from(u32::from_le_bytes(or_zeros(body)?)))
}

struct Date {
    year: u16,
    month: u8,
    day: u8,
}

impl Date {
    fn read(body: &mut &[u8]) -> Result<Self, Error> {
        let year = u16::from_le_bytes(or_zeros(body)?);
        let [month, day] = or_zeros(body)?;
        Ok(Self { year, month, day })
    }

    fn days(&self) -> Result<i32, NoMoment> {
        let &Self { year, month, day } = self;
        let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
        let in_month = match month {
            1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
            4 | 6 | 9 | 11 => 30,
            2 if is_leap => 29,
            2 => 28,
            _ => 0,
        };
        if day == 0 || day > in_month {
            return Err(NoMoment::Date { year, month, day });
        }
        // Years that start in March have the odd day at their end.
        let (year, month) = (i32::from(year), i32::from(month));
        let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
        let before = year * 365 + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
        Ok(before + (153 * month + 2) / 5 + i32::from(day) - 719_469)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_counted_from_1970() {
        let table = [
            ((1970, 1, 1), Ok(0)),
            ((1969, 12, 31), Ok(-1)),
            ((2000, 2, 29), Ok(11_016)),
            ((2000, 3, 1), Ok(11_017)),
            ((1900, 3, 1), Ok(-25_508)),
            ((9999, 12, 31), Ok(2_932_896)),
            ((1, 1, 1), Ok(-719_162)),
            ((0, 1, 1), Ok(-719_528)),
            ((0, 0, 0), Err("is 0000-00-00, which is no date")),
            ((2026, 2, 0), Err("is 2026-02-00, which is no date")),
            ((1900, 2, 29), Err("is 1900-02-29, which is no date")),
        ];
        for ((year, month, day), expected) in table {
            let days = Date { year, month, day }.days().map_err(|error| error.to_string());
            assert_eq!(days, expected.map_err(str::to_owned), "{year}-{month}-{day}");
        }
    }
}
