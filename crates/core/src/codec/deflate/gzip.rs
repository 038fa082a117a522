//! The gzip member of RFC 1952 around raw DEFLATE, for a library whose reusable contexts do not
//! write it. We write the shortest header, without a time or a name, so that equal payloads give
//! equal bytes; we read every header that the RFC allows.

/// What we write before the compressed blocks: no flags, no time, an unknown operating system.
pub(super) const HEADER: [u8; 10] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 255];

/// The CRC-32 and the length of the content, four bytes each.
pub(super) const TRAILER_BYTES: usize = 8;

const FLAG_HEADER_CHECK: u8 = 2;
const FLAG_EXTRA: u8 = 4;
const FLAG_NAME: u8 = 8;
const FLAG_COMMENT: u8 = 16;
const FLAGS_RESERVED: u8 = 0xE0;

/// What we write after the compressed blocks.
pub(super) fn trailer(content: &[u8]) -> [u8; TRAILER_BYTES] {
    let mut trailer = [0; TRAILER_BYTES];
    trailer[..4].copy_from_slice(&zlib_rs::crc32::crc32(0, content).to_le_bytes());
    trailer[4..].copy_from_slice(&(content.len() as u32).to_le_bytes());
    trailer
}

/// What follows the member's header, or `None` when there is no whole header.
pub(super) fn after_header(member: &[u8]) -> Option<&[u8]> {
    let (header, mut rest) = member.split_first_chunk::<10>()?;
    let flags = header[3];
    if header[..3] != HEADER[..3] || flags & FLAGS_RESERVED != 0 {
        return None;
    }
    if flags & FLAG_EXTRA != 0 {
        let (length, after) = rest.split_first_chunk::<2>()?;
        rest = after.get(usize::from(u16::from_le_bytes(*length))..)?;
    }
    for flag in [FLAG_NAME, FLAG_COMMENT] {
        if flags & flag != 0 {
            let end = rest.iter().position(|&byte| byte == 0)?;
            rest = &rest[end + 1..];
        }
    }
    if flags & FLAG_HEADER_CHECK != 0 {
        rest = rest.get(2..)?;
    }
    Some(rest)
}
