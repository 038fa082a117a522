//! Values that other tools compressed, in the formats that a namespace lists.
//!
//! A format without a mark of its own (Redisson's) is taken for one only where the value is no text
//! and decodes to the length it announces; a plain payload in between then stays readable. None is
//! tried that is not listed.

use cinch_core::codec::{Decompressor, codec_named, decompress_unknown_length};

use crate::settings::ForeignFormat;

mod objects;

use objects::Language;

/// The start of Valkey GLIDE's values; a version and a codec byte follow.
const GLIDE_START: [u8; 3] = [0x00, 0x01, 0x02];
const GLIDE_HEADER_BYTES: usize = 5;

/// The start of a zstd frame (RFC 8878).
const ZSTD_START: [u8; 4] = [0x28, 0xB5, 0x2F, 0xFD];

/// The start of what Rails writes from 7.1 on, and how long its header is without a version.
const RAILS_START: [u8; 2] = [0x00, 0x11];
const RAILS_HEADER_BYTES: usize = 15;
/// The bit of an entry's type that says zlib.
const RAILS_COMPRESSED: u8 = 0x80;
/// The type of an entry that is no string, whose content is Marshal's or MessagePack's.
const RAILS_OBJECT: u8 = 1;

/// Why a value in a foreign format is not read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ForeignError {
    /// It does not decode, or not within the limit.
    #[error("a value in the format {format:?} does not decode within {limit_bytes} bytes")]
    Undecoded {
        /// The format that it starts like.
        format: ForeignFormat,
        /// The limit of the namespace, in bytes.
        limit_bytes: usize,
    },
    /// It is an object of a program and no text: reading it could run code that it brings along.
    #[error(
        "a value in the format {format:?} holds {what}, which only that language can read safely; \
         texts alone are read"
    )]
    Object {
        /// The format.
        format: ForeignFormat,
        /// Whose object it is.
        what: &'static str,
    },
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
        ForeignFormat::Rails71 => {
            value.starts_with(&RAILS_START) && value.len() >= RAILS_HEADER_BYTES
        }
        ForeignFormat::RailsMarshal => Language::of(value) == Some(Language::Ruby),
        ForeignFormat::Django | ForeignFormat::Pymemcache => {
            Language::of(value) == Some(Language::Python) || looks_like(ForeignFormat::Zlib, value)
        }
        ForeignFormat::Spymemcached => {
            Language::of(value) == Some(Language::Java) || looks_like(ForeignFormat::Gzip, value)
        }
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
        ForeignFormat::Rails71 => rails(value, limit_bytes, out),
        ForeignFormat::RailsMarshal => as_it_is(value, limit_bytes, out),
        ForeignFormat::Django | ForeignFormat::Pymemcache => match value {
            [0x78, ..] => content("zlib", value, limit_bytes, out),
            _ => as_it_is(value, limit_bytes, out),
        },
        ForeignFormat::Spymemcached => match value {
            [0x1F, ..] => content("gzip", value, limit_bytes, out),
            _ => as_it_is(value, limit_bytes, out),
        },
    };
    if decoded.is_none() {
        out.clear();
        return Err(ForeignError::Undecoded { format, limit_bytes });
    }
    let language = match format {
        ForeignFormat::Rails71 if is_rails_object(value) => Language::of_rails(out),
        ForeignFormat::RailsMarshal
        | ForeignFormat::Django
        | ForeignFormat::Pymemcache
        | ForeignFormat::Spymemcached => Language::of(out),
        // What these compress is the application's own, whatever it starts like.
        _ => None,
    };
    match language {
        None => Ok(()),
        Some(language) => without_language(format, language, out),
    }
}

/// Replaces a serialised text by the text.
fn without_language(
    format: ForeignFormat,
    language: Language,
    out: &mut Vec<u8>,
) -> Result<(), ForeignError> {
    match language.text(out).map(<[u8]>::to_vec) {
        Some(text) => {
            *out = text;
            Ok(())
        }
        None => {
            out.clear();
            Err(ForeignError::Object { format, what: language.name() })
        }
    }
}

