//! What tests put into stores, and what they expect of a sample of it.
//!
//! A sample is told to be fair by where its payloads lie in the order in which they were stored,
//! and by their sizes; the bounds are so wide that an honest one never misses them.

use std::collections::HashMap;
use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;

use crate::carts;

/// The rest of an evaluation of what a store holds that is over soon and told as JSON.
pub const BRIEFLY: [&str; 8] =
    ["--codecs", "snappy,zstd", "--encodings", "verbatim", "--time", "1s", "--json", "-"];

/// Payloads, one a line, as they are stored.
pub struct Stored {
    text: Vec<u8>,
}

impl Stored {
    /// Generated carts.
    pub fn carts(count: usize) -> Stored {
        Stored { text: carts(count) }
    }

    /// Each payload.
    pub fn payloads(&self) -> impl Iterator<Item = &[u8]> {
        self.text.split(|&byte| byte == b'\n').filter(|line| !line.is_empty())
    }

    /// Checks that these lines are `count` different ones of the payloads, from everywhere among
    /// them and of all their sizes.
    #[track_caller]
    pub fn assert_fair(&self, sample: &[u8], count: usize) {
        let places: HashMap<&[u8], usize> =
            self.payloads().enumerate().map(|(place, payload)| (payload, place)).collect();
        let stored = places.len();
        let mut lengths: Vec<usize> = places.keys().map(|payload| payload.len()).collect();
        lengths.sort_unstable();
        let median = lengths[stored / 2];
        let lines: Vec<&[u8]> =
            sample.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()).collect();
        assert_eq!(lines.len(), count, "payloads in the sample");
        let mut found: Vec<usize> = Vec::new();
        for line in &lines {
            let place = places.get(line);
            let shown = String::from_utf8_lossy(&line[..line.len().min(80)]);
            found.push(*place.unwrap_or_else(|| panic!("this was never stored: {shown}")));
        }
        found.sort_unstable();
        found.dedup();
        assert_eq!(found.len(), count, "a payload is in the sample twice");
        for quarter in 0..4 {
            let range = stored * quarter / 4..stored * (quarter + 1) / 4;
            let here = found.iter().filter(|place| range.contains(place)).count();
            let share = count / 8..count * 3 / 8;
            assert!(share.contains(&here), "{here} of {count} are of quarter {quarter}");
        }
        let large = lines.iter().filter(|line| line.len() > median).count();
        let share = count * 2 / 5..count * 3 / 5;
        assert!(share.contains(&large), "{large} of {count} are longer than the median, {median}");
    }
}

/// As a client library packs a value.
pub fn gzip(payload: &[u8]) -> Vec<u8> {
    let mut packer = GzEncoder::new(Vec::new(), Compression::default());
    packer.write_all(payload).expect("memory takes everything");
    packer.finish().expect("memory takes everything")
}

/// As a client library packs a value.
pub fn zstd(payload: &[u8]) -> Vec<u8> {
    zstd::bulk::compress(payload, 3).expect("it has room")
}

/// Digits of bytes, as statements take them.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
