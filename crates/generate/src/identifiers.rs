//! Random identifiers as services write them.
//! They are the part of a payload that no codec can shrink below its random bits.

use crate::json;
use crate::random::Random;

/// Appends a random UUID (version 4) in its usual form.
pub(crate) fn uuid(random: &mut Random, output: &mut String) {
    let (high, low) = (random.wide_bits(), random.wide_bits());
    for (value, width) in [(high >> 32, 8), (high >> 16, 4), (high & 0xfff | 0x4000, 4)] {
        json::hexadecimal(output, value, width);
        output.push('-');
    }
    json::hexadecimal(output, low >> 48 & 0x3fff | 0x8000, 4);
    output.push('-');
    json::hexadecimal(output, low, 12);
}

#[cfg(test)]
mod tests {
    use super::uuid;
    use crate::random::{Key, Random};

    #[test]
    fn a_uuid_has_its_dashes_version_and_variant() {
        let mut output = String::new();
        uuid(&mut Random::new(&Key::new("logs", 1), 0), &mut output);
        let lengths: Vec<usize> = output.split('-').map(str::len).collect();
        assert_eq!(lengths, [8, 4, 4, 4, 12]);
        assert_eq!(output.as_bytes()[14], b'4');
        assert!(b"89ab".contains(&output.as_bytes()[19]));
    }
}
