//! Tests of the registry, and of every codec in it: nothing here names a codec where a rule of
//! the table would do, so that a new row is tested by being there.
//!
//! Test data is made here from fixed seeds. Compressed bytes are never compared with stored ones:
//! they may change with a library's version, and only decoders are permanent.

use std::collections::BTreeSet;

use super::*;

mod dictionaries;
mod formats;
mod hostile;
mod memory;
mod prefixes;
mod round_trip;
mod samples;

/// The levels at the ends of a codec's range and its default, each once.
fn telling_levels(codec: &dyn Codec) -> BTreeSet<i32> {
    let levels = codec.info().levels;
    BTreeSet::from([levels.min, levels.default, levels.max])
}

/// Compresses with a context made for this one payload.
fn compressed(codec: &dyn Codec, level: i32, payload: &[u8]) -> Vec<u8> {
    let mut compressor = codec.compressor(level, None).unwrap();
    compressed_by(codec, compressor.as_mut(), payload)
}

/// Compresses with a context at hand, into a buffer of exactly the codec's bound.
fn compressed_by(codec: &dyn Codec, compressor: &mut dyn Compressor, payload: &[u8]) -> Vec<u8> {
    let mut body = vec![0xA5; codec.compress_bound(payload.len())];
    let length = compressor.compress(payload, &mut body).unwrap();
    body.truncate(length);
    body
}

/// Decompresses into exactly `length` bytes with a context made for it.
fn decompressed(codec: &dyn Codec, body: &[u8], length: usize) -> Result<Vec<u8>, DecompressError> {
    let mut payload = vec![0x5A; length];
    codec.decompressor(None).unwrap().decompress_exact(body, &mut payload)?;
    Ok(payload)
}

/// Whether the format shows where its content ends, so that what follows can be named.
fn marks_its_end(codec: &dyn Codec) -> bool {
    !["stored", "lz4"].contains(&codec.info().name)
}

#[test]
fn names_are_unique_and_plain() {
    let mut names = BTreeSet::new();
    for codec in CODECS {
        let name = codec.info().name;
        assert!(names.insert(name), "{name} is there twice");
        assert!(!name.is_empty());
        let plain = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-');
        assert!(name.bytes().all(plain), "{name}");
    }
}

#[test]
fn ids_are_permanent() {
    let ids: Vec<_> = CODECS.iter().map(|codec| (codec.info().id.0, codec.info().name)).collect();
    let published = [
        (0x10, "stored"),
        (0x11, "snappy"),
        (0x12, "lz4"),
        (0x1C, "lz4-frame"),
        (0x13, "gzip-libdeflate"),
        (0x13, "gzip"),
        (0x14, "zlib-libdeflate"),
        (0x14, "zlib"),
        (0x15, "deflate-libdeflate"),
        (0x15, "deflate"),
        (0x16, "zstd"),
        (0x17, "zstd-bare"),
        (0x18, "brotli"),
        (0x19, "lzma2"),
        (0x1A, "bzip2"),
    ];
    assert!(ids.starts_with(&published), "a published row was changed: {ids:?}");
    assert!(ids.iter().all(|(id, _)| (0x10..=0x7F).contains(id)));
}

#[test]
fn rows_describe_themselves() {
    for codec in CODECS {
        let info = codec.info();
        let levels = info.levels;
        assert!(levels.contains(levels.default), "{}", info.name);
        assert!(levels.min <= levels.max && levels.slow_from > levels.default, "{}", info.name);
        assert!(!info.summary.is_empty() && !info.summary.ends_with('.'), "{}", info.name);
        let library = (info.library)();
        assert!(library == "cinch" || library.contains(' '), "{library}");
        assert_eq!(codec.decompressor(None).unwrap().name(), info.name);
    }
}

#[test]
fn versions_are_those_of_the_lock_file() {
    let Ok(lock) =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../Cargo.lock"))
    else {
        // A crate that was published has no workspace around it.
        return;
    };
    for (package, version) in [
        ("snap", snappy::VERSION),
        ("libdeflate-sys", deflate::LIBDEFLATE_VERSION),
        ("libbz2-rs-sys", bzip2::VERSION),
    ] {
        let entry = format!("name = \"{package}\"\nversion = \"{version}\"");
        assert!(lock.contains(&entry), "the lock file has another version of {package}");
    }
}

#[test]
fn lookups_find_the_first_row() {
    for codec in CODECS {
        let info = codec.info();
        assert_eq!(codec_named(info.name).unwrap().info().name, info.name);
        assert_eq!(decoder_of(info.id).unwrap().info().id, info.id);
    }
    assert_eq!(decoder_of(CodecId(0x13)).unwrap().info().name, "gzip-libdeflate");
    assert!(codec_named("Zstd").is_none() && codec_named("").is_none());
    assert!(decoder_of(CodecId(0x0F)).is_none() && decoder_of(CodecId(0x7F)).is_none());
}

#[test]
fn levels_outside_the_range_are_refused() {
    for codec in CODECS {
        let info = codec.info();
        let Levels { min, max, .. } = info.levels;
        for level in [min - 1, max + 1, i32::MIN, i32::MAX] {
            let expected = SetupError::Level { codec: info.name, min, max, level };
            assert_eq!(codec.compressor(level, None).err(), Some(expected));
        }
        assert!(codec.compressor(min, None).is_ok() && codec.compressor(max, None).is_ok());
    }
}
