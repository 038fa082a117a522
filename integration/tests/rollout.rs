//! `cinch rollout` with real processes: the whole published walk forward and back over SQLite and
//! PostgreSQL as control stores, what freezes it, what halts it, and who wins a race for a step.
//!
//! A process of the fleet is `cinch rollout member`, which joins as an application would and is
//! told by lines what to put and get.

use std::io::{BufRead, BufReader, Write};
use std::process::{ChildStdin, ChildStdout, Stdio};
use std::time::{Duration, Instant};

use cinch_integration::{Cinch, Folder, Postgres, Ran, Started, cinch, python};
use serde_json::{Value, json};

/// How long a fleet may take to follow: the lease is a second, the machine may be busy.
const PATIENCE: Duration = Duration::from_secs(60);

const FLEET: [&str; 3] = ["host-1", "host-2", "host-3"];

/// A payload that is worth packing.
fn cart(number: usize) -> String {
    let line = format!("{{\"sku\":\"SKU-{number}\",\"price\":12.50,\"quantity\":1}}");
    format!("{{\"number\":{number},\"lines\":[{}]}}", vec![line; 20].join(","))
}

/// A service: its configuration, its table of carts and its control store.
struct Service {
    folder: Folder,
    control: String,
}

impl Service {
    /// A service whose control store is an SQLite file that is not there yet.
    fn new() -> Service {
        let folder = Folder::new();
        let control = format!("sqlite:{}", folder.at("control.db"));
        Service::over(folder, control)
    }

    fn over(folder: Folder, control: String) -> Service {
        let expected: Vec<String> = FLEET.iter().map(|name| format!("{name:?}")).collect();
        let configuration = format!(
            "[fleet]\nexpected = [{}]\nlease_ms = 3000\n\n[namespaces.carts]\nkeys = [\"cart:*\"]\n\
             managed = true\n",
            expected.join(", ")
        );
        folder.write("cinch.toml", configuration);
        let table = "create table carts (id text primary key not null, cart text, packed blob, \
                     metadata text)";
        python("sqlite.py").and(&[&folder.at("carts.db")]).run(format!("{table}\t[]\n"));
        Service { folder, control }
    }

    fn store(&self) -> String {
        let file = self.folder.at("carts.db");
        format!("sqlite:{file}?table=carts&key=id&raw=cart&compressed=packed&metadata=metadata")
    }

    /// A command of an operator.
    fn rollout(&self, command: &str) -> Cinch {
        let config = self.folder.at("cinch.toml");
        cinch(["rollout", command, "--config", &config, "--control", &self.control])
    }

    /// Joins a process, and waits until it may take traffic.
    fn member(&self, name: &str) -> Member {
        let config = self.folder.at("cinch.toml");
        let mut command = cinch(["rollout", "member", "--config", &config])
            .and(["--control", &self.control, "--store", &self.store(), "--process", name])
            .command();
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("the binary can be started");
        let stdin = child.stdin.take().expect("standard input is a pipe");
        let stdout = BufReader::new(child.stdout.take().expect("standard output is a pipe"));
        let mut member = Member { stdin, stdout, _started: Started(child) };
        assert_eq!(member.answer(), json!({ "ready": true }), "{name}");
        member
    }

    fn fleet(&self) -> Vec<Member> {
        FLEET.iter().map(|name| self.member(name)).collect()
    }

    /// Advances as soon as the fleet has followed.
    #[track_caller]
    fn advance(&self, more: &[&str]) -> Value {
        let until = Instant::now() + PATIENCE;
        loop {
            let command = self.rollout("advance").and(["--bake", "0s", "--json"]).and(more).run();
            let found = command.json();
            if command.code == Some(0) {
                return found;
            }
            let names = reasons(&found);
            let waits = names.iter().all(|name| name == "behind" || name == "differs");
            assert!(waits && command.code == Some(3), "{found} {}", command.err);
            assert!(Instant::now() < until, "nobody followed: {found}");
        }
    }

