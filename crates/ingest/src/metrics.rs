//! Counters of the ingress itself, and their text form for Prometheus. What is measured is named
//! after the article's formulas where it has them.

use std::collections::HashMap;
use std::fmt::Write;
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::config::Config;
use crate::histogram::Histogram;
use crate::ingress::Shared;
use crate::pool::{Amount, DropReason};
use crate::rate::Rate;

/// What happened at a listener.
#[derive(Debug, Default)]
pub struct ListenerMetrics {
    /// Connections that were accepted.
    pub accepted: AtomicU64,
    /// Connections that are open.
    pub open: AtomicU64,
    /// Connections that were closed at once, because there were too many.
    pub turned_away: AtomicU64,
    /// Connections that were closed for what they sent.
    pub refused: AtomicU64,
    /// Connections that were closed because incomplete records had used up their memory.
    pub starved: AtomicU64,
    /// Connections that ended inside a record.
    pub cut_off: AtomicU64,
    /// Reads that gave bytes.
    pub reads: AtomicU64,
    /// Bytes that were read.
    pub read_bytes: AtomicU64,
    /// How long bytes may have waited in a socket: since the last read of the connection, or since
    /// the system was last asked, whichever is less.
    pub read_interval: Histogram,
    /// Datagrams that were longer than a record may be, and were cut.
    pub datagrams_truncated: AtomicU64,
    /// Datagrams that the system dropped because its buffer was full.
    pub datagrams_lost: AtomicU64,
    /// Connections that were closed in their TLS handshake, or for what they sent encrypted.
    pub handshakes_failed: AtomicU64,
    /// Reads that were put off because client or pool were above their limit of bytes in a second.
    pub paced_reads: AtomicU64,
    /// Connections by the address of their client.
    pub clients: Clients,
}

/// How many connections each client has, and what they sent, where that is limited.
#[derive(Debug, Default)]
pub struct Clients {
    known: Mutex<HashMap<IpAddr, Known>>,
}

#[derive(Debug, Default)]
struct Known {
    connections: usize,
    rate: Arc<Rate>,
}

impl Clients {
    /// Counts a connection, unless the client has as many as it may.
    pub fn takes_one_more(&self, client: IpAddr, most: usize) -> bool {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let known = known.entry(client).or_default();
        let has_room = known.connections < most;
        known.connections += usize::from(has_room);
        has_room
    }

    /// What the connections of a client share, while it has any.
    pub fn rate(&self, client: IpAddr) -> Option<Arc<Rate>> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(&client).map(|known| Arc::clone(&known.rate))
    }

    /// A connection of the client is gone.
    pub fn gave_one_back(&self, client: IpAddr) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(one) = known.get_mut(&client) {
            one.connections = one.connections.saturating_sub(1);
            if one.connections == 0 && one.rate.is_even() {
                known.remove(&client);
            }
        }
    }

    /// Forgets those without a connection whose limit is not used up any more: until then a client
    /// that connects again is the same one.
    pub fn forget(&self) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.retain(|_, one| one.connections > 0 || !one.rate.is_even());
    }
}

/// What happened at a sink.
#[derive(Debug, Default)]
pub struct SinkMetrics {
    /// Writes that failed; they are tried again, or what they held is counted as dropped.
    pub failures: AtomicU64,
    /// Lines of windows that it has taken.
    pub windows_sent: AtomicU64,
    /// Lines of windows that it did not take, or that found no room before it.
    pub windows_dropped: AtomicU64,
}

/// What happened, as far as it belongs to no pool.
#[derive(Debug)]
pub struct Metrics {
    /// By the listener's place in the configuration.
    pub listeners: Vec<ListenerMetrics>,
    /// From the first read of a chunk to its worker.
    pub queue_time: Histogram,
    /// Turns of a reader that ended for want of memory to read into.
    pub starved_turns: AtomicU64,
    /// By the sink's place in the configuration.
    pub sinks: Vec<SinkMetrics>,
    /// Which configuration holds: 1 for that of the start, one more for each that was taken since.
    pub generation: AtomicU64,
    /// Configurations that were read while running and refused.
    pub reloads_refused: AtomicU64,
    /// Nothing will be counted any more.
    pub is_over: AtomicBool,
}

impl Metrics {
    /// Nothing has happened yet.
    pub fn new(config: &Config) -> Metrics {
        Metrics {
            listeners: config.listeners.iter().map(|_| ListenerMetrics::default()).collect(),
            queue_time: Histogram::default(),
            starved_turns: AtomicU64::new(0),
            sinks: config.sinks.iter().map(|_| SinkMetrics::default()).collect(),
            generation: AtomicU64::new(1),
            reloads_refused: AtomicU64::new(0),
            is_over: AtomicBool::new(false),
        }
    }
}

/// The quantiles that are shown of durations.
const QUANTILES: &[(&str, f64)] = &[("0.5", 0.5), ("0.99", 0.99), ("1", 1.0)];

