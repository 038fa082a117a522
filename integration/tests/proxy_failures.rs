//! What goes wrong around the sidecar, and what is left behind then: no half of a value, no reply
//! of somebody else, and an error that a client understands.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::thread;
use std::time::Instant;

use cinch_integration::{Folder, PATIENCE, Redis, RespClient, Sidecar, resp_command as command};

const SETTINGS: &str = "[namespaces.carts]\nkeys = [\"cart:*\"]\nwrite = \"packed\"\n";

fn cart(sku: &str, lines: usize) -> Vec<u8> {
    format!("{{\"sku\":\"{sku}\",\"price\":12.50,\"quantity\":1}},").repeat(lines).into_bytes()
}

fn with(settings: &str) -> String {
    format!("{SETTINGS}[proxy.redis]\n{settings}\n")
}

/// What a client reads for a value.
fn bulk(value: &[u8]) -> Vec<u8> {
    [format!("${}\r\n", value.len()).as_bytes(), value, b"\r\n"].concat()
}

/// The value of a metric.
#[track_caller]
fn counted(sidecar: &Sidecar, name: &str) -> u64 {
    let page = sidecar.page("/metrics");
    let line = page.lines().find_map(|line| line.strip_prefix(&format!("cinch_proxy_{name} ")));
    line.unwrap_or_else(|| panic!("{name} is not on the page")).parse().expect("a number")
}

#[test]
fn a_sidecar_that_is_killed_leaves_the_old_value_or_the_new_one() {
    let (redis, folder) = (Redis::start(), Folder::new());
    let (old, new) = (cart("OLD", 3_000), cart("NEW", 3_000));
    let set = |value: &[u8]| command(&[b"SET", b"cart:1", value]);
    let bytes = set(&new);
    for connections in ["own", "shared"] {
        let settings = with(&format!("upstream_connections = \"{connections}\""));
        for cut in [1, 20, 40, bytes.len() / 2, bytes.len() - 1, bytes.len()] {
            let sidecar = Sidecar::start(&folder, &redis.host(), &settings);
            let mut client = sidecar.client();
            client.answer(&set(&old));
            client.send(&bytes[..cut]);
            sidecar.kill();
            let mut rest = Vec::new();
            // The connection ends, perhaps behind an answer.
            let _ended = client.stream().read_to_end(&mut rest);
            let after = Sidecar::start(&folder, &redis.host(), &settings);
            let found = after.client().answer(&command(&[b"GET", b"cart:1"]));
            let is_whole = found == bulk(&old) || cut == bytes.len() && found == bulk(&new);
            assert!(is_whole, "{connections}, cut at {cut}: {:.100}", found.escape_ascii());
        }
    }
}

#[test]
fn a_server_that_is_killed_leaves_an_error_for_every_command_of_every_client() {
    for connections in ["own", "shared"] {
        let (redis, folder) = (Redis::start(), Folder::new());
        let settings = with(&format!("upstream_connections = \"{connections}\""));
        let sidecar = Sidecar::start(&folder, &redis.host(), &settings);
        let mut clients: Vec<RespClient> = (0..5).map(|_| sidecar.client()).collect();
        for client in &mut clients {
            client.answer(&command(&[b"SET", b"cart:1", b"x"]));
        }
        // The server sleeps with their commands in its hands.
        redis.run(&["client", "pause", "600000", "all"]);
        for client in &mut clients {
            client.send(&command(&[b"GET", b"cart:1"]));
            client.send(&command(&[b"APPEND", b"cart:1", b"x"]));
            client.send(&command(&[b"GET", b"plain"]));
        }
        let start = Instant::now();
        while counted(&sidecar, "commands_total") < 20 {
            assert!(start.elapsed() < PATIENCE, "the commands never came");
        }
        drop(redis);
        for client in &mut clients {
            let mut said = String::new();
            client.stream().read_to_string(&mut said).expect("it is told");
            let words: Vec<&str> = said.lines().map(|line| &line[..14.min(line.len())]).collect();
            let upstream = "-CINCH UPSTREA";
            assert_eq!(words, [upstream, "-CINCH REFUSED", upstream], "{connections}: {said}");
        }
    }
}

