//! Number texts for the binary encodings: the double that is exactly the text, found fast, and
//! what to answer when there is none.
//!
//! What must not change: `exact_float` answers what `float_is_exact` answers, for every text. It
//! exists because the general way parses, formats and compares, and numbers are a large part of
//! real payloads.

pub(in crate::encoding) mod big;

use crate::document::float_is_exact;
use crate::encoding::Refusal;

/// The powers of ten that a double holds exactly.
const POWERS_OF_TEN: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
    1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
];

/// The longest number that the fast way looks at: the digits of any `u64`, and more exponent than
/// a double has.
const FAST_TEXT_LENGTH_MAX: usize = 32;

/// Mantissas below this have at most 15 digits, which every normal double keeps (DBL_DIG).
const MANTISSA_ALWAYS_EXACT: u64 = 1_000_000_000_000_000;

/// How much of a refused number an error quotes, in bytes.
const QUOTED_LENGTH_MAX: usize = 64;

/// The double of a number text if the shortest decimal form of that double is the same number.
#[inline]
pub(crate) fn exact_float(text: &[u8]) -> Option<f64> {
    let (negative, rest) = match text.split_first() {
        Some((b'-', rest)) => (true, rest),
        _ => (false, text),
    };
    if let Some((mantissa, places)) = short_decimal(rest) {
        let float = mantissa as f64 / POWERS_OF_TEN[places];
        return Some(if negative { -float } else { float });
    }
    exact_long_float(text)
}

/// The digits of a number of at most 15 characters without sign and exponent, and how many of
/// them stand behind the point.
#[inline]
fn short_decimal(text: &[u8]) -> Option<(u64, usize)> {
    const ALL: u128 = 0x0101_0101_0101_0101_0101_0101_0101_0101;
    let length = text.len();
    if length <= 8 {
        return shorter_decimal(text);
    }
    let (9..=15, Some(last), Some(first)) =
        (length, text.last_chunk::<8>(), text.first_chunk::<8>())
    else {
        return None;
    };
    // Both halves overlap; the last character ends up in the top byte.
    let (first, last) = (u64::from_le_bytes(*first), u64::from_le_bytes(*last));
    let word =
        u128::from(last) << 64 | u128::from(first) << (8 * (16 - length)) & u128::from(u64::MAX);
    let free = 8 * (16 - length);
    // Zeros stand in front; a digit is then its value and the point is 0x1E.
    let mut digits = (word ^ (ALL * 0x30)) & (u128::MAX << free);
    let marks = digits ^ (ALL * 0x1E);
    let points = marks.wrapping_sub(ALL) & !marks & (ALL * 0x80);
    let mut places = 0;
    if points != 0 {
        let point = points.trailing_zeros() & !7;
        places = (120 - point) as usize / 8;
        let below = digits & ((1 << point) - 1);
        digits = digits & (u128::MAX << point << 8) | below << 8;
    }
    if (digits.wrapping_add(ALL * 0x76) | digits) & (ALL * 0x80) != 0 {
        return None;
    }
    let mantissa = eight_digits(digits as u64) * 100_000_000 + eight_digits((digits >> 64) as u64);
    Some((mantissa, places))
}

/// The same of at most 8 characters, for which one word is enough.
#[inline]
fn shorter_decimal(text: &[u8]) -> Option<(u64, usize)> {
    const ALL: u64 = 0x0101_0101_0101_0101;
    let length = text.len();
    let word = match (text.first_chunk::<4>(), text.last_chunk::<4>()) {
        (Some(first), Some(last)) => {
            let (first, last) = (u32::from_le_bytes(*first), u32::from_le_bytes(*last));
            u64::from(last) << 32 | u64::from(first) << (8 * (8 - length)) & u64::from(u32::MAX)
        }
        _ if length == 0 => return None,
        _ => text.iter().fold(0, |word: u64, &byte| word >> 8 | u64::from(byte) << 56),
    };
    let mut digits = (word ^ (ALL * 0x30)) & (u64::MAX << (8 * (8 - length)));
    let marks = digits ^ (ALL * 0x1E);
    let points = marks.wrapping_sub(ALL) & !marks & (ALL * 0x80);
    let mut places = 0;
    if points != 0 {
        let point = points.trailing_zeros() & !7;
        places = (56 - point) as usize / 8;
        let below = digits & ((1 << point) - 1);
        digits = digits & (u64::MAX << point << 8) | below << 8;
    }
    if (digits.wrapping_add(ALL * 0x76) | digits) & (ALL * 0x80) != 0 {
        return None;
    }
    Some((eight_digits(digits), places))
}

/// The number of eight digits, the first of them in the lowest byte.
#[inline]
fn eight_digits(digits: u64) -> u64 {
    let pairs = digits.wrapping_mul(10 << 8 | 1) >> 8 & 0x00FF_00FF_00FF_00FF;
    let fours = pairs.wrapping_mul(100 << 16 | 1) >> 16 & 0x0000_FFFF_0000_FFFF;
    fours.wrapping_mul(10_000 << 32 | 1) >> 32
}

/// [`exact_float`] of a number with an exponent or more than 15 characters.
fn exact_long_float(text: &[u8]) -> Option<f64> {
    let Some((negative, mantissa, exponent)) = take_apart(text) else {
        return float_is_exact(str::from_utf8(text).ok()?);
    };
    if mantissa < MANTISSA_ALWAYS_EXACT
        && let Some(&power) = POWERS_OF_TEN.get(exponent.unsigned_abs() as usize)
    {
        // Both numbers are exact as doubles, so one operation rounds correctly (Clinger).
        let float = mantissa as f64;
        let float = if exponent < 0 { float / power } else { float * power };
        return Some(if negative { -float } else { float });
    }
    exact_by_shortest(str::from_utf8(text).ok()?, mantissa, exponent)
}

