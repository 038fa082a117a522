//! The jobs beside a rollout, with the real control plane: a backfill that goes no further than the
//! step that holds, a verification that clears a flag by proof, and namespaces whose profile needs
//! a schema.

use std::io::{BufRead, BufReader, Write};
use std::process::{ChildStdin, ChildStdout, Stdio};
use std::time::{Duration, Instant};

use cinch_integration::{Cinch, Folder, Redis, Started, cinch, python, small_carts};
use serde_json::{Value, json};

/// How long a fleet may take to follow: the lease is three seconds, the machine may be busy.
const PATIENCE: Duration = Duration::from_secs(60);

const FLEET: [&str; 2] = ["host-1", "host-2"];

fn payloads(count: usize) -> Vec<String> {
    let text = String::from_utf8(small_carts(count, 1)).unwrap();
    text.lines().map(str::to_owned).collect()
}

/// A payload that is worth packing in every mode.
fn cart(number: usize) -> String {
    let line = format!("{{\"sku\":\"SKU-{number}\",\"price\":12.50,\"quantity\":1}}");
    format!("{{\"number\":{number},\"lines\":[{}]}}", vec![line; 20].join(","))
}

/// A service with a table of carts and a control store.
struct Service {
    folder: Folder,
    store: String,
}

impl Service {
    fn new(settings: &str) -> Service {
        let folder = Folder::new();
        let expected = FLEET.map(|name| format!("{name:?}")).join(", ");
        let configuration = format!(
            "[fleet]\nexpected = [{expected}]\nlease_ms = 3000\n\n[namespaces.carts]\n\
             keys = [\"cart:*\"]\nmanaged = true\n{settings}"
        );
        folder.write("cinch.toml", configuration);
        let table = "create table carts (id text primary key not null, cart text, packed blob, \
                     metadata text)";
        python("sqlite.py").and(&[&folder.at("carts.db")]).run(format!("{table}\t[]\n"));
        let names = "table=carts&key=id&raw=cart&compressed=packed&metadata=metadata";
        let store = format!("sqlite:{}?{names}", folder.at("carts.db"));
        Service { folder, store }
    }

    fn place(&self) -> [String; 4] {
        let control = format!("sqlite:{}", self.folder.at("control.db"));
        ["--config".to_owned(), self.folder.at("cinch.toml"), "--control".to_owned(), control]
    }

    fn rollout(&self, command: &str) -> Cinch {
        cinch(["rollout", command]).and(self.place())
    }

    /// A job over the table.
    fn job(&self, command: &str) -> Cinch {
        let job = cinch([command, &self.store, "--json"]).and(self.place());
        job.inside(self.folder.path())
    }

    fn member(&self, name: &str) -> Member {
        let mut command =
            self.rollout("member").and(["--store", &self.store, "--process", name]).command();
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("the binary can be started");
        let stdin = child.stdin.take().expect("standard input is a pipe");
        let stdout = BufReader::new(child.stdout.take().expect("standard output is a pipe"));
        let mut member = Member { stdin, stdout, _started: Started(child) };
        assert_eq!(member.answer(), json!({ "ready": true }), "{name}");
        member
    }

    /// Advances to a step, as soon as the fleet has followed each one before it.
    #[track_caller]
    fn advance_to(&self, step: &str) {
        let until = Instant::now() + PATIENCE;
        loop {
            let ran = self.rollout("advance").and(["--bake", "0s", "--json"]).run();
            let found = ran.json();
            if ran.code == Some(0) && found["step"] == step {
                return;
            }
            assert!(Instant::now() < until, "nobody followed: {found}");
        }
    }

    fn state(&self) -> Value {
        self.rollout("status").and(["--json"]).run().code(0).json()[0]["state"].clone()
    }
}

