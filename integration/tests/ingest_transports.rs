//! What records come over: TLS with and without certificates of clients, datagrams, sockets in the
//! file system. A client that may not come in is closed, and nobody else is.

use std::fs;
use std::io::{Read, Write};
use std::net::{TcpStream, UdpSocket};
use std::os::unix::net::{UnixDatagram, UnixStream};
use std::process::Command;
use std::sync::Arc;

use cinch_integration::{
    Authority, FILER, Folder, Ingress, cinch, listener, logs, pool_listener, pool_text,
};
use rustls::pki_types::ServerName;
use rustls::{ClientConnection, StreamOwned};

/// A listener of lines over TLS; with certificates of clients that this authority has signed.
fn tls_listener(folder: &Folder, authority: &Authority, asks: bool) -> String {
    let (certificate, key) = authority.issue("localhost");
    folder.write("server.pem", certificate);
    folder.write("server.key", key);
    folder.write("ca.pem", authority.pem());
    let client_ca = if asks { ", client_ca = \"ca.pem\"" } else { "" };
    let tls = format!("tls = {{ certificate = \"server.pem\", key = \"server.key\"{client_ca} }}");
    listener("tls", "lines", &format!("pool = \"web\"\n{tls}"))
}

fn connect(
    ingress: &Ingress,
    config: Arc<rustls::ClientConfig>,
) -> StreamOwned<ClientConnection, TcpStream> {
    let name = ServerName::try_from("localhost").unwrap();
    StreamOwned::new(ClientConnection::new(config, name).unwrap(), ingress.connect("tls"))
}

#[test]
fn lines_over_tls_are_read_however_they_are_cut() {
    let folder = Folder::new();
    let authority = Authority::new();
    let config = format!("{FILER}{}", tls_listener(&folder, &authority, false));
    let ingress = Ingress::start(&folder, &config);
    let lines: String = (0..60_000).map(|number| format!("line {number}\n")).collect();
    let mut stream = connect(&ingress, authority.client(None));
    let (small, large) = lines.as_bytes().split_at(3_000);
    small.chunks(7).for_each(|piece| stream.write_all(piece).unwrap());
    stream.write_all(large).unwrap();
    stream.conn.send_close_notify();
    stream.flush().unwrap();
    drop(stream);
    ingress.wait_for("written_records_total", "", 60_000.0);
    assert!(ingress.stop().0.success());
    assert!(logs(&folder, &["--pool", "web", "--wire"]) == lines.as_bytes(), "lines changed");
}

#[test]
fn a_client_without_the_right_certificate_is_closed_and_counted() {
    let folder = Folder::new();
    let (authority, other) = (Authority::new(), Authority::new());
    let config = format!("{FILER}{}", tls_listener(&folder, &authority, true));
    let ingress = Ingress::start(&folder, &config);
    let mut good = connect(&ingress, authority.client(Some(&authority)));
    good.write_all(b"first\n").unwrap();
    let mut answer = Vec::new();
    for certificate in [None, Some(&other)] {
        let mut bad = connect(&ingress, authority.client(certificate));
        // The client hears of it with the first answer that it waits for.
        let _sent = bad.write_all(b"nonsense\n");
        assert!(
            bad.read_to_end(&mut answer).is_err(),
            "{certificate:?}",
            certificate = certificate.is_some()
        );
    }
    let mut plain = ingress.connect("tls");
    plain.write_all(b"a line without TLS\n").unwrap();
    let _read = plain.read_to_end(&mut answer);
    ingress.wait_for("handshakes_failed_total", "", 3.0);
    good.write_all(b"second\n").unwrap();
    good.flush().unwrap();
    ingress.wait_for("written_records_total", "", 2.0);
    assert!(ingress.stop().0.success());
    assert_eq!(pool_text(&folder, "web"), "first\nsecond\n");
}

