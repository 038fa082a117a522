//! `cinch report`: what processes counted, drawn as one page, and clear words for what is no such
//! count.

use cinch_integration::{Folder, cinch};
use serde_json::{Value, json};

/// What a process exports that wrote so many carts in each of two minutes.
fn export(process: &str, writes: u64) -> Value {
    let sample = |kind: &str, number: u64| {
        json!({
            "kind": kind, "payload_bytes": 30_000 + number, "packed_bytes": 5_000 + number,
            "time_ns": 20_000 + number,
        })
    };
    let minute = |minute: u64, stored_bytes: u64| {
        json!({
            "minute": minute, "writes": writes, "payload_bytes": writes * 32_000,
            "stored_bytes": writes * stored_bytes,
        })
    };
    let samples: Vec<Value> =
        (0..20).map(|n| sample(["write", "read"][n as usize % 2], n)).collect();
    json!({
        "version": 1,
        "processes": [process],
        "namespaces": { "carts": {
            "samples": samples,
            "minutes": [minute(29_000_000, 32_000), minute(29_000_001, 5_000)],
        }},
    })
}

#[test]
fn two_processes_make_one_page() {
    let folder = Folder::new();
    folder.write("a.json", export("cart-1", 10).to_string());
    folder.write("b.json", export("cart-2", 30).to_string());
    let files = ["report", "a.json", "b.json", "-o", "page.html"];
    cinch(files).inside(folder.path()).run().code(0).quiet();
    let page = folder.read_text("page.html");
    assert!(page.contains("cart-1, cart-2"), "both processes are named");
    // Ten writes of each process are in two plots, ten reads of each in one.
    assert_eq!(page.matches("class=\"dot f1\"").count(), 60);
    assert!(page.contains("32.0 KB in the first minute, 5.00 KB in the last"));

    let json = cinch(["report", "--json", "a.json", "-", "-o", "-"])
        .inside(folder.path())
        .input(export("cart-2", 30).to_string())
        .run();
    let merged = json.code(0).json();
    assert_eq!(merged["namespaces"]["carts"]["minutes"][0]["writes"], 40);
}

#[test]
fn what_is_no_export_is_told_and_nothing_is_written() {
    let folder = Folder::new();
    folder.write("a.json", export("cart-1", 10).to_string());
    folder.write("cut.json", &export("cart-2", 10).to_string()[..100]);
    let mut newer = export("cart-3", 10);
    newer["version"] = json!(2);
    folder.write("newer.json", newer.to_string());
    for (file, words) in [
        ("cut.json", "no export of samples"),
        ("newer.json", "version 2"),
        ("missing.json", "No such file"),
    ] {
        let files = ["report", "a.json", file, "-o", "page.html"];
        cinch(files).inside(folder.path()).run().refused(1, &[file, words]);
        assert!(!folder.path().join("page.html").exists());
    }
}
