//! Ids and hashes in hexadecimal, and UUIDs, as the bytes that they stand for: half as long, and no
//! codec can make them shorter than that.

use super::model::Hex;

/// Shorter runs are words as often as hexadecimal numbers.
const BYTES_MIN: usize = 4;

/// Where a UUID has its hyphens.
const HYPHENS: [usize; 4] = [8, 13, 18, 23];

/// What a text is in hexadecimal, if it is.
#[inline]
pub(super) fn detect(text: &[u8]) -> Option<Hex> {
    let is_uuid = text.len() == 36;
    let bytes = if is_uuid { 16 } else { u8::try_from(text.len() / 2).ok()? };
    if usize::from(bytes) < BYTES_MIN || !is_uuid && !text.len().is_multiple_of(2) {
        return None;
    }
    let lower = Hex { bytes, is_upper: false, is_uuid };
    if is_hex(text, lower) {
        return Some(lower);
    }
    let upper = Hex { is_upper: true, ..lower };
    is_hex(text, upper).then_some(upper)
}

/// The digits of a UUID between its hyphens: the bytes, and where their text begins.
const UUID_PARTS: [(std::ops::Range<usize>, usize); 5] =
    [(0..4, 0), (4..6, 9), (6..8, 14), (8..10, 19), (10..16, 24)];

/// Whether each byte is a digit in lower case, in the lowest bit, and in upper case, in the next.
const DIGITS: [u8; 256] = {
    let mut digits = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        digits[byte] = match byte as u8 {
            b'0'..=b'9' => 3,
            b'a'..=b'f' => 1,
            b'A'..=b'F' => 2,
            _ => 0,
        };
        byte += 1;
    }
    digits
};

/// Whether a text is of this kind.
#[inline]
pub(super) fn is_hex(text: &[u8], hex: Hex) -> bool {
    let case = if hex.is_upper { 2 } else { 1 };
    let is_digit = |byte: &u8| DIGITS[usize::from(*byte)] & case != 0;
    if !hex.is_uuid {
        return text.len() == 2 * usize::from(hex.bytes) && text.iter().all(is_digit);
    }
    text.len() == 36
        && HYPHENS.iter().all(|&at| text[at] == b'-')
        && UUID_PARTS
            .iter()
            .all(|(bytes, at)| text[*at..*at + 2 * bytes.len()].iter().all(is_digit))
}

/// Appends the bytes of a text of this kind.
#[inline]
pub(super) fn read(text: &[u8], hex: Hex, out: &mut Vec<u8>) {
    if !hex.is_uuid {
        read_digits(text, out);
        return;
    }
    for (bytes, at) in UUID_PARTS {
        read_digits(text.get(at..at + 2 * bytes.len()).unwrap_or_default(), out);
    }
}

fn read_digits(text: &[u8], out: &mut Vec<u8>) {
    // Letters have bit 6 set, and begin with 1 in the low four bits.
    let value = |digit: u8| (digit & 15) + 9 * (digit >> 6);
    let (pairs, _) = text.as_chunks::<2>();
    out.extend(pairs.iter().map(|[high, low]| value(*high) << 4 | value(*low)));
}

/// How long the text of this kind is.
pub(super) fn text_bytes(hex: Hex) -> usize {
    2 * usize::from(hex.bytes) + if hex.is_uuid { HYPHENS.len() } else { 0 }
}

/// Writes the text of bytes over all of `to`.
#[inline(always)]
pub(super) fn write(bytes: &[u8], hex: Hex, to: &mut [u8]) {
    if !hex.is_uuid {
        write_digits(bytes, hex.is_upper, to);
        return;
    }
    for (part, at) in UUID_PARTS {
        let text = at..at + 2 * part.len();
        if let (Some(bytes), Some(to)) = (bytes.get(part), to.get_mut(text)) {
            write_digits(bytes, hex.is_upper, to);
        }
    }
    for at in HYPHENS {
        if let Some(byte) = to.get_mut(at) {
            *byte = b'-';
        }
    }
}

#[inline(always)]
fn write_digits(bytes: &[u8], is_upper: bool, to: &mut [u8]) {
    let (fours, rest) = bytes.as_chunks::<4>();
    let (eights, after) = to.as_chunks_mut::<8>();
    for (eight, four) in eights.iter_mut().zip(fours) {
        *eight = eight_digits(*four, is_upper);
    }
    for (two, &byte) in after.chunks_exact_mut(2).zip(rest) {
        two.copy_from_slice(&eight_digits([byte, 0, 0, 0], is_upper)[..2]);
    }
}

/// The digits of four bytes: the half bytes in eight bytes of a word, made to digits at once.
#[inline(always)]
fn eight_digits(bytes: [u8; 4], is_upper: bool) -> [u8; 8] {
    let word = u64::from(u32::from_le_bytes(bytes));
    let word = (word | word << 16) & 0x0000_FFFF_0000_FFFF;
    let word = (word | word << 8) & 0x00FF_00FF_00FF_00FF;
    let halves = (word >> 4 | word << 8) & 0x0F0F_0F0F_0F0F_0F0F;
    let letters = (halves + 0x0606_0606_0606_0606) >> 4 & 0x0101_0101_0101_0101;
    let to_letter = if is_upper { b'A' - b'9' - 1 } else { b'a' - b'9' - 1 };
    (halves + 0x3030_3030_3030_3030 + letters * u64::from(to_letter)).to_le_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_hexadecimal_comes_back() {
        let texts = [
            "deadbeef",
            "DEADBEEF",
            "550e8400-e29b-41d4-a716-446655440000",
            "550E8400-E29B-41D4-A716-446655440000",
            "da39a3ee5e6b4b0d3255bfef95601890afd80709",
        ];
        for text in texts {
            let hex = detect(text.as_bytes()).unwrap();
            let mut bytes = Vec::new();
            read(text.as_bytes(), hex, &mut bytes);
            assert_eq!(bytes.len(), usize::from(hex.bytes));
            let mut back = vec![0; text_bytes(hex)];
            write(&bytes, hex, &mut back);
            assert_eq!(back, text.as_bytes());
        }
        for text in
            ["deadbee", "DeadBeef", "beef", "550e8400e29b-41d4-a716-4466554400001", "", "xyz"]
        {
            assert_eq!(detect(text.as_bytes()), None, "{text}");
        }
    }
}
