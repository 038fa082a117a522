//! What contexts hold: bounded whatever the input says, and no more after a thousand payloads
//! than after one.

use super::*;

const BOMB_BYTES: usize = 100 << 20;

/// More than any decoder needs for a kilobyte of output. bzip2's block is up to 900 kB, which it
/// needs four times over; brotli's window may be twice its least.
const DECODER_BYTES_MAX: usize = 8 << 20;

#[test]
fn a_hundred_megabytes_of_zeros_into_a_kilobyte() {
    let zeros = vec![0; BOMB_BYTES];
    for codec in CODECS {
        let info = codec.info();
        // Level 1 where there is one: the bomb is as large at any level.
        let level = info.levels.default.min(1).max(info.levels.min);
        let body = compressed(*codec, level, &zeros);
        let mut decompressor = codec.decompressor(None).unwrap();
        let got = decompressor.decompress(&body, &mut [0; 1024]);
        let expected = DecompressError::OutputTooSmall { codec: info.name, capacity: 1024 };
        assert_eq!(got, Err(expected));
        let held = decompressor.memory_bytes();
        assert!(held <= DECODER_BYTES_MAX, "{} holds {held} bytes", info.name);
    }
}

#[test]
fn a_warm_context_does_not_grow() {
    let payloads: Vec<_> = (0..20).map(|seed| samples::json(200 + 900 * seed, 40)).collect();
    for codec in CODECS {
        let mut compressor = codec.compressor(codec.info().levels.default, None).unwrap();
        let mut decompressor = codec.decompressor(None).unwrap();
        let mut held = Vec::new();
        for round in 0..20 {
            for payload in &payloads {
                let body = compressed_by(*codec, compressor.as_mut(), payload);
                let mut back = vec![0; payload.len()];
                decompressor.decompress_exact(&body, &mut back).unwrap();
            }
            if round > 0 {
                held.push((compressor.memory_bytes(), decompressor.memory_bytes()));
            }
        }
        assert!(held.windows(2).all(|pair| pair[0] == pair[1]), "{}: {held:?}", codec.info().name);
    }
}

#[test]
fn contexts_say_what_they_hold() {
    let payload = samples::json(20_000, 4);
    for codec in CODECS.iter().filter(|codec| codec.info().name != "stored") {
        let info = codec.info();
        let mut compressor = codec.compressor(info.levels.default, None).unwrap();
        compressed_by(*codec, compressor.as_mut(), &payload);
        let held = compressor.memory_bytes();
        assert!((4_000..20 << 20).contains(&held), "{}: {held}", info.name);
    }
}

#[test]
fn a_hostile_lzma2_dictionary_byte_allocates_nothing() {
    let codec = codec_named("lzma2").unwrap();
    let payload = samples::small();
    let mut body = compressed(codec, 6, &payload);
    let mut decompressor = codec.decompressor(None).unwrap();
    for code in 0..=255 {
        body[0] = code;
        let mut back = vec![0; payload.len()];
        let got = decompressor.decompress_exact(&body, &mut back);
        if code <= 40 {
            assert_eq!(got, Ok(()), "{code}");
        } else {
            assert_eq!(got, Err(DecompressError::Corrupt { codec: "lzma2" }), "{code}");
        }
        assert!(decompressor.memory_bytes() < 200 << 10, "{code}");
    }
}

#[test]
fn a_hostile_lz4_frame_allocates_its_largest_block_and_no_more() {
    let mut decompressor = codec_named("lz4-frame").unwrap().decompressor(None).unwrap();
    let mut held = Vec::new();
    // Blocks of up to 64 KiB and 4 MiB, the last with a content size of 4 EiB and a block of 2 GiB.
    for header in [
        &b"\x40\x40\xC0"[..],
        b"\x40\x70\xDF",
        b"\x68\x40\0\0\0\0\0\0\0\x40\x0A",
        b"\x40\x70\xDF\xFF\xFF\xFF\x7F",
        b"\x40\x70\xDF\xFF\xFF\xFF\xFF",
    ] {
        let frame = [&b"\x04\x22\x4D\x18"[..], header].concat();
        let got = decompressor.decompress(&frame, &mut [0; 10]);
        assert_eq!(got, Err(DecompressError::Corrupt { codec: "lz4-frame" }));
        held.push(decompressor.memory_bytes());
    }
    assert!(held[0] < 260 << 10 && held[1..].iter().all(|&bytes| bytes < 9 << 20), "{held:?}");
}

