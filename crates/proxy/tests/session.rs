//! Sessions between a client and a server that exists only here: whatever is cut where, the client
//! reads what it would read from the server itself, and the server holds envelopes.

use std::collections::BTreeMap;
use std::sync::Arc;

use cinch_core::envelope::looks_like_envelope;
use cinch_proxy::session::{Limits, Session};
use cinch_rollout::live::Live;
use cinch_rollout::settings::Sources;
use cinch_wire::resp::{Event, Resp, RespLimits, write_array, write_bulk, write_error, write_null};
use proptest::prelude::*;

/// A server with just enough commands, single bytes of whose replies the tests can cut.
#[derive(Default)]
struct Server {
    input: Vec<u8>,
    strings: BTreeMap<Vec<u8>, Vec<u8>>,
    queued: Option<Vec<Vec<Vec<u8>>>>,
    is_dirty: bool,
}

impl Server {
    fn take(&mut self, bytes: &[u8]) -> Vec<u8> {
        self.input.extend_from_slice(bytes);
        let limits = RespLimits { whole_bytes_max: 1 << 20, ..RespLimits::default() };
        let mut out = Vec::new();
        loop {
            let mut events = Vec::new();
            let scan = Resp::requests(limits).scan_one(&self.input, &mut events).unwrap();
            if events.last() != Some(&Event::Complete) {
                return out;
            }
            let of = |event: &Event| match event {
                Event::Bulk(_, Some(body)) => Some(body.of(&self.input).to_vec()),
                _ => None,
            };
            let arguments: Vec<Vec<u8>> = events.iter().filter_map(of).collect();
            self.input.drain(..scan.consumed);
            self.command(arguments, &mut out);
        }
    }

    fn command(&mut self, arguments: Vec<Vec<u8>>, out: &mut Vec<u8>) {
        let name = arguments[0].to_ascii_uppercase();
        let is_wrong = name == b"GET" && arguments.len() != 2;
        if is_wrong {
            self.is_dirty = self.queued.is_some();
            return write_error("ERR wrong number of arguments for 'get' command", out);
        }
        match (name.as_slice(), &mut self.queued) {
            (b"MULTI", queued) => {
                *queued = Some(Vec::new());
                out.extend_from_slice(b"+OK\r\n");
            }
            (b"EXEC", queued) => match queued.take() {
                None => write_error("ERR EXEC without MULTI", out),
                Some(_) if std::mem::take(&mut self.is_dirty) => {
                    write_error("EXECABORT Transaction discarded because of previous errors.", out)
                }
                Some(commands) => {
                    write_array(commands.len() as u64, out);
                    for command in commands {
                        self.command(command, out);
                    }
                }
            },
            (_, Some(queued)) => {
                queued.push(arguments);
                out.extend_from_slice(b"+QUEUED\r\n");
            }
            (b"SET", None) => {
                let old = self.strings.insert(arguments[1].clone(), arguments[2].clone());
                match (arguments.len(), old) {
                    (4, Some(old)) => write_bulk(&old, out),
                    (4, None) => write_null(out),
                    _ => out.extend_from_slice(b"+OK\r\n"),
                }
            }
            (b"GET", None) => self.get(&arguments[1], out),
            (b"MGET", None) => {
                write_array(arguments.len() as u64 - 1, out);
                for key in &arguments[1..] {
                    self.get(key, out);
                }
            }
            (b"STRLEN", None) => {
                let length = self.strings.get(&arguments[1]).map_or(0, Vec::len);
                out.extend_from_slice(format!(":{length}\r\n").as_bytes());
            }
            (b"GETRANGE", None) => {
                let value = self.strings.get(&arguments[1]).cloned().unwrap_or_default();
                write_bulk(&value[..value.len().min(64)], out);
            }
            (b"ECHO", None) => write_bulk(&arguments[1], out),
            _ => write_error("ERR unknown command", out),
        }
    }

    fn get(&self, key: &[u8], out: &mut Vec<u8>) {
        match self.strings.get(key) {
            Some(value) => write_bulk(value, out),
            None => write_null(out),
        }
    }
}

const SETTINGS: &str = "[namespaces.carts]\nkeys = [\"cart:*\"]\nwrite = \"packed\"\n";

fn session() -> Session {
    let sources = Sources { text: SETTINGS.to_owned(), ..Sources::default() };
    let live = Arc::new(Live::new(sources.configuration().unwrap()));
    let limits = Limits { pack_elsewhere_bytes: 4_000, ..Limits::default() };
    Session::new(live, Arc::new(limits), Arc::default())
}

fn cart(lines: usize) -> String {
    "{\"sku\":\"SKU-1\",\"price\":12.50},".repeat(lines)
}

fn commands(lines: &[&[&str]]) -> Vec<u8> {
    let mut out = Vec::new();
    for line in lines {
        let arguments: Vec<&[u8]> = line.iter().map(|word| word.as_bytes()).collect();
        write_array(arguments.len() as u64, &mut out);
        arguments.iter().for_each(|argument| write_bulk(argument, &mut out));
    }
    out
}

