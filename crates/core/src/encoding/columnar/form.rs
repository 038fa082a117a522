//! Forms: how a number or a time is written, so that it can travel as an integer and come back as
//! the same text.
//!
//! A form parses a text only if writing the integer gives that text again, byte by byte: `+1`, `01`
//! and `1.10` are no numbers of the form that writes `1`, `1` and `1.1`.

use super::calendar;
use super::digits::{padded, pointed};

/// How an integer is written as text. The number of each form is part of the format
/// (spec/columnar.md).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Form {
    /// `-12`
    Integer,
    /// So many digits after the point, always: `12.50`.
    Decimal(u8),
    /// At most so many digits after the point, without trailing zeros, `12` for a whole number.
    Trimmed(u8),
    /// The same, but `12.0` for a whole number.
    TrimmedPoint(u8),
    /// So many digits, with leading zeros.
    Digits(u8),
    /// `2026-11-21`, in days.
    Date,
    /// A date and time of day with this separator and so many digits of a second, in units of the
    /// last digit.
    Time { separator: u8, fraction: u8 },
}

/// The most digits after a point, and of a run of digits: all integers of so many digits fit.
pub(super) const DIGITS_MAX: u8 = 18;

/// The most digits of a second: years up to 9999 fit.
pub(super) const FRACTION_MAX: u8 = 7;

/// Room for the text of any integer in any form.
pub(super) const FORM_BYTES: usize = 40;

const POWERS: [i64; 19] = {
    let mut powers = [1i64; 19];
    let mut at = 1;
    while at < 19 {
        powers[at] = powers[at - 1] * 10;
        at += 1;
    }
    powers
};

impl Form {
    /// Its name, for people.
    pub(super) fn name(self) -> String {
        match self {
            Form::Integer => "integer".to_owned(),
            Form::Decimal(scale) => format!("decimal of {scale} digits"),
            Form::Trimmed(scale) | Form::TrimmedPoint(scale) => {
                format!("decimal of up to {scale} digits")
            }
            Form::Digits(width) => format!("{width} digits"),
            Form::Date => "date".to_owned(),
            Form::Time { fraction, .. } => format!("time with {fraction} digits of a second"),
        }
    }

    /// Its number in the format.
    pub(super) fn code(self) -> u8 {
        match self {
            Form::Integer => 0,
            Form::Decimal(scale) => 0x10 + scale - 1,
            Form::Trimmed(scale) => 0x30 + scale - 1,
            Form::TrimmedPoint(scale) => 0x50 + scale - 1,
            Form::Digits(width) => 0x70 + width - 1,
            Form::Date => 1,
            Form::Time { separator: b'T', fraction } => 0x90 + fraction,
            Form::Time { fraction, .. } => 0xA0 + fraction,
        }
    }

    /// The form of a number in the format.
    pub(super) fn of_code(code: u8) -> Option<Form> {
        let within = |base: u8| Some(code - base + 1).filter(|&digits| digits <= DIGITS_MAX);
        let fraction = |base: u8| Some(code - base).filter(|&digits| digits <= FRACTION_MAX);
        match code {
            0 => Some(Form::Integer),
            1 => Some(Form::Date),
            0x10..=0x2F => within(0x10).map(Form::Decimal),
            0x30..=0x4F => within(0x30).map(Form::Trimmed),
            0x50..=0x6F => within(0x50).map(Form::TrimmedPoint),
            0x70..=0x8F => within(0x70).map(Form::Digits),
            0x90..=0x9F => fraction(0x90).map(|fraction| Form::Time { separator: b'T', fraction }),
            0xA0..=0xAF => fraction(0xA0).map(|fraction| Form::Time { separator: b' ', fraction }),
            _ => None,
        }
    }

    /// Whether its integers are times of one unit: the next is likelier near the last than near 0.
    pub(super) fn time_unit(self) -> Option<u8> {
        match self {
            Form::Date => Some(FRACTION_MAX + 1),
            Form::Time { fraction, .. } => Some(fraction),
            _ => None,
        }
    }

    /// The integer of a text in exactly this form.
    #[inline]
    pub(super) fn parse(self, text: &[u8]) -> Option<i64> {
        match self {
            Form::Integer => Number::parse(text).filter(|n| n.scale == 0).map(|n| n.mantissa),
            Form::Decimal(scale) => {
                Number::parse(text).filter(|n| n.scale == scale).map(|n| n.mantissa)
            }
            Form::Trimmed(scale) => Number::parse(text).and_then(|n| n.trimmed(scale)),
            Form::TrimmedPoint(scale) => Number::parse(text).and_then(|n| n.trimmed_point(scale)),
            Form::Digits(width) => digits(text).filter(|_| text.len() == usize::from(width)),
            Form::Date => calendar::parse_date(text),
            Form::Time { separator, fraction } => calendar::parse_time(text, separator, fraction),
        }
    }