#[test]
fn a_hostile_window_allocates_nothing() {
    // A standard and a bare zstd frame of one byte, both with a window of 3.75 TiB.
    for (name, body) in [
        ("zstd", &[0x28, 0xB5, 0x2F, 0xFD, 0, 0xFF, 9, 0, 0, b'x'][..]),
        ("zstd-bare", &[0, 0xFF, 9, 0, 0, b'x']),
    ] {
        let mut decompressor = codec_named(name).unwrap().decompressor(None).unwrap();
        let mut back = [0; 10];
        // The library may refuse such a window, or ignore it as the output needs none.
        let _ = decompressor.decompress(body, &mut back);
        assert!(decompressor.memory_bytes() < 1 << 20, "{name}");
    }
    // A brotli stream that announces a window and a meta-block of 16 MiB and then ends.
    let codec = codec_named("brotli").unwrap();
    let body = compressed(codec, 0, &vec![0x41; 16 << 20]);
    for length in [5, body.len()] {
        let mut decompressor = codec.decompressor(None).unwrap();
        assert!(decompressor.decompress(&body[..length], &mut [0; 100]).is_err());
        assert!(decompressor.memory_bytes() < 4 << 20);
    }
}

/// A dictionary of this many bytes in zstd's format would need a corpus; raw content does as well.
fn dictionary(length: usize) -> Arc<Dictionary> {
    let mut bytes = samples::json(length, 9);
    bytes.resize(length, b' ');
    Dictionary::new(bytes).unwrap()
}

#[test]
fn a_prepared_dictionary_takes_its_bytes_and_tables_but_not_megabytes() {
    let length = 110 << 10;
    let dictionary = dictionary(length);
    for name in ["zstd", "zstd-bare"] {
        let codec = codec_named(name).unwrap();
        let held = codec.dictionary_memory(3, &dictionary).unwrap();
        assert!((length..10 << 20).contains(&held.compress_bytes), "{name}: {held:?}");
        assert!((length..length + (100 << 10)).contains(&held.decompress_bytes), "{held:?}");
        let high = codec.dictionary_memory(19, &dictionary).unwrap();
        assert!(high.compress_bytes > held.compress_bytes, "{name}: {high:?}");
        assert_eq!(high.decompress_bytes, held.decompress_bytes);
    }
    // An LZ4 block refers to 64 KiB, and is decompressed with the dictionary as it is.
    let held = codec_named("lz4").unwrap().dictionary_memory(9, &dictionary).unwrap();
    assert!((64 << 10..1 << 20).contains(&held.compress_bytes), "{held:?}");
    assert_eq!(held.decompress_bytes, 0);
}

#[test]
fn a_codec_says_what_a_dictionary_holds_exactly_where_it_takes_one() {
    let dictionary = dictionary(1 << 10);
    for codec in CODECS {
        let levels = &codec.info().levels;
        for level in [levels.min, levels.default, levels.max, levels.max + 1] {
            let taken = codec.compressor(level, Some(&dictionary)).map(|_| ());
            let told = codec.dictionary_memory(level, &dictionary).map(|_| ());
            // Without dictionaries there is no level to be wrong.
            let is_same = taken == told
                || (codec.info().dictionary_use == DictionaryUse::None && told.is_err());
            assert!(is_same, "{}:{level}: {taken:?}, {told:?}", codec.info().name);
        }
    }
}
