//! Dates and times of day as integers, in the proleptic Gregorian calendar, years 0 to 9999.
//!
//! The conversions are those of Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms".
//! Leap seconds are no second of any day here, so a text with one stays text.

use super::form::{FORM_BYTES, digits, padded, pair};

const DAY_SECONDS: i64 = 86_400;

/// Days since 1970-01-01.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let of_era = year - era * 400;
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

/// The year, month and day of a day.
fn date(days: i64) -> (u64, u64, u64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let of_era = days - era * 146_097;
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let shifted = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    let year = year + era * 400 + i64::from(month <= 2);
    (year as u64, month as u64, day as u64)
}

fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

/// The day of `YYYY-MM-DD`.
pub(super) fn parse_date(text: &[u8]) -> Option<i64> {
    let &[y1, y2, y3, y4, b'-', m1, m2, b'-', d1, d2] = text else { return None };
    let (year, month, day) = (digits(&[y1, y2, y3, y4])?, digits(&[m1, m2])?, digits(&[d1, d2])?);
    let longest = match month {
        2 => 28 + i64::from(is_leap(year)),
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return None,
    };
    (1..=longest).contains(&day).then(|| days(year, month, day))
}

/// The time of `YYYY-MM-DD`, the separator, `HH:MM:SS` and so many digits of a second, in units of
/// the last digit.
pub(super) fn parse_time(text: &[u8], separator: u8, fraction: u8) -> Option<i64> {
    let length = 19 + if fraction > 0 { 1 + usize::from(fraction) } else { 0 };
    if text.len() != length || text[10] != separator {
        return None;
    }
    let &[h1, h2, b':', m1, m2, b':', s1, s2] = &text[11..19] else { return None };
    let (hour, minute, second) = (digits(&[h1, h2])?, digits(&[m1, m2])?, digits(&[s1, s2])?);
    if hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let seconds = parse_date(&text[..10])? * DAY_SECONDS + hour * 3600 + minute * 60 + second;
    if fraction == 0 {
        return Some(seconds);
    }
    if text[19] != b'.' {
        return None;
    }
    Some(seconds * 10i64.pow(u32::from(fraction)) + digits(&text[20..])?)
}

/// Writes a date; days outside the years 0 to 9999 are brought inside. Returns its bytes.
#[inline]
pub(super) fn write_date(value: i64, to: &mut [u8; FORM_BYTES]) -> usize {
    const FIRST: i64 = -719_528;
    const LAST: i64 = 2_932_896;
    let (year, month, day) = date(value.clamp(FIRST, LAST));
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
    let units = 10i64.pow(u32::from(fraction));
    let (seconds, part) = (value.div_euclid(units), value.rem_euclid(units));
    write_date(seconds.div_euclid(DAY_SECONDS), to);
    let second = seconds.rem_euclid(DAY_SECONDS).unsigned_abs();
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
