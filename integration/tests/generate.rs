//! `cinch generate` writes realistic payloads, one a line: valid JSON, as many as asked for, and
//! the same for the same seed on every machine.
//!
//! That they are like real ones is tested where they are made; here they are used.

use std::collections::HashSet;

use cinch_integration::{Folder, assert_same_bytes, cinch, generated};
use serde_json::Value;

const KINDS: [&str; 5] = ["carts", "menus", "trips", "flights", "logs"];

#[test]
fn every_kind_is_as_many_different_json_objects_as_asked_for() {
    for kind in KINDS {
        let text = String::from_utf8(generated(kind, 40)).unwrap();
        assert!(text.ends_with('\n'));
        let lines: HashSet<&str> = text.lines().collect();
        assert_eq!(lines.len(), 40, "{kind} repeats itself");
        for line in lines {
            let value: Value = serde_json::from_str(line).unwrap();
            assert!(value.is_object() || value.is_array(), "{kind}: {line}");
        }
    }
}

#[test]
fn a_seed_decides_everything_and_another_seed_gives_others() {
    for kind in KINDS {
        let with = |seed: &str| {
            let run = cinch(["generate", kind, "--count", "20", "--seed", seed]);
            run.run().quiet().out
        };
        assert_same_bytes(&with("7"), &with("7"), kind);
        assert!(with("7") != with("8"), "{kind} does not depend on its seed");
        assert_same_bytes(&with("1"), &generated(kind, 20), "the seed is 1 by default");
    }
}

#[test]
fn a_longer_corpus_starts_like_a_shorter_one() {
    for kind in KINDS {
        let (short, long) = (generated(kind, 5), generated(kind, 10));
        assert_same_bytes(&long[..short.len()], &short, kind);
    }
}

#[test]
fn sizes_are_scaled_on_request() {
    let median = |bytes: &str| {
        let run = cinch(["generate", "carts", "--count", "300", "--median-bytes", bytes]);
        let out = run.run().quiet().out;
        let mut sizes: Vec<usize> = out.split(|&b| b == b'\n').map(<[u8]>::len).collect();
        sizes.sort_unstable();
        sizes[sizes.len() / 2]
    };
    for bytes in [500, 3_000, 20_000] {
        let got = median(&bytes.to_string());
        assert!((bytes / 2..=bytes * 2).contains(&got), "{got} for {bytes}");
    }
}

#[test]
fn none_are_none_and_a_file_is_written() {
    let folder = Folder::new();
    assert_eq!(generated("carts", 0), b"");
    let file = folder.at("carts.ndjson");
    cinch(["generate", "carts", "--count", "3", "-o", &file]).run().quiet();
    assert_same_bytes(&folder.read("carts.ndjson"), &generated("carts", 3), "the file");
    assert_eq!(folder.names(), ["carts.ndjson"]);
}

#[test]
fn an_unknown_kind_is_refused_with_those_that_there_are() {
    cinch(["generate", "cats"]).run().refused(2, &["cats"]).says(&KINDS);
    cinch(["generate", "carts", "--count", "many"]).run().code(2).says(&["many", "--count"]);
}
