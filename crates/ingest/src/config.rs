//! The configuration: one TOML file, validated whole before anything is opened. Whatever is wrong
//! with it is told with the line it is wrong in, because nobody reads a page of TOML twice.
//!
//! What the keys mean is in spec/ingest.md.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};
use std::net::SocketAddr;
use std::num::NonZeroU64;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Deserialize;
use toml::Spanned;

use crate::budget;
use crate::limits::{
    BATCH_BYTES, BATCH_BYTES_MAX, CONFIG_BYTES_MAX, CONNECTIONS_MAX, LINGER_MS, MEMORY_BYTES,
    MEMORY_BYTES_MIN, POOL_NAME_BYTES_MAX, THREADS_MAX,
};
use crate::metric::{MetricRule, MetricSection};

mod choices;
mod listener;
mod reload;
mod sinks;
mod size;
#[cfg(test)]
mod tests;
mod tls;

pub use choices::{
    AckWhen, BatchForm, Compression, Fsync, KafkaKey, MetricForm, Protocol, WhenSlow,
};
pub use listener::{Address, Listener};
pub use sinks::{FilerSettings, KafkaSettings, PrometheusSettings, S3Settings, Sink, SinkKind};
pub use size::Bytes;

use listener::ListenerSection;
use sinks::{SinkSection, sinks};

/// The pool whose settings hold for every pool that has none of its own.
pub const DEFAULT_POOL: &str = "default";

/// Why a configuration can't be used.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The file can't be read.
    #[error("{path}: {error}")]
    File {
        /// The file.
        path: String,
        /// What the system said.
        error: io::Error,
    },
    /// A line of it is wrong.
    #[error("{path}:{line}: {message}: {text}")]
    Line {
        /// The file.
        path: String,
        /// Its line, from 1.
        line: usize,
        /// What is wrong with it.
        message: String,
        /// The line itself.
        text: String,
    },
    /// Something is missing altogether.
    #[error("{path}: {message}")]
    Whole {
        /// The file.
        path: String,
        /// What is missing, and what to write.
        message: String,
    },
}

/// How the records of one pool are kept.
#[derive(Debug, Clone, PartialEq)]
pub struct PoolSettings {
    /// The name of its sink.
    pub sink: String,
    /// What happens when the sink is slow.
    pub when_slow: WhenSlow,
    /// The most bytes of compressed batches of this pool that wait in memory for the sink.
    pub quota_bytes: usize,
    /// The text of a batch is compressed when it has this many bytes.
    pub batch_bytes: usize,
    /// The longest that a record waits for its batch to fill, in milliseconds.
    pub linger_ms: u64,
    /// The level of zstd.
    pub level: i32,
    /// When clients that wait for it are told.
    pub ack_when: AckWhen,
    /// The most bytes of this pool that were read and wait for a worker.
    pub queue_quota_bytes: usize,
    /// The most connections of this pool; further ones are closed and counted.
    pub connections_max: u64,
    /// The most bytes of this pool that are taken in a second, if they are limited.
    pub rate_limit: Option<NonZeroU64>,
    /// Whether batches have a filter, by which a search passes over them.
    pub has_filter: bool,
    /// How the text of a batch is stored.
    pub form: BatchForm,
}

/// A configuration that was validated.
#[derive(Debug, Clone)]
pub struct Config {
    /// The budget that chunks, queues, open batches and rings are carved from, in bytes.
    pub memory_bytes: usize,
    /// Threads that read from sockets.
    pub readers: usize,
    /// Threads that cut, batch and compress.
    pub workers: usize,
    /// Where `/metrics` and `/healthz` are served, if they are.
    pub status: Option<SocketAddr>,
    /// The folder of what waits for slow sinks; needed by pools that spill.
    pub spill: Option<SpillSettings>,
    /// The listeners; at least one.
    pub listeners: Vec<Listener>,
    /// The sinks; at least one.
    pub sinks: Vec<Sink>,
    /// The settings of pools that have none of their own.
    pub default_pool: PoolSettings,
    /// The settings of pools by name.
    pub pools: BTreeMap<String, PoolSettings>,
    /// Metrics that are taken from records.
    pub metrics: Vec<Arc<MetricRule>>,
}

