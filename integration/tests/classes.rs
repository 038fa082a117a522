//! `--by-class`: a rule in the profile for each size class that another trial wins clearly.
//!
//! Which trial wins a class depends on times, so the tests ask that profile, JSON and `estimate`
//! agree, whoever wins.

use cinch_integration::{Folder, cinch, evaluate, figure, generated, small_carts};
use serde_json::Value;

/// Many tiny carts and some flight lists, which nothing has in common.
fn mixed(folder: &Folder) -> String {
    let mut payloads = small_carts(300, 1);
    payloads.extend(
        cinch(["generate", "flights", "--count", "200", "--median-bytes", "20000"])
            .run()
            .quiet()
            .out,
    );
    folder.write("mixed.ndjson", payloads)
}

fn classes(found: &Value) -> &Vec<Value> {
    found["corpus"]["classes"].as_array().unwrap()
}

/// How many rules a profile has.
fn rules(profile: &str) -> usize {
    profile.matches("[[profile.rule]]").count()
}

#[test]
fn classes_of_another_winner_have_rules_and_the_profile_packs() {
    let folder = Folder::new();
    let file = mixed(&folder);
    for goal in ["cache", "archive"] {
        let codecs = ["--codecs", "zstd:1,zstd:9,lz4:1,zlib:6", "--encodings", "verbatim"];
        let profile = folder.at("profile.toml");
        let arguments = [&file, "--goal", goal, "--time", "8s", "--by-class"];
        let found = evaluate(&[&arguments[..], &codecs, &["--profile", &profile]].concat());
        let text = folder.read_text("profile.toml");
        let clear: Vec<&Value> =
            classes(&found).iter().filter(|class| class["gain"].as_f64() > Some(0.0)).collect();
        for class in &clear {
            assert_ne!(class["winner"], found["recommended"]["name"], "{goal}: {class}");
        }
        if clear.is_empty() {
            assert_eq!(rules(&text), 0, "{goal}: all classes tie: {text}");
        }
        match found["recommended"]["profile_by_class"].as_str() {
            Some(by_class) => {
                assert_eq!(by_class, text);
                assert!(rules(&text) > 0 && !clear.is_empty(), "{goal}: {text}");
                let bounds = text.lines().filter_map(|line| line.strip_prefix("max_bytes = "));
                let bounds: Vec<u64> = bounds.map(|bound| bound.parse().unwrap()).collect();
                assert!(bounds.is_sorted(), "{goal}: {bounds:?}");
            }
            None => assert_eq!(found["recommended"]["profile"], text.as_str(), "{goal}"),
        }
        let estimate = cinch(["estimate", &file, "--profile", &profile, "--json", "-"]);
        let estimate = estimate.run().quiet().json();
        assert_eq!((&estimate["payloads"], &estimate["failures"]), (&500.into(), &0.into()));
        assert!(estimate["bytes_out"].as_u64() < estimate["bytes_in"].as_u64());
    }
}

#[test]
fn rules_save_bytes_where_classes_differ_by_size_alone() {
    let folder = Folder::new();
    let menus = ["generate", "menus", "--count", "30", "--median-bytes", "60000"];
    let payloads = [small_carts(100, 1), cinch(menus).run().quiet().out].concat();
    let file = folder.write("mixed.ndjson", payloads);
    // bzip2 is the smallest on long texts, and larger than all others on short ones.
    let codecs = ["--codecs", "bzip2:9,zstd:3", "--encodings", "verbatim", "--no-dictionary"];
    let goal = ["--goal", "smallest", "--time", "120s"];
    let packed = |more: &[&str]| {
        let profile = folder.at("profile.toml");
        let arguments = [&[&file, "--profile", &profile], &codecs[..], &goal, more].concat();
        let found = evaluate(&arguments);
        assert_eq!(found["recommended"]["name"], "verbatim+bzip2:9");
        let estimate = cinch(["estimate", &file, "--profile", &profile, "--json", "-"]);
        (rules(&folder.read_text("profile.toml")), estimate.run().quiet().json())
    };
    let ((rules, with), (none, without)) = (packed(&["--by-class"]), packed(&[]));
    assert!(rules > 0 && none == 0, "{rules} and {none} rules");
    assert!(figure(&with, "bytes_out") < figure(&without, "bytes_out"), "{with} {without}");
    // Short ones don't pay with bzip2, but with what their rule says.
    assert!(figure(&without["plain_reasons"], "below min size") > 0.0, "{without}");
    assert!(with["plain_reasons"]["below min size"].is_null(), "{with}");
}

#[test]
fn without_by_class_a_profile_has_no_rules() {
    let folder = Folder::new();
    let file = mixed(&folder);
    let profile = folder.at("profile.toml");
    evaluate(&[&file, "--codecs", "zstd:1,zlib:6", "--profile", &profile]);
    assert_eq!(rules(&folder.read_text("profile.toml")), 0);
}

#[test]
fn every_class_that_was_timed_has_a_winner_that_was() {
    let folder = Folder::new();
    let file = folder.write("trips.ndjson", generated("trips", 120));
    let found = evaluate(&[&file, "--codecs", "zstd:1,lz4:1", "--encodings", "verbatim"]);
    let named = classes(&found).iter().filter(|class| !class["winner"].is_null());
    assert!(named.clone().count() > 0);
    for class in named {
        let trials = class["trials"].as_array().unwrap();
        let is_there = trials.is_empty() || trials.iter().any(|t| t["name"] == class["winner"]);
        assert!(is_there, "{class}");
    }
}
