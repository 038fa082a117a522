//! Senders that others wrote, and what they send over HTTP and the forward protocol: delivered,
//! acknowledged when it is written, and there.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::Command;
use std::thread;

use cinch_integration::{
    FILER, Folder, Ingress, Started, closed_port, fluent_go, gzip, listener, pool_listener,
    pool_text, python,
};

/// HTTP for the pool `otel`, forward for the pool `fluent`.
fn config() -> String {
    let http = pool_listener("http", "http", "otel");
    let forward = pool_listener("forward", "forward", "fluent");
    format!("{FILER}[pool.default]\nlinger_ms = 5\n{http}{forward}")
}

fn post(ingress: &Ingress, head: &str, body: &[u8]) -> String {
    let mut stream = ingress.connect("http");
    let length = body.len();
    write!(stream, "POST {head}\r\nContent-Length: {length}\r\n\r\n").unwrap();
    stream.write_all(body).unwrap();
    let mut answer = Vec::new();
    while !answer.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte).unwrap();
        answer.push(byte[0]);
    }
    String::from_utf8(answer).unwrap()
}

#[test]
fn the_opentelemetry_sdk_of_python_delivers_with_its_own_exporter() {
    let folder = Folder::new();
    let ingress = Ingress::start(&folder, &config());
    let endpoint = format!("http://{}/v1/logs", ingress.address("http"));
    python("send_otlp.py").and(&[&endpoint]).run("");
    // It was answered, so it is written.
    assert_eq!(ingress.metric("written_records_total", "otel"), 1_000.0);
    assert!(ingress.stop().0.success());
    let text = pool_text(&folder, "otel");
    for name in ["NoCompression", "Gzip"] {
        let count = (0..500)
            .filter(|number| text.contains(&format!("\"record {number} of {name}\"")))
            .count();
        assert_eq!(count, 500, "{text}");
    }
}

#[test]
fn lines_over_http_are_answered_when_they_are_written() {
    let folder = Folder::new();
    let ingress = Ingress::start(&folder, &config());
    let answer = post(&ingress, "/lines HTTP/1.1", b"{\"a\":1}\n{\"a\":2}");
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
    assert_eq!(ingress.metric("written_records_total", "otel"), 2.0);
    let packed = gzip(b"packed\n");
    let answer = post(&ingress, "/lines HTTP/1.1\r\nContent-Encoding: gzip", &packed);
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
    let wrong: [(&str, &[u8], &str); 4] = [
        ("/nothing HTTP/1.1", b"", "HTTP/1.1 404"),
        ("/v1/logs HTTP/1.1", b"\xFF\xFF", "HTTP/1.1 400"),
        ("/lines HTTP/1.1\r\nContent-Encoding: gzip", b"no gzip", "HTTP/1.1 400"),
        ("/lines HTTP/9", b"", "HTTP/1.1 400"),
    ];
    for (head, body, status) in wrong {
        let answer = post(&ingress, head, body);
        assert!(answer.starts_with(status), "{head}: {answer}");
    }
    assert!(ingress.stop().0.success());
    assert_eq!(pool_text(&folder, "otel"), "{\"a\":1}\n{\"a\":2}\npacked\n");
}

#[test]
fn the_bulk_forms_of_elasticsearch_and_loki_are_answered_as_their_clients_expect() {
    let folder = Folder::new();
    let ingress = Ingress::start(&folder, &config());
    let bulk = b"{\"create\":{\"_index\":\"web\"}}\n{\"message\":\"one\"}\n\
                 {\"delete\":{\"_id\":\"1\"}}\n{\"index\":{}}\n{\"message\":\"two\"}\n";
    let answer = post(&ingress, "/logs/_bulk HTTP/1.1", bulk);
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
    assert_eq!(ingress.metric("written_records_total", "otel"), 2.0);
    let push = b"{\"streams\":[{\"stream\":{\"app\":\"web\"},\"values\":[\
                 [\"1700000000000000000\",\"three\"]]}]}";
    let head = "/loki/api/v1/push HTTP/1.1\r\nContent-Type: application/json";
    let answer = post(&ingress, head, push);
    assert!(answer.starts_with("HTTP/1.1 204 No Content\r\n"), "{answer}");
    assert_eq!(ingress.metric("written_records_total", "otel"), 3.0);
    assert!(ingress.stop().0.success());
    let text = pool_text(&folder, "otel");
    assert!(text.starts_with("{\"message\":\"one\"}\n{\"message\":\"two\"}\n"), "{text}");
    assert!(text.lines().nth(2).is_some_and(|line| line.contains("\"three\"")), "{text}");
}

