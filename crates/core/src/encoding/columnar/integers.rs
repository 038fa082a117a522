//! Columns of integers: how the numbers of one variant of one slot follow each other.
//!
//! A short column is told in the plainest way that needs no word about itself. A longer one begins
//! with a byte that names the way that costs least: plain, as the difference to the value some
//! places before, or in as many bytes as the largest needs, the first bytes of all first.

use super::cursor::Cursor;
use super::{Corrupt, LONG_COLUMN, varint, ways};

/// The way of a long column. Numbers are part of the format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// The difference to the base, as a signed variable-length number.
    Plain,
    /// The difference to the value so many places before, 1 to 4.
    Stride(u8),
    /// The difference to the least, which stands first, in so many bytes each, 1 to 8, by planes.
    Planes(u8),
    /// The different values in rising order, then the place of each in that list.
    Table,
}

/// The most different values of a table: places are bytes.
pub(super) const TABLE_MAX: usize = 256;

/// How far apart values may stand whose difference is told: pairs and triples of an array.
pub(super) const STRIDE_MAX: usize = 4;

impl Way {
    fn code(self) -> u8 {
        match self {
            Way::Plain => 0,
            Way::Stride(stride) => stride,
            Way::Planes(width) => 0x10 + width,
            Way::Table => 0x20,
        }
    }

    fn of_code(code: u8) -> Option<Way> {
        match code {
            0 => Some(Way::Plain),
            1..=4 => Some(Way::Stride(code)),
            0x11..=0x18 => Some(Way::Planes(code - 0x10)),
            0x20 => Some(Way::Table),
            _ => None,
        }
    }
}

/// Appends a column. The integers of a short column of times each stand beside the last.
pub(super) fn write(values: &[i64], base: i64, is_time: bool, out: &mut Vec<u8>) {
    if values.len() < LONG_COLUMN {
        let mut last = base;
        for &value in values {
            varint::write(varint::zigzag(value.wrapping_sub(last)), out);
            last = if is_time { value } else { base };
        }
        return;
    }
    let (way, table) = ways::best(values, base);
    out.push(way.code());
    match way {
        Way::Plain => {
            varint::write_all(values.iter().map(|value| value.wrapping_sub(base)), out);
        }
        Way::Stride(stride) => {
            let (first, rest) = values.split_at(values.len().min(stride.into()));
            varint::write_all(first.iter().map(|value| value.wrapping_sub(base)), out);
            let pairs = rest.iter().zip(values);
            varint::write_all(pairs.map(|(value, before)| value.wrapping_sub(*before)), out);
        }
        Way::Planes(width) => {
            let least = values.iter().copied().min().unwrap_or_default();
            varint::write(varint::zigzag(least), out);
            for plane in (0..width).rev() {
                let byte = |&value: &i64| (value.wrapping_sub(least) as u64 >> (8 * plane)) as u8;
                out.extend(values.iter().map(byte));
            }
        }
        Way::Table => {
            let (different, places) = table.unwrap_or_default();
            out.push(different.len().saturating_sub(1) as u8);
            let mut last = base;
            for value in different {
                varint::write(varint::zigzag(value.wrapping_sub(last)), out);
                last = value;
            }
            out.extend_from_slice(&places);
        }
    }
}

