//! Columns of integers: how the numbers of one variant of one slot follow each other.
//!
//! A short column is told in the plainest way that needs no word about itself. A longer one begins
//! with a byte that names the way that costs least: plain, as the difference to the value some
//! places before, or in as many bytes as the largest needs, the first bytes of all first.

use super::cursor::Cursor;
use super::{Corrupt, LONG_COLUMN, varint};

/// The way of a long column. Numbers are part of the format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
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
const TABLE_MAX: usize = 256;

/// How far apart values may stand whose difference is told: pairs and triples of an array.
const STRIDE_MAX: usize = 4;

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
    let way = best_way(values, base);
    out.push(way.code());
    match way {
        Way::Plain => {
            for &value in values {
                varint::write(varint::zigzag(value.wrapping_sub(base)), out);
            }
        }
        Way::Stride(stride) => {
            for at in 0..values.len() {
                let before = at.checked_sub(stride.into()).map_or(base, |before| values[before]);
                varint::write(varint::zigzag(values[at].wrapping_sub(before)), out);
            }
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
            let table = different(values).unwrap_or_default();
            out.push((table.len() - 1) as u8);
            let mut last = base;
            for &value in &table {
                varint::write(varint::zigzag(value.wrapping_sub(last)), out);
                last = value;
            }
            let place = |value| table.binary_search(value).unwrap_or_default() as u8;
            out.extend(values.iter().map(place));
        }
    }
}

/// The different values in rising order, if they are few.
fn different(values: &[i64]) -> Option<Vec<i64>> {
    let mut table: Vec<i64> = Vec::new();
    // Values come in runs often enough that the last one is asked first.
    let mut last = None;
    for &value in values {
        if last == Some(value) {
            continue;
        }
        last = Some(value);
        if let Err(place) = table.binary_search(&value) {
            if table.len() == TABLE_MAX {
                return None;
            }
            table.insert(place, value);
        }
    }
    Some(table)
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
            for _ in 0..count {
                out.push(base.wrapping_add(varint::unzigzag(varint::read(cursor)?)));
            }
        }
        Way::Stride(stride) => {
            for at in 0..count {
                let before = at.checked_sub(stride.into()).map_or(base, |at| out[start + at]);
                out.push(before.wrapping_add(varint::unzigzag(varint::read(cursor)?)));
            }
        }
        Way::Planes(width) => {
            let least = varint::unzigzag(varint::read(cursor)?);
            let bytes = count.checked_mul(width.into()).ok_or(super::END)?;
            let planes = cursor.take(bytes)?;
            for at in 0..count {
                let join =
                    |value: u64, plane: usize| value << 8 | u64::from(planes[plane * count + at]);
                let value = (0..usize::from(width)).fold(0, join);
                out.push(least.wrapping_add(value as i64));
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

/// So many values tell which way costs least.
const SAMPLE: usize = 512;

/// Shorter columns are told by the bits of their numbers, longer ones by the frequencies of their
/// bytes, which takes longer and is right more often.
const FREQUENCY_VALUES: usize = 64;

/// Numbers of fewer bits each are not worth planes, whose bytes stand far apart.
const PLANE_BITS_MIN: u64 = 14;

/// What a value of a table costs beside its places.
const TABLE_VALUE_BITS: u64 = 12;

/// The way that is likely to cost least after compression.
fn best_way(values: &[i64], base: i64) -> Way {
    let sample = &values[..values.len().min(SAMPLE)];
    let mut best =
        (cost(sample.iter().map(|value| value.wrapping_sub(base)), sample.len()), Way::Plain);
    for stride in 1..=STRIDE_MAX.min(sample.len()) {
        let (first, rest) = sample.split_at(stride);
        let first = first.iter().map(|value| value.wrapping_sub(base));
        let rest = rest.iter().zip(sample).map(|(value, before)| value.wrapping_sub(*before));
        let bits = cost(first.chain(rest), sample.len());
        if bits < best.0 {
            best = (bits, Way::Stride(stride as u8));
        }
    }
    if values.len() >= FREQUENCY_VALUES
        && let Some(table) = different(values)
        && table.len() * 2 < values.len()
    {
        let place = |value| table.binary_search(value).unwrap_or_default() as u8;
        // All of the table has to be paid by the sample's share of the column.
        let of_table = TABLE_VALUE_BITS * (table.len() * sample.len() / values.len()) as u64;
        let bits = entropy(sample.iter().map(place)) + of_table;
        if bits < best.0 {
            best = (bits, Way::Table);
        }
    }
    if best.0 < PLANE_BITS_MIN * sample.len() as u64 {
        return best.1;
    }
    let least = values.iter().copied().min().unwrap_or_default();
    let largest = values.iter().copied().max().unwrap_or_default();
    let range_bits = u64::from(64 - (largest.wrapping_sub(least) as u64).leading_zeros()).max(1);
    let width = range_bits.div_ceil(8) as u8;
    if range_bits * (sample.len() as u64) < best.0 { Way::Planes(width) } else { best.1 }
}

/// About how many bits these differences take after compression.
fn cost(differences: impl Iterator<Item = i64>, count: usize) -> u64 {
    if count < FREQUENCY_VALUES {
        return differences.map(number_bits).sum();
    }
    let mut bytes = Vec::with_capacity(3 * count);
    for difference in differences {
        varint::write(varint::zigzag(difference), &mut bytes);
    }
    entropy(bytes.into_iter())
}

/// About how many bits a number takes: none for 0, which mostly repeats.
#[inline]
fn number_bits(value: i64) -> u64 {
    match varint::zigzag(value) {
        0 => 0,
        value => u64::from(65 - value.leading_zeros()),
    }
}

/// The bits of bytes under their own frequencies.
fn entropy(bytes: impl Iterator<Item = u8>) -> u64 {
    let mut counts = [0u32; 256];
    let mut total = 0u32;
    for byte in bytes {
        counts[usize::from(byte)] += 1;
        total += 1;
    }
    let bits =
        |count: u32| if count < 2 { 0.0 } else { f64::from(count) * f64::from(count).log2() };
    (bits(total) - counts.into_iter().map(bits).sum::<f64>()) as u64
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
