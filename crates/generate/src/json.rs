//! Appends JSON pieces to a text.
//! Documents are written piece by piece and never built as a tree, which is what makes generating
//! faster than compressing, and every number is written from an integer.

/// Appends a whole number.
pub(crate) fn integer(output: &mut String, value: u64) {
    let mut digits = [0; 20];
    let mut start = digits.len();
    let mut rest = value;
    loop {
        start -= 1;
        digits[start] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    output.extend(digits[start..].iter().map(|digit| char::from(*digit)));
}

/// Appends a whole number with leading zeros up to a width.
pub(crate) fn padded(output: &mut String, value: u64, width: u32) {
    for position in (0..width).rev() {
        let digit = value / 10_u64.pow(position) % 10;
        output.push(char::from(b'0' + digit as u8));
    }
}

/// Appends an amount of cents as a decimal number. Trailing zeros are dropped down to one digit
/// after the point (2.5, 110.0), as serializers of binary floating point numbers print them.
pub(crate) fn cents(output: &mut String, value: i64) {
    signed_decimal(output, value, 2);
}

/// Appends `value` / 10^`digits` with the trailing zeros dropped down to one digit.
pub(crate) fn signed_decimal(output: &mut String, value: i64, digits: u32) {
    if value < 0 {
        output.push('-');
    }
    let unit = 10_u64.pow(digits);
    let magnitude = value.unsigned_abs();
    integer(output, magnitude / unit);
    output.push('.');
    let (mut fraction, mut width) = (magnitude % unit, digits);
    while width > 1 && fraction.is_multiple_of(10) {
        fraction /= 10;
        width -= 1;
    }
    padded(output, fraction, width);
}

/// Appends the low `width` hexadecimal digits of a number.
pub(crate) fn hexadecimal(output: &mut String, value: u64, width: u32) {
    for position in (0..width).rev() {
        let digit = (value >> (4 * position)) & 15;
        output.push(char::from(b"0123456789abcdef"[digit as usize]));
    }
}

/// Appends a text in quotes. The corpora have no control characters, so only the quote and the
/// backslash are escaped.
pub(crate) fn quoted(output: &mut String, text: &str) {
    output.push('"');
    for character in text.chars() {
        if matches!(character, '"' | '\\') {
            output.push('\\');
        }
        output.push(character);
    }
    output.push('"');
}

/// Appends `true` or `false`.
pub(crate) fn boolean(output: &mut String, value: bool) {
    output.push_str(if value { "true" } else { "false" });
}

#[cfg(test)]
mod tests {
    use super::{boolean, cents, hexadecimal, integer, padded, quoted, signed_decimal};

    fn written(write: impl FnOnce(&mut String)) -> String {
        let mut output = String::new();
        write(&mut output);
        output
    }

    #[test]
    fn amounts_drop_trailing_zeros_but_stay_decimals() {
        let amounts = [(0, "0.0"), (5, "0.05"), (250, "2.5"), (11_000, "110.0"), (295, "2.95")];
        for (value, text) in amounts {
            assert_eq!(written(|output| cents(output, value)), text);
        }
        assert_eq!(written(|output| cents(output, -50)), "-0.5");
        assert_eq!(written(|output| signed_decimal(output, -73_935_240, 6)), "-73.93524");
    }

    #[test]
    fn whole_numbers_are_written_in_full() {
        assert_eq!(written(|output| integer(output, u64::MAX)), "18446744073709551615");
        assert_eq!(written(|output| padded(output, 7, 3)), "007");
        assert_eq!(written(|output| hexadecimal(output, 0xabc, 4)), "0abc");
        assert_eq!(written(|output| boolean(output, false)), "false");
    }

    #[test]
    fn quotes_inside_a_text_are_escaped() {
        assert_eq!(written(|output| quoted(output, "a \"b\" \\")), "\"a \\\"b\\\" \\\\\"");
    }
}
