//! The cart service as a user has it: one command starts it with its servers and ends them, bad
//! input is answered and harms nothing, and a rollout goes forward and back by its configuration
//! while requests run.
//!
//! Every cart that a client has written is read back with the version it must have at least, and
//! compared byte for byte.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, ChildStderr, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use cinch_integration::{Folder, MongoDb, Postgres, cart_services};
use rustix::process::{Pid, Signal, kill_process};

/// How long anything may take on a busy machine, the first build of FerretDB included.
const PATIENCE: Duration = Duration::from_secs(300);

/// The longest cart that the service says it takes, in bytes.
const CART_BYTES_MAX: usize = 7 << 20;

const COLUMNS: &str = "key=id&raw=cart&compressed=packed&metadata=about&stamp=version";

/// A service that runs.
struct Service {
    child: Child,
    address: SocketAddr,
    /// What it printed before it listened.
    printed: Vec<String>,
    said: Receiver<String>,
}

impl Service {
    /// Starts a program and waits until it listens.
    fn start(mut command: Command) -> Service {
        command.env_remove("RUST_BACKTRACE").args(["--listen", "127.0.0.1:0"]);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the service can be started");
        let said = lines(child.stderr.take().expect("standard error is a pipe"));
        let stdout = BufReader::new(child.stdout.take().expect("standard output is a pipe"));
        let mut printed = Vec::new();
        for line in stdout.lines().map_while(Result::ok) {
            if let Some(address) = line.strip_prefix("listening on http://") {
                let address = address.parse().expect("an address");
                return Service { child, address, printed, said };
            }
            printed.push(line);
        }
        let why: Vec<String> = said.iter().collect();
        drop(child.wait());
        panic!("it never listened: {printed:?} {why:?}")
    }

    /// Starts the program alone on servers of the test, with a table of its own.
    fn on(servers: &Servers, folder: &Folder, table: &str) -> Service {
        servers.postgres.run(format!(
            "CREATE TABLE {table} (id text PRIMARY KEY, cart text, packed bytea, about jsonb, \
             version bigint)"
        ));
        Service::start(servers.command(folder, table))
    }

    fn put(&self, user: &str, version: u64, cart: &[u8]) -> u16 {
        let version = format!("cart-version: {version}\r\n");
        self.call(&format!("PUT /carts/{user}"), &version, cart).code
    }

    fn call(&self, line: &str, headers: &str, body: &[u8]) -> Answer {
        call(self.address, line, headers, body)
    }

    /// The value of a line of /metrics that begins so.
    fn metric(&self, start: &str) -> Option<f64> {
        let page = String::from_utf8(self.call("GET /metrics", "", b"").body).expect("text");
        let line = page.lines().find(|line| line.starts_with(start))?;
        line.rsplit_once(' ')?.1.parse().ok()
    }

    /// Asks it to end; it must succeed and must not have panicked.
    fn end(mut self) {
        kill_process(Pid::from_child(&self.child), Signal::TERM).expect("it runs");
        let status = self.child.wait().expect("it can be waited for");
        let said: Vec<String> = self.said.iter().collect();
        assert!(status.success(), "{status}: {said:?}");
        assert!(!said.iter().any(|line| line.contains("panicked")), "{said:?}");
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        // It is asked and not killed, because it may have servers of its own to end.
        if let Ok(None) = self.child.try_wait() {
            let _ended = kill_process(Pid::from_child(&self.child), Signal::TERM);
            drop(self.child.wait());
        }
    }
}

/// The most lines that wait to be looked at; the services write a handful.
const LINES_MAX: usize = 10_000;

/// Hands on lines as they come, so that no process blocks on a full pipe.
fn lines(stderr: ChildStderr) -> Receiver<String> {
    let (sender, receiver) = sync_channel(LINES_MAX);
    thread::spawn(move || {
        for line in BufReader::new(stderr).lines().map_while(Result::ok) {
            // Nobody may be listening any more.
            drop(sender.send(line));
        }
    });
    receiver
}

