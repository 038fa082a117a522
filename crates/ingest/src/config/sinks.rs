//! Sinks in the configuration: what each kind needs, what it may have, and what it has if nothing
//! is said. A key that another kind of sink has is refused, because it would do nothing here.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::Deserialize;
use toml::Spanned;

use super::{Bytes, ConfigError, Fsync, KafkaKey, Lines, MetricForm};
use crate::limits::{OBJECT_BYTES, OBJECT_BYTES_MAX, OBJECT_S, OBJECT_S_MAX};

/// A file is closed when it has this many bytes, unless the sink says otherwise.
const ROTATE_BYTES: u64 = 256 << 20;

/// A file is closed after this many seconds, unless the sink says otherwise; it is never open
/// longer than the hour that it is of.
const ROTATE_S: u64 = 300;

/// Settings of librdkafka that a configuration may not change, because promises depend on them.
const KAFKA_FIXED: &[&str] = &[
    "acks",
    "bootstrap.servers",
    "enable.idempotence",
    "message.timeout.ms",
    "delivery.timeout.ms",
    "queue.buffering.max.kbytes",
    "request.required.acks",
    "metadata.broker.list",
];

/// Where batches or windows go.
#[derive(Debug, Clone, PartialEq)]
pub enum SinkKind {
    /// Files in a folder.
    Filer(FilerSettings),
    /// The text of the records on standard output.
    Stdout,
    /// Nowhere; for measurements of what is before it.
    Nowhere,
    /// Messages of a topic.
    Kafka(KafkaSettings),
    /// Objects of a bucket.
    S3(S3Settings),
    /// Samples by Prometheus' remote write; of metrics only.
    Prometheus(PrometheusSettings),
}

/// How the filer writes.
#[derive(Debug, Clone, PartialEq)]
pub struct FilerSettings {
    /// The folder; made when it is not there.
    pub directory: PathBuf,
    /// A file is closed when it has this many bytes.
    pub rotate_bytes: u64,
    /// A file is closed when it is this old, in seconds.
    pub rotate_s: u64,
    /// When files are told to reach the disk.
    pub fsync: Fsync,
}

/// A topic of Kafka.
#[derive(Debug, Clone, PartialEq)]
pub struct KafkaSettings {
    /// `HOST:PORT` of some brokers, with commas between them.
    pub brokers: String,
    /// The topic.
    pub topic: String,
    /// What decides the partition of a batch.
    pub key: KafkaKey,
    /// How windows of metrics are written.
    pub form: MetricForm,
    /// Further settings of librdkafka, in its own words.
    pub options: BTreeMap<String, String>,
}

/// A bucket.
#[derive(Debug, Clone, PartialEq)]
pub struct S3Settings {
    /// Its name.
    pub bucket: String,
    /// What the names of all objects start with.
    pub prefix: String,
    /// The region; with none, that of the environment.
    pub region: Option<String>,
    /// Where to send requests, for what is not AWS.
    pub endpoint: Option<String>,
    /// An object is written when it has this many bytes.
    pub object_bytes: usize,
    /// An object is written when its oldest batch is this old, in seconds.
    pub object_s: u64,
}

/// A receiver of Prometheus' remote write.
#[derive(Debug, Clone, PartialEq)]
pub struct PrometheusSettings {
    /// Where samples are posted to.
    pub url: String,
    /// Labels of every sample. `instance` is the name of this machine unless it is here.
    pub labels: BTreeMap<String, String>,
    /// A file with the token that requests carry; read for each of them, since tokens change.
    pub token_file: Option<PathBuf>,
}

/// A sink.
#[derive(Debug, Clone, PartialEq)]
pub struct Sink {
    /// Its name.
    pub name: String,
    /// What it is.
    pub kind: SinkKind,
}

impl SinkKind {
    /// Whether pools can have it.
    pub fn takes_batches(&self) -> bool {
        !matches!(self, SinkKind::Prometheus(_))
    }

    /// Whether metrics can have it.
    pub fn takes_metrics(&self) -> bool {
        matches!(self, SinkKind::Kafka(_) | SinkKind::Prometheus(_))
    }
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum KindName {
    Filer,
    Stdout,
    Nowhere,
    Kafka,
    S3,
    Prometheus,
}

/// A sink as the file has it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SinkSection {
    kind: KindName,
    directory: Option<PathBuf>,
    rotate: Option<Bytes>,
    rotate_s: Option<u64>,
    fsync: Option<Fsync>,
    brokers: Option<Vec<String>>,
    topic: Option<String>,
    key: Option<KafkaKey>,
    form: Option<MetricForm>,
    options: Option<BTreeMap<String, String>>,
    bucket: Option<String>,
    prefix: Option<String>,
    region: Option<String>,
    endpoint: Option<String>,
    object: Option<Bytes>,
    object_s: Option<u64>,
    url: Option<String>,
    labels: Option<BTreeMap<String, String>>,
    token_file: Option<PathBuf>,
}

