//! What the binary encoders do to every string: check that it is UTF-8 and copy it.
//!
//! Most strings of real payloads are ASCII and shorter than 32 bytes, where a call of the general
//! routines costs more than the work; both functions take those apart first. What they answer must
//! stay what `str::from_utf8` and a plain copy would give.

use crate::document::{Document, Span};
use crate::encoding::Refusal;

const HIGH_BITS: u64 = 0x8080_8080_8080_8080;
const BLOCK: usize = 16;

/// Whether the bytes are UTF-8, in which no lone surrogate can stand.
#[inline]
pub(in crate::encoding) fn is_utf8(bytes: &[u8]) -> bool {
    (bytes.len() <= 64 && is_ascii(bytes)) || str::from_utf8(bytes).is_ok()
}

/// Whether all bytes are ASCII; made for short strings.
#[inline]
pub(in crate::encoding) fn is_ascii(bytes: &[u8]) -> bool {
    let mut seen = 0;
    match bytes.last_chunk::<8>() {
        Some(last) => {
            for word in bytes.as_chunks::<8>().0 {
                seen |= u64::from_ne_bytes(*word);
            }
            // The last eight bytes overlap the words before them, which spares a loop over bytes.
            seen |= u64::from_ne_bytes(*last);
        }
        None => {
            for &byte in bytes {
                seen |= u64::from(byte);
            }
        }
    }
    seen & HIGH_BITS == 0
}

/// Where the first NUL stands; made for short keys.
#[inline]
pub(in crate::encoding) fn find_nul(bytes: &[u8]) -> Option<usize> {
    const ONES: u64 = 0x0101_0101_0101_0101;
    for (index, word) in bytes.as_chunks::<8>().0.iter().take(4).enumerate() {
        let word = u64::from_le_bytes(*word);
        // The lowest bit that this leaves is the top bit of the first zero byte.
        let zeros = word.wrapping_sub(ONES) & !word & HIGH_BITS;
        if zeros != 0 {
            return Some(index * 8 + zeros.trailing_zeros() as usize / 8);
        }
    }
    let rest = bytes.len().min(32) & !7;
    Some(rest + memchr::memchr(0, &bytes[rest..])?)
}

/// The bytes of a string or key, refused where a lone surrogate stands in it.
#[inline]
pub(in crate::encoding) fn checked(document: &Document, span: Span) -> Result<&[u8], Refusal> {
    let bytes = document.bytes(span);
    if is_utf8(bytes) { Ok(bytes) } else { Err(Refusal::LoneSurrogate) }
}

/// Appends the bytes of a string. Short ones are copied as one or two blocks and cut to length.
#[inline]
pub(in crate::encoding) fn append(out: &mut Vec<u8>, document: &Document, span: Span) {
    let (start, length) = (span.start as usize, span.length as usize);
    let end = out.len() + length;
    let rest = &document.text()[start..];
    if length <= BLOCK {
        if let Some(block) = rest.first_chunk::<BLOCK>() {
            out.extend_from_slice(block);
            out.truncate(end);
            return;
        }
    } else if length <= 2 * BLOCK
        && let Some(block) = rest.first_chunk::<{ 2 * BLOCK }>()
    {
        out.extend_from_slice(block);
        out.truncate(end);
        return;
    }
    out.extend_from_slice(&rest[..length]);
}

/// Appends the bytes of a string if they are UTF-8, and answers whether they are. A short one is
/// looked at and copied as one block with what stands behind it, which mostly is ASCII too.
#[inline]
pub(in crate::encoding) fn append_utf8(out: &mut Vec<u8>, text: &[u8], span: Span) -> bool {
    let (start, length) = (span.start as usize, span.length as usize);
    let rest = &text[start..];
    if length <= 2 * BLOCK
        && let Some(block) = rest.first_chunk::<{ 2 * BLOCK }>()
        && block_is_ascii(block)
    {
        let end = out.len() + length;
        out.extend_from_slice(block);
        out.truncate(end);
        return true;
    }
    let bytes = &rest[..length];
    let is_text = is_utf8(bytes);
    if is_text {
        out.extend_from_slice(bytes);
    }
    is_text
}

#[inline]
fn block_is_ascii(block: &[u8; 2 * BLOCK]) -> bool {
    let words = block.as_chunks::<8>().0;
    words.iter().fold(0, |seen, word| seen | u64::from_ne_bytes(*word)) & HIGH_BITS == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_strings_are_checked_like_long_ones() {
        for length in 0..80 {
            let plain = vec![b'a'; length];
            assert!(is_ascii(&plain) && is_utf8(&plain));
            for index in 0..length {
                let mut bytes = plain.clone();
                bytes[index] = 0xFF;
                assert!(!is_ascii(&bytes) && !is_utf8(&bytes), "{length} {index}");
                if index + 1 < length {
                    bytes[index..index + 2].copy_from_slice("é".as_bytes());
                    assert!(!is_ascii(&bytes) && is_utf8(&bytes), "{length} {index}");
                }
            }
        }
        assert!(!is_utf8(b"\xED\xA0\x80"));
    }

    #[test]
    fn the_first_nul_is_found_wherever_it_stands() {
        for length in 0..80 {
            for second in 0..length {
                for first in 0..=second {
                    let mut bytes = vec![1; length];
                    bytes[second] = 0;
                    bytes[first] = 0;
                    assert_eq!(find_nul(&bytes), Some(first));
                }
            }
            assert_eq!(find_nul(&vec![0x80; length]), None);
        }
    }

    #[test]
    fn only_a_string_of_utf8_is_appended() {
        let long = "é".repeat(40);
        let strings: [&[u8]; 6] =
            [b"", b"short", "é".as_bytes(), b"\xED\xA0\x80", b"\xFF", long.as_bytes()];
        for string in strings {
            for behind in [&b""[..], &[b'a'; 40], &[0xFF; 40]] {
                let text = [b"before", string, behind].concat();
                let mut out = vec![7];
                let span = Span { start: 6, length: string.len() as u32 };
                let is_text = str::from_utf8(string).is_ok();
                assert_eq!(append_utf8(&mut out, &text, span), is_text);
                assert_eq!(out[1..], *if is_text { string } else { b"" });
            }
        }
    }

    #[test]
    fn a_string_is_appended_whole_wherever_it_stands() {
        let text: Vec<u8> = (0..100).collect();
        let mut document = Document::new();
        document.push_text(&text).unwrap();
        for start in 0..text.len() {
            for length in 0..=text.len() - start {
                let mut out = vec![7];
                append(&mut out, &document, Span { start: start as u32, length: length as u32 });
                assert_eq!(out[1..], text[start..start + length]);
            }
        }
    }
}
