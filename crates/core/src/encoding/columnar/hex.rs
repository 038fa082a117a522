//! Ids and hashes in hexadecimal, and UUIDs, as the bytes that they stand for: half as long, and no
//! codec can make them shorter than that.

use super::model::Hex;

/// Shorter runs are words as often as hexadecimal numbers.
const BYTES_MIN: usize = 4;

/// Where a UUID has its hyphens.
const HYPHENS: [usize; 4] = [8, 13, 18, 23];

/// What a text is in hexadecimal, if it is.
pub(super) fn detect(text: &[u8]) -> Option<Hex> {
    let is_upper = text.iter().any(u8::is_ascii_uppercase);
    let is_uuid = text.len() == 36;
    let bytes = if is_uuid { 16 } else { u8::try_from(text.len() / 2).ok()? };
    if usize::from(bytes) < BYTES_MIN || !is_uuid && !text.len().is_multiple_of(2) {
        return None;
    }
    let hex = Hex { bytes, is_upper, is_uuid };
    is_hex(text, hex).then_some(hex)
}

/// Whether a text is of this kind.
pub(super) fn is_hex(text: &[u8], hex: Hex) -> bool {
    let mut count = 0;
    let is_right = text.iter().enumerate().all(|(at, &byte)| {
        if hex.is_uuid && HYPHENS.contains(&at) {
            return byte == b'-';
        }
        count += 1;
        digit(byte, hex.is_upper).is_some()
    });
    is_right && count == 2 * usize::from(hex.bytes)
}

fn digit(byte: u8, is_upper: bool) -> Option<u8> {
    match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' if !is_upper => Some(byte - b'a' + 10),
        b'A'..=b'F' if is_upper => Some(byte - b'A' + 10),
        _ => None,
    }
}

/// Appends the bytes of a text of this kind.
pub(super) fn read(text: &[u8], hex: Hex, out: &mut Vec<u8>) {
    let mut digits = text.iter().filter_map(|&byte| digit(byte, hex.is_upper));
    while let (Some(high), Some(low)) = (digits.next(), digits.next()) {
        out.push(high << 4 | low);
    }
}

/// Appends the text of bytes.
pub(super) fn write(bytes: &[u8], hex: Hex, out: &mut Vec<u8>) {
    let digits = if hex.is_upper { b"0123456789ABCDEF" } else { b"0123456789abcdef" };
    for (at, &byte) in bytes.iter().enumerate() {
        if hex.is_uuid && matches!(at, 4 | 6 | 8 | 10) {
            out.push(b'-');
        }
        out.push(digits[usize::from(byte >> 4)]);
        out.push(digits[usize::from(byte & 15)]);
    }
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
            let (mut bytes, mut back) = (Vec::new(), Vec::new());
            read(text.as_bytes(), hex, &mut bytes);
            assert_eq!(bytes.len(), usize::from(hex.bytes));
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
