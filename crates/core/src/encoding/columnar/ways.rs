//! In which way a long column of integers is likely to cost least after compression.
//!
//! Every long column of every payload is looked at here, so that each value is read once for all
//! ways together, and logarithms are looked up.

use std::sync::LazyLock;

use super::integers::{STRIDE_MAX, TABLE_MAX, Way};
use super::varint;

/// So many values tell which way costs least.
const SAMPLE: usize = 512;

/// Shorter columns are told by the bits of their numbers, longer ones by the frequencies of their
/// bytes, which takes longer and is right more often.
const FREQUENCY_VALUES: usize = 64;

/// Numbers of fewer bits each are not worth planes, whose bytes stand far apart.
const PLANE_BITS_MIN: u64 = 14;

/// What a value of a table costs beside its places.
const TABLE_VALUE_BITS: u64 = 12;

/// The ways that tell differences: to the base, and to the values some places before.
const DIFFERENCES: usize = STRIDE_MAX + 1;

/// The different values of a column in rising order, and the place of each value among them.
type Table = (Vec<i64>, Vec<u8>);

/// The way, and the table where it is that.
pub(super) fn best(values: &[i64], base: i64) -> (Way, Option<Table>) {
    let sample = &values[..values.len().min(SAMPLE)];
    let costs = match sample.len() < FREQUENCY_VALUES {
        true => by_bits(sample, base),
        false => by_frequency(sample, base),
    };
    let (mut best, mut found) = ((costs[0], Way::Plain), None);
    for (stride, &bits) in (0..).zip(&costs).skip(1) {
        if bits < best.0 {
            best = (bits, Way::Stride(stride));
        }
    }
    if values.len() >= FREQUENCY_VALUES
        && let Some((different, places)) = table(values)
        && different.len() * 2 < values.len()
    {
        // All of the table has to be paid by the sample's share of the column.
        let share = different.len() * sample.len() / values.len();
        let mut counts = [0; 256];
        for &place in &places[..sample.len()] {
            counts[usize::from(place)] += 1;
        }
        let bits = entropy(&counts, sample.len()) + TABLE_VALUE_BITS * share as u64;
        if bits < best.0 {
            best = (bits, Way::Table);
            found = Some((different, places));
        }
    }
    if best.0 < PLANE_BITS_MIN * sample.len() as u64 {
        return (best.1, found);
    }
    let least = values.iter().copied().min().unwrap_or_default();
    let largest = values.iter().copied().max().unwrap_or_default();
    let range_bits = u64::from(64 - (largest.wrapping_sub(least) as u64).leading_zeros()).max(1);
    let width = range_bits.div_ceil(8) as u8;
    if range_bits * (sample.len() as u64) < best.0 {
        return (Way::Planes(width), None);
    }
    (best.1, found)
}

/// Calls with each value's differences.
#[inline(always)]
fn differences(sample: &[i64], base: i64, mut each: impl FnMut([i64; DIFFERENCES])) {
    let mut before = [base; STRIDE_MAX];
    for &value in sample {
        let [a, b, c, d] = before;
        each([base, a, b, c, d].map(|known| value.wrapping_sub(known)));
        before = [value, a, b, c];
    }
}

fn by_bits(sample: &[i64], base: i64) -> [u64; DIFFERENCES] {
    let mut costs = [0; DIFFERENCES];
    let to_base = |values: &[i64]| -> u64 {
        values.iter().map(|value| number_bits(value.wrapping_sub(base))).sum()
    };
    costs[0] = to_base(sample);
    for (stride, cost) in costs.iter_mut().enumerate().skip(1) {
        let (first, rest) = sample.split_at(stride.min(sample.len()));
        let pairs = rest.iter().zip(sample);
        let bits = pairs.map(|(value, before)| number_bits(value.wrapping_sub(*before)));
        *cost = to_base(first) + bits.sum::<u64>();
    }
    costs
}

fn by_frequency(sample: &[i64], base: i64) -> [u64; DIFFERENCES] {
    let mut counts = [[0u32; 256]; DIFFERENCES];
    let mut totals = [0; DIFFERENCES];
    differences(sample, base, |differences| {
        for ((counts, total), difference) in counts.iter_mut().zip(&mut totals).zip(differences) {
            let mut rest = varint::zigzag(difference);
            while rest >= 0x80 {
                counts[usize::from(rest as u8 | 0x80)] += 1;
                *total += 1;
                rest >>= 7;
            }
            counts[rest as usize & 0x7F] += 1;
            *total += 1;
        }
    });
    let mut costs = [0; DIFFERENCES];
    for (cost, (counts, total)) in costs.iter_mut().zip(counts.iter().zip(totals)) {
        *cost = entropy(counts, total);
    }
    costs
}

/// About how many bits a number takes: none for 0, which mostly repeats.
#[inline(always)]
fn number_bits(value: i64) -> u64 {
    let zigzag = varint::zigzag(value);
    let bits = u64::from(65 - (zigzag | 1).leading_zeros());
    if zigzag == 0 { 0 } else { bits }
}

/// The bits of bytes under their own frequencies.
fn entropy(counts: &[u32; 256], total: usize) -> u64 {
    let logarithms: &[f64] = &LOGARITHMS;
    let bits = |count: usize| logarithms.get(count).copied().unwrap_or_else(|| bits_of(count));
    let mut sum = 0.0;
    for &count in counts.iter().filter(|count| **count > 1) {
        sum += bits(count as usize);
    }
    (bits(total) - sum) as u64
}

fn bits_of(count: usize) -> f64 {
    if count < 2 { 0.0 } else { count as f64 * (count as f64).log2() }
}

/// The bits of so many bytes beside as many as there are: a sample has at most ten for each value.
static LOGARITHMS: LazyLock<Vec<f64>> = LazyLock::new(|| (0..=10 * SAMPLE).map(bits_of).collect());

/// The table of a column, if its different values are few.
fn table(values: &[i64]) -> Option<Table> {
    // Places by hash, at most a quarter of them taken: the number of a value, and one.
    let mut by_hash = [0u16; 4 * TABLE_MAX];
    let mut different: Vec<i64> = Vec::new();
    let mut places: Vec<u8> = Vec::with_capacity(values.len());
    for &value in values {
        let mut at = ((value as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 54) as usize;
        let number = loop {
            match by_hash[at % by_hash.len()] {
                0 => {
                    if different.len() == TABLE_MAX {
                        return None;
                    }
                    different.push(value);
                    by_hash[at % by_hash.len()] = different.len() as u16;
                    break different.len() - 1;
                }
                number if different[usize::from(number) - 1] == value => {
                    break usize::from(number) - 1;
                }
                _ => at += 1,
            }
        };
        places.push(number as u8);
    }
    let mut sorted = different.clone();
    sorted.sort_unstable();
    let mut ranks = [0u8; TABLE_MAX];
    for (rank, value) in ranks.iter_mut().zip(&different) {
        *rank = sorted.binary_search(value).unwrap_or_default() as u8;
    }
    for place in &mut places {
        *place = ranks[usize::from(*place)];
    }
    Some((sorted, places))
}