/// Reads a column of so many integers.
pub(super) fn read(
    cursor: &mut Cursor<'_>,
    count: usize,
    base: i64,
    is_time: bool,
    out: &mut Vec<i64>,
) -> Result<(), Corrupt> {
    let start = out.len();
    if count < LONG_COLUMN {
        let mut last = base;
        for _ in 0..count {
            let value = last.wrapping_add(varint::unzigzag(varint::read(cursor)?));
            out.push(value);
            last = if is_time { value } else { base };
        }
        return Ok(());
    }
    let way = Way::of_code(cursor.byte()?).ok_or(Corrupt("an unknown way of a column"))?;
    match way {
        Way::Plain => {
            for value in room(cursor, count, out)? {
                *value = base.wrapping_add(varint::unzigzag(varint::read_any(cursor)?));
            }
        }
        Way::Stride(stride) => {
            // The values that the next ones are told by, the first of them next.
            let mut before = [base; STRIDE_MAX];
            let last = usize::from(stride).clamp(1, STRIDE_MAX) - 1;
            for value in room(cursor, count, out)? {
                *value = before[0].wrapping_add(varint::unzigzag(varint::read_any(cursor)?));
                before.copy_within(1.., 0);
                before[last] = *value;
            }
        }
        Way::Planes(width) => {
            let least = varint::unzigzag(varint::read(cursor)?);
            let bytes = count.checked_mul(width.into()).ok_or(super::END)?;
            let planes = cursor.take(bytes)?;
            out.resize(start + count, 0);
            let values = &mut out[start..];
            for plane in planes.chunks_exact(count) {
                for (value, byte) in values.iter_mut().zip(plane) {
                    *value = *value << 8 | i64::from(*byte);
                }
            }
            for value in values {
                *value = least.wrapping_add(*value);
            }
        }
        Way::Table => {
            let different = usize::from(cursor.byte()?) + 1;
            let mut table = [0i64; TABLE_MAX];
            let mut last = base;
            for value in &mut table[..different] {
                last = last.wrapping_add(varint::unzigzag(varint::read(cursor)?));
                *value = last;
            }
            let places = cursor.take(count)?;
            if places.iter().max().is_some_and(|&largest| usize::from(largest) >= different) {
                return Err(Corrupt("a place beyond the table"));
            }
            out.extend(places.iter().map(|&place| table[usize::from(place)]));
        }
    }
    Ok(())
}

/// Room for so many integers, each of which takes a byte at least.
fn room<'a>(
    cursor: &Cursor<'_>,
    count: usize,
    out: &'a mut Vec<i64>,
) -> Result<&'a mut [i64], Corrupt> {
    if count > cursor.left() {
        return Err(super::END);
    }
    let start = out.len();
    out.resize(start + count, 0);
    Ok(&mut out[start..])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round_trip(values: &[i64], base: i64) -> usize {
        let mut bytes = 0;
        for is_time in [false, true] {
            let mut out = Vec::new();
            write(values, base, is_time, &mut out);
            let (mut back, mut cursor) = (Vec::new(), Cursor::new(&out));
            read(&mut cursor, values.len(), base, is_time, &mut back).unwrap();
            assert_eq!((back.as_slice(), cursor.left()), (values, 0));
            let mut cut = Cursor::new(&out[..out.len().saturating_sub(1)]);
            assert!(
                values.is_empty()
                    || read(&mut cut, values.len(), base, is_time, &mut Vec::new()).is_err()
            );
            bytes = out.len();
        }
        bytes
    }

    #[test]
    fn columns_of_every_kind_come_back() {
        let kinds: Vec<Box<dyn Fn(i64) -> i64>> = vec![
            Box::new(|at| at),
            Box::new(|_| 7),
            Box::new(|at| at.wrapping_mul(0x9E37_79B9_7F4A_7C15u64 as i64)),
            Box::new(|at| if at % 2 == 0 { at } else { -1_000_000 + at }),
            Box::new(|at| [i64::MIN, i64::MAX, 0][at as usize % 3]),
            Box::new(|at| at * at * at - 1000),
            Box::new(|at| [i64::MIN, 99, 1 << 40, -7][(at * at % 7 % 4) as usize]),
        ];
        for kind in &kinds {
            for count in (0..40).chain([300]) {
                let values: Vec<i64> = (0..count).map(kind).collect();
                for base in [0, 7, i64::MIN] {
                    round_trip(&values, base);
                }
            }
        }
    }

    #[test]
    fn what_rises_evenly_takes_about_a_byte_each() {
        let rising: Vec<i64> = (0..200).map(|at| 1_700_000_000 + at * 3).collect();
        assert!(round_trip(&rising, 0) < 210);
        let pairs: Vec<i64> = (0..200).map(|at| if at % 2 == 0 { 1 << 40 } else { at }).collect();
        assert!(round_trip(&pairs, 0) < 220);
    }
}