#[test]
fn a_client_that_goes_in_the_middle_costs_the_others_nothing() {
    for connections in ["own", "shared"] {
        let (redis, folder) = (Redis::start(), Folder::new());
        let settings = with(&format!("upstream_connections = \"{connections}\"\nworkers = 1"));
        let sidecar = Sidecar::start(&folder, &redis.host(), &settings);
        let value = |number: usize| cart(&format!("SKU-{number}"), 10 + number % 50);
        for number in 0..200 {
            sidecar.client().answer(&command(&[
                b"SET",
                format!("cart:{number}").as_bytes(),
                &value(number),
            ]));
        }
        let mut patient = sidecar.client();
        for number in 0..200 {
            let key = format!("cart:{number}");
            let get = command(&[b"GET", key.as_bytes()]);
            // It asks, and does not wait for the answer; and another asks half.
            sidecar.client().send(&get.repeat(20));
            sidecar.client().send(&get[..get.len() / 2]);
            assert!(patient.answer(&get) == bulk(&value(number)), "{connections}: {key}");
        }
    }
}

#[test]
fn too_many_values_to_pack_stay_plain_and_are_counted() {
    let (redis, folder) = (Redis::start(), Folder::new());
    let sidecar = Sidecar::start(&folder, &redis.host(), &with("packing_max = 0"));
    let (mut client, value) = (sidecar.client(), cart("SKU-1", 5_000));
    assert_eq!(client.answer(&command(&[b"SET", b"cart:1", &value])), b"+OK\r\n");
    assert_eq!(redis.run(&["strlen", "cart:1"]), value.len().to_string());
    assert_eq!(counted(&sidecar, "shed_total"), 1);
    assert_eq!(client.answer(&command(&[b"GET", b"cart:1"])), bulk(&value));
    // Small ones are packed where they are.
    client.answer(&command(&[b"SET", b"cart:2", &cart("SKU-1", 50)]));
    let stored: usize = redis.run(&["strlen", "cart:2"]).parse().unwrap();
    assert!(stored < cart("SKU-1", 50).len());
}

#[test]
fn a_client_that_does_not_read_is_held_back_and_nobody_else_is() {
    const ASKED: usize = 200;
    for connections in ["own", "shared"] {
        let (redis, folder) = (Redis::start(), Folder::new());
        let settings = with(&format!("upstream_connections = \"{connections}\"\nworkers = 1"));
        let sidecar = Sidecar::start(&folder, &redis.host(), &settings);
        let value = cart("SKU-1", 20_000);
        let mut other = sidecar.client();
        other.answer(&command(&[b"SET", b"plain", &value]));
        let mut slow = sidecar.client();
        // One by one in the shared way: what is under way there is what it costs.
        for _ in 0..ASKED {
            slow.send(&command(&[b"GET", b"plain"]));
        }
        for _ in 0..50 {
            assert_eq!(other.answer(&command(&[b"STRLEN", b"plain"])), b":860000\r\n");
        }
        for _ in 0..ASKED {
            let mut reply = vec![0; bulk(&value).len()];
            slow.stream().read_exact(&mut reply).expect("every reply comes");
            assert!(reply == bulk(&value), "{connections}");
        }
        if connections == "own" {
            let most = sidecar.memory_bytes_max();
            assert!(most < 64 << 20, "{most} bytes for {} of replies", ASKED * value.len());
        }
    }
}

#[test]
fn a_huge_value_passes_through_little_memory() {
    let (redis, folder) = (Redis::start(), Folder::new());
    let sidecar = Sidecar::start(&folder, &redis.host(), &with("workers = 1"));
    let value = vec![b'x'; 100 << 20];
    let mut client = sidecar.client();
    assert_eq!(client.answer(&command(&[b"SET", b"plain", &value])), b"+OK\r\n");
    assert_eq!(redis.run(&["strlen", "plain"]), value.len().to_string());
    assert!(client.answer(&command(&[b"GET", b"plain"])) == bulk(&value));
    let most = sidecar.memory_bytes_max();
    assert!(most < 64 << 20, "{most} bytes");
}

