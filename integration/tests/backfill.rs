//! `cinch backfill` and `cinch verify` on stores that really run, while somebody else writes to
//! them, and after the job was ended by force.
//!
//! What the tests compare with is read by Python's SQLite, `redis-cli` and a gzip of others.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

use cinch_integration::{
    Cinch, Envelope, Folder, Redis, Started, carts, cinch, hex, python, small_carts,
};
use flate2::read::GzDecoder;
use serde_json::{Value, json};
use xxhash_rust::xxh64::xxh64;

/// A test that waits for what never comes should fail and not hang.
const PATIENCE: Duration = Duration::from_secs(120);

const LEAN: &str = "[namespaces.carts]
keys = [\"*\"]
compression_codec = \"GZIP\"
write_mode = \"COMPRESS_ONLY\"
read_mode = \"COMPRESS_ONLY\"
";

const PACKED: &str = "[namespaces.carts]\nkeys = [\"cart:*\"]\nwrite = \"packed\"\n";

#[track_caller]
fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < PATIENCE, "it never happened that {what}");
        thread::yield_now();
    }
}

fn payloads(count: usize) -> Vec<String> {
    let text = String::from_utf8(small_carts(count, 1)).unwrap();
    text.lines().map(str::to_owned).collect()
}

/// Runs statements, each with its parameters.
fn execute(file: &str, statements: impl IntoIterator<Item = (String, Value)>) {
    let script: String = statements
        .into_iter()
        .map(|(statement, parameters)| format!("{statement}\t{parameters}\n"))
        .collect();
    python("sqlite.py").and(&[file]).run(script);
}

