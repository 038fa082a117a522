//! Ctrl-C: the first one gives the report of what was measured so far, the second one ends the
//! process at once.
//!
//! The tests wait for what they can see: the progress on a terminal, or that the signal was taken.

use std::fs;
use std::io::{Read, Write};
use std::process::{Child, ChildStdin, Stdio};
use std::thread;

use cinch_integration::{Cinch, Folder, Started, Terminal, carts, cinch};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

/// Sends what Ctrl-C sends, and waits until it was taken: of two that wait, one would be lost.
fn interrupt(child: &Child) {
    kill_process(Pid::from_child(child), Signal::INT).expect("it can be sent a signal");
    let is_pending = || {
        let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("ShdPnd:"));
        let mask = line.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
        mask.unwrap_or(0) & 1 << (Signal::INT.as_raw() - 1) != 0
    };
    while is_pending() {
        thread::yield_now();
    }
}

/// Starts it with its standard error on a terminal.
fn start(cinch: &Cinch) -> (Started, Terminal) {
    let (terminal, theirs) = Terminal::open();
    let mut command = cinch.command();
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(theirs);
    (Started(command.spawn().unwrap()), terminal)
}

/// Everything that it still writes to its standard output and to the terminal.
fn rest(started: &mut Started, terminal: Terminal) -> (String, String) {
    let shown = thread::spawn(move || terminal.finish());
    let mut out = String::new();
    started.0.stdout.take().unwrap().read_to_string(&mut out).unwrap();
    (out, shown.join().unwrap())
}

/// Writes what reading tells its progress of, which it does for every megabyte.
fn write_megabytes(stdin: &mut ChildStdin) -> std::io::Result<()> {
    let lines = carts(500);
    stdin.write_all(&lines.repeat(3_000_000 / lines.len() + 1))
}

#[test]
fn an_interrupted_evaluation_reports_what_was_measured() {
    let folder = Folder::new();
    let file = folder.write("carts.ndjson", carts(2_000));
    // Every pair and level of everything: an hour, if nobody stops it.
    let run = cinch(["evaluate", &file, "--all", "--goal", "smallest", "--time", "600s"])
        .and(["--report", "report", "--json", "-"])
        .inside(folder.path());
    let (mut started, mut terminal) = start(&run);
    terminal.wait_for("sizes");
    interrupt(&started.0);
    let (out, shown) = rest(&mut started, terminal);
    let status = started.0.wait().unwrap();
    assert_eq!(status.code(), Some(3), "a result in part: {shown}");
    let found: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(found["run"]["interrupted"], true);
    assert!(found["run"]["notices"].to_string().contains("cut short"));
    let trials = found["trials"].as_array().unwrap();
    let is_left_out = |trial: &&Value| trial["payloads"] == 0;
    assert!(trials.iter().any(|trial| is_left_out(&trial)), "everything was measured");
    for trial in trials.iter().filter(is_left_out) {
        assert_eq!(trial["eliminated_by"], "interrupted: it was not measured");
    }
    for file in ["index.html", "evaluation.json", "profile.toml", "scatter.svg"] {
        assert!(!folder.read(&format!("report/{file}")).is_empty(), "{file}");
    }
    assert!(folder.read_text("report/index.html").contains("cut short"));
    assert_eq!(folder.names(), ["carts.ndjson", "report"], "no temporary file is left");
}

#[test]
fn an_evaluation_that_is_interrupted_late_still_recommends() {
    let folder = Folder::new();
    let file = folder.write("carts.ndjson", carts(2_000));
    let codecs = "lz4,zlib:6,zstd:3,lzma2:9,brotli:11";
    let run = cinch(["evaluate", &file, "--codecs", codecs, "--time", "600s", "--json", "-"]);
    let (mut started, mut terminal) = start(&run);
    terminal.wait_for("times");
    interrupt(&started.0);
    let (out, shown) = rest(&mut started, terminal);
    let found: Value = serde_json::from_str(&out).unwrap_or_else(|e| panic!("{e}: {shown}"));
    assert_eq!(found["run"]["interrupted"], true);
    for trial in found["trials"].as_array().unwrap() {
        assert!(trial["payloads"].as_u64().unwrap() > 0, "{} was sized", trial["name"]);
        assert_eq!(trial["failures"], 0);
    }
}

#[test]
fn a_second_interrupt_ends_the_process() {
    // It waits for input that never comes, so that the first interrupt can't end it.
    let folder = Folder::new();
    let run = cinch(["evaluate", "-"]).inside(folder.path());
    let (mut started, mut terminal) = start(&run);
    let mut stdin = started.0.stdin.take().unwrap();
    write_megabytes(&mut stdin).unwrap();
    terminal.wait();
    interrupt(&started.0);
    interrupt(&started.0);
    let status = started.0.wait().unwrap();
    drop(stdin);
    assert_eq!(status.code(), Some(130), "{status}");
}

#[test]
fn an_interrupt_while_reading_reports_on_what_was_read() {
    let (mut started, mut terminal) = start(&cinch(["estimate", "-", "--json", "-"]));
    let mut stdin = started.0.stdin.take().unwrap();
    write_megabytes(&mut stdin).unwrap();
    terminal.wait();
    interrupt(&started.0);
    // It stops at the next piece that it reads; the pipe is not closed before that.
    let writer = thread::spawn(move || while write_megabytes(&mut stdin).is_ok() {});
    let (out, shown) = rest(&mut started, terminal);
    let status = started.0.wait().unwrap();
    writer.join().unwrap();
    assert_eq!(status.code(), Some(3), "{shown}");
    let found: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(found["interrupted"], true);
}

#[test]
fn an_interrupted_generation_ends_without_a_file() {
    let folder = Folder::new();
    let run = cinch(["generate", "carts", "--count", "100000000", "-o", "carts.ndjson"]);
    let (mut started, terminal) = start(&run.inside(folder.path()));
    // The temporary file appears when it has begun, the handler of signals before that.
    while folder.names().is_empty() {
        thread::yield_now();
    }
    interrupt(&started.0);
    let (_, shown) = rest(&mut started, terminal);
    assert_eq!(started.0.wait().unwrap().code(), Some(130));
    assert_eq!(shown.trim_end(), "cinch: interrupted");
    assert_eq!(folder.names(), Vec::<String>::new());
}

#[test]
fn reading_tells_how_far_it_is() {
    let (mut started, mut terminal) = start(&cinch(["estimate", "-", "--json", "-"]));
    let mut stdin = started.0.stdin.take().unwrap();
    write_megabytes(&mut stdin).unwrap();
    terminal.wait_for("payloads,");
    drop(stdin);
    let (out, _) = rest(&mut started, terminal);
    assert!(serde_json::from_str::<Value>(&out).is_ok());
}

#[test]
fn progress_is_shown_on_a_terminal_unless_it_is_unwanted() {
    let shown = |progress: &str| {
        let run = cinch(["evaluate", "--sample", "60", "--time", "1s", "--json", "-"]);
        let (mut started, terminal) = start(&run.and(["--progress", progress]));
        let (out, shown) = rest(&mut started, terminal);
        assert!(started.0.wait().unwrap().success());
        assert!(serde_json::from_str::<Value>(&out).is_ok(), "progress is no output");
        shown
    };
    let auto = shown("auto");
    assert!(auto.contains("times") && auto.contains('%') && auto.contains("left"), "{auto:?}");
    assert_eq!(shown("never"), "");
}
