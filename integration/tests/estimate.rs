//! `cinch estimate` tells what a profile would save: its sums are those of packing each payload
//! with `cinch pack`, and it says how many stay plain and why.
//!
//! That it skips what it can't read is tested in `damage.rs`.

use cinch_integration::{
    CODECS, Folder, assert_same_bytes, carts, cinch, figure, generated, noise, records,
};
use serde_json::Value;

fn estimate(arguments: &[&str]) -> Value {
    cinch(["estimate", "--json", "-"]).and(arguments).run().quiet().json()
}

#[test]
fn its_sums_are_those_of_packing_each_payload() {
    let folder = Folder::new();
    for kind in ["carts", "trips", "logs"] {
        let payloads = generated(kind, 80);
        let file = folder.write("payloads.ndjson", &payloads);
        for options in [
            ["--encoding", "verbatim", "--codec", "zstd:3"],
            ["--encoding", "json", "--codec", "zlib:6"],
            ["--encoding", "msgpack", "--codec", "snappy"],
        ] {
            let found = estimate(&[&[file.as_str()], &options[..]].concat());
            let pack = cinch(["pack", "--records"]).and(options).input(payloads.clone());
            let packed = pack.run().quiet().out;
            let stored: usize = records(&packed).iter().map(|record| record.len()).sum();
            assert_eq!(found["bytes_out"], stored, "{kind} {options:?}");
            assert_eq!(found["bytes_in"], payloads.len() - 80, "{kind}");
            assert_eq!(found["payloads"], 80);
            let ratio = figure(&found, "bytes_in") / figure(&found, "bytes_out");
            assert!((figure(&found, "ratio") - ratio).abs() < 1e-9);
        }
    }
}

#[test]
fn its_sums_are_those_of_packing_each_file() {
    let folder = Folder::new();
    let text = carts(12);
    let mut stored = 0;
    for (index, line) in text.split(|&byte| byte == b'\n').take(12).enumerate() {
        folder.write(&format!("{index}.json"), line);
        stored += cinch(["pack", "--codec", "lz4:9"]).input(line).run().quiet().out.len();
    }
    let found = estimate(&[folder.path().to_str().unwrap(), "--codec", "lz4:9"]);
    assert_eq!(found["bytes_out"], stored);
}

#[test]
fn it_says_how_many_stay_plain_and_why() {
    let folder = Folder::new();
    folder.write("short.bin", "short");
    folder.write("number.bin", format!("{}1", "0".repeat(63)));
    folder.write("noise.bin", noise(500));
    folder.write("packed.bin", [&[0x28, 0xB5, 0x2F, 0xFD][..], &[0; 500]].concat());
    folder.write("look-alike.bin", [&[0xC1, 0x9E, 0x80, 0x80][..], &[0; 500]].concat());
    folder.write("cart.bin", carts(3));
    let found = estimate(&[folder.path().to_str().unwrap()]);
    assert_eq!(found["payloads"], 6);
    assert_eq!(found["plain"], 4);
    assert_eq!(found["wrapped"], 1);
    let reasons = &found["plain_reasons"];
    for reason in ["below min size", "number", "already compressed", "gain too small"] {
        assert_eq!(reasons[reason], 1, "{reason}: {reasons}");
    }
    let text = cinch(["estimate", folder.path().to_str().unwrap()]).run().quiet();
    assert!(text.text().contains("below min size"), "{}", text.text());
}

#[test]
fn what_an_encoding_can_not_carry_is_counted() {
    let folder = Folder::new();
    let pad = "x".repeat(200);
    let lines = format!("{{\"p\":\"{pad}\",\"a\":1e400}}\n{{\"p\":\"{pad}\",\"a\":1}}\n");
    let file = folder.write("numbers.ndjson", lines);
    let found = estimate(&[&file, "--encoding", "msgpack", "--codec", "zlib"]);
    assert_eq!((&found["not_encoded"], &found["failures"]), (&Value::from(1), &Value::from(0)));
}

#[test]
fn its_json_has_every_promised_name() {
    let folder = Folder::new();
    let file = folder.write("carts.ndjson", carts(320));
    let found = estimate(&[&file]);
    for name in ["payloads", "bytes_in", "bytes_out", "plain", "wrapped", "not_encoded"] {
        assert!(found[name].is_u64(), "{name}: {}", found[name]);
    }
    assert_eq!(found["failures"], 0);
    assert_eq!(found["failure"], Value::Null);
    assert_eq!((&found["interrupted"], &found["p99_is_max"]), (&false.into(), &false.into()));
    assert_eq!(found["profile"], "verbatim+zstd:3");
    for times in ["pack_ns", "unpack_ns"] {
        let [p50, p95, p99] = ["p50", "p95", "p99"].map(|p| figure(&found[times], p));
        assert!(0.0 < p50 && p50 <= p95 && p95 <= p99, "{times}");
    }
    assert!(figure(&found, "ratio") > 1.5);
}

#[test]
fn every_codec_brings_every_payload_back() {
    let folder = Folder::new();
    let file = folder.write("carts.ndjson", carts(40));
    for codec in CODECS {
        assert_eq!(estimate(&[&file, "--codec", codec])["failures"], 0, "{codec}");
    }
}

#[test]
fn a_dictionary_saves_more() {
    let folder = Folder::new();
    let text = carts(200);
    let lines: Vec<&[u8]> = text.split(|&byte| byte == b'\n').collect();
    let dictionary = folder.write("carts.dict", lines[..100].join(&b'\n'));
    let file = folder.write("carts.ndjson", lines[100..].join(&b'\n'));
    let with = estimate(&[&file, "--dictionary", &dictionary]);
    let without = estimate(&[&file]);
    assert!(figure(&with, "ratio") > figure(&without, "ratio") * 1.1);
    assert_eq!(with["failures"], 0);
}

#[test]
fn the_figures_for_people_are_the_same() {
    let folder = Folder::new();
    let file = folder.write("carts.ndjson", carts(50));
    let json = folder.at("found.json");
    let ran = cinch(["estimate", &file, "--json", &json]).run().quiet();
    let found: Value = serde_json::from_slice(&folder.read("found.json")).unwrap();
    let ratio = format!("{:.2}", figure(&found, "ratio"));
    for word in ["verbatim+zstd:3", "carts.ndjson", &ratio, "failures", "p50"] {
        assert!(ran.text().contains(word), "{word} in {}", ran.text());
    }
    let piped = cinch(["estimate", "-", "--json", "-"]).input(carts(50)).run().quiet();
    assert_eq!(piped.json()["bytes_out"], found["bytes_out"]);
}

#[test]
fn a_profile_file_decides_the_thresholds() {
    let folder = Folder::new();
    let file = folder.write("carts.ndjson", carts(50));
    let with = |size: u32, gain: &str| {
        let text = format!(
            "[profile]\nname = \"mine\"\ncodec = \"zstd\"\n\
             min_size_bytes = {size}\nmin_gain = {gain}\n"
        );
        let profile = folder.write("mine.toml", text);
        estimate(&[&file, "--profile", &profile])
    };
    let all = with(0, "0.0");
    assert_eq!((&all["plain"], &all["profile"]), (&Value::from(0), &Value::from("mine")));
    let none = with(1_000_000, "0.0");
    assert_eq!(none["plain_reasons"]["below min size"], 50);
    assert_eq!(none["bytes_out"], none["bytes_in"]);
    assert_eq!(with(0, "0.99")["plain_reasons"]["gain too small"], 50);
    assert_same_bytes(&folder.read("carts.ndjson"), &carts(50), "the source is not touched");
}
