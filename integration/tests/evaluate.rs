//! `cinch evaluate`: what it writes and where, what its options do, and that its figures are right
//! by somebody else's ruler.
//!
//! The JSON's shape is in `schema.rs`; sources are in `sources.rs` and `damage.rs`.

use std::collections::BTreeSet;

use cinch_integration::{
    Folder, assert_same_bytes, carts, cinch, evaluate, figure, generated, noise, python, trial,
    trial_names,
};
use serde_json::Value;

const GOALS: [&str; 5] = ["cache", "api", "archive", "smallest", "fastest"];

fn recommended(found: &Value) -> &str {
    found["recommended"]["name"].as_str().unwrap()
}

#[test]
fn without_a_source_it_measures_generated_carts_and_writes_a_report() {
    let folder = Folder::new();
    let run = cinch(["evaluate", "--sample", "200", "--time", "1s"]).inside(folder.path());
    let ran = run.run().quiet();
    assert!(ran.text().contains("generated carts"), "{}", ran.text());
    assert!(ran.text().contains("Recommended: "), "{}", ran.text());
    assert_eq!(folder.names(), ["report"]);
    let found: Value = serde_json::from_slice(&folder.read("report/evaluation.json")).unwrap();
    assert_eq!(found["corpus"]["payloads"], 200);
    assert!(ran.text().contains(recommended(&found)));
    let profile = folder.read_text("report/profile.toml");
    assert_eq!(found["recommended"]["profile"], profile.as_str());
    assert!(folder.read_text("report/index.html").contains(recommended(&found)));
    assert!(folder.read_text("report/scatter.svg").starts_with("<svg"));
}

#[test]
fn the_carts_without_a_source_are_those_of_generate() {
    let folder = Folder::new();
    let file = folder.write("carts.ndjson", carts(60));
    let cheap = ["--encodings", "verbatim", "--codecs", "zlib:6"];
    let named = evaluate(&[&[file.as_str()], &cheap[..]].concat());
    let unnamed = evaluate(&[&["--sample", "60"], &cheap[..]].concat());
    assert_eq!(named["corpus"]["bytes"], unnamed["corpus"]["bytes"]);
    let bytes = |found: &Value| trial(found, "verbatim+zlib:6")["bytes_out"].clone();
    assert_eq!(bytes(&named), bytes(&unnamed));
}

#[test]
fn files_go_where_they_are_said_to_go_and_nowhere_else() {
    let folder = Folder::new();
    let cheap = ["evaluate", "--sample", "30", "--time", "1s", "--codecs", "zlib:6", "--no-schema"];
    let in_folder =
        |options: &[&str]| cinch(cheap).and(options).inside(folder.path()).run().quiet();
    let json = in_folder(&["--json", "-"]);
    assert_eq!(folder.names(), Vec::<String>::new(), "--json - writes no files");
    assert!(json.json().is_object());
    in_folder(&["--json", "found.json"]);
    assert_eq!(folder.names(), ["found.json"]);
    in_folder(&["--json", "found.json", "--report", "a/b", "--profile", "p.toml"]);
    assert_eq!(folder.names(), ["a", "found.json", "p.toml"]);
    assert_same_bytes(&folder.read("p.toml"), &folder.read("a/b/profile.toml"), "the profile");
    assert_same_bytes(&folder.read("found.json"), &folder.read("a/b/evaluation.json"), "the JSON");
}

#[test]
fn a_report_that_can_not_be_written_is_an_error() {
    let folder = Folder::new();
    folder.write("taken", "a file");
    let run = cinch(["evaluate", "--sample", "20", "--time", "1s", "--codecs", "snappy"]);
    let ran = run.and(["--report", "taken/report"]).inside(folder.path()).run();
    ran.code(1).says(&["cinch: ", "taken"]);
}

