//! The kernel of the SIMD parser: the offsets of everything that structures a JSON text.
//!
//! 64 bytes are classified at once into bit masks, as in "Parsing Gigabytes of JSON per Second"
//! (Langdale and Lemire, 2019, section 3.1). Unlike there, closing quotes are listed too, and the
//! entry of a closing quote says whether its string has a backslash, so that the second stage takes
//! most strings as ranges without looking at their bytes.
//!
//! Preconditions: the text is shorter than 2^31 bytes. Nothing is assumed of its content.

/// Set in the entry of a closing quote whose string has a backslash.
pub(crate) const HAS_ESCAPE: u32 = 1 << 31;

/// What the first stage found wrong, if anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The text ends inside a string.
    OpenString,
    /// A control character stands inside a string, in the 64 bytes from this offset.
    ControlCharacter { block: usize },
}

/// One bit for each of 64 bytes.
#[derive(Clone, Copy)]
struct Masks {
    backslash: u64,
    quote: u64,
    operator: u64,
    space: u64,
    control: u64,
}

/// What one block passes on to the next.
#[derive(Default)]
struct Carry {
    /// The first byte of the next block is escaped.
    escaped: u64,
    /// All ones if the next block starts inside a string.
    in_string: u64,
    /// The last byte was part of a number or literal.
    scalar: u64,
    /// The string that is open has a backslash.
    open_has_escape: bool,
}