#[test]
fn a_chunk_of_the_forward_protocol_is_acknowledged_when_it_is_written() {
    let folder = Folder::new();
    let ingress = Ingress::start(&folder, &config());
    let mut stream = ingress.connect("forward");
    // ["app", 1700000000, {"message": "one"}]
    stream.write_all(b"\x93\xa3app\xce\x65\x53\xf1\x00\x81\xa7message\xa3one").unwrap();
    // ["app", [[1700000001, {"message": "two"}]], {"chunk": "c1"}]
    stream
        .write_all(
            b"\x93\xa3app\x91\x92\xce\x65\x53\xf1\x01\x81\xa7message\xa3two\x81\xa5chunk\xa2c1",
        )
        .unwrap();
    let mut answer = [0; 8];
    stream.read_exact(&mut answer).unwrap();
    assert_eq!(&answer, b"\x81\xa3ack\xa2c1");
    assert_eq!(ingress.metric("written_records_total", "fluent"), 2.0);
    assert!(ingress.stop().0.success());
    let text = pool_text(&folder, "fluent");
    let lines: Vec<serde_json::Value> =
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 2, "{text}");
    assert_eq!(lines[0]["tag"], "app");
    assert_eq!(lines[0]["record"]["message"], "one");
    assert_eq!(lines[1]["record"]["message"], "two");
    assert_eq!(lines[1]["time"].as_f64(), Some(1_700_000_001.0));
}

#[test]
fn the_python_logger_of_fluentd_delivers() {
    let folder = Folder::new();
    let ingress = Ingress::start(&folder, &config());
    let port = ingress.address("forward").port().to_string();
    python("send_fluent.py").and(&[&port]).run("");
    ingress.wait_for("written_records_total", "fluent", 300.0);
    assert!(ingress.stop().0.success());
    let text = pool_text(&folder, "fluent");
    let number = |line: &str| {
        let value: serde_json::Value = serde_json::from_str(line).unwrap();
        assert_eq!(value["tag"], "app.test");
        value["record"]["number"].as_u64().unwrap()
    };
    assert!(text.lines().map(number).eq(0..300), "{text}");
}

#[test]
fn the_go_client_of_fluentd_delivers_and_takes_every_acknowledgement() {
    let folder = Folder::new();
    let ingress = Ingress::start(&folder, &config());
    let port = ingress.address("forward").port().to_string();
    fluent_go().and(&[&port, "150"]).run("");
    // It has ended, so all was acknowledged, and that means written.
    assert_eq!(ingress.metric("written_records_total", "fluent"), 300.0);
    assert!(ingress.stop().0.success());
    let text = pool_text(&folder, "fluent");
    let numbers = |is_async: bool| -> Vec<u64> {
        let lines = text.lines().map(serde_json::from_str::<serde_json::Value>);
        let events = lines.map(|line| line.unwrap()).filter(|line| line["tag"] == "go.test");
        let of_mode = events.filter(|line| line["record"]["async"] == is_async);
        of_mode.map(|line| line["record"]["number"].as_u64().unwrap()).collect()
    };
    assert!(numbers(false).into_iter().eq(0..150), "{text}");
    assert!(numbers(true).into_iter().eq(0..150), "{text}");
}

#[test]
fn the_opentelemetry_sdk_of_python_delivers_over_grpc() {
    let folder = Folder::new();
    let grpc = pool_listener("grpc", "otlp-grpc", "otel");
    let ingress = Ingress::start(&folder, &format!("{FILER}[pool.default]\nlinger_ms = 5\n{grpc}"));
    python("send_otlp_grpc.py").and(&[&ingress.address("grpc").to_string()]).run("");
    assert_eq!(ingress.metric("written_records_total", "otel"), 1_000.0);
    assert!(ingress.stop().0.success());
    let text = pool_text(&folder, "otel");
    for name in ["NoCompression", "Gzip"] {
        let is_there = |number: &i32| text.contains(&format!("\"record {number} of {name}\""));
        assert_eq!((0..500).filter(is_there).count(), 500, "{text}");
    }
}

#[test]
fn the_client_of_elasticsearch_delivers_in_the_bulk_form() {
    let folder = Folder::new();
    let ingress = Ingress::start(&folder, &config());
    python("send_bulk.py").and(&[&format!("http://{}", ingress.address("http"))]).run("");
    assert_eq!(ingress.metric("written_records_total", "otel"), 1_000.0);
    assert!(ingress.stop().0.success());
    let text = pool_text(&folder, "otel");
    assert_eq!(text.lines().filter(|line| line.contains("\"compressed\":true")).count(), 500);
}

