//! Payloads that no codec helps: numbers, which stores must be able to count with, and what is
//! compressed already; and those that a rule of the profile leaves plain.
//!
//! Only the first bytes are looked at. A wrong guess costs nothing but a little space: the payload
//! stays plain.

use crate::pack::PlainReason;
use crate::profile::Profile;

/// The starts of the compressed formats that are met as payloads.
const COMPRESSED_STARTS: &[&[u8]] = &[
    &[0x1F, 0x8B, 0x08],                   // gzip (RFC 1952)
    &[0x28, 0xB5, 0x2F, 0xFD],             // zstd frame (RFC 8878)
    &[0x04, 0x22, 0x4D, 0x18],             // LZ4 frame
    &[0xFD, b'7', b'z', b'X', b'Z', 0x00], // xz
    b"BZh",                                // bzip2
    b"PK\x03\x04",                         // zip and what is built on it
    &[0x89, b'P', b'N', b'G', 0x0D, 0x0A], // PNG
    &[0xFF, 0xD8, 0xFF],                   // JPEG
    b"\xFF\x06\x00\x00sNaPpY",             // Snappy framing format
];

/// Why a payload stays plain whatever it would shrink to, if it does.
pub fn reason_to_leave(profile: &Profile, payload: &[u8]) -> Option<PlainReason> {
    if payload.len() < profile.min_size_bytes {
        Some(PlainReason::BelowMinSize)
    } else if is_number(payload) {
        Some(PlainReason::Number)
    } else if is_compressed(payload) {
        Some(PlainReason::AlreadyCompressed)
    } else if profile.encoding_for(payload.len()).is_none() {
        Some(PlainReason::Rule)
    } else {
        None
    }
}

/// Whether a packed form of this length is worth having in place of the payload.
pub fn is_worth_packing(profile: &Profile, payload_bytes: usize, packed_bytes: usize) -> bool {
    packed_bytes as f64 <= payload_bytes as f64 * (1.0 - profile.min_gain)
}

/// Whether the payload starts like a compressed format.
fn is_compressed(payload: &[u8]) -> bool {
    COMPRESSED_STARTS.iter().any(|start| payload.starts_with(start))
}

/// Whether the payload is a bare decimal number, which a store may be asked to increment.
fn is_number(payload: &[u8]) -> bool {
    // The longest number that a store counts with has fewer digits than this; a longer run of
    // digits is an identifier or a list, and may be packed.
    const NUMBER_BYTES_MAX: usize = 64;
    payload.len() <= NUMBER_BYTES_MAX
        && str::from_utf8(payload).is_ok_and(|text| text.parse::<f64>().is_ok_and(f64::is_finite))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_compressed_payloads_are_told_from_text() {
        for number in ["0", "-1", "12.50", "1e6", "18446744073709551615"] {
            assert!(is_number(number.as_bytes()), "{number}");
        }
        for text in ["", "1 2", "{}", "0x10", "inf", "NaN", "1,5", &"9".repeat(65)] {
            assert!(!is_number(text.as_bytes()), "{text}");
        }
        assert!(is_compressed(b"\x1f\x8b\x08\x00rest"));
        assert!(!is_compressed(b"{\"a\":1}"));
        assert!(!is_compressed(b"\x1f\x8b"));
    }
}