#[test]
fn a_datagram_is_one_message_and_one_that_is_too_long_is_cut_and_counted() {
    let folder = Folder::new();
    let more = "transport = \"udp\"\npool = \"web\"\nrecord_max = \"1KiB\"";
    let ingress = Ingress::start(&folder, &format!("{FILER}{}", listener("udp", "syslog", more)));
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.connect(ingress.address("udp")).unwrap();
    socket.send(b"<13>1 - host app - - - one\n").unwrap();
    socket.send(b"<13>Nov 21 23:00:00 host app: two\nof two lines").unwrap();
    let mut long = b"<13>1 - host app - - - ".to_vec();
    long.resize(2_000, b'x');
    socket.send(&long).unwrap();
    socket.send(b"").unwrap();
    ingress.wait_for("written_records_total", "", 3.0);
    assert_eq!(ingress.metric("datagrams_truncated_total", ""), 1.0);
    // The stock program, which says who it is.
    let port = ingress.address("udp").port().to_string();
    let logger = ["--udp", "--server", "127.0.0.1", "--port", &port, "--rfc5424", "by logger"];
    assert!(Command::new("logger").args(logger).status().expect("logger is there").success());
    ingress.wait_for("written_records_total", "", 4.0);
    assert!(ingress.stop().0.success());
    let text = pool_text(&folder, "web");
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "<13>1 - host app - - - one");
    assert_eq!(lines[1..3], ["<13>Nov 21 23:00:00 host app: two", "of two lines"]);
    assert_eq!(lines[3].as_bytes(), &long[..1_024]);
    assert!(lines[4].ends_with("by logger"), "{text}");
    let peer = socket.local_addr().unwrap().to_string();
    let json = String::from_utf8(logs(&folder, &["--pool", "web", "--json"])).unwrap();
    assert_eq!(json.lines().filter(|line| line.contains(&peer)).count(), 3, "{json}");
}

#[test]
fn what_the_system_drops_of_datagrams_is_counted() {
    let folder = Folder::new();
    // A pool that is held is not read; then the system's buffer fills up.
    let config = format!(
        "[sink.slow]\nkind = \"filer\"\ndirectory = \"logs\"\n[pool.web]\nquota = 1\n\
         linger_ms = 1\nwhen_slow = \"backpressure\"\n{}",
        listener("udp", "lines", "transport = \"udp\"\npool = \"web\"")
    );
    // The folder of the pool is a file, so that nothing can be written to it.
    fs::create_dir(folder.at("logs")).unwrap();
    fs::write(folder.at("logs/web"), "").unwrap();
    let ingress = Ingress::start(&folder, &config);
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.connect(ingress.address("udp")).unwrap();
    socket.send(b"first").unwrap();
    ingress.wait_for("pool_held", "", 1.0);
    let mut sent = 1.0;
    while ingress.metric("datagrams_lost_total", "") == 0.0 {
        (0..500).for_each(|_| assert_eq!(socket.send(&[b'x'; 8_000]).unwrap(), 8_000));
        sent += 500.0;
    }
    fs::remove_file(folder.at("logs/web")).unwrap();
    ingress.wait_for("pool_held", "", 0.0);
    let (status, said) = ingress.stop();
    assert!(status.success(), "{said:?}");
    let kept = pool_text(&folder, "web").lines().count() as f64;
    assert!(kept > 1.0 && kept < sent, "{kept} of {sent}");
}

