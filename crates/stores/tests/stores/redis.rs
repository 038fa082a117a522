//! Redis, one server and a cluster of three; what an old client and a user with few rights meet;
//! and what goes over the wire, which a proxy has to understand.

use std::sync::Arc;

use cinch_integration::Redis;
use cinch_rollout::Record;
use cinch_stores::conformance::check;
use cinch_stores::{Condition, Expiry, PutOutcome, Store, StoreError};

use crate::{check_faults, failure, put, subject};

#[tokio::test(flavor = "multi_thread")]
async fn redis_conforms_in_both_protocols() {
    let server = Redis::start();
    for parameters in ["", "?protocol=resp3"] {
        server.run(&["FLUSHALL"]);
        let subject = subject(&format!("{}{parameters}", server.address())).await;
        check(&subject).await;
        check_faults(&subject, true).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cluster_conforms() {
    let nodes = Redis::cluster();
    let address = nodes[0].address().replace("/0", "/?cluster=true");
    let subject = subject(&address).await;
    check(&subject).await;
    check_faults(&subject, true).await;
    let said = failure_of_put(&nodes[0].address()).await;
    assert!(said.contains("cluster=true"), "{said}");
}

/// The error of the first key that another node of the cluster has.
async fn failure_of_put(address: &str) -> String {
    let store = cinch_stores::open(address).await.expect("one node can be reached");
    let record = Record::single(b"{}".to_vec());
    for number in 0..100 {
        let key = format!("moved-{number}");
        let put = store.put(key.as_bytes(), &record, &Condition::Always, Expiry::Keep).await;
        if let Err(error) = put {
            return error.to_string();
        }
    }
    panic!("no key is of another node")
}

/// Every key, in pages.
async fn scan_all(store: &dyn Store, from: Option<Vec<u8>>) -> Vec<Vec<u8>> {
    let (mut keys, mut from) = (Vec::new(), from);
    loop {
        let page = store.scan(from.as_deref(), 20).await.expect("it answers");
        keys.extend(page.keys);
        match page.next {
            None => return keys,
            next => from = next,
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_scan_of_a_cluster_outlives_slots_that_move() {
    let nodes = Redis::cluster();
    let address = nodes[0].address().replace("/0", "/?cluster=true");
    let store = subject(&address).await.store;
    let record = Record::single(b"{}".to_vec());
    // All of one slot, which goes from a node that is scanned late to one that was scanned.
    let keys: Vec<Vec<u8>> = (0..50).map(|n| format!("{{late}}-{n}").into_bytes()).collect();
    for key in &keys {
        put(store.as_ref(), key, &record).await;
    }
    for number in 0..200 {
        put(store.as_ref(), format!("any-{number}").as_bytes(), &record).await;
    }
    let slot: usize = nodes[0].run(&["CLUSTER", "KEYSLOT", "{late}-1"]).parse().expect("a slot");
    let owner = nodes.iter().position(|node| {
        let nodes = node.run(&["CLUSTER", "NODES"]);
        let myself = nodes.lines().find(|line| line.contains("myself")).expect("a node");
        myself.split_ascii_whitespace().skip(8).any(|range| {
            let (from, to) = range.split_once('-').unwrap_or((range, range));
            (from.parse().unwrap_or(usize::MAX)..=to.parse().unwrap_or(0)).contains(&slot)
        })
    });
    let from = owner.expect("the slot has an owner");
    let to = (from + 1) % 3;
    let id = |node: usize| nodes[node].run(&["CLUSTER", "MYID"]);
    let first = store.scan(None, 20).await.expect("it answers");
    let cursor = store.scan(first.next.as_deref(), 20).await.expect("it answers").next;
    // The masters are scanned in the order of their slots, so that the first was begun.
    let slot = slot.to_string();
    nodes[to].run(&["CLUSTER", "SETSLOT", &slot, "IMPORTING", &id(from)]);
    nodes[from].run(&["CLUSTER", "SETSLOT", &slot, "MIGRATING", &id(to)]);
    // While a slot moves, keys are reached in both places, also by conditional writes.
    let key = keys[0].as_slice();
    let port = |node: usize| {
        let address = nodes[node].address();
        address.trim_start_matches("redis://127.0.0.1:").trim_end_matches("/0").to_owned()
    };
    for key in &keys {
        let key = String::from_utf8_lossy(key).into_owned();
        nodes[from].run(&["MIGRATE", "127.0.0.1", &port(to), &key, "0", "5000"]);
    }
    let found = store.get(key).await.expect("it answers").expect("a moving key is found");
    let next = Record::single(b"{\"n\":1}".to_vec());
    let condition = Condition::Is(found.version);
    let written = store.put(key, &next, &condition, Expiry::Keep).await;
    assert_eq!(written.expect("it answers"), PutOutcome::Written);
    let fresh = store.scan(None, 20).await;
    assert!(matches!(fresh, Err(StoreError::Unreachable { .. })), "{fresh:?}");
    for node in [to, from, 3 - from - to] {
        nodes[node].run(&["CLUSTER", "SETSLOT", &slot, "NODE", &id(to)]);
    }
    let seen = scan_all(store.as_ref(), cursor).await;
    let missed = keys.iter().filter(|key| !seen.contains(key)).count();
    assert_eq!(missed, 0, "keys of the slot that moved were missed");
}

/// A server that was started anew hashes keys otherwise, so that the old number means nothing.
#[tokio::test(flavor = "multi_thread")]
async fn a_cursor_of_another_run_of_the_server_begins_again() {
    let servers = [Redis::start(), Redis::start()];
    let mut stores = Vec::new();
    for server in &servers {
        let store = subject(&server.address()).await.store;
        let record = Record::single(b"{}".to_vec());
        for number in 0..200 {
            put(store.as_ref(), format!("key-{number}").as_bytes(), &record).await;
        }
        stores.push(store);
    }
    // The cursor of one is to the other as that of its own former run.
    let mut cursor = stores[0].scan(None, 20).await.expect("it answers").next;
    for _ in 0..4 {
        cursor = stores[0].scan(cursor.as_deref(), 20).await.expect("it answers").next;
    }
    let mut seen = scan_all(stores[1].as_ref(), cursor).await;
    seen.sort();
    seen.dedup();
    assert_eq!(seen.len(), 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn values_of_other_types_and_few_rights_are_told() {
    let server = Redis::start();
    let store = subject(&format!("{}?match=cart:*", server.address())).await.store;
    server.run(&["RPUSH", "cart:list", "1"]);
    let record = Record::single(b"{}".to_vec());
    let got = store.get(b"cart:list").await;
    assert!(matches!(got, Err(StoreError::Shape { .. })), "{got:?}");
    let condition = Condition::Is(cinch_stores::Version(b"1".to_vec().into()));
    let replaced = store.put(b"cart:list", &record, &condition, Expiry::Keep).await;
    assert!(matches!(replaced, Err(StoreError::Shape { .. })), "{replaced:?}");
    put(store.as_ref(), b"cart:1", &record).await;
    put(store.as_ref(), b"other:1", &record).await;
    assert_eq!(scan_all(store.as_ref(), None).await, [b"cart:1".to_vec()]);
    server.run(&["ACL", "SETUSER", "few", "on", ">few-password", "~*", "+get", "+hello", "+ping"]);
    let few = server.address_of("few", "few-password");
    let unread = subject(&format!("{few}?expiry=unread")).await.store;
    assert!(unread.get(b"cart:1").await.expect("it may").is_some());
    let refused = unread.put(b"cart:1", &record, &Condition::Always, Expiry::Keep).await;
    let said = refused.expect_err("it may not").to_string();
    assert!(said.contains("+set") && !said.contains("few-password"), "{said}");
    let read = subject(&few).await.store.get(b"cart:1").await;
    assert!(read.expect_err("it may not ask for the time to live").to_string().contains("+pttl"));
    let wrong = server.address_of("few", "secret-password");
    assert!(failure(&wrong, "secret-password").await.contains("user:password@host"));
}

/// What a service sends at every request, as the server saw it.
#[tokio::test(flavor = "multi_thread")]
async fn the_plain_path_is_three_commands() {
    let server = Redis::start();
    server.run(&["CONFIG", "RESETSTAT"]);
    // Connecting sends nothing of its own either.
    let store = subject(&server.address()).await.store;
    let record = Record::single(b"{}".to_vec());
    put(store.as_ref(), b"k", &record).await;
    store.get(b"k").await.expect("it answers");
    let put = store.put(b"k", &record, &Condition::Always, Expiry::InMs(9_000)).await;
    put.expect("it answers");
    store.delete(b"k", &Condition::Always).await.expect("it answers");
    let stats = server.run(&["INFO", "commandstats"]);
    let mut sent: Vec<&str> = stats
        .lines()
        .filter_map(|line| line.strip_prefix("cmdstat_")?.split(':').next())
        .filter(|name| !["config|resetstat", "info", "command|docs", "command"].contains(name))
        .collect();
    sent.sort_unstable();
    assert_eq!(sent, ["del", "get", "pttl", "set"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_went_away_is_unreachable() {
    let server = Redis::start();
    let store: Arc<dyn Store> =
        subject(&format!("{}?timeout_ms=2000", server.address())).await.store;
    put(store.as_ref(), b"k", &Record::single(b"{}".to_vec())).await;
    drop(server);
    let got = store.get(b"k").await;
    assert!(got.as_ref().is_err_and(StoreError::is_transient), "{got:?}");
}