/// The servers that the tests share.
struct Servers {
    mongodb: std::sync::Arc<MongoDb>,
    postgres: std::sync::Arc<Postgres>,
}

impl Servers {
    fn new() -> Servers {
        Servers { mongodb: MongoDb::shared(), postgres: Postgres::shared() }
    }

    fn command(&self, folder: &Folder, table: &str) -> Command {
        let mut command = Command::new(&cart_services()[0]);
        command.args(["--config", &folder.at("carts.toml")]);
        let cache = self.mongodb.address(&format!("shop.{table}?stamp=version"));
        let persistent = format!("{}?table={table}&{COLUMNS}", self.postgres.address());
        command.args(["--cache", &cache, "--persistent", &persistent]);
        command
    }
}

struct Answer {
    code: u16,
    head: String,
    body: Vec<u8>,
}

impl Answer {
    /// The value of a header, whose name is in lower case.
    fn header(&self, name: &str) -> &str {
        let found = self.head.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
        found.unwrap_or_else(|| panic!("no {name}: {}", self.head))
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}

/// One request on a connection of its own.
fn call(address: SocketAddr, line: &str, headers: &str, body: &[u8]) -> Answer {
    let mut stream = TcpStream::connect(address).expect("the service can be connected to");
    let length = body.len();
    let head = format!(
        "{line} HTTP/1.1\r\nHost: shop\r\nConnection: close\r\nContent-Length: {length}\r\n\
         {headers}\r\n"
    );
    // A service that refuses a body need not have read all of it.
    drop(stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body)));
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap_or_else(|error| panic!("{line}: {error}"));
    let end = answer.windows(4).position(|four| four == b"\r\n\r\n");
    let end = end.unwrap_or_else(|| panic!("{line}: {:?}", String::from_utf8_lossy(&answer)));
    let head = String::from_utf8_lossy(&answer[..end]).into_owned();
    let code = head.split(' ').nth(1).and_then(|code| code.parse().ok()).expect("a status");
    Answer { code, head, body: answer[end + 4..].to_vec() }
}