#[test]
fn the_profile_packs_and_estimates() {
    let folder = Folder::new();
    let file = folder.write("carts.ndjson", carts(100));
    let profile = folder.at("profile.toml");
    for goal in GOALS {
        let found = evaluate(&[&file, "--goal", goal, "--no-dictionary", "--profile", &profile]);
        let estimate = cinch(["estimate", &file, "--profile", &profile, "--json", "-"]);
        let estimate = estimate.run().quiet().json();
        let best = trial(&found, recommended(&found));
        assert_eq!(best["payloads"], 100, "{goal}");
        // The profile leaves those plain of which packing takes less than 5 %, if there are any.
        let is_whole = found["recommended"]["min_size_bytes"].is_null();
        let plain_bytes = if is_whole { 0.0 } else { 0.05 * figure(best, "bytes_in") };
        let more = figure(&estimate, "bytes_out") - figure(best, "packed_bytes");
        assert!((0.0..=plain_bytes).contains(&more), "{goal}: {more} bytes more than measured");
        assert_eq!(estimate["failures"], 0);
        let pack = cinch(["pack", "--records", "--profile", &profile, &file, "--force"]);
        pack.run().quiet();
        let packed = folder.at("carts.ndjson.cinch");
        let back = cinch(["unpack", "--records", &packed, "-o", "-"]).run().quiet().out;
        assert_eq!(back.iter().filter(|&&byte| byte == b'\n').count(), 100);
    }
}

#[test]
fn ratios_are_those_that_other_libraries_give() {
    let folder = Folder::new();
    for kind in ["carts", "trips", "flights"] {
        let payloads = generated(kind, 60);
        let file = folder.write("payloads.ndjson", &payloads);
        let found = evaluate(&[&file, "--encodings", "verbatim", "--codecs", "gzip:6,zstd:3"]);
        let (sums, _) = python("measure_sizes.py").run(payloads);
        let sums: Value = serde_json::from_str(&sums).unwrap();
        assert_eq!(sums["bytes_in"], found["corpus"]["bytes"]);
        for (codec, name, within) in
            [("gzip", "verbatim+gzip:6", 0.005), ("zstd", "verbatim+zstd:3", 0.005)]
        {
            let found = trial(&found, name);
            let theirs = figure(&sums, codec);
            let ours = figure(found, "bytes_out");
            println!("{kind} {codec}: ours {ours}, theirs {theirs}: {:.4}", ours / theirs);
            assert!((ours / theirs - 1.0).abs() <= within, "{kind} {codec}: {ours}, {theirs}");
            let ratio = figure(&sums, "bytes_in") / ours;
            assert!((figure(found, "ratio") - ratio).abs() < 1e-9, "{kind} {codec}");
        }
    }
}

/// What a seed decides: everything but times, and what follows from them.
fn decided(found: &Value) -> Vec<(String, Value, Value, Value)> {
    let trials = found["trials"].as_array().unwrap();
    let mut decided: Vec<_> = trials
        .iter()
        .filter(|trial| trial["stage"] == "sizes")
        .map(|trial| {
            let name = trial["name"].as_str().unwrap().to_owned();
            let field = |field: &str| trial[field].clone();
            (name, field("payloads"), field("bytes_in"), field("bytes_out"))
        })
        .collect();
    decided.sort_by(|a, b| a.0.cmp(&b.0));
    decided
}

#[test]
fn the_same_seed_takes_the_same_sample_and_finds_the_same_sizes() {
    let folder = Folder::new();
    let file = folder.write("carts.ndjson", carts(400));
    // Other goals look closer around what seems best by one timed pass, which is luck.
    let with =
        |seed: &str| evaluate(&[&file, "--seed", seed, "--sample", "150", "--goal", "smallest"]);
    let (first, second, other) = (with("5"), with("5"), with("6"));
    assert_eq!(first["seed"], 5);
    assert_eq!(first["corpus"]["bytes"], second["corpus"]["bytes"]);
    assert_ne!(first["corpus"]["bytes"], other["corpus"]["bytes"]);
    let names = |found: &Value| -> BTreeSet<String> {
        trial_names(found).into_iter().map(str::to_owned).collect()
    };
    assert_eq!(names(&first), names(&second));
    assert!(decided(&first).len() > 20);
    assert_eq!(decided(&first), decided(&second));
    assert_ne!(decided(&first), decided(&other));
}

