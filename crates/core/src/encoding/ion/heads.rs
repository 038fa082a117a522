//! Heads, and the lengths of lists and structs, which stand before what they measure.
//!
//! Content is written without the heads of lists and structs; where they belong is noted, and both
//! are put together at the end. So nothing is moved twice, whatever nests.

use super::LONG;

/// The head of a list or struct: where it belongs in the content.
struct Head {
    at: usize,
    kind: u8,
    length: usize,
}

/// A list or struct that is being written.
pub(super) struct Open {
    head: usize,
    extra: usize,
}

/// The content of a payload and the heads that it lacks.
#[derive(Default)]
pub(super) struct Content {
    pub(super) bytes: Vec<u8>,
    heads: Vec<Head>,
    /// The bytes that the heads known so far will take.
    extra: usize,
}

impl Content {
    /// A list or struct begins.
    pub(super) fn open(&mut self, kind: u8) -> Open {
        let open = Open { head: self.heads.len(), extra: self.extra };
        self.heads.push(Head { at: self.bytes.len(), kind, length: 0 });
        open
    }

    /// It ends.
    pub(super) fn close(&mut self, open: Open) {
        let head = &mut self.heads[open.head];
        head.length = self.bytes.len() - head.at + self.extra - open.extra;
        self.extra += head_bytes(head.length);
    }

    /// Appends all of it, with its heads, to `out`.
    pub(super) fn append_to(&self, out: &mut Vec<u8>) {
        out.reserve(self.bytes.len() + self.extra);
        let mut at = 0;
        for head in &self.heads {
            out.extend_from_slice(&self.bytes[at..head.at]);
            at = head.at;
            put_head(head.kind, head.length, out);
        }
        out.extend_from_slice(&self.bytes[at..]);
    }
}

/// How many bytes a head with this length takes.
pub(super) fn head_bytes(length: usize) -> usize {
    if length < usize::from(LONG) { 1 } else { 1 + unsigned_bytes(length as u64) }
}

/// A type and the length of its value.
#[inline]
pub(super) fn put_head(kind: u8, length: usize, out: &mut Vec<u8>) {
    if length < usize::from(LONG) {
        out.push(kind << 4 | length as u8);
    } else {
        out.push(kind << 4 | LONG);
        put_unsigned(length as u64, out);
    }
}

fn unsigned_bytes(value: u64) -> usize {
    ((u64::BITS - (value | 1).leading_zeros()) as usize).div_ceil(7)
}

/// A `VarUInt`: groups of 7 bits, highest first, the last with its top bit set.
#[inline]
pub(super) fn put_unsigned(value: u64, out: &mut Vec<u8>) {
    if value < 0x80 {
        out.push(value as u8 | 0x80);
        return;
    }
    for group in (1..unsigned_bytes(value)).rev() {
        out.push((value >> (7 * group)) as u8 & 0x7F);
    }
    out.push(value as u8 | 0x80);
}

/// How many bytes a `VarInt` takes: its first group has 6 bits.
pub(super) fn signed_bytes(magnitude: u64) -> usize {
    ((u64::BITS - magnitude.leading_zeros()) as usize + 1).div_ceil(7)
}

/// A `VarInt`: as a `VarUInt`, with the sign in the second bit of the first byte.
pub(super) fn put_signed(negative: bool, magnitude: u64, out: &mut Vec<u8>) {
    let sign = if negative { 0x40 } else { 0 };
    let groups = signed_bytes(magnitude);
    for group in (0..groups).rev() {
        let shifted = magnitude.checked_shr(7 * group as u32).unwrap_or(0) as u8 & 0x7F;
        let first = if group + 1 == groups { sign } else { 0 };
        let last = if group == 0 { 0x80 } else { 0 };
        out.push(shifted | first | last);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn signed(negative: bool, magnitude: u64) -> Vec<u8> {
        let mut out = Vec::new();
        put_signed(negative, magnitude, &mut out);
        assert_eq!(out.len(), signed_bytes(magnitude));
        out
    }

    #[test]
    fn the_sign_takes_a_bit_of_the_first_group() {
        assert_eq!(signed(false, 0), [0x80]);
        assert_eq!(signed(true, 0), [0xC0]);
        assert_eq!(signed(true, 1), [0xC1]);
        assert_eq!(signed(false, 63), [0xBF]);
        assert_eq!(signed(false, 64), [0x00, 0xC0]);
        assert_eq!(signed(true, 8191), [0x7F, 0xFF]);
        assert_eq!(signed(true, 8192), [0x40, 0x40, 0x80]);
        assert_eq!(signed(false, u64::MAX).len(), 10);
    }

    #[test]
    fn a_length_has_as_many_groups_as_it_needs() {
        for (length, bytes) in [(0, 1), (13, 1), (14, 2), (127, 2), (128, 3), (1 << 14, 4)] {
            let mut out = Vec::new();
            put_head(0xB, length, &mut out);
            assert_eq!((out.len(), head_bytes(length)), (bytes, bytes), "{length}");
        }
    }
}