#[test]
fn the_handler_of_loki_for_python_delivers_with_labels_and_times() {
    let folder = Folder::new();
    let ingress = Ingress::start(&folder, &config());
    let url = format!("http://{}/loki/api/v1/push", ingress.address("http"));
    python("send_loki.py").and(&[&url]).run("");
    assert_eq!(ingress.metric("written_records_total", "otel"), 200.0);
    assert!(ingress.stop().0.success());
    let text = pool_text(&folder, "otel");
    for (number, line) in text.lines().enumerate() {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        assert_eq!(line["line"], format!("cart {number} was \"taken\"\nin two lines"));
        assert_eq!(line["labels"]["app"], "cart");
        assert_eq!(line["labels"]["zone"], format!("z{}", number % 3));
        assert_eq!(line["labels"]["severity"], "info");
    }
}

#[test]
fn every_mode_of_the_forward_protocol_is_acknowledged_and_a_key_is_asked_for() {
    let folder = Folder::new();
    let keyed =
        listener("keyed", "forward", "pool = \"keyed\"\nhandshake = { shared_key = \"secret\" }");
    let ingress = Ingress::start(&folder, &format!("{}{keyed}", config()));
    let port = |name| ingress.address(name).port().to_string();
    python("send_fluent_acks.py").and(&[&port("forward")]).run("");
    python("send_fluent_acks.py").and(&[&port("keyed"), "secret"]).run("");
    // Who does not know the key is closed, and nothing of it is kept.
    let mut stranger = ingress.connect("keyed");
    stranger.write_all(b"\x93\xa3app\xce\x65\x53\xf1\x00\x81\xa1a\x01").unwrap();
    stranger.read_to_end(&mut Vec::new()).unwrap();
    assert_eq!(ingress.metric("written_records_total", ""), 302.0);
    assert!(ingress.stop().0.success());
    for pool in ["fluent", "keyed"] {
        let text = pool_text(&folder, pool);
        let number = |line: &str| {
            let value: serde_json::Value = serde_json::from_str(line).unwrap();
            value["record"]["number"].as_u64().unwrap()
        };
        assert!(text.lines().map(number).eq(0..=150), "{text}");
    }
}

/// Waits until a program of others listens on this port, and connects.
fn connect_to(program: &mut Started, name: &str, port: u16) -> TcpStream {
    loop {
        if let Ok(stream) = TcpStream::connect(("127.0.0.1", port)) {
            return stream;
        }
        let ended = program.0.try_wait().unwrap();
        assert!(ended.is_none(), "{name} ended; is it installed?");
        thread::yield_now();
    }
}

/// Sends five thousand messages to a forwarder that listens there, and looks for them in the pool.
fn forwards_every_message(folder: &Folder, ingress: Ingress, mut stream: TcpStream) {
    for number in 0..5_000 {
        writeln!(stream, "<13>Nov 21 23:00:00 host app[1]: message number {number}").unwrap();
    }
    drop(stream);
    ingress.wait_for("written_records_total", "\"system\"", 5_000.0);
    assert!(ingress.stop().0.success());
    let text = pool_text(folder, "system");
    for (number, line) in text.lines().enumerate() {
        assert!(line.ends_with(&format!("message number {number}")), "{line}");
    }
}

#[test]
fn rsyslog_forwards_every_message() {
    let folder = Folder::new();
    let syslog = pool_listener("syslog", "syslog", "system");
    let ingress = Ingress::start(&folder, &format!("{FILER}{syslog}"));
    let (to, port) = (ingress.address("syslog").port(), closed_port());
    let config = folder.write(
        "rsyslog.conf",
        format!(
            "module(load=\"imptcp\")\n\
             global(workDirectory=\"{}\" net.enableDNS=\"off\")\n\
             input(type=\"imptcp\" port=\"{port}\" address=\"127.0.0.1\")\n\
             action(type=\"omfwd\" target=\"127.0.0.1\" port=\"{to}\" protocol=\"tcp\" \
             TCP_Framing=\"octet-counted\" template=\"RSYSLOG_SyslogProtocol23Format\")\n",
            folder.path().display()
        ),
    );
    // Debian keeps it off the path of users.
    let command = "PATH=$PATH:/usr/sbin; exec rsyslogd -n -f \"$0\" -i \"$1\"";
    let pid = folder.at("pid");
    let started = Command::new("sh").args(["-c", command, &config, &pid]).spawn().unwrap();
    let mut rsyslog = Started(started);
    let stream = connect_to(&mut rsyslog, "rsyslogd", port);
    forwards_every_message(&folder, ingress, stream);
}
