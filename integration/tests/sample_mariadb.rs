//! `cinch sample` and `cinch evaluate` on a real MariaDB server: what is taken, that it is fair,
//! that nothing is changed, and what is said where it can't be done.
//!
//! Each test has tables of its own, so that they can share the server.

use std::fmt::Write;

use cinch_integration::{BRIEFLY, Folder, MariaDb, Stored, cinch, closed_port, gzip, hex, zstd};

/// A table of payloads, under keys that count them.
fn store(server: &MariaDb, table: &str, columns: &str, stored: &Stored) {
    let mut statements = format!("create table {table} ({columns});\n");
    let payloads: Vec<&[u8]> = stored.payloads().collect();
    for (batch, payloads) in payloads.chunks(500).enumerate() {
        write!(statements, "insert into {table} (id, body) values ").unwrap();
        for (index, payload) in payloads.iter().enumerate() {
            let comma = if index == 0 { "" } else { "," };
            let id = batch * 500 + index;
            write!(statements, "{comma}({id}, x'{}')", hex(payload)).unwrap();
        }
        statements.push_str(";\n");
    }
    server.run(statements);
}

fn sample(server: &MariaDb, table: &str, count: usize) -> Vec<u8> {
    let count = count.to_string();
    let run =
        ["sample", &server.address(), "--match", table, "--count", &count, "--read-rate", "0"];
    cinch(run).and(["-o", "-"]).run().code(0).out
}

#[test]
fn a_sample_of_a_large_table_is_fair_whatever_its_key() {
    let server = MariaDb::shared();
    let stored = Stored::carts(20_000);
    let number = "id bigint unsigned primary key, body longtext";
    store(&server, "dense", number, &stored);
    stored.assert_fair(&sample(&server, "dense", 1000), 1000);
    let copy = |table: &str, columns: &str, key: &str| {
        server.run(format!(
            "create table {table} ({columns}); insert into {table} select {key}, body from dense;"
        ));
        stored.assert_fair(&sample(&server, table, 1000), 1000);
    };
    // Half of the rows lie in the last hundredth of the keys.
    copy("sparse", number, "if(id < 10000, id * 9900, 99000000 + id * 100)");
    // No range of keys finds anything: one of them is far away.
    copy("far", number, "if(id = 0, 18446744073709551615, id)");
    copy("named", "id varchar(40) primary key, body mediumblob", "md5(id)");
}

#[test]
fn a_small_table_is_taken_whole() {
    let server = MariaDb::shared();
    let stored = Stored::carts(200);
    let columns = "id int primary key, body json";
    store(&server, "small", columns, &stored);
    stored.assert_fair(&sample(&server, "small", 1000), 200);
    store(&server, "keyless", "id int, body text", &stored);
    stored.assert_fair(&sample(&server, "shop.keyless", 1000), 200);
}