/// Everything that is counted, in the text form of Prometheus.
pub fn exposition(shared: &Shared) -> String {
    let mut page = Page { text: String::new() };
    let load = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
    type OfListener = fn(&ListenerMetrics) -> &AtomicU64;
    let of_listeners: &[(&str, &str, &str, OfListener)] = &[
        ("connections_accepted_total", "counter", "Connections accepted.", |l| &l.accepted),
        ("connections_open", "gauge", "Connections open.", |l| &l.open),
        ("connections_turned_away_total", "counter", "Closed: too many.", |l| &l.turned_away),
        ("connections_refused_total", "counter", "Closed for what they sent.", |l| &l.refused),
        ("connections_starved_total", "counter", "Closed: no memory for parts.", |l| &l.starved),
        ("connections_cut_off_total", "counter", "Ended inside a record.", |l| &l.cut_off),
        ("reads_total", "counter", "Reads that gave bytes.", |l| &l.reads),
        ("read_bytes_total", "counter", "Bytes read.", |l| &l.read_bytes),
        ("datagrams_truncated_total", "counter", "Longer than record_max, and cut.", |l| {
            &l.datagrams_truncated
        }),
        ("datagrams_lost_total", "counter", "Dropped by the system: its buffer was full.", |l| {
            &l.datagrams_lost
        }),
        ("handshakes_failed_total", "counter", "Closed in TLS.", |l| &l.handshakes_failed),
        ("paced_reads_total", "counter", "Put off: above a limit of bytes in a second.", |l| {
            &l.paced_reads
        }),
    ];
    let listeners = || shared.config.listeners.iter().zip(&shared.metrics.listeners);
    for (name, kind, help, of) in of_listeners {
        page.family(name, kind, help);
        for (listener, metrics) in listeners() {
            page.value(name, &[("listener", &listener.name)], load(of(metrics)) as f64);
        }
    }
    page.family("read_interval_seconds", "summary", "How long bytes waited in a socket, at most.");
    for (listener, metrics) in listeners() {
        let labels = [("listener", listener.name.as_str())];
        page.summary("read_interval_seconds", &labels, &metrics.read_interval);
    }
    page.family("queue_time_seconds", "summary", "From a chunk's first read to its worker.");
    page.summary("queue_time_seconds", &[], &shared.metrics.queue_time);
    page.family("starved_turns_total", "counter", "Turns that ended for want of memory.");
    page.value("starved_turns_total", &[], load(&shared.metrics.starved_turns) as f64);
    type OfSink = fn(&SinkMetrics) -> &AtomicU64;
    let of_sinks: &[(&str, &str, OfSink)] = &[
        ("write_failures_total", "Writes that a sink did not take.", |s| &s.failures),
        ("windows_sent_total", "Lines of windows taken by a sink.", |s| &s.windows_sent),
        ("windows_dropped_total", "Lines of windows that no sink took.", |s| &s.windows_dropped),
    ];
    for (name, help, of) in of_sinks {
        page.family(name, "counter", help);
        for (sink, metrics) in shared.config.sinks.iter().zip(&shared.metrics.sinks) {
            page.value(name, &[("sink", &sink.name)], load(of(metrics)) as f64);
        }
    }
    page.family("windows_waiting", "gauge", "Lines of windows that wait for a sink.");
    for (sink, outgoing) in shared.config.sinks.iter().zip(&shared.outgoing) {
        page.value("windows_waiting", &[("sink", &sink.name)], outgoing.waiting() as f64);
    }
    page.family("configuration_generation", "gauge", "1 at the start, and 1 more a reload.");
    page.value("configuration_generation", &[], load(&shared.metrics.generation) as f64);
    page.family("configurations_refused_total", "counter", "Reloads that were refused.");
    page.value("configurations_refused_total", &[], load(&shared.metrics.reloads_refused) as f64);
    page.family("chunks_free", "gauge", "Chunks that nothing was read into.");
    page.value("chunks_free", &[], shared.chunks.free() as f64);
    page.family("ring_bytes", "gauge", "Compressed bytes that wait for a sink.");
    for (sink, ring) in shared.config.sinks.iter().zip(&shared.sinks) {
        let (used, capacity) = ring.level();
        page.value("ring_bytes", &[("sink", &sink.name)], used as f64);
        page.value("ring_capacity_bytes", &[("sink", &sink.name)], capacity as f64);
    }
    page.family("spill_bytes", "gauge", "Bytes on disk that wait for a sink.");
    for (sink, spill) in shared.config.sinks.iter().zip(&shared.spills) {
        if let Some(spill) = spill {
            page.value("spill_bytes", &[("sink", &sink.name)], spill.waiting_bytes() as f64);
        }
    }
    pools(shared, &mut page);
    page.family("window_count", "gauge", "Records by the rules, in the window that was over last.");
    let windows = shared.windows.last();
    for window in &windows {
        let parts: Vec<(String, &str)> =
            window.parts().map(|(name, part)| (label(name), part)).collect();
        let mut labels = vec![("metric", window.rule.name.as_str())];
        labels.extend(parts.iter().map(|(name, part)| (name.as_str(), *part)));
        page.value("window_count", &labels, window.sums.count as f64);
        if window.sums.values > 0 {
            page.value("window_sum", &labels, window.sums.sum);
            page.value("window_min", &labels, window.sums.min);
            page.value("window_max", &labels, window.sums.max);
        }
        for &share in &window.rule.quantiles {
            let text = share.to_string();
            if let Some(value) = window.sums.quantile(share) {
                let mut labels = labels.clone();
                labels.push(("quantile", &text));
                page.value("window_quantile", &labels, value);
            }
        }
    }
    page.family("uptime_seconds", "gauge", "Since the start.");
    page.value("uptime_seconds", &[], shared.started.elapsed().as_secs_f64());
    page.text
}