fn as_it_is(value: &[u8], limit_bytes: usize, out: &mut Vec<u8>) -> Option<()> {
    out.clear();
    (value.len() <= limit_bytes).then(|| out.extend_from_slice(value))
}

/// An entry of Rails 7.1, as `active_support/cache/coder.rb` writes it: two bytes, the type with a
/// bit for zlib, when it expires as a double, the length of a version as a signed number, that
/// version, and the content. Types 2 to 4 are strings in UTF-8, binary and US-ASCII; 1 is anything
/// else, serialised; there are no others.
fn rails(value: &[u8], limit_bytes: usize, out: &mut Vec<u8>) -> Option<()> {
    let kind = *value.get(2)?;
    let version_bytes = i32::from_le_bytes(value.get(11..15)?.try_into().ok()?);
    let version_bytes = usize::try_from(version_bytes.max(0)).ok()?;
    let body = value.get(RAILS_HEADER_BYTES..)?.get(version_bytes..)?;
    if !(RAILS_OBJECT..=4).contains(&(kind & !RAILS_COMPRESSED)) {
        return None;
    }
    match kind & RAILS_COMPRESSED {
        0 => as_it_is(body, limit_bytes, out)?,
        _ => content("zlib", body, limit_bytes, out)?,
    }
    (!is_rails_object(value) || Language::of_rails(out).is_some()).then_some(())
}

