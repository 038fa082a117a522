//! The kernel of the walk: how far a string or a run of digits goes, many bytes at a time.
//!
//! Strings are most of a payload's bytes, and keys are compared sixteen bytes at once, so that no
//! byte is looked at by itself unless it ends something. Preconditions: none; every offset is
//! checked, and where sixteen bytes are not left the rest is taken byte by byte.

/// The first eight bytes from an offset on, the first one lowest; zeros after the end.
#[inline(always)]
pub(super) fn load_8(text: &[u8], at: usize) -> u64 {
    match text.get(at..).and_then(|rest| rest.first_chunk::<8>()) {
        Some(chunk) => u64::from_le_bytes(*chunk),
        None => load_end(text, at) as u64,
    }
}

/// The first sixteen bytes from an offset on, the first one lowest; zeros after the end.
#[inline(always)]
pub(super) fn load_16(text: &[u8], at: usize) -> u128 {
    match text.get(at..).and_then(|rest| rest.first_chunk::<16>()) {
        Some(chunk) => u128::from_le_bytes(*chunk),
        None => load_end(text, at),
    }
}

#[cold]
#[inline(never)]
fn load_end(text: &[u8], at: usize) -> u128 {
    let rest = text.get(at..).unwrap_or_default();
    let mut bytes = [0; 16];
    let kept = rest.len().min(16);
    bytes[..kept].copy_from_slice(&rest[..kept]);
    u128::from_le_bytes(bytes)
}

/// Whether so many bytes, more than sixteen, stand at one place of a text and at one of another:
/// the first sixteen are known to be the same.
#[inline(always)]
pub(super) fn is_same(a: &[u8], at_a: usize, b: &[u8], at_b: usize, bytes: usize) -> bool {
    let last = bytes - 16;
    if bytes > 32 && a.get(at_a + 16..at_a + last) != b.get(at_b + 16..at_b + last) {
        return false;
    }
    load_16(a, at_a + last) == load_16(b, at_b + last)
}

/// Ones over the first of so many of sixteen bytes.
#[inline(always)]
pub(super) fn mask(bytes: usize) -> u128 {
    MASKS[bytes.min(16)]
}

const MASKS: [u128; 17] = {
    let mut masks = [0; 17];
    let mut bytes = 1;
    while bytes <= 16 {
        masks[bytes] = u128::MAX >> (128 - 8 * bytes);
        bytes += 1;
    }
    masks
};

/// The offset of the closing quote of the string whose first byte after the opening one is at
/// `from`. Nothing if the text ends before, or a control character stands in it.
#[inline(always)]
pub(super) fn string_end(text: &[u8], from: usize) -> Option<usize> {
    let mut at = from;
    while let Some(chunk) = text.get(at..).and_then(|rest| rest.first_chunk::<32>()) {
        let (halves, _) = chunk.as_chunks::<16>();
        let stops = stops(&halves[0]) | stops(&halves[1]) << 16;
        if stops != 0 {
            at += stops.trailing_zeros() as usize;
            match text[at] {
                b'"' => return Some(at),
                b'\\' => at = after_escape(text, at)?,
                _ => return None,
            }
        } else {
            at += 32;
        }
    }
    string_end_bytes(text, at)
}

/// The offset after what a backslash escapes, which is no control character.
#[inline(always)]
fn after_escape(text: &[u8], at: usize) -> Option<usize> {
    text.get(at + 1).filter(|&&byte| byte >= b' ').map(|_| at + 2)
}

#[cold]
#[inline(never)]
fn string_end_bytes(text: &[u8], from: usize) -> Option<usize> {
    let mut at = from;
    loop {
        match *text.get(at)? {
            b'"' => return Some(at),
            b'\\' => at = after_escape(text, at)?,
            0..b' ' => return None,
            _ => at += 1,
        }
    }
}

