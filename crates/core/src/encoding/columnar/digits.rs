//! The digits of integers, eight at a time: the numbers of a payload differ in length, so that a
//! loop over their digits would end where no processor expects it.

use super::form::FORM_BYTES;

/// The digit 0 in each byte.
const ZEROS: u64 = 0x3030_3030_3030_3030;
const ALL_ZEROS: u128 = (ZEROS as u128) << 64 | ZEROS as u128;

/// The least numbers of more than eight and more than sixteen digits.
const ABOVE_8: u64 = 100_000_000;
const ABOVE_16: u64 = ABOVE_8 * ABOVE_8;

/// The digits of a number of at most eight, without what makes them text, the first one lowest.
#[inline(always)]
fn eight(value: u64) -> u64 {
    // Fours of digits are parted into pairs and these into digits, all of them at once; what a
    // division leaves is told by multiplying with about the inverse.
    let fours = value / 10_000 + ((value % 10_000) << 32);
    let hundreds = (fours.wrapping_mul(10_486) >> 20) & 0x0000_007F_0000_007F;
    let pairs = hundreds | fours.wrapping_sub(hundreds * 100) << 16;
    let tens = (pairs.wrapping_mul(103) >> 10) & 0x000F_000F_000F_000F;
    tens | pairs.wrapping_sub(tens * 10) << 8
}

/// The digits of a number of at most sixteen, in the same way.
#[inline(always)]
fn sixteen(value: u64) -> u128 {
    u128::from(eight(value / ABOVE_8)) | u128::from(eight(value % ABOVE_8)) << 64
}

/// Writes bytes at a place, if all of them fit.
#[inline(always)]
fn put<const BYTES: usize>(to: &mut [u8; FORM_BYTES], at: usize, bytes: [u8; BYTES]) {
    if let Some(to) = to.get_mut(at..at + BYTES) {
        to.copy_from_slice(&bytes);
    }
}

/// Writes a number from a place on, with leading zeros up to a width, and returns how many digits
/// it has. At most twenty digits have to fit.
#[inline(always)]
pub(super) fn padded(value: u64, width: u8, to: &mut [u8; FORM_BYTES], at: usize) -> usize {
    let width = usize::from(width);
    if value < ABOVE_8 && width <= 8 {
        let digits = eight(value);
        let zeros = (digits.trailing_zeros() as usize / 8).min(8 - width.max(1));
        put(to, at, ((digits | ZEROS) >> (8 * zeros)).to_le_bytes());
        return 8 - zeros;
    }
    if value < ABOVE_16 && width <= 16 {
        let digits = sixteen(value);
        let zeros = (digits.trailing_zeros() as usize / 8).min(16 - width.max(1));
        put(to, at, ((digits | ALL_ZEROS) >> (8 * zeros)).to_le_bytes());
        return 16 - zeros;
    }
    padded_long(value, width, to, at)
}

#[inline(never)]
fn padded_long(value: u64, width: usize, to: &mut [u8; FORM_BYTES], at: usize) -> usize {
    let count = value.checked_ilog10().map_or(1, |log| log as usize + 1).max(width);
    let mut rest = value;
    for digit in to.get_mut(at..at + count).unwrap_or_default().iter_mut().rev() {
        *digit = b'0' + (rest % 10) as u8;
        rest /= 10;
    }
    count
}

/// Writes a number with so many digits after the point, without zeros at its end, but with at least
/// so many digits after the point, and returns how many bytes these are. Without digits after it
/// there is no point.
#[inline(always)]
pub(super) fn pointed(
    value: u64,
    scale: usize,
    kept_min: usize,
    to: &mut [u8; FORM_BYTES],
    at: usize,
) -> usize {
    if value < ABOVE_8 && scale < 8 {
        let digits = eight(value);
        let zeros = (digits.trailing_zeros() as usize / 8).min(7 - scale);
        let text = (digits | ZEROS) >> (8 * zeros);
        let whole = 8 - zeros - scale;
        put(to, at, text.to_le_bytes());
        put(to, at + whole + 1, (text >> (8 * whole)).to_le_bytes());
        put(to, at + whole, *b".");
        let trimmed = (digits.leading_zeros() as usize / 8).min(scale - kept_min);
        return end(whole, scale - trimmed);
    }
    if value < ABOVE_16 && scale < 16 {
        let digits = sixteen(value);
        let zeros = (digits.trailing_zeros() as usize / 8).min(15 - scale);
        let text = (digits | ALL_ZEROS) >> (8 * zeros);
        let whole = 16 - zeros - scale;
        put(to, at, text.to_le_bytes());
        put(to, at + whole + 1, (text >> (8 * whole)).to_le_bytes());
        put(to, at + whole, *b".");
        let trimmed = (digits.leading_zeros() as usize / 8).min(scale - kept_min);
        return end(whole, scale - trimmed);
    }
    pointed_long(value, scale, kept_min, to, at)
}

/// How long a number is with so many digits before the point and after it.
#[inline(always)]
fn end(whole: usize, kept: usize) -> usize {
    whole + usize::from(kept > 0) + kept
}

#[inline(never)]
fn pointed_long(
    value: u64,
    scale: usize,
    kept_min: usize,
    to: &mut [u8; FORM_BYTES],
    at: usize,
) -> usize {
    // One byte further on than the digits before the point will stand.
    let whole = padded_long(value, scale + 1, to, at + 1) - scale;
    to.copy_within(at + 1..at + 1 + whole, at);
    put(to, at + whole, *b".");
    let mut kept = scale;
    while kept > kept_min && to[at + whole + kept] == b'0' {
        kept -= 1;
    }
    end(whole, kept)
}
