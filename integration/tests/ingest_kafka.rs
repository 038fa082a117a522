//! Sinks of Kafka against a Kafka that really runs: what arrives, under which keys, and what
//! becomes of records while there is no broker.

use std::collections::BTreeMap;
use std::io::Write;
use std::time::Duration;

use cinch_ingest_client::{Client, Settings};
use cinch_integration::{Folder, Ingress, Kafka, closed_port, noise, python};
use serde_json::Value;

/// How long a client may take until everything is acknowledged.
const PATIENCE: Duration = Duration::from_secs(60);

/// A client of a pool that sends each record at once.
fn client(ingress: &Ingress, pool: &str) -> Client {
    let mut settings = Settings::new(ingress.address("native").to_string(), pool);
    settings.linger = Duration::from_millis(1);
    Client::start(settings).unwrap()
}

/// The messages of a topic, of which there must be so many.
#[track_caller]
fn messages(host: &str, topic: &str, count: usize) -> Vec<Value> {
    let count = count.to_string();
    let (out, _) = python("read_kafka.py").and(&[host, topic, &count]).run("");
    out.lines().map(|line| serde_json::from_str(line).expect("each line is JSON")).collect()
}

/// The text of the batches of each key, in the order in which they arrived.
#[track_caller]
fn texts(messages: &[Value]) -> BTreeMap<String, Vec<u8>> {
    let mut texts = BTreeMap::<String, Vec<u8>>::new();
    for message in messages {
        let key = message["key"].as_str().unwrap().to_owned();
        texts.entry(key).or_default().extend(text(&bytes(message)));
    }
    texts
}

fn text(value: &[u8]) -> Vec<u8> {
    zstd::stream::decode_all(value).expect("a batch is what zstd reads")
}

fn bytes(message: &Value) -> Vec<u8> {
    let letters = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let text = message["value"].as_str().unwrap().trim_end_matches('=');
    let (mut bytes, mut bits, mut held) = (Vec::new(), 0u32, 0);
    for letter in text.bytes() {
        let value = letters.iter().position(|&known| known == letter).unwrap() as u32;
        bits = bits << 6 | value;
        held += 6;
        if held >= 8 {
            held -= 8;
            bytes.push((bits >> held) as u8);
        }
    }
    bytes
}

