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

fn published(name: &str, more: &[&str]) -> Vec<u8> {
    cinch(["generate", "--published", name]).and(more).run().quiet().out
}

fn sizes(lines: &[u8]) -> Vec<usize> {
    String::from_utf8_lossy(lines).lines().map(str::len).collect()
}

#[test]
fn published_corpora_have_the_published_sizes() {
    let carts = [687, 786, 848, 15_022, 17_845, 45_419, 55_415, 125_835, 1_429_259, 4_498_990];
    assert_eq!(sizes(&published("ebay", &[])), carts);
    let menus = sizes(&published("doordash", &["--count", "30"]));
    assert_eq!((menus.len(), &menus[..2]), (30, &[64_220, 350_333][..]));
    assert!(menus.iter().all(|bytes| (9_500..=709_000).contains(bytes)), "{menus:?}");
    let trips = sizes(&published("uber", &[]));
    let mean = trips.iter().sum::<usize>() / trips.len();
    assert!(trips.len() == 2_219 && (19_000..21_000).contains(&mean), "{mean}");
    let requests = sizes(&published("expedia", &[]));
    assert!(requests.len() == 20 && requests.iter().all(|bytes| bytes / 10_000 == 32));
}

#[test]
fn published_corpora_follow_from_their_seed() {
    for name in ["uber", "ebay", "doordash", "expedia"] {
        let with = |seed: &str| published(name, &["--count", "3", "--seed", seed]);
        assert_same_bytes(&with("7"), &with("7"), name);
        assert!(with("7") != with("8"), "{name} does not depend on its seed");
        for line in String::from_utf8(with("1")).unwrap().lines() {
            assert!(serde_json::from_str::<Value>(line).unwrap().is_object(), "{name}");
        }
    }
}

#[test]
fn what_is_not_published_is_refused() {
    let unknown = cinch(["generate", "--published", "ebuy"]).run();
    unknown.refused(2, &["ebuy", "uber", "ebay", "doordash", "expedia"]);
    let many = cinch(["generate", "--published", "ebay", "--count", "10011"]).run();
    many.refused(2, &["--count", "10011", "10010"]);
    cinch(["generate", "carts", "--published", "ebay"]).run().code(2).says(&["--published"]);
    cinch(["generate"]).run().code(2).says(&["KIND"]);
}
