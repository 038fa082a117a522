//! Numbers of one to ten bytes: seven bits a byte, low bits first, the top bit set on all but the
//! last byte; signed ones with the sign in the lowest bit.

use super::Corrupt;
use super::cursor::Cursor;

/// Appends a number.
#[inline]
pub(super) fn write(mut value: u64, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Appends signed numbers.
#[inline(always)]
pub(super) fn write_all(values: impl ExactSizeIterator<Item = i64>, out: &mut Vec<u8>) {
    // Written over in steps of eight bytes, one number after the other.
    let mut at = out.len();
    out.resize(at + values.len() * BYTES_MAX + 8, 0);
    for value in values {
        let value = zigzag(value);
        if value < 1 << 28
            && let Some(to) = out.get_mut(at..).and_then(|rest| rest.first_chunk_mut::<4>())
        {
            let spread = value & 0x7F
                | (value & 0x3F80) << 1
                | (value & 0x001F_C000) << 2
                | (value & 0x0FE0_0000) << 3;
            let last = (31 - (spread as u32 | 1).leading_zeros()) / 8;
            let more = 0x0080_8080 & ((1u32 << (8 * last)) - 1);
            *to = (spread as u32 | more).to_le_bytes();
            at += last as usize + 1;
            continue;
        }
        let mut rest = value;
        while rest >= 0x80 {
            out[at] = rest as u8 | 0x80;
            rest >>= 7;
            at += 1;
        }
        out[at] = rest as u8;
        at += 1;
    }
    out.truncate(at);
}

/// The longest number.
const BYTES_MAX: usize = 10;

/// Reads a number.
#[inline]
pub(super) fn read(cursor: &mut Cursor<'_>) -> Result<u64, Corrupt> {
    let first = cursor.byte()?;
    if first < 0x80 {
        return Ok(u64::from(first));
    }
    let mut value = u64::from(first & 0x7F);
    for shift in (7..=63).step_by(7) {
        let byte = cursor.byte()?;
        if shift == 63 && byte > 1 {
            return Err(Corrupt("a number above 64 bits"));
        }
        value |= u64::from(byte & 0x7F) << shift;
        if byte < 0x80 {
            return Ok(value);
        }
    }
    Err(Corrupt("a number above 64 bits"))
}

/// Reads a number among many: each that takes two to eight bytes costs the same.
#[inline(always)]
pub(super) fn read_any(cursor: &mut Cursor<'_>) -> Result<u64, Corrupt> {
    let word = cursor.word();
    if word & 0x80 == 0 && cursor.left() > 0 {
        cursor.skip(1);
        return Ok(word & 0x7F);
    }
    let last = !word & 0x8080_8080_8080_8080;
    let bytes = (last.trailing_zeros() as usize + 1) / 8;
    if last == 0 || bytes > cursor.left() {
        return read(cursor);
    }
    cursor.skip(bytes);
    let bits = word & (u64::MAX >> (64 - 8 * bytes)) & 0x7F7F_7F7F_7F7F_7F7F;
    // Sevens of bits are put together in pairs, then these, then those.
    let bits = bits & 0x007F_007F_007F_007F | (bits & 0x7F00_7F00_7F00_7F00) >> 1;
    let bits = bits & 0x0000_3FFF_0000_3FFF | (bits & 0x3FFF_0000_3FFF_0000) >> 2;
    Ok(bits & 0x0FFF_FFFF | bits >> 32 << 28)
}

/// Reads a number that has to be at most `max`.
#[inline]
pub(super) fn read_at_most(
    cursor: &mut Cursor<'_>,
    max: usize,
    what: &'static str,
) -> Result<usize, Corrupt> {
    let value = read(cursor)?;
    if value > max as u64 { Err(Corrupt(what)) } else { Ok(value as usize) }
}

/// A signed number with the sign in the lowest bit.
#[inline]
pub(super) fn zigzag(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)) as u64
}

/// The signed number back.
#[inline]
pub(super) fn unzigzag(value: u64) -> i64 {
    (value >> 1) as i64 ^ -((value & 1) as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back() {
        let mut values = vec![0, 1, u64::MAX, i64::MAX as u64, i64::MIN as u64];
        values.extend((0..64).flat_map(|bit| [1u64 << bit, (1 << bit) - 1]));
        for value in values {
            let mut out = Vec::new();
            write(value, &mut out);
            let mut all = Vec::new();
            write_all([unzigzag(value); 3].into_iter(), &mut all);
            assert_eq!(all, out.repeat(3));
            let mut cursor = Cursor::new(&out);
            assert_eq!(read(&mut cursor), Ok(value));
            for after in [0, 16] {
                let padded = [&out[..], &vec![0xFF; after]].concat();
                let mut cursor = Cursor::new(&padded);
                assert_eq!((read_any(&mut cursor), cursor.at()), (Ok(value), out.len()));
            }
            assert!(read_any(&mut Cursor::new(&out[..out.len() - 1])).is_err());
            assert_eq!(read(&mut Cursor::new(&out[..out.len() - 1])), Err(super::super::END));
            assert_eq!(unzigzag(zigzag(value as i64)), value as i64);
        }
        assert!(read(&mut Cursor::new(&[0xFF; 11])).is_err());
    }
}
