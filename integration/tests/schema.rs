//! The JSON of an evaluation is a promise to other programs: every name, its type, and how the
//! figures hang together. Names are added, never taken away.
//!
//! Whether the figures are right is asked in `evaluate.rs`.

use std::collections::BTreeSet;

use cinch_integration::{evaluate, figure, trial, trial_names};
use serde_json::Value;

const TIMES: [&str; 8] = [
    "parse_ns",
    "encode_ns",
    "compress_ns",
    "decompress_ns",
    "decode_ns",
    "write_ns",
    "pack_ns",
    "unpack_ns",
];

/// Checks that a member exists and is of this kind: a letter for each kind that is allowed.
#[track_caller]
fn check(value: &Value, name: &str, kinds: &str) {
    let member = value.get(name).unwrap_or_else(|| panic!("{name} is missing"));
    let kind = match member {
        Value::Null => '0',
        Value::Bool(_) => 'b',
        Value::Number(number) if number.is_u64() => 'u',
        Value::Number(number) if number.is_i64() => 'i',
        Value::Number(_) => 'f',
        Value::String(_) => 's',
        Value::Array(_) => 'a',
        Value::Object(_) => 'o',
    };
    assert!(kinds.contains(kind), "{name} is {member}");
}

fn check_all(value: &Value, names: &[(&str, &str)]) {
    for (name, kinds) in names {
        check(value, name, kinds);
    }
}

fn found() -> Value {
    evaluate(&["--sample", "320", "--encodings", "all", "--codecs", "stored,lz4,zlib:6,zstd:3"])
}

#[test]
fn every_promised_name_is_there_and_of_its_type() {
    let found = found();
    let top = [("format", "u"), ("goal", "s"), ("from", "s"), ("budgets", "a"), ("trials", "a")];
    check_all(&found, &top);
    check_all(&found, &[("front", "a"), ("seed", "u"), ("versions", "a"), ("run", "o")]);
    let corpus = &found["corpus"];
    for name in ["payloads", "bytes", "json_payloads", "seen", "seen_bytes", "duplicates"] {
        check(corpus, name, "u");
    }
    check_all(corpus, &[("name", "s"), ("classes", "a"), ("skipped_files", "a")]);
    for name in ["min", "p50", "p95", "p99", "max"] {
        check(&corpus["size"], name, "u");
    }
    check(&corpus["size"], "mean", "f");
    check_all(&corpus["problems"], &[("count", "u"), ("first", "a")]);
    for class in corpus["classes"].as_array().unwrap() {
        check_all(class, &[("name", "s"), ("payloads", "u"), ("bytes", "u"), ("winner", "0s")]);
    }
    let names = [("name", "s"), ("encoding", "s"), ("codec", "s"), ("level", "ui")];
    check_all(&found["baseline"], &names);
    let recommended = &found["recommended"];
    check_all(recommended, &names);
    check_all(recommended, &[("dictionary", "0s"), ("fidelity", "s"), ("runner_up", "0s")]);
    check_all(recommended, &[("reasons", "a"), ("profile", "s")]);
    let run = [("interrupted", "b"), ("notices", "a"), ("processor", "s"), ("processors", "u")];
    check_all(&found["run"], &run);
    for stage in ["stage1_payloads", "stage1_trials", "stage2_payloads", "stage2_trials"] {
        check(&found["run"], stage, "u");
    }
    assert_eq!(found["run"]["stage_seconds"].as_array().map(Vec::len), Some(3));
}

#[test]
fn every_trial_has_every_figure() {
    let found = found();
    let trials = found["trials"].as_array().unwrap();
    let expected = 14 * 4 + ["verbatim+gzip:6"].len();
    let plain = trials.iter().filter(|trial| trial["dictionary"].is_null()).count();
    assert_eq!(plain, expected, "{:?}", trial_names(&found));
    assert!(trials.len() > plain, "no dictionary was tried");
    for trial in trials {
        let words = [("name", "s"), ("encoding", "s"), ("codec", "s"), ("stage", "s")];
        check_all(trial, &words);
        let words = [("level", "ui"), ("dictionary", "0s"), ("fidelity", "s")];
        check_all(trial, &words);
        for name in ["payloads", "bytes_in", "bytes_out", "packed_bytes", "timed_payloads"] {
            check(trial, name, "u");
        }
        for name in ["rounds", "memory_bytes", "refused", "failures"] {
            check(trial, name, "u");
        }
        for name in ["ratio", "median_ratio", "first_call_ns", "size_factor", "speed_factor"] {
            check(trial, name, "f");
        }
        let rest = [("p99_is_max", "b"), ("refusal", "0s"), ("failure", "0s"), ("score", "0f")];
        check_all(trial, &rest);
        check(trial, "eliminated_by", "0s");
        for time in TIMES {
            for figure in ["mean", "p50", "p95", "p99"] {
                check(&trial[time], figure, "f");
            }
        }
    }
}

