//! Variable-length numbers: seven bits a byte, low bits first, the top bit set on all but the last
//! byte (LEB128), in minimal form and at most 2^32 - 1.
//!
//! Only the minimal form is accepted, so that an envelope has one spelling.

/// The number at the start of `bytes` and its length in bytes, or `None` where it is cut short,
/// not minimal, or above 2^32 - 1.
pub fn read_varint(bytes: &[u8]) -> Option<(u32, usize)> {
    let mut value: u64 = 0;
    for (index, &byte) in bytes.iter().take(5).enumerate() {
        value |= u64::from(byte & 0x7F) << (7 * index);
        if byte & 0x80 == 0 {
            let is_minimal = index == 0 || byte != 0;
            let value = u32::try_from(value).ok()?;
            return is_minimal.then_some((value, index + 1));
        }
    }
    None
}

/// Appends a number in its minimal form, one to five bytes.
pub fn write_varint(mut value: u32, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_round_trip_at_every_length() {
        for value in [0, 1, 127, 128, 16_383, 16_384, 2_097_151, 2_097_152, u32::MAX - 1, u32::MAX]
        {
            let mut bytes = Vec::new();
            write_varint(value, &mut bytes);
            assert_eq!(read_varint(&bytes), Some((value, bytes.len())));
            assert_eq!(read_varint(&bytes[..bytes.len() - 1]), None);
        }
    }

    #[test]
    fn other_spellings_are_refused() {
        for bytes in [
            &[0x80, 0x00][..],
            &[0xFF, 0x80, 0x00],
            &[0xFF, 0xFF, 0xFF, 0xFF, 0x10],
            &[0x80, 0x80, 0x80, 0x80, 0x80, 0x01],
            &[0x80],
            &[],
        ] {
            assert_eq!(read_varint(bytes), None, "{bytes:02x?}");
        }
    }
}