fn config(host: &str, topic: &str, more: &str) -> String {
    format!(
        "memory = \"32MiB\"
[sink.topic]
kind = \"kafka\"
brokers = [\"{host}\"]
topic = \"{topic}\"
[[listener]]
name = \"lines\"
protocol = \"lines\"
address = \"127.0.0.1:0\"
pool = \"web\"
[[listener]]
name = \"native\"
protocol = \"native\"
address = \"127.0.0.1:0\"
{more}"
    )
}

fn lines(numbers: std::ops::Range<u32>) -> Vec<u8> {
    numbers.flat_map(|number| format!("line {number} of a log\n").into_bytes()).collect()
}

/// Lines that do not get smaller.
fn flood(bytes: usize) -> Vec<u8> {
    let noise = noise(bytes / 2);
    let hex = |piece: &[u8]| piece.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    noise.chunks_exact(50).flat_map(|piece| (hex(piece) + "\n").into_bytes()).collect()
}

#[test]
fn batches_arrive_whole_in_order_and_say_what_they_are() {
    let (kafka, folder) = (Kafka::shared(), Folder::new());
    let ingress = Ingress::start(&folder, &config(&kafka.host(), "batches", ""));
    let sent = lines(0..50_000);
    ingress.connect("lines").write_all(&sent).unwrap();
    let client = client(&ingress, "other");
    client.send(b"one").unwrap();
    client.send(b"two").unwrap();
    client.close(PATIENCE).expect("a batch is acknowledged when the broker has it");
    ingress.wait_for("written_records_total", "\"web\"", 50_000.0);
    assert!(ingress.stop().0.success());

    let messages = messages(&kafka.host(), "batches", 2);
    let texts = texts(&messages);
    assert!(texts["web"] == sent, "lines are missing, changed or in another order");
    assert_eq!(texts["other"], b"one\ntwo\n");
    let mut partitions = BTreeMap::<&str, Vec<&Value>>::new();
    for message in &messages {
        let headers = &message["headers"];
        assert_eq!(headers["pool"], message["key"]);
        let records: usize = headers["records"].as_str().unwrap().parse().unwrap();
        assert_eq!(records, text(&bytes(message)).iter().filter(|&&b| b == b'\n').count());
        partitions.entry(message["key"].as_str().unwrap()).or_default().push(&message["partition"]);
    }
    for (key, partitions) in partitions {
        assert!(partitions.iter().all(|number| *number == partitions[0]), "{key} is in several");
    }
}

#[test]
fn a_pool_that_spills_waits_for_a_broker_and_loses_nothing() {
    let (later, folder) = (Kafka::later(), Folder::new());
    let spill = "
[spill]
directory = \"spill\"
[pool.default]
when_slow = \"spill\"
quota = \"2MiB\"
";
    let ingress = Ingress::start(&folder, &config(&later.host(), "late", spill));
    let sent = flood(20 << 20);
    let records = sent.iter().filter(|&&byte| byte == b'\n').count() as f64;
    ingress.connect("lines").write_all(&sent).unwrap();
    ingress.wait_for("received_records_total", "\"web\"", records);
    ingress.wait_for("spilled_batches_total", "\"web\"", 1.0);
    ingress.wait_for("write_failures_total", "\"topic\"", 1.0);
    assert_eq!(ingress.metric("written_records_total", ""), 0.0);
    let kafka = later.start();
    ingress.wait_for("written_records_total", "\"web\"", records);
    assert_eq!(ingress.metric("dropped_records_total", ""), 0.0);
    assert_eq!(ingress.metric("spill_bytes", ""), 0.0);
    let batches = ingress.metric("batches_total", "\"web\"") as usize;
    assert!(ingress.stop().0.success());
    let messages = messages(&kafka.host(), "late", batches);
    assert_eq!(messages.len(), batches, "a batch is there twice");
    assert!(texts(&messages)["web"] == sent, "lines are missing, changed or in another order");
}

#[test]
fn without_a_broker_a_pool_drops_and_counts_or_holds_its_connections() {
    let host = format!("127.0.0.1:{}", closed_port());
    for when_slow in ["drop", "backpressure"] {
        let folder = Folder::new();
        let more = format!("[pool.default]\nwhen_slow = \"{when_slow}\"\nquota = \"1MiB\"\n");
        let ingress = Ingress::start(&folder, &config(&host, "never", &more));
        let sent = flood(8 << 20);
        let mut stream = ingress.connect("lines");
        if when_slow == "drop" {
            stream.write_all(&sent).unwrap();
            let records = sent.iter().filter(|&&byte| byte == b'\n').count() as f64;
            ingress.wait_for("received_records_total", "\"web\"", records);
            ingress.wait_for("dropped_records_total", "\"quota\"", 1.0);
        } else {
            stream.set_nonblocking(true).unwrap();
            let mut taken = 0;
            while ingress.metric("pool_held", "\"web\"") < 1.0 && taken < sent.len() {
                taken += stream.write(&sent[taken..]).unwrap_or(0);
            }
            assert_eq!(ingress.metric("dropped_records_total", ""), 0.0);
        }
        drop(stream);
        let (status, said) = ingress.stop();
        assert_eq!(status.code(), Some(3), "{said:?}");
        let numbers: Vec<f64> = said
            .last()
            .unwrap()
            .split(|letter: char| !letter.is_ascii_digit())
            .filter_map(|digits| digits.parse().ok())
            .collect();
        let [received, _, written, dropped] = numbers[..] else { panic!("{said:?}") };
        assert_eq!((written, received), (0.0, dropped), "{said:?}");
        assert!(said.iter().any(|line| line.contains(&host)), "nobody is told: {said:?}");
    }
}

#[test]
fn what_was_acknowledged_is_in_the_topic_after_a_kill() {
    let (kafka, folder) = (Kafka::shared(), Folder::new());
    let more = "[pool.default]\nlinger_ms = 5\n";
    let ingress = Ingress::start(&folder, &config(&kafka.host(), "killed", more));
    let client = client(&ingress, "web");
    let mut sent = 0;
    while client.counters().acknowledged_records < 180 {
        sent += 1;
        client.send_within(format!("record {sent}").as_bytes(), PATIENCE).unwrap();
    }
    ingress.kill();
    let acknowledged = client.counters().acknowledged_records;
    let texts = texts(&messages(&kafka.host(), "killed", 1));
    let text = String::from_utf8(texts["web"].clone()).unwrap();
    for sequence in 1..=acknowledged {
        let record = format!("record {sequence}");
        assert!(text.lines().any(|line| line == record), "{record} was acknowledged and is gone");
    }
}

#[test]
fn windows_of_metrics_are_messages_of_json_or_avro() {
    let (kafka, folder) = (Kafka::shared(), Folder::new());
    let host = kafka.host();
    let more = format!(
        "[sink.vid]
kind = \"kafka\"
brokers = [\"{host}\"]
topic = \"vid-json\"
[sink.vid-avro]
kind = \"kafka\"
brokers = [\"{host}\"]
topic = \"vid-avro\"
form = \"avro\"
[pool.default]
sink = \"topic\"
"
    ) + &["vid", "vid-avro"]
        .map(|sink| {
            format!(
                "[[metric]]
name = \"slow\"
contains = \"took=\"
matches = \"path=(\\\\S+) took=([0-9.]+)\"
key = [\"pool\", \"1\"]
value = \"2\"
quantiles = [0.5]
window_s = 1
sink = \"{sink}\"
"
            )
        })
        .concat();
    let ingress = Ingress::start(&folder, &config(&host, "of-metrics", &more));
    let sent: String = (1..=100).map(|n| format!("path=/cart took={n}\n")).collect();
    ingress.connect("lines").write_all(format!("{sent}path=/é took=none\n").as_bytes()).unwrap();
    ingress.wait_for("received_records_total", "\"web\"", 101.0);
    assert!(ingress.stop().0.success());

    for (topic, form) in [("vid-json", "application/json"), ("vid-avro", "avro/binary")] {
        // The records may have come in two windows.
        let (mut count, mut sum) = (0, 0.0);
        for message in messages(&host, topic, 1) {
            assert_eq!(message["headers"]["content-type"], form);
            assert_eq!(message["key"], "slow/web//cart");
            let line: Value = match topic {
                "vid-json" => serde_json::from_slice(&bytes(&message)).unwrap(),
                _ => message["avro"].clone(),
            };
            assert_eq!(line["metric"], "slow");
            assert_eq!(line["key"]["1"], "/cart");
            assert_eq!(line["instance"], message["headers"]["instance"]);
            count += line["count"].as_u64().unwrap();
            sum += line["sum"].as_f64().unwrap();
            let median = line["quantiles"]["0.5"].as_f64().unwrap();
            let (min, max) = (line["min"].as_f64().unwrap(), line["max"].as_f64().unwrap());
            assert!(min <= median && median <= max, "{line}");
        }
        assert_eq!((count, sum), (100, 5_050.0));
    }
}