    /// Writes the text of an integer, and returns how many bytes it has. Integers that no text of
    /// this form has give some text, so that hostile input is harmless.
    #[inline(always)]
    pub(super) fn write(self, value: i64, to: &mut [u8; FORM_BYTES]) -> usize {
        match self {
            Form::Integer => {
                to[0] = b'-';
                let sign = usize::from(value < 0);
                sign + padded(value.unsigned_abs(), 1, to, sign)
            }
            Form::Decimal(scale) => decimal(value, scale, scale, to),
            Form::Trimmed(scale) => decimal(value, scale, 0, to),
            Form::TrimmedPoint(scale) => decimal(value, scale, 1, to),
            Form::Digits(width) => padded(value.unsigned_abs(), width, to, 0),
            Form::Date => calendar::write_date(value, to),
            Form::Time { separator, fraction } => {
                calendar::write_time(value, separator, fraction, to)
            }
        }
    }
}

/// A JSON number that an integer and a power of ten say exactly, as it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Number {
    pub(super) mantissa: i64,
    /// Digits after the point.
    pub(super) scale: u8,
}

impl Number {
    /// The number, or nothing for one with an exponent, more than 18 digits, or a spelling such as
    /// `-0` or `007` that its integer does not give back.
    #[inline]
    pub(super) fn parse(text: &[u8]) -> Option<Number> {
        let (is_negative, rest) = match text {
            [b'-', rest @ ..] => (true, rest),
            _ => (false, text),
        };
        if rest.is_empty() || rest.len() > usize::from(DIGITS_MAX) + 1 {
            return None;
        }
        let mut mantissa = 0i64;
        let mut point = None;
        for (at, &byte) in rest.iter().enumerate() {
            let digit = byte.wrapping_sub(b'0');
            if digit <= 9 {
                mantissa = mantissa.wrapping_mul(10).wrapping_add(i64::from(digit));
            } else if byte == b'.' && point.is_none() && at > 0 {
                point = Some(at);
            } else {
                return None;
            }
        }
        let (whole, scale) = match point {
            Some(at) => (at, rest.len() - at - 1),
            None => (rest.len(), 0),
        };
        let digits = whole + scale;
        let is_plain = digits <= usize::from(DIGITS_MAX)
            && (whole == 1 || rest[0] != b'0')
            && (point.is_none() || scale > 0)
            && !(is_negative && mantissa == 0);
        let mantissa = if is_negative { mantissa.wrapping_neg() } else { mantissa };
        is_plain.then_some(Number { mantissa, scale: scale as u8 })
    }

    /// As an integer of a form of numbers with a point, or without.
    #[inline(always)]
    pub(super) fn in_form(self, form: Form) -> Option<i64> {
        match form {
            Form::Integer => Some(self.mantissa).filter(|_| self.scale == 0),
            Form::Decimal(scale) => Some(self.mantissa).filter(|_| self.scale == scale),
            Form::Trimmed(scale) => self.trimmed(scale),
            Form::TrimmedPoint(scale) => self.trimmed_point(scale),
            Form::Digits(_) | Form::Date | Form::Time { .. } => None,
        }
    }

    /// As an integer of the form that trims zeros and the point.
    #[inline]
    pub(super) fn trimmed(self, scale: u8) -> Option<i64> {
        let is_trimmed = self.scale == 0 || self.mantissa % 10 != 0;
        if is_trimmed { self.scaled(scale) } else { None }
    }

    /// As an integer of the form that leaves one digit after the point.
    #[inline]
    pub(super) fn trimmed_point(self, scale: u8) -> Option<i64> {
        let is_trimmed = self.scale == 1 || self.scale > 1 && self.mantissa % 10 != 0;
        if is_trimmed { self.scaled(scale) } else { None }
    }

    #[inline]
    fn scaled(self, scale: u8) -> Option<i64> {
        let further = scale.checked_sub(self.scale)?;
        self.mantissa.checked_mul(POWERS[usize::from(further)])
    }
}

/// The number of a run of digits.
#[inline]
pub(super) fn digits(text: &[u8]) -> Option<i64> {
    if text.is_empty() || text.len() > usize::from(DIGITS_MAX) {
        return None;
    }
    let mut value = 0i64;
    for &byte in text {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        value = value * 10 + i64::from(digit);
    }
    Some(value)
}

/// Writes `value / 10^scale` without zeros at its end, but with so many digits after the point.
#[inline(always)]
fn decimal(value: i64, scale: u8, kept_min: u8, to: &mut [u8; FORM_BYTES]) -> usize {
    to[0] = b'-';
    let sign = usize::from(value < 0);
    let scale = scale.min(DIGITS_MAX);
    sign + pointed(value.unsigned_abs(), scale.into(), kept_min.min(scale).into(), to, sign)
}

