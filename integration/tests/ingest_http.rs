//! HTTP as clients of logs speak it: chunked bodies, promises, keep-alive, and the codes that make
//! a client send again, give up, or send something else.

use std::io::{Read, Write};
use std::net::TcpStream;

use cinch_integration::{FILER, Folder, Ingress, pool_listener, pool_text};

fn start(folder: &Folder, more: &str) -> Ingress {
    let http = pool_listener("http", "http", "web");
    Ingress::start(folder, &format!("{FILER}[pool.default]\nlinger_ms = 5\n{more}\n{http}"))
}

/// The head and the body of the next answer.
fn answer(stream: &mut TcpStream) -> (String, String) {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte).expect("an answer has a head");
        head.push(byte[0]);
    }
    let head = String::from_utf8(head).unwrap();
    let length = head
        .lines()
        .find_map(|line| line.strip_prefix("Content-Length: "))
        .map_or(0, |length| length.parse().unwrap());
    let mut body = vec![0; length];
    stream.read_exact(&mut body).expect("an answer has the body that it announces");
    (head, String::from_utf8_lossy(&body).into_owned())
}

/// Whether the server has ended the connection, with nothing more to say.
fn is_over(stream: &mut TcpStream) -> bool {
    let mut rest = Vec::new();
    stream.read_to_end(&mut rest).is_ok() && rest.is_empty()
}

#[test]
fn a_chunked_body_is_read_however_it_was_cut() {
    let folder = Folder::new();
    let ingress = start(&folder, "");
    let request = b"POST /lines HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n\
                    4;x=y\r\none\n\r\n9\r\ntwo\nthree\r\n0\r\nTrailer: t\r\n\r\n";
    let mut stream = ingress.connect("http");
    stream.set_nodelay(true).unwrap();
    for piece in [1, 2, 7, request.len()] {
        request.chunks(piece).for_each(|piece| stream.write_all(piece).unwrap());
        assert!(answer(&mut stream).0.starts_with("HTTP/1.1 200"), "pieces of {piece}");
    }
    // The next request stands right behind a chunked one.
    stream.write_all(&[request, &b"GET /healthz HTTP/1.1\r\n\r\n"[..]].concat()).unwrap();
    assert!(answer(&mut stream).0.starts_with("HTTP/1.1 200"));
    assert_eq!(answer(&mut stream).1, "ok\n");
    drop(stream);
    assert!(ingress.stop().0.success());
    assert_eq!(pool_text(&folder, "web"), "one\ntwo\nthree\n".repeat(5));
}

#[test]
fn a_client_that_waits_for_a_promise_gets_it_once_and_a_refused_one_none() {
    let folder = Folder::new();
    let ingress = start(&folder, "");
    for length in ["Content-Length: 4", "Transfer-Encoding: chunked"] {
        let mut stream = ingress.connect("http");
        write!(stream, "POST /lines HTTP/1.1\r\nExpect: 100-continue\r\n{length}\r\n\r\n").unwrap();
        assert!(answer(&mut stream).0.starts_with("HTTP/1.1 100 Continue"));
        let body = if length.starts_with('C') { "one\n" } else { "4\r\ntwo\n\r\n0\r\n\r\n" };
        stream.write_all(body.as_bytes()).unwrap();
        assert!(answer(&mut stream).0.starts_with("HTTP/1.1 200"));
    }
    let mut stream = ingress.connect("http");
    let head = "POST /lines HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 99999999\r\n\r\n";
    stream.write_all(head.as_bytes()).unwrap();
    assert!(answer(&mut stream).0.starts_with("HTTP/1.1 413"));
    assert!(is_over(&mut stream));
    ingress.stop();
    assert_eq!(pool_text(&folder, "web"), "one\ntwo\n");
}

#[test]
fn a_client_reads_why_it_was_refused_although_it_goes_on_sending() {
    let folder = Folder::new();
    let ingress = start(&folder, "");
    let mut stream = ingress.connect("http");
    write!(stream, "POST /lines HTTP/1.1\r\nContent-Length: 8000000\r\n\r\n").unwrap();
    // More than the socket buffers hold.
    stream.write_all(&vec![b'x'; 8_000_000]).unwrap();
    let (head, _) = answer(&mut stream);
    assert!(head.starts_with("HTTP/1.1 413"), "{head}");
    assert!(is_over(&mut stream));
}

