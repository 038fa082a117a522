//! Values that other tools compressed, in the formats that a namespace lists.
//!
//! A format without a mark of its own (Redisson's) is taken for one only where the value is no text
//! and decodes to the length it announces; a plain payload in between then stays readable. None is
//! tried that is not listed.

use cinch_core::codec::{Decompressor, codec_named, decompress_unknown_length};

use crate::settings::ForeignFormat;

/// The start of Valkey GLIDE's values; a version and a codec byte follow.
const GLIDE_START: [u8; 3] = [0x00, 0x01, 0x02];
const GLIDE_HEADER_BYTES: usize = 5;

/// The start of a zstd frame (RFC 8878).
const ZSTD_START: [u8; 4] = [0x28, 0xB5, 0x2F, 0xFD];

/// Why a value in a foreign format does not decode.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a value in the format {format:?} does not decode within {limit_bytes} bytes")]
pub struct ForeignError {
    /// The format that it starts like.
    pub format: ForeignFormat,
    /// The limit of the namespace, in bytes.
    pub limit_bytes: usize,
}

/// The first listed format that the value looks like.
pub(super) fn format_of(listed: &[ForeignFormat], value: &[u8]) -> Option<ForeignFormat> {
    listed.iter().copied().find(|format| looks_like(*format, value))
}

fn looks_like(format: ForeignFormat, value: &[u8]) -> bool {
    match format {
        ForeignFormat::Gzip => value.starts_with(&[0x1F, 0x8B, 0x08]),
        ForeignFormat::Zlib => matches!(value,
            [0x78, second, ..] if (0x7800 | u16::from(*second)).is_multiple_of(31)),
        ForeignFormat::ZstdFrame => value.starts_with(&ZSTD_START),
        ForeignFormat::Lz4Frame => value.starts_with(&[0x04, 0x22, 0x4D, 0x18]),
        ForeignFormat::GlideV0 => {
            value.starts_with(&GLIDE_START) && value.len() > GLIDE_HEADER_BYTES
        }
        ForeignFormat::RedissonZstd => value.get(4..).is_some_and(|v| v.starts_with(&ZSTD_START)),
        ForeignFormat::RedissonLz4 => is_no_text(value) && value.len() > 4,
        ForeignFormat::RedissonSnappy => is_no_text(value),
    }
}

fn is_no_text(value: &[u8]) -> bool {
    str::from_utf8(value).is_err()
}

/// Decodes a value into `out`, whose content is replaced; it is empty on an error.
pub(super) fn decode(
    format: ForeignFormat,
    value: &[u8],
    limit_bytes: usize,
    out: &mut Vec<u8>,
) -> Result<(), ForeignError> {
    let decoded = match format {
        ForeignFormat::Gzip => content("gzip", value, limit_bytes, out),
        ForeignFormat::Zlib => content("zlib", value, limit_bytes, out),
        ForeignFormat::ZstdFrame => content("zstd", value, limit_bytes, out),
        ForeignFormat::Lz4Frame => content("lz4-frame", value, limit_bytes, out),
        ForeignFormat::GlideV0 => match &value[GLIDE_HEADER_BYTES..] {
            frame if frame.starts_with(&ZSTD_START) => content("zstd", frame, limit_bytes, out),
            block => sized("lz4", block, u32::from_le_bytes, limit_bytes, out),
        },
        ForeignFormat::RedissonZstd => sized("zstd", value, u32::from_be_bytes, limit_bytes, out),
        ForeignFormat::RedissonLz4 => sized("lz4", value, u32::from_be_bytes, limit_bytes, out),
        ForeignFormat::RedissonSnappy => snappy(value, limit_bytes, out),
    };
    decoded.ok_or_else(|| {
        out.clear();
        ForeignError { format, limit_bytes }
    })
}

fn decompressor(codec: &str) -> Option<Box<dyn Decompressor>> {
    codec_named(codec)?.decompressor(None).ok()
}