#[test]
fn every_goal_recommends_and_gives_reasons() {
    let folder = Folder::new();
    let file = folder.write("carts.ndjson", carts(120));
    for goal in GOALS {
        let found = evaluate(&[&file, "--goal", goal]);
        assert_eq!(found["goal"], goal);
        let best = trial(&found, recommended(&found));
        assert_eq!(best["eliminated_by"], Value::Null);
        assert_eq!(best["failures"], 0);
        assert_eq!(trial_names(&found)[0], recommended(&found), "it stands first");
        let reasons = found["recommended"]["reasons"].as_array().unwrap();
        assert!(reasons.len() >= 4 && reasons.iter().all(Value::is_string), "{reasons:?}");
        assert!(reasons[0].as_str().unwrap().contains(goal));
        if goal == "smallest" {
            for trial in found["trials"].as_array().unwrap() {
                let paired = &trial["paired"];
                if paired.is_null() || !trial["eliminated_by"].is_null() {
                    continue;
                }
                // Only what can't be told from the best may be smaller, by a hair.
                let is_no_smaller = figure(paired, "size_ratio") >= 1.0;
                assert!(is_no_smaller || paired["is_tie"] == true, "{}", trial["name"]);
            }
        }
    }
}

#[test]
fn a_budget_takes_out_by_name_what_breaks_it() {
    let folder = Folder::new();
    let file = folder.write("carts.ndjson", carts(60));
    let codecs = ["--encodings", "verbatim", "--codecs", "snappy,zstd:3,brotli:11"];
    let with = |budgets: &[&str]| evaluate(&[&[file.as_str()], &codecs[..], budgets].concat());
    let free = with(&[]);
    assert!(
        trial(&free, "verbatim+brotli:11")["eliminated_by"]
            .as_str()
            .is_none_or(|rule| !rule.starts_with("budget"))
    );
    // Nothing compresses in a nanosecond: all of them are out, and that is said.
    let none = with(&["--budget", "compress_mean=1ns"]);
    let rule = trial(&none, "verbatim+brotli:11")["eliminated_by"].as_str().unwrap();
    assert!(rule.starts_with("budget compress_mean=1ns: it takes "), "{rule}");
    assert_eq!(none["budgets"], Value::from(vec!["compress_mean=1ns"]));
    assert_eq!(recommended(&none), "verbatim+stored");
    let some = with(&["--budget", "memory=1MB", "--budget", "compress_p99=20s"]);
    let rule = trial(&some, "verbatim+brotli:11")["eliminated_by"].as_str().unwrap();
    assert!(rule.starts_with("budget memory=1MB: it takes "), "{rule}");
    let reasons = some["recommended"]["reasons"].to_string();
    assert!(reasons.contains("memory=1MB") && reasons.contains("compress_p99=20s"), "{reasons}");
}

#[test]
fn factors_compare_with_the_baseline() {
    let folder = Folder::new();
    let file = folder.write("carts.ndjson", carts(60));
    let codecs = ["--encodings", "verbatim", "--codecs", "zstd:3,lz4"];
    let usual = evaluate(&[&[file.as_str()], &codecs[..]].concat());
    assert_eq!(usual["baseline"]["name"], "json+zlib:6");
    assert_eq!(figure(trial(&usual, "json+zlib:6"), "size_factor"), 1.0);
    let named = ["--baseline", "msgpack+zlib:1"];
    let found = evaluate(&[&[file.as_str()], &codecs[..], &named].concat());
    assert_eq!(found["baseline"]["name"], "msgpack+zlib:1");
    assert_eq!(found["baseline"]["encoding"], "msgpack");
    let baseline = trial(&found, "msgpack+zlib:1");
    assert_eq!((figure(baseline, "size_factor"), figure(baseline, "speed_factor")), (1.0, 1.0));
    let zstd = trial(&found, "verbatim+zstd:3");
    let share = |trial: &Value| figure(&trial["held_out"], "packed_share");
    let expected = share(zstd) / share(baseline);
    assert!((figure(zstd, "size_factor") - expected).abs() < 1e-9);
}