#[test]
fn values_are_unwrapped() {
    let server = MariaDb::shared();
    server.run(format!(
        "create table wrapped (id int primary key, body blob);
         insert into wrapped values (1, x'{}'), (2, x'{}'), (3, null), (4, x'{}');",
        hex(&gzip(b"{\"packed\":\"gzip\"}")),
        hex(&zstd(b"{\"packed\":\"zstd\"}")),
        hex(b"{\"packed\":\"no\"}"),
    ));
    let out = String::from_utf8(sample(&server, "wrapped", 10)).unwrap();
    let mut lines: Vec<&str> = out.lines().collect();
    lines.sort_unstable();
    assert_eq!(lines, [r#"{"packed":"gzip"}"#, r#"{"packed":"no"}"#, r#"{"packed":"zstd"}"#]);
}

#[test]
fn patterns_and_queries_choose() {
    let server = MariaDb::shared();
    server.run(
        "create table picked_a (id int primary key, one text, two json, short varchar(9));
         create table picked_b (id int primary key, one text);
         insert into picked_a values (1, 'a.one', '\"a.two\"', 'a.short');
         insert into picked_b values (1, 'b.one');",
    );
    let taken = |arguments: [&str; 2]| {
        let run = cinch(["sample", &server.address(), "-o", "-"]).and(arguments).run().code(0);
        let mut lines: Vec<String> = run.text().lines().map(str::to_owned).collect();
        lines.sort_unstable();
        lines.join(" ")
    };
    assert_eq!(taken(["--match", "picked_*"]), "\"a.two\" a.one b.one");
    assert_eq!(taken(["--match", "*.one"]), "a.one b.one");
    assert_eq!(taken(["--match", "shop.picked_a.short"]), "a.short");
    assert_eq!(taken(["--query", "select one, id from picked_b where id = 1;"]), "b.one");
}

#[test]
fn a_long_answer_ends_when_enough_was_looked_at() {
    let server = MariaDb::shared();
    let query = "select concat('{\"n\":', seq, '}') from seq_1_to_100000000";
    let run = ["sample", &server.address(), "--query", query, "--read-rate", "0", "-o", "-"];
    let out = cinch(run).and(["--scan-limit", "5000", "--count", "100"]).run().code(0);
    assert_eq!(out.text().lines().count(), 100);
}

#[test]
fn a_user_who_may_only_read_suffices_and_nothing_is_changed() {
    let server = MariaDb::shared();
    let columns = "id int primary key, body longtext";
    store(&server, "guarded", columns, &Stored::carts(3_000));
    server.run(
        "create table hidden (body text);
         create user reader@'127.0.0.1' identified by 'reader-password';
         grant select on shop.guarded to reader@'127.0.0.1';",
    );
    let rows = || server.run("select count(*), md5(group_concat(md5(body))) from guarded");
    let before = rows();
    let reader = server.address_of("reader", "reader-password");
    let run =
        ["sample", &reader, "--match", "guarded", "--read-rate", "0", "--count", "500", "-o", "-"];
    assert_eq!(cinch(run).run().code(0).text().lines().count(), 500);
    cinch(["sample", &reader, "--match", "hidden", "-o", "-"]).run().refused(1, &["hidden"]);
    let run = ["sample", &reader, "--query", "select body from hidden", "-o", "-"];
    cinch(run).run().refused(1, &["denied", "grant"]);
    // Not even the owner can write by it.
    for query in ["delete from guarded", "drop table guarded", "insert into hidden values ('x')"] {
        let run = ["sample", &server.address(), "--query", query, "-o", "-"];
        cinch(run).run().refused(1, &["cinch only reads"]);
    }
    assert_eq!(rows(), before);
    assert_eq!(server.run("select count(*) from hidden"), "0");
}

#[test]
fn it_is_one_line_that_says_what_to_do() {
    let server = MariaDb::shared();
    let refused = |address: &str, more: &[&str], words: &[&str]| {
        let run = cinch(["sample", address, "-o", "-"]).and(more).run().refused(1, words);
        assert!(!run.err.contains("password-of-mine"), "{}", run.err);
    };
    let wrong = server.address_of("owner", "password-of-mine");
    refused(&wrong, &[], &["Access denied", "check the name and password"]);
    let closed = format!("mysql://owner:password-of-mine@127.0.0.1:{}/x", closed_port());
    refused(&closed, &[], &["can't be reached", "refused", "check that the server runs"]);
    refused(&server.address(), &["--match", "no_such_table"], &["no_such_table", "matches"]);
    refused(&server.address(), &["--query", "select body from nowhere"], &["nowhere"]);
    refused(&server.address(), &["--query", "select 1; select 2"], &["syntax"]);
    refused(&server.address(), &["--replica"], &["no replica"]);
    let nowhere = server.address().replace("/shop", "/no_such_database");
    refused(&nowhere, &[], &["no_such_database"]);
    let odd = format!("{}?odd=1", server.address());
    cinch(["sample", &odd, "-o", "-"]).run().refused(2, &["odd"]);
}

#[test]
fn an_evaluation_takes_the_address() {
    let server = MariaDb::shared();
    let columns = "id int primary key, body json";
    store(&server, "evaluated", columns, &Stored::carts(300));
    let folder = Folder::new();
    let address = server.address().replace("mysql:", "mariadb:");
    let run =
        cinch(["evaluate", &address, "--match", "evaluated", "--read-rate", "0"]).and(BRIEFLY);
    let found = run.inside(folder.path()).run().code(0).json();
    assert_eq!(found["corpus"]["payloads"], 300);
}