/// Appends to `index` the offset of every quote, operator and first byte of a number or literal
/// outside strings.
pub(crate) fn find(text: &[u8], index: &mut Vec<u32>) -> Result<(), Fault> {
    debug_assert!(text.len() < HAS_ESCAPE as usize);
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2")
        && std::arch::is_x86_feature_detected!("bmi1")
        && std::arch::is_x86_feature_detected!("bmi2")
        && std::arch::is_x86_feature_detected!("lzcnt")
        && std::arch::is_x86_feature_detected!("popcnt")
    {
        // SAFETY: every feature that the function enables was detected on the lines above.
        return unsafe { find_avx2(text, index) };
    }
    find_with(text, index, masks_portable)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn find_avx2(text: &[u8], index: &mut Vec<u32>) -> Result<(), Fault> {
    find_with(text, index, |block| masks_avx2(block))
}

#[inline(always)]
fn find_with(
    text: &[u8],
    index: &mut Vec<u32>,
    masks: impl Fn(&[u8; 64]) -> Masks,
) -> Result<(), Fault> {
    let mut carry = Carry::default();
    let (blocks, rest) = text.as_chunks::<64>();
    for (number, block) in blocks.iter().enumerate() {
        step(masks(block), number * 64, &mut carry, index)?;
    }
    if !rest.is_empty() {
        // White space adds no structure, whatever stands before it.
        let mut block = [b' '; 64];
        block[..rest.len()].copy_from_slice(rest);
        step(masks(&block), blocks.len() * 64, &mut carry, index)?;
    }
    if carry.in_string != 0 { Err(Fault::OpenString) } else { Ok(()) }
}

#[inline(always)]
fn step(masks: Masks, base: usize, carry: &mut Carry, index: &mut Vec<u32>) -> Result<(), Fault> {
    let escaped = escaped(masks.backslash, &mut carry.escaped);
    let quote = masks.quote & !escaped;
    // From each opening quote up to, not including, its closing one.
    let in_string = prefix_xor(quote) ^ carry.in_string;
    carry.in_string = ((in_string as i64) >> 63) as u64;
    if masks.control & in_string != 0 {
        return Err(Fault::ControlCharacter { block: base });
    }
    let scalar = !(masks.operator | masks.space | masks.quote) & !in_string;
    let scalar_start = scalar & !(scalar << 1 | carry.scalar);
    carry.scalar = scalar >> 63;
    let mut structure = (masks.operator & !in_string) | scalar_start | quote;
    let closing = quote & !in_string;

    index.reserve(64);
    if masks.backslash == 0 && !carry.open_has_escape {
        while structure != 0 {
            index.push(base as u32 + structure.trailing_zeros());
            structure &= structure - 1;
        }
        return Ok(());
    }
    while structure != 0 {
        let bit = structure.trailing_zeros();
        structure &= structure - 1;
        let mut entry = base as u32 + bit;
        if closing >> bit & 1 == 1 {
            // A backslash before this quote in this block, after the string's start.
            let before = masks.backslash & ((1 << bit) - 1);
            let start = quote & ((1u64 << bit) - 1);
            let inside = match start {
                0 => before,
                _ => before & (!0 << (63 - start.leading_zeros())),
            };
            if inside != 0 || (start == 0 && carry.open_has_escape) {
                entry |= HAS_ESCAPE;
            }
        }
        index.push(entry);
    }
    carry.open_has_escape = carry.in_string != 0 && {
        let after_last_quote = match quote {
            0 => masks.backslash,
            _ => masks.backslash & (!0u64 << (63 - quote.leading_zeros())),
        };
        after_last_quote != 0 || (quote == 0 && carry.open_has_escape)
    };
    Ok(())
}

/// The bytes that a backslash escapes: every byte after an odd run of backslashes.
#[inline(always)]
fn escaped(backslash: u64, carry: &mut u64) -> u64 {
    if backslash == 0 {
        return std::mem::take(carry);
    }
    const ODD: u64 = 0xAAAA_AAAA_AAAA_AAAA;
    let backslash = backslash & !*carry;
    let follows = backslash << 1 | *carry;
    let odd_starts = backslash & !(ODD >> 1) & !follows;
    let (even_series, overflow) = odd_starts.overflowing_add(backslash);
    *carry = u64::from(overflow);
    let invert = even_series << 1;
    ((ODD >> 1) ^ invert) & follows
}

/// Each bit the exclusive or of all bits up to it.
#[inline(always)]
fn prefix_xor(mut bits: u64) -> u64 {
    for shift in [1, 2, 4, 8, 16, 32] {
        bits ^= bits << shift;
    }
    bits
}

#[inline(always)]
fn masks_portable(block: &[u8; 64]) -> Masks {
    let collect = |is: fn(u8) -> bool| {
        block.iter().rev().fold(0u64, |mask, &byte| mask << 1 | u64::from(is(byte)))
    };
    Masks {
        backslash: collect(|b| b == b'\\'),
        quote: collect(|b| b == b'"'),
        operator: collect(|b| matches!(b, b'{' | b'}' | b'[' | b']' | b':' | b',')),
        space: collect(|b| matches!(b, b' ' | b'\t' | b'\n' | b'\r')),
        control: collect(|b| b < 0x20),
    }
}

#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx2")]
fn masks_avx2(block: &[u8; 64]) -> Masks {
    use std::arch::x86_64::*;
    let (halves, _) = block.as_chunks::<32>();
    // SAFETY: each half is 32 readable bytes; the load needs no alignment.
    let load = |half: &[u8; 32]| unsafe { _mm256_loadu_si256(half.as_ptr().cast()) };
    let (low, high) = (load(&halves[0]), load(&halves[1]));
    let join = |low: __m256i, high: __m256i| {
        let (low, high) = (_mm256_movemask_epi8(low) as u32, _mm256_movemask_epi8(high) as u32);
        u64::from(low) | u64::from(high) << 32
    };
    let equal = |byte: u8| {
        let wanted = _mm256_set1_epi8(byte as i8);
        join(_mm256_cmpeq_epi8(low, wanted), _mm256_cmpeq_epi8(high, wanted))
    };
    // Each table has, at the low four bits of a byte, the byte of that class, if there is one:
    // comparing what the shuffle finds with the byte itself tells membership. The first entry of
    // each table is a byte whose low bits are not zero, or a member, so that no other byte equals
    // what its own low bits select. A byte with its top bit set selects zero and equals nothing.
    let class = |table: __m256i, low: __m256i, high: __m256i| {
        join(
            _mm256_cmpeq_epi8(_mm256_shuffle_epi8(table, low), low),
            _mm256_cmpeq_epi8(_mm256_shuffle_epi8(table, high), high),
        )
    };
    let both = |half: __m128i| _mm256_broadcastsi128_si256(half);
    let space_table = both(_mm_setr_epi8(
        b' ' as i8,
        1 << 6,
        1 << 6,
        1 << 6,
        1 << 6,
        1 << 6,
        1 << 6,
        1 << 6,
        1 << 6,
        b'\t' as i8,
        b'\n' as i8,
        1 << 6,
        1 << 6,
        b'\r' as i8,
        1 << 6,
        1 << 6,
    ));
    // Setting bit 5 makes [ and ] into { and }; comma and colon have it set already, and the
    // bytes 0x0C and 0x1A, which become comma and colon, are told apart below.
    let operator_table = both(_mm_setr_epi8(
        0x7F, 0x7F, 0x7F, 0x7F, 0x7F, 0x7F, 0x7F, 0x7F, 0x7F, 0x7F, b':' as i8, b'{' as i8,
        b',' as i8, b'}' as i8, 0x7F, 0,
    ));
    let bit_5 = _mm256_set1_epi8(0x20);
    let (low_5, high_5) = (_mm256_or_si256(low, bit_5), _mm256_or_si256(high, bit_5));
    let largest_control = _mm256_set1_epi8(0x1F);
    let below = |bytes| _mm256_cmpeq_epi8(_mm256_min_epu8(bytes, largest_control), bytes);
    let control = join(below(low), below(high));
    Masks {
        backslash: equal(b'\\'),
        quote: equal(b'"'),
        operator: class(operator_table, low_5, high_5) & !control,
        space: class(space_table, low, high),
        control,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The definition, one byte after the other.
    fn slow(text: &[u8]) -> Result<Vec<u32>, ()> {
        let mut index = Vec::new();
        let (mut open, mut escape, mut scalar) = (None, false, false);
        for (at, &byte) in text.iter().enumerate() {
            if let Some(has_escape) = open {
                if byte < 0x20 {
                    return Err(());
                } else if std::mem::take(&mut escape) {
                } else if byte == b'\\' {
                    escape = true;
                    open = Some(HAS_ESCAPE);
                } else if byte == b'"' {
                    index.push(at as u32 | has_escape);
                    open = None;
                }
                continue;
            }
            match byte {
                b'"' => {
                    index.push(at as u32);
                    open = Some(0);
                    scalar = false;
                }
                b'{' | b'}' | b'[' | b']' | b':' | b',' => {
                    index.push(at as u32);
                    scalar = false;
                }
                b' ' | b'\t' | b'\n' | b'\r' => scalar = false,
                _ => {
                    if !scalar {
                        index.push(at as u32);
                    }
                    scalar = true;
                }
            }
        }
        if open.is_some() { Err(()) } else { Ok(index) }
    }

    #[test]
    fn both_kernels_find_what_the_definition_finds() {
        let alphabet = b"\"\"\"\\\\{}[]:, \t\n\r01aZ\x00\x0C\x1A\x7F\xC3\xFF/;-";
        let mut state = 0x9E37_79B9_7F4A_7C15u64;
        for round in 0..20_000 {
            let length = (round % 300) as usize;
            let text: Vec<u8> = (0..length)
                .map(|_| {
                    state ^= state << 13;
                    state ^= state >> 7;
                    state ^= state << 17;
                    // Backslashes outside strings start no escape in the definition, and no
                    // valid text has them, so half of the rounds go without.
                    let byte = alphabet[(state >> 33) as usize % alphabet.len()];
                    if byte == b'\\' && round % 2 == 0 { b'x' } else { byte }
                })
                .collect();
            let mut portable = Vec::new();
            let portable_result = find_with(&text, &mut portable, masks_portable);
            let mut fastest = Vec::new();
            let result = find(&text, &mut fastest);
            assert_eq!((portable_result, &portable), (result, &fastest));
            if round % 2 == 0 {
                assert_eq!(result.map(|()| fastest).map_err(|_| ()), slow(&text), "{text:?}");
            }
        }
    }
}
