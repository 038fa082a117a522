//! The exact framings that are promised: what is in the bytes of each format, and what others may
//! write that we must read.

use super::*;

const TEXT: &[u8] = b"payload payload payload payload";

fn body(name: &str, payload: &[u8]) -> Vec<u8> {
    let codec = codec_named(name).unwrap();
    compressed(codec, codec.info().levels.default, payload)
}

#[test]
fn a_gzip_member_has_the_shortest_header_and_no_time() {
    for name in ["gzip", "gzip-libdeflate"] {
        let member = body(name, TEXT);
        assert_eq!(member[..4], [0x1F, 0x8B, 8, 0], "{name}");
        assert_eq!(member[4..8], [0; 4], "{name}: a time makes equal payloads differ");
        assert_eq!(member[member.len() - 4..], (TEXT.len() as u32).to_le_bytes(), "{name}");
    }
}

#[test]
fn every_gzip_header_is_read() {
    let member = body("gzip", TEXT);
    for flags in 0..=255 {
        let mut other = member[..10].to_vec();
        other[3] = flags;
        other[4..8].copy_from_slice(&[1, 2, 3, 4]);
        if flags & 4 != 0 {
            other.extend_from_slice(&[5, 0, b'e', b'x', b't', b'r', b'a']);
        }
        if flags & 8 != 0 {
            other.extend_from_slice(b"name\0");
        }
        if flags & 16 != 0 {
            other.extend_from_slice(b"a comment\0");
        }
        if flags & 2 != 0 {
            let check = crc_32(&other) as u16;
            other.extend_from_slice(&check.to_le_bytes());
        }
        let header_bytes = other.len();
        other.extend_from_slice(&member[10..]);
        for name in ["gzip", "gzip-libdeflate"] {
            let codec = codec_named(name).unwrap();
            let got = decompressed(codec, &other, TEXT.len());
            if flags & 0xE0 == 0 {
                assert_eq!(got.as_deref(), Ok(TEXT), "{name}, flags {flags:#x}");
            } else {
                assert_eq!(got, Err(DecompressError::Corrupt { codec: name }), "{flags:#x}");
            }
            for length in 0..header_bytes {
                assert!(decompressed(codec, &other[..length], TEXT.len()).is_err());
            }
        }
    }
}

/// The CRC of RFC 1952, bit by bit.
fn crc_32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(u32::MAX, |crc, &byte| {
        (0..8).fold(crc ^ u32::from(byte), |crc, _| (crc >> 1) ^ (0xEDB8_8320 * (crc & 1)))
    })
}

#[test]
fn checksums_of_the_zlib_family_are_checked() {
    for (name, from_end) in [("gzip", 8), ("gzip", 1), ("zlib", 4), ("zlib", 1)] {
        let mut damaged = body(name, TEXT);
        let at = damaged.len() - from_end;
        damaged[at] ^= 1;
        for reader in CODECS.iter().filter(|reader| reader.info().name.starts_with(name)) {
            let got = decompressed(*reader, &damaged, TEXT.len());
            assert_eq!(got, Err(DecompressError::Corrupt { codec: reader.info().name }));
        }
    }
}

#[test]
fn a_zlib_stream_with_a_preset_dictionary_says_so() {
    // Its header, and the Adler-32 of the dictionary that it was made with.
    let stream = [0x78, 0xBB, 0x12, 0x34, 0x56, 0x78, 3, 0, 0, 0, 0, 1];
    let got = decompressed(codec_named("zlib").unwrap(), &stream, 0);
    assert_eq!(got, Err(DecompressError::NeedsDictionary { codec: "zlib", id: 0x1234_5678 }));
}

#[test]
fn zstd_frames_have_what_is_promised() {
    let standard = body("zstd", TEXT);
    assert_eq!(standard[..4], [0x28, 0xB5, 0x2F, 0xFD]);
    // One segment, content size in one byte, no checksum, no dictionary id.
    assert_eq!(standard[4..6], [0x20, TEXT.len() as u8]);
    let bare = body("zstd-bare", TEXT);
    // No content size, so a window instead; the rest is the same.
    assert_eq!(bare[0], 0);
    assert_eq!(bare.len(), standard.len() - 4);
    let long = samples::json(20_000, 4);
    assert_eq!(body("zstd-bare", &long).len() + 4 + 1, body("zstd", &long).len());
}

