//! JSON that breaks JSON libraries: numbers that no double holds, duplicate keys, lone surrogates,
//! nesting of 100,000 levels. Each payload comes back exactly, or with the fidelity that its
//! encoding states, or is refused in words; nothing is ever rounded, merged or lost in silence.

use cinch_integration::{
    ENCODINGS, Envelope, Folder, assert_same_bytes, cinch, evaluate, same_text, same_value, tokens,
};
use serde_json::Value;

const NUMBERS: [&str; 26] = [
    "1e400",
    "-1e400",
    "1e-400",
    "-0",
    "-0.0",
    "0",
    "1.0",
    "12.50",
    "1E5",
    "1e+5",
    "100000000000000000000000",
    "12345678901234567890",
    "123456789012345678901234567890",
    "9007199254740993",
    "9223372036854775807",
    "9223372036854775808",
    "-9223372036854775808",
    "-9223372036854775809",
    "18446744073709551615",
    "18446744073709551616",
    "0.1",
    "0.1234567890123456789",
    "5e-324",
    "1.7976931348623157e308",
    "2.2250738585072011e-308",
    "1e2147483648",
];

/// Values that are hard for other reasons, each with a name.
fn values() -> Vec<(&'static str, String)> {
    let nested = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
    let objects = |depth: usize| "{\"a\":".repeat(depth) + "1" + &"}".repeat(depth);
    let keys: Vec<String> = (0..3_000).map(|n| format!("\"key{n}\":{n}")).collect();
    vec![
        ("duplicate keys", r#"{"a":1,"b":2,"a":3,"a":{"a":4,"a":5}}"#.to_owned()),
        ("a lone high surrogate", r#""\ud800""#.to_owned()),
        ("a lone low surrogate", r#"["\udc00x", "\ud800\ud800"]"#.to_owned()),
        ("a lone surrogate in a key", r#"{"\ud800":1}"#.to_owned()),
        ("a pair of surrogates", r#""\ud83d\ude00 \uD83D\uDE00 😀""#.to_owned()),
        ("escapes", r#""\u0000\u001f\b\f\n\r\t\"\\\/\u00e4ä\u2028\u007f""#.to_owned()),
        ("a NUL in a key", r#"{"\u0000a":1,"":2}"#.to_owned()),
        ("keys that look like numbers", r#"{"0":0,"1":1,"01":2,"-1":3}"#.to_owned()),
        ("keys that look like operators", r#"{"$oid":"x","a.b":1,"$date":2}"#.to_owned()),
        ("words", "[true,false,null]".to_owned()),
        ("nothing", "[{},[],\"\",[[]],{\"\":{}}]".to_owned()),
        ("white space", " [ 1 , { \"a\" : \t2 } ]  ".trim().to_owned()),
        ("many keys", format!("{{{}}}", keys.join(","))),
        ("a long string", format!("\"{}\"", "ä€😀x".repeat(5_000))),
        ("128 levels", nested(128)),
        ("100,000 arrays", nested(100_000)),
        ("100,000 objects", objects(100_000)),
    ]
}

/// Every tricky value inside an object that is large and dull enough to be worth packing.
fn payloads() -> Vec<(String, String)> {
    let padded = |value: &str| format!("{{\"pad\":\"{}\",\"v\":{value}}}", "ab ".repeat(200));
    let numbers = NUMBERS.iter().map(|number| (number.to_string(), padded(number)));
    let array = ("all numbers".to_owned(), padded(&format!("[{}]", NUMBERS.join(", "))));
    let others = values().into_iter().map(|(name, value)| (name.to_owned(), padded(&value)));
    numbers.chain([array]).chain(others).collect()
}

#[test]
fn every_payload_comes_back_with_the_fidelity_of_its_encoding_or_is_packed_verbatim() {
    for encoding in ENCODINGS {
        for (name, payload) in payloads() {
            let what = format!("{name} as {encoding}");
            let payload = payload.as_bytes();
            let packing = cinch(["pack", "--encoding", encoding, "--codec", "zlib:6"]);
            let ran = packing.input(payload).run().code(0);
            if ["flexbuffers", "ion"].contains(&encoding) && ran.out == payload {
                // Offsets or a length before each of 100,000 arrays made it longer than its text,
                // so that it stays plain.
                continue;
            }
            let is_encoded = Envelope::read(&ran.out).encoding.is_some();
            let told = ran.err.contains("packed verbatim: ");
            assert_eq!(is_encoded, encoding != "verbatim" && !told, "{what}: {}", ran.err);
            assert!(told || ran.err.is_empty(), "{what}: {}", ran.err);
            let unpacked = cinch(["unpack"]).input(ran.out).run().quiet().out;
            if !is_encoded || encoding == "columnar" {
                assert_same_bytes(&unpacked, payload, &what);
            } else if encoding.starts_with("json") {
                assert_eq!(same_text(payload, &unpacked), Ok(()), "{what}");
                let count = tokens(&unpacked).len();
                assert!(unpacked.len() <= payload.len() && count > 0, "{what} is not minified");
            } else {
                assert_eq!(same_value(payload, &unpacked), Ok(()), "{what}");
            }
        }
    }
}

#[test]
fn json_text_is_carried_whatever_it_holds() {
    for (name, payload) in payloads() {
        for encoding in ["json", "json-simd"] {
            let packing = cinch(["pack", "--encoding", encoding, "--codec", "zlib:6"]);
            let ran = packing.input(payload.as_bytes()).run().code(0);
            assert_eq!(ran.err, "", "{encoding} refuses nothing that is JSON: {name}");
        }
    }
}

#[test]
fn what_an_encoding_refuses_is_what_it_says_it_refuses() {
    let word_of = |encoding: &str, value: &str| {
        let payload = format!("{{\"pad\":\"{}\",\"v\":{value}}}", "ab ".repeat(200));
        let packing = cinch(["pack", "--encoding", encoding, "--codec", "zlib:6"]);
        packing.input(payload).run().code(0).err
    };
    for (encoding, value, word) in [
        ("msgpack", "1e400", "1e400"),
        ("msgpack", "0.1234567890123456789", "0.1234567890123456789"),
        ("msgpack", "18446744073709551616", "18446744073709551616"),
        ("msgpack", r#""\ud800""#, "surrogate"),
        ("cbor", r#""\ud800""#, "surrogate"),
        ("smile", r#""\ud800""#, "surrogate"),
        ("bson", r#""\ud800""#, "surrogate"),
        ("bson", "18446744073709551615", "18446744073709551615"),
        ("bson", r#"{"\u0000":1}"#, "NUL"),
        ("columnar", "[1 ,2]", "white space"),
    ] {
        let said = word_of(encoding, value);
        assert!(said.contains("packed verbatim") && said.contains(word), "{encoding}: {said}");
    }
    for (encoding, value) in [
        ("msgpack", "18446744073709551615"),
        ("cbor", "1e400"),
        ("cbor", "123456789012345678901234567890"),
        ("smile", "1e400"),
        ("smile", "0.1234567890123456789"),
        ("bson", "9223372036854775807"),
        ("columnar", "1e400"),
        ("columnar", "0.1234567890123456789"),
        ("columnar", r#""\ud800""#),
        ("columnar", r#"{"a":1,"\u0000":2,"a":3}"#),
    ] {
        assert_eq!(word_of(encoding, value), "", "{encoding} can carry {value}");
    }
}

#[test]
fn a_top_that_is_no_object_is_refused_by_bson_only() {
    let payload = format!("[{}]", "\"abc\",".repeat(100) + "1");
    for encoding in ENCODINGS {
        let packing = cinch(["pack", "--encoding", encoding, "--codec", "zlib:6"]);
        let ran = packing.input(payload.as_bytes()).run().code(0);
        assert_eq!(ran.err.contains("not an object"), encoding == "bson", "{}", ran.err);
    }
}

#[test]
fn what_is_no_json_is_packed_verbatim_and_said() {
    for payload in
        ["{\"a\":01}", "{'a':1}", "{\"a\":1,}", "[1] x", "nul", "{\"a\":\"\t\"}", "[NaN]"]
    {
        let payload = format!("{payload}{}", " ".repeat(500));
        let run = cinch(["pack", "--encoding", "json", "--codec", "zlib"]).input(payload.clone());
        let ran = run.run().code(0).says(&["standard input: packed verbatim", "no JSON"]);
        let unpacked = cinch(["unpack"]).input(ran.out).run().quiet().out;
        assert_same_bytes(&unpacked, payload.as_bytes(), &payload[..9]);
    }
}

#[test]
fn nesting_beyond_every_limit_is_refused_in_words_and_comes_back() {
    let payload = "[".repeat(1_000_000) + &"]".repeat(1_000_000);
    for encoding in ENCODINGS {
        let run = cinch(["pack", "--encoding", encoding, "--codec", "zlib"]);
        let ran = run.input(payload.clone()).run().code(0);
        assert_eq!(ran.err.contains("deep"), encoding != "verbatim", "{}", ran.err);
        let unpacked = cinch(["unpack"]).input(ran.out).run().quiet().out;
        assert_same_bytes(&unpacked, payload.as_bytes(), encoding);
    }
}

#[test]
fn an_evaluation_of_all_of_them_has_no_failure_and_states_every_refusal() {
    let folder = Folder::new();
    let lines: Vec<String> = payloads().into_iter().map(|(_, payload)| payload).collect();
    let file = folder.write("torture.ndjson", lines.join("\n"));
    let codecs = "stored,zlib:6,zstd:3";
    let found = evaluate(&[&file, "--encodings", "all", "--codecs", codecs, "--all"]);
    assert_eq!(found["corpus"]["payloads"], lines.len());
    assert_eq!(found["corpus"]["json_payloads"], lines.len());
    let trials = found["trials"].as_array().unwrap();
    assert!(trials.len() >= ENCODINGS.len() * 3);
    for trial in trials {
        let name = &trial["name"];
        assert_eq!(trial["failures"], 0, "{name}: {}", trial["failure"]);
        assert_eq!(trial["failure"], Value::Null, "{name}");
        let refused = trial["refused"].as_u64().unwrap();
        let is_exact = ["verbatim", "json", "json-simd"].iter().any(|e| trial["encoding"] == *e);
        // Columns refuse odd white space, and a schema what it was not inferred from; the payloads
        // held out may have neither.
        let may_refuse = ["columnar", "avro", "protobuf", "thrift-binary", "thrift-compact"];
        let may_refuse = may_refuse.iter().any(|encoding| trial["encoding"] == *encoding);
        assert!(may_refuse || (refused == 0) == is_exact, "{name} refuses {refused}");
        assert_eq!(trial["refusal"].is_string(), refused > 0, "{name}");
        if refused > 0 {
            let refusal = trial["refusal"].as_str().unwrap();
            assert!(refusal.contains("torture.ndjson:"), "{name}: {refusal}");
            let rule = trial["eliminated_by"].as_str().unwrap_or_default();
            assert!(rule.starts_with("refused: "), "{name}: {rule:?}");
        }
    }
    let fidelity = found["recommended"]["fidelity"].as_str().unwrap();
    assert!(["bytes", "value+text"].contains(&fidelity), "{fidelity}");
}

#[test]
fn an_estimate_of_all_of_them_has_no_failure() {
    let folder = Folder::new();
    let lines: Vec<String> = payloads().into_iter().map(|(_, payload)| payload).collect();
    let file = folder.write("torture.ndjson", lines.join("\n"));
    for encoding in ENCODINGS {
        let run = cinch(["estimate", &file, "--encoding", encoding, "--json", "-"]);
        let found = run.run().quiet().json();
        assert_eq!(found["failures"], 0, "{encoding}: {}", found["failure"]);
        assert_eq!(found["payloads"], lines.len());
        let is_exact = ["verbatim", "json", "json-simd"].contains(&encoding);
        assert_eq!(found["not_encoded"] == 0, is_exact, "{encoding}: {}", found["not_encoded"]);
    }
}
