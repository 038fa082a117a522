//! Times of syslog messages: with year and zone in RFC 5424, with neither in RFC 3164. What has no
//! zone is handed out as it is written, since only the operator knows where its sender stands.

/// A time as a message has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Timestamp {
    /// A moment: RFC 3339.
    Zoned {
        /// Seconds since 1970, leap seconds not counted.
        unix_seconds: i64,
        /// 0 to 999,999,999.
        nanosecond: u32,
    },
    /// A local time without a zone: RFC 3164.
    Local {
        /// Some senders add it.
        year: Option<u16>,
        /// 1 to 12.
        month: u8,
        /// 1 to 31.
        day: u8,
        /// 0 to 23.
        hour: u8,
        /// 0 to 59.
        minute: u8,
        /// 0 to 60.
        second: u8,
        /// 0 to 999,999,999; some senders add it.
        nanosecond: u32,
    },
}

const MONTHS: [&[u8; 3]; 12] = [
    b"Jan", b"Feb", b"Mar", b"Apr", b"May", b"Jun", b"Jul", b"Aug", b"Sep", b"Oct", b"Nov", b"Dec",
];

const DAY_SECONDS: i64 = 24 * 60 * 60;

impl Timestamp {
    /// The time at the front of `text` in the form of RFC 3339, and what follows.
    pub fn rfc3339(text: &[u8]) -> Option<(Timestamp, &[u8])> {
        let (year, rest) = number(text, 4)?;
        let (month, rest) = number(rest.strip_prefix(b"-")?, 2)?;
        let (day, rest) = number(rest.strip_prefix(b"-")?, 2)?;
        let rest = rest.strip_prefix(b"T").or_else(|| rest.strip_prefix(b"t"))?;
        let ([hour, minute, second], rest) = clock(rest)?;
        let (nanosecond, rest) = fraction(rest);
        let (offset_minutes, rest) = zone(rest)?;
        if !(1..=12).contains(&month) || !(1..=days_in(year, month)).contains(&day) {
            return None;
        }
        let seconds = i64::from(hour) * 3600 + i64::from(minute) * 60 + i64::from(second);
        let unix_seconds =
            days_from_1970(year, month, day) * DAY_SECONDS + seconds - offset_minutes * 60;
        Some((Timestamp::Zoned { unix_seconds, nanosecond }, rest))
    }

    /// The time at the front of `text` in the form of RFC 3164, `Mmm dd hh:mm:ss`, and what
    /// follows. A year before or behind the time and a fraction are taken too.
    pub fn rfc3164(text: &[u8]) -> Option<(Timestamp, &[u8])> {
        let (name, rest) = text.split_first_chunk::<3>()?;
        let month = MONTHS.iter().position(|month| *month == name)? as u32 + 1;
        let rest = rest.strip_prefix(b" ")?;
        // The day has two places, the first of them may be a space; some write one place.
        let rest = rest.strip_prefix(b" ").unwrap_or(rest);
        let (day, rest) = number(rest, 2).or_else(|| number(rest, 1))?;
        let rest = rest.strip_prefix(b" ")?;
        let (before, rest) = match number(rest, 4) {
            Some((year, rest)) => (Some(year), rest.strip_prefix(b" ")?),
            None => (None, rest),
        };
        let ([hour, minute, second], rest) = clock(rest)?;
        let (nanosecond, rest) = fraction(rest);
        let behind = rest.strip_prefix(b" ").and_then(|rest| number(rest, 4));
        let behind = behind.filter(|(year, rest)| {
            before.is_none() && (1970..=2199).contains(year) && rest.starts_with(b" ")
        });
        let (year, rest) = behind.map_or((before, rest), |(year, rest)| (Some(year), rest));
        // 2000 was a leap year: without a year, February has 29 days.
        if !(1..=days_in(year.unwrap_or(2000), month)).contains(&day) {
            return None;
        }
        let timestamp = Timestamp::Local {
            year: year.map(|year| year as u16),
            month: month as u8,
            day: day as u8,
            hour: hour as u8,
            minute: minute as u8,
            second: second as u8,
            nanosecond,
        };
        Some((timestamp, rest))
    }
}

/// A number of exactly this many digits.
fn number(text: &[u8], digits: usize) -> Option<(u32, &[u8])> {
    let (head, rest) = text.split_at_checked(digits)?;
    let value = |number: u32, byte: &u8| {
        byte.is_ascii_digit().then(|| number * 10 + u32::from(byte - b'0'))
    };
    Some((head.iter().try_fold(0, value)?, rest))
}

/// `hh:mm:ss`.
fn clock(text: &[u8]) -> Option<([u32; 3], &[u8])> {
    let (hour, rest) = number(text, 2)?;
    let (minute, rest) = number(rest.strip_prefix(b":")?, 2)?;
    let (second, rest) = number(rest.strip_prefix(b":")?, 2)?;
    (hour < 24 && minute < 60 && second <= 60).then_some(([hour, minute, second], rest))
}

/// A point and digits, if they are there; those behind the ninth are dropped.
fn fraction(text: &[u8]) -> (u32, &[u8]) {
    let Some(rest) = text.strip_prefix(b".") else { return (0, text) };
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    if digits == 0 {
        return (0, text);
    }
    let digit = |place: usize| rest[..digits].get(place).map_or(0, |byte| u32::from(byte - b'0'));
    ((0..9).fold(0, |number, place| number * 10 + digit(place)), &rest[digits..])
}

/// `Z` or `+hh:mm`, in minutes east.
fn zone(text: &[u8]) -> Option<(i64, &[u8])> {
    let (&sign, rest) = text.split_first()?;
    let sign = match sign {
        b'Z' | b'z' => return Some((0, rest)),
        b'+' => 1,
        b'-' => -1,
        _ => return None,
    };
    let (hours, rest) = number(rest, 2)?;
    let (minutes, rest) = number(rest.strip_prefix(b":")?, 2)?;
    (hours < 24 && minutes < 60).then_some((sign * i64::from(hours * 60 + minutes), rest))
}

fn days_in(year: u32, month: u32) -> u32 {
    let is_leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    match month {
        2 if is_leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days of the Gregorian calendar. Years begin in March here, so that a leap day is the last one.
fn days_from_1970(year: u32, month: u32, day: u32) -> i64 {
    let (year, month) = if month > 2 {
        (i64::from(year), i64::from(month) - 3)
    } else {
        (i64::from(year) - 1, i64::from(month) + 9)
    };
    let leap_days = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    let day_of_year = (153 * month + 2) / 5 + i64::from(day) - 1;
    // From 1 March of year 0 to 1 January 1970.
    year * 365 + leap_days + day_of_year - 719_468
}