/// One bit for each of sixteen bytes that is a quote, a backslash or a control character.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn stops(chunk: &[u8; 16]) -> u32 {
    use std::arch::x86_64::*;
    // SAFETY: every x86-64 processor has SSE2; the chunk is 16 readable bytes, and the load needs
    // no alignment.
    unsafe {
        let bytes = _mm_loadu_si128(chunk.as_ptr().cast());
        let quote = _mm_cmpeq_epi8(bytes, _mm_set1_epi8(b'"' as i8));
        let backslash = _mm_cmpeq_epi8(bytes, _mm_set1_epi8(b'\\' as i8));
        let control = _mm_cmpeq_epi8(_mm_max_epu8(bytes, _mm_set1_epi8(0x1F)), _mm_set1_epi8(0x1F));
        _mm_movemask_epi8(_mm_or_si128(_mm_or_si128(quote, backslash), control)) as u32
    }
}

/// One bit for each of sixteen bytes that is a quote, a backslash or a control character.
#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
fn stops(chunk: &[u8; 16]) -> u32 {
    let is_stop = |byte: u8| byte == b'"' || byte == b'\\' || byte < b' ';
    chunk.iter().rev().fold(0, |bits, &byte| bits << 1 | u32::from(is_stop(byte)))
}

/// Appends the offset after each such byte from an offset on.
#[inline(always)]
pub(super) fn after_each(byte: u8, bytes: &[u8], start: usize, out: &mut Vec<u32>) {
    let rest = bytes.get(start..).unwrap_or_default();
    let (chunks, rest) = rest.as_chunks::<16>();
    let mut base = start;
    for chunk in chunks {
        let mut found = equal(byte, chunk);
        while found != 0 {
            out.push(base as u32 + found.trailing_zeros() + 1);
            found &= found - 1;
        }
        base += 16;
    }
    for (at, found) in (base..).zip(rest) {
        if *found == byte {
            out.push(at as u32 + 1);
        }
    }
}

/// How many bytes stand before the first such byte. What is looked for is mostly near.
#[inline(always)]
pub(super) fn before(byte: u8, bytes: &[u8]) -> Option<usize> {
    let (chunks, rest) = bytes.as_chunks::<16>();
    for (at, chunk) in chunks.iter().enumerate() {
        let found = equal(byte, chunk);
        if found != 0 {
            return Some(16 * at + found.trailing_zeros() as usize);
        }
    }
    let found = rest.iter().position(|found| *found == byte)?;
    Some(16 * chunks.len() + found)
}

/// One bit for each of sixteen bytes that is this one.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn equal(byte: u8, chunk: &[u8; 16]) -> u32 {
    use std::arch::x86_64::*;
    // SAFETY: every x86-64 processor has SSE2; the chunk is 16 readable bytes, and the load needs
    // no alignment.
    unsafe {
        let bytes = _mm_loadu_si128(chunk.as_ptr().cast());
        _mm_movemask_epi8(_mm_cmpeq_epi8(bytes, _mm_set1_epi8(byte as i8))) as u32
    }
}

/// One bit for each of sixteen bytes that is this one.
#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
fn equal(byte: u8, chunk: &[u8; 16]) -> u32 {
    chunk.iter().rev().fold(0, |bits, &found| bits << 1 | u32::from(found == byte))
}

/// The offset of the first comma, closing bracket, white space or control character from an offset
/// on, or that of the end.
#[inline(always)]
pub(super) fn scalar_end(text: &[u8], from: usize) -> usize {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = 0x8080_8080_8080_8080;
    const COMMAS: u64 = ONES * b',' as u64;
    const BRACKETS: u64 = ONES * b']' as u64;
    // The top bit of each byte below a limit. What is carried comes from such a byte, so that the
    // lowest of these bits is always right.
    let below = |word: u64, limit: u8| word.wrapping_sub(ONES * u64::from(limit)) & !word & HIGH;
    let mut at = from;
    loop {
        // After the end stand zeros.
        let word = load_8(text, at);
        let commas = below(word ^ COMMAS, 1);
        let brackets = below(word ^ BRACKETS, 1);
        let ends = below(word, b' ' + 1) | commas | brackets;
        if ends != 0 {
            return at + ends.trailing_zeros() as usize / 8;
        }
        at += 8;
    }
}