    fn status(&self) -> Value {
        self.rollout("status").and(["--json"]).run().code(0).json()[0].clone()
    }
}

/// The names of what stands against a step.
fn reasons(found: &Value) -> Vec<String> {
    let reasons = found["reasons"].as_array().expect("there are reasons");
    reasons.iter().map(|reason| reason["name"].as_str().unwrap().to_owned()).collect()
}

/// A process of the fleet.
struct Member {
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    /// Ends the process when the test does.
    _started: Started,
}

impl Member {
    fn answer(&mut self) -> Value {
        let mut line = String::new();
        self.stdout.read_line(&mut line).expect("the process answers");
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{line:?}: {error}"))
    }

    fn ask(&mut self, line: &str) -> Value {
        writeln!(self.stdin, "{line}").expect("the process listens");
        self.answer()
    }

    #[track_caller]
    fn put(&mut self, number: usize) {
        let answer = self.ask(&format!("put cart:{number} {}", cart(number)));
        assert_eq!(answer, json!({ "put": true }));
    }

    /// Gets a cart, which must be the one that was put; returns which copy it is.
    #[track_caller]
    fn get(&mut self, number: usize) -> String {
        let answer = self.ask(&format!("get cart:{number}"));
        assert_eq!(answer["payload"], cart(number), "{answer}");
        answer["source"].as_str().unwrap().to_owned()
    }

    /// Waits until it does this.
    #[track_caller]
    fn until_it_does(&mut self, does: &str) {
        let until = Instant::now() + PATIENCE;
        loop {
            let answer = self.ask("look");
            if answer["does"]["carts"] == does {
                return;
            }
            assert!(Instant::now() < until, "{answer} instead of {does}");
        }
    }
}

/// The steps with what the first process and the others do.
const WALK: [(&str, &str, &str); 6] = [
    ("first-write", "DUAL/NO_COMPRESS", "NO_COMPRESS/NO_COMPRESS"),
    ("all-write", "DUAL/NO_COMPRESS", "DUAL/NO_COMPRESS"),
    ("verify", "DUAL/VERIFY_COMPRESS", "DUAL/VERIFY_COMPRESS"),
    ("first-read", "DUAL/COMPRESS_ONLY", "DUAL/VERIFY_COMPRESS"),
    ("all-read", "DUAL/COMPRESS_ONLY", "DUAL/COMPRESS_ONLY"),
    ("packed-only", "COMPRESS_ONLY/COMPRESS_ONLY", "COMPRESS_ONLY/COMPRESS_ONLY"),
];

/// Every process reads what every other one has written, before and after each step.
fn exchange(fleet: &mut [Member], next: &mut usize) {
    for writer in 0..fleet.len() {
        fleet[writer].put(*next);
        for reader in fleet.iter_mut() {
            reader.get(*next);
            reader.get(*next / 2);
        }
        *next += 1;
    }
}

