//! `cinch sample` and `cinch evaluate` on a real PostgreSQL server: what is taken, that it is fair,
//! that nothing is changed, and what is said where it can't be done.
//!
//! Each test has tables of its own, so that they can share the server.

use std::fmt::Write;

use cinch_integration::{BRIEFLY, Folder, Postgres, Stored, cinch, closed_port, gzip, hex, zstd};

/// A table of payloads in a column of this type.
fn store(server: &Postgres, table: &str, kind: &str, stored: &Stored) {
    let mut statements = format!(
        "create table {table} (id bigint primary key, note varchar(20), body {kind});
         copy {table} (id, note, body) from stdin;\n"
    );
    for (id, payload) in stored.payloads().enumerate() {
        let text = String::from_utf8_lossy(payload).replace('\\', "\\\\");
        writeln!(statements, "{id}\tnote {id}\t{text}").unwrap();
    }
    statements.push_str("\\.\n");
    server.run(statements);
}

#[test]
fn a_sample_of_a_large_table_is_fair() {
    let server = Postgres::shared();
    let stored = Stored::carts(20_000);
    store(&server, "fair", "json", &stored);
    let sample = |more: &[&str]| {
        let run =
            cinch(["sample", &server.address(), "--count", "1000", "--read-rate", "0", "-o", "-"]);
        run.and(more).run().code(0).out
    };
    let fair = ["--match", "fair"];
    // Without statistics, with them, and with statistics of when there was little.
    stored.assert_fair(&sample(&fair), 1000);
    server.run("analyze fair");
    stored.assert_fair(&sample(&fair), 1000);
    assert_ne!(sample(&fair), sample(&[&fair[..], &["--seed", "2"]].concat()));
    server.run("update pg_class set reltuples = 100, relpages = 10 where relname = 'fair'");
    stored.assert_fair(&sample(&fair), 1000);
    // So many pages that not all of them are read.
    server.run(
        "create table pages (like fair) with (fillfactor = 10);
         insert into pages select * from fair; analyze pages;",
    );
    let bytes: u64 = server.run("select pg_relation_size('pages')").parse().unwrap();
    assert!(bytes > 64 << 20, "{bytes} bytes are read whole");
    stored.assert_fair(&sample(&["--match", "pages"]), 1000);
}

#[test]
fn a_small_table_is_taken_whole() {
    let server = Postgres::shared();
    let stored = Stored::carts(60);
    store(&server, "small_text", "text", &stored);
    let run = ["sample", &server.address(), "--match", "small_text.body", "-o", "-"];
    let out = cinch(run).run().code(0).out;
    stored.assert_fair(&out, 60);
}

