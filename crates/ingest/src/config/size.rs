//! A number of bytes as people write it in a configuration: `4096`, or `"256MiB"`.
//! Only the binary units are taken: what is configured here is memory and files of it.

use serde::{Deserialize, Deserializer, de};

/// A number of bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bytes(pub u64);

const UNITS: &[(&str, u32)] = &[("KiB", 10), ("MiB", 20), ("GiB", 30), ("TiB", 40)];

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Bytes, D::Error> {
        deserializer.deserialize_any(Visitor)
    }
}

struct Visitor;

impl de::Visitor<'_> for Visitor {
    type Value = Bytes;

    fn expecting(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.write_str("a number of bytes, as 4096 or \"256MiB\"")
    }

    fn visit_i64<E: de::Error>(self, bytes: i64) -> Result<Bytes, E> {
        let negative = |_| E::invalid_value(de::Unexpected::Signed(bytes), &self);
        u64::try_from(bytes).map(Bytes).map_err(negative)
    }

    fn visit_u64<E: de::Error>(self, bytes: u64) -> Result<Bytes, E> {
        Ok(Bytes(bytes))
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Bytes, E> {
        let refused = || E::invalid_value(de::Unexpected::Str(text), &self);
        let found = UNITS.iter().find_map(|(unit, shift)| Some((text.strip_suffix(unit)?, *shift)));
        let (digits, shift) = found.unwrap_or((text, 0));
        let count: u64 = digits.trim().parse().map_err(|_| refused())?;
        count.checked_mul(1 << shift).map(Bytes).ok_or_else(refused)
    }
}