/// A format whose content ends where it says itself.
fn content(codec: &str, value: &[u8], limit_bytes: usize, out: &mut Vec<u8>) -> Option<()> {
    decompress_unknown_length(&mut *decompressor(codec)?, value, limit_bytes, out).ok()
}

/// A format with the content's length in four bytes before it.
fn sized(
    codec: &str,
    value: &[u8],
    length_of: fn([u8; 4]) -> u32,
    limit_bytes: usize,
    out: &mut Vec<u8>,
) -> Option<()> {
    /// No codec here expands by more than this for blocks of a few bytes and more.
    const EXPANSION_MAX: usize = 1 << 16;
    let (length, block) = value.split_first_chunk::<4>()?;
    let length = length_of(*length) as usize;
    if length > limit_bytes || length / EXPANSION_MAX > block.len() {
        return None;
    }
    out.clear();
    out.resize(length, 0);
    decompressor(codec)?.decompress_exact(block, out).ok()
}

/// A raw Snappy block says its content's length in a varint of its own.
fn snappy(value: &[u8], limit_bytes: usize, out: &mut Vec<u8>) -> Option<()> {
    content("snappy", value, limit_bytes, out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compressed(codec: &str, payload: &[u8]) -> Vec<u8> {
        let codec = codec_named(codec).unwrap();
        let mut out = vec![0; codec.compress_bound(payload.len())];
        let level = codec.info().levels.default;
        let length = codec.compressor(level, None).unwrap().compress(payload, &mut out).unwrap();
        out.truncate(length);
        out
    }

    fn payload() -> Vec<u8> {
        br#"{"cart":[1,2,3],"user":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"}"#.repeat(20)
    }

    fn all() -> Vec<(ForeignFormat, Vec<u8>)> {
        let payload = payload();
        let length = payload.len() as u32;
        let glide = |body: Vec<u8>| [&[0, 1, 2, 0, 1][..], &body].concat();
        let sized = |head: [u8; 4], codec| [&head[..], &compressed(codec, &payload)].concat();
        vec![
            (ForeignFormat::Gzip, compressed("gzip", &payload)),
            (ForeignFormat::Zlib, compressed("zlib", &payload)),
            (ForeignFormat::ZstdFrame, compressed("zstd", &payload)),
            (ForeignFormat::Lz4Frame, compressed("lz4-frame", &payload)),
            (ForeignFormat::GlideV0, glide(compressed("zstd", &payload))),
            (ForeignFormat::GlideV0, glide(sized(length.to_le_bytes(), "lz4"))),
            (ForeignFormat::RedissonLz4, sized(length.to_be_bytes(), "lz4")),
            (ForeignFormat::RedissonZstd, sized(length.to_be_bytes(), "zstd")),
            (ForeignFormat::RedissonSnappy, compressed("snappy", &payload)),
        ]
    }

    #[test]
    fn every_format_is_recognised_where_it_is_listed_and_only_there() {
        for (format, value) in all() {
            assert_eq!(format_of(&[format], &value), Some(format));
            assert_eq!(format_of(&[], &value), None);
            assert_eq!(format_of(&[format], br#"{"plain":true}"#), None, "{format:?}");
            let mut out = Vec::new();
            decode(format, &value, 1 << 20, &mut out).unwrap();
            assert!(out == payload(), "{format:?}");
        }
    }

    #[test]
    fn what_is_cut_or_too_long_is_an_error_and_gives_no_bytes() {
        for (format, value) in all() {
            let mut out = Vec::new();
            decode(format, &value, 1_000, &mut out).unwrap_err();
            assert!(out.is_empty(), "{format:?}");
            for length in 0..value.len() {
                let value = &value[..length];
                if format_of(&[format], value).is_some() {
                    assert!(decode(format, value, 1 << 20, &mut out).is_err(), "{format:?}");
                    assert!(out.is_empty(), "{format:?}");
                }
            }
        }
    }
}