#[test]
fn foreign_zstd_frames_are_read() {
    // One raw block, with a checksum that is right and then one that is wrong.
    let mut frame = vec![0x28, 0xB5, 0x2F, 0xFD, 0x24, 3, 0x19, 0, 0, b'a', b'b', b'c'];
    let checksum = xxhash_rust::xxh64::xxh64(b"abc", 0) as u32;
    frame.extend_from_slice(&checksum.to_le_bytes());
    let codec = codec_named("zstd").unwrap();
    assert_eq!(decompressed(codec, &frame, 3).as_deref(), Ok(&b"abc"[..]));
    frame[12] ^= 1;
    assert_eq!(decompressed(codec, &frame, 3), Err(DecompressError::Corrupt { codec: "zstd" }));
    // A skippable frame has no content, so nothing of it is a payload.
    let skippable = [0x50, 0x2A, 0x4D, 0x18, 1, 0, 0, 0, 9];
    assert_eq!(decompressed(codec, &skippable, 0), Err(DecompressError::Corrupt { codec: "zstd" }));
}

#[test]
fn published_examples_are_read() {
    // Made by other programs: cramjam (snappy), the lz4 and Brotli modules and the standard library
    // of Python, and the zstd command.
    let hex = |text: &str| -> Vec<u8> {
        (0..text.len())
            .step_by(2)
            .map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap())
            .collect()
    };
    for (name, example) in EXAMPLES {
        let codec = codec_named(name).unwrap();
        let got = decompressed(codec, &hex(example), EXAMPLE_TEXT.len());
        assert_eq!(got.as_deref(), Ok(EXAMPLE_TEXT), "{name}");
    }
}

const EXAMPLE_TEXT: &[u8] = b"hello hello hello hello";

const EXAMPLES: &[(&str, &str)] = &[
    ("snappy", "171468656c6c6f20420600"),
    ("lz4", "6868656c6c6f2006005068656c6c6f"),
    ("lz4-frame", "04224d187440bd0f0000006868656c6c6f2006005068656c6c6fa90f8a3700000000f26b940b"),
    ("gzip", "1f8b0800000000000203cb48cdc9c957c8402701e3513d8d17000000"),
    ("zlib", "78dacb48cdc9c957c8402701680308b1"),
    ("deflate", "cb48cdc9c957c8402701"),
    ("zstd", "28b52ffd24176500003068656c6c6f200100994b11175eae0d"),
    ("brotli", "1b1600f88d946ede445586966c206f214f1ce038"),
    ("lzma2", "00e00016000b5d00341949ee8de9560ab5e00000"),
    (
        "bzip2",
        "425a683931415926535902f8b0bd000003910040000244a00030cd00548696719b38a3c5dc914e142400be2c\
         2f40",
    ),
];

#[test]
fn lz4_frames_have_what_is_promised() {
    let small = body("lz4-frame", TEXT);
    // One block, which refers to no other; content size, no checksum, no dictionary id.
    assert_eq!(small[..6], [0x04, 0x22, 0x4D, 0x18, 0x68, 0x40]);
    assert_eq!(small[6..14], (TEXT.len() as u64).to_le_bytes());
    assert_eq!(small[small.len() - 4..], [0; 4]);
    // The block is that of the bare form at the same level, where there is only one.
    let medium = samples::json(20_000, 4);
    for level in [-64, -2, -1, 0, 1, 2, 9, 12] {
        let frame = compressed(codec_named("lz4-frame").unwrap(), level, &medium);
        let block = compressed(codec_named("lz4").unwrap(), level, &medium);
        assert_eq!(frame[19..frame.len() - 4], block, "{level}");
    }
    // Linked blocks of 64 KiB find what the block before them had.
    let noise = samples::noise(50_000, 6).repeat(4);
    let long = body("lz4-frame", &noise);
    assert_eq!(long[4..6], [0x48, 0x40]);
    assert!(long.len() < 52_000, "{}", long.len());
    // Nothing has no size, which would be read as an unknown one.
    assert_eq!(body("lz4-frame", b""), b"\x04\x22\x4D\x18\x60\x40\x82\0\0\0\0");
}