#[test]
fn sockets_in_the_file_system_take_connections_and_datagrams() {
    let folder = Folder::new();
    let (stream, datagram) = (folder.at("stream.sock"), folder.at("log.sock"));
    let unix = |name: &str, path: &str, transport: &str| {
        format!(
            "[[listener]]\nname = {name:?}\nprotocol = \"syslog\"\naddress = {path:?}\n\
             transport = {transport:?}\npool = {name:?}\n"
        )
    };
    let listeners = unix("stream", &stream, "unix") + &unix("datagram", &datagram, "unix-datagram");
    let config = format!("{FILER}{listeners}");
    // A process that was killed leaves its sockets behind.
    Ingress::start(&folder, &config).kill();
    assert!(fs::symlink_metadata(&stream).is_ok());
    let ingress = Ingress::start(&folder, &config);
    UnixStream::connect(&stream).unwrap().write_all(b"<13>1 - h a - - - over a stream\n").unwrap();
    let logger = ["--socket", &datagram, "--socket-errors=on", "over a datagram"];
    assert!(Command::new("logger").args(logger).status().expect("logger is there").success());
    let socket = UnixDatagram::unbound().unwrap();
    socket.send_to(b"<13>another", &datagram).unwrap();
    ingress.wait_for("written_records_total", "\"stream\"", 1.0);
    ingress.wait_for("written_records_total", "\"datagram\"", 2.0);
    // One that is in use is not taken away.
    let second = folder.write("second.toml", &config);
    cinch(["ingest", "--config", &second]).run().refused(1, &["stream.sock", "in use"]);
    assert!(ingress.stop().0.success());
    assert!(fs::symlink_metadata(&stream).is_err(), "a socket is left behind");
    assert_eq!(pool_text(&folder, "stream"), "<13>1 - h a - - - over a stream\n");
    let text = pool_text(&folder, "datagram");
    assert!(text.contains("over a datagram\n") && text.ends_with("<13>another\n"), "{text}");
}

#[test]
fn one_client_may_have_as_many_connections_as_its_limit_and_gets_a_place_back() {
    let folder = Folder::new();
    let config = format!(
        "workers = 1\n{FILER}[pool.small]\nconnections_max = 2\n{}{}",
        listener("lines", "lines", "client_connections_max = 3\npool = \"web\""),
        pool_listener("small", "lines", "small"),
    );
    let ingress = Ingress::start(&folder, &config);
    for (name, most) in [("lines", 3), ("small", 2)] {
        let held: Vec<TcpStream> = (0..most).map(|_| ingress.connect(name)).collect();
        ingress.wait_for("connections_open", name, f64::from(most));
        let mut refused = ingress.connect(name);
        // It is closed: with a byte of ours under way that is a reset.
        let _read = refused.read_to_end(&mut Vec::new());
        ingress.wait_for("connections_turned_away_total", name, 1.0);
        drop((held, refused));
        while ingress.metric("connections_open", name) > 0.0 {
            std::thread::yield_now();
        }
        let mut again = ingress.connect(name);
        again.write_all(b"taken\n").unwrap();
        drop(again);
    }
    ingress.stop();
    assert_eq!(pool_text(&folder, "web"), "taken\n");
    assert_eq!(pool_text(&folder, "small"), "taken\n");
}

#[test]
fn what_does_not_go_together_is_told_with_its_line() {
    let folder = Folder::new();
    let cases: [(&str, &str, usize, &str); 9] = [
        ("cal", "transport = \"udp\"", 7, "datagrams"),
        ("lines", "transport = \"udp\"\npool = \"w\"\ncompression = \"gzip\"", 11, "connections"),
        ("lines", "transport = \"unix\"\npool = \"w\"", 8, "path"),
        ("lines", "transport = \"pigeon\"\npool = \"w\"", 9, "pigeon"),
        ("lines", "pool = \"w\"\nhandshake = { shared_key = \"k\" }", 10, "forward"),
        ("forward", "pool = \"w\"\nhandshake = { shared_key = \"\" }", 10, "shared_key"),
        ("lines", "pool = \"w\"\ntls = { certificate = \"no\", key = \"no\" }", 10, "no"),
        ("lines", "pool = \"w\"\ntls = { certificate = \"no\" }", 10, "key"),
        ("lines", "transport = \"udp\"\npool = \"w\"\nrecord_max = \"1MiB\"", 11, "65536"),
    ];
    for (protocol, more, line, word) in cases {
        let file = folder.write("ingest.toml", format!("{FILER}{}", listener("x", protocol, more)));
        let place = format!("ingest.toml:{line}:");
        cinch(["ingest", "--check", "--config", &file]).run().refused(2, &[&place, word]);
    }
}