#[test]
fn values_are_unwrapped_and_those_of_jsonb_are_what_the_server_prints() {
    let server = Postgres::shared();
    server.run(format!(
        "create table wrapped (id int primary key, body bytea);
         insert into wrapped values (1, '\\x{}'), (2, '\\x{}'), (3, null), (4, '\\x{}');
         create table printed (body jsonb);
         insert into printed values ('{{\"b\": 1.50, \"a\":[1,2]}}');",
        hex(&gzip(b"{\"packed\":\"gzip\"}")),
        hex(&zstd(b"{\"packed\":\"zstd\"}")),
        hex(b"{\"packed\":\"no\"}"),
    ));
    let run = ["sample", &server.address(), "--match", "wrapped", "-o", "-"];
    let out = cinch(run).run().code(0);
    let mut lines: Vec<&str> = out.text().lines().collect();
    lines.sort_unstable();
    assert_eq!(lines, [r#"{"packed":"gzip"}"#, r#"{"packed":"no"}"#, r#"{"packed":"zstd"}"#]);
    let run = ["sample", &server.address(), "--match", "printed", "-o", "-"];
    assert_eq!(cinch(run).run().code(0).text(), "{\"a\": [1, 2], \"b\": 1.50}\n");
}

#[test]
fn patterns_choose_tables_and_columns() {
    let server = Postgres::shared();
    server.run(
        "create schema shop; create table shop.picked_a (one text, two json, n int);
         create table shop.picked_b (one text, short varchar(40));
         insert into shop.picked_a values ('a.one', '\"a.two\"', 7);
         insert into shop.picked_b values ('b.one', 'b.short');",
    );
    let taken = |pattern: &str| {
        let run = ["sample", &server.address(), "--match", pattern, "-o", "-"];
        let out = cinch(run).run().code(0);
        let mut lines: Vec<String> = out.text().lines().map(str::to_owned).collect();
        lines.sort_unstable();
        lines.join(" ")
    };
    assert_eq!(taken("picked_*"), "\"a.two\" a.one b.one");
    assert_eq!(taken("shop.picked_?.one"), "a.one b.one");
    assert_eq!(taken("picked_a.two"), "\"a.two\"");
    assert_eq!(taken("picked_b.short"), "b.short");
}

#[test]
fn a_query_says_what_the_payloads_are() {
    let server = Postgres::shared();
    server.run(
        "create table asked (id int, body jsonb);
         insert into asked select n, jsonb_build_object('n', n) from generate_series(1, 3000) n;",
    );
    let query = "select body, id from asked where id > 2990 order by id -- newest";
    let run = ["sample", &server.address(), "--query", "select 1", "--match", "x", "-o", "-"];
    cinch(run).run().refused(1, &["--match", "--query"]);
    let run = ["sample", &server.address(), "--query", query];
    let expected: String = (2991..=3000).map(|n| format!("{{\"n\": {n}}}\n")).collect();
    assert_eq!(cinch(run).and(["-o", "-"]).run().code(0).text(), expected);
    let run =
        ["sample", &server.address(), "--query", "select body from asked", "--read-rate", "0"];
    let out = cinch(run).and(["--count", "100", "-o", "-"]).run().code(0);
    assert_eq!(out.text().lines().count(), 100);
}

#[test]
fn a_user_who_may_only_read_suffices_and_nothing_is_changed() {
    let server = Postgres::shared();
    store(&server, "guarded", "text", &Stored::carts(3_000));
    server.run(
        "create sequence guarded_numbers; create table hidden (body text);
         create role reader login password 'reader-password';
         grant select on guarded to reader;",
    );
    let state = || {
        server.run(
            "select pg_stat_force_next_flush(); select md5(string_agg(body, '' order by id)) from \
             guarded; select n_tup_ins, n_tup_upd, n_tup_del from pg_stat_user_tables where \
             relname = 'guarded'; select last_value, is_called from guarded_numbers;",
        )
    };
    let before = state();
    let reader = server.address_of("reader", "reader-password");
    let run =
        ["sample", &reader, "--match", "guarded", "--read-rate", "0", "--count", "500", "-o", "-"];
    assert_eq!(cinch(run).run().code(0).text().lines().count(), 500);
    let run = ["sample", &reader, "--match", "hidden", "-o", "-"];
    cinch(run).run().refused(1, &["hidden"]);
    let run = ["sample", &reader, "--query", "select body from hidden", "-o", "-"];
    cinch(run).run().refused(1, &["permission denied", "grant"]);
    // Not even the owner can write by it.
    let run = ["sample", &server.address(), "--query", "select nextval('guarded_numbers')::text"];
    cinch(run).and(["-o", "-"]).run().refused(1, &["read-only", "cinch only reads"]);
    let run = ["sample", &server.address(), "--query", "delete from guarded returning body"];
    cinch(run).and(["-o", "-"]).run().refused(1, &["only reads"]);
    assert_eq!(state(), before);
}

#[test]
fn it_is_one_line_that_says_what_to_do() {
    let server = Postgres::shared();
    let refused = |address: &str, more: &[&str], words: &[&str]| {
        let run = cinch(["sample", address, "-o", "-"]).and(more).run().refused(1, words);
        assert!(!run.err.contains("password-of-mine"), "{}", run.err);
    };
    let wrong = server.address_of("owner", "password-of-mine");
    refused(&wrong, &[], &["password authentication failed", "check the name and password"]);
    let closed = format!("postgres://owner:password-of-mine@127.0.0.1:{}/x", closed_port());
    refused(&closed, &[], &["can't be reached", "refused", "check that the server runs"]);
    refused(&server.address(), &["--match", "no_such_table"], &["no_such_table", "matches"]);
    refused(&server.address(), &["--query", "select body from nowhere"], &["nowhere"]);
    refused(&server.address(), &["--query", "select 1; select 2"], &["multiple commands"]);
    refused(&server.address(), &["--replica"], &["no replica"]);
    let nowhere = server.address().replace("/postgres", "/no_such_database");
    refused(&nowhere, &[], &["no_such_database", "does not exist"]);
    let odd = format!("{}?sslmode=perhaps", server.address());
    cinch(["sample", &odd, "-o", "-"]).run().refused(2, &["sslmode=perhaps"]);
    let strict = format!("{}?sslmode=require", server.address());
    refused(&strict, &[], &["TLS"]);
}

#[test]
fn an_evaluation_takes_the_address() {
    let server = Postgres::shared();
    store(&server, "evaluated", "json", &Stored::carts(300));
    let folder = Folder::new();
    let run = cinch(["evaluate", &server.address(), "--match", "evaluated", "--read-rate", "0"])
        .and(BRIEFLY);
    let found = run.inside(folder.path()).run().code(0).json();
    assert_eq!(found["corpus"]["payloads"], 300);
    assert_eq!(found["corpus"]["json_payloads"], 300);
}
