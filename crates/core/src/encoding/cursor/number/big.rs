//! Integers of any size between decimal digits and big-endian bytes, for the encodings that have
//! a type for them.
//!
//! Both directions take quadratic time, so both refuse what has more than `NUMBER_DIGITS_MAX`
//! digits: that bound must hold before any work is done, or a small payload costs minutes.

use crate::document::Decimal;
use crate::limits::NUMBER_DIGITS_MAX;

/// The longest magnitude that is turned into digits, in bytes: one byte more than the most that
/// `NUMBER_DIGITS_MAX` digits need (log2(10) / 8 = 0.4153 bytes each).
pub(in crate::encoding) const MAGNITUDE_BYTES_MAX: usize = NUMBER_DIGITS_MAX * 4153 / 10_000 + 1;

/// Up to this many zeros at the end of an integer are written out; more are cheaper as a power of
/// ten beside the digits.
const TRAILING_ZEROS_MAX: i64 = 7;

/// A number that no double holds, ready for an encoding that has big numbers.
pub(in crate::encoding) struct BigNumber {
    /// Whether it is below zero.
    pub(in crate::encoding) negative: bool,
    /// The big-endian bytes of the magnitude, without leading zeros.
    pub(in crate::encoding) magnitude: Vec<u8>,
    /// The power of ten that the magnitude is multiplied with.
    pub(in crate::encoding) exponent: i64,
}

impl BigNumber {
    /// Reads a JSON number text; `None` if it passes a limit.
    pub(in crate::encoding) fn parse(text: &[u8]) -> Option<BigNumber> {
        let decimal = Decimal::parse(text)?;
        let mut exponent = decimal.exponent();
        let mut zeros = 0;
        if (0..=TRAILING_ZEROS_MAX).contains(&exponent) {
            zeros = exponent as usize;
            exponent = 0;
        }
        if decimal.digit_count() + zeros > NUMBER_DIGITS_MAX {
            return None;
        }
        let digits = decimal.digits().chain(std::iter::repeat_n(b'0', zeros));
        let magnitude = magnitude_of_digits(digits);
        Some(BigNumber { negative: decimal.is_negative(), magnitude, exponent })
    }
}

/// Decimal digits as big-endian bytes without leading zeros.
fn magnitude_of_digits(digits: impl Iterator<Item = u8>) -> Vec<u8> {
    const CHUNK_DIGITS: u32 = 19;
    const CHUNK: u64 = 10_u64.pow(CHUNK_DIGITS);
    // Least significant first.
    let mut words: Vec<u64> = Vec::new();
    let mut chunk = 0;
    let mut chunk_scale: u64 = 1;
    for digit in digits {
        chunk = chunk * 10 + u64::from(digit - b'0');
        chunk_scale *= 10;
        if chunk_scale == CHUNK {
            multiply_add(&mut words, chunk_scale, chunk);
            (chunk, chunk_scale) = (0, 1);
        }
    }
    if chunk_scale > 1 {
        multiply_add(&mut words, chunk_scale, chunk);
    }
    let bytes: Vec<u8> = words.iter().rev().flat_map(|word| word.to_be_bytes()).collect();
    without_leading(&bytes, 0).to_vec()
}

fn multiply_add(words: &mut Vec<u64>, factor: u64, addend: u64) {
    let mut carry = u128::from(addend);
    for word in words.iter_mut() {
        carry += u128::from(*word) * u128::from(factor);
        *word = carry as u64;
        carry >>= 64;
    }
    if carry > 0 {
        words.push(carry as u64);
    }
}

/// Appends the decimal digits of a big-endian magnitude, or answers `false` if it is longer than
/// [`MAGNITUDE_BYTES_MAX`].
pub(in crate::encoding) fn append_digits(magnitude: &[u8], out: &mut Vec<u8>) -> bool {
    const CHUNK: u64 = 1_000_000_000;
    let magnitude = without_leading(magnitude, 0);
    if magnitude.len() > MAGNITUDE_BYTES_MAX {
        return false;
    }
    // Base-10^9 digits, least significant first: two of them and a carry fit 64 bits, where the
    // division by a constant is a multiplication.
    let mut chunks: Vec<u64> = Vec::with_capacity(magnitude.len() / 3 + 1);
    let (first, words) = magnitude.as_rchunks::<4>();
    let head = first.iter().fold(0, |value, &byte| value << 8 | u64::from(byte));
    let words = words.iter().map(|word| u64::from(u32::from_be_bytes(*word)));
    for word in std::iter::once(head).chain(words) {
        let mut carry = word;
        for chunk in &mut chunks {
            carry += *chunk << 32;
            *chunk = carry % CHUNK;
            carry /= CHUNK;
        }
        while carry > 0 {
            chunks.push(carry % CHUNK);
            carry /= CHUNK;
        }
    }
    let mut buffer = itoa::Buffer::new();
    out.extend_from_slice(buffer.format(chunks.last().copied().unwrap_or(0)).as_bytes());
    for &chunk in chunks.iter().rev().skip(1) {
        let digits = buffer.format(chunk).as_bytes();
        out.extend_from_slice(&b"000000000"[digits.len()..]);
        out.extend_from_slice(digits);
    }
    true
}

