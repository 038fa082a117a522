//! Walks an LZ4 block that did not decode, to tell one that is longer than the buffer from a
//! damaged one. It copies nothing and allocates nothing; it runs only after a failure.

/// The length of the block's content, or `None` when the block is damaged. `dictionary_bytes` is
/// how much a match may reach back before the block's start.
pub(super) fn content_length(input: &[u8], dictionary_bytes: usize) -> Option<u64> {
    let mut rest = input;
    let mut length = 0;
    loop {
        let (&token, after_token) = rest.split_first()?;
        let (literals, after_length) = field(token >> 4, after_token)?;
        rest = after_length.get(usize::try_from(literals).ok()?..)?;
        length += literals;
        if rest.is_empty() {
            // A block ends with literals, after which nothing follows.
            return Some(length);
        }
        let (offset, after_offset) = rest.split_first_chunk::<2>()?;
        let offset = u64::from(u16::from_le_bytes(*offset));
        if offset == 0 || offset > length + dictionary_bytes as u64 {
            return None;
        }
        let (matched, after_match) = field(token & 15, after_offset)?;
        length += matched + 4;
        rest = after_match;
    }
}

/// A length: four bits, and bytes that add to it for as long as they are 255.
fn field(nibble: u8, mut rest: &[u8]) -> Option<(u64, &[u8])> {
    let mut value = u64::from(nibble);
    if nibble == 15 {
        loop {
            let (&byte, after) = rest.split_first()?;
            rest = after;
            value += u64::from(byte);
            if byte != 255 {
                break;
            }
        }
    }
    Some((value, rest))
}
