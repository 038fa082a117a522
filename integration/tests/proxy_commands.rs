//! Every command of the server, one by one: the bytes that a client reads through the sidecar are
//! those that it reads directly, on keys of no namespace, in both protocols and in both ways to the
//! server. On keys of a namespace each does what its row in `spec/redis.md` says.
//!
//! Both clients talk to one server, one after the other, because the order of members and of
//! commands differs from server to server.

use std::collections::BTreeSet;

use cinch_integration::{Folder, Redis, RespClient, Sidecar, resp_command};

const SETTINGS: &str = "[namespaces.carts]\nkeys = [\"cart:*\"]\nwrite = \"packed\"\n";

/// Calls, one a line, in groups between empty lines that each have a connection of their own and an
/// empty server.
const COMMANDS: &str = include_str!("proxy_commands/passing.txt");

/// Calls whose replies say what the moment or the connection is, so that no two are alike. Only the
/// kinds of these are compared.
const DIFFER: &[(&str, &str)] = &[
    ("ACL GENPASS", "random"),
    ("ACL LOG", "times"),
    ("CLIENT ID", "of this connection"),
    ("CLIENT INFO", "of this connection"),
    ("CLIENT LIST", "of this connection"),
    ("INFO", "of this moment"),
    ("LASTSAVE", "of this moment"),
    ("LATENCY DOCTOR", "of this moment"),
    ("LATENCY HISTOGRAM", "of this moment"),
    ("LOLWUT", "random"),
    ("MEMORY DOCTOR", "of this moment"),
    ("MEMORY MALLOC-STATS", "of this moment"),
    ("MEMORY STATS", "of this moment"),
    ("MEMORY USAGE", "of this moment"),
    ("OBJECT IDLETIME", "of this moment"),
    ("PTTL", "of this moment"),
    ("SLOWLOG GET", "of this moment"),
    ("TIME", "of this moment"),
    ("XINFO CONSUMERS", "milliseconds"),
];

/// Calls whose replies list what the server keeps in tables that it moves while it looks things up.
/// Their lines are compared without their order.
const REORDERED: [&str; 3] = ["COMMAND", "COMMAND LIST", "ACL CAT"];

/// Commands that are done or not, because another child of the server may be at work.
const OF_CHILDREN: [&str; 3] = ["SAVE", "BGSAVE", "BGREWRITEAOF"];

/// Commands that no client may send through the sidecar.
const REFUSED: [&str; 3] = ["PSYNC ? -1", "REPLCONF capa eof", "SYNC"];

/// On keys of a namespace: one call of every command that does not simply pass. Those that are not
/// refused answer as the server does where payloads are plain.
const ON_KEYS: &str = include_str!("proxy_commands/on_keys.txt");

fn groups() -> Vec<Vec<&'static str>> {
    let lines = |group: &'static str| group.lines().filter(|line| !line.starts_with('#')).collect();
    COMMANDS.split("\n\n").map(lines).collect()
}

fn words(line: &str) -> Vec<u8> {
    let (small, large) = (cart(20), cart(5_000));
    let words: Vec<&[u8]> = line
        .split(' ')
        .map(|word| match word {
            "SMALL" => small.as_bytes(),
            "LARGE" => large.as_bytes(),
            word => word.as_bytes(),
        })
        .collect();
    resp_command(&words)
}

fn cart(lines: usize) -> String {
    "{\"sku\":\"SKU-1\",\"price\":12.50,\"quantity\":1},".repeat(lines)
}

fn named(line: &str) -> String {
    line.split(' ').next().unwrap_or_default().to_uppercase()
}

fn differs(line: &str) -> bool {
    DIFFER.iter().any(|(start, _)| line == *start || line.starts_with(&format!("{start} ")))
}

fn sorted(reply: &[u8]) -> Vec<&[u8]> {
    let mut lines: Vec<&[u8]> = reply.split(|byte| *byte == b'\n').collect();
    lines.sort();
    lines
}

/// Both clients say a group of calls; what each is answered.
fn answers(client: &mut RespClient, group: &[&str], is_version_3: bool) -> Vec<Vec<u8>> {
    client.ask(&words("FLUSHALL"));
    if is_version_3 {
        client.ask(&words("HELLO 3"));
    }
    if group.contains(&"MULTI") {
        // What is queued is answered by EXEC, so that only the whole can be compared.
        return vec![client.ask(&group.iter().flat_map(|line| words(line)).collect::<Vec<u8>>())];
    }
    let last = group.last().map(|line| named(line)).unwrap_or_default();
    group
        .iter()
        .map(|line| match last.as_str() {
            // Nothing comes behind these.
            "QUIT" | "MONITOR" if named(line) == last => {
                client.send(&words(line));
                client.until(b"+OK\r\n")
            }
            _ => client.answer(&words(line)),
        })
        .collect()
}

