//! What makes the figures of an evaluation ones to rely on: payloads that did not choose tell
//! them, dictionaries hold on payloads that they never saw, intervals come with every figure, and
//! the same question has the same answer.
//!
//! The goal is `smallest` wherever something is compared twice, because sizes never depend on what
//! else the machine does.

use cinch_integration::{
    Folder, assert_same_bytes, cinch, evaluate, figure, noise, small_carts, trial,
};
use serde_json::Value;

/// A list of codecs that is quick, has levels, and has two codecs that take a dictionary.
const QUICK: [&str; 4] = ["--codecs", "zstd:3,zstd:12,lz4:9,zlib:6", "--encodings", "verbatim"];

fn smallest(file: &str, more: &[&str]) -> Value {
    evaluate(&[&[file, "--goal", "smallest"], &QUICK[..], more].concat())
}

fn trials(found: &Value) -> &Vec<Value> {
    found["trials"].as_array().unwrap()
}

fn notices(found: &Value) -> String {
    found["run"]["notices"].to_string()
}

/// How many payloads trained, chose and reported.
fn parts(found: &Value) -> [u64; 3] {
    ["train", "select", "report"].map(|part| found["corpus"]["split"][part].as_u64().unwrap())
}

/// The lines of a file of payloads.
fn lines(payloads: &[u8]) -> Vec<&[u8]> {
    payloads.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()).collect()
}

fn bytes_of(lines: &[&[u8]]) -> usize {
    lines.iter().map(|line| line.len()).sum()
}

#[test]
fn the_same_data_and_seed_give_the_same_answer_twice() {
    let folder = Folder::new();
    let file = folder.write("carts.ndjson", small_carts(400, 1));
    let (first, second) = (smallest(&file, &[]), smallest(&file, &[]));
    for field in ["name", "ties", "runner_up", "dictionaries", "profile", "min_size_bytes"] {
        assert_eq!(first["recommended"][field], second["recommended"][field], "{field}");
    }
    assert_eq!(first["corpus"], {
        // Which trials tie for a class is decided by sizes, but their times are told there too.
        let mut corpus = second["corpus"].clone();
        corpus["classes"] = first["corpus"]["classes"].clone();
        corpus
    });
    assert_eq!(trials(&first).len(), trials(&second).len());
    let mut compared = 0;
    for mine in trials(&first) {
        let other = trial(&second, mine["name"].as_str().unwrap());
        // The front depends on times, and what is on it goes one stage further.
        if mine["stage"] == other["stage"] {
            compared += 1;
            for field in ["payloads", "bytes_in", "bytes_out", "packed_bytes", "dictionary"] {
                assert_eq!(mine[field], other[field], "{field} of {}", mine["name"]);
            }
            assert_eq!(mine["held_out"], other["held_out"], "{}", mine["name"]);
        }
    }
    assert!(compared >= 6, "{compared} trials went equally far");
}

#[test]
fn a_dictionary_is_recommended_for_small_similar_payloads_and_holds_on_new_ones() {
    let folder = Folder::new();
    let file = folder.write("carts.ndjson", small_carts(400, 1));
    let profiles = Folder::new();
    let profile = profiles.at("profile.toml");
    let found = smallest(&file, &["--profile", &profile]);
    let recommended = &found["recommended"];
    let name = recommended["name"].as_str().unwrap();
    assert!(name.contains("+dict-"), "{name}");
    let best = trial(&found, name);
    let cost = &best["dictionary_cost"];
    let [train, select, report] = parts(&found);
    assert_eq!(cost["trained_on_payloads"], train);
    assert_eq!(best["payloads"], select + report, "what trained it is no part of its figures");
    assert_eq!(best["held_out"]["payloads"], report);
    assert!(figure(cost, "gain") > 0.3, "{cost}");

    // The file lies beside the profile, which names it, and is as long as it is said to be.
    let beside = recommended["dictionaries"][0]["file_name"].as_str().unwrap();
    assert_eq!(profiles.names(), [beside, "profile.toml"]);
    let text = profiles.read_text("profile.toml");
    assert!(text.contains(&format!("dictionary = \"{beside}\"")), "{text}");
    assert_eq!(cost["bytes"], profiles.read(beside).len());

    let new = folder.write("new.ndjson", small_carts(300, 9));
    let estimate = cinch(["estimate", &new, "--profile", &profile, "--json", "-"]);
    let estimate = estimate.run().quiet().json();
    assert_eq!((&estimate["failures"], &estimate["payloads"]), (&0.into(), &300.into()));
    let share = figure(&estimate, "bytes_out") / figure(&estimate, "bytes_in");
    let promised = figure(&best["held_out"], "packed_share");
    assert!((share / promised - 1.0).abs() < 0.2, "{promised} was promised, it is {share}");

    let records = folder.at("new.cinch");
    cinch(["pack", "--records", "--profile", &profile, &new, "-o", &records]).run().quiet();
    let back = cinch(["unpack", "--records", "--profile", &profile, &records, "-o", "-"]);
    assert_same_bytes(&back.run().quiet().out, &folder.read("new.ndjson"), "new carts");
    cinch(["unpack", "--records", &records, "-o", "-"]).run().code(1).says(&["dictionary"]);
}