/// Where batches wait on disk.
#[derive(Debug, Clone, PartialEq)]
pub struct SpillSettings {
    /// The folder; made when it is not there.
    pub directory: PathBuf,
    /// The most bytes that wait there; what is above is dropped and counted.
    pub limit_bytes: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Sections {
    memory: Option<Spanned<Bytes>>,
    readers: Option<Spanned<usize>>,
    workers: Option<Spanned<usize>>,
    status: Option<SocketAddr>,
    spill: Option<SpillSection>,
    #[serde(default)]
    listener: Vec<ListenerSection>,
    #[serde(default)]
    sink: BTreeMap<String, Spanned<SinkSection>>,
    #[serde(default)]
    pool: BTreeMap<Spanned<String>, PoolSection>,
    #[serde(default)]
    metric: Vec<Spanned<MetricSection>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SpillSection {
    directory: PathBuf,
    limit: Option<Bytes>,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
struct PoolSection {
    sink: Option<Spanned<String>>,
    when_slow: Option<Spanned<WhenSlow>>,
    quota: Option<Spanned<Bytes>>,
    batch: Option<Spanned<Bytes>>,
    linger_ms: Option<u64>,
    level: Option<Spanned<i32>>,
    ack_when: Option<AckWhen>,
    queue_quota: Option<Spanned<Bytes>>,
    connections_max: Option<u64>,
    rate_limit_bytes_per_second: Option<Spanned<Bytes>>,
    filter: Option<bool>,
    form: Option<BatchForm>,
}

/// What may wait on disk unless the configuration says otherwise, in bytes.
const SPILL_BYTES: u64 = 10 << 30;

impl Config {
    /// Reads and validates a file.
    pub fn read(path: &Path) -> Result<Config, ConfigError> {
        let name = path.display().to_string();
        let failed = |error| ConfigError::File { path: name.clone(), error };
        let mut text = String::new();
        let file = File::open(path).map_err(failed)?;
        file.take(CONFIG_BYTES_MAX).read_to_string(&mut text).map_err(failed)?;
        Config::parse(&name, &text)
    }

    /// Validates the text of a file of this name.
    pub fn parse(path: &str, text: &str) -> Result<Config, ConfigError> {
        let lines = Lines { path, text };
        let file: Sections = toml::from_str(text).map_err(|error| {
            let message = error.message().replace('\n', " ");
            lines.wrong(error.span().map_or(0, |span| span.start), message)
        })?;
        file.validate(&lines)
    }

    /// The settings of a pool.
    pub fn pool(&self, name: &str) -> &PoolSettings {
        self.pools.get(name).unwrap_or(&self.default_pool)
    }
}

/// The text that is validated, for messages that show a line of it.
struct Lines<'a> {
    path: &'a str,
    text: &'a str,
}

impl Lines<'_> {
    fn wrong(&self, offset: usize, message: impl Into<String>) -> ConfigError {
        let before = self.text.get(..offset).unwrap_or(self.text);
        let start = before.rfind('\n').map_or(0, |at| at + 1);
        let line = before.matches('\n').count() + 1;
        let text = self.text[start..].lines().next().unwrap_or("").trim().to_owned();
        ConfigError::Line { path: self.path.to_owned(), line, message: message.into(), text }
    }

    fn missing(&self, message: &str) -> ConfigError {
        ConfigError::Whole { path: self.path.to_owned(), message: message.to_owned() }
    }
}

impl Sections {
    fn validate(self, lines: &Lines) -> Result<Config, ConfigError> {
        let memory_bytes = match &self.memory {
            None => MEMORY_BYTES,
            Some(memory) => {
                let bytes = usize::try_from(memory.as_ref().0).unwrap_or(usize::MAX);
                if bytes < MEMORY_BYTES_MIN {
                    let least = format!("memory is at least {} MiB", MEMORY_BYTES_MIN >> 20);
                    return Err(lines.wrong(memory.span().start, least));
                }
                bytes
            }
        };
        let spill = self.spill.map(|spill| SpillSettings {
            directory: spill.directory,
            limit_bytes: spill.limit.map_or(SPILL_BYTES, |limit| limit.0),
        });
        let sinks = sinks(self.sink, lines)?;
        let of_metrics: Vec<&String> =
            self.metric.iter().filter_map(|metric| metric.as_ref().sink()).collect();
        let is_of_pools =
            |sink: &&Sink| sink.kind.takes_batches() && !of_metrics.contains(&&sink.name);
        let Some(first) = sinks.iter().find(is_of_pools) else {
            let message = "no sink; write [sink.files] with kind = \"filer\" and a directory";
            return Err(lines.missing(message));
        };
        let base = PoolSettings {
            sink: first.name.clone(),
            when_slow: WhenSlow::Drop,
            quota_bytes: memory_bytes / 4,
            batch_bytes: BATCH_BYTES,
            linger_ms: LINGER_MS,
            level: 1,
            ack_when: AckWhen::Written,
            queue_quota_bytes: budget::queue_quota_bytes(memory_bytes),
            connections_max: CONNECTIONS_MAX as u64,
            rate_limit: None,
            has_filter: false,
            form: BatchForm::Plain,
        };
        let has_spill = spill.is_some();
        let context = PoolContext { sinks: &sinks, of_metrics, has_spill, memory_bytes, lines };
        let mut sections = self.pool;
        let own = sections.keys().find(|name| name.as_ref() == DEFAULT_POOL).cloned();
        let default_pool = match own.and_then(|name| sections.remove(&name)) {
            Some(section) => context.settings(section, &base)?,
            None => base,
        };
        let mut pools = BTreeMap::new();
        for (name, section) in sections {
            pool_name(&name, lines)?;
            pools.insert(name.into_inner(), context.settings(section, &default_pool)?);
        }
        let listeners: Result<Vec<Listener>, ConfigError> =
            self.listener.into_iter().map(|listener| listener.validate(lines)).collect();
        let listeners = listeners?;
        if listeners.is_empty() {
            let message = "no listener; write [[listener]] with a protocol and an address";
            return Err(lines.missing(message));
        }
        let mut metrics = Vec::new();
        for metric in self.metric {
            let at = metric.span().start;
            let rule = metric.into_inner().validate();
            let rule = rule.map_err(|error| lines.wrong(at, error.to_string()))?;
            if let Some(name) = &rule.sink {
                metric_sink(name, &sinks).map_err(|message| lines.wrong(at, message))?;
            }
            metrics.push(Arc::new(rule));
        }
        Ok(Config {
            memory_bytes,
            readers: threads(self.readers, 1, lines)?,
            workers: threads(self.workers, processors(), lines)?,
            status: self.status,
            spill,
            listeners,
            sinks,
            default_pool,
            pools,
            metrics,
        })
    }
}

/// Whether metrics can go there; what to write instead where they can't.
fn metric_sink(name: &str, sinks: &[Sink]) -> Result<(), String> {
    match sinks.iter().find(|sink| sink.name == name) {
        Some(sink) if sink.kind.takes_metrics() => Ok(()),
        Some(_) => Err(format!("{name} takes no metrics; kafka and prometheus sinks do")),
        None => Err(format!("no sink is called {name}; write [sink.{name}]")),
    }
}

fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from).min(THREADS_MAX)
}