#[test]
fn portable_recommends_what_other_languages_read() {
    let found = evaluate(&["--sample", "40", "--portable"]);
    for trial in found["trials"].as_array().unwrap() {
        let rule = trial["eliminated_by"].as_str().unwrap_or_default();
        // Only cinch itself and its reference decoder read columns.
        let is_columnar = trial["encoding"] == "columnar";
        assert_eq!(rule.starts_with("portable"), is_columnar, "{trial}");
    }
    assert!(!recommended(&found).starts_with("columnar"));
}

#[test]
fn all_tries_every_level_that_was_not_narrowed() {
    let found = evaluate(&["--sample", "10", "--all", "--codecs", "zstd:1-9,lz4:fast"]);
    for level in 1..=9 {
        for encoding in ["verbatim", "smile"] {
            let trial = trial(&found, &format!("{encoding}+zstd:{level}"));
            assert_ne!(trial["stage"], "sizes", "--all times every pair");
        }
    }
    trial(&found, "cbor+lz4:1");
}

#[test]
fn from_value_counts_parsing_against_text() {
    let found = evaluate(&["--sample", "30", "--from", "value", "--codecs", "zlib:6"]);
    assert_eq!(found["from"], "value");
    let verbatim = trial(&found, "verbatim+zlib:6");
    assert!(figure(&verbatim["parse_ns"], "mean") > 0.0);
    assert!(figure(&verbatim["write_ns"], "mean") > 0.0);
}

#[test]
fn one_payload_is_enough() {
    let folder = Folder::new();
    let text = carts(1);
    let file = folder.write("one.json", &text);
    let found = evaluate(&[&file]);
    assert_eq!(found["corpus"]["payloads"], 1);
    let best = trial(&found, recommended(&found));
    assert_eq!((&best["payloads"], &best["p99_is_max"]), (&Value::from(1), &Value::from(true)));
    assert_eq!(best["bytes_in"], text.len() - 1);
    for tiny in ["1", "\"\"", "{}", "null"] {
        let file = folder.write("tiny.json", tiny);
        let found = evaluate(&[&file]);
        assert_eq!(recommended(&found), "verbatim+stored", "{tiny}");
    }
}

#[test]
fn where_nothing_shrinks_plain_is_recommended_for_every_goal() {
    let folder = Folder::new();
    for index in 0..8 {
        folder.write(&format!("{index}.bin"), noise(3_000 + index));
    }
    for goal in GOALS {
        let found = evaluate(&[folder.path().to_str().unwrap(), "--goal", goal]);
        assert_eq!(recommended(&found), "verbatim+stored", "{goal}");
        assert_eq!(found["recommended"]["codec"], "stored");
        let reasons = found["recommended"]["reasons"].to_string();
        assert!(reasons.contains("Nothing pays"), "{goal}: {reasons}");
    }
}

#[test]
fn payloads_that_are_no_json_are_measured_with_codecs_only() {
    let folder = Folder::new();
    for index in 0..6u8 {
        folder.write(&format!("{index}.bin"), [vec![index; 500], noise(200)].concat());
    }
    let found = evaluate(&[folder.path().to_str().unwrap()]);
    assert_eq!(found["corpus"]["json_payloads"], 0);
    assert_eq!(found["baseline"]["name"], "verbatim+zlib:6");
    for trial in found["trials"].as_array().unwrap() {
        assert_eq!(trial["encoding"], "verbatim", "{}", trial["name"]);
        assert_eq!(trial["failures"], 0);
    }
}
