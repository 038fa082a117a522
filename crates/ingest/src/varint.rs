//! Numbers of a few bits in few bytes: seven bits to a byte, least first, as LEB128 has it.
//! The core has the same for envelopes, but does not hand it out.

/// The most bytes of one number.
const BYTES_MAX: usize = 10;

/// Appends a number.
pub fn write(mut number: u64, out: &mut Vec<u8>) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Takes a number from the front of the input; `None` if there is none or it is too long.
pub fn read(input: &mut &[u8]) -> Option<u64> {
    let mut number = 0u64;
    for index in 0..BYTES_MAX {
        let (&byte, rest) = input.split_first()?;
        *input = rest;
        let bits = u64::from(byte & 0x7F);
        if index == BYTES_MAX - 1 && bits > 1 {
            return None;
        }
        number |= bits << (7 * index);
        if byte < 0x80 {
            return Some(number);
        }
    }
    None
}

/// Takes that many bytes from the front of the input.
pub fn take<'a>(input: &mut &'a [u8], length: u64) -> Option<&'a [u8]> {
    let length = usize::try_from(length).ok()?;
    let (taken, rest) = input.split_at_checked(length)?;
    *input = rest;
    Some(taken)
}