fn walk(service: &Service) {
    let mut fleet = service.fleet();
    let mut next = 1;
    fleet[0].put(0);
    exchange(&mut fleet, &mut next);
    for (step, first, others) in WALK {
        let moved = service.advance(&["--first", "host-2"]);
        assert_eq!(
            (moved["outcome"].as_str(), moved["step"].as_str()),
            (Some("changed"), Some(step))
        );
        // While some have followed and others have not, everything is read.
        exchange(&mut fleet, &mut next);
        fleet[1].until_it_does(first);
        fleet[0].until_it_does(others);
        fleet[2].until_it_does(others);
        exchange(&mut fleet, &mut next);
    }
    fleet[0].put(next);
    assert_eq!(fleet[2].get(next), "packed");
    let status = service.status();
    assert_eq!(status["state"]["may_lack_raw"], true);
    assert_eq!(status["next"], Value::Null);
    let done = service.rollout("advance").and(["--bake", "0s"]).run().code(3);
    assert!(done.text().contains("there is no step after it"), "{}", done.text());
    for (step, ..) in WALK.iter().rev().skip(1) {
        let back = service.rollout("back").and(["--json"]).run().code(0).json();
        assert_eq!(back["step"], *step);
        exchange(&mut fleet, &mut next);
    }
    service.rollout("back").run().code(0);
    // What lacks its raw copy is read on; what is written is raw again.
    fleet[0].until_it_does("NO_COMPRESS/COMPRESS_ONLY");
    exchange(&mut fleet, &mut next);
    fleet[0].put(next);
    assert_eq!(fleet[2].get(next), "raw");
    service.rollout("back").run().code(3);
    let mismatches = service.status()["processes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|process| process["since_step"]["mismatches"].as_u64().unwrap())
        .sum::<u64>();
    assert_eq!(mismatches, 0);
}

#[test]
fn a_fleet_walks_all_published_steps_and_back_over_sqlite() {
    walk(&Service::new());
}

#[test]
fn a_fleet_walks_all_published_steps_and_back_over_postgres() {
    let server = Postgres::shared();
    walk(&Service::over(Folder::new(), server.address()));
}

#[test]
fn a_missing_process_freezes_the_rollout_and_going_back_is_free() {
    let service = Service::new();
    let mut fleet = service.fleet();
    service.advance(&[]);
    // It is killed, so that nobody takes its announcement back.
    drop(fleet.pop());
    let until = Instant::now() + PATIENCE;
    loop {
        let held = service.rollout("advance").and(["--bake", "0s", "--json"]).run().code(3);
        if reasons(&held.json()).contains(&"missing".to_owned()) {
            break;
        }
        assert!(Instant::now() < until, "{}", held.text());
    }
    let status = service.rollout("status").run().code(0);
    assert!(
        status.text().contains("host-3 is expected and does not announce"),
        "{}",
        status.text()
    );
    // The others write nothing packed while nobody knows what it does.
    fleet[0].until_it_does("NO_COMPRESS/NO_COMPRESS");
    service.rollout("back").run().code(0);
    let _third = service.member("host-3");
    assert_eq!(service.advance(&[])["step"], "first-write");
}

#[test]
fn a_step_bakes_and_a_stale_epoch_holds_it() {
    let service = Service::new();
    let began = service.rollout("advance").and(["--json"]).run().code(3).json();
    assert_eq!(began["outcome"], "began");
    let fleet = service.fleet();
    let held = service.rollout("advance").and(["--json"]).run().code(3).json();
    assert_eq!(
        (held["outcome"].as_str(), reasons(&held)),
        (Some("held"), vec!["baking".to_owned()])
    );
    service.advance(&[]);
    // The step has just begun; no process can have announced it, unless a whole renewal passed.
    let again = service.rollout("advance").and(["--bake", "0s", "--json"]).run();
    if again.code == Some(3) {
        let names = reasons(&again.json());
        assert!(names.iter().all(|name| name == "behind" || name == "differs"), "{names:?}");
    }
    drop(fleet);
}

#[test]
fn a_mismatch_halts_and_only_an_operator_lets_it_go_on() {
    let service = Service::new();
    let mut fleet = service.fleet();
    for _ in 0..3 {
        service.advance(&[]);
    }
    for member in &mut fleet {
        member.until_it_does("DUAL/VERIFY_COMPRESS");
    }
    fleet[0].put(1);
    fleet[0].put(2);
    assert_eq!(fleet[1].get(1), "raw");
    // The packed copy of one cart gets the bytes of the other: somebody's bug, or a bad disk.
    let swap = "update carts set packed = (select packed from carts where id = 'cart:2') \
                where id = 'cart:1'\t[]\n";
    python("sqlite.py").and(&[&service.folder.at("carts.db")]).run(swap);
    let answer = fleet[1].ask("get cart:1");
    assert_eq!(answer["payload"], cart(1), "{answer}");
    assert_ne!(answer["findings"], json!([]), "{answer}");
    let watch = ["--every", "100ms", "--for", "60s", "--json"];
    let halted = service.rollout("watch").and(watch).run().code(3);
    assert!(halted.text().contains("host-2 counted 1 mismatches"), "{}", halted.text());
    let held = service.rollout("advance").and(["--bake", "0s", "--json"]).run().code(3).json();
    assert!(reasons(&held).contains(&"halted".to_owned()), "{held}");
    service.rollout("back").run().code(0);
    let held = service.rollout("advance").and(["--bake", "0s", "--json"]).run().code(3).json();
    assert!(reasons(&held).contains(&"halted".to_owned()), "{held}");
    service.rollout("advance").and(["--resume"]).run().code(0);
    // What was counted before is the baseline of the step that begins anew.
    assert_eq!(service.advance(&[])["step"], "verify");
}

#[test]
fn a_slower_p99_halts_and_says_by_how_much() {
    let service = Service::new();
    let mut fleet = service.fleet();
    for member in &mut fleet {
        member.ask("slow 10000");
    }
    let until = Instant::now() + PATIENCE;
    let is_told = |status: &Value| {
        let processes = status["processes"].as_array().unwrap();
        processes.iter().all(|process| process["since_step"]["read_p99_us"] == 10_000)
    };
    while !is_told(&service.status()) {
        assert!(Instant::now() < until, "nobody told its p99");
    }
    service.advance(&[]);
    fleet[2].ask("slow 15001");
    let watch = ["--every", "100ms", "--for", "60s", "--limit", "write_p99=1000", "--json"];
    let halted = service.rollout("watch").and(watch).run().code(3);
    for words in ["host-3", "reads is 15001 us, 10000 us in the step before", "50 %"] {
        assert!(halted.text().contains(words), "{words} in {}", halted.text());
    }
}

#[test]
fn replicas_that_lag_hold_a_step_by_the_word_of_a_command() {
    let service = Service::new();
    let _fleet = service.fleet();
    for (command, name) in [("echo 12.5", "lag"), ("echo no replica >&2; exit 1", "lag_unknown")] {
        let more = ["--bake", "0s", "--json", "--lag-command", command];
        let held = service.rollout("advance").and(more).run().code(3).json();
        // The first command begins the rollout, which the fleet has to see.
        let names: Vec<String> =
            reasons(&held).into_iter().filter(|name| name != "behind").collect();
        assert_eq!(names, [name]);
    }
    service.advance(&["--lag-command", "echo 0.2"]);
}

#[test]
fn a_watch_walks_by_itself_to_the_last_step() {
    let service = Service::new();
    let _fleet = service.fleet();
    let watch = ["--auto", "--every", "50ms", "--bake", "100ms", "--for", "240s"];
    let watched = service.rollout("watch").and(watch).run().code(0);
    for (step, ..) in WALK {
        assert!(watched.text().contains(&format!("-> {step}")), "{step} in {}", watched.text());
    }
    assert_eq!(service.status()["step"], "packed-only");
}

#[test]
fn of_two_operators_at_once_one_wins() {
    let service = Service::new();
    let _fleet = service.fleet();
    let advance = || service.rollout("advance").and(["--bake", "0s", "--json"]).run();
    let ran: Vec<Ran> = std::thread::scope(|scope| {
        let operators: Vec<_> = (0..3).map(|_| scope.spawn(advance)).collect();
        operators.into_iter().map(|operator| operator.join().unwrap()).collect()
    });
    let codes: Vec<Option<i32>> = ran.iter().map(|ran| ran.code).collect();
    assert!(codes.iter().all(|code| matches!(code, Some(0 | 3))), "{codes:?}");
    let status = service.status();
    let won = codes.iter().filter(|code| **code == Some(0)).count() as u64;
    // Each success is one epoch: nobody's step was overwritten by another's.
    assert!(won >= 1 && status["state"]["epoch"].as_u64() == Some(won), "{codes:?} {status}");
}

#[test]
fn a_share_of_keys_goes_before_the_others() {
    let service = Service::new();
    let mut fleet = service.fleet();
    let moved = service.advance(&["--percent", "30"]);
    assert_eq!(
        (moved["step"].as_str(), moved["percent"].as_u64()),
        (Some("first-write"), Some(30))
    );
    let held = service.rollout("advance").and(["--percent", "20", "--bake", "0s"]).run().code(3);
    assert!(held.text().contains("can only grow"), "{}", held.text());
    assert_eq!(service.advance(&["--percent", "60"])["percent"], 60);
    let whole = service.advance(&[]);
    assert_eq!(
        (whole["step"].as_str(), whole["percent"].as_u64()),
        (Some("first-write"), Some(100))
    );
    fleet[0].until_it_does("DUAL/NO_COMPRESS");
}

#[test]
fn the_plan_shows_every_step_in_words_and_for_programs() {
    let service = Service::new();
    let config = service.folder.at("cinch.toml");
    let plan = cinch(["rollout", "plan", "--config", &config]).run().quiet();
    for (step, first, _) in WALK {
        assert!(plan.text().contains(step), "{step}");
        let (write, read) = first.split_once('/').unwrap();
        assert!(plan.text().contains(&format!("write {write}, read {read}")), "{first}");
    }
    let plan = cinch(["rollout", "plan", "--config", &config, "--json"]).run().quiet().json();
    assert_eq!(plan[0]["steps"].as_array().unwrap().len(), 7);
    service.folder.write(
        "one.toml",
        "[namespaces.menus]\nkeys = [\"menu:*\"]\nmanaged = true\nslots = \"one\"\n",
    );
    let one = cinch(["rollout", "plan", "--config", &service.folder.at("one.toml")]).run().quiet();
    assert!(one.text().contains("write shadow") && !one.text().contains("packed-only"));
}

#[test]
fn what_is_wrong_is_one_clear_line() {
    let service = Service::new();
    let config = service.folder.at("cinch.toml");
    let control = service.control.clone();
    let refused = |more: &[&str], code: i32, words: &[&str]| {
        cinch(["rollout"]).and(more).run().refused(code, words);
    };
    let place = ["--config", &config, "--control", &control];
    let with = |command: &'static str, more: &[&'static str]| {
        [&[command], &place[..], more].concat().into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    let words = |arguments: &[String], code: i32, words: &[&str]| {
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        refused(&arguments, code, words);
    };
    words(&with("status", &[]), 1, &["control.db"]);
    words(&with("advance", &["--namespace", "menus"]), 2, &["no namespace menus", "carts"]);
    words(&with("advance", &["--limit", "mismatch=3"]), 2, &["no mismatch", "decode_errors"]);
    words(&with("back", &["--to", "of"]), 2, &["no step of", "first-write"]);
    let memory = ["advance", "--config", &config, "--control", "memory:"];
    refused(&memory, 1, &["memory:", "no other process"]);
    let missing = service.folder.at("missing.toml");
    refused(&["plan", "--config", &missing], 1, &["missing.toml"]);
    let settled = "[namespaces.carts]\nkeys = [\"*\"]\nwrite_mode = \"DUAL\"\n";
    let settled = service.folder.write("settled.toml", settled);
    refused(&["plan", "--config", &settled], 2, &["managed = true"]);
    let named = ["back", "--config", &settled, "--control", &control, "--namespace", "carts"];
    // Without a fleet there is a warning beside the refusal.
    let back = cinch(["rollout"]).and(named).run().code(1);
    assert!(back.err.contains("control.db") || back.err.contains("managed = true"), "{}", back.err);
}
