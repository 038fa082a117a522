//! A line of a window in Avro's single-object encoding: two bytes, the fingerprint of the schema,
//! and the fields one after the other. The schema never changes, so its encoder is a page and no
//! library, and every reader of Avro checks it.

use std::sync::OnceLock;

use crate::metric::Window;
use crate::varint;

/// The schema in Avro's canonical form, from which the fingerprint is computed.
pub(super) const SCHEMA: &str = concat!(
    r#"{"name":"cinch.Window","type":"record","fields":["#,
    r#"{"name":"metric","type":"string"},"#,
    r#"{"name":"window_start","type":"long"},"#,
    r#"{"name":"window_s","type":"long"},"#,
    r#"{"name":"instance","type":"string"},"#,
    r#"{"name":"key","type":{"type":"map","values":"string"}},"#,
    r#"{"name":"count","type":"long"},"#,
    r#"{"name":"values","type":"long"},"#,
    r#"{"name":"sum","type":["null","double"]},"#,
    r#"{"name":"min","type":["null","double"]},"#,
    r#"{"name":"max","type":["null","double"]},"#,
    r#"{"name":"quantiles","type":{"type":"map","values":"double"}}]}"#,
);

/// What single objects of version 1 start with.
const MAGIC: [u8; 2] = [0xC3, 0x01];

/// The fingerprint of the empty text, from which CRC-64-AVRO starts; also its polynomial.
const EMPTY: u64 = 0xC15D_213A_A4D7_A795;

/// Encodes a line.
pub(super) fn encode(window: &Window, instance: &str) -> Vec<u8> {
    static FINGERPRINT: OnceLock<[u8; 8]> = OnceLock::new();
    let mut out = MAGIC.to_vec();
    out.extend_from_slice(FINGERPRINT.get_or_init(|| fingerprint(SCHEMA).to_le_bytes()));
    let sums = &window.sums;
    text(&window.rule.name, &mut out);
    long(window.start_s, &mut out);
    long(window.rule.window_s, &mut out);
    text(instance, &mut out);
    let parts: Vec<(&str, &str)> = window.parts().collect();
    map(&parts, &mut out, |(name, part), out| {
        text(name, out);
        text(part, out);
    });
    long(sums.count, &mut out);
    long(sums.values, &mut out);
    for value in [sums.sum, sums.min, sums.max] {
        // The place of the branch in the union, and then its value.
        let has_values = sums.values > 0;
        long(u64::from(has_values), &mut out);
        if has_values {
            out.extend_from_slice(&value.to_le_bytes());
        }
    }
    let quantile = |&share: &f64| Some((share.to_string(), sums.quantile(share)?));
    let quantiles: Vec<(String, f64)> = window.rule.quantiles.iter().filter_map(quantile).collect();
    map(&quantiles, &mut out, |(share, value), out| {
        text(share, out);
        out.extend_from_slice(&value.to_le_bytes());
    });
    out
}

/// A map: one block of all entries, if there are any, and an empty one.
fn map<T>(entries: &[T], out: &mut Vec<u8>, write: impl Fn(&T, &mut Vec<u8>)) {
    if !entries.is_empty() {
        long(entries.len() as u64, out);
        entries.iter().for_each(|entry| write(entry, out));
    }
    long(0, out);
}

/// A number, of which Avro doubles those that are not negative.
fn long(number: u64, out: &mut Vec<u8>) {
    varint::write(number.min(i64::MAX as u64) << 1, out);
}

fn text(text: &str, out: &mut Vec<u8>) {
    long(text.len() as u64, out);
    out.extend_from_slice(text.as_bytes());
}

/// CRC-64-AVRO, bit by bit: it is computed once.
fn fingerprint(schema: &str) -> u64 {
    schema.bytes().fold(EMPTY, |fingerprint, byte| {
        let mut row = (fingerprint ^ u64::from(byte)) & 0xFF;
        for _ in 0..8 {
            row = (row >> 1) ^ (EMPTY & (row & 1).wrapping_neg());
        }
        (fingerprint >> 8) ^ row
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fingerprints_are_those_of_the_specification() {
        // From the test cases that Avro ships for its implementations.
        assert_eq!(fingerprint(r#""null""#) as i64, 7_195_948_357_588_979_594);
        assert_eq!(fingerprint(r#""int""#) as i64, 8_247_732_601_305_521_295);
    }
}