#[test]
fn what_is_above_a_limit_is_refused_and_the_connection_goes_on() {
    let (redis, folder) = (Redis::start(), Folder::new());
    let settings = with("request_bytes_max = 200000\nreply_bytes_max = 300000");
    let sidecar = Sidecar::start(&folder, &redis.host(), &settings);
    let (mut client, long) = (sidecar.client(), vec![b'x'; 400_000]);
    let said = client.answer(&command(&[b"SET", b"cart:1", &long]));
    assert!(said.starts_with(b"-CINCH TOOLARGE"), "{}", said.escape_ascii());
    assert_eq!(redis.run(&["exists", "cart:1"]), "0");
    redis.fill([vec![b"SET".to_vec(), b"cart:1".to_vec(), long.clone()]]);
    let said = client.answer(&command(&[b"GET", b"cart:1"]));
    assert!(said.starts_with(b"-CINCH TOOLARGE"), "{:.100}", said.escape_ascii());
    assert_eq!(client.answer(&command(&[b"SET", b"plain", &long])), b"+OK\r\n");
    assert!(client.answer(&command(&[b"GET", b"plain"])) == bulk(&long));
}

#[test]
fn what_a_newer_version_wrote_is_an_error_and_stays() {
    let (redis, folder) = (Redis::start(), Folder::new());
    let sidecar = Sidecar::start(&folder, &redis.host(), SETTINGS);
    let mut client = sidecar.client();
    client.answer(&command(&[b"SET", b"cart:1", &cart("SKU-1", 50)]));
    let mut direct = RespClient::to(redis.socket());
    let stored = direct.answer(&command(&[b"GET", b"cart:1"]));
    // A cut, and bytes that are not those that were packed.
    let head = stored.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    let envelope = &stored[head..stored.len() - 2];
    let mut other = envelope.to_vec();
    *other.last_mut().unwrap() ^= 1;
    for damaged in [&envelope[..envelope.len() - 3], &other] {
        direct.answer(&command(&[b"SET", b"cart:1", damaged]));
        for question in [
            command(&[b"GET", b"cart:1"]),
            command(&[b"GETRANGE", b"cart:1", b"0", b"9"]),
            command(&[b"MGET", b"plain", b"cart:1"]),
        ] {
            let said = client.answer(&question);
            assert!(said.starts_with(b"-CINCH UNDECODABLE"), "{}", said.escape_ascii());
        }
        assert_eq!(direct.answer(&command(&[b"GET", b"cart:1"])), bulk(damaged));
    }
}

#[test]
fn a_damaged_value_of_a_cache_is_removed_and_nothing_else() {
    let (redis, folder) = (Redis::start(), Folder::new());
    for connections in ["own", "shared"] {
        let settings = with(&format!("upstream_connections = \"{connections}\""));
        let settings = settings.replace("[proxy", "cache = true\n[proxy");
        let sidecar = Sidecar::start(&folder, &redis.host(), &settings);
        let (mut client, value) = (sidecar.client(), cart("SKU-1", 50));
        client.answer(&command(&[b"SET", b"cart:1", &value]));
        client.answer(&command(&[b"HSET", b"cart:h", b"f", &value]));
        client.answer(&command(&[b"SET", b"cart:2", &value]));
        redis.run(&["setrange", "cart:1", "40", "xxxx"]);
        let script = [&["MGET", "cart:1", "cart:2"][..], &["ECHO", "x"], &["GET", "cart:2"]];
        let script: Vec<u8> = script
            .iter()
            .flat_map(|words| {
                command(&words.iter().map(|word| word.as_bytes()).collect::<Vec<_>>())
            })
            .collect();
        let said = client.ask(&script);
        let end = [b"$1\r\nx\r\n".as_slice(), &bulk(&value), b"$7\r\nthe-end\r\n"].concat();
        assert!(said.starts_with(b"-CINCH UNDECODABLE"), "{:.100}", said.escape_ascii());
        assert!(said.ends_with(&end), "{connections}");
        assert_eq!(client.answer(&command(&[b"EXISTS", b"cart:1", b"cart:h"])), b":1\r\n");
        assert_eq!(client.answer(&command(&[b"GET", b"cart:1"])), b"$-1\r\n");
        assert_eq!(counted(&sidecar, "removed_total"), 1);
        assert_eq!(client.answer(&command(&[b"GET", b"cart:2"])), bulk(&value));
    }
}

