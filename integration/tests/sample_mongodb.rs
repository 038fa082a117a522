//! `cinch sample` and `cinch evaluate` on a server that speaks MongoDB's protocol: what is taken,
//! that it is fair, that nothing is changed, and what is said where it can't be done.
//!
//! The server is FerretDB, which has no `$sample`: what these tests show is the way that reads the
//! documents and draws them here.

use cinch_integration::{BRIEFLY, Folder, MongoDb, Stored, cinch, closed_port};

fn fill(server: &MongoDb, database: &str, collection: &str, stored: &Stored) {
    let mut lines = Vec::new();
    for payload in stored.payloads() {
        lines.extend_from_slice(payload);
        lines.push(b'\n');
    }
    server.run(&["fill", database, collection], lines);
}

#[test]
fn a_sample_of_a_field_is_fair_and_changes_nothing() {
    let server = MongoDb::shared();
    let stored = Stored::carts(20_000);
    fill(&server, "fair", "carts", &stored);
    let before = server.run(&["state", "fair", "carts"], "");
    for rest in ["fair", "fair.carts", "fair/carts"] {
        let run = ["sample", &server.address(rest), "--query", "cart", "--count", "1000"];
        let out = cinch(run).and(["--read-rate", "0", "-o", "-"]).run().code(0).out;
        stored.assert_fair(&out, 1000);
    }
    assert_eq!(server.run(&["state", "fair", "carts"], ""), before);
}

#[test]
fn a_document_is_relaxed_json_in_its_own_order() {
    let server = MongoDb::shared();
    let line = concat!(
        r#"{"_id":{"$oid":"65a1b2c3d4e5f60718293a4b"},"z":1,"a":{"q":[1.5,null,true],"b":"é\n"},"#,
        r#""n":9007199254740993,"at":{"$date":"2026-01-02T03:04:05.678Z"},"#,
        r#""raw":{"$binary":{"base64":"eyJyYXciOjF9","subType":"00"}}}"#
    );
    server.run(&["put", "documents", "one"], line);
    let taken = |more: &[&str]| {
        let run = ["sample", &server.address("documents"), "--replica", "-o", "-"];
        cinch(run).and(more).run().code(0).text().trim_end().to_owned()
    };
    assert_eq!(taken(&[]), line);
    assert_eq!(taken(&["--query", "a"]), r#"{"q":[1.5,null,true],"b":"é\n"}"#);
    assert_eq!(taken(&["--query", "a.q"]), "[1.5,null,true]");
    assert_eq!(taken(&["--query", "a.q.0"]), "1.5");
    assert_eq!(taken(&["--query", "raw"]), r#"{"raw":1}"#);
}

#[test]
fn patterns_choose_collections() {
    let server = MongoDb::shared();
    for collection in ["carts", "cart_history", "people"] {
        let document = format!("{{\"_id\":\"{collection}\",\"cart\":\"of {collection}\"}}");
        server.run(&["put", "patterns", collection], document);
    }
    let taken = |rest: &str, more: &[&str]| {
        let run = ["sample", &server.address(rest), "--query", "cart", "-o", "-"];
        let run = cinch(run).and(more).run().code(0);
        let mut lines: Vec<String> = run.text().lines().map(str::to_owned).collect();
        lines.sort_unstable();
        lines
    };
    assert_eq!(taken("patterns", &[]), ["of cart_history", "of carts", "of people"]);
    assert_eq!(taken("patterns", &["--match", "cart*"]), ["of cart_history", "of carts"]);
    assert_eq!(taken("patterns/people", &[]), ["of people"]);
}

#[test]
fn it_is_one_line_that_says_what_to_do() {
    let server = MongoDb::shared();
    server.run(&["put", "lines", "carts"], "{\"_id\":1,\"cart\":\"x\"}");
    let refused = |address: &str, more: &[&str], words: &[&str]| {
        let run = cinch(["sample", address, "-o", "-"]).and(more).run().refused(1, words);
        assert!(!run.err.contains("password-of-mine"), "{}", run.err);
    };
    let closed = format!("mongodb://me:password-of-mine@127.0.0.1:{}/shop", closed_port());
    refused(&closed, &[], &["can't be reached", "refused", "check that the server runs"]);
    let wrong = server.address("lines").replace("//", "//me:password-of-mine@");
    refused(&wrong, &[], &["check the name and password"]);
    let run = cinch(["sample", &server.address(""), "-o", "-"]).run();
    run.refused(2, &["names no database", "mongodb://HOST/DATABASE"]);
    refused(&server.address("no_such_database"), &[], &["no collections"]);
    refused(&server.address("lines/orders"), &[], &["no such collection", "there are carts"]);
    refused(&server.address("lines"), &["--match", "x*"], &["no such collection"]);
    refused(&server.address("lines"), &["--query", "a..b"], &["path of a field"]);
}

#[test]
fn an_evaluation_takes_the_address() {
    let server = MongoDb::shared();
    fill(&server, "evaluated", "carts", &Stored::carts(300));
    let folder = Folder::new();
    let run =
        cinch(["evaluate", &server.address("evaluated"), "--query", "cart", "--read-rate", "0"])
            .and(BRIEFLY);
    let found = run.inside(folder.path()).run().code(0).json();
    assert_eq!(found["corpus"]["payloads"], 300);
    assert_eq!(found["corpus"]["json_payloads"], 300);
}