struct Member {
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
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
    fn put(&mut self, number: usize, payload: &str) {
        assert_eq!(self.ask(&format!("put cart:{number} {payload}")), json!({ "put": true }));
    }

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

#[test]
fn a_backfill_goes_by_the_step_and_a_clean_verification_clears_the_flag() {
    let service = Service::new("");
    let payloads: Vec<String> = (0..40).map(cart).collect();
    let mut fleet = [service.member("host-1"), service.member("host-2")];
    // A rollout that packs nothing, or not everywhere, is not run ahead of.
    service.job("backfill").run().refused(1, &["does not run ahead", "cinch rollout advance"]);
    service.advance_to("first-write");
    service.job("backfill").run().refused(1, &["does not run ahead"]);
    service.advance_to("packed-only");
    for member in &mut fleet {
        member.until_it_does("COMPRESS_ONLY/COMPRESS_ONLY");
    }
    for (number, payload) in payloads.iter().enumerate() {
        fleet[number % 2].put(number, payload);
    }
    let proof = || service.job("verify").and(["--settle", "0s"]).run();
    proof().refused(1, &["packed-only writes records without a raw copy", "rollout back"]);
    service.rollout("back").run().code(0);
    for member in &mut fleet {
        member.until_it_does("DUAL/COMPRESS_ONLY");
    }
    // The records are still there: the run is clean, and clears nothing.
    let told = proof().code(3);
    assert!(told.err.contains("40 records without a raw copy are there"), "{}", told.err);
    let state = service.state();
    assert_eq!((&state["may_lack_raw"], &state["sealed"]), (&json!(true), &json!(false)));
    let done = service.job("backfill").run().code(0).json();
    assert_eq!(done["counts"]["rewritten"], 40);
    let told = proof().code(0);
    assert!(told.err.contains("cleared at epoch"), "{}", told.err);
    let state = service.state();
    assert_eq!((&state["may_lack_raw"], &state["sealed"]), (&json!(false), &json!(false)));
    assert_eq!(state["proof"]["records"], 40);
    // Now the raw copies alone are read again where a step says so.
    service.rollout("back").and(["--to", "off"]).run().code(0);
    for (number, member) in fleet.iter_mut().enumerate() {
        member.until_it_does("NO_COMPRESS/NO_COMPRESS");
        let answer = member.ask(&format!("get cart:{number}"));
        assert_eq!(
            (&answer["payload"], &answer["source"]),
            (&json!(payloads[number]), &json!("raw"))
        );
    }
    // Who is missing stands against a job that would write, and against a proof.
    service.advance_to("all-write");
    for member in &mut fleet {
        member.until_it_does("DUAL/NO_COMPRESS");
    }
    drop(fleet);
    let until = Instant::now() + PATIENCE;
    loop {
        let held = service.job("backfill").run();
        if held.code == Some(1) {
            held.says(&["held back", "is expected and does not announce"]);
            break;
        }
        assert!(Instant::now() < until, "nobody was missed: {}", held.err);
    }
}

#[test]
fn without_a_control_store_a_backfill_says_what_it_assumes() {
    let folder = Folder::new();
    let redis = Redis::start();
    redis.run(&["set", "cart:1", &payloads(1)[0]]);
    let settings = "[namespaces.carts]\nkeys = [\"cart:*\"]\nwrite = \"packed\"\n";
    let config = folder.write("cinch.toml", settings);
    let job = cinch(["backfill", &redis.address(), "--config", &config]).inside(folder.path());
    let told = job.run().code(0);
    let words = ["carts: without --control it is assumed that every process does packed"];
    assert!(told.says(&words).text().contains("rewritten"));
}

/// Protobuf, Thrift and Avro, end to end: a schema is inferred, a rollout goes to its end, and what
/// another process reads is the value that was put.
#[test]
fn a_namespace_takes_a_profile_with_a_schema() {
    let value = |text: &str| -> Value { serde_json::from_str(text).unwrap() };
    for (encoding, ending) in
        [("protobuf", "proto"), ("thrift-compact", "thrift"), ("avro", "avsc")]
    {
        let service = Service::new("profile = \"carts.toml\"\nfidelity = \"value\"\n");
        let folder = &service.folder;
        let payloads = payloads(30);
        let source = folder.write("carts.ndjson", small_carts(200, 1));
        let schema = folder.at(&format!("carts.{ending}"));
        cinch(["schema", &source, "--out", &schema]).run().code(0);
        let profile = format!(
            "[profile]\nname = \"carts\"\nencoding = \"{encoding}\"\ncodec = \"zstd\"\nlevel = 3\n\
             schema = \"carts.{ending}\"\n"
        );
        folder.write("carts.toml", profile);
        let mut fleet = [service.member("host-1"), service.member("host-2")];
        service.advance_to("verify");
        fleet[1].until_it_does("DUAL/VERIFY_COMPRESS");
        fleet[0].put(0, &payloads[0]);
        // Another text of the same value is no mismatch.
        let audited = fleet[1].ask("get cart:0");
        assert_eq!(audited["findings"], json!([]), "{encoding}: {audited}");
        service.advance_to("packed-only");
        for member in &mut fleet {
            member.until_it_does("COMPRESS_ONLY/COMPRESS_ONLY");
        }
        for (number, payload) in payloads.iter().enumerate() {
            fleet[0].put(number, payload);
            let answer = fleet[1].ask(&format!("get cart:{number}"));
            let read = value(answer["payload"].as_str().unwrap());
            assert_eq!((read, &answer["source"]), (value(payload), &json!("packed")));
        }
        let state = service.state();
        assert_eq!(state["schemas"].as_array().unwrap().len(), 1, "{state}");
        // Who has not the schema does not start, and says which it is.
        let settings = folder.read("cinch.toml");
        let settings = String::from_utf8(settings).unwrap();
        let without = settings.replace("profile = \"carts.toml\"\n", "");
        folder.write("cinch.toml", without);
        let name = ["--store", &service.store, "--process", "host-3"];
        let refused = service.rollout("member").and(name).run().code(1);
        refused.says(&["schema", state["schemas"][0].as_str().unwrap()]);
        folder.write("cinch.toml", settings);
        let facts = service.job("verify").and(["--settle", "0s"]).run().code(1);
        facts.says(&["packed-only"]);
    }
}