/// The digits of the numbers below a hundred.
const PAIRS: [[u8; 2]; 100] = {
    let mut pairs = [[0; 2]; 100];
    let mut at = 0;
    while at < 100 {
        pairs[at] = [b'0' + (at / 10) as u8, b'0' + (at % 10) as u8];
        at += 1;
    }
    pairs
};

/// The two digits of a number below a hundred.
#[inline(always)]
pub(super) fn pair(value: u32) -> [u8; 2] {
    PAIRS[value as usize % 100]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all() -> impl Iterator<Item = Form> {
        (0..=255).filter_map(Form::of_code)
    }

    #[test]
    fn every_form_has_one_code() {
        for form in all() {
            assert_eq!(Form::of_code(form.code()), Some(form));
        }
        assert_eq!(all().count(), 2 + 4 * 18 + 2 * 8);
    }

    #[test]
    fn what_a_form_reads_it_writes_again() {
        let texts = [
            "0",
            "7",
            "-7",
            "12",
            "120",
            "0.5",
            "-0.5",
            "12.50",
            "12.5",
            "12.0",
            "1.001",
            "007",
            "00",
            "-0",
            "-0.0",
            "1e5",
            "1.",
            ".5",
            "",
            "-",
            "+1",
            "01.5",
            "999999999999999999",
            "9999999999999999999",
            "-999999999999999999",
            "0.000000000000000001",
            "2026-11-21",
            "2026-02-30",
            "2024-02-29",
            "1900-02-29",
            "0000-01-01",
            "9999-12-31",
            "2026-11-21T10:11:12",
            "2026-11-21 10:11:12",
            "2026-11-21T10:11:12.345",
            "2026-11-21T24:00:00",
            "2026-11-21T23:59:60",
            "9999-12-31T23:59:59.999999",
            "1969-12-31T23:59:59",
            "2026-1-21",
            "2026-11-21t10:11:12",
        ];
        let mut read = 0;
        for form in all() {
            for text in texts {
                if let Some(value) = form.parse(text.as_bytes()) {
                    let mut to = [0; FORM_BYTES];
                    let bytes = form.write(value, &mut to);
                    assert_eq!(std::str::from_utf8(&to[..bytes]), Ok(text), "{form:?}");
                    read += 1;
                }
            }
        }
        assert!(read > 100, "{read}");
    }

    #[test]
    fn the_usual_spellings_are_read() {
        let cases: &[(Form, &str, i64)] = &[
            (Form::Integer, "-12", -12),
            (Form::Decimal(2), "12.50", 1250),
            (Form::Trimmed(2), "12.5", 1250),
            (Form::Trimmed(2), "12", 1200),
            (Form::TrimmedPoint(2), "12.0", 1200),
            (Form::Digits(4), "0042", 42),
            (Form::Date, "1970-01-02", 1),
            (Form::Time { separator: b'T', fraction: 0 }, "1970-01-01T00:01:00", 60),
            (Form::Time { separator: b' ', fraction: 3 }, "1970-01-01 00:00:01.500", 1500),
        ];
        for &(form, text, value) in cases {
            assert_eq!(form.parse(text.as_bytes()), Some(value), "{form:?} {text}");
        }
    }

    #[test]
    fn any_integer_has_the_digits_that_the_library_gives_it() {
        let mut values = vec![i64::MIN, i64::MAX, 0];
        values.extend((0..63).flat_map(|bit| [1i64 << bit, (1 << bit) - 1, -(1 << bit)]));
        values.extend((0..19).flat_map(|power| [POWERS[power], POWERS[power] - 1]));
        let text = |form: Form, value: i64| {
            let mut to = [0; FORM_BYTES];
            let bytes = form.write(value, &mut to);
            String::from_utf8(to[..bytes].to_vec()).unwrap()
        };
        for value in values {
            assert_eq!(text(Form::Integer, value), value.to_string());
            for scale in 1..=DIGITS_MAX {
                let power = 10u64.pow(scale.into());
                let (whole, part) = (value.unsigned_abs() / power, value.unsigned_abs() % power);
                let sign = if value < 0 { "-" } else { "" };
                let width = usize::from(scale);
                let full = format!("{sign}{whole}.{part:0width$}");
                assert_eq!(text(Form::Decimal(scale), value), full);
                let trimmed = full.trim_end_matches('0').trim_end_matches('.');
                assert_eq!(text(Form::Trimmed(scale), value), trimmed);
                let digits = format!("{:0width$}", value.unsigned_abs());
                assert_eq!(text(Form::Digits(scale), value), digits);
            }
        }
    }
}
