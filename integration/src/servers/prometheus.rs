//! Prometheus, which takes samples by remote write and is asked for them by its own language. It
//! listens on a free port and keeps its data in a folder that goes with it.

use std::fs;
use std::path::Path;
use std::process::Command;

use rustix::process::Signal;
use serde_json::Value;

use super::daemon::{Daemon, closed_port};
use crate::http::{http, percent_encoded};

/// A server with an empty store.
pub struct Prometheus(Daemon);

impl Prometheus {
    /// Starts a server.
    pub fn start() -> Prometheus {
        Prometheus::start_on(closed_port())
    }

    /// Starts one on this port.
    pub fn start_on(port: u16) -> Prometheus {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let command = |folder: &Path, port: u16| {
            let config = folder.join("prometheus.yml");
            fs::write(&config, "{}").expect("the folder takes a file");
            let mut command = Command::new("prometheus");
            command.arg("--web.enable-remote-write-receiver");
            command.arg(format!("--config.file={}", config.display()));
            command.arg(format!("--storage.tsdb.path={}", folder.join("data").display()));
            command.arg(format!("--web.listen-address=127.0.0.1:{port}"));
            command
        };
        let answers = |_: &Path, port: u16| {
            http(port, "GET", "/-/ready", &[]).is_some_and(|(code, _)| code == 200)
        };
        Prometheus(Daemon::start_on(port, folder, Signal::TERM, command, answers))
    }

    /// Where samples are written to.
    pub fn write_url(&self) -> String {
        format!("http://127.0.0.1:{}/api/v1/write", self.0.port())
    }

    /// What an expression gives now: the labels and the value of each series.
    #[track_caller]
    pub fn query(&self, expression: &str) -> Vec<(Value, f64)> {
        let path = format!("/api/v1/query?query={}", percent_encoded(expression));
        let (code, body) = http(self.0.port(), "GET", &path, &[]).expect("it answers");
        assert_eq!(code, 200, "{}", String::from_utf8_lossy(&body));
        let answer: Value = serde_json::from_slice(&body).expect("the answer is JSON");
        let series = answer["data"]["result"].as_array().expect("a list of series").iter();
        let value = |row: &Value| row["value"][1].as_str().and_then(|text| text.parse().ok());
        series.map(|row| (row["metric"].clone(), value(row).expect("a number"))).collect()
    }
}
