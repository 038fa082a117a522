//! Every layout that JSON and lines come in.
//!
//! The bytes of a payload are the value's own, and its line is the one that it starts on.

use super::*;

#[test]
fn one_value_per_line() {
    let (payloads, problems) = json_of("{\"a\":1}\n\n  {\"b\" : 2}  \r\n[3]\n\"x\"\nnull");
    assert_eq!(payloads, ["1: {\"a\":1}", "3: {\"b\" : 2}", "4: [3]", "5: \"x\"", "6: null"]);
    assert!(problems.is_empty());
}

#[test]
fn values_glued_together() {
    let (payloads, problems) = json_of("{}{}[]1 2\"x\"");
    assert_eq!(payloads, ["1: {}", "1: {}", "1: []", "1: 1", "1: 2", "1: \"x\""]);
    assert!(problems.is_empty());
}

#[test]
fn pretty_printed_values() {
    let text = "{\n  \"a\": [\n    1\n  ]\n}\n{\n  \"a\": 2\n}\n[\n{\n}\n] 7\n8";
    let (payloads, problems) = json_of(text);
    let expected = [
        "1: {\n  \"a\": [\n    1\n  ]\n}",
        "6: {\n  \"a\": 2\n}",
        "9: [\n{\n}\n]",
        "12: 7",
        "13: 8",
    ];
    assert_eq!(payloads, expected);
    assert!(problems.is_empty());
}

#[test]
fn record_separators() {
    let (payloads, problems) = json_of("\x1e{\"a\":1}\n\x1e{\n\"b\":2}\n\x1e\x1e3\n\x1e[4]\x1e5");
    assert_eq!(payloads, ["1: {\"a\":1}", "2: {\n\"b\":2}", "4: 3", "5: [4]", "5: 5"]);
    assert!(problems.is_empty());
    let (payloads, problems) = json_of("\x1e{\"a\":1}\n\x1e{\"b\":\x1e{\"c\":3}\n\x1e4");
    assert_eq!(payloads, ["1: {\"a\":1}", "2: {\"c\":3}", "3: 4"]);
    assert_eq!(problems, [2]);
}

#[test]
fn order_and_duplicate_keys_are_kept() {
    let text = "{\"b\":1,\"a\":1.0,\"b\":-0,\"s\":\"\\u00e9\\ud800\"}\n";
    assert_eq!(json_of(text).0, [format!("1: {}", text.trim_end())]);
}

#[test]
fn an_array_is_one_payload_unless_it_is_split() {
    let text = "[{\"a\":[1]}, 2,\n \"x,]\" ,[],\n{\n}]\n[]\n[5]6";
    let (payloads, problems) = json_of(text);
    assert_eq!(payloads, ["1: [{\"a\":[1]}, 2,\n \"x,]\" ,[],\n{\n}]", "5: []", "6: [5]", "6: 6"]);
    assert!(problems.is_empty());
    let (payloads, problems) =
        outcome(text.as_bytes(), &ReadOptions { split: true, ..json_options() });
    let expected = ["1: {\"a\":[1]}", "1: 2", "2: \"x,]\"", "2: []", "3: {\n}", "6: 5", "6: 6"];
    assert_eq!(payloads, expected);
    assert!(problems.is_empty());
}

#[test]
fn marks_at_the_start() {
    let (payloads, problems) = json_of("\u{FEFF}{\"a\":1}\n");
    assert_eq!(payloads, ["1: {\"a\":1}"]);
    assert!(problems.is_empty());
    for mark in [b"\xFF\xFE{\0}\0", b"\xFE\xFF\0{\0}"] {
        for format in [Format::Auto, Format::Json, Format::Lines] {
            let options = ReadOptions { format, ..ReadOptions::default() };
            let error = read_with(mark, &options).unwrap_err().to_string();
            assert!(error.contains("UTF-16"), "{error}");
        }
    }
}

#[test]
fn lines() {
    let options = ReadOptions { format: Format::Lines, ..ReadOptions::default() };
    let text = b"one\r\n\n  two \n{\"a\":1}\n{bad\n12\n\xFF\x00\nlast\r";
    let corpus = read_with(text, &options).unwrap();
    let expected =
        ["1: one", "3:   two ", "4: {\"a\":1}", "5: {bad", "6: 12", "7: \u{FFFD}\0", "8: last"];
    assert_eq!(listed(&corpus), expected);
    let json: Vec<bool> = corpus.payloads.iter().map(|payload| payload.is_json).collect();
    assert_eq!(json, [false, false, true, false, false, false, false]);
    assert_eq!(corpus.problems.count, 0);
}

#[test]
fn binary() {
    let options = ReadOptions { format: Format::Binary, ..ReadOptions::default() };
    let corpus = read_with(b"\x1F\x8B\0\n\n", &options).unwrap();
    assert_eq!(&*corpus.payloads[0].bytes, b"\x1F\x8B\0\n\n");
    assert!(!corpus.payloads[0].is_json);
    assert_eq!(corpus.describe(0), "-");
    let error = read_with(b"", &options).unwrap_err().to_string();
    assert!(error.contains("-: empty"), "{error}");
}

#[test]
fn the_format_is_guessed_from_the_content() {
    let long_array = format!("[{}1]", "1,\n".repeat(100_000));
    let long_text = "é, ".repeat(40_000);
    let cases: [(&[u8], usize, bool, u64); 10] = [
        (b"{\"a\":1}\n{\"a\":", 1, true, 1),
        (b"\n \n[1]\n", 1, true, 3),
        (b"{\n\"a\":1\n}\n{}", 2, true, 1),
        (b"12\n13\n", 2, true, 1),
        (long_array.as_bytes(), 1, true, 1),
        (b"12 monkeys\n{}\n", 2, false, 1),
        (b"[info] started\n", 1, false, 1),
        (b"true story\n", 1, false, 1),
        (long_text.as_bytes(), 1, false, 1),
        (b"\x00\x01\n\x02", 1, false, 0),
    ];
    for (text, count, is_json, line) in cases {
        let corpus = read_with(text, &ReadOptions::default()).unwrap();
        let name = String::from_utf8_lossy(&text[..text.len().min(20)]);
        assert_eq!(corpus.payloads.len(), count, "{name}");
        assert_eq!(corpus.payloads[0].is_json, is_json, "{name}");
        assert_eq!(corpus.payloads[0].origin.line, line, "{name}");
    }
}
