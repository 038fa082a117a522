//! Candidates are tried in processes of their own: when one of those dies, one trial is out and
//! the evaluation goes on; and none of them outlives the evaluation, however that ends.
//!
//! The tests find these processes as anybody would, in /proc.

use std::fs;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use cinch_integration::{Cinch, Folder, Started, carts, cinch, small_carts, trial};
use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use serde_json::Value;

/// A test that waits for what never comes should fail and not hang.
const PATIENCE: Duration = Duration::from_secs(60);

/// A process of /proc: its parent and its process group, if it is alive.
struct Seen {
    parent: i32,
    group: i32,
}

/// What is alive under this id; what has ended and was not waited for is not.
fn seen(id: i32) -> Option<Seen> {
    let stat = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    // The name stands in brackets and may hold anything.
    let (_, fields) = stat.rsplit_once(") ")?;
    let mut fields = fields.split(' ');
    let is_alive = !matches!(fields.next()?, "Z" | "X");
    let mut number = || fields.next()?.parse().ok();
    let (parent, group) = (number()?, number()?);
    is_alive.then_some(Seen { parent, group })
}

/// The processes that try candidates and are of this kind.
fn workers(is_wanted: impl Fn(&Seen) -> bool) -> Vec<i32> {
    let is_worker = |id: &i32| {
        let command = fs::read(format!("/proc/{id}/cmdline")).unwrap_or_default();
        command.split(|&byte| byte == 0).any(|argument| argument == b"measure-worker")
    };
    let entries = fs::read_dir("/proc").expect("/proc is there");
    entries
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .filter(|&id| seen(id).is_some_and(|seen| is_wanted(&seen)))
        .filter(is_worker)
        .collect()
}

/// Waits until this is the case.
#[track_caller]
fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < PATIENCE, "it never happened that {what}");
        thread::yield_now();
    }
}

/// The first process that this evaluation tries candidates in.
#[track_caller]
fn first_worker(evaluation: &Child) -> i32 {
    let parent = evaluation.id().cast_signed();
    let mut found = None;
    wait_until("a candidate is tried", || {
        found = workers(|seen| seen.parent == parent).first().copied();
        found.is_some()
    });
    found.expect("it was found")
}

/// Starts it in a process group of its own, as a shell does.
fn start(run: &Cinch) -> Started {
    let mut command: Command = run.command();
    command.process_group(0).stdout(Stdio::null()).stderr(Stdio::null());
    Started(command.spawn().expect("the binary can be started"))
}

fn group_of(started: &Started) -> i32 {
    started.0.id().cast_signed()
}

/// Sends a signal until the process has ended of it. A process of Rust takes its first SIGSEGV for
/// a fault that would come again, which one from outside does not.
#[track_caller]
fn end_by(signal: Signal, id: i32) {
    let pid = Pid::from_raw(id).expect("an id of a process");
    wait_until("the process ends", || {
        // One that has ended already can't be sent a signal, which is what is waited for.
        kill_process(pid, signal).is_err() || seen(id).is_none()
    });
}

fn crashed(found: &Value) -> Vec<&Value> {
    let is_crashed = |trial: &&Value| {
        trial["eliminated_by"].as_str().is_some_and(|rule| rule.starts_with("crashed"))
    };
    found["trials"].as_array().unwrap().iter().filter(is_crashed).collect()
}

#[test]
fn a_process_that_crashes_takes_one_trial_with_it_and_no_more() {
    let folder = Folder::new();
    let file = folder.write("carts.ndjson", carts(2_000));
    let run = cinch(["evaluate", &file, "--time", "10s", "--codecs", "zstd:9,lz4:9,zlib:6"]);
    let json = folder.at("found.json");
    let mut started = start(&run.and(["--json", &json, "--report", &folder.at("report")]));
    end_by(Signal::SEGV, first_worker(&started.0));
    let status = started.0.wait().unwrap();
    assert_eq!(status.code(), Some(3), "a trial failed, the rest was measured: {status}");

    let found: Value = serde_json::from_slice(&folder.read("found.json")).unwrap();
    let crashed = crashed(&found);
    assert_eq!(crashed.len(), 1, "{crashed:?}");
    let rule = crashed[0]["eliminated_by"].as_str().unwrap();
    assert!(rule.starts_with("crashed: "), "{rule}");
    assert!(rule.contains("signal 11 (segmentation fault)"), "{rule}");
    assert_eq!(crashed[0]["failures"], 1);
    assert_eq!(found["run"]["interrupted"], false);
    let recommended = found["recommended"]["name"].as_str().unwrap();
    let best = trial(&found, recommended);
    assert_eq!((&best["failures"], &best["stage"]), (&0.into(), &"whole".into()));
    assert_ne!(recommended, "verbatim+stored");
    for trial in found["trials"].as_array().unwrap() {
        let is_it = trial["name"] == crashed[0]["name"];
        assert!(is_it || trial["payloads"].as_u64() > Some(0), "{} was left out", trial["name"]);
    }
    let page = folder.read_text("report/index.html");
    assert!(page.contains("segmentation fault"), "the report says nothing of it");
}

#[test]
fn ctrl_c_ends_every_process_and_is_no_crash() {
    let folder = Folder::new();
    let file = folder.write("carts.ndjson", carts(2_000));
    let json = folder.at("found.json");
    let run = cinch(["evaluate", &file, "--time", "60s", "--all", "--json", &json]);
    let mut started = start(&run);
    first_worker(&started.0);
    // A terminal sends it to every process of the group.
    let group = group_of(&started);
    kill_process_group(Pid::from_raw(group).unwrap(), Signal::INT).unwrap();
    let status = started.0.wait().unwrap();
    assert_eq!(status.code(), Some(3), "a result in part: {status}");
    assert_eq!(workers(|seen| seen.group == group), Vec::<i32>::new(), "orphans");
    let found: Value = serde_json::from_slice(&folder.read("found.json")).unwrap();
    assert_eq!(found["run"]["interrupted"], true);
    assert_eq!(crashed(&found), Vec::<&Value>::new(), "what the user ended is no crash");
}

#[test]
fn no_process_outlives_an_evaluation_that_is_killed() {
    let folder = Folder::new();
    let file = folder.write("carts.ndjson", carts(2_000));
    let run = cinch(["evaluate", &file, "--time", "60s", "--all", "--json", "found.json"]);
    let mut started = start(&run.inside(folder.path()));
    first_worker(&started.0);
    started.0.kill().unwrap();
    started.0.wait().unwrap();
    let group = group_of(&started);
    wait_until("they end by themselves", || workers(|seen| seen.group == group).is_empty());
}

#[test]
fn no_process_is_left_when_all_went_well() {
    let folder = Folder::new();
    let file = folder.write("carts.ndjson", small_carts(60, 1));
    let run = cinch(["evaluate", &file, "--time", "1s", "--codecs", "zstd:3"]);
    let mut started = start(&run.and(["--json", &folder.at("found.json")]));
    let status = started.0.wait().unwrap();
    assert!(status.success(), "{status}");
    let group = group_of(&started);
    assert_eq!(workers(|seen| seen.group == group), Vec::<i32>::new(), "orphans");
}
