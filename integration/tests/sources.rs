//! What `cinch evaluate` takes for payloads: every layout and packing of JSON, lines, and binary
//! files, from files, folders and pipes.
//!
//! How many payloads there are and of how many bytes is compared with what was written. Damaged
//! sources are in `damage.rs`.

use std::io::Write;

use cinch_integration::{Folder, carts, cinch, evaluate, noise};
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::Value;

/// The cheapest evaluation there is, of these sources.
fn corpus(arguments: &[&str]) -> Value {
    let cheap = ["--encodings", "verbatim", "--codecs", "snappy"];
    evaluate(&[arguments, &cheap].concat())["corpus"].take()
}

/// The number of payloads, and their bytes.
fn counted(arguments: &[&str]) -> (u64, u64) {
    let corpus = corpus(arguments);
    assert_eq!(corpus["problems"]["count"], 0, "{corpus}");
    (corpus["payloads"].as_u64().unwrap(), corpus["bytes"].as_u64().unwrap())
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::new(6));
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn zstd(bytes: &[u8]) -> Vec<u8> {
    zstd::stream::encode_all(bytes, 3).unwrap()
}

/// Ten carts, one a line, and what they count.
fn ten() -> (Vec<u8>, (u64, u64)) {
    let text = carts(10);
    let expected = (10, text.len() as u64 - 10);
    (text, expected)
}

#[test]
fn json_is_read_in_every_layout() {
    let folder = Folder::new();
    let (text, expected) = ten();
    let lines = String::from_utf8(text.clone()).unwrap();
    let glued = lines.replace('\n', "");
    let spaced = lines.replace('\n', "\n\n \t");
    let sequence: String = lines.lines().map(|line| format!("\x1e{line}\n")).collect();
    let windows = format!("\u{feff}{}", lines.replace('\n', "\r\n"));
    for (name, text) in [
        ("lines.ndjson", &lines),
        ("lines.jsonl", &lines),
        ("lines.json", &lines),
        ("unknown.dat", &lines),
        ("glued.json", &glued),
        ("spaced.json", &spaced),
        ("sequence.json", &sequence),
        ("windows.json", &windows),
        ("open-end.json", &lines.trim_end().to_owned()),
    ] {
        let file = folder.write(name, text);
        assert_eq!(counted(&[&file]), expected, "{name}");
    }
}

#[test]
fn pretty_printed_documents_are_one_payload_each() {
    let folder = Folder::new();
    let (text, _) = ten();
    let mut pretty = String::new();
    for line in std::str::from_utf8(&text).unwrap().lines() {
        let value: Value = serde_json::from_str(line).unwrap();
        pretty.push_str(&serde_json::to_string_pretty(&value).unwrap());
        pretty.push('\n');
    }
    let file = folder.write("pretty.json", &pretty);
    assert_eq!(counted(&[&file]), (10, pretty.len() as u64 - 10));
}

#[test]
fn an_array_is_one_payload_or_with_split_its_elements() {
    let folder = Folder::new();
    let (text, (count, bytes)) = ten();
    let lines = String::from_utf8(text).unwrap();
    let array = format!("[{}]", lines.trim_end().replace('\n', ",\n  "));
    let file = folder.write("array.json", &array);
    assert_eq!(counted(&[&file]), (1, array.len() as u64));
    assert_eq!(counted(&[&file, "--split"]), (count, bytes));
}

#[test]
fn a_member_is_picked_by_its_path() {
    let folder = Folder::new();
    let text = "{\"a\":{\"b\":{\"c\":[1,2,3]}},\"x\":1}\n{\"a\":{\"b\":{\"c\":{\"d\": 4}}}}\n";
    let file = folder.write("nested.ndjson", text);
    assert_eq!(counted(&[&file, "--field", "a.b.c"]), (2, 7 + 8));
    assert_eq!(counted(&[&file, "--field", "a"]), (2, 19 + 20));
    let missing = cinch(["evaluate", &file, "--field", "a.z"]).run();
    missing.code(1).says(&["nested.ndjson:1", "a.z"]);
}

