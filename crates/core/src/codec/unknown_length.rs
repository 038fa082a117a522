//! Decompressing what does not say how long its content is: formats of other tools, in which no
//! envelope announces the length.
//!
//! The buffer grows in steps up to the caller's limit, so that a small hostile input costs at most
//! that, and an honest one seldom more than one retry.

use crate::codec::{DecompressError, Decompressor};

/// How much the buffer is enlarged by after it was too small, and how much of its input's length it
/// starts with.
const GROWTH: usize = 4;

/// The least that is allocated for any content, in bytes.
const START_BYTES_MIN: usize = 1 << 10;

/// Decompresses content of unknown length into `out`, whose content is replaced.
///
/// # Errors
/// What the decompressor says; [`DecompressError::OutputTooSmall`] with the limit as its capacity
/// where the content is longer than that. `out` is then empty.
pub fn decompress_unknown_length(
    decompressor: &mut dyn Decompressor,
    input: &[u8],
    limit_bytes: usize,
    out: &mut Vec<u8>,
) -> Result<(), DecompressError> {
    let mut capacity =
        input.len().saturating_mul(GROWTH).clamp(START_BYTES_MIN.min(limit_bytes), limit_bytes);
    let result = loop {
        out.clear();
        out.resize(capacity, 0);
        match decompressor.decompress(input, out) {
            Err(DecompressError::OutputTooSmall { .. }) if capacity < limit_bytes => {
                capacity = capacity.saturating_mul(GROWTH).min(limit_bytes);
            }
            result => break result,
        }
    };
    out.truncate(*result.as_ref().unwrap_or(&0));
    result.map(|_| ())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::codec_named;

    #[test]
    fn content_up_to_the_limit_comes_out_and_more_is_an_error() {
        let payload = vec![b'a'; 100_000];
        for name in ["gzip", "zstd", "lz4-frame"] {
            let codec = codec_named(name).unwrap();
            let mut packed = vec![0; codec.compress_bound(payload.len())];
            let level = codec.info().levels.default;
            let length =
                codec.compressor(level, None).unwrap().compress(&payload, &mut packed).unwrap();
            let mut decompressor = codec.decompressor(None).unwrap();
            let mut out = Vec::new();
            let mut unpack = |limit_bytes: usize, out: &mut Vec<u8>| {
                decompress_unknown_length(&mut *decompressor, &packed[..length], limit_bytes, out)
            };
            unpack(100_000, &mut out).unwrap();
            assert!(out == payload, "{name}");
            let error = unpack(99_999, &mut out).unwrap_err();
            assert!(
                matches!(error, DecompressError::OutputTooSmall { capacity: 99_999, .. }),
                "{name}: {error}"
            );
            assert!(out.is_empty(), "{name}");
        }
    }
}