fn is_rails_object(value: &[u8]) -> bool {
    value.get(2).is_some_and(|kind| kind & !RAILS_COMPRESSED == RAILS_OBJECT)
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

    /// An entry that never expires.
    fn rails_entry(kind: u8, version: &[u8], body: &[u8]) -> Vec<u8> {
        let version_bytes = if version.is_empty() { -1 } else { version.len() as i32 };
        let mut value = vec![0x00, 0x11, kind];
        value.extend((-1.0_f64).to_le_bytes());
        value.extend(version_bytes.to_le_bytes());
        [&value, version, body].concat()
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

    /// Each with the text of a cart inside, as the libraries write it.
    #[test]
    fn caches_of_frameworks_are_read_where_they_hold_a_text() {
        let payload = payload();
        let zlib = compressed("zlib", &payload);
        let length = (payload.len() as u32).to_le_bytes();
        let pickle = [b"\x80\x02X", &length[..], &payload, b"q\x00."].concat();
        let marshal = [b"\x04\x08I\"\x02", &length[..2], &payload, b"\x06:\x06ET"].concat();
        let short = (payload.len() as u16).to_be_bytes();
        let java = [b"\xac\xed\x00\x05t", &short[..], &payload].concat();
        for (format, value) in [
            (ForeignFormat::Rails71, rails_entry(0x02, b"", &payload)),
            (ForeignFormat::Rails71, rails_entry(0x82, b"v7", &zlib)),
            (ForeignFormat::Rails71, rails_entry(0x01, b"", &marshal)),
            (ForeignFormat::Rails71, rails_entry(0x81, b"", &compressed("zlib", &marshal))),
            (ForeignFormat::RailsMarshal, marshal.clone()),
            (ForeignFormat::Django, pickle.clone()),
            (ForeignFormat::Django, compressed("zlib", &pickle)),
            (ForeignFormat::Django, zlib.clone()),
            (ForeignFormat::Pymemcache, compressed("zlib", &pickle)),
            (ForeignFormat::Spymemcached, java.clone()),
            (ForeignFormat::Spymemcached, compressed("gzip", &java)),
            (ForeignFormat::Spymemcached, compressed("gzip", &payload)),
        ] {
            assert_eq!(format_of(&[format], &value), Some(format));
            assert_eq!(format_of(&[format], &payload), None, "plain stays plain");
            let mut out = Vec::new();
            decode(format, &value, 1 << 20, &mut out).unwrap();
            assert!(out == payload, "{format:?}");
            for length in 0..value.len() {
                let value = &value[..length];
                if format_of(&[format], value).is_some()
                    && decode(format, value, 1 << 20, &mut out).is_ok()
                {
                    // Rails says no length: a cut there is an earlier end.
                    assert!(format == ForeignFormat::Rails71 && payload.starts_with(&out));
                }
            }
        }
    }

    fn unhex(hex: &str) -> Vec<u8> {
        let pair = |pair: &[u8]| u8::from_str_radix(str::from_utf8(pair).unwrap(), 16).unwrap();
        hex.as_bytes().chunks(2).map(pair).collect()
    }

    /// As Ruby 3.1 prints `Coder#dump_compressed` of Rails' `active_support/cache/coder.rb` with
    /// Marshal and Zlib: a string; binary bytes of version "v7" that expire at 1700000000.5; ASCII
    /// that is compressed; a version that is not UTF-8 and goes through Marshal.
    #[test]
    fn strings_are_read_as_rails_writes_them() {
        let cart = br#"{"cart":["SKU-1","SKU-1","SKU-1","SKU-1","SKU-1","SKU-1","SKU-1",0]}"#;
        let entries: [(&str, &[u8]); 4] = [
            ("001102000000000000f0bfffffffff7b2261223a317d", b"{\"a\":1}"),
            ("00110300002040fc54d941020000007637fffe", b"\xFF\xFE"),
            (
                "001184000000000000f0bfffffffff789cab564a4e2c2a51b28a560af60ed53554d221953688ad05\
                 00490e1050",
                cart,
            ),
            ("001102000000000000f0bf0b000000040849220676063a0645467b2261223a317d", b"{\"a\":1}"),
        ];
        let mut out = Vec::new();
        for (hex, text) in entries {
            let value = unhex(hex);
            assert_eq!(format_of(&[ForeignFormat::Rails71], &value), Some(ForeignFormat::Rails71));
            decode(ForeignFormat::Rails71, &value, 1 << 20, &mut out).unwrap();
            assert_eq!(out, text, "{hex}");
        }
        // An array, a string in Latin-1, and a hash that is compressed, as the same prints them.
        for hex in [
            "001101000000000000f0bfffffffff04085b064922077b7d063a064554",
            "001101000000000000f0bfffffffff0408492206e9063a0d656e636f64696e67220f49534f2d383835\
             392d31",
            "001181000000000000f0bfffffffff789c63e1a866f354624b64b362730df154324f2219b0593384000\
             0e797169a",
        ] {
            let decoded = decode(ForeignFormat::Rails71, &unhex(hex), 1 << 20, &mut out);
            let said = decoded.unwrap_err().to_string();
            assert!(said.contains("an object of Ruby (Marshal)") && out.is_empty(), "{said}");
        }
    }

    #[test]
    fn objects_are_refused_by_their_name_and_give_no_bytes() {
        let object = b"\x80\x02cposix\nsystem\nq\x00.";
        for (format, value, words) in [
            (ForeignFormat::Django, compressed("zlib", object), "Python (pickle)"),
            (ForeignFormat::Django, object.to_vec(), "Python (pickle)"),
            (ForeignFormat::RailsMarshal, b"\x04\x08[\x00".to_vec(), "Ruby (Marshal)"),
            (ForeignFormat::Rails71, rails_entry(1, b"", b"\x04\x08[\x00"), "Ruby (Marshal)"),
            (ForeignFormat::Rails71, rails_entry(1, b"", b"\xCC\x80\x90"), "Ruby (MessagePack)"),
            (ForeignFormat::Spymemcached, b"\xac\xed\x00\x05sr".to_vec(), "Java"),
        ] {
            let mut out = Vec::new();
            let error = decode(format, &value, 1 << 20, &mut out).unwrap_err();
            assert!(error.to_string().contains(words), "{error}");
            assert!(out.is_empty());
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
