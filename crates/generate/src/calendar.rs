//! Writes dates and times from counted days and seconds.
//! The corpora need four texts of a point in time, which is less than any date library brings.

use crate::json;

/// The seconds of a day.
pub(crate) const DAY_SECONDS: u64 = 86_400;

/// Thursday 1 January 2026 in days since 1 January 1970, where the corpora start.
pub(crate) const FIRST_DAY: u64 = 20_454;

/// A date of the Gregorian calendar.
struct Date {
    year: u64,
    month: u64,
    day: u64,
}

impl Date {
    /// Converts days since 1 January 1970, by counting in years that start in March, in which the
    /// leap day is the last one.
    fn from_days(days: u64) -> Self {
        let shifted = days + 719_468;
        let era = shifted / 146_097;
        let day_of_era = shifted % 146_097;
        let year_of_era =
            (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
        let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let march_month = (5 * day_of_year + 2) / 153;
        let month = if march_month < 10 { march_month + 3 } else { march_month - 9 };
        Self {
            year: era * 400 + year_of_era + u64::from(month <= 2),
            month,
            day: day_of_year - (153 * march_month + 2) / 5 + 1,
        }
    }
}

/// The year and number of the week that starts on a Monday: both are those of its Thursday.
pub(crate) fn week(monday_days: u64) -> (u64, u64) {
    let thursday = monday_days + 3;
    let year = Date::from_days(thursday).year;
    // Every fourth year is a leap year from 1970 to 2099, which is where the corpora lie.
    let new_year = (year - 1970) * 365 + (year - 1969) / 4;
    (year, (thursday - new_year) / 7 + 1)
}

/// Appends `YYYY-MM-DD`.
pub(crate) fn date(output: &mut String, days: u64) {
    let Date { year, month, day } = Date::from_days(days);
    json::padded(output, year, 4);
    output.push('-');
    json::padded(output, month, 2);
    output.push('-');
    json::padded(output, day, 2);
}

/// Appends `YYYY-MM-DD`, the separator, and `HH:MM:SS`.
pub(crate) fn time(output: &mut String, seconds: u64, separator: char) {
    date(output, seconds / DAY_SECONDS);
    output.push(separator);
    let of_day = seconds % DAY_SECONDS;
    json::padded(output, of_day / 3600, 2);
    output.push(':');
    json::padded(output, of_day / 60 % 60, 2);
    output.push(':');
    json::padded(output, of_day % 60, 2);
}

#[cfg(test)]
mod tests {
    use super::{DAY_SECONDS, FIRST_DAY, date, time, week};

    fn date_text(days: u64) -> String {
        let mut output = String::new();
        date(&mut output, days);
        output
    }

    #[test]
    fn leap_days_and_year_ends_are_right() {
        assert_eq!(date_text(0), "1970-01-01");
        assert_eq!(date_text(FIRST_DAY), "2026-01-01");
        assert_eq!(date_text(FIRST_DAY - 1), "2025-12-31");
        assert_eq!(date_text(19_782), "2024-02-29");
        assert_eq!(date_text(19_783), "2024-03-01");
    }

    #[test]
    fn weeks_belong_to_the_year_of_their_thursday() {
        let first_monday = FIRST_DAY - 3;
        assert_eq!(week(first_monday), (2026, 1));
        assert_eq!(week(first_monday + 52 * 7), (2026, 53));
        assert_eq!(week(first_monday + 53 * 7), (2027, 1));
        assert_eq!(week(first_monday + 157 * 7), (2029, 1));
    }

    #[test]
    fn a_time_has_two_digits_everywhere() {
        let mut output = String::new();
        time(&mut output, FIRST_DAY * DAY_SECONDS + 3 * 3600 + 4 * 60 + 5, ' ');
        assert_eq!(output, "2026-01-01 03:04:05");
    }
}
