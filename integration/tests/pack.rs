//! `cinch pack | cinch unpack` gives every input back, whatever it is and whatever packs it; and
//! what is in between is the envelope of the specification.
//!
//! Files, overwriting and damage are in `files.rs`.

use std::io::Read;

use cinch_integration::{
    CODECS, ENCODINGS, Envelope, Folder, assert_same_bytes, carts, cinch, noise, python, records,
    same_text, same_value,
};

/// Packs with these options, from a pipe to a pipe.
fn pack(options: &[&str], payload: &[u8]) -> Vec<u8> {
    cinch(["pack"]).and(options).input(payload).run().quiet().out
}

fn unpack(packed: &[u8]) -> Vec<u8> {
    cinch(["unpack"]).input(packed).run().quiet().out
}

fn cart() -> Vec<u8> {
    let lines = carts(20);
    lines.split(|&byte| byte == b'\n').max_by_key(|line| line.len()).unwrap_or_default().to_vec()
}

/// Payloads of every kind that has a path of its own through the packer.
fn payloads() -> Vec<(&'static str, Vec<u8>)> {
    let cart = cart();
    let envelope = pack(&[], &cart);
    vec![
        ("nothing", Vec::new()),
        ("one byte", vec![0xC1]),
        ("the magic alone", vec![0xC1, 0x9E]),
        ("a look-alike", [&[0xC1, 0x9E, 0x80, 0x80][..], &[7; 200]].concat()),
        ("the magic, but no envelope", [&[0xC1, 0x9E, 0x00][..], &[7; 200]].concat()),
        ("a cut envelope", envelope[..9].to_vec()),
        ("an envelope", envelope),
        ("an interop file", cinch(["pack", "--interop"]).input(cart.clone()).run().quiet().out),
        ("JSON", cart),
        ("text with a final newline", b"hello, hello, hello\n".repeat(30)),
        ("a number", b"12.50".to_vec()),
        ("noise", noise(10_000)),
        ("zeros", vec![0; 100_000]),
        ("gzip", [&[0x1F, 0x8B, 0x08][..], &[0; 300]].concat()),
    ]
}

#[test]
fn every_payload_comes_back_over_pipes() {
    for (name, payload) in payloads() {
        let packed = pack(&[], &payload);
        assert_same_bytes(&unpack(&packed), &payload, name);
    }
}

#[test]
fn every_payload_comes_back_over_files() {
    for (name, payload) in payloads() {
        let folder = Folder::new();
        let file = folder.write("payload", &payload);
        cinch(["pack", &file]).run().quiet();
        assert_eq!(folder.names(), ["payload", "payload.cinch"], "{name}");
        std::fs::remove_file(&file).unwrap();
        cinch(["unpack", &folder.at("payload.cinch")]).run().quiet();
        assert_same_bytes(&folder.read("payload"), &payload, name);
    }
}

#[test]
fn what_is_packed_can_be_packed_again() {
    let cart = cart();
    let twice = pack(&[], &pack(&[], &cart));
    assert_same_bytes(&unpack(&unpack(&twice)), &cart, "packed twice");
}

#[test]
fn five_megabytes_come_back_from_a_pipe() {
    let payload = carts(3_000);
    assert!(payload.len() > 5_000_000 / 2, "{} bytes", payload.len());
    let payload = payload.repeat(5_000_000 / payload.len() + 1);
    let packed = pack(&["--codec", "zstd:1"], &payload);
    assert!(packed.len() < payload.len() / 2);
    assert_same_bytes(&unpack(&packed), &payload, "5 MB");
}

#[test]
fn every_codec_packs_and_unpacks() {
    for codec in CODECS {
        for payload in [cart(), noise(5_000), vec![b'a'; 5_000], Vec::new()] {
            let packed = pack(&["--codec", codec], &payload);
            assert_same_bytes(&unpack(&packed), &payload, codec);
        }
        let cart = cart();
        let packed = pack(&["--codec", codec], &cart);
        if codec == "stored" {
            assert_same_bytes(&packed, &cart, "what does not shrink");
        } else {
            assert!(packed.len() < cart.len() * 3 / 4, "{codec} stores {}", packed.len());
        }
    }
}

#[test]
fn every_end_of_every_codecs_levels_packs() {
    let levels = ["lz4:-64,12", "gzip:1,9", "zlib-libdeflate:1,12", "zstd:-50,22", "brotli:0,11"];
    let cart = cart();
    for text in levels.iter().chain(&["lzma2:0,9", "bzip2:1,9", "deflate:1,9"]) {
        let (codec, ends) = text.split_once(':').unwrap();
        for level in ends.split(',') {
            let choice = format!("{codec}:{level}");
            let packed = pack(&["--codec", &choice], &cart);
            assert_same_bytes(&unpack(&packed), &cart, &choice);
        }
    }
}