#[test]
fn each_kind_of_fault_has_the_code_that_its_clients_know() {
    let folder = Folder::new();
    let ingress = start(&folder, "");
    let long = "x".repeat(300);
    // A request that is only wrong itself leaves the connection to the next one.
    let cases = [
        ("GET /lines", "", "", "405"),
        ("POST /nothing", "", "", "404"),
        ("POST /v1/logs", "Content-Type: text/plain", "x", "415"),
        ("POST /v1/logs", "Content-Type: application/json", "{", "400"),
        ("POST /v1/logs", "Content-Type: application/x-protobuf", "\x7F", "400"),
        ("POST /lines", "Content-Encoding: br", "x", "415"),
        ("POST /lines", "Content-Encoding: gzip", "no gzip", "400"),
        ("POST /loki/api/v1/push", "Content-Type: text/plain", "x", "415"),
        ("POST /_bulk", "Content-Type: application/json", "{\"create\":1}\n", "400"),
        (&format!("POST /{long}/_bulk"), "", "{\"create\":{}}\n{}\n", "400"),
    ];
    let mut stream = ingress.connect("http");
    for (request, header, body, code) in cases {
        let header = if header.is_empty() { String::new() } else { format!("{header}\r\n") };
        let length = body.len();
        write!(stream, "{request} HTTP/1.1\r\n{header}Content-Length: {length}\r\n\r\n{body}")
            .unwrap();
        let (head, said) = answer(&mut stream);
        assert!(head.starts_with(&format!("HTTP/1.1 {code} ")), "{request} {header}: {head}{said}");
    }
    drop(stream);
    // What can't be cut into requests ends it.
    let broken = [
        ("NONSENSE\r\n\r\n", "400"),
        ("POST /lines HTTP/1.1\r\nContent-Length: +1\r\n\r\n", "400"),
        ("POST /lines HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", "400"),
        ("POST /lines HTTP/1.1\r\nTransfer-Encoding: gzip\r\n\r\n", "501"),
        ("POST /lines HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n", "400"),
        ("POST /lines HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nffffffff\r\n", "413"),
    ];
    for (request, code) in broken {
        let mut stream = ingress.connect("http");
        stream.write_all(request.as_bytes()).unwrap();
        let (head, _) = answer(&mut stream);
        assert!(head.starts_with(&format!("HTTP/1.1 {code} ")), "{request:?}: {head}");
        assert!(is_over(&mut stream), "{request:?}");
    }
    ingress.stop();
}

#[test]
fn pipelined_requests_are_answered_in_order_and_not_more_than_there_is_room_for() {
    let folder = Folder::new();
    let ingress = start(&folder, "[pool.web]\nlinger_ms = 1000");
    let mut stream = ingress.connect("http");
    let request = |number: usize| {
        let body = format!("line {number}\n");
        format!("POST /lines HTTP/1.1\r\nContent-Length: {}\r\n\r\n{body}", body.len())
    };
    // One that holds nothing does not answer for those before it.
    let mut all: String = (0..80).map(request).collect();
    all.push_str("POST /lines HTTP/1.1\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
    stream.write_all(all.as_bytes()).unwrap();
    let codes: Vec<String> = (0..81).map(|_| answer(&mut stream).0[9..12].to_owned()).collect();
    assert!(is_over(&mut stream));
    let taken = codes.iter().take_while(|code| *code == "200").count();
    assert_eq!(taken, 64, "{codes:?}");
    assert!(codes[taken..].iter().all(|code| code == "503"), "{codes:?}");
    ingress.stop();
    let expected: String = (0..64).map(|number| format!("line {number}\n")).collect();
    assert_eq!(pool_text(&folder, "web"), expected);
}

#[test]
fn the_answer_to_a_bulk_request_of_thousands_of_items_comes_whole() {
    let folder = Folder::new();
    let ingress = start(&folder, "");
    let body = "{\"create\":{}}\n{\"a\":1}\n".repeat(10_000);
    let mut stream = ingress.connect("http");
    write!(stream, "POST /logs/_bulk HTTP/1.1\r\nContent-Length: {}\r\n\r\n", body.len()).unwrap();
    stream.write_all(body.as_bytes()).unwrap();
    let (head, said) = answer(&mut stream);
    assert!(head.starts_with("HTTP/1.1 200"), "{head}");
    let said: serde_json::Value = serde_json::from_str(&said).unwrap();
    assert_eq!(said["items"].as_array().unwrap().len(), 10_000);
    assert_eq!(said["errors"], false);
    assert_eq!(ingress.metric("written_records_total", ""), 10_000.0);
    ingress.stop();
}