/// Moves bytes between a session and a server until nothing moves any more, in pieces.
fn settle(session: &mut Session, server: &mut Server, piece: usize) -> Vec<u8> {
    let mut said = Vec::new();
    loop {
        if let Some(work) = session.take_work() {
            session.packed(work.run());
        }
        said.append(session.to_client());
        let sent = std::mem::take(session.to_server());
        if sent.is_empty() {
            return said;
        }
        let replies = server.take(&sent);
        for part in replies.chunks(piece) {
            session.server_sent(part).unwrap();
            said.append(session.to_client());
        }
    }
}

/// What a client reads that sends these bytes cut at one place.
fn said(bytes: &[u8], cut: usize, piece: usize) -> (Vec<u8>, Server) {
    let (mut session, mut server) = (session(), Server::default());
    let (front, back) = bytes.split_at(cut);
    session.client_sent(front);
    let mut said = settle(&mut session, &mut server, piece);
    session.client_sent(back);
    said.append(&mut settle(&mut session, &mut server, piece));
    (said, server)
}

/// What it reads from the server itself.
fn directly(bytes: &[u8]) -> Vec<u8> {
    Server::default().take(bytes)
}

#[test]
fn however_bytes_are_cut_the_client_reads_what_the_server_would_say() {
    let (small, large) = (cart(10), cart(200));
    let script = commands(&[
        &["SET", "cart:1", &small],
        &["SET", "plain", &small],
        &["GET", "cart:1"],
        &["MGET", "cart:1", "none", "plain"],
        &["SET", "cart:2", &large],
        &["STRLEN", "cart:2"],
        &["SET", "cart:1", "7", "GET"],
        &["MULTI"],
        &["GET", "cart:2"],
        &["STRLEN", "cart:2"],
        &["ECHO", "x"],
        &["EXEC"],
        &["GET", "none"],
        &["STRLEN", "none"],
    ]);
    let expected = directly(&script);
    for cut in 0..=script.len() {
        assert!(said(&script, cut, 1 << 20).0 == expected, "cut at {cut}");
    }
    for piece in [1, 2, 3, 7, 64, 1_000] {
        let (said, server) = said(&script, 0, piece);
        assert!(said == expected, "pieces of {piece}");
        assert!(looks_like_envelope(&server.strings[b"cart:2".as_slice()]));
        assert_eq!(server.strings[b"plain".as_slice()], small.as_bytes());
        assert_eq!(server.strings[b"cart:1".as_slice()], b"7");
    }
}

#[test]
fn a_refused_command_is_answered_in_its_turn_and_aborts_a_transaction() {
    let script = commands(&[
        &["ECHO", "a"],
        &["APPEND", "cart:1", "x"],
        &["ECHO", "b"],
        &["MULTI"],
        &["APPEND", "cart:1", "x"],
        &["EXEC"],
    ]);
    let text = String::from_utf8(said(&script, 0, 1_000).0).unwrap();
    let lines: Vec<&str> = text.split("\r\n").collect();
    assert_eq!((lines[1], lines[4]), ("a", "b"));
    assert!(lines[2].starts_with("-CINCH REFUSED APPEND"), "{text}");
    assert_eq!(lines[5], "+OK");
    assert!(lines[6].starts_with("-CINCH REFUSED APPEND"), "{text}");
    assert!(lines[7].starts_with("-EXECABORT"), "{text}");
}

#[test]
fn a_damaged_value_is_an_error_and_never_its_bytes() {
    let (mut session, mut server) = (session(), Server::default());
    session.client_sent(&commands(&[&["SET", "cart:1", &cart(10)]]));
    settle(&mut session, &mut server, 100);
    let value = server.strings.get_mut(b"cart:1".as_slice()).unwrap();
    value[30] ^= 1;
    let get = ["GET", "cart:1"];
    session.client_sent(&commands(&[&get, &["MGET", "cart:1", "b"], &["ECHO", "x"]]));
    let said = settle(&mut session, &mut server, 100);
    let text = String::from_utf8(said).unwrap();
    let lines: Vec<&str> = text.split("\r\n").collect();
    assert!(lines[0].starts_with("-CINCH UNDECODABLE"), "{text}");
    assert!(lines[1].starts_with("-CINCH UNDECODABLE"), "{text}");
    assert_eq!(lines[2..], ["$1", "x", ""]);
    session.client_sent(&commands(&[&["MULTI"], &get, &["ECHO", "x"], &["EXEC"]]));
    let text = String::from_utf8(settle(&mut session, &mut server, 100)).unwrap();
    let lines: Vec<&str> = text.split("\r\n").collect();
    assert_eq!(lines[..4], ["+OK", "+QUEUED", "+QUEUED", "*2"]);
    assert!(lines[4].starts_with("-CINCH UNDECODABLE"), "{text}");
    assert_eq!(lines[5..], ["$1", "x", ""]);
}

