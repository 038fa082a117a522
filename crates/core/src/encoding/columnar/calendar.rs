//! Dates and times of day as integers, in the proleptic Gregorian calendar, years 0 to 9999.
//!
//! The conversions are those of Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms".
//! Leap seconds are no second of any day here, so a text with one stays text.

use super::digits::padded;
use super::form::{FORM_BYTES, digits, pair};

const DAY_SECONDS: i64 = 86_400;

/// Days since 1970-01-01 of a date that there is.
#[inline(always)]
fn days(year: u32, month: u32, day: u32) -> i64 {
    // Years begin in March, and one cycle of 400 of them earlier, so that none is below 0.
    let year = year + 400 - u32::from(month <= 2);
    let (era, of_era) = (year / 400, year % 400);
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let days = era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year;
    i64::from(days) - 146_097 - 719_468
}

/// The first and the last day of the years 0 to 9999.
const DAYS: (i64, i64) = (-719_528, 2_932_896);

/// The year, month and day of a day of the years 0 to 9999; one outside is brought inside.
#[inline(always)]
fn date(days: i64) -> (u32, u32, u32) {
    let days = (days.clamp(DAYS.0, DAYS.1) + 719_468 + 146_097) as u32;
    let (era, of_era) = (days / 146_097, days % 146_097);
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let shifted = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    (year + era * 400 + u32::from(month <= 2) - 400, month, day)
}

/// The number of two digits.
#[inline(always)]
fn two(high: u8, low: u8) -> Option<u32> {
    let (high, low) = (high.wrapping_sub(b'0'), low.wrapping_sub(b'0'));
    (high <= 9 && low <= 9).then(|| u32::from(high) * 10 + u32::from(low))
}

/// How many days the months have in a year that is no leap year.
const MONTH_DAYS: [u32; 13] = [0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/// The day of `YYYY-MM-DD`.
#[inline(always)]
pub(super) fn parse_date(text: &[u8]) -> Option<i64> {
    let &[y1, y2, y3, y4, b'-', m1, m2, b'-', d1, d2] = text else { return None };
    let year = two(y1, y2)? * 100 + two(y3, y4)?;
    let (month, day) = (two(m1, m2)?, two(d1, d2)?);
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let longest = *MONTH_DAYS.get(month as usize)? + u32::from(month == 2 && is_leap);
    (1..=longest).contains(&day).then(|| days(year, month, day))
}

/// The time of `YYYY-MM-DD`, the separator, `HH:MM:SS` and so many digits of a second, in units of
/// the last digit.
#[inline(always)]
pub(super) fn parse_time(text: &[u8], separator: u8, fraction: u8) -> Option<i64> {
    let length = 19 + if fraction > 0 { 1 + usize::from(fraction) } else { 0 };
    if text.len() != length || text[10] != separator {
        return None;
    }
    let &[h1, h2, b':', m1, m2, b':', s1, s2] = &text[11..19] else { return None };
    let (hour, minute, second) = (two(h1, h2)?, two(m1, m2)?, two(s1, s2)?);
    if hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let of_day = hour * 3600 + minute * 60 + second;
    let seconds = parse_date(&text[..10])? * DAY_SECONDS + i64::from(of_day);
    if fraction == 0 {
        return Some(seconds);
    }
    if text[19] != b'.' {
        return None;
    }
    Some(seconds * 10i64.pow(u32::from(fraction)) + digits(&text[20..])?)
}

/// Writes a date; days outside the years 0 to 9999 are brought inside. Returns its bytes.
#[inline(always)]
pub(super) fn write_date(value: i64, to: &mut [u8; FORM_BYTES]) -> usize {
    let (year, month, day) = date(value);
    let ([y1, y2], [y3, y4]) = (pair(year / 100), pair(year % 100));
    let ([m1, m2], [d1, d2]) = (pair(month), pair(day));
    to[..10].copy_from_slice(&[y1, y2, y3, y4, b'-', m1, m2, b'-', d1, d2]);
    10
}

/// Writes a time, and returns its bytes.
#[inline]
pub(super) fn write_time(
    value: i64,
    separator: u8,
    fraction: u8,
    to: &mut [u8; FORM_BYTES],
) -> usize {
    let (seconds, part) = match fraction {
        0 => (value, 0),
        3 => (value.div_euclid(1_000), value.rem_euclid(1_000)),
        6 => (value.div_euclid(1_000_000), value.rem_euclid(1_000_000)),
        digits => {
            let units = 10i64.pow(u32::from(digits));
            (value.div_euclid(units), value.rem_euclid(units))
        }
    };
    write_date(seconds.div_euclid(DAY_SECONDS), to);
    let second = seconds.rem_euclid(DAY_SECONDS) as u32;
    let ([h1, h2], [m1, m2]) = (pair(second / 3600), pair(second / 60 % 60));
    let [s1, s2] = pair(second % 60);
    to[10..19].copy_from_slice(&[separator, h1, h2, b':', m1, m2, b':', s1, s2]);
    if fraction == 0 {
        return 19;
    }
    to[19] = b'.';
    20 + padded(part.unsigned_abs(), fraction, to, 20)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_day_comes_back() {
        for day in (days(0, 1, 1)..=days(9999, 12, 31)).step_by(7) {
            let mut to = [0; FORM_BYTES];
            let bytes = write_date(day, &mut to);
            let text = &to[..bytes];
            assert_eq!(parse_date(text), Some(day), "{}", String::from_utf8_lossy(text));
        }
    }

    #[test]
    fn days_that_are_none_are_not_read() {
        for text in ["2026-02-29", "2026-13-01", "2026-00-10", "2026-04-31", "2026-01-00", "26-1-1"]
        {
            assert_eq!(parse_date(text.as_bytes()), None, "{text}");
        }
    }
}
