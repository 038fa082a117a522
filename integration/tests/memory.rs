//! A sample is taken while reading, so that what comes through a pipe need not fit into memory.
//!
//! The most memory that the process ever had stands in /proc; the progress on its terminal says
//! when to look.

use std::fs;
use std::io::Read;
use std::process::{Child, Stdio};

use cinch_integration::{Started, Terminal, cinch};
use serde_json::Value;

/// How many carts are generated: half a GB.
const PAYLOADS: u64 = 225_000;

/// What that must not need: a fifth of the stream, three times what is needed.
const RESIDENT_BYTES_MAX: u64 = 100 << 20;

/// The most memory that a process had until now, in bytes.
fn resident_bytes_max(child: &Child) -> u64 {
    let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    let kilobytes: u64 = line.trim().trim_end_matches(" kB").parse().unwrap();
    kilobytes << 10
}

#[test]
fn a_sample_of_half_a_gigabyte_needs_little_memory() {
    let count = PAYLOADS.to_string();
    let mut generate = cinch(["generate", "carts", "--count", &count]).command();
    generate.stdin(Stdio::null()).stdout(Stdio::piped());
    let mut generate = Started(generate.spawn().unwrap());
    let stream = generate.0.stdout.take().unwrap();

    let run = cinch(["evaluate", "-", "--sample", "2000", "--time", "1s", "--json", "-"]);
    let mut evaluate = run.and(["--codecs", "zstd:3,lz4:1", "--no-dictionary"]).command();
    let (mut terminal, theirs) = Terminal::open();
    evaluate.stdin(stream).stdout(Stdio::piped()).stderr(theirs);
    let mut evaluate = Started(evaluate.spawn().unwrap());
    // Everything was read and sized by then, and it is long enough to be shown for certain.
    terminal.wait_for("times");
    let resident_bytes = resident_bytes_max(&evaluate.0);
    assert!(resident_bytes < RESIDENT_BYTES_MAX, "{} MiB", resident_bytes >> 20);
    let mut out = String::new();
    evaluate.0.stdout.take().unwrap().read_to_string(&mut out).unwrap();
    assert!(evaluate.0.wait().unwrap().success());
    let found: Value = serde_json::from_str(&out).unwrap();
    let corpus = &found["corpus"];
    assert_eq!((&corpus["payloads"], &corpus["seen"]), (&2_000.into(), &PAYLOADS.into()));
    assert!(corpus["seen_bytes"].as_u64() > Some(4 * RESIDENT_BYTES_MAX), "{corpus}");
}