#[track_caller]
fn same_answers(sidecar: &Sidecar, redis: &Redis, is_version_3: bool) {
    for group in &groups() {
        let direct = answers(&mut RespClient::to(redis.socket()), group, is_version_3);
        let through = answers(&mut sidecar.client(), group, is_version_3);
        for ((line, said), expected) in group.iter().zip(&through).zip(&direct) {
            let shown = |bytes: &[u8]| bytes[..bytes.len().min(300)].escape_ascii().to_string();
            let is_same = match differs(line) {
                true => said.first() == expected.first() && !said.is_empty(),
                false if OF_CHILDREN.contains(line) => matches!(said.first(), Some(b'+' | b'-')),
                false if REORDERED.contains(line) => sorted(said) == sorted(expected),
                false => said == expected,
            };
            assert!(is_same, "{line}: {}\ndirectly: {}", shown(said), shown(expected));
        }
    }
}

#[test]
fn every_command_is_answered_byte_for_byte_as_directly() {
    let (redis, folder) = (Redis::start(), Folder::new());
    let own = Sidecar::start(&folder, &redis.host(), SETTINGS);
    same_answers(&own, &redis, false);
    same_answers(&own, &redis, true);
    let settings = format!("{SETTINGS}[proxy.redis]\nupstream_connections = \"shared\"\n");
    let shared = Sidecar::start(&folder, &redis.host(), &settings);
    same_answers(&shared, &redis, false);
    same_answers(&shared, &redis, true);
    for line in REFUSED {
        let said = own.client().line(line);
        assert!(said.starts_with("-CINCH REFUSED"), "{line}: {said}");
    }
    // No command of the server is left out.
    let list = redis.run(&["command", "list"]);
    let of_server: BTreeSet<String> =
        list.lines().filter(|name| !name.contains('|')).map(str::to_uppercase).collect();
    let groups = groups();
    let lines = groups.iter().flatten().chain(&REFUSED);
    let asked: BTreeSet<String> = lines.map(|line| named(line)).collect();
    let own_words = ["FLUSHALL", "HELLO"].map(str::to_owned);
    let asked: BTreeSet<String> = asked.into_iter().chain(own_words).collect();
    let missing: Vec<&String> = of_server.difference(&asked).collect();
    assert!(missing.is_empty(), "{missing:?} of the server are not asked");
    assert!(of_server.len() > 230, "{}", of_server.len());
}

#[test]
fn on_keys_of_a_namespace_every_command_does_what_the_table_says() {
    let (redis, other, folder) = (Redis::start(), Redis::start(), Folder::new());
    let sidecar = Sidecar::start(&folder, &redis.host(), SETTINGS);
    let page = include_str!("../../spec/redis.md");
    let row = |name: &str| {
        let found = page.lines().find_map(|line| line.strip_prefix(&format!("| {name} | ")));
        found.unwrap_or_else(|| panic!("{name} has no row")).trim_end_matches(" |")
    };
    let (mut through, mut direct) = (sidecar.client(), RespClient::to(other.socket()));
    for line in ON_KEYS.lines() {
        let (said, expected) = (through.answer(&words(line)), direct.answer(&words(line)));
        let meaning = row(&named(line));
        let is_refused = match meaning.strip_prefix("passes within a namespace, refused") {
            Some(_) => line.ends_with("elsewhere"),
            None => meaning.starts_with("refused"),
        };
        let shown = said[..said.len().min(200)].escape_ascii();
        match is_refused {
            true => assert!(said.starts_with(b"-CINCH REFUSED"), "{line}: {shown}"),
            false => assert!(said == expected, "{line}: {shown}"),
        }
    }
    let asked: BTreeSet<String> = ON_KEYS.lines().map(named).collect();
    let list = redis.run(&["command", "list"]).to_uppercase();
    let of_server: BTreeSet<&str> = list.lines().collect();
    for line in page.lines().filter(|line| line.starts_with("| ")) {
        let mut cells = line.trim_matches(['|', ' ']).split(" | ");
        let (Some(name), Some(meaning)) = (cells.next(), cells.next()) else { continue };
        let is_simple = meaning == "passes byte for byte" || meaning.starts_with("passes;");
        let is_ours = of_server.contains(name) && !is_simple && !meaning.contains("replicas");
        assert!(!is_ours || asked.contains(name), "{name} is not asked on a key of a namespace");
    }
    // The payloads were packed, or all this would be nothing.
    let stored: usize = redis.run(&["strlen", "cart:3"]).parse().expect("a length");
    let plain: usize = other.run(&["strlen", "cart:3"]).parse().expect("a length");
    assert!(stored < plain, "{stored} of {plain}");
}
