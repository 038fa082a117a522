//! The example that loads metrics into an OLAP store, from standard output and from Kafka: what it
//! answers is what was sent, also when everything is loaded twice.

use std::fs::File;
use std::io::Write;

use cinch_integration::{Folder, Ingress, Kafka, deployed};

fn config(more: &str, sink: &str) -> String {
    format!(
        "[sink.files]
kind = \"filer\"
directory = \"logs\"
{more}
[[listener]]
name = \"lines\"
protocol = \"lines\"
address = \"127.0.0.1:0\"
pool = \"web\"
[[metric]]
name = \"slow\"
contains = \"took=\"
matches = \"path=(\\\\S+) took=([0-9.]+)\"
key = [\"pool\", \"1\"]
value = \"2\"
window_s = 1
{sink}
"
    )
}

fn send(ingress: &Ingress) {
    let lines: String = (1..=100).map(|n| format!("path=/{} took={n}\n", n % 3)).collect();
    ingress.connect("lines").write_all(lines.as_bytes()).unwrap();
    ingress.wait_for("received_records_total", "", 100.0);
}

const ANSWER: &str = "metric\tpool\trecords\tmean\tleast\tmost\nslow\tweb\t100\t50.5\t1.0\t100.0\n";

#[test]
fn lines_of_standard_output_are_loaded_and_asked() {
    let folder = Folder::new();
    let metrics = File::create(folder.at("metrics.ndjson")).unwrap();
    let ingress = Ingress::start_with(&folder, &config("", ""), metrics.into());
    send(&ingress);
    assert!(ingress.stop().0.success());
    for _ in 0..2 {
        let load = deployed("olap/load.py").and(&[&folder.at("vid.duckdb")]);
        assert_eq!(load.run(folder.read("metrics.ndjson")).0, ANSWER);
    }
}

#[test]
fn messages_of_kafka_are_loaded_and_asked() {
    let (kafka, folder) = (Kafka::shared(), Folder::new());
    let host = kafka.host();
    let sink = format!("[sink.vid]\nkind = \"kafka\"\nbrokers = [\"{host}\"]\ntopic = \"olap\"\n");
    let ingress = Ingress::start(&folder, &config(&sink, "sink = \"vid\""));
    send(&ingress);
    assert!(ingress.stop().0.success());
    for _ in 0..2 {
        let load = deployed("olap/load.py").and(&[
            &folder.at("vid.duckdb"),
            "--kafka",
            &host,
            "--topic",
            "olap",
        ]);
        assert_eq!(load.run("").0, ANSWER);
    }
}