/// Validates all sinks; they are in the order of their names.
pub(super) fn sinks(
    sections: BTreeMap<String, Spanned<SinkSection>>,
    lines: &Lines,
) -> Result<Vec<Sink>, ConfigError> {
    let mut sinks = Vec::new();
    for (name, section) in sections {
        let at = section.span().start;
        let mut section = section.into_inner();
        let kind = section.take().map_err(|message| lines.wrong(at, message))?;
        if let Some(key) = section.left_over() {
            let message = format!("a sink of this kind has no {key}; remove it");
            return Err(lines.wrong(at, message));
        }
        sinks.push(Sink { name, kind });
    }
    Ok(sinks)
}

impl SinkSection {
    /// Takes what the kind needs and may have out of the section.
    fn take(&mut self) -> Result<SinkKind, String> {
        Ok(match self.kind {
            KindName::Filer => {
                let directory = self.directory.take().ok_or("a filer needs a directory")?;
                SinkKind::Filer(FilerSettings {
                    directory,
                    rotate_bytes: self.rotate.take().map_or(ROTATE_BYTES, |rotate| rotate.0),
                    rotate_s: self.rotate_s.take().unwrap_or(ROTATE_S),
                    fsync: self.fsync.take().unwrap_or(Fsync::Close),
                })
            }
            KindName::Stdout => SinkKind::Stdout,
            KindName::Nowhere => SinkKind::Nowhere,
            KindName::Kafka => SinkKind::Kafka(self.kafka()?),
            KindName::S3 => SinkKind::S3(self.s3()?),
            KindName::Prometheus => SinkKind::Prometheus(self.prometheus()?),
        })
    }

    fn kafka(&mut self) -> Result<KafkaSettings, String> {
        let brokers = self.brokers.take().unwrap_or_default();
        if brokers.is_empty() {
            return Err("a kafka sink needs brokers = [\"HOST:9092\"]".to_owned());
        }
        let options = self.options.take().unwrap_or_default();
        if let Some(fixed) = options.keys().find(|key| KAFKA_FIXED.contains(&key.as_str())) {
            return Err(format!("the option {fixed} is set by cinch; remove it"));
        }
        Ok(KafkaSettings {
            brokers: brokers.join(","),
            topic: self.topic.take().ok_or("a kafka sink needs a topic")?,
            key: self.key.take().unwrap_or(KafkaKey::Pool),
            form: self.form.take().unwrap_or(MetricForm::Json),
            options,
        })
    }

    fn s3(&mut self) -> Result<S3Settings, String> {
        let object = self.object.take().map_or(Ok(OBJECT_BYTES), |bytes| usize::try_from(bytes.0));
        let object_bytes = object.ok().filter(|bytes| (1..=OBJECT_BYTES_MAX).contains(bytes));
        let object_s = self.object_s.take().unwrap_or(OBJECT_S);
        if object_s > OBJECT_S_MAX {
            return Err(format!("object_s is at most {OBJECT_S_MAX}"));
        }
        Ok(S3Settings {
            bucket: self.bucket.take().ok_or("an s3 sink needs a bucket")?,
            prefix: self.prefix.take().unwrap_or_default(),
            region: self.region.take(),
            endpoint: self.endpoint.take(),
            object_bytes: object_bytes
                .ok_or_else(|| format!("an object has 1 to {OBJECT_BYTES_MAX} bytes"))?,
            object_s,
        })
    }

    fn prometheus(&mut self) -> Result<PrometheusSettings, String> {
        let url = self.url.take().unwrap_or_default();
        if !(url.starts_with("http://") || url.starts_with("https://")) {
            let example = "\"http://HOST:9090/api/v1/write\"";
            return Err(format!("a prometheus sink needs url = {example}"));
        }
        let labels = self.labels.take().unwrap_or_default();
        let is_label = |name: &&String| {
            let mut letters = name.bytes();
            letters.next().is_some_and(|first| first.is_ascii_alphabetic() || first == b'_')
                && letters.all(|letter| letter.is_ascii_alphanumeric() || letter == b'_')
        };
        if let Some(label) = labels.keys().find(|name| !is_label(name)) {
            return Err(format!("{label:?} is no name of a label: letters, digits and _ only"));
        }
        Ok(PrometheusSettings { url, labels, token_file: self.token_file.take() })
    }

    /// A key that the kind did not take.
    fn left_over(&self) -> Option<&'static str> {
        let keys = [
            ("directory", self.directory.is_some()),
            ("rotate", self.rotate.is_some()),
            ("rotate_s", self.rotate_s.is_some()),
            ("fsync", self.fsync.is_some()),
            ("brokers", self.brokers.is_some()),
            ("topic", self.topic.is_some()),
            ("key", self.key.is_some()),
            ("form", self.form.is_some()),
            ("options", self.options.is_some()),
            ("bucket", self.bucket.is_some()),
            ("prefix", self.prefix.is_some()),
            ("region", self.region.is_some()),
            ("endpoint", self.endpoint.is_some()),
            ("object", self.object.is_some()),
            ("object_s", self.object_s.is_some()),
            ("url", self.url.is_some()),
            ("labels", self.labels.is_some()),
            ("token_file", self.token_file.is_some()),
        ];
        keys.iter().find(|(_, is_left)| *is_left).map(|(key, _)| *key)
    }
}
