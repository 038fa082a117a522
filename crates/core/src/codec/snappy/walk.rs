//! Walks the tags of a Snappy block that did not decode, to tell a block with bytes after its end
//! from a damaged one. It copies nothing and allocates nothing; it runs only after a failure.

/// How many bytes follow the content, if the block is whole up to its announced length and at
/// least one byte follows; `None` when the block is damaged before that.
pub(super) fn bytes_after_content(input: &[u8]) -> Option<usize> {
    let (mut missing, mut rest) = announced_length(input)?;
    while missing > 0 {
        let (&tag, after_tag) = rest.split_first()?;
        let (length, skip) = match tag & 3 {
            0 => literal(tag, after_tag)?,
            1 => (u64::from(tag >> 2 & 7) + 4, 1),
            2 => (u64::from(tag >> 2) + 1, 2),
            _ => (u64::from(tag >> 2) + 1, 4),
        };
        missing = missing.checked_sub(length)?;
        rest = after_tag.get(skip..)?;
    }
    (!rest.is_empty()).then_some(rest.len())
}

/// The length in the block's first bytes, a base-128 number, and what follows it.
fn announced_length(input: &[u8]) -> Option<(u64, &[u8])> {
    let mut length = 0;
    for (index, &byte) in input.iter().enumerate().take(5) {
        length |= u64::from(byte & 0x7F) << (7 * index);
        if byte < 0x80 {
            return Some((length, &input[index + 1..]));
        }
    }
    None
}

/// The content length of a literal, and how many bytes it takes after its tag.
fn literal(tag: u8, after_tag: &[u8]) -> Option<(u64, usize)> {
    let field = usize::from(tag >> 2);
    if field < 60 {
        return Some((field as u64 + 1, field + 1));
    }
    let length_bytes = field - 59;
    let mut length = [0; 8];
    length[..length_bytes].copy_from_slice(after_tag.get(..length_bytes)?);
    let length = u64::from_le_bytes(length) + 1;
    Some((length, length_bytes + usize::try_from(length).ok()?))
}
