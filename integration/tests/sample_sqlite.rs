//! `cinch sample` and `cinch evaluate` on SQLite files that Python wrote: what is taken, that it is
//! fair, that the file stays as it is, and what is said where it can't be done.

use std::fmt::Write;

use cinch_integration::{BRIEFLY, Folder, Stored, cinch, gzip, hex, python, zstd};
use serde_json::json;

/// Makes a file from statements with their parameters.
fn make(folder: &Folder, name: &str, statements: &[(String, serde_json::Value)]) -> String {
    let mut script = String::new();
    for (statement, parameters) in statements {
        writeln!(script, "{statement}\t{parameters}").unwrap();
    }
    let file = folder.at(name);
    python("sqlite.py").and(&[&file]).run(script);
    file
}

/// A table of payloads, under keys that `key` makes of places; `columns` ends with their bracket.
fn store(
    folder: &Folder,
    name: &str,
    columns: &str,
    key: fn(usize) -> i64,
    stored: &Stored,
) -> String {
    let mut statements = vec![(format!("create table carts ({columns}"), json!([]))];
    for (place, payload) in stored.payloads().enumerate() {
        let text = std::str::from_utf8(payload).unwrap();
        let insert = "insert into carts (id, body) values (?, ?)".to_owned();
        statements.push((insert, json!([key(place), text])));
    }
    make(folder, name, &statements)
}

fn sample(file: &str, count: usize) -> Vec<u8> {
    let (address, count) = (format!("sqlite:{file}"), count.to_string());
    let run = ["sample", &address, "--match", "carts.body", "--count", &count, "--read-rate", "0"];
    cinch(run).and(["-o", "-"]).run().code(0).out
}

#[test]
fn a_sample_of_a_large_table_is_fair_whatever_its_key() {
    let folder = Folder::new();
    let stored = Stored::carts(20_000);
    let rowid = "id integer primary key, body text)";
    let dense = store(&folder, "dense.db", rowid, |place| place as i64, &stored);
    stored.assert_fair(&sample(&dense, 1000), 1000);
    // Half of the rows lie in the last hundredth of the keys.
    let gaps = |place: usize| match place {
        0..10_000 => place as i64 * 9_900,
        place => 99_000_000 + place as i64 * 100,
    };
    let sparse = store(&folder, "sparse.db", rowid, gaps, &stored);
    stored.assert_fair(&sample(&sparse, 1000), 1000);
    // No range of keys finds anything: one of them is far away.
    let far = |place: usize| if place == 0 { i64::MAX } else { place as i64 };
    let far = store(&folder, "far.db", rowid, far, &stored);
    stored.assert_fair(&sample(&far, 1000), 1000);
    let keyed = "id text primary key, body text) without rowid";
    let keyed = store(&folder, "keyed.db", keyed, |place| place as i64, &stored);
    stored.assert_fair(&sample(&keyed, 1000), 1000);
}

#[test]
fn a_small_table_is_taken_whole_and_the_file_stays_as_it_is() {
    let folder = Folder::new();
    let stored = Stored::carts(200);
    let columns = "id integer primary key, body json)";
    let file = store(&folder, "small.db", columns, |place| place as i64, &stored);
    let before = folder.read("small.db");
    stored.assert_fair(&sample(&file, 1000), 200);
    let run = cinch(["sample", "sqlite:small.db", "-o", "-"]).inside(folder.path());
    stored.assert_fair(&run.run().code(0).out, 200);
    stored.assert_fair(&sample(&format!("//{file}"), 1000), 200);
    for query in ["delete from carts", "drop table carts", "vacuum"] {
        let run = ["sample", &format!("sqlite:{file}"), "--query", query, "-o", "-"];
        cinch(run).run().refused(1, &["cinch only reads"]);
    }
    assert!(folder.read("small.db") == before, "the file was changed");
    assert_eq!(folder.names(), ["small.db"], "nothing is left beside it");
}

#[test]
fn values_are_unwrapped_and_chosen() {
    let folder = Folder::new();
    let blob = |bytes: &[u8]| json!([{ "hex": hex(bytes) }]);
    let statement = |text: &str| text.to_owned();
    let file = make(
        &folder,
        "shop.db",
        &[
            (statement("create table wrapped (body blob)"), json!([])),
            (statement("insert into wrapped values (?)"), blob(&gzip(b"{\"in\":\"gzip\"}"))),
            (statement("insert into wrapped values (?)"), blob(&zstd(b"{\"in\":\"zstd\"}"))),
            (statement("insert into wrapped values (?)"), json!(["{\"in\":\"text\"}"])),
            (statement("insert into wrapped values (?)"), json!([null])),
            (statement("insert into wrapped values (?)"), json!([17])),
            (statement("create table people (name varchar(20), about)"), json!([])),
            (statement("insert into people values (?, ?)"), json!(["Ann", "likes tea"])),
        ],
    );
    let address = format!("sqlite:{file}");
    let taken = |more: &[&str]| {
        let run = cinch(["sample", &address, "-o", "-"]).and(more).run().code(0);
        let mut lines: Vec<String> = run.text().lines().map(str::to_owned).collect();
        lines.sort_unstable();
        lines.join(" ")
    };
    let wrapped = r#"{"in":"gzip"} {"in":"text"} {"in":"zstd"}"#;
    assert_eq!(taken(&[]), format!("likes tea {wrapped}"));
    assert_eq!(taken(&["--match", "wrap*"]), wrapped);
    assert_eq!(taken(&["--match", "people.name"]), "Ann");
    assert_eq!(taken(&["--query", "select about, name from people;"]), "likes tea");
}

#[test]
fn it_is_one_line_that_says_what_to_do() {
    let folder = Folder::new();
    let statement = "create table carts (body text)".to_owned();
    let file = make(&folder, "empty.db", &[(statement, json!([]))]);
    let text = folder.write("carts.ndjson", "{}\n");
    let refused = |path: &str, more: &[&str], words: &[&str]| {
        let run = cinch(["sample", &format!("sqlite:{path}"), "-o", "-"]).and(more);
        run.run().refused(1, words);
    };
    refused(&text, &[], &["no SQLite database"]);
    refused(&folder.at("missing.db"), &[], &["No such file", "check the path"]);
    refused(&file, &[], &["nothing was found"]);
    refused(&file, &["--match", "orders"], &["orders", "there are carts"]);
    refused(&file, &["--query", "select body from nowhere"], &["nowhere"]);
    refused(&file, &["--query", "select 1; select 2"], &["ultiple"]);
    assert_eq!(folder.names(), ["carts.ndjson", "empty.db"], "no file was made");
}

#[test]
fn an_evaluation_takes_the_address() {
    let folder = Folder::new();
    let stored = Stored::carts(300);
    let columns = "id integer primary key, body text)";
    let file = store(&folder, "shop.db", columns, |place| place as i64, &stored);
    let run = cinch(["evaluate", &format!("sqlite:{file}"), "--read-rate", "0"]).and(BRIEFLY);
    let found = run.inside(folder.path()).run().code(0).json();
    assert_eq!(found["corpus"]["payloads"], 300);
}
