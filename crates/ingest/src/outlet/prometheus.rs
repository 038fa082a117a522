//! Windows as samples of Prometheus, by its remote write protocol, version 1: messages of Protobuf
//! in snappy's block format, one request after the other, so that samples of a series stay in
//! order. Each sum of a window is a sample at the window's end.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use prost::Message;
use reqwest::{Client, Response, StatusCode};
use tokio::runtime::{Builder, Runtime};

use super::{Outlet, Sent, end_ms};
use crate::config::PrometheusSettings;
use crate::metric::Window;
use crate::metrics::label;
use crate::sink::SinkError;

/// How long one request may take.
const REQUEST_TIME: Duration = Duration::from_secs(10);

/// How often it is looked whether to give a request up.
const TICK: Duration = Duration::from_millis(100);

/// The most bytes of an answer that are shown.
const ANSWER_SHOWN: usize = 300;

#[derive(Message)]
struct WriteRequest {
    #[prost(message, repeated, tag = "1")]
    timeseries: Vec<TimeSeries>,
}

#[derive(Message)]
struct TimeSeries {
    #[prost(message, repeated, tag = "1")]
    labels: Vec<Label>,
    #[prost(message, repeated, tag = "2")]
    samples: Vec<Sample>,
}

#[derive(Message)]
struct Label {
    #[prost(string, tag = "1")]
    name: String,
    #[prost(string, tag = "2")]
    value: String,
}

#[derive(Message)]
struct Sample {
    #[prost(double, tag = "1")]
    value: f64,
    #[prost(int64, tag = "2")]
    timestamp_ms: i64,
}

pub(super) struct Remote {
    url: String,
    labels: BTreeMap<String, String>,
    token_file: Option<PathBuf>,
    client: Client,
    runtime: Runtime,
}

impl Remote {
    pub(super) fn open(settings: &PrometheusSettings) -> Result<Remote, SinkError> {
        // Another part of the process may have chosen the same one before.
        let _chosen = rustls::crypto::ring::default_provider().install_default();
        let failed = |message: String| SinkError::Remote { place: settings.url.clone(), message };
        let client = Client::builder().timeout(REQUEST_TIME).user_agent("cinch").build();
        let client = client.map_err(|error| failed(because(&error)))?;
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| failed(error.to_string()))?;
        let mut labels = settings.labels.clone();
        // Two ingresses must not write the same series.
        labels
            .entry("instance".to_owned())
            .or_insert_with(|| rustix::system::uname().nodename().to_string_lossy().into_owned());
        let (url, token_file) = (settings.url.clone(), settings.token_file.clone());
        Ok(Remote { url, labels, token_file, client, runtime })
    }

    fn request(&self, windows: &[Window]) -> Vec<u8> {
        let mut timeseries = Vec::new();
        for window in windows {
            let sums = &window.sums;
            let mut samples = vec![("_count", None, sums.count as f64)];
            if sums.values > 0 {
                samples.push(("_sum", None, sums.sum));
                samples.push(("_min", None, sums.min));
                samples.push(("_max", None, sums.max));
            }
            for &share in &window.rule.quantiles {
                samples.extend(sums.quantile(share).map(|value| ("", Some(share), value)));
            }
            let series = |(ending, share, value): (&str, Option<f64>, f64)| TimeSeries {
                labels: self.labels(window, ending, share),
                samples: vec![Sample { value, timestamp_ms: end_ms(window) }],
            };
            timeseries.extend(samples.into_iter().map(series));
        }
        WriteRequest { timeseries }.encode_to_vec()
    }

    /// All labels of a series, in the order of their names, as the protocol asks for. A label of
    /// the record goes before one of the configuration.
    fn labels(&self, window: &Window, ending: &str, share: Option<f64>) -> Vec<Label> {
        let mut labels = self.labels.clone();
        labels.extend(window.parts().map(|(name, part)| (label(name), part.to_owned())));
        labels.extend(share.map(|share| ("quantile".to_owned(), share.to_string())));
        let name = format!("{}{ending}", label(&window.rule.name));
        labels.insert("__name__".to_owned(), name);
        // An empty label is none, and the protocol refuses it.
        labels.retain(|_, value| !value.is_empty());
        labels.into_iter().map(|(name, value)| Label { name, value }).collect()
    }

    fn failed(&self, message: String) -> SinkError {
        SinkError::Remote { place: self.url.clone(), message }
    }

    fn post(&self, body: Vec<u8>, is_over: &dyn Fn() -> bool) -> Result<Response, SinkError> {
        let mut request = self
            .client
            .post(&self.url)
            .header("Content-Encoding", "snappy")
            .header("Content-Type", "application/x-protobuf")
            .header("X-Prometheus-Remote-Write-Version", "0.1.0");
        if let Some(path) = &self.token_file {
            let token = fs::read_to_string(path)
                .map_err(|error| self.failed(format!("{}: {error}", path.display())))?;
            request = request.bearer_auth(token.trim());
        }
        self.runtime.block_on(async {
            // It looks for its runtime's clock as soon as it is made.
            let mut answer = std::pin::pin!(request.body(body).send());
            loop {
                match tokio::time::timeout(TICK, &mut answer).await {
                    Ok(answer) => return answer.map_err(|error| self.failed(because(&error))),
                    Err(_) if is_over() => {
                        return Err(SinkError::Stopped { place: self.url.clone() });
                    }
                    Err(_) => {}
                }
            }
        })
    }
}

impl Outlet for Remote {
    /// A request is taken or refused whole.
    fn send(&mut self, windows: &[Window], is_over: &dyn Fn() -> bool) -> Sent {
        match self.write(windows, is_over) {
            Ok(()) => Sent { taken: windows.len(), refused: 0, error: None },
            Err(error @ SinkError::Refused { .. }) => {
                Sent { taken: 0, refused: windows.len(), error: Some(error) }
            }
            Err(error) => Sent { taken: 0, refused: 0, error: Some(error) },
        }
    }
}

impl Remote {
    fn write(&self, windows: &[Window], is_over: &dyn Fn() -> bool) -> Result<(), SinkError> {
        let body = snap::raw::Encoder::new().compress_vec(&self.request(windows));
        let body = body.map_err(|error| self.failed(error.to_string()))?;
        let answer = self.post(body, is_over)?;
        let status = answer.status();
        if status.is_success() {
            return Ok(());
        }
        let text = self.runtime.block_on(answer.text()).unwrap_or_default();
        let shown = &text.trim()[..text.trim().floor_char_boundary(ANSWER_SHOWN)];
        let message = format!("{status}: {shown}");
        // The protocol: what is the request's fault would fail again; the rest may not.
        if status.is_client_error() && status != StatusCode::TOO_MANY_REQUESTS {
            return Err(SinkError::Refused { place: self.url.clone(), message });
        }
        Err(self.failed(message))
    }
}

/// An error with what it came from, which is where the reason is.
fn because(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(error.source(), |cause| cause.source());
    causes.fold(error.to_string(), |text, cause| format!("{text}: {cause}"))
}