/// A part of a key as the name of a label, which has letters, digits and `_` only and does not
/// start with a digit.
pub fn label(name: &str) -> String {
    let letter = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    let mut label: String = name.chars().map(letter).collect();
    if label.starts_with(|first: char| first.is_ascii_digit()) {
        label.insert(0, '_');
    }
    label
}

fn pools(shared: &Shared, page: &mut Page) {
    let load = |counter: &AtomicU64| counter.load(Ordering::Relaxed) as f64;
    let pools = shared.pools.all();
    type OfAmount = fn(&Amount) -> &AtomicU64;
    let units: [(&str, OfAmount); 2] = [("records", |a| &a.records), ("bytes", |a| &a.bytes)];
    for (unit, of) in units {
        let name = format!("received_{unit}_total");
        page.family(&name, "counter", "Cut from what connections sent.");
        for pool in &pools {
            page.value(&name, &[("pool", &pool.name)], load(of(&pool.counters.received)));
        }
        let name = format!("written_{unit}_total");
        page.family(&name, "counter", "Taken by the sink.");
        for pool in &pools {
            page.value(&name, &[("pool", &pool.name)], load(of(&pool.counters.written)));
        }
        let name = format!("dropped_{unit}_total");
        page.family(&name, "counter", "Not kept, by reason.");
        for pool in &pools {
            for (reason, amount) in DropReason::ALL.iter().zip(&pool.counters.dropped) {
                let labels = [("pool", pool.name.as_str()), ("reason", reason.name())];
                page.value(&name, &labels, load(of(amount)));
            }
        }
    }
    page.family("batches_total", "counter", "Compressor calls, to compare with records.");
    for pool in &pools {
        page.value("batches_total", &[("pool", &pool.name)], load(&pool.counters.batches));
    }
    page.family("columnar_batches_total", "counter", "Batches that are stored as columns.");
    for pool in &pools {
        let batches = load(&pool.counters.columnar_batches);
        page.value("columnar_batches_total", &[("pool", &pool.name)], batches);
    }
    page.family("compressed_bytes_total", "counter", "Bytes after compression.");
    for pool in &pools {
        let bytes = load(&pool.counters.compressed_bytes);
        page.value("compressed_bytes_total", &[("pool", &pool.name)], bytes);
    }
    page.family("spilled_batches_total", "counter", "Batches that went to disk to wait.");
    for pool in &pools {
        let batches = load(&pool.counters.spilled_batches);
        page.value("spilled_batches_total", &[("pool", &pool.name)], batches);
    }
    page.family("queued_bytes", "gauge", "Bytes that were read and wait for a worker.");
    for pool in &pools {
        let bytes = pool.queued_bytes.load(Ordering::Relaxed);
        page.value("queued_bytes", &[("pool", &pool.name)], bytes as f64);
    }
    page.family("pool_held", "gauge", "1 while the pool's connections are not read.");
    for pool in &pools {
        let is_held = pool.is_held.load(Ordering::Relaxed);
        page.value("pool_held", &[("pool", &pool.name)], f64::from(u8::from(is_held)));
    }
}

struct Page {
    text: String,
}

impl Page {
    fn family(&mut self, name: &str, kind: &str, help: &str) {
        self.line(format_args!("# HELP cinch_ingest_{name} {help}"));
        self.line(format_args!("# TYPE cinch_ingest_{name} {kind}"));
    }

    fn line(&mut self, line: std::fmt::Arguments) {
        // Writing to a string does not fail.
        let _written = writeln!(self.text, "{line}");
    }

    fn value(&mut self, name: &str, labels: &[(&str, &str)], value: f64) {
        let mut text = String::new();
        for (label, value) in labels {
            let between = if text.is_empty() { "" } else { "," };
            let value = value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
            text.push_str(&format!("{between}{label}=\"{value}\""));
        }
        match text.is_empty() {
            true => self.line(format_args!("cinch_ingest_{name} {value}")),
            false => self.line(format_args!("cinch_ingest_{name}{{{text}}} {value}")),
        }
    }

    fn summary(&mut self, name: &str, labels: &[(&str, &str)], histogram: &Histogram) {
        for (text, quantile) in QUANTILES {
            let mut labels = labels.to_vec();
            labels.push(("quantile", text));
            self.value(name, &labels, histogram.quantile_s(*quantile));
        }
        self.value(&format!("{name}_sum"), labels, histogram.sum_s());
        self.value(&format!("{name}_count"), labels, histogram.count() as f64);
    }
}
