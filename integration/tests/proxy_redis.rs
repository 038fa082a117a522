//! `cinch proxy redis` with a real server: whatever clients say to the sidecar is answered as the
//! server answers it, and what the server holds are envelopes.
//!
//! The client is a plain socket: replies are compared byte for byte, so that no library can hide a
//! difference. redis-py speaks in a test of its own.

use std::io::{BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::process::Stdio;
use std::time::Instant;

use cinch_integration::{
    Authority, Envelope, Folder, PATIENCE, Redis, RespClient, Sidecar, Started, after, cinch,
    closed_port, python, resp_command as command,
};

const SETTINGS: &str = "[namespaces.carts]\nkeys = [\"cart:*\"]\nwrite = \"packed\"\n";

fn commands(lines: &[&str]) -> Vec<u8> {
    let (small, large) = (cart(20), cart(20_000));
    let of = |word: &str| match word {
        "SMALL" => small.clone(),
        "LARGE" => large.clone(),
        word => word.as_bytes().to_vec(),
    };
    let line = |line: &&str| {
        let words: Vec<Vec<u8>> = line.split(' ').map(of).collect();
        command(&words.iter().map(Vec::as_slice).collect::<Vec<_>>())
    };
    lines.iter().flat_map(line).collect()
}

fn cart(lines: usize) -> Vec<u8> {
    "{\"sku\":\"SKU-1\",\"price\":12.50,\"quantity\":1},".repeat(lines).into_bytes()
}

/// A server, and another one that is asked the same without a sidecar.
struct Pair {
    redis: Redis,
    other: Redis,
    sidecar: Sidecar,
    _folder: Folder,
}

impl Pair {
    fn start() -> Pair {
        let (redis, other, folder) = (Redis::start(), Redis::start(), Folder::new());
        let sidecar = Sidecar::start(&folder, &redis.host(), SETTINGS);
        Pair { redis, other, sidecar, _folder: folder }
    }

    fn clients(&self) -> [RespClient; 2] {
        [self.sidecar.client(), RespClient::to(self.other.socket())]
    }

    /// Asks both the same, and wants the same answer.
    #[track_caller]
    fn same(&self, script: &[&str]) -> Vec<u8> {
        let [mut through, mut direct] = self.clients();
        let bytes = commands(script);
        let (said, expected) = (through.ask(&bytes), direct.ask(&bytes));
        if said != expected {
            let at = said.iter().zip(&expected).position(|(a, b)| a != b).unwrap_or(0);
            let near = |bytes: &[u8]| {
                let end = bytes.len().min(at + 200);
                bytes[at.saturating_sub(40).min(end)..end].escape_ascii().to_string()
            };
            panic!("said {}\nbut directly {}", near(&said), near(&expected));
        }
        said
    }
}

const SCRIPT: &[&str] = &[
    "SET cart:1 SMALL",
    "GET cart:1",
    "SET cart:2 LARGE EX 1000",
    "STRLEN cart:2",
    "GET cart:2",
    "SET cart:1 LARGE GET",
    "SET cart:3 SMALL NX GET",
    "SET cart:3 SMALL XX",
    "SETNX cart:4 SMALL",
    "SETNX cart:4 LARGE",
    "SETEX cart:5 100 SMALL",
    "PSETEX cart:6 100000 LARGE",
    "GETSET cart:5 LARGE",
    "GETEX cart:5 PERSIST",
    "TTL cart:5",
    "GETDEL cart:5",
    "GET cart:5",
    "MSET cart:7 SMALL plain:7 SMALL cart:8 LARGE",
    "MSETNX cart:9 SMALL plain:9 LARGE",
    "MGET cart:7 none plain:7 cart:8 cart:9",
    "HSET cart:h a SMALL b LARGE c 7",
    "HMSET cart:h d SMALL",
    "HSETNX cart:h e SMALL",
    "HGET cart:h b",
    // The order of fields depends on how long the stored values are.
    "HSET cart:one a LARGE",
    "HMGET cart:h a none d",
    "HGETALL cart:one",
    "HVALS cart:one",
    "HKEYS cart:one",
    "HSCAN cart:one 0",
    "HSTRLEN cart:h b",
    "HSTRLEN cart:h none",
    "HRANDFIELD cart:one 10 WITHVALUES",
    "HRANDFIELD cart:one 10",
    "HINCRBY cart:h c 5",
    "HDEL cart:h a",
    "GETRANGE cart:1 10 60",
    "GETRANGE cart:none 0 1",
    "SUBSTR cart:1 -20 -1",
    "GETBIT cart:1 77",
    "BITCOUNT cart:1",
    "BITCOUNT cart:1 5 900 BIT",
    "BITPOS cart:1 1 3",
    "BITPOS cart:1 0",
    "GETRANGE cart:1 x 60",
    "SET cart:n 41",
    "INCR cart:n",
    "INCRBYFLOAT cart:n 0.5",
    "STRLEN cart:n",
    "STRLEN none",
    "LPUSH cart:list SMALL x",
    "LRANGE cart:list 0 -1",
    "STRLEN cart:list",
    "GET cart:list",
    "RENAME cart:7 cart:77",
    "GET cart:77",
    "COPY cart:77 cart:78",
    "GET cart:78",
    "EXISTS cart:77 cart:78",
    "TYPE cart:77",
    "SET",
    "GET",
    "MSET a",
    "NOSUCH a b",
    "SELECT 1",
    "GET cart:1",
    "SET cart:1 SMALL",
    "GET cart:1",
    "SELECT 0",
    "WATCH cart:1",
    "STRLEN cart:1",
    "MULTI",
    "SET cart:1 SMALL",
    "GET cart:1",
    "STRLEN cart:1",
    "HGETALL cart:one",
    "GETRANGE cart:1 0 5",
    "INCR cart:1",
    "EXEC",
    "MULTI",
    "GET cart:1",
    "DISCARD",
    "GET cart:1",
    "MULTI",
    "NOSUCH",
    "GET cart:1",
    "EXEC",
    "EXEC",
    "SUBSCRIBE news",
    "PING",
    "UNSUBSCRIBE",
    "GET cart:1",
];

#[test]
fn a_script_is_answered_as_directly_in_both_protocols() {
    let pair = Pair::start();
    let said = pair.same(SCRIPT);
    assert!(said.len() > 1_000_000, "the values came back");
    let script: Vec<&str> = SCRIPT.iter().filter(|line| **line != "PING").copied().collect();
    pair.same(&[&["FLUSHALL"], &script[..]].concat());
    let [mut through, mut direct] = pair.clients();
    let hello = b"*2\r\n$5\r\nHELLO\r\n$1\r\n3\r\n";
    // The id of the client is its own.
    through.ask(hello);
    direct.ask(hello);
    let script = commands(&[&["FLUSHALL"], &script[..]].concat());
    assert!(through.ask(&script) == direct.ask(&script), "in RESP3");
    // One byte at a time.
    let script = commands(&["SET cart:1 SMALL", "MGET cart:1 x", "STRLEN cart:1"]);
    let mut slow = pair.sidecar.client();
    for byte in &script {
        slow.send(&[*byte]);
    }
    assert_eq!(slow.ask(b""), pair.clients()[1].ask(&script));
}

#[test]
fn what_is_stored_are_envelopes_and_other_keys_pass_untouched() {
    let pair = Pair::start();
    pair.same(&["SET cart:1 LARGE", "SET plain:1 LARGE", "HSET cart:h f LARGE"]);
    let mut direct = RespClient::to(pair.redis.socket());
    let bulk = |said: Vec<u8>| {
        let head = said.iter().position(|byte| *byte == b'\n').unwrap() + 1;
        let length: usize = std::str::from_utf8(&said[1..head - 2]).unwrap().parse().unwrap();
        said[head..head + length].to_vec()
    };
    for line in ["GET cart:1", "HGET cart:h f"] {
        let stored = bulk(direct.ask(&commands(&[line])));
        Envelope::read(&stored).is_of(&cart(20_000));
        assert!(stored.len() * 5 < cart(20_000).len());
    }
    assert_eq!(bulk(direct.ask(&commands(&["GET plain:1"]))), cart(20_000));
}

#[test]
fn what_can_not_be_done_is_refused_with_a_reason_and_changes_nothing() {
    let pair = Pair::start();
    let mut client = pair.sidecar.client();
    client.ask(&commands(&["SET cart:1 SMALL"]));
    for line in [
        "APPEND cart:1 x",
        "SETRANGE cart:1 0 x",
        "SETBIT cart:1 0 1",
        "BITFIELD cart:1 SET u8 0 1",
        "LCS cart:1 plain",
        "BITOP NOT plain cart:1",
        "SORT plain GET cart:*",
        "RENAME cart:1 plain",
        "COPY cart:1 plain",
        "EVAL return 1 cart:1",
        "PSYNC ? -1",
        "REPLCONF capa eof",
    ] {
        let said = client.line(line);
        assert!(said.starts_with("-CINCH REFUSED"), "{line}: {said}");
    }
    assert!(client.line("EVAL return(1) 1 plain:1").starts_with(":1"));
    assert!(client.line("APPEND plain x").starts_with(":1"));
    assert_eq!(client.ask(&commands(&["GET cart:1"])), pair_get(&cart(20)));
    let aborted = commands(&["MULTI", "SET cart:1 x", "APPEND cart:1 y", "EXEC", "GET cart:1"]);
    let said = client.ask(&aborted);
    let text = String::from_utf8_lossy(&said);
    assert!(text.contains("-EXECABORT"), "{text}");
    assert!(said.ends_with(&pair_get(&cart(20))), "{text}");
    let page = pair.sidecar.page("/metrics");
    assert!(page.contains("cinch_proxy_refused_total 1"), "{page}");
    assert!(pair.sidecar.page("/healthz").ends_with("ok\n"));
}

/// The reply to a GET, and the end of an [`RespClient::ask`].
fn pair_get(value: &[u8]) -> Vec<u8> {
    let head = format!("${}\r\n", value.len()).into_bytes();
    [&head, value, b"\r\n$7\r\nthe-end\r\n"].concat()
}

#[test]
fn a_pipeline_of_a_thousand_comes_back_in_order() {
    let pair = Pair::start();
    let lines: Vec<String> = (0..1_000)
        .map(|number| match number % 7 {
            0 => format!("SET cart:{number} LARGE"),
            1 => format!("GET cart:{}", number - 1),
            2 => format!("ECHO {number}"),
            3 => format!("SET cart:{number} SMALL"),
            4 => format!("MGET cart:{} plain cart:{}", number - 1, number - 4),
            5 => format!("STRLEN cart:{}", number - 2),
            _ => format!("SET plain:{number} SMALL GET"),
        })
        .collect();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    pair.same(&lines);
}

#[test]
fn blocked_and_subscribed_clients_are_told_when_something_comes() {
    let pair = Pair::start();
    let (mut blocked, mut subscribed) = (pair.sidecar.client(), pair.sidecar.client());
    blocked.send(&commands(&["BLPOP cart:list 0", "PING"]));
    subscribed.send(&commands(&["SUBSCRIBE news"]));
    subscribed.until(b":1\r\n");
    let mut other = pair.sidecar.client();
    other.ask(&commands(&["PUBLISH news hello", "RPUSH cart:list x"]));
    assert_eq!(
        subscribed.until(b"hello\r\n"),
        b"*3\r\n$7\r\nmessage\r\n$4\r\nnews\r\n$5\r\nhello\r\n"
    );
    assert_eq!(blocked.until(b"+PONG\r\n"), b"*2\r\n$9\r\ncart:list\r\n$1\r\nx\r\n+PONG\r\n");
    // In RESP3 an invalidation comes between replies.
    let mut tracked = pair.sidecar.client();
    tracked.ask(&commands(&["HELLO 3", "CLIENT TRACKING ON", "SET cart:1 SMALL", "GET cart:1"]));
    other.ask(&commands(&["SET cart:1 x"]));
    let pushed = tracked.until(b"cart:1\r\n");
    assert_eq!(pushed, b">2\r\n$10\r\ninvalidate\r\n*1\r\n$6\r\ncart:1\r\n");
    assert!(tracked.line("GET cart:1").starts_with("$1\r\nx\r\n"));
}

#[test]
fn a_damaged_value_is_an_error_that_names_it() {
    let pair = Pair::start();
    let mut client = pair.sidecar.client();
    client.ask(&commands(&["SET cart:1 LARGE"]));
    pair.redis.run(&["setrange", "cart:1", "60", "xxxx"]);
    assert!(client.line("GET cart:1").starts_with("-CINCH UNDECODABLE"));
    assert!(client.line("ECHO x").starts_with("$1\r\nx"));
    assert!(pair.sidecar.page("/metrics").contains("cinch_proxy_undecodable_total 1"));
}

#[test]
fn a_server_that_goes_or_is_not_there_is_told() {
    let folder = Folder::new();
    let redis = Redis::start();
    let sidecar = Sidecar::start(&folder, &redis.host(), SETTINGS);
    let mut client = sidecar.client();
    client.ask(&commands(&["SET cart:1 SMALL"]));
    client.send(&commands(&["BLPOP cart:none 0", "GET cart:1"]));
    // The server has the command before it goes.
    let start = Instant::now();
    while !redis.run(&["info", "clients"]).contains("blocked_clients:1") {
        assert!(start.elapsed() < PATIENCE, "the client was never blocked");
    }
    drop(redis);
    let mut said = String::new();
    client.stream().read_to_string(&mut said).unwrap();
    let lines: Vec<&str> = said.lines().collect();
    assert_eq!(lines.len(), 2, "{said}");
    assert!(lines.iter().all(|line| line.starts_with("-CINCH UPSTREAM")), "{said}");
    let mut late = sidecar.client();
    let mut said = String::new();
    late.stream().read_to_string(&mut said).unwrap();
    assert!(said.starts_with("-CINCH UPSTREAM"), "{said}");
}

#[test]
fn garbage_is_answered_with_an_error_and_the_end() {
    let pair = Pair::start();
    for garbage in ["*1\r\n:5\r\n", "*1\r\n$x\r\n", "GET \"a\r\n", "*9999999999\r\n"] {
        let mut client = pair.sidecar.client();
        client.send(b"PING\r\n");
        client.send(garbage.as_bytes());
        let mut said = String::new();
        client.stream().read_to_string(&mut said).unwrap();
        assert!(said.starts_with("+PONG\r\n-ERR Protocol error"), "{garbage}: {said}");
    }
}

#[test]
fn a_change_of_the_configuration_is_followed_and_the_end_is_in_order() {
    let (redis, folder) = (Redis::start(), Folder::new());
    let sidecar = Sidecar::start(&folder, &redis.host(), &SETTINGS.replace("packed", "plain"));
    let mut client = sidecar.client();
    client.ask(&commands(&["SET cart:1 LARGE"]));
    let stored = || redis.run(&["strlen", "cart:1"]).parse::<usize>().unwrap();
    assert_eq!(stored(), cart(20_000).len());
    folder.write("cinch.toml", SETTINGS);
    let start = Instant::now();
    while stored() == cart(20_000).len() {
        assert!(start.elapsed() < PATIENCE, "the configuration was never followed");
        client.ask(&commands(&["SET cart:1 LARGE"]));
    }
    let (code, last) = sidecar.stop();
    assert_eq!(code, Some(0), "{last}");
    assert!(last.contains("0 connections cut"), "{last}");
    let mut rest = Vec::new();
    client.stream().read_to_end(&mut rest).unwrap();
    assert_eq!(rest, b"");
}

#[test]
fn redis_py_does_what_it_does_directly() {
    let pair = Pair::start();
    let port = pair.sidecar.address.port().to_string();
    let other = pair.other.host();
    let other = other.rsplit_once(':').unwrap().1;
    python("proxy_redis.py").and(&[&port, other]).run("");
}

#[test]
fn wrong_settings_are_shown_with_their_line() {
    let folder = Folder::new();
    let run = |settings: &str| {
        let config = folder.write("cinch.toml", format!("{SETTINGS}[proxy.redis]\n{settings}"));
        cinch(["proxy", "redis", "--check", "--config", &config]).run().code(1).err
    };
    let unknown = run("listen = [\"127.0.0.1:0\"]\nlisten_on = 1\n");
    assert!(unknown.contains("listen_on") && unknown.contains("line 6"), "{unknown}");
    let wrong = run("listen = [\"nowhere\"]\nupstream = \"127.0.0.1:6379\"\n");
    assert!(wrong.contains("cinch.toml:5: \"nowhere\" is no HOST:PORT"), "{wrong}");
    assert!(run("upstream = \"127.0.0.1:6379\"\n").contains("--listen"));
    let bound = run("listen = [\"a:1\"]\nupstream = \"a:1\"\npipeline_max = 0\n");
    assert!(bound.contains("pipeline_max is 0"), "{bound}");
    let free = format!("127.0.0.1:{}", closed_port());
    let good = format!("{SETTINGS}[proxy.redis]\nlisten = [{free:?}]\nupstream = {free:?}\n");
    let config = folder.write("cinch.toml", good);
    cinch(["proxy", "redis", "--check", "--config", &config]).run().quiet();
}

#[test]
fn every_command_of_the_server_is_in_the_table() {
    let redis = Redis::start();
    let page = include_str!("../../spec/redis.md");
    let names = redis.run(&["command", "list"]);
    let names: Vec<&str> = names.lines().filter(|name| !name.contains('|')).collect();
    assert!(names.len() > 200, "{names:?}");
    for name in names {
        assert!(page.contains(&format!("\n| {} | ", name.to_uppercase())), "{name}");
    }
}

#[test]
fn a_client_of_another_database_or_socket_is_served_alike() {
    let (redis, folder) = (Redis::start(), Folder::new());
    let socket = folder.at("proxy.sock");
    let settings = format!("{SETTINGS}[proxy.redis]\nworkers = 2\n");
    let config = folder.write("cinch.toml", settings);
    let listen = format!("unix:{socket}");
    let mut command = cinch(["proxy", "redis", "--listen", &listen, "--config", &config])
        .and(["--upstream", &redis.host()])
        .command();
    let mut child = command.stderr(Stdio::piped()).spawn().expect("the binary can be started");
    let mut err = BufReader::new(child.stderr.take().expect("standard error is a pipe"));
    let _started = Started(child);
    assert_eq!(after(&mut err, "listening on "), listen);
    let mut client = UnixStream::connect(&socket).expect("it listens");
    client.set_read_timeout(Some(PATIENCE)).unwrap();
    client.write_all(&commands(&["SELECT 3", "SET cart:1 LARGE", "STRLEN cart:1"])).unwrap();
    let expected = format!("+OK\r\n+OK\r\n:{}\r\n", cart(20_000).len());
    let mut said = vec![0; expected.len()];
    client.read_exact(&mut said).unwrap();
    assert_eq!(String::from_utf8(said).unwrap(), expected);
    // A half of a command is not one: it leaves nothing behind.
    client.write_all(&commands(&["SET cart:2 LARGE"])[..1_000]).unwrap();
    drop(client);
    assert_eq!(redis.run(&["-n", "3", "dbsize"]), "1");
    assert!(redis.run(&["-n", "3", "strlen", "cart:1"]).parse::<usize>().unwrap() < 20_000);
}

#[test]
fn what_is_packed_is_shown_through_the_policy() {
    let pair = Pair::start();
    pair.same(&["SET cart:1 LARGE EX 1000", "SET plain LARGE", "LPUSH list x"]);
    let (folder, address) = (Folder::new(), pair.redis.address());
    let config = folder.write("cinch.toml", SETTINGS);
    let run = |arguments: &[&str]| cinch(arguments).and(["--config", &config]).run();
    for key in ["cart:1", "plain"] {
        let got = run(&["get", &address, key]).code(0);
        assert!(got.out == cart(20_000), "{key}");
    }
    let missing = run(&["get", &address, "cart:none"]).code(3);
    assert!(missing.err.contains("nothing is stored under cart:none"), "{}", missing.err);
    let shown = run(&["scan", &address]).code(0);
    let lines: Vec<Vec<&str>> =
        shown.text().lines().map(|line| line.split_whitespace().collect()).collect();
    let line = |key: &str| lines.iter().find(|line| line[3] == key).expect("the key is shown");
    assert_eq!(line("cart:1")[1..3], ["packed", "carts"]);
    assert_eq!(line("plain")[..3], ["860000", "plain", "-"]);
    assert_eq!(run(&["scan", &address, "--keys", "cart:*"]).code(0).text().lines().count(), 1);
    let told = run(&["explain", &address, "cart:1"]).code(0).text().to_owned();
    for words in ["carts", "writes packed", "envelope", "860000 bytes, of the packed copy"] {
        assert!(told.contains(words), "{words}: {told}");
    }
    pair.redis.run(&["setrange", "cart:1", "60", "xxxx"]);
    let told = run(&["explain", &address, "cart:1"]).code(3).text().to_owned();
    assert!(told.contains("can't be read"), "{told}");
    run(&["get", &address, "cart:1"]).code(3);
    assert_eq!(pair.redis.run(&["exists", "cart:1"]), "1");
}

#[test]
fn with_certificates_on_both_sides_a_script_is_answered_alike() {
    let (redis, other, authority) = (Redis::start(), Redis::start(), Authority::new());
    let (far_folder, folder) = (Folder::new(), Folder::new());
    for (folder, name) in [(&far_folder, "localhost"), (&folder, "client")] {
        let (certificate, key) = authority.issue(name);
        folder.write("own.pem", certificate);
        folder.write("own.key", key);
        folder.write("ca.pem", authority.pem());
    }
    // The far one is the server with TLS that the near one talks to.
    let far = "[namespaces.none]\nkeys = [\"none:*\"]\nwrite = \"packed\"\n[proxy.redis]\n\
               tls = { certificate = \"own.pem\", key = \"own.key\", client_ca = \"ca.pem\" }\n";
    let far = Sidecar::start(&far_folder, &redis.host(), far);
    let near = |shows: &str, connections: &str| {
        let settings = format!(
            "{SETTINGS}[proxy.redis]\nupstream_connections = \"{connections}\"\n\
             upstream_tls = {{ ca = \"ca.pem\", {shows} server_name = \"localhost\" }}\n"
        );
        Sidecar::start(&folder, &far.address.to_string(), &settings)
    };
    for connections in ["own", "shared"] {
        let sidecar = near("certificate = \"own.pem\", key = \"own.key\",", connections);
        let (mut through, mut direct) = (sidecar.client(), RespClient::to(other.socket()));
        let script = commands(&["FLUSHALL", "SET cart:1 LARGE", "GET cart:1", "SET plain LARGE"]);
        let script = [script, commands(&["MGET cart:1 plain", "MULTI", "GET cart:1", "EXEC"])];
        let script = script.concat();
        assert!(through.ask(&script) == direct.ask(&script), "{connections}");
        let nobody = near("", connections);
        let mut client = nobody.client();
        client.send(b"PING\r\n");
        let mut said = String::new();
        client.stream().read_to_string(&mut said).unwrap();
        assert!(said.starts_with("-CINCH UPSTREAM"), "{connections}: {said}");
    }
}