/// A cart that is worth packing.
fn cart(user: &str, version: u64) -> Vec<u8> {
    let line = format!(r#"{{"sku":"SKU-{version}","title":"Red Ceramic Mug","price":12.50}}"#);
    let lines = vec![line; 15].join(",");
    format!(r#"{{"user":"{user}","version":{version},"lines":[{lines}]}}"#).into_bytes()
}

fn configuration(write: &str, read: &str) -> String {
    format!(
        "[namespaces.carts]\nkeys = [\"cart:*\"]\ncompression_codec = \"LZ4_HIGH\"\n\
         write_mode = \"{write}\"\nread_mode = \"{read}\"\n"
    )
}

#[test]
fn one_command_starts_the_service_with_its_servers_and_ends_them() {
    let service = Service::start(Command::new(&cart_services()[1]));
    let address = |name: &str| {
        let line =
            service.printed.iter().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        line.unwrap_or_else(|| panic!("no {name} in {:?}", service.printed)).to_owned()
    };
    assert_eq!(service.call("GET /carts/anna", "", b"").code, 404);
    assert_eq!(service.put("anna", 1, &cart("anna", 1)), 204);
    let found = service.call("GET /carts/anna", "", b"");
    assert_eq!((found.code, found.body.clone()), (200, cart("anna", 1)));
    assert_eq!((found.header("cart-version"), found.header("cart-origin")), ("1", "cache"));
    // What is printed can be edited and is followed.
    let file = address("configuration");
    let text = std::fs::read_to_string(&file).expect("the configuration is there");
    assert!(text.contains("write_mode = \"NO_COMPRESS\""), "{text}");
    std::fs::write(&file, text.replacen("\"NO_COMPRESS\"", "\"DUAL\"", 1)).expect("it is ours");
    let start = Instant::now();
    while service.metric(r#"cinch_mode{direction="write",mode="DUAL""#) != Some(1.0) {
        assert!(start.elapsed() < PATIENCE, "the file is not followed");
    }
    let servers: Vec<SocketAddr> = ["cache", "persistent"]
        .iter()
        .map(|name| {
            let address = address(name);
            let host = address.split(['@', '/']).find(|part| part.starts_with("127.0.0.1:"));
            host.expect("an address has a host").parse().expect("an address")
        })
        .collect();
    for server in &servers {
        TcpStream::connect(server).expect("the server runs");
    }
    service.end();
    for server in &servers {
        assert!(TcpStream::connect(server).is_err(), "{server} was left behind");
    }
    assert!(!std::path::Path::new(&file).exists(), "the temporary folder was left behind");
}

#[test]
fn bad_input_is_answered_and_harms_nothing() {
    let (servers, folder) = (Servers::new(), Folder::new());
    folder.write("carts.toml", configuration("DUAL", "COMPRESS_ONLY"));
    let service = Service::on(&servers, &folder, "carts_bad");
    assert_eq!(service.put("bea", 5, &cart("bea", 5)), 204);
    let version = "cart-version: 6\r\n";
    let long_name = format!("PUT /carts/{}", "u".repeat(201));
    let deep = "[".repeat(100_000);
    let too_long = vec![b' '; CART_BYTES_MAX + 1];
    for (line, headers, body, code, says) in [
        ("PUT /carts/bea", "", &b"{}"[..], 400, "cart-version"),
        ("PUT /carts/bea", "cart-version: six\r\n", b"{}", 400, "whole number"),
        ("PUT /carts/bea", "cart-version: -6\r\n", b"{}", 400, "whole number"),
        ("PUT /carts/bea", "cart-version: 9223372036854775808\r\n", b"{}", 400, "775807"),
        ("PUT /carts/bea", version, b"", 422, "a cart is JSON"),
        ("PUT /carts/bea", version, b"{\"lines\":[}", 422, "line 1 column"),
        ("PUT /carts/bea", version, b"{} {}", 422, "a cart is JSON"),
        ("PUT /carts/bea", version, b"\"\xFF\"", 422, "a cart is UTF-8"),
        ("PUT /carts/bea", version, deep.as_bytes(), 422, "a cart is JSON"),
        ("PUT /carts/bea", version, &too_long, 413, "at most 7340032 bytes"),
        ("PUT /carts/bea", "cart-version: 5\r\n", b"{}", 409, "newer"),
        ("PUT /carts/bea", "cart-version: 4\r\n", b"{}", 409, "newer"),
        ("PUT /carts/be%00a", version, b"{}", 400, "control characters"),
        ("PUT /carts/be%FFa", version, b"{}", 400, "UTF-8"),
        (&long_name, version, b"{}", 400, "200 bytes"),
        ("GET /carts/be%0Aa", "", b"", 400, "control characters"),
        ("GET /carts/bea?at_least=six", "", b"", 400, "at_least"),
        ("GET /carts/bea?at_least=6", "", b"", 404, "version 6 or later"),
        ("GET /carts/nobody", "", b"", 404, "no such cart"),
        ("GET /carts/", "", b"", 404, "/carts/USER"),
        ("GET /nothing", "", b"", 404, "/carts/USER"),
        ("DELETE /carts/bea", "", b"", 405, "GET and PUT"),
        ("POST /metrics", "", b"", 405, "GET"),
    ] {
        let answer = service.call(line, headers, body);
        let shown = format!("{line} {headers:?}: {} {}", answer.code, answer.text());
        assert_eq!(answer.code, code, "{shown}");
        assert!(answer.text().contains(says), "{shown}");
        assert!(answer.text().lines().count() == 1, "{shown}");
    }
    // A connection that says nothing, or no HTTP, costs nobody else anything.
    let mut silent = TcpStream::connect(service.address).unwrap();
    silent.write_all(b"PUT /carts/bea HTTP/1.1\r\nContent-Length: 50\r\n").unwrap();
    let mut noise = TcpStream::connect(service.address).unwrap();
    noise.write_all(b"\x16\x03\x01\x02\x00\r\n\r\n").unwrap();
    let found = service.call("GET /carts/bea", "", b"");
    assert_eq!((found.code, found.body.clone()), (200, cart("bea", 5)));
    assert_eq!(found.header("cart-version"), "5");
    drop(silent);
    service.end();
}

#[test]
fn what_keeps_it_from_starting_is_said_in_one_line() {
    let (servers, folder) = (Servers::new(), Folder::new());
    folder.write("carts.toml", configuration("DUAL", "VERIFY_COMPRESS"));
    servers.postgres.run("CREATE TABLE carts_plain (id text PRIMARY KEY, cart text)");
    let good = "NO_COMPRESS";
    let refused = |command: &mut Command, words: &[&str]| {
        let ran = command.args(["--listen", "127.0.0.1:0"]).output().expect("it can be started");
        let said = String::from_utf8_lossy(&ran.stderr).into_owned();
        assert_eq!(ran.status.code(), Some(1), "{said}");
        assert_eq!(said.lines().count(), 1, "{said}");
        for word in words {
            assert!(said.contains(word), "{word}: {said}");
        }
        assert!(!said.contains("owner-password"), "{said}");
    };
    refused(&mut servers.command(&folder, "carts_missing"), &["no table called carts_missing"]);
    refused(&mut servers.command(&folder, "carts_plain"), &["no column packed"]);
    let elsewhere = Folder::new();
    refused(&mut servers.command(&elsewhere, "carts_plain"), &["carts.toml", "No such file"]);
    folder.write("carts.toml", configuration("COMPRESS_ONLY", good));
    let words = ["carts.toml:4", "nothing that is written could be read"];
    let ran = servers.command(&folder, "carts_plain").output().expect("it can be started");
    let said = String::from_utf8_lossy(&ran.stderr).into_owned();
    assert!(words.iter().all(|word| said.contains(word)), "{said}");
}

/// The steps of the published rollout by its settings, and what a row then looks like: whether the
/// raw and the packed copy are there.
const STEPS: [(&str, &str, bool, bool); 5] = [
    ("NO_COMPRESS", "NO_COMPRESS", true, false),
    ("DUAL", "NO_COMPRESS", true, true),
    ("DUAL", "VERIFY_COMPRESS", true, true),
    ("DUAL", "COMPRESS_ONLY", true, true),
    ("COMPRESS_ONLY", "COMPRESS_ONLY", false, true),
];

/// How many clients write and read at once, each its own carts.
const CLIENTS: usize = 4;

#[test]
fn a_rollout_goes_forward_and_back_while_requests_run() {
    let (servers, folder) = (Servers::new(), Folder::new());
    folder.write("carts.toml", configuration("NO_COMPRESS", "NO_COMPRESS"));
    let service = Service::on(&servers, &folder, "carts_rolled");
    let stop = AtomicBool::new(false);
    let rounds: [AtomicU64; CLIENTS] = std::array::from_fn(|_| AtomicU64::new(0));
    thread::scope(|scope| {
        // Also when a check below fails, so that the test ends.
        let _stop = Stop(&stop);
        for (client, rounds) in rounds.iter().enumerate() {
            let (stop, address) = (&stop, service.address);
            scope.spawn(move || {
                while !stop.load(Ordering::Relaxed) {
                    round(address, client, rounds.load(Ordering::Relaxed));
                    rounds.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        let all_ran_on = || {
            let before = rounds.each_ref().map(|rounds| rounds.load(Ordering::Relaxed));
            let start = Instant::now();
            // A round that was under way ends, and another one is whole.
            while rounds
                .iter()
                .zip(before)
                .any(|(now, then)| now.load(Ordering::Relaxed) < then + 2)
            {
                assert!(start.elapsed() < PATIENCE, "a client does not go on");
                thread::yield_now();
            }
        };
        for (write, read, has_raw, has_packed) in there_and_back() {
            folder.write("carts.toml", configuration(write, read));
            follows(&service, write, read);
            all_ran_on();
            assert_eq!(service.put("probe", next_version(), &cart("probe", 0)), 204);
            let row = "SELECT cart IS NOT NULL, packed IS NOT NULL FROM carts_rolled \
                       WHERE id = 'cart:probe'";
            let expected = [has_raw, has_packed].map(|is_there| if is_there { "t" } else { "f" });
            assert_eq!(servers.postgres.run(row), expected.join("|"), "{write} {read}");
            let found = service.call("GET /carts/probe", "", b"");
            assert_eq!(found.body, cart("probe", 0), "{write} {read}");
        }
        // A mistake changes nothing and is told; requests go on.
        folder.write("carts.toml", configuration("DOUBLE", "NO_COMPRESS"));
        let told = said(&service, "the last good configuration stays");
        assert!(told.contains("DOUBLE"), "{told}");
        all_ran_on();
    });
    assert_eq!(service.metric("cinch_configurations_refused"), Some(1.0));
    for finding in ["mismatch", "undecodable", "size mismatch"] {
        let found = service.metric(&format!("cinch_findings_total{{finding=\"{finding}\""));
        assert_eq!(found.unwrap_or_default(), 0.0, "{finding}");
    }
    let hits = service.metric(r#"cart_service_tiers_total{what="cache hit"}"#).unwrap();
    assert!(
        hits >= rounds.iter().map(|rounds| rounds.load(Ordering::Relaxed)).sum::<u64>() as f64
            / 2.0
    );
    service.end();
}

/// Ends the clients however their scope ends.
struct Stop<'a>(&'a AtomicBool);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Writes the next version of a cart and reads it, and one that was written some rounds ago.
fn round(address: SocketAddr, client: usize, number: u64) {
    // Each cart is read again after the configuration has changed under it.
    const CARTS: u64 = 7;
    let user = |number: u64| format!("client-{client}-{}", number % CARTS);
    let written = cart(&user(number), number + 1);
    let version = format!("cart-version: {}\r\n", number + 1);
    let put = call(address, &format!("PUT /carts/{}", user(number)), &version, &written);
    assert_eq!(put.code, 204, "{}", put.text());
    for old in [number, number.saturating_sub(CARTS - 1)] {
        let line = format!("GET /carts/{}?at_least={}", user(old), old + 1);
        let found = call(address, &line, "", b"");
        assert_eq!(found.code, 200, "{line}: {}", found.text());
        assert_eq!(found.body, cart(&user(old), old + 1), "{line}");
        assert_eq!(found.header("cart-version"), (old + 1).to_string(), "{line}");
    }
}

fn there_and_back() -> impl Iterator<Item = (&'static str, &'static str, bool, bool)> {
    STEPS.into_iter().chain(STEPS.into_iter().rev().skip(1))
}

fn next_version() -> u64 {
    static VERSION: AtomicU64 = AtomicU64::new(1);
    VERSION.fetch_add(1, Ordering::Relaxed)
}

/// Waits until the service acts by these modes.
#[track_caller]
fn follows(service: &Service, write: &str, read: &str) {
    let start = Instant::now();
    let is = |direction: &str, mode: &str| {
        let line = format!("cinch_mode{{direction=\"{direction}\",mode=\"{mode}\"");
        service.metric(&line) == Some(1.0)
    };
    while !(is("write", write) && is("read", read)) {
        assert!(start.elapsed() < PATIENCE, "it never wrote {write} and read {read}");
    }
}

/// The next thing it says that holds these words.
#[track_caller]
fn said(service: &Service, words: &str) -> String {
    let until = Instant::now() + PATIENCE;
    let mut text = String::new();
    loop {
        match service.said.recv_timeout(until.saturating_duration_since(Instant::now())) {
            // What a parser says may take several lines.
            Ok(line) => text = format!("{text}\n{line}"),
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
                panic!("it did not say {words:?}: {text}")
            }
        }
        if text.contains(words) && text.contains("write_mode") {
            return text;
        }
    }
}