/// Compares the number with the shortest form of its double, both as integers.
fn exact_by_shortest(text: &str, mantissa: u64, exponent: i32) -> Option<f64> {
    let float: f64 = text.parse().ok()?;
    if !float.is_finite() {
        return None;
    }
    let mut buffer = zmij::Buffer::new();
    let Some((_, shortest, shortest_exponent)) = take_apart(buffer.format_finite(float).as_bytes())
    else {
        return float_is_exact(text);
    };
    let same = without_zeros(mantissa, exponent) == without_zeros(shortest, shortest_exponent);
    same.then_some(float)
}

/// The same number with the shortest mantissa.
fn without_zeros(mut mantissa: u64, mut exponent: i32) -> (u64, i32) {
    if mantissa == 0 {
        return (0, 0);
    }
    while mantissa.is_multiple_of(10) {
        mantissa /= 10;
        exponent += 1;
    }
    (mantissa, exponent)
}

/// Sign, mantissa and power of ten of a number text, or `None` where they are large.
#[inline]
fn take_apart(text: &[u8]) -> Option<(bool, u64, i32)> {
    if text.len() > FAST_TEXT_LENGTH_MAX {
        return None;
    }
    let (negative, rest) = match text.split_first()? {
        (b'-', rest) => (true, rest),
        _ => (false, text),
    };
    let mut mantissa: u64 = 0;
    let mut exponent: i32 = 0;
    let mut fraction_start = usize::MAX;
    let mut index = 0;
    while let Some(&byte) = rest.get(index) {
        let digit = byte.wrapping_sub(b'0');
        if digit <= 9 {
            // With room for one more digit below, whatever it is.
            if mantissa > (u64::MAX - 9) / 10 {
                return None;
            }
            mantissa = mantissa * 10 + u64::from(digit);
        } else if byte == b'.' {
            fraction_start = index + 1;
        } else {
            exponent = short_exponent(&rest[index + 1..])?;
            break;
        }
        index += 1;
    }
    if fraction_start != usize::MAX {
        exponent -= (index - fraction_start) as i32;
    }
    Some((negative, mantissa, exponent))
}

/// An exponent of at most four digits, which any double has.
fn short_exponent(text: &[u8]) -> Option<i32> {
    let (negative, digits) = match text.split_first()? {
        (b'-', rest) => (true, rest),
        (b'+', rest) => (false, rest),
        _ => (false, text),
    };
    if digits.len() > 4 {
        return None;
    }
    let value = digits.iter().fold(0, |value, digit| value * 10 + i32::from(digit - b'0'));
    Some(if negative { -value } else { value })
}

/// The answer to a number that the encoding can't hold.
#[cold]
pub(in crate::encoding) fn refuse(text: &[u8]) -> Refusal {
    let quoted = &text[..text.len().min(QUOTED_LENGTH_MAX)];
    Refusal::Number { text: String::from_utf8_lossy(quoted).into_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encoding::cursor::testing::Random;

    fn same(text: &str) {
        let (fast, slow) = (exact_float(text.as_bytes()), float_is_exact(text));
        assert_eq!(fast.map(f64::to_bits), slow.map(f64::to_bits), "{text}");
    }

    #[test]
    fn the_fast_way_answers_like_the_general_one() {
        for text in [
            "0",
            "-0",
            "0.0",
            "-0.00e9",
            "1e0",
            "12.50",
            "1e22",
            "1e23",
            "1e-22",
            "1e-23",
            "1e400",
            "1e-400",
            "5e-324",
            "3e-324",
            "0.1",
            "0.30000000000000004",
            "0.1234567890123456789",
            "12345678901234567890",
            "12345678901234567891",
            "18446744073709551615.0",
            "9007199254740993",
            "9007199254740993.0",
            "1.7976931348623157e308",
            "1.8e308",
            "100000000000000000000001",
            "999999999999999e22",
            "123456789012345e-22",
            "4.4501477170144023e-308",
            "0e99999",
            "1e99999999999999999999",
            "000.1",
            "1E+2",
            "0.00000000000000000000000000000000001",
            "100000000000000000000000",
        ] {
            same(text);
        }
    }

    #[test]
    fn the_fast_way_answers_like_the_general_one_for_random_numbers() {
        let mut random = Random::new(7);
        for _ in 0..200_000 {
            let digits = random.below(21) + 1;
            let mut text = String::new();
            if random.below(2) == 0 {
                text.push('-');
            }
            let point = random.below(digits);
            for index in 0..digits {
                if index == point && index > 0 {
                    text.push('.');
                }
                text.push((b'0' + random.below(10) as u8) as char);
            }
            if random.below(3) == 0 {
                text.push_str(&format!("e{}", random.below(700) as i64 - 350));
            }
            same(&text);
            let float = f64::from_bits(random.next());
            if float.is_finite() {
                same(zmij::Buffer::new().format_finite(float));
            }
        }
    }

    #[test]
    fn a_refusal_quotes_the_start_of_a_number() {
        let Refusal::Number { text } = refuse(&[b'1'; 100]) else { panic!() };
        assert_eq!(text.len(), 64);
    }
}
