//! Numbers as decimals: whether a double holds a number text exactly, and when two numbers are
//! equal although they are written differently.
//!
//! "Exactly" means that the shortest decimal form of the double is the same decimal number, the
//! sense in which 0.1 survives a double and 0.1234567890123456789 does not. Exponents are kept as
//! integers and never expanded, so that 1e400000000 costs no more than 1.

use std::cmp::Ordering;

/// A JSON number taken apart: sign, significant digits without leading or trailing zeros, and the
/// power of ten of the last of them.
#[derive(Debug, Clone, Copy)]
pub struct Decimal<'a> {
    negative: bool,
    integer: &'a [u8],
    fraction: &'a [u8],
    /// How many significant digits there are: leading and trailing zeros not counted.
    digits: usize,
    /// Index of the first significant digit in `integer` followed by `fraction`.
    first: usize,
    exponent: i64,
}

impl<'a> Decimal<'a> {
    /// Takes a JSON number text apart. The text must follow the JSON grammar, which every parser
    /// of this crate has checked; of anything else it makes some number or `None`.
    pub fn parse(text: &'a [u8]) -> Option<Decimal<'a>> {
        let (negative, rest) = match text.split_first()? {
            (b'-', rest) => (true, rest),
            _ => (false, text),
        };
        let mantissa_end = rest.iter().position(|b| matches!(b, b'e' | b'E')).unwrap_or(rest.len());
        let (mantissa, exponent) = rest.split_at(mantissa_end);
        let point = mantissa.iter().position(|&b| b == b'.').unwrap_or(mantissa.len());
        let (integer, fraction) = mantissa.split_at(point);
        let fraction = fraction.get(1..).unwrap_or(&[]);
        let exponent = exponent.get(1..).map_or(Some(0), parse_exponent)?;
        let all = integer.len() + fraction.len();
        let digit = |index: usize| {
            if index < integer.len() { integer[index] } else { fraction[index - integer.len()] }
        };
        let first = (0..all).find(|&i| digit(i) != b'0').unwrap_or(all);
        let end = (first..all).rev().find(|&i| digit(i) != b'0').map_or(first, |i| i + 1);
        let digits = end - first;
        // The last significant digit stands `all - end` places before the end of the fraction.
        let exponent = if digits == 0 {
            0
        } else {
            exponent.checked_sub(fraction.len() as i64)?.checked_add((all - end) as i64)?
        };
        Some(Decimal { negative, integer, fraction, digits, first, exponent })
    }

    /// Whether the number is zero.
    pub fn is_zero(&self) -> bool {
        self.digits == 0
    }

    /// Whether the text has a minus sign.
    pub fn is_negative(&self) -> bool {
        self.negative
    }

    /// How many significant digits it has.
    pub fn digit_count(&self) -> usize {
        self.digits
    }

    /// The significant digits as ASCII, leading and trailing zeros left out; none for zero.
    pub fn digits(&self) -> impl Iterator<Item = u8> + '_ {
        self.integer.iter().chain(self.fraction).skip(self.first).take(self.digits).copied()
    }

    /// The power of ten of the last significant digit: the number is digits × 10^exponent.
    pub fn exponent(&self) -> i64 {
        self.exponent
    }

    /// Whether both are the same number; the sign of zero does not count.
    pub fn equals(&self, other: &Decimal<'_>) -> bool {
        if self.is_zero() || other.is_zero() {
            return self.is_zero() && other.is_zero();
        }
        self.negative == other.negative
            && self.exponent == other.exponent
            && self.digits == other.digits
            && self.digits().cmp(other.digits()) == Ordering::Equal
    }
}

/// The exponent part, without its `e`. Exponents that 64 bits can't hold are refused.
fn parse_exponent(text: &[u8]) -> Option<i64> {
    let (negative, digits) = match text.split_first()? {
        (b'-', rest) => (true, rest),
        (b'+', rest) => (false, rest),
        _ => (false, text),
    };
    let mut value: i64 = 0;
    for &digit in digits {
        value = value.checked_mul(10)?.checked_add(i64::from(digit.checked_sub(b'0')?))?;
    }
    Some(if negative { -value } else { value })
}

/// The double of a number text if the shortest decimal form of that double is the same number.
pub fn float_is_exact(text: &str) -> Option<f64> {
    let float: f64 = text.parse().ok()?;
    if !float.is_finite() {
        return None;
    }
    let decimal = Decimal::parse(text.as_bytes())?;
    // Up to 15 significant digits always survive a normal double (DBL_DIG); most numbers of
    // real payloads have fewer, and this spares them the formatting below.
    if decimal.digit_count() <= 15 && (float.abs() >= f64::MIN_POSITIVE || decimal.is_zero()) {
        return Some(float);
    }
    let mut buffer = zmij::Buffer::new();
    let shortest = buffer.format_finite(float);
    Decimal::parse(shortest.as_bytes())?.equals(&decimal).then_some(float)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn equal(a: &str, b: &str) -> bool {
        Decimal::parse(a.as_bytes()).unwrap().equals(&Decimal::parse(b.as_bytes()).unwrap())
    }

    #[test]
    fn decimals_are_equal_by_value_not_by_spelling() {
        for (a, b) in [
            ("1", "1.0"),
            ("1", "1e0"),
            ("100", "1E+2"),
            ("12.50", "12.5"),
            ("0", "-0.00e9"),
            ("-3", "-30e-1"),
            ("1e400", "10e399"),
            ("12345678901234567890.0", "12345678901234567890"),
            ("0.001", "1e-3"),
        ] {
            assert!(equal(a, b), "{a} = {b}");
        }
        for (a, b) in [
            ("1", "-1"),
            ("1", "10"),
            ("0", "1e-400"),
            ("12345678901234567890", "12345678901234567891"),
            ("0.1", "0.10000000000000001"),
        ] {
            assert!(!equal(a, b), "{a} ≠ {b}");
        }
    }

    #[test]
    fn a_double_is_exact_when_its_shortest_form_is_the_number() {
        for text in ["0.1", "12.50", "1e22", "-0", "0.30000000000000004", "5e-324", "1.0"] {
            assert!(float_is_exact(text).is_some(), "{text}");
        }
        for text in [
            "1e400",
            "12345678901234567891",
            "0.1234567890123456789",
            "1e-400",
            "3e-324",
            "100000000000000000000001",
        ] {
            assert!(float_is_exact(text).is_none(), "{text}");
        }
    }

    #[test]
    fn an_exponent_beyond_64_bits_is_no_decimal() {
        assert!(Decimal::parse(b"1e99999999999999999999").is_none());
        assert!(Decimal::parse(b"1e-9223372036854775807").is_some());
    }
}
