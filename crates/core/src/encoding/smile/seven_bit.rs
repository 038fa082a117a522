//! The parts of Smile that keep bytes FE and FF out of numbers: variable-length integers and
//! binary data in seven bits a byte.
//!
//! Readers look for those bytes to find the end of content, so that no form here may ever produce
//! a byte above BF.

use super::super::DecodeError;
use super::super::cursor::Cursor;

/// Appends an unsigned integer: seven bits a byte from the most significant, six in the last byte,
/// whose top bit is set.
#[inline]
pub(super) fn put_unsigned(value: u64, out: &mut Vec<u8>) {
    let mut bytes = [0; 10];
    let mut start = bytes.len() - 1;
    bytes[start] = 0x80 | (value & 0x3F) as u8;
    let mut rest = value >> 6;
    while rest > 0 {
        start -= 1;
        bytes[start] = (rest & 0x7F) as u8;
        rest >>= 7;
    }
    out.extend_from_slice(&bytes[start..]);
}

/// Reads what `put_unsigned` appends, refusing more than `bits` bits.
#[inline]
pub(super) fn unsigned(cursor: &mut Cursor<'_>, bits: u32) -> Result<u64, DecodeError> {
    let mut value: u64 = 0;
    loop {
        let byte = cursor.byte()?;
        let (shift, digit) = if byte < 0x80 { (7, byte) } else { (6, byte & 0x3F) };
        if byte >= 0xC0 {
            return Err(cursor.corrupt("an integer whose last byte has bit 6 set"));
        }
        if value >> (bits - shift) != 0 {
            return Err(cursor.corrupt("an integer that is wider than its type"));
        }
        value = value << shift | u64::from(digit);
        if byte >= 0x80 {
            return Ok(value);
        }
    }
}

/// A signed integer as an unsigned one whose lowest bit is the sign.
#[inline]
pub(super) fn zigzag(value: i64) -> u64 {
    (value << 1 ^ value >> 63) as u64
}

/// The signed integer that `zigzag` was given.
#[inline]
pub(super) fn unzigzag(value: u64) -> i64 {
    (value >> 1) as i64 ^ -((value & 1) as i64)
}

/// Appends bytes as their length and seven bits a byte. The last byte holds what is left in its
/// lowest bits, as Jackson writes it.
pub(super) fn put_bytes(bytes: &[u8], out: &mut Vec<u8>) {
    put_unsigned(bytes.len() as u64, out);
    let (mut pending, mut bits) = (0_u32, 0);
    for &byte in bytes {
        pending = pending << 8 | u32::from(byte);
        bits += 8;
        while bits >= 7 {
            bits -= 7;
            out.push((pending >> bits & 0x7F) as u8);
        }
    }
    if bits > 0 {
        out.push((pending & ((1 << bits) - 1)) as u8);
    }
}

/// Reads what `put_bytes` appends. The length was checked against the input before memory is
/// taken for it.
pub(super) fn bytes(cursor: &mut Cursor<'_>) -> Result<Vec<u8>, DecodeError> {
    let length = unsigned(cursor, 32)?;
    let packed = cursor.take((length * 8).div_ceil(7))?;
    let mut bytes = Vec::with_capacity(length as usize);
    let (mut pending, mut bits) = (0_u32, 0);
    for (index, &byte) in packed.iter().enumerate() {
        let is_last = index + 1 == packed.len();
        let width = if is_last { (length * 8 - 7 * index as u64) as u32 } else { 7 };
        if u32::from(byte) >> width != 0 {
            return Err(cursor.corrupt("binary data with a bit that is not used"));
        }
        pending = pending << width | u32::from(byte);
        bits += width;
        if bits >= 8 {
            bits -= 8;
            bytes.push((pending >> bits) as u8);
        }
    }
    Ok(bytes)
}

/// Appends `count` groups of seven bits of a float, right-aligned.
#[inline]
pub(super) fn put_double(value: f64, out: &mut Vec<u8>) {
    let bits = value.to_bits();
    let groups: [u8; 10] = std::array::from_fn(|index| (bits >> (63 - 7 * index) & 0x7F) as u8);
    out.extend_from_slice(&groups);
}

/// Reads `N` groups of seven bits, of which the first may hold only `first_bits`.
#[inline]
pub(super) fn groups<const N: usize>(
    cursor: &mut Cursor<'_>,
    first_bits: u32,
) -> Result<u64, DecodeError> {
    let groups: [u8; N] = cursor.array()?;
    if u32::from(groups[0]) >> first_bits != 0 || groups.iter().any(|&group| group >= 0x80) {
        return Err(cursor.corrupt("a float with a bit that is not used"));
    }
    Ok(groups.iter().fold(0, |value, &group| value << 7 | u64::from(group)))
}