#[test]
fn without_dictionaries_there_are_none() {
    let folder = Folder::new();
    let file = folder.write("carts.ndjson", small_carts(400, 1));
    let report = Folder::new();
    let found = smallest(&file, &["--no-dictionary", "--report", &report.at("")]);
    for trial in trials(&found) {
        assert!(trial["dictionary"].is_null() && trial["dictionary_cost"].is_null(), "{trial}");
    }
    assert_eq!(found["recommended"]["dictionaries"], Value::Array(Vec::new()));
    assert_eq!(parts(&found), [0, 320, 80], "nothing trains, so more may choose");
    let names = report.names();
    assert!(names.contains(&"profile.toml".to_owned()), "{names:?}");
    assert!(!names.iter().any(|name| name.ends_with(".zdict")), "{names:?}");
}

#[test]
fn a_dictionary_for_payloads_that_have_nothing_in_common_is_out() {
    let folder = Folder::new();
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let strings: Vec<String> =
        noise(160_000).chunks(1_000).map(|chunk| format!("\"{}\"", hex(chunk))).collect();
    let file = folder.write("noise.ndjson", strings.join("\n"));
    let found = smallest(&file, &[]);
    assert!(found["recommended"]["dictionary"].is_null(), "{}", found["recommended"]["name"]);
    let tried: Vec<_> =
        trials(&found).iter().filter(|trial| !trial["dictionary"].is_null()).collect();
    assert!(!tried.is_empty(), "none was tried: {}", notices(&found));
    for trial in tried {
        // LZ4, which has no entropy coder, finds four equal digits in any noise: those of its
        // trials that gain are larger than what needs no dictionary.
        let rule = trial["eliminated_by"].as_str().unwrap();
        let is_right = rule.starts_with("dictionary: ") || trial["codec"] == "lz4";
        assert!(is_right, "{}: {rule}", trial["name"]);
    }
}

/// Copies of so many carts, each with a number of its own, copy by copy.
fn copies(originals: usize, copies: usize) -> Vec<u8> {
    let count = originals.to_string();
    let run = cinch(["generate", "carts", "--median-bytes", "3000", "--seed", "4", "--count"]);
    let carts = run.and([&count]).run().quiet().out;
    let mut text = Vec::new();
    for copy in 0..copies {
        for cart in lines(&carts) {
            let rest = cart.strip_prefix(b"{").expect("a cart is an object");
            text.extend_from_slice(format!("{{\"copy\":{copy},").as_bytes());
            text.extend_from_slice(rest);
            text.push(b'\n');
        }
    }
    text
}

#[test]
fn near_duplicates_are_grouped_and_stay_on_one_side_of_the_split() {
    let folder = Folder::new();
    let file = folder.write("copies.ndjson", copies(30, 12));
    let found = smallest(&file, &[]);
    let corpus = &found["corpus"];
    assert_eq!((&corpus["groups"], &corpus["largest_group"]), (&30.into(), &12.into()));
    assert_eq!((&corpus["payloads"], &corpus["duplicates"]), (&360.into(), &0.into()));
    assert_eq!(corpus["split"]["by"], "group");
    for part in parts(&found) {
        assert_eq!(part % 12, 0, "a group is on both sides: {:?}", parts(&found));
    }
    assert!(!notices(&found).contains("near-duplicates"), "{}", notices(&found));
}

#[test]
fn too_few_groups_are_split_by_order_and_that_is_said() {
    let folder = Folder::new();
    let file = folder.write("copies.ndjson", copies(10, 20));
    let found = smallest(&file, &[]);
    assert_eq!(found["corpus"]["groups"], 10);
    assert_eq!(found["corpus"]["split"]["by"], "order");
    assert!(notices(&found).contains("10 groups of near-duplicates"), "{}", notices(&found));
    assert!(notices(&found).contains("split by order instead"), "{}", notices(&found));
}

#[test]
fn fewer_than_twenty_payloads_are_not_split_and_that_is_said() {
    let folder = Folder::new();
    let found_of = |count| {
        let file = folder.write("carts.ndjson", small_carts(count, 1));
        smallest(&file, &[])
    };
    let found = found_of(19);
    assert!(found["corpus"]["split"]["by"].is_null());
    assert_eq!(parts(&found), [0, 19, 19]);
    assert!(notices(&found).contains("19 payloads, too few to split"), "{}", notices(&found));
    assert!(trials(&found).iter().all(|trial| trial["held_out"].is_null()));
    assert!(!found_of(20)["corpus"]["split"]["by"].is_null());
}