#[test]
fn a_server_that_speaks_something_else_ends_the_connection() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let answering = thread::spawn(move || {
        for _ in 0..2 {
            let (mut stream, _) = listener.accept().unwrap();
            let mut request = [0; 1];
            stream.read_exact(&mut request).unwrap();
            stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").unwrap();
        }
    });
    for connections in ["own", "shared"] {
        let folder = Folder::new();
        let settings = with(&format!("upstream_connections = \"{connections}\""));
        let sidecar = Sidecar::start(&folder, &address.to_string(), &settings);
        let mut client = sidecar.client();
        client.send(b"PING\r\n");
        let mut said = String::new();
        client.stream().read_to_string(&mut said).unwrap();
        assert!(said.starts_with("-CINCH UPSTREAM"), "{connections}: {said}");
        assert_eq!(counted(&sidecar, "protocol_errors_total"), 1, "{connections}");
    }
    answering.join().unwrap();
}

#[test]
fn rewriting_does_what_the_server_does_on_plain_values_and_keeps_the_time_to_live() {
    let (redis, other, folder) = (Redis::start(), Redis::start(), Folder::new());
    let sidecar = Sidecar::start(&folder, &redis.host(), &with("change_inside = \"rewrite\""));
    let (mut through, mut direct) = (sidecar.client(), RespClient::to(other.socket()));
    let large = String::from_utf8(cart("SKU-1", 5_000)).unwrap();
    let set = format!("SET cart:1 {large} EX 1000");
    for line in [
        set.as_str(),
        "APPEND cart:1 more",
        "STRLEN cart:1",
        "SETRANGE cart:1 10 other",
        "SETRANGE cart:1 400000 far",
        "SETBIT cart:1 7 1",
        "SETBIT cart:1 7 1",
        "GETBIT cart:1 7",
        "BITFIELD cart:1 SET u8 0 65 GET u8 0 INCRBY u8 0 1",
        "BITFIELD_RO cart:1 GET i16 #3",
        "BITFIELD cart:1 OVERFLOW FAIL INCRBY u2 0 3 INCRBY u2 0 3",
        "GET cart:1",
        "TTL cart:1",
        "APPEND cart:new x",
        "GET cart:new",
        "SETRANGE cart:none 5 x",
        "GET cart:none",
        "SETBIT cart:bits 9 1",
        "GET cart:bits",
        "BITFIELD cart:bits GET u8 #1",
        "BITFIELD cart:no GET u8 #1",
        "EXISTS cart:no",
        "SETRANGE cart:1 -1 x",
        "APPEND cart:1",
        "SETBIT cart:1 0 2",
        "BITFIELD cart:1 GET u99 0",
        "LPUSH cart:list x",
        "APPEND cart:list x",
        "INCR cart:n",
        "APPEND cart:n 5",
        "INCR cart:n",
    ] {
        let words: Vec<&[u8]> = line.split(' ').map(str::as_bytes).collect();
        let (said, expected) = (through.answer(&command(&words)), direct.answer(&command(&words)));
        assert!(said == expected, "{:.60}: {:.100}", line, said.escape_ascii());
    }
    let stored: usize = redis.run(&["strlen", "cart:1"]).parse().unwrap();
    assert!(stored * 5 < large.len(), "it is packed again: {stored}");
    let said = through.ask(
        &[&command(&[b"MULTI"])[..], &command(&[b"APPEND", b"cart:1", b"x"]), &command(&[b"EXEC"])]
            .concat(),
    );
    let text = String::from_utf8_lossy(&said);
    assert!(text.contains("-CINCH REFUSED APPEND") && text.contains("-EXECABORT"), "{text}");
    // Nobody's change is lost, whoever comes in between.
    thread::scope(|scope| {
        for writer in 0..4 {
            let mut client = sidecar.client();
            scope.spawn(move || {
                for _ in 0..50 {
                    let mark = format!("<{writer}>");
                    let said =
                        client.answer(&command(&[b"APPEND", b"cart:shared", mark.as_bytes()]));
                    assert!(said.starts_with(b":"), "{}", said.escape_ascii());
                }
            });
        }
    });
    let all = through.answer(&command(&[b"GET", b"cart:shared"]));
    let text = String::from_utf8(all).unwrap();
    for writer in 0..4 {
        assert_eq!(text.matches(&format!("<{writer}>")).count(), 50, "{text}");
    }
    assert!(counted(&sidecar, "changed_inside_total") >= 200);
}
