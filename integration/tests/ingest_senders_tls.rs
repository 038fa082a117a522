//! Senders that others wrote, over connections that they encrypt themselves and trust by the
//! authority they were told; and syslog-ng, which also does without.

use std::io::Write;
use std::net::TcpStream;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use cinch_integration::{
    Authority, FILER, Folder, Ingress, Started, closed_port, listener, pool_listener, pool_text,
    python, syslog_ng,
};

/// How many messages a forwarder is given.
const MESSAGES: usize = 5_000;

const PATIENCE: Duration = Duration::from_secs(60);

/// A listener with a certificate for `localhost`, and the authority in `ca.pem`.
fn tls_listener(folder: &Folder, protocol: &str) -> String {
    let authority = Authority::new();
    let (certificate, key) = authority.issue("localhost");
    folder.write("ca.pem", authority.pem());
    folder.write("server.pem", certificate);
    folder.write("server.key", key);
    let tls = "tls = { certificate = \"server.pem\", key = \"server.key\" }";
    listener("tls", protocol, &format!("pool = \"system\"\n{tls}"))
}

/// Gives a forwarder that listens there its messages, and looks for them in the pool.
fn forwards_every_message(folder: &Folder, ingress: Ingress, forwarder: Command, port: u16) {
    let mut forwarder = forwarder;
    let mut forwarder = Started(forwarder.stdin(Stdio::null()).spawn().unwrap());
    let start = Instant::now();
    let mut stream = loop {
        if let Ok(stream) = TcpStream::connect(("127.0.0.1", port)) {
            break stream;
        }
        let ended = forwarder.0.try_wait().unwrap();
        assert!(ended.is_none(), "it ended; is it installed?");
        assert!(start.elapsed() < PATIENCE, "it does not listen");
        thread::yield_now();
    };
    for number in 0..MESSAGES {
        writeln!(stream, "<13>Nov 21 23:00:00 host app[1]: message number {number}").unwrap();
    }
    drop(stream);
    ingress.wait_for("written_records_total", "\"system\"", MESSAGES as f64);
    drop(forwarder);
    assert!(ingress.stop().0.success());
    let text = pool_text(folder, "system");
    // A forwarder that was just started may also tell of itself.
    let of_ours = text.lines().filter(|line| line.contains("message number"));
    let mut count = 0;
    for (number, line) in of_ours.enumerate() {
        assert!(line.ends_with(&format!("message number {number}")), "{line}");
        count += 1;
    }
    assert_eq!(count, MESSAGES);
}

#[test]
fn rsyslog_forwards_every_message_over_tls() {
    let folder = Folder::new();
    let ingress = Ingress::start(&folder, &format!("{FILER}{}", tls_listener(&folder, "syslog")));
    let (to, port) = (ingress.address("tls").port(), closed_port());
    let config = folder.write(
        "rsyslog.conf",
        format!(
            "global(workDirectory=\"{}\" net.enableDNS=\"off\" \
             defaultNetstreamDriverCAFile=\"{}\")\n\
             module(load=\"imptcp\")\n\
             input(type=\"imptcp\" port=\"{port}\" address=\"127.0.0.1\")\n\
             action(type=\"omfwd\" target=\"127.0.0.1\" port=\"{to}\" protocol=\"tcp\" \
             StreamDriver=\"gtls\" StreamDriverMode=\"1\" StreamDriverAuthMode=\"x509/name\" \
             StreamDriverPermittedPeers=\"localhost\" TCP_Framing=\"octet-counted\" \
             template=\"RSYSLOG_SyslogProtocol23Format\")\n",
            folder.path().display(),
            folder.at("ca.pem"),
        ),
    );
    let mut command = Command::new("sh");
    // Debian keeps it off the path of users.
    let script = "PATH=$PATH:/usr/sbin; exec rsyslogd -n -f \"$0\" -i \"$1\"";
    command.args(["-c", script, &config, &folder.at("pid")]);
    forwards_every_message(&folder, ingress, command, port);
}

/// Takes lines there, and forwards them to this port of this machine.
fn syslog_ng_config(from: u16, to: u16, transport: &str) -> String {
    format!(
        "@version: 3.38\n\
         options {{ keep-hostname(yes); use-dns(no); stats-freq(0); }};\n\
         source in {{ network(ip(\"127.0.0.1\") port({from}) transport(\"tcp\")); }};\n\
         destination out {{ syslog(\"localhost\" ip-protocol(4) port({to}) {transport}); }};\n\
         log {{ source(in); destination(out); flags(flow-control); }};\n"
    )
}

#[test]
fn syslog_ng_forwards_every_message() {
    let folder = Folder::new();
    let listener = pool_listener("plain", "syslog", "system");
    let ingress = Ingress::start(&folder, &format!("{FILER}{listener}"));
    let (to, port) = (ingress.address("plain").port(), closed_port());
    let config = syslog_ng_config(port, to, "transport(\"tcp\")");
    let command = syslog_ng(folder.path(), &config);
    forwards_every_message(&folder, ingress, command, port);
}

#[test]
fn syslog_ng_forwards_every_message_over_tls() {
    let folder = Folder::new();
    let ingress = Ingress::start(&folder, &format!("{FILER}{}", tls_listener(&folder, "syslog")));
    let (to, port) = (ingress.address("tls").port(), closed_port());
    let tls = "transport(\"tls\") tls(ca-file(\"ca.pem\") peer-verify(required-trusted))";
    let command = syslog_ng(folder.path(), &syslog_ng_config(port, to, tls));
    forwards_every_message(&folder, ingress, command, port);
}

#[test]
fn the_opentelemetry_sdk_of_python_delivers_over_encrypted_grpc() {
    let folder = Folder::new();
    let tls = tls_listener(&folder, "otlp-grpc");
    let ingress = Ingress::start(&folder, &format!("{FILER}[pool.default]\nlinger_ms = 5\n{tls}"));
    let to = format!("localhost:{}", ingress.address("tls").port());
    python("send_otlp_grpc.py").and(&[&to, &folder.at("ca.pem")]).run("");
    assert_eq!(ingress.metric("written_records_total", "system"), 1_000.0);
    assert!(ingress.stop().0.success());
    let text = pool_text(&folder, "system");
    for name in ["NoCompression", "Gzip"] {
        let is_there = |number: &i32| text.contains(&format!("\"record {number} of {name}\""));
        assert_eq!((0..500).filter(is_there).count(), 500, "{text}");
    }
}
