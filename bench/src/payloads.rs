//! The payloads that `overhead` and `pack` work on: generated carts of four sizes, and a dictionary
//! trained from other carts. The seeds are fixed, so two runs measure the same bytes.

use cinch_generate::{Kind, Options, find};

use crate::failure::Outcome;

/// The sizes that the target of at most 3 % or 30 ns speaks of.
pub(crate) const SIZES_BYTES: [u32; 4] = [300, 2_000, 20_000, 500_000];

const SEED: u64 = 1;

/// A dictionary must not be trained from the payloads that it is measured with.
const DICTIONARY_SEED: u64 = 2;
const DICTIONARY_SAMPLES: usize = 1000;
const DICTIONARY_BYTES: usize = 32 << 10;

fn carts() -> Outcome<&'static Kind> {
    find("carts").ok_or_else(|| "cinch-generate has no carts".into())
}

/// The cart nearest to this size, of a few.
pub(crate) fn nearest(size_bytes: u32) -> Outcome<Vec<u8>> {
    // Few are enough where the generator comes near anyway, and large ones take time.
    let count = if size_bytes < 100_000 { 200 } else { 16 };
    let options = Options { count, seed: SEED, median_bytes: Some(size_bytes) };
    let nearest = carts()?
        .payloads(options)
        .min_by_key(|payload| payload.len().abs_diff(size_bytes as usize));
    nearest.map(String::into_bytes).ok_or_else(|| "no payloads were generated".into())
}

/// A dictionary in zstd's format. LZ4 takes it as raw content.
pub(crate) fn dictionary() -> Outcome<Vec<u8>> {
    let options = Options { count: DICTIONARY_SAMPLES, seed: DICTIONARY_SEED, median_bytes: None };
    let samples: Vec<String> = carts()?.payloads(options).collect();
    let sizes: Vec<usize> = samples.iter().map(String::len).collect();
    let mut bytes = vec![0; DICTIONARY_BYTES];
    let length =
        zstd_safe::train_from_buffer(bytes.as_mut_slice(), samples.concat().as_bytes(), &sizes)
            .map_err(zstd_safe::get_error_name)?;
    bytes.truncate(length);
    Ok(bytes)
}