const ZEROS: u64 = 0x3030_3030_3030_3030;

/// How many of eight bytes are digits before the first that is none.
#[inline(always)]
fn digit_count(word: u64) -> u32 {
    // The high half of a digit is 3, and stays 3 with 6 added to it. A carry out of a byte comes
    // from one that is no digit, so it reaches only bytes behind the first of those.
    let high = word & 0xF0F0_F0F0_F0F0_F0F0;
    let sum = word.wrapping_add(0x0606_0606_0606_0606) & 0xF0F0_F0F0_F0F0_F0F0;
    let others = (high ^ ZEROS) | (sum ^ ZEROS);
    others.trailing_zeros() / 8
}

/// The number of eight digits.
#[inline(always)]
fn eight_digits(word: u64) -> u64 {
    let digits = word.wrapping_sub(ZEROS);
    let pairs = digits.wrapping_mul(10).wrapping_add(digits >> 8);
    const MASK: u64 = 0x0000_00FF_0000_00FF;
    let low = (pairs & MASK).wrapping_mul(100 + (1_000_000 << 32));
    let high = (pairs >> 16 & MASK).wrapping_mul(1 + (10_000 << 32));
    low.wrapping_add(high) >> 32
}

/// The powers of ten that up to eight digits stand for.
const POWERS: [u64; 9] = [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000];

/// Appends a run of digits to a number, which wraps around, and returns it with the offset after
/// the run.
#[inline(always)]
pub(super) fn digits(text: &[u8], from: usize, number: u64) -> (u64, usize) {
    let (mut number, mut at) = (number, from);
    loop {
        let word = load_8(text, at);
        let count = digit_count(word);
        if count == 0 {
            return (number, at);
        }
        // The digits are moved behind zeros, so that there are eight.
        let shift = 64 - 8 * count;
        let padded = if shift == 0 { word } else { word << shift | ZEROS >> (64 - shift) };
        number = number.wrapping_mul(POWERS[count as usize]).wrapping_add(eight_digits(padded));
        at += count as usize;
        if count < 8 {
            return (number, at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_end_where_their_bytes_say_so() {
        let mut state = 5u64;
        for round in 0..20_000 {
            let text: Vec<u8> = (0..round % 70)
                .map(|_| {
                    state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                    match state >> 57 {
                        0..2 => b'"',
                        2..5 => b'\\',
                        5 if round % 5 == 0 => 0x1F,
                        byte => (byte as u8).wrapping_mul(3) | 0x40,
                    }
                })
                .collect();
            for from in 0..text.len().min(20) {
                assert_eq!(string_end(&text, from), string_end_bytes(&text, from), "{text:?}");
            }
        }
    }

    #[test]
    fn scalars_end_where_their_bytes_say_so() {
        let is_end = |byte: &u8| matches!(byte, b',' | b']' | 0..=b' ');
        for end in 0..=255u8 {
            for before in [b"".as_slice(), b"1", b"-12.5e+3", b"0.123456789012345", b"\xFF\x80true"]
            {
                let text = [before, &[end, b'-', b'+', b'\\', b'^', b'!'], before].concat();
                let expected = text.iter().position(is_end).unwrap_or(text.len());
                assert_eq!(scalar_end(&text, 0), expected, "{text:?}");
            }
        }
    }

    #[test]
    fn digits_are_read_as_the_library_reads_them() {
        let all = "01234567899876543210";
        for from in 0..all.len() {
            for end in from..=(from + 18).min(all.len()) {
                for after in ["", ",", ".5", "e", "/", ":", "\u{1}\u{80}", "}          "] {
                    let text = format!("{}{after}", &all[from..end]);
                    let expected = all[from..end].parse().unwrap_or(0);
                    assert_eq!(digits(text.as_bytes(), 0, 0), (expected, end - from), "{text}");
                }
            }
        }
        assert_eq!(digits(b"45", 0, 123), (12_345, 2));
    }
}