#[test]
fn a_split_by_order_trains_on_the_earliest_and_reports_the_latest() {
    let folder = Folder::new();
    let payloads = small_carts(400, 1);
    let file = folder.write("carts.ndjson", &payloads);
    let found = smallest(&file, &["--split-by", "order"]);
    assert_eq!(found["corpus"]["groups"], 400, "no two carts are near-duplicates");
    assert_eq!(found["corpus"]["split"]["by"], "order");
    assert_eq!(parts(&found), [240, 80, 80]);
    let lines = lines(&payloads);
    let best = trial(&found, found["recommended"]["name"].as_str().unwrap());
    assert_eq!(best["held_out"]["bytes_in"], bytes_of(&lines[320..]));
    assert_eq!(best["dictionary_cost"]["trained_on_bytes"], bytes_of(&lines[..240]));
    let by_group = smallest(&file, &[]);
    assert_eq!(by_group["corpus"]["split"]["by"], "group");
    let best = trial(&by_group, found["recommended"]["name"].as_str().unwrap());
    assert_ne!(best["dictionary_cost"]["trained_on_bytes"], bytes_of(&lines[..240]));
}

/// Checks that an interval holds its figure; an end that is not known is nothing.
#[track_caller]
fn holds(interval: &Value, value: f64, what: &str) {
    let low = interval["low"].as_f64().unwrap_or(f64::NEG_INFINITY);
    let high = interval["high"].as_f64().unwrap_or(f64::INFINITY);
    assert!(low <= high, "{what}: {interval}");
    let rounding = 1e-9 * value.abs().max(1.0);
    assert!(low - rounding <= value && value <= high + rounding, "{what}: {value}, {interval}");
}

#[test]
fn every_interval_is_in_order_and_holds_its_figure() {
    let folder = Folder::new();
    let file = folder.write("carts.ndjson", small_carts(400, 1));
    let found = smallest(&file, &[]);
    let (mut shares, mut pairs) = (0, 0);
    for trial in trials(&found) {
        let name = trial["name"].as_str().unwrap();
        let check = |part: &Value, interval: &str, of: &str| {
            if !part.is_null() {
                holds(&part[interval], figure(part, of), &format!("{of} of {name}"));
            }
            u32::from(!part.is_null())
        };
        shares += check(&trial["held_out"], "packed_share_interval", "packed_share");
        check(&trial["dictionary_cost"], "gain_interval", "gain");
        pairs += check(&trial["paired"], "size_interval", "size_ratio");
        check(&trial["paired"], "time_interval", "time_ratio");
        check(&trial["paired"], "score_interval", "score_difference");
    }
    assert!(shares >= 6 && pairs >= 6, "{shares} shares, {pairs} pairs");
    let best = &trial(&found, found["recommended"]["name"].as_str().unwrap());
    assert_eq!(figure(&best["paired"], "size_ratio"), 1.0, "against itself");
}

#[test]
fn what_is_told_as_a_tie_is_marked_as_one() {
    let folder = Folder::new();
    let file = folder.write("carts.ndjson", small_carts(300, 1));
    // Neighbouring levels differ by next to nothing, level 1 by a lot.
    let codecs = ["--codecs", "brotli:0,brotli:8,brotli:9,zstd:1", "--encodings", "verbatim"];
    let arguments = [&[&file, "--goal", "smallest", "--no-dictionary"], &codecs[..]].concat();
    let found = evaluate(&arguments);
    let recommended = &found["recommended"];
    let ties = recommended["ties"].as_array().unwrap();
    assert!(!ties.is_empty(), "{}", recommended["reasons"]);
    for name in ties {
        let tie = trial(&found, name.as_str().unwrap());
        assert_eq!(tie["paired"]["is_tie"], true, "{tie}");
        assert_ne!(name, &recommended["name"]);
    }
    let worst = trial(&found, "verbatim+brotli:0");
    assert_eq!(worst["paired"]["is_tie"], false);
    assert!(!ties.contains(&worst["name"]));
}

#[test]
fn a_budget_below_what_everything_takes_leaves_nothing() {
    let folder = Folder::new();
    let file = folder.write("carts.ndjson", small_carts(60, 1));
    let found = smallest(&file, &["--budget", "pack_mean=1ns"]);
    for trial in trials(&found).iter().filter(|trial| trial["stage"] != "sizes") {
        let rule = trial["eliminated_by"].as_str().unwrap_or_default();
        assert!(rule.starts_with("budget pack_mean=1ns: it takes "), "{}: {rule}", trial["name"]);
    }
    assert_eq!(found["front"], Value::Array(Vec::new()));
    assert_eq!(found["recommended"]["name"], "verbatim+stored");
    assert!(found["recommended"]["runner_up"].is_null());
}