#[test]
fn json_inside_a_string_member_is_the_payload() {
    let folder = Folder::new();
    let file = folder.write("rows.ndjson", r#"{"id":7,"body":"{\"a\": \"\u00e4\"}"}"#);
    assert_eq!(counted(&[&file, "--field", "body"]), (1, "{\"a\": \"ä\"}".len() as u64));
}

#[test]
fn packed_files_are_unpacked_whatever_their_name() {
    let folder = Folder::new();
    let (text, expected) = ten();
    let (first, second) = text.split_at(text.len() / 2);
    let members = [gzip(first), gzip(second)].concat();
    let frames = [zstd(first), zstd(second)].concat();
    for (name, bytes) in [
        ("carts.json.gz", gzip(&text)),
        ("carts.ndjson.zst", zstd(&text)),
        ("carts.ndjson", gzip(&text)),
        ("members.ndjson.gz", members),
        ("frames.ndjson.zst", frames),
        ("carts.gz", gzip(&text)),
    ] {
        let file = folder.write(name, bytes);
        assert_eq!(counted(&[&file]), expected, "{name}");
    }
}

#[test]
fn a_pipe_is_read_plain_or_packed() {
    let (text, (count, bytes)) = ten();
    for input in [text.clone(), gzip(&text), zstd(&text)] {
        let run = cinch(["evaluate", "-", "--codecs", "snappy", "--encodings", "verbatim"])
            .and(["--time", "1s", "--json", "-"]);
        let found = run.input(input).run().quiet().json();
        assert_eq!(found["corpus"]["payloads"], count);
        assert_eq!(found["corpus"]["bytes"], bytes);
    }
}

#[test]
fn a_folder_is_read_whole_and_what_is_no_payload_is_listed() {
    let folder = Folder::new();
    let (text, (count, bytes)) = ten();
    folder.write("a/carts.ndjson", &text);
    folder.write("a/b/carts.json.gz", gzip(&text));
    folder.write("c.log", "one line\nanother line\n");
    folder.write("picture.png", noise(100));
    folder.write(".hidden.json", "{}");
    let corpus = corpus(&[folder.path().to_str().unwrap()]);
    assert_eq!(corpus["payloads"], 2 * count + 2);
    assert_eq!(corpus["bytes"], 2 * bytes + 8 + 12);
    assert_eq!(corpus["skipped_files"], Value::from(vec![folder.at("picture.png")]));
}

#[test]
fn several_sources_are_one_corpus() {
    let folder = Folder::new();
    let (text, (count, bytes)) = ten();
    let files = [folder.write("a.ndjson", &text), folder.write("b.ndjson", &text)];
    let corpus = corpus(&[&files[0], &files[1]]);
    assert_eq!(corpus["payloads"], 2 * count);
    assert_eq!(corpus["bytes"], 2 * bytes);
    assert_eq!(corpus["duplicates"], count, "each cart is there twice");
}

#[test]
fn a_folder_of_binary_files_is_a_payload_a_file() {
    let folder = Folder::new();
    for index in 0..5u8 {
        folder.write(
            &format!("{index}.bin"),
            [noise(50 + usize::from(index)), vec![index; 200]].concat(),
        );
    }
    let corpus = corpus(&[folder.path().to_str().unwrap()]);
    assert_eq!(corpus["payloads"], 5);
    assert_eq!(corpus["json_payloads"], 0);
    assert_eq!(corpus["bytes"], 5 * 250 + 10);
}

#[test]
fn log_lines_are_payloads_whatever_their_bytes() {
    let folder = Folder::new();
    let mut log = b"2026-11-21 GET /cart 200 17ms\n\n{\"level\":\"info\"}\n".to_vec();
    log.extend_from_slice(b"caf\xE9 latin-1\nlast line without end");
    let file = folder.write("service.log", &log);
    let corpus = corpus(&[&file]);
    assert_eq!(corpus["payloads"], 4);
    assert_eq!(corpus["json_payloads"], 1);
    assert_eq!(corpus["bytes"], 29 + 16 + 12 + 21);
    assert_eq!(corpus["problems"]["count"], 0);
}

#[test]
fn the_format_can_be_said() {
    let folder = Folder::new();
    let (text, expected) = ten();
    let file = folder.write("carts.ndjson", &text);
    assert_eq!(counted(&[&file, "--format", "lines"]), expected);
    assert_eq!(counted(&[&file, "--format", "binary"]), (1, text.len() as u64));
    let log = folder.write("carts.log", &text);
    assert_eq!(counted(&[&log, "--format", "json"]), expected);
}

#[test]
fn a_sample_is_fair_and_says_of_how_many_it_is() {
    let folder = Folder::new();
    let file = folder.write("carts.ndjson", carts(300));
    let corpus = corpus(&[&file, "--sample", "40"]);
    assert_eq!(corpus["payloads"], 40);
    assert_eq!(corpus["seen"], 300);
    assert!(corpus["seen_bytes"].as_u64() > corpus["bytes"].as_u64());
}
