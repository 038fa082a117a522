//! What the tests of all kinds measure about a corpus: that it parses, how large it is, how much
//! of it is keys, and how it compresses, held against bands around the measured real corpora.

use crate::{Options, find};
use serde_json::Value;
use std::collections::BTreeSet;
use std::ops::Range;

/// Where the figures of a kind at its natural size have to lie.
pub(crate) struct Band {
    /// The median size.
    pub(crate) median_bytes: Range<usize>,
    /// The share of bytes that are keys with their quotes.
    pub(crate) key_percent: Range<usize>,
    /// The median over the payloads of size / zstd -3 size, times 100.
    pub(crate) ratio_percent: Range<usize>,
}

fn texts(name: &str, options: Options) -> Vec<String> {
    find(name).expect("kind").payloads(options).collect()
}

/// The size of a text after zstd at level 3, the level that the targets were measured with.
fn packed_bytes(text: &str) -> usize {
    let mut packed = vec![0; zstd_safe::compress_bound(text.len())];
    zstd_safe::compress(&mut packed[..], text.as_bytes(), 3).expect("compresses")
}

/// The documents of a corpus as values.
pub(crate) fn parsed(name: &str, options: Options) -> Vec<Value> {
    let parse = |text: &String| serde_json::from_str(text).expect("payload is JSON");
    texts(name, options).iter().map(parse).collect()
}

/// The first documents of a corpus at its natural size.
pub(crate) fn documents(name: &str, count: usize) -> Vec<Value> {
    parsed(name, Options { count, seed: 1, median_bytes: None })
}

fn median(mut values: Vec<usize>) -> usize {
    values.sort_unstable();
    values[values.len() / 2]
}

fn key_bytes(value: &Value) -> usize {
    match value {
        Value::Object(map) => map.iter().map(|(key, value)| key.len() + 2 + key_bytes(value)).sum(),
        Value::Array(values) => values.iter().map(key_bytes).sum(),
        _ => 0,
    }
}

/// Asserts that a kind at its natural size is what its band says, and hardly repeats itself.
pub(crate) fn check(name: &str, count: usize, band: &Band) {
    let texts = texts(name, Options { count, seed: 1, median_bytes: None });
    let total: usize = texts.iter().map(String::len).sum();
    let median_bytes = median(texts.iter().map(String::len).collect());
    assert!(band.median_bytes.contains(&median_bytes), "{name}: median {median_bytes} B");

    let keys: usize = documents(name, count).iter().map(key_bytes).sum();
    let key_percent = keys * 100 / total;
    assert!(band.key_percent.contains(&key_percent), "{name}: keys {key_percent} %");

    let ratio = |text: &String| text.len() * 100 / packed_bytes(text);
    let ratio_percent = median(texts.iter().map(ratio).collect());
    assert!(band.ratio_percent.contains(&ratio_percent), "{name}: ratio {ratio_percent} / 100");

    let distinct: BTreeSet<&String> = texts.iter().collect();
    assert!(distinct.len() * 100 >= count * 99, "{name}: {} distinct", distinct.len());
}

/// Asserts that a kind meets a target median within a quarter, in documents that parse and differ.
pub(crate) fn check_scaled(name: &str, target_bytes: u32, count: usize) {
    let options = Options { count, seed: 1, median_bytes: Some(target_bytes) };
    let texts = texts(name, options);
    let median_bytes = median(texts.iter().map(String::len).collect());
    let target = target_bytes as usize;
    let band = target * 3 / 4..target * 5 / 4;
    assert!(band.contains(&median_bytes), "{name} for {target}: median {median_bytes} B");
    let longest = texts.iter().map(String::len).max().expect("payloads");
    assert!(longest <= target * 12, "{name} for {target}: longest {longest} B");
    let distinct: BTreeSet<&String> = texts.iter().collect();
    assert!(distinct.len() * 100 >= count * 98, "{name}: {} distinct", distinct.len());
    parsed(name, options);
}