#[test]
fn the_figures_of_a_trial_agree_with_each_other() {
    let found = found();
    for trial in found["trials"].as_array().unwrap() {
        let name = trial["name"].as_str().unwrap();
        let codec = trial["codec"].as_str().unwrap();
        assert!(name.starts_with(&format!("{}+{codec}", trial["encoding"].as_str().unwrap())));
        let ratio = figure(trial, "bytes_in") / figure(trial, "bytes_out");
        assert!((figure(trial, "ratio") - ratio).abs() < 1e-9, "{name}");
        for time in TIMES {
            let [p50, p95, p99] = ["p50", "p95", "p99"].map(|p| figure(&trial[time], p));
            assert!(0.0 <= p50 && p50 <= p95 && p95 <= p99, "{name} {time}");
            let none = time == "compress_ns" || time == "decompress_ns";
            assert!(!none || p50 > 0.0, "{name} takes no time to {time}");
        }
        // First calls are told for the best of each codec, with a dictionary and without.
        let is_called = found["trials"].as_array().unwrap().iter().any(|other| {
            other["codec"] == trial["codec"]
                && other["dictionary"].is_null() == trial["dictionary"].is_null()
                && figure(other, "first_call_ns") > 0.0
        });
        assert!(trial["stage"] == "sizes" || is_called, "{name}");
        if codec != "stored" {
            let packed = figure(trial, "packed_bytes");
            assert!(packed < figure(trial, "bytes_in"), "{name} does not pay");
            assert!(figure(trial, "memory_bytes") > 0.0, "{name} holds no memory");
        }
        let expected = match trial["encoding"].as_str().unwrap() {
            "verbatim" | "columnar" => "bytes",
            "json" | "json-simd" => "value+text",
            _ => "value",
        };
        assert_eq!(trial["fidelity"], expected, "{name}");
    }
}

#[test]
fn the_front_is_what_no_other_trial_beats() {
    let found = found();
    let front = found["front"].as_array().unwrap();
    assert!(!front.is_empty());
    let trial_of = |point: &Value| trial(&found, point["name"].as_str().unwrap());
    for pair in front.windows(2) {
        assert!(figure(&pair[0], "packed_ratio") >= figure(&pair[1], "packed_ratio"));
        assert!(figure(&pair[0], "pack_unpack_ns") > figure(&pair[1], "pack_unpack_ns"));
    }
    for point in front {
        let trial = trial_of(point);
        assert_eq!(trial["eliminated_by"], Value::Null);
        // Both are of the payloads that report, so together they give the baseline's own ratio.
        let baseline = figure(point, "packed_ratio") * figure(trial, "size_factor");
        let first = trial_of(&front[0]);
        let expected = figure(&front[0], "packed_ratio") * figure(first, "size_factor");
        assert!((baseline / expected - 1.0).abs() < 1e-9, "{baseline} {expected}");
    }
}

#[test]
fn size_classes_add_up_to_the_corpus() {
    let found = found();
    let corpus = &found["corpus"];
    let sum = |name: &str| -> u64 {
        let classes = corpus["classes"].as_array().unwrap().iter();
        classes.map(|class| class[name].as_u64().unwrap()).sum()
    };
    assert_eq!(corpus["payloads"], sum("payloads"));
    assert_eq!(corpus["bytes"], sum("bytes"));
}

#[test]
fn a_p99_is_a_maximum_below_299_payloads_and_marked_so() {
    let few = evaluate(&["--sample", "100", "--encodings", "verbatim", "--codecs", "zlib:6"]);
    assert_eq!(trial(&few, "verbatim+zlib:6")["p99_is_max"], true);
    let notices = few["run"]["notices"].to_string();
    assert!(notices.contains("299"), "{notices}");
}

#[test]
fn versions_name_cinch_and_every_library() {
    let found = found();
    let versions = found["versions"].as_array().unwrap();
    let names: BTreeSet<&str> =
        versions.iter().map(|version| version["name"].as_str().unwrap()).collect();
    for name in ["cinch", "zstd", "lz4", "brotli", "gzip", "gzip-libdeflate", "snappy", "lzma2"] {
        assert!(names.contains(name), "{name} is not among {names:?}");
    }
    assert!(versions.iter().all(|version| !version["version"].as_str().unwrap().is_empty()));
}