#[test]
fn foreign_lz4_frames_are_read() {
    let codec = codec_named("lz4-frame").unwrap();
    let read = |header: &[u8], blocks: &[&[u8]], length| {
        let frame = [&b"\x04\x22\x4D\x18"[..], header, &blocks.concat()].concat();
        decompressed(codec, &frame, length)
    };
    let (raw, end) = (&b"\x05\0\0\x80hello"[..], &[0; 4][..]);
    let hello = Ok(&b"hello"[..]);
    let damaged = Err(DecompressError::Corrupt { codec: "lz4-frame" });
    // Blocks without content, stored and compressed, before and after all that there is.
    for blocks in [
        &[raw, end][..],
        &[b"\0\0\0\x80", raw, end],
        &[raw, b"\0\0\0\x80", end],
        &[b"\x01\0\0\0\0", raw, b"\x01\0\0\0\0", end],
    ] {
        for header in [b"\x60\x40\x82", b"\x40\x40\xC0", b"\x60\x70\x73", b"\x40\x70\xDF"] {
            assert_eq!(read(header, blocks, 5).as_deref(), hello, "{header:x?}");
        }
    }
    // The first is of version 1; the others are of none, or have bits that mean nothing yet.
    for header in [b"\x20\x40\x03", b"\xA0\x40\x0F", b"\x62\x40\xF0", b"\x60\x30\xD4"] {
        assert_eq!(read(header, &[raw, end], 5), damaged, "{header:x?}");
    }
    assert_eq!(read(b"\x60\x40\x83", &[raw, end], 5), damaged, "the header's checksum");
    let sized = |size, check| [&b"\x68\x40"[..], &u64::to_le_bytes(size), &[check]].concat();
    assert_eq!(read(&sized(5, 0x61), &[raw, end], 5).as_deref(), hello);
    assert_eq!(read(&sized(0, 0x05), &[raw, end], 5).as_deref(), hello, "0 is unknown");
    assert_eq!(read(&sized(6, 0x59), &[raw, end], 5), damaged);
    assert_eq!(read(&sized(1 << 62, 0x0A), &[raw, end], 5), damaged);
    // Both checksums, right and wrong.
    let checksum = &b"\xF9\x77\0\xFB"[..];
    let blocks = [raw, checksum, end, checksum];
    assert_eq!(read(b"\x74\x40\xBD", &blocks, 5).as_deref(), hello);
    for wrong in [1, 3] {
        let mut blocks = blocks;
        blocks[wrong] = b"\xF8\x77\0\xFB";
        assert_eq!(read(b"\x74\x40\xBD", &blocks, 5), damaged);
    }
    // A match into the block before is right where blocks are linked.
    let linked = [&b"\x06\0\0\x80hello "[..], b"\x09\0\0\0\x08\x06\0\x50hello", end];
    let got = read(b"\x40\x40\xC0", &linked, 23);
    assert_eq!(got.as_deref(), Ok(&b"hello hello hello hello"[..]));
    assert_eq!(read(b"\x60\x40\x82", &linked, 23), damaged);
    // A dictionary's id, which may be 0 and then names none.
    let needs = Err(DecompressError::NeedsDictionary { codec: "lz4-frame", id: 70_000 });
    assert_eq!(read(b"\x61\x40\x70\x11\x01\0\xF5", &[raw, end], 5), needs);
    assert_eq!(read(b"\x61\x40\0\0\0\0\xA0", &[raw, end], 5).as_deref(), hello);
    // Skippable and legacy frames have other magics.
    for frame in [&b"\x50\x2A\x4D\x18\x01\0\0\0x"[..], b"\x02\x21\x4C\x18\x06\0\0\0\x50hello"] {
        assert_eq!(decompressed(codec, frame, 0), damaged);
        assert_eq!(decompressed(codec, frame, 5), damaged);
    }
}

#[test]
fn lzma2_picks_the_smallest_dictionary() {
    for (length, code) in
        [(0, 0), (4096, 0), (4097, 1), (6144, 1), (6145, 2), (8192, 2), (100_000, 10)]
    {
        assert_eq!(body("lzma2", &vec![b'x'; length])[0], code, "{length} bytes");
    }
    let codec = codec_named("lzma2").unwrap();
    // Level 0 has a dictionary of 256 KiB and goes no further.
    assert_eq!(compressed(codec, 0, &vec![b'x'; 1 << 20])[0], 12);
}

#[test]
fn bzip2_blocks_are_no_larger_than_the_payload_needs() {
    let codec = codec_named("bzip2").unwrap();
    assert_eq!(compressed(codec, 9, TEXT)[..4], *b"BZh1");
    assert_eq!(compressed(codec, 9, &vec![0; 1 << 20])[..4], *b"BZh9");
    assert_eq!(compressed(codec, 3, &vec![0; 1 << 20])[..4], *b"BZh3");
    // A run of four becomes five bytes, and still fits its block: one block magic only.
    for length in [79_900, 80_000, 159_900, 500_000] {
        let runs: Vec<u8> = (0..length).map(|n| (n / 4) as u8).collect();
        let body = compressed(codec, 9, &runs);
        assert_eq!(decompressed(codec, &body, length).as_deref(), Ok(&runs[..]));
    }
}

#[test]
fn what_does_not_shrink_grows_by_little() {
    let noise = samples::noise(100_000, 6);
    for codec in CODECS.iter().filter(|codec| codec.info().name != "bzip2") {
        for level in telling_levels(*codec) {
            let name = codec.info().name;
            let grown = compressed(*codec, level, &noise).len() - noise.len();
            assert!(grown < 420, "{name}:{level} adds {grown} bytes");
        }
    }
}
