//! Sampling a Redis that really runs: what is taken is fair and whole, and nothing is written.
//!
//! The pace is switched off but where it is looked at, so that no test takes longer than it must.

use std::io::Write;

use cinch_integration::{Folder, Redis, cinch, closed_port};
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::Value;

/// The reading rights that the documentation asks for, and nothing else.
const READER: [&str; 5] = ["acl", "setuser", "reader", "on", ">secret"];

fn set(key: &str, value: impl Into<Vec<u8>>) -> Vec<Vec<u8>> {
    vec![b"SET".to_vec(), key.as_bytes().to_vec(), value.into()]
}

fn words(words: &[&str]) -> Vec<Vec<u8>> {
    words.iter().map(|word| word.as_bytes().to_vec()).collect()
}

/// A JSON document of about this many bytes that says its number.
fn document(number: usize, bytes: usize) -> String {
    format!(r#"{{"number":{number},"text":"{}"}}"#, "x".repeat(bytes))
}

fn gzipped(payload: &str) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(payload.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

/// The numbers of the documents in a sample, sorted.
fn numbers(lines: &[u8]) -> Vec<u64> {
    let lines = lines.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
    let number = |line: &[u8]| {
        let value: Value = serde_json::from_slice(line).expect("each line is a document");
        value["number"].as_u64().expect("each document has its number")
    };
    let mut numbers: Vec<u64> = lines.map(number).collect();
    numbers.sort_unstable();
    numbers
}

fn sample(arguments: &[&str]) -> cinch_integration::Cinch {
    cinch(["sample"]).and(arguments).and(["--read-rate", "0", "-o", "-"])
}

/// Three of four documents are small. The bounds are six standard deviations of a fair draw.
#[test]
fn the_sample_of_many_keys_is_fair() {
    let redis = Redis::start();
    let size = |number: usize| if number.is_multiple_of(4) { 2_000 } else { 100 };
    redis.fill((0..20_000).map(|n| set(&format!("cart:{n}"), document(n, size(n)))));
    let listed = sample(&[&redis.address(), "--match", "cart:*", "--count", "1000"]).run();
    // Without a pattern, and with keys enough, the server is asked for random ones.
    let random = sample(&[&redis.address(), "--count", "1000"]).run();
    for ran in [listed, random] {
        let ran = ran.code(0).says(&["20,000 stored", "1,000 kept", "up to 1 KiB", "1 to 4 KiB"]);
        let mut found = numbers(&ran.out);
        assert_eq!(found.len(), 1_000);
        let large = found.iter().filter(|number| number.is_multiple_of(4)).count();
        assert!(large.abs_diff(250) < 83, "{large} of the large ones");
        let early = found.iter().filter(|&&number| number < 10_000).count();
        assert!(early.abs_diff(500) < 95, "{early} of the first half");
        found.dedup();
        assert_eq!(found.len(), 1_000, "no payload is taken twice");
    }
}

#[test]
fn the_same_seed_takes_the_same_keys_of_a_list() {
    let redis = Redis::start();
    redis.fill((0..3_000).map(|n| set(&format!("cart:{n}"), document(n, 10))));
    let take = |seed: &str| {
        let address = redis.address();
        let ran = sample(&[&address, "--match", "*", "--count", "50", "--seed", seed]).run();
        numbers(&ran.code(0).out)
    };
    assert_eq!(take("7"), take("7"));
    assert_ne!(take("7"), take("8"));
}

#[test]
fn what_clients_wrapped_is_unwrapped_and_objects_are_refused() {
    let redis = Redis::start();
    redis.fill((0..10).map(|n| set(&format!("gzip:{n}"), gzipped(&document(n, 100)))));
    let zstd = |n: usize| zstd::stream::encode_all(document(n, 100).as_bytes(), 3).unwrap();
    redis.fill((10..20).map(|n| set(&format!("zstd:{n}"), zstd(n))));
    redis.fill((20..30).map(|n| set(&format!("plain:{n}"), document(n, 100))));
    redis.fill((0..5).map(|n| set(&format!("pickle:{n}"), b"\x80\x04}\x94\x8c\x01a\x94K\x01s.")));
    let ran = sample(&[&redis.address()]).run().code(3);
    let ran = ran.says(&["35 read, 30 kept", "gzip: 10, zstd: 10", "not taken      pickle: 5"]);
    assert_eq!(numbers(&ran.out), (0..30).collect::<Vec<u64>>());
    sample(&[&redis.address(), "--match", "pickle:*"]).run().refused(1, &["pickle: 5"]);
    let ran = sample(&[&redis.address(), "--match", "zstd:1?"]).run().code(0);
    assert_eq!(numbers(&ran.out), (10..20).collect::<Vec<u64>>());
}

#[test]
fn members_of_collections_are_payloads() {
    let redis = Redis::start();
    let texts: Vec<String> = (0..6).map(|n| document(n, 20)).collect();
    redis.fill([
        words(&["HSET", "hash", "field", &texts[0], "other", &texts[1]]),
        words(&["RPUSH", "list", &texts[2]]),
        words(&["SADD", "set", &texts[3]]),
        words(&["ZADD", "sorted", "1", &texts[4]]),
        words(&["XADD", "stream", "*", "body", &texts[5]]),
    ]);
    let ran = sample(&[&redis.address()]).run().code(0).says(&["5 stored", "6 kept"]);
    assert_eq!(numbers(&ran.out), (0..6).collect::<Vec<u64>>());
}

/// The user may run nothing but what Redis itself lists as reading.
#[test]
fn nothing_is_written() {
    let redis = Redis::start();
    redis.run(&[&READER[..], &["~*", "+@read"]].concat());
    redis.fill((0..2_000).map(|n| set(&format!("cart:{n}"), document(n, 10))));
    redis.fill([words(&["HSET", "hash", "field", "{\"number\":1}"])]);
    let before = redis.changes();
    let address = redis.address_of("reader", "secret");
    let ran = sample(&[&address, "--count", "100"]).run().code(0);
    assert!(!ran.err.contains("secret"), "{}", ran.err);
    sample(&[&address, "--count", "100", "--match", "*"]).run().code(0).says(&["100 kept"]);
    assert_eq!(redis.changes(), before);
}

#[test]
fn a_server_that_can_not_be_read_is_one_line() {
    let closed = format!("redis://127.0.0.1:{}", closed_port());
    sample(&[&closed]).run().refused(1, &["can't be reached", "is the server running"]);
    let redis = Redis::start();
    sample(&[&redis.address()]).run().refused(1, &["nothing was found", "it is empty"]);
    redis.run(&[&READER[..], &["~*", "+@read", "-scan"]].concat());
    redis.run(&["set", "key", "{}"]);
    let wrong = redis.address_of("reader", "wrong");
    let ran = sample(&[&wrong]).run().refused(1, &["refuses the name or password"]);
    assert!(!ran.err.contains(":wrong"), "{}", ran.err);
    let right = redis.address_of("reader", "secret");
    sample(&[&right]).run().refused(1, &["may not read", "+@read"]);
    let nothing = ["--match", "cart:*"];
    sample(&[&redis.address()]).and(nothing).run().refused(1, &["nothing matches \"cart:*\""]);
    sample(&[&redis.address(), "--query", "x"]).run().refused(1, &["no queries"]);
    sample(&["nothing://host/"]).run().refused(2, &["nothing reads nothing"]);
    cinch(["evaluate", &closed, "--report", "never"]).run().refused(1, &["can't be reached"]);
    let no_store = ["evaluate", "--match", "cart:*"];
    cinch(no_store).run().refused(2, &["--match", "live stores"]);
}

/// What is written is read back as the same payloads, whatever they are made of.
#[test]
fn an_evaluation_reads_the_same_payloads_from_a_file_and_from_the_server() {
    let folder = Folder::new();
    let long = "{\n  \"a\": 1\n}";
    for (name, values, output, option) in [
        ("lines", ["{\"a\":1}", "[2]", "{\"b\":[]}"], "lines.ndjson", None),
        ("text", ["{\"a\":1}", "no JSON", "x"], "text.ndjson", Some("lines")),
        ("values", ["{\"a\":1}", long, "[2]"], "values.ndjson", None),
        ("files", ["{\"a\":1}", "a\nb", "\u{1}\0"], "files/", None),
        ("named", ["{\"a\":1}", "a\nb", "x"], "named.ndjson", None),
    ] {
        let redis = Redis::start();
        redis.fill(values.iter().zip(["a", "b", "c"]).map(|(value, key)| set(key, *value)));
        let output = folder.at(output);
        let arguments = ["sample", &redis.address(), "--read-rate", "0", "-o", &output];
        let ran = cinch(arguments).run().code(0).says(&["next: cinch evaluate "]);
        let next = ran.err.split("next: cinch evaluate ").nth(1).unwrap().trim();
        assert_eq!(next.split_once(" --format ").map(|(_, format)| format), option, "{name}");
        let cheap = ["--encodings", "verbatim", "--codecs", "snappy", "--json", "-"];
        let read = |arguments: Vec<&str>| {
            let ran = cinch(["evaluate"]).and(arguments).and(cheap).run().code(0);
            ran.json()["corpus"].take()
        };
        let (file, server) =
            (read(next.split(' ').collect()), read(vec![&redis.address(), "--read-rate", "0"]));
        let bytes: usize = values.iter().map(|value| value.len()).sum();
        for corpus in [file, server] {
            assert_eq!(corpus["payloads"], 3, "{name}");
            assert_eq!(corpus["bytes"], bytes, "{name}");
        }
    }
}

#[test]
fn evaluate_and_estimate_take_the_address() {
    let redis = Redis::start();
    redis.fill((0..200).map(|n| set(&format!("cart:{n}"), document(n, 300))));
    redis.fill((0..7).map(|n| set(&format!("pickle:{n}"), b"\x80\x04}\x94.")));
    let address = redis.address_of("default", "any");
    let cheap = ["--encodings", "verbatim", "--codecs", "snappy", "--json", "-"];
    let live = [&address, "--read-rate", "0", "--sample", "50"];
    let ran = cinch(["evaluate"]).and(live).and(["--match", "cart:*"]).and(cheap).run().code(0);
    assert_eq!(ran.json()["corpus"]["payloads"], 50);
    let ran = cinch(["estimate", &address, "--read-rate", "0", "--json", "-"]).run().code(3);
    let ran = ran.says(&["skipped: redis://default:***@127.0.0.1", "7 values", "pickle"]);
    assert_eq!(ran.json()["payloads"], 200);
    assert!(!String::from_utf8_lossy(&ran.out).contains("any@"));
}

#[test]
fn a_file_that_exists_is_not_replaced_and_the_server_not_asked() {
    let folder = Folder::new();
    let file = folder.write("carts.ndjson", "mine");
    let closed = format!("redis://127.0.0.1:{}", closed_port());
    cinch(["sample", &closed, "-o", &file]).run().refused(1, &["exists already", "--force"]);
    let path = folder.path().to_str().unwrap().to_owned() + "/";
    cinch(["sample", &closed, "-o", &path]).run().refused(1, &["is not empty"]);
    assert_eq!(folder.read_text("carts.ndjson"), "mine");
}

#[test]
fn every_master_of_a_cluster_gives_its_share() {
    let nodes = Redis::cluster();
    for number in 0..60 {
        nodes[0].run(&["set", &format!("cart:{number}"), &document(number, 10)]);
    }
    let ran = sample(&[&nodes[1].address()]).run().code(0).says(&["60 stored", "60 kept"]);
    assert_eq!(numbers(&ran.out), (0..60).collect::<Vec<u64>>());
    let limited = sample(&[&nodes[2].address(), "--count", "30"]).run().code(0);
    assert_eq!(numbers(&limited.out).len(), 30);
}

#[test]
fn the_limit_of_records_holds_and_is_told() {
    let redis = Redis::start();
    redis.fill((0..5_000).map(|n| set(&format!("cart:{n}"), document(n, 10))));
    let arguments = ["--match", "*", "--count", "10", "--scan-limit", "600"];
    sample(&[&redis.address()]).and(arguments).run().code(0).says(&["--scan-limit", "10 kept"]);
}