fn threads(
    asked: Option<Spanned<usize>>,
    otherwise: usize,
    lines: &Lines,
) -> Result<usize, ConfigError> {
    let Some(asked) = asked else { return Ok(otherwise) };
    let at = asked.span().start;
    match asked.into_inner() {
        count @ 1..=THREADS_MAX => Ok(count),
        _ => Err(lines.wrong(at, format!("there may be 1 to {THREADS_MAX} threads"))),
    }
}

/// What the settings of a pool may refer to.
struct PoolContext<'a> {
    sinks: &'a [Sink],
    of_metrics: Vec<&'a String>,
    has_spill: bool,
    memory_bytes: usize,
    lines: &'a Lines<'a>,
}

impl PoolContext<'_> {
    fn settings(
        &self,
        section: PoolSection,
        otherwise: &PoolSettings,
    ) -> Result<PoolSettings, ConfigError> {
        let mut settings = otherwise.clone();
        if let Some(sink) = section.sink {
            let is_known = |known: &&Sink| {
                known.kind.takes_batches() && !self.of_metrics.contains(&&known.name)
            };
            let known = self.sinks.iter().filter(is_known);
            let names: Vec<&str> = known.map(|sink| sink.name.as_str()).collect();
            if !names.contains(&sink.as_ref().as_str()) {
                let message = format!("no such sink of pools; there are {}", names.join(", "));
                return Err(self.lines.wrong(sink.span().start, message));
            }
            settings.sink = sink.into_inner();
        }
        if let Some(when_slow) = section.when_slow {
            if *when_slow.as_ref() == WhenSlow::Spill && !self.has_spill {
                let message = "spill needs a folder; write [spill] with a directory";
                return Err(self.lines.wrong(when_slow.span().start, message));
            }
            settings.when_slow = when_slow.into_inner();
        }
        if let Some(quota) = section.quota {
            settings.quota_bytes = usize::try_from(quota.as_ref().0).unwrap_or(usize::MAX);
        }
        if let Some(batch) = section.batch {
            settings.batch_bytes = match usize::try_from(batch.as_ref().0) {
                Ok(bytes @ 1..=BATCH_BYTES_MAX) => bytes,
                _ => {
                    let message = format!("a batch has 1 to {BATCH_BYTES_MAX} bytes");
                    return Err(self.lines.wrong(batch.span().start, message));
                }
            };
        }
        if let Some(level) = section.level {
            let range = zstd_safe::min_c_level()..=zstd_safe::max_c_level();
            if !range.contains(level.as_ref()) {
                let message = format!("zstd has levels {} to {}", range.start(), range.end());
                return Err(self.lines.wrong(level.span().start, message));
            }
            settings.level = level.into_inner();
        }
        if let Some(quota) = section.queue_quota {
            let most = budget::chunk_bytes(self.memory_bytes);
            settings.queue_quota_bytes = match usize::try_from(quota.as_ref().0) {
                Ok(bytes) if (1..=most).contains(&bytes) => bytes,
                _ => {
                    let message = format!("of this memory, {most} bytes are for the first queue");
                    return Err(self.lines.wrong(quota.span().start, message));
                }
            };
        }
        settings.rate_limit = match section.rate_limit_bytes_per_second {
            None => settings.rate_limit,
            Some(limit) => Some(rate_limit(&limit, self.lines)?),
        };
        settings.connections_max = section.connections_max.unwrap_or(settings.connections_max);
        settings.ack_when = section.ack_when.unwrap_or(settings.ack_when);
        settings.has_filter = section.filter.unwrap_or(settings.has_filter);
        settings.form = section.form.unwrap_or(settings.form);
        settings.linger_ms = section.linger_ms.unwrap_or(settings.linger_ms);
        Ok(settings)
    }
}

/// A limit of bytes in a second, which is at least one.
fn rate_limit(limit: &Spanned<Bytes>, lines: &Lines) -> Result<NonZeroU64, ConfigError> {
    let none = || lines.wrong(limit.span().start, "a limit of 0 takes nothing; remove it");
    NonZeroU64::new(limit.as_ref().0).ok_or_else(none)
}

fn pool_name(name: &Spanned<String>, lines: &Lines) -> Result<(), ConfigError> {
    let is_fine = !name.as_ref().is_empty() && name.as_ref().len() <= POOL_NAME_BYTES_MAX;
    if is_fine {
        return Ok(());
    }
    let message = format!("a pool's name has 1 to {POOL_NAME_BYTES_MAX} bytes");
    Err(lines.wrong(name.span().start, message))
}