/// The bytes without those at the start that equal `padding`.
pub(in crate::encoding) fn without_leading(bytes: &[u8], padding: u8) -> &[u8] {
    let start = bytes.iter().position(|&byte| byte != padding).unwrap_or(bytes.len());
    &bytes[start..]
}

/// Takes one from a magnitude that is not zero, as `-1 - n` wants it, and trims it.
pub(in crate::encoding) fn minus_one(magnitude: &[u8]) -> Vec<u8> {
    let mut bytes = magnitude.to_vec();
    for byte in bytes.iter_mut().rev() {
        let (value, borrow) = byte.overflowing_sub(1);
        *byte = value;
        if !borrow {
            break;
        }
    }
    without_leading(&bytes, 0).to_vec()
}

/// Adds one to a magnitude.
pub(in crate::encoding) fn plus_one(magnitude: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(magnitude.len() + 1);
    bytes.push(0);
    bytes.extend_from_slice(magnitude);
    for byte in bytes.iter_mut().rev() {
        let (value, carry) = byte.overflowing_add(1);
        *byte = value;
        if !carry {
            break;
        }
    }
    without_leading(&bytes, 0).to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn digits(magnitude: &[u8]) -> String {
        let mut out = Vec::new();
        assert!(append_digits(magnitude, &mut out));
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn digits_and_bytes_are_the_same_integer() {
        for (text, bytes) in [
            ("1", &[1][..]),
            ("255", &[255]),
            ("256", &[1, 0]),
            ("18446744073709551615", &[255; 8]),
            ("18446744073709551616", &[1, 0, 0, 0, 0, 0, 0, 0, 0]),
            ("340282366920938463463374607431768211456", &{
                let mut bytes = [0; 17];
                bytes[0] = 1;
                bytes
            }),
        ] {
            assert_eq!(BigNumber::parse(text.as_bytes()).unwrap().magnitude, bytes, "{text}");
            assert_eq!(digits(bytes), text);
        }
        assert_eq!(digits(&[]), "0");
        assert_eq!(digits(&[0, 0, 7]), "7");
    }

    #[test]
    fn every_length_survives_both_ways() {
        for length in 1..200 {
            let text = "9876543210".repeat(20)[..length].to_string() + "7";
            let big = BigNumber::parse(text.as_bytes()).unwrap();
            assert_eq!((digits(&big.magnitude), big.exponent), (text, 0));
        }
    }

    #[test]
    fn zeros_are_written_out_while_they_are_few() {
        let few = BigNumber::parse(b"12345678901234567890123e7").unwrap();
        assert_eq!((digits(&few.magnitude).len(), few.exponent), (30, 0));
        let many = BigNumber::parse(b"-12345678901234567890123e8").unwrap();
        assert_eq!((digits(&many.magnitude).len(), many.exponent), (23, 8));
        assert!(many.negative);
    }

    #[test]
    fn the_limit_holds_both_ways_and_the_longest_number_passes() {
        let longest = "9".repeat(NUMBER_DIGITS_MAX);
        let big = BigNumber::parse(longest.as_bytes()).unwrap();
        assert_eq!(digits(&big.magnitude), longest);
        assert!(BigNumber::parse(format!("{longest}9").as_bytes()).is_none());
        assert!(!append_digits(&[1; MAGNITUDE_BYTES_MAX + 1], &mut Vec::new()));
        assert!(BigNumber::parse(b"1e99999999999999999999").is_none());
    }

    #[test]
    fn one_more_and_one_less() {
        assert_eq!(plus_one(&[255, 255]), [1, 0, 0]);
        assert_eq!(minus_one(&[1, 0, 0]), [255, 255]);
        assert_eq!(minus_one(&[1]), [0; 0]);
        assert_eq!(plus_one(&[]), [1]);
    }
}
