//! The sink that writes to Prometheus, against one that really runs: its own language finds the
//! heartbeats with their values, and what was counted while it was gone comes later.

use std::io::Write;
use std::thread;
use std::time::{Duration, Instant};

use cinch_integration::{Folder, Ingress, Prometheus, closed_port};
use serde_json::Value;

const PATIENCE: Duration = Duration::from_secs(60);

fn config(url: &str) -> String {
    format!(
        "[sink.files]
kind = \"filer\"
directory = \"logs\"
[sink.heartbeats]
kind = \"prometheus\"
url = \"{url}\"
labels = {{ site = \"test\" }}
[[listener]]
name = \"lines\"
protocol = \"lines\"
address = \"127.0.0.1:0\"
pool = \"web\"
[[metric]]
name = \"heartbeat.load\"
contains = \"HEARTBEAT\"
matches = \"HEARTBEAT host=(\\\\S*) load=([0-9.]+)\"
key = [\"pool\", \"1\"]
value = \"2\"
quantiles = [0.5]
window_s = 1
sink = \"heartbeats\"
"
    )
}

/// The sum of a series over all its windows, once it is there.
#[track_caller]
fn wait_for(prometheus: &Prometheus, expression: &str, value: f64) -> Value {
    let start = Instant::now();
    loop {
        let found = prometheus.query(expression);
        if let Some((labels, _)) = found.iter().find(|(_, found)| *found == value) {
            return labels.clone();
        }
        assert!(start.elapsed() < PATIENCE, "{expression} stays at {found:?}");
        thread::yield_now();
    }
}

fn send(ingress: &Ingress) {
    let mut stream = ingress.connect("lines");
    for load in 1..=10 {
        let host = if load % 2 == 0 { "a" } else { "b" };
        let line = format!("HEARTBEAT host={host} load={load}.5\nsomething else\n");
        stream.write_all(line.as_bytes()).unwrap();
    }
}

#[test]
fn heartbeats_are_samples_that_prometheus_finds() {
    let (prometheus, folder) = (Prometheus::start(), Folder::new());
    let ingress = Ingress::start(&folder, &config(&prometheus.write_url()));
    send(&ingress);
    let of_a = "sum_over_time(heartbeat_load_sum{_1=\"a\",pool=\"web\",site=\"test\"}[5m])";
    let labels = wait_for(&prometheus, of_a, 32.5);
    assert!(!labels["instance"].as_str().unwrap().is_empty(), "{labels}");
    wait_for(&prometheus, "sum_over_time(heartbeat_load_count{_1=\"b\"}[5m])", 5.0);
    wait_for(&prometheus, "max_over_time(heartbeat_load_max{_1=\"a\"}[5m])", 10.5);
    let median = prometheus.query("last_over_time(heartbeat_load{quantile=\"0.5\",_1=\"b\"}[5m])");
    assert!((1.5..=9.5).contains(&median[0].1), "{median:?}");
    assert!(ingress.metric("windows_sent_total", "\"heartbeats\"") >= 2.0);
    assert_eq!(ingress.metric("windows_dropped_total", ""), 0.0);
    assert!(ingress.stop().0.success());
}

#[test]
fn windows_wait_while_prometheus_is_gone_and_an_end_writes_those_that_are_open() {
    let (port, folder) = (closed_port(), Folder::new());
    let url = format!("http://127.0.0.1:{port}/api/v1/write");
    let ingress = Ingress::start(&folder, &config(&url));
    send(&ingress);
    ingress.wait_for("write_failures_total", "\"heartbeats\"", 1.0);
    ingress.wait_for("windows_waiting", "\"heartbeats\"", 2.0);
    let prometheus = Prometheus::start_on(port);
    wait_for(&prometheus, "sum_over_time(heartbeat_load_sum{_1=\"b\"}[5m])", 27.5);
    send(&ingress);
    ingress.wait_for("written_records_total", "\"web\"", 40.0);
    let (status, said) = ingress.stop();
    assert!(status.success(), "{said:?}");
    wait_for(&prometheus, "sum(sum_over_time(heartbeat_load_count[5m]))", 20.0);
    assert!(said.iter().any(|line| line.contains(&url)), "nobody is told: {said:?}");
}