#[test]
fn the_published_names_of_codecs_are_understood() {
    let pairs = [
        ("SNAPPY", "snappy"),
        ("LZ4_FAST", "lz4:1"),
        ("LZ_FAST", "lz4:fast"),
        ("LZ4_HIGH", "lz4:9"),
        ("GZIP", "gzip:6"),
        ("NO", "stored"),
    ];
    let cart = cart();
    for (published, ours) in pairs {
        let packed = pack(&["--codec", published], &cart);
        assert_same_bytes(&packed, &pack(&["--codec", ours], &cart), published);
        assert_same_bytes(&unpack(&packed), &cart, published);
    }
    assert_ne!(pack(&["--codec", "LZ4_HIGH"], &cart), pack(&["--codec", "LZ4_FAST"], &cart));
}

#[test]
fn every_encoding_packs_and_unpacks_with_its_fidelity() {
    let cart = cart();
    for encoding in ENCODINGS {
        let packed = pack(&["--encoding", encoding, "--codec", "zlib:6"], &cart);
        let unpacked = unpack(&packed);
        match encoding {
            "verbatim" | "columnar" => assert_same_bytes(&unpacked, &cart, encoding),
            "json" | "json-simd" => assert_eq!(same_text(&cart, &unpacked), Ok(()), "{encoding}"),
            _ => assert_eq!(same_value(&cart, &unpacked), Ok(()), "{encoding}"),
        }
        let header = Envelope::read(&packed);
        assert_eq!(header.encoding.is_none(), encoding == "verbatim", "{encoding}");
        header.is_of(&unpacked);
    }
}

#[test]
fn the_envelope_is_that_of_the_specification() {
    let cart = cart();
    let packed = pack(&["--codec", "zlib:6"], &cart);
    let header = Envelope::read(&packed);
    header.is_of(&cart);
    assert!(header.header_bytes <= 16, "{} bytes", header.header_bytes);
    assert_eq!((header.encoding, header.dictionary), (None, None));
    // 0x14 is the zlib format of RFC 1950, which any zlib reads.
    assert_eq!(header.codec, 0x14);
    let mut body = Vec::new();
    flate2::read::ZlibDecoder::new(header.body).read_to_end(&mut body).unwrap();
    assert_same_bytes(&body, &cart, "the body");
}

#[test]
fn a_look_alike_is_wrapped_uncompressed() {
    let payload = [&[0xC1, 0x9E, 0x80, 0x80][..], &[7; 200]].concat();
    let packed = pack(&[], &payload);
    let header = Envelope::read(&packed);
    header.is_of(&payload);
    assert_eq!((header.codec, header.body), (0x10, payload.as_slice()));
}

#[test]
fn records_keep_every_line() {
    let text = carts(200);
    let packed = pack(&["--records"], &text);
    assert!(packed.len() < text.len());
    let lines: Vec<&[u8]> = text.strip_suffix(b"\n").unwrap().split(|&b| b == b'\n').collect();
    let found = records(&packed);
    assert_eq!(found.len(), lines.len());
    for (record, line) in found.iter().zip(&lines) {
        if record.starts_with(&[0xC1, 0x9E]) {
            Envelope::read(record).is_of(line);
        } else {
            assert_eq!(record, line, "a plain record is the line itself");
        }
    }
    let unpacked = cinch(["unpack", "--records"]).input(packed).run().quiet().out;
    assert_same_bytes(&unpacked, &text, "lines");
}

#[test]
fn records_keep_empty_lines_carriage_returns_and_need_no_final_newline() {
    for text in ["\n", "\n\na\n\n", "a\r\nb\r\n", "a\nb", "", "a\0b\n\u{fffd}\n"] {
        let packed = pack(&["--records"], text.as_bytes());
        let unpacked = cinch(["unpack", "--records"]).input(packed).run().quiet().out;
        let whole = if text.is_empty() || text.ends_with('\n') {
            text.to_owned()
        } else {
            format!("{text}\n")
        };
        assert_eq!(String::from_utf8(unpacked).unwrap(), whole, "{text:?}");
    }
}

#[test]
fn the_interop_form_is_read_by_the_packages_of_others() {
    let folder = Folder::new();
    for (reader, codec) in
        [("zstd", "zstd:5"), ("zstd", "zstd:-5"), ("lz4", "lz4:1"), ("lz4", "lz4:high")]
    {
        for payload in [cart(), Vec::new(), noise(3_000), vec![b'a'; 300_000]] {
            let packed = pack(&["--interop", "--codec", codec], &payload);
            let file = folder.write("interop", &packed);
            let (hex, _) = python("read_frames.py").and(&[reader, &file]).run("");
            let theirs: String = payload.iter().map(|byte| format!("{byte:02x}")).collect();
            assert!(hex.trim_end() == theirs, "{codec}, {} bytes", payload.len());
            assert_same_bytes(&unpack(&packed), &payload, codec);
        }
    }
}

#[test]
fn the_interop_form_refuses_what_stock_programs_could_not_read() {
    for options in [["--codec", "snappy"], ["--encoding", "msgpack"]] {
        let run = cinch(["pack", "--interop"]).and(options).input("{}");
        run.run().refused(2, &["--interop", "zstd", "verbatim"]);
    }
}

#[test]
fn plain_values_pass_through_unpack() {
    for payload in [&b""[..], b"{}", b"\xC1", b"not packed at all"] {
        assert_eq!(unpack(payload), payload);
    }
}