#[test]
fn a_transaction_that_the_server_did_not_open_is_none() {
    let mut session = session();
    session.client_sent(&commands(&[&["MULTI"], &["GET", "cart:1"], &["EXEC"]]));
    session.server_sent(b"-NOAUTH Authentication required.\r\n$1\r\n7\r\n-ERR no\r\n").unwrap();
    let said = std::mem::take(session.to_client());
    assert_eq!(said, b"-NOAUTH Authentication required.\r\n$1\r\n7\r\n-ERR no\r\n");
}

#[test]
fn messages_take_no_commands_reply() {
    let mut session = session();
    session.client_sent(&commands(&[&["SUBSCRIBE", "a", "b"], &["UNSUBSCRIBE"], &["GET", "k"]]));
    let replies = b"*3\r\n$9\r\nsubscribe\r\n$1\r\na\r\n:1\r\n*3\r\n$7\r\nmessage\r\n$1\r\na\r\n\
        $1\r\nm\r\n*3\r\n$9\r\nsubscribe\r\n$1\r\nb\r\n:2\r\n*3\r\n$11\r\nunsubscribe\r\n$1\r\n\
        a\r\n:1\r\n*3\r\n$11\r\nunsubscribe\r\n$1\r\nb\r\n:0\r\n$1\r\nv\r\n";
    for byte in replies {
        session.server_sent(&[*byte]).unwrap();
    }
    assert_eq!(session.to_client(), replies);
    session.to_client().clear();
    session.to_server().clear();
    assert!(session.is_idle());
}

#[test]
fn replies_that_a_client_does_not_want_are_dropped() {
    let script = commands(&[
        &["CLIENT", "REPLY", "SKIP"],
        &["ECHO", "a"],
        &["ECHO", "b"],
        &["CLIENT", "REPLY", "OFF"],
        &["ECHO", "c"],
        &["CLIENT", "REPLY", "ON"],
        &["ECHO", "d"],
    ]);
    assert_eq!(said(&script, 3, 1).0, b"$1\r\nb\r\n+OK\r\n$1\r\nd\r\n");
}

#[test]
fn a_server_that_goes_leaves_an_error_for_each_command() {
    let mut session = session();
    session.client_sent(&commands(&[
        &["GET", "cart:1"],
        &["APPEND", "cart:1", "x"],
        &["GET", "a"],
    ]));
    session.server_ended();
    let text = String::from_utf8(std::mem::take(session.to_client())).unwrap();
    let codes: Vec<&str> = text.lines().map(|line| &line[..15]).collect();
    assert_eq!(codes, ["-CINCH UPSTREAM", "-CINCH REFUSED ", "-CINCH UPSTREAM"]);
    assert!(session.is_done());
}

#[test]
fn a_client_that_breaks_the_protocol_is_told_and_sent_away() {
    for garbage in ["*1\r\n+OK\r\n", "*1\r\n$-5\r\n", "GET \"open\r\n", "*99999999999\r\n"] {
        let mut session = session();
        session.client_sent(garbage.as_bytes());
        assert!(session.to_client().starts_with(b"-ERR Protocol error"), "{garbage}");
        assert!(!session.wants_client());
        session.to_client().clear();
        assert!(session.is_done());
    }
}

proptest! {
    /// Whatever is in a pipeline, each reply is that of its command, and in its place.
    #[test]
    fn no_interleaving_reorders(
        picks in prop::collection::vec((0usize..8, 0usize..4), 1..40),
        cut in 0usize..1_000,
        piece in 1usize..100,
    ) {
        let (small, large) = (cart(8), cart(180));
        let keys = ["cart:1", "cart:2", "plain:1", "plain:2"];
        let mut lines: Vec<Vec<&str>> = Vec::new();
        for (command, key) in picks {
            let key = keys[key];
            lines.push(match command {
                0 => vec!["SET", key, &small],
                1 => vec!["SET", key, &large],
                2 => vec!["GET", key],
                3 => vec!["MGET", key, "cart:1", "plain:1"],
                4 => vec!["STRLEN", key],
                5 => vec!["SET", key, "9", "GET"],
                6 => vec!["ECHO", key],
                _ => vec!["MULTI"],
            });
            if command == 7 {
                lines.extend([vec!["GET", key], vec!["STRLEN", key], vec!["EXEC"]]);
            }
        }
        let lines: Vec<&[&str]> = lines.iter().map(Vec::as_slice).collect();
        let script = commands(&lines);
        let cut = cut.min(script.len());
        prop_assert_eq!(said(&script, cut, piece).0, directly(&script));
    }

    /// Whatever either side sends, a session neither panics nor holds more than it was sent.
    #[test]
    fn any_bytes_are_survived(parts in prop::collection::vec((any::<bool>(), ".{0,40}"), 0..20)) {
        let mut session = session();
        for (is_client, text) in parts {
            let bytes = text.replace('.', "\r\n");
            if is_client {
                session.client_sent(bytes.as_bytes());
            } else if session.server_sent(bytes.as_bytes()).is_err() {
                session.server_ended();
                break;
            }
            if let Some(work) = session.take_work() {
                session.packed(work.run());
            }
        }
    }
}