fn rows(file: &str, query: &str) -> Vec<Vec<Value>> {
    let (out, _) = python("rows.py").and(&[file, query]).run("");
    out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// A table in the published shape with these payloads.
fn table(folder: &Folder, payloads: &[String]) -> String {
    let file = folder.at("shop.db");
    let create = "create table carts (id integer primary key, raw text, packed blob, \
                  metadata text, note text)";
    let insert = "insert into carts (id, raw, note) values (?, ?, 'ours')";
    let inserts =
        payloads.iter().enumerate().map(|(id, payload)| (insert.to_owned(), json!([id, payload])));
    execute(&file, [(create.to_owned(), json!([]))].into_iter().chain(inserts));
    file
}

fn sqlite(file: &str) -> String {
    format!("sqlite:{file}?table=carts&key=id&raw=raw&compressed=packed&metadata=metadata")
}

/// The payload of a row by the rules of spec/stores.md, which are written out here once more.
fn payload_of(row: &[Value]) -> String {
    let raw = row[1].as_str();
    let Some(packed) = row[2]["hex"].as_str() else {
        return raw.expect("a row has one of both copies").to_owned();
    };
    let metadata: Value = serde_json::from_str(row[3].as_str().unwrap()).unwrap();
    let packed: Vec<u8> = (0..packed.len())
        .step_by(2)
        .map(|at| u8::from_str_radix(&packed[at..at + 2], 16).unwrap())
        .collect();
    assert_eq!(metadata["codec"], "GZIP");
    assert_eq!(metadata["compressedSize"], packed.len());
    let mut text = String::new();
    GzDecoder::new(packed.as_slice()).read_to_string(&mut text).unwrap();
    match raw {
        None => {
            assert_eq!(metadata["rawNulled"], true);
            assert_eq!(metadata["rawChecksum"], format!("{:016x}", xxh64(text.as_bytes(), 0)));
            text
        }
        Some(raw) => raw.to_owned(),
    }
}

fn backfill(folder: &Folder, address: &str, config: &str) -> Cinch {
    let config = folder.write("cinch.toml", config);
    cinch(["backfill", address, "--config", &config, "--json"]).inside(folder.path())
}

fn verify(folder: &Folder, address: &str) -> Cinch {
    cinch(["verify", address, "--config", &folder.at("cinch.toml"), "--json"])
}

/// The checkpoint of the job in a folder, if there is one.
fn checkpoint(folder: &Folder) -> Option<Vec<u8>> {
    let name = folder.names().into_iter().find(|name| name.starts_with("cinch-backfill-"))?;
    fs::read(folder.at(&name)).ok()
}

/// Starts a job that is slow enough to be ended, and ends it by force when it has done a page.
fn kill_in_the_middle(job: &Cinch, folder: &Folder, meanwhile: impl FnOnce()) {
    let before = checkpoint(folder);
    let mut command = job.command();
    command.args(["--max-rate", "300"]).stdout(Stdio::null()).stderr(Stdio::null());
    let mut started = Started(command.spawn().expect("the binary can be started"));
    wait_until("a page is done", || {
        let now = checkpoint(folder);
        now.is_some() && now != before
    });
    meanwhile();
    assert!(started.0.try_wait().unwrap().is_none(), "it was done before it could be ended");
    started.0.kill().unwrap();
    started.0.wait().unwrap();
    assert!(checkpoint(folder).is_some());
}

#[test]
fn a_killed_backfill_of_a_table_goes_on_and_loses_no_update() {
    let folder = Folder::new();
    let mut payloads = payloads(1_500);
    let file = table(&folder, &payloads);
    let job = backfill(&folder, &sqlite(&file), LEAN);
    let fresh = |id: usize| format!("{{\"cart\":\"written meanwhile\",\"id\":{id}}}");
    let changed: Vec<usize> = (0..1_500).step_by(37).collect();
    kill_in_the_middle(&job, &folder, || {
        // An older client: it knows nothing of the packed copy and leaves it there.
        let update = "update carts set raw = ? where id = ?";
        execute(&file, changed.iter().map(|id| (update.to_owned(), json!([fresh(*id), id]))));
    });
    for id in changed {
        payloads[id] = fresh(id);
    }
    let done = job.run().code(0).json();
    assert_eq!((&done["is_complete"], &done["resumed"]), (&json!(true), &json!(true)));
    let counts = &done["counts"];
    assert_eq!(counts["rewritten"].as_u64().unwrap() + counts["already"].as_u64().unwrap(), 1_500);
    assert_eq!(folder.names(), ["cinch.toml", "shop.db"], "the checkpoint is gone");
    let found = rows(&file, "select id, raw, packed, metadata, note from carts order by id");
    for (row, payload) in found.iter().zip(&payloads) {
        assert_eq!(payload_of(row), *payload, "row {}", row[0]);
        assert_eq!(row[4], "ours");
    }
    let lack_raw = found.iter().filter(|row| row[1].is_null()).count();
    let packed = found.iter().filter(|row| !row[2].is_null()).count();
    assert!(lack_raw > 1_200, "{lack_raw}");
    let facts = verify(&folder, &sqlite(&file)).run().code(0).json();
    let facts = &facts["namespaces"]["carts"];
    assert_eq!((&facts["records"], &facts["lack_raw"]), (&json!(1_500), &json!(lack_raw)));
    // Those that the older client wrote behind the job: their raw copies are believed.
    assert_eq!(facts["stale"], packed - lack_raw);

    let back = backfill(&folder, &sqlite(&file), LEAN).and(["--to", "plain"]).run().code(0).json();
    assert_eq!(back["counts"]["rewritten"], packed);
    for (row, payload) in
        rows(&file, "select id, raw, packed, metadata from carts order by id").iter().zip(&payloads)
    {
        assert_eq!((&row[1], &row[2], &row[3]), (&json!(payload), &Value::Null, &Value::Null));
    }
}

#[test]
fn a_killed_backfill_of_redis_goes_on_among_writers_and_keeps_every_time_to_live() {
    let folder = Folder::new();
    let redis = Redis::start();
    let payloads = payloads(1_500);
    let word = |word: &str| word.as_bytes().to_vec();
    let key = |number: usize| format!("cart:{number}");
    let mut model: BTreeMap<usize, String> = payloads.into_iter().enumerate().collect();
    redis.fill(model.iter().map(|(number, payload)| {
        let mut command = vec![word("SET"), word(&key(*number)), word(payload)];
        if number.is_multiple_of(3) {
            command.extend([word("EX"), word("5000")]);
        }
        command
    }));
    redis.run(&["set", "menu:1", "not ours"]);
    let job = backfill(&folder, &redis.address(), PACKED);
    let mut round = 0;
    let mut write = |model: &mut BTreeMap<usize, String>| {
        round += 1;
        let some: Vec<usize> = (round..1_500).step_by(53).collect();
        redis.fill(some.iter().map(|number| match number % 4 {
            0 => vec![word("DEL"), word(&key(*number))],
            _ => {
                let payload = format!("{{\"round\":{round},\"cart\":{number}}}").repeat(20);
                vec![word("SET"), word(&key(*number)), word(&payload), word("KEEPTTL")]
            }
        }));
        for number in some {
            match number % 4 {
                0 => model.remove(&number),
                _ => {
                    let payload = format!("{{\"round\":{round},\"cart\":{number}}}").repeat(20);
                    model.insert(number, payload)
                }
            };
        }
    };
    kill_in_the_middle(&job, &folder, || write(&mut model));
    write(&mut model);
    kill_in_the_middle(&job, &folder, || write(&mut model));
    let done = job.run().code(0).json();
    assert_eq!(done["resumed"], true);
    // No round wrote this one: what a writer wrote behind the job stays as the writer left it.
    let packed = redis.run(&["--no-raw", "get", "cart:40"]);
    assert!(packed.starts_with("\"\\xc1\\x9e"), "{packed}");
    let facts = verify(&folder, &redis.address()).run().code(0).json();
    let carts = &facts["namespaces"]["carts"];
    assert_eq!(
        (carts["records"].as_u64(), carts["unreadable"].as_u64()),
        (Some(model.len() as u64), Some(0))
    );
    assert_eq!(facts["outside"], 1);
    backfill(&folder, &redis.address(), PACKED).and(["--to", "plain"]).run().code(0);
    let times = "local t = {} for i, k in ipairs(KEYS) do t[i] = redis.call('TTL', k) end return t";
    let numbers: Vec<usize> = model.keys().copied().collect();
    for some in numbers.chunks(200) {
        let keys: Vec<String> = some.iter().map(|number| key(*number)).collect();
        let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
        let values = redis.run(&[&["mget"], keys.as_slice()].concat());
        let amount = keys.len().to_string();
        let left = redis.run(&[&["eval", times, amount.as_str()], keys.as_slice()].concat());
        assert_eq!((values.lines().count(), left.lines().count()), (some.len(), some.len()));
        for ((number, value), left) in some.iter().zip(values.lines()).zip(left.lines()) {
            assert_eq!(value, model[number], "{number}");
            let left: i64 = left.parse().unwrap();
            assert_eq!(left > 0, number.is_multiple_of(3), "{number} has {left} s left");
            assert!(left <= 5_000);
        }
    }
    let keys: usize = redis.run(&["dbsize"]).parse().unwrap();
    assert_eq!(keys, model.len() + 1, "nothing has come back");
    assert_eq!(redis.run(&["get", "menu:1"]), "not ours");
}

#[test]
fn a_dry_run_writes_nothing_and_its_interval_holds() {
    let folder = Folder::new();
    let file = table(&folder, &payloads(2_000));
    let before = folder.read("shop.db");
    let dry = backfill(&folder, &sqlite(&file), LEAN).and(["--dry-run", "--sample", "400"]);
    let found = dry.run().code(0).json();
    assert!(folder.read("shop.db") == before, "the file was changed");
    assert_eq!((&found["keys"], &found["sampled"]), (&json!(2_000), &json!(400)));
    let done = backfill(&folder, &sqlite(&file), LEAN).run().code(0).json();
    let counts = &done["counts"];
    let number = |value: &Value| value.as_f64().unwrap();
    let saved = number(&counts["bytes_before"]) - number(&counts["bytes_after"]);
    let (low, high) = (&found["saved_bytes"]["low"], &found["saved_bytes"]["high"]);
    // Twice as far as the interval says, so that one run in twenty does not fail.
    let (middle, half) = (number(&found["saved_bytes"]["middle"]), number(high) - number(low));
    assert!((saved - middle).abs() < half, "{saved} is not near {middle} +- {half}");
}

#[test]
fn a_dictionary_is_brought_in_and_another_one_after_it() {
    let folder = Folder::new();
    let redis = Redis::start();
    let payloads = payloads(600);
    let word = |word: &str| word.as_bytes().to_vec();
    redis.fill(payloads.iter().enumerate().map(|(number, payload)| {
        vec![word("SET"), word(&format!("cart:{number}")), word(payload)]
    }));
    let train = |name: &str, seed: u32| {
        let source = folder.write("source.ndjson", small_carts(800, seed));
        let file = folder.at(name);
        let run = ["train", &source, "--force", "--entities-min", "2"];
        cinch(run).and(["--encoding", "columnar", "-o", &file]).run();
        let profile = format!(
            "[profile]\nname = \"{name}\"\nencoding = \"columnar\"\ncodec = \"zstd\"\nlevel = 3\n\
             dictionary = \"{name}\"\n"
        );
        folder.write(&format!("{name}.toml"), profile);
    };
    let config = |profile: &str, more: &str| {
        format!("{PACKED}profile = \"{profile}.toml\"\ndictionaries = [{more}]\n")
    };
    train("first", 2);
    train("second", 3);
    let first = config("first", "");
    assert_eq!(count(&backfill(&folder, &redis.address(), &first), "rewritten"), 600);
    let facts = verify(&folder, &redis.address()).run().code(0).json();
    let named = facts["namespaces"]["carts"]["dictionaries"].as_object().unwrap().clone();
    assert_eq!(named.values().map(|count| count.as_u64().unwrap()).sum::<u64>(), 600);
    // Without the first dictionary nothing can be read, and nothing is touched.
    let without = config("second", "");
    let left = backfill(&folder, &redis.address(), &without).run().code(3).json();
    assert_eq!(left["counts"]["problems"]["missing-dictionary"]["count"], 600);
    verify(&folder, &redis.address()).run().code(3);
    let both = config("second", "\"first\"");
    assert_eq!(count(&backfill(&folder, &redis.address(), &both), "rewritten"), 600);
    let facts = verify(&folder, &redis.address()).run().code(0).json();
    let renamed = facts["namespaces"]["carts"]["dictionaries"].as_object().unwrap().clone();
    assert!(named.keys().all(|id| !renamed.contains_key(id)), "{named:?} {renamed:?}");
}

fn count(job: &Cinch, name: &str) -> u64 {
    let mut command = job.command();
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    report["counts"][name].as_u64().unwrap()
}

#[test]
fn verification_names_what_can_not_be_read() {
    let folder = Folder::new();
    let file = table(&folder, &payloads(50));
    backfill(&folder, &sqlite(&file), LEAN).run().code(0);
    execute(
        &file,
        [
            (
                "update carts set packed = ? where id = 7".to_owned(),
                json!([{ "hex": hex(b"junk") }]),
            ),
            ("update carts set raw = 'newer' where id = 8".to_owned(), json!([])),
        ],
    );
    let run = verify(&folder, &sqlite(&file)).run().code(3);
    let found = run.json();
    let facts = &found["namespaces"]["carts"];
    assert_eq!((&facts["unreadable"], &facts["stale"]), (&json!(1), &json!(1)));
    assert_eq!(facts["problems"]["damaged"]["examples"][0]["key"], "7");
    let hidden = verify(&folder, &sqlite(&file)).and(["--no-keys"]).run().code(3).json();
    let example = &hidden["namespaces"]["carts"]["problems"]["damaged"]["examples"][0];
    assert_eq!(example["key"], format!("xxh64:{:016x}", xxh64(b"7", 0)));
    let shown = cinch(["verify", &sqlite(&file), "--config", &folder.at("cinch.toml")]);
    let shown = shown.run().code(3);
    assert!(shown.text().contains("damaged: 1"), "{}", shown.text());
    // A backfill mends what has a raw copy, and leaves and lists what has none.
    let mended = backfill(&folder, &sqlite(&file), LEAN).run().code(3).json();
    assert_eq!(mended["counts"]["was_wrong"], 1);
    assert_eq!(mended["counts"]["problems"]["damaged"]["count"], 1);
    let packed = rows(&file, "select id, raw, packed from carts where id = 7");
    assert_eq!(packed[0][2]["hex"], hex(b"junk"));
}

#[test]
fn it_is_one_line_that_says_what_to_do() {
    let folder = Folder::new();
    let file = table(&folder, &payloads(3));
    let address = sqlite(&file);
    let refused = |config: &str, more: &[&str], code, words: &[&str]| {
        backfill(&folder, &address, config).and(more).run().refused(code, words);
    };
    refused("", &[], 2, &["no namespace", "none"]);
    refused(LEAN, &["--namespace", "menus"], 2, &["menus", "carts"]);
    refused("[namespaces.carts]\nkeys = [\"*\"]\nmanaged = true\n", &[], 2, &["managed", "--to"]);
    let held = format!("{LEAN}processes = [\"other\"]\n");
    refused(&held, &[], 1, &["held back", "other"]);
    let other = folder.write("other.json", "{}");
    let of_other = backfill(&folder, &address, LEAN).and(["--checkpoint", &other]).run().code(1);
    of_other.says(&[
        "other.json",
        "no checkpoint",
        "assumed that every process does COMPRESS_ONLY",
    ]);
    let nowhere = backfill(&folder, "sqlite:/nowhere/shop.db", LEAN);
    nowhere.run().refused(1, &["/nowhere/shop.db"]);
    let one = Redis::start();
    backfill(&folder, &one.address(), LEAN).run().refused(1, &["two slots", "has one"]);
    let rows = rows(&file, "select id, raw, packed from carts where packed is not null");
    assert!(rows.is_empty(), "nothing was written");
}

/// The envelope is the one that the specification describes, and a value of another type than a
/// string is none of ours.
#[test]
fn values_of_redis_are_envelopes_and_other_types_are_left_alone() {
    let folder = Folder::new();
    let redis = Redis::start();
    let text = String::from_utf8(carts(1)).unwrap();
    let payload = text.lines().next().unwrap();
    redis.fill([vec![b"SET".to_vec(), b"cart:1".to_vec(), payload.as_bytes().to_vec()]]);
    redis.run(&["rpush", "cart:list", "a", "b"]);
    redis.run(&["set", "cart:count", "17"]);
    backfill(&folder, &redis.address(), PACKED).run().code(0);
    let dump = folder.at("value");
    let address = redis.address();
    let script = format!("redis-cli -u {address} --raw get cart:1 | head -c -1 > {dump}");
    let status = std::process::Command::new("sh").args(["-c", &script]).status().unwrap();
    assert!(status.success());
    let value = folder.read("value");
    let envelope = Envelope::read(&value);
    assert_eq!(envelope.payload_bytes, payload.len());
    assert_eq!(envelope.checksum, Some(xxh64(payload.as_bytes(), 0) as u32));
    assert_eq!(redis.run(&["lrange", "cart:list", "0", "-1"]), "a\nb");
    assert_eq!(redis.run(&["incr", "cart:count"]), "18", "a number stays one");
}
