//! `cinch inspect` says what a header says, and of what is damaged or newer, what it is, in the
//! codes that every language shares. It never needs the body.
//!
//! The headers of unknown things are made here by hand, from the specification.

use cinch_integration::{Envelope, Folder, carts, cinch, noise};
use serde_json::Value;
use xxhash_rust::xxh64::xxh64;

fn inspect(bytes: &[u8]) -> (Option<i32>, Value) {
    let ran = cinch(["inspect", "--json"]).input(bytes).run();
    assert_eq!(ran.text().lines().count(), 1);
    (ran.code, ran.json())
}

/// A header of these bytes between the length and the check byte.
fn header(version_and_flags: u8, rest: &[u8]) -> Vec<u8> {
    let length = 0x80 | (4 + rest.len() + 1) as u8;
    let mut bytes = [&[0xC1, 0x9E, 0x80 | version_and_flags, length], rest].concat();
    bytes.push(xxh64(&bytes, 0) as u8);
    bytes
}

#[test]
fn it_says_what_the_header_says() {
    let folder = Folder::new();
    let cart = carts(1);
    let options = ["pack", "--encoding", "msgpack", "--codec", "zlib:9"];
    let packed = cinch(options).input(cart.clone()).run().quiet().out;
    let file = folder.write("cart.cinch", &packed);
    let found = cinch(["inspect", "--json", &file]).run().quiet().json();
    assert_eq!(found["name"], file.as_str());
    assert_eq!(found["form"], "envelope");
    assert_eq!(found["bytes"], packed.len());
    let header = &found["header"];
    let expected = Envelope::read(&packed);
    assert_eq!(header["version"], 1);
    assert_eq!(header["codec_id"], expected.codec);
    assert_eq!(header["encoding"], "msgpack");
    assert_eq!(header["encoding_id"], expected.encoding.unwrap());
    assert_eq!(header["payload_bytes"], expected.payload_bytes);
    assert_eq!(header["header_bytes"], expected.header_bytes);
    assert_eq!(header["body_bytes"], expected.body.len());
    assert_eq!(header["checksum"], format!("{:#010x}", expected.checksum.unwrap()));
    assert_eq!(header["dictionary"], Value::Null);
    assert_eq!(header["fields"], Value::Array(Vec::new()));
    assert_eq!(found["error"], Value::Null);
    let text = cinch(["inspect", &file]).run().quiet();
    for word in ["msgpack", "zlib", "0x14", "cart.cinch", header["checksum"].as_str().unwrap()] {
        assert!(text.text().contains(word), "{word} in {}", text.text());
    }
}

#[test]
fn it_tells_plain_values_and_the_interop_form_apart() {
    assert_eq!(inspect(b"{}").1["form"], "plain");
    assert_eq!(inspect(b"").1["form"], "plain");
    assert_eq!(inspect(b"").0, Some(0));
    let packed = cinch(["pack", "--interop"]).input(carts(1)).run().quiet().out;
    let (code, found) = inspect(&packed);
    assert_eq!((code, &found["form"]), (Some(0), &Value::from("interop")));
    assert_eq!(found["header"]["codec"], "zstd");
}

#[test]
fn it_shows_every_record() {
    let packed = cinch(["pack", "--records"]).input(carts(7)).run().quiet().out;
    let ran = cinch(["inspect", "--records", "--json"]).input(packed).run().quiet();
    let lines: Vec<Value> =
        ran.text().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 7);
    assert_eq!(lines[6]["name"], "standard input: record 7");
}

#[test]
fn the_dictionary_is_named_and_needs_not_be_there() {
    let folder = Folder::new();
    let dictionary = folder.write("carts.dict", carts(30));
    let run = cinch(["pack", "--dictionary", &dictionary]).input(carts(1)).run();
    let (code, found) = inspect(&run.quiet().out);
    assert_eq!(code, Some(0));
    let id = found["header"]["dictionary"].as_str().unwrap();
    assert!(id.starts_with("0x") && id.len() == 10, "{id}");
}

#[test]
fn damage_has_its_code_and_an_exit_status_of_its_own() {
    let packed = cinch(["pack"]).input(carts(2)).run().quiet().out;
    let mut flipped = packed.clone();
    flipped[5] ^= 1;
    for (name, bytes) in [
        ("cut", &packed[..5]),
        ("flipped", &flipped),
        ("magic", b"\xC1\x9E"),
        ("look-alike", b"\xC1\x9E\x80\x80 and more"),
    ] {
        let (code, found) = inspect(bytes);
        assert_eq!((code, &found["error"]), (Some(3), &Value::from("damaged")), "{name}");
        assert!(found["message"].as_str().is_some_and(|message| !message.is_empty()), "{name}");
        assert_eq!(found["header"], Value::Null, "{name}");
    }
}

#[test]
fn what_is_newer_is_told_from_what_is_damaged() {
    let newer = header(2 << 4, &[1, 2, 3, 4]);
    assert_eq!(inspect(&newer).1["error"], "unsupported-version");
    let field = header(1 << 4 | 4, &[0x10, 0, 3, 0x90, 1, 7]);
    assert_eq!(inspect(&field).1["error"], "unknown-field");
    let cases = [(newer, "version 2"), (field, "0x90"), (header(1 << 4, &[0x7F, 0]), "0x7f")];
    for (bytes, word) in cases {
        cinch(["unpack"]).input(bytes).run().refused(1, &[word, "upgrade"]);
    }
    let encoding = header(1 << 4 | 8, &[0x10, 0x7E, 0]);
    cinch(["unpack"]).input(encoding).run().refused(1, &["0x7e", "upgrade"]);
}

#[test]
fn a_field_that_need_not_be_understood_is_shown_and_skipped() {
    let mut packed = header(1 << 4 | 4, &[0x10, 2, 5, 4, 3, b'm', b'e', b'!']);
    packed.extend_from_slice(b"ok");
    let (code, found) = inspect(&packed);
    assert_eq!(code, Some(0), "{found}");
    assert_eq!(found["header"]["fields"][0]["kind"], 4);
    assert_eq!(found["header"]["fields"][0]["hex"], "6d6521");
    assert_eq!(cinch(["unpack"]).input(packed).run().quiet().out, b"ok");
}

#[test]
fn codecs_and_encodings_that_are_not_known_are_shown_by_their_ids() {
    let (code, found) = inspect(&header(1 << 4 | 8, &[0x7F, 0x7E, 0]));
    assert_eq!(code, Some(0), "the header itself is sound");
    assert_eq!(found["header"]["codec_id"], 0x7F);
    assert_eq!(found["header"]["encoding_id"], 0x7E);
    assert_eq!(found["header"]["codec"], "unknown");
}

#[test]
fn noise_is_plain_and_several_files_are_shown_in_turn() {
    let folder = Folder::new();
    let files = [folder.write("a", noise(100)), folder.write("b", "{}")];
    let ran = cinch(["inspect", "--json"]).and(&files).run().quiet();
    let names: Vec<Value> = ran
        .text()
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["name"].clone())
        .collect();
    assert_eq!(names, files);
}
