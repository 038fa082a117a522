//! What happened, counted without a lock on the way of a call.
//!
//! Every series that a call may touch is resolved once and then found by index: looking a label up
//! in a map would take a lock for each operation. Histograms of the library are lock-free as well;
//! the recent calls that reports are drawn from are taken where nobody else is at it, else not.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bytes::Bytes;
use cinch_core::pack::{NotEncoded, Outcome, PlainReason};
use prometheus::{
    Encoder, Gauge, GaugeVec, Histogram, HistogramOpts, HistogramVec, IntCounter, IntCounterVec,
    Opts, Registry, TextEncoder,
};

use crate::fleet::Health;
use crate::gate::{DecodeError, Finding, PackOutcome, Read, Source, Written};
use crate::policy::Plan;
use crate::settings::Namespace;

mod export;
mod recent;

pub use export::{EXPORT_VERSION, Export, ExportError, NamespaceExport};
pub use recent::{Minute, Sample, SampleKind};

use recent::Recent;

/// The metrics of a process.
pub struct Metrics {
    registry: Registry,
    writes: IntCounterVec,
    reads: IntCounterVec,
    bytes: IntCounterVec,
    findings: IntCounterVec,
    decode_errors: IntCounterVec,
    dictionaries: IntCounterVec,
    dictionary_bytes: GaugeVec,
    ratio: HistogramVec,
    pack_seconds: HistogramVec,
    unpack_seconds: HistogramVec,
    modes: GaugeVec,
    obstacles: GaugeVec,
    generation: Gauge,
    refused: Gauge,
}

/// The series of one namespace.
pub struct NamespaceMetrics {
    name: String,
    writes: Table<{ MODES.len() * OUTCOMES.len() }>,
    reads: Table<{ SOURCES.len() }>,
    payload_bytes: IntCounter,
    raw_bytes: IntCounter,
    packed_bytes: IntCounter,
    findings: Table<{ FINDINGS.len() }>,
    decode_errors: Table<{ KINDS.len() }>,
    /// Packed and unpacked with each dictionary, by its id.
    dictionaries: Vec<(u32, IntCounter)>,
    ratio: Histogram,
    pack_seconds: Histogram,
    unpack_seconds: Histogram,
    recent: Recent,
    critical: AtomicU64,
    pack_failures: AtomicU64,
}

const MODES: &[&str] = &["NO_COMPRESS", "DUAL", "COMPRESS_ONLY", "plain", "shadow", "packed"];
const OUTCOMES: &[&str] = &[
    "packed",
    "packed verbatim",
    "wrapped",
    "passed on",
    "not tried",
    "below min size",
    "number",
    "already compressed",
    "rule",
    "gain too small",
    "codec failed",
    "verification failed",
    "shadow mismatch",
];
const SOURCES: &[&str] = &["raw", "packed", "foreign"];
const FINDINGS: &[&str] =
    &["stale", "unproven", "not packed", "raw missing", "mismatch", "size mismatch", "undecodable"];
const KINDS: &[&str] = &[
    "not-an-envelope",
    "damaged",
    "unsupported-version",
    "unknown-codec",
    "unknown-encoding",
    "unknown-field",
    "missing-dictionary",
    "missing-schema",
    "missing-base",
    "checksum-mismatch",
    "too-large",
    "no-memory",
];

/// Counters of one family, each made when it is first needed and found by index from then on.
struct Table<const N: usize> {
    family: IntCounterVec,
    slots: [OnceLock<IntCounter>; N],
}

impl<const N: usize> Table<N> {
    fn new(family: &IntCounterVec) -> Table<N> {
        Table { family: family.clone(), slots: [const { OnceLock::new() }; N] }
    }

    fn add(&self, index: usize, labels: &[&str]) {
        self.slots[index].get_or_init(|| self.family.with_label_values(labels)).inc();
    }

    fn count(&self, index: usize) -> u64 {
        self.slots[index].get().map_or(0, IntCounter::get)
    }
}

/// Where a name stands in its list. Every name that the code uses stands there, which a test
/// checks; another one would be counted under the last.
fn place(names: &[&str], name: &str) -> usize {
    names.iter().position(|known| *known == name).unwrap_or(names.len() - 1)
}

impl Default for Metrics {
    fn default() -> Metrics {
        Metrics::new()
    }
}

impl Metrics {
    /// Metrics with nothing counted.
    pub fn new() -> Metrics {
        let registry = Registry::new();
        let counters = |name: &str, help: &str, labels: &[&str]| {
            register(&registry, IntCounterVec::new(Opts::new(name, help), labels))
        };
        let gauges = |name: &str, help: &str, labels: &[&str]| {
            register(&registry, GaugeVec::new(Opts::new(name, help), labels))
        };
        let histograms = |name: &str, help: &str, buckets: Vec<f64>| {
            let options = HistogramOpts::new(name, help).buckets(buckets);
            register(&registry, HistogramVec::new(options, &["namespace"]))
        };
        Metrics {
            writes: counters(
                "cinch_writes_total",
                "Payloads written, by mode and what became of packing.",
                &["namespace", "mode", "outcome"],
            ),
            reads: counters(
                "cinch_reads_total",
                "Payloads read, by the copy that was used.",
                &["namespace", "source"],
            ),
            bytes: counters(
                "cinch_written_bytes_total",
                "Bytes of payloads written, and of the copies stored for them.",
                &["namespace", "copy"],
            ),
            findings: counters(
                "cinch_findings_total",
                "Records with something odd; mismatches are critical.",
                &["namespace", "finding"],
            ),
            decode_errors: counters(
                "cinch_decode_errors_total",
                "Packed copies that could not be unpacked, by kind.",
                &["namespace", "kind"],
            ),
            dictionaries: counters(
                "cinch_dictionary_uses_total",
                "Payloads packed with a dictionary.",
                &["namespace", "dictionary"],
            ),
            dictionary_bytes: gauges(
                "cinch_dictionary_bytes",
                "The size of each dictionary that is loaded.",
                &["namespace", "dictionary"],
            ),
            ratio: histograms(
                "cinch_ratio",
                "Payload bytes over packed bytes.",
                vec![1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0, 24.0, 32.0, 64.0],
            ),
            pack_seconds: histograms(
                "cinch_pack_seconds",
                "Time to pack a payload, with its verification.",
                time_buckets(),
            ),
            unpack_seconds: histograms(
                "cinch_unpack_seconds",
                "Time to unpack a payload.",
                time_buckets(),
            ),
            modes: gauges(
                "cinch_mode",
                "1 for what is written and believed in a namespace now.",
                &["namespace", "direction", "mode"],
            ),
            obstacles: gauges(
                "cinch_obstacle",
                "1 for what stands against a configured mode now.",
                &["namespace", "direction", "obstacle"],
            ),
            generation: register(
                &registry,
                Gauge::new("cinch_configuration_generation", "Grows with every configuration."),
            ),
            refused: register(
                &registry,
                Gauge::new("cinch_configurations_refused", "Configurations that were refused."),
            ),
            registry,
        }
    }

    /// The registry, for an application that has an endpoint of its own.
    pub fn registry(&self) -> &Registry {
        &self.registry
    }

    /// The text that Prometheus scrapes.
    pub fn text(&self) -> String {
        let mut out = Vec::new();
        // Writing to memory fails for no reason but a family without a name, and ours have one.
        let _ = TextEncoder::new().encode(&self.registry.gather(), &mut out);
        String::from_utf8_lossy(&out).into_owned()
    }

    /// The series of a namespace. The same name gives the same series, whatever was reloaded.
    pub(crate) fn namespace(&self, namespace: &Namespace) -> NamespaceMetrics {
        let name = namespace.name.as_str();
        let bytes = |copy: &str| self.bytes.with_label_values(&[name, copy]);
        let of_dictionary = |id: u32| {
            let id_text = format!("{id:#010x}");
            (id, self.dictionaries.with_label_values(&[name, &id_text]))
        };
        for dictionary in namespace.all_dictionaries() {
            let id_text = format!("{:#010x}", dictionary.id());
            let gauge = self.dictionary_bytes.with_label_values(&[name, &id_text]);
            gauge.set(dictionary.bytes().len() as f64);
        }
        NamespaceMetrics {
            writes: Table::new(&self.writes),
            reads: Table::new(&self.reads),
            payload_bytes: bytes("payload"),
            raw_bytes: bytes("raw"),
            packed_bytes: bytes("packed"),
            findings: Table::new(&self.findings),
            decode_errors: Table::new(&self.decode_errors),
            dictionaries: namespace.all_dictionaries().map(|d| of_dictionary(d.id())).collect(),
            ratio: self.ratio.with_label_values(&[name]),
            pack_seconds: self.pack_seconds.with_label_values(&[name]),
            unpack_seconds: self.unpack_seconds.with_label_values(&[name]),
            recent: Recent::default(),
            critical: AtomicU64::new(0),
            pack_failures: AtomicU64::new(0),
            name: name.to_owned(),
        }
    }

    /// Says what holds now.
    pub(crate) fn set_plans<'a>(
        &self,
        generation: u64,
        plans: impl Iterator<Item = (&'a str, &'a Plan)>,
    ) {
        self.generation.set(generation as f64);
        self.modes.reset();
        self.obstacles.reset();
        for (namespace, plan) in plans {
            let mode = |direction: &str, name: &str| {
                self.modes.with_label_values(&[namespace, direction, name]).set(1.0);
            };
            let obstacle = |direction: &str, name: Option<&str>| {
                if let Some(name) = name {
                    self.obstacles.with_label_values(&[namespace, direction, name]).set(1.0);
                }
            };
            match plan {
                Plan::Two(plan) => {
                    mode("write", plan.write.name());
                    mode("read", plan.read.name());
                    obstacle("write", plan.write_obstacle.as_ref().map(|found| found.name()));
                    obstacle("read", plan.read_obstacle.as_ref().map(|found| found.name()));
                }
                Plan::One(plan) => {
                    mode("write", plan.write.name());
                    obstacle("write", plan.write_obstacle.as_ref().map(|found| found.name()));
                }
            }
        }
    }

    pub(crate) fn set_refused(&self, refused: u64) {
        self.refused.set(refused as f64);
    }
}

/// Registers a family. Names and labels are ours and all different, so that nothing can be wrong
/// with them but in a test of this very function.
fn register<C: prometheus::core::Collector + Clone + 'static>(
    registry: &Registry,
    family: prometheus::Result<C>,
) -> C {
    let family = family.expect("the name and the labels are well-formed");
    registry.register(Box::new(family.clone())).expect("every name is registered once");
    family
}

/// From a microsecond to a second.
fn time_buckets() -> Vec<f64> {
    let steps = [1.0, 2.0, 5.0];
    // Divided and not multiplied, because 5 * 1e-6 is 0.0000049999999999999996, and the bound is
    // the name of a series.
    let decades = [1e6, 1e5, 1e4, 1e3, 1e2, 1e1];
    decades.iter().flat_map(|decade| steps.map(|step| step / decade)).chain([1.0]).collect()
}

fn outcome_name(outcome: Option<&PackOutcome>) -> &'static str {
    match outcome {
        None => "not tried",
        Some(PackOutcome::PassedOn) => "passed on",
        Some(PackOutcome::ShadowMismatch) => "shadow mismatch",
        Some(PackOutcome::Packer(Outcome::Packed { not_encoded: None })) => "packed",
        Some(PackOutcome::Packer(Outcome::Packed { not_encoded: Some(_) })) => "packed verbatim",
        Some(PackOutcome::Packer(Outcome::Wrapped)) => "wrapped",
        Some(PackOutcome::Packer(Outcome::Plain(reason))) => reason.name(),
    }
}

/// Whether packing failed for a reason that is no property of the payload.
fn is_failure(outcome: &PackOutcome) -> bool {
    matches!(
        outcome,
        PackOutcome::ShadowMismatch
            | PackOutcome::Packer(Outcome::Plain(
                PlainReason::CodecFailed(_) | PlainReason::VerificationFailed
            ))
            | PackOutcome::Packer(Outcome::Packed { not_encoded: Some(NotEncoded::NotTheSame) })
    )
}

impl NamespaceMetrics {
    /// Counts a write.
    pub fn wrote(&self, written: &Written) {
        let mode = place(MODES, written.mode);
        let outcome = outcome_name(written.outcome.as_ref());
        let index = mode * OUTCOMES.len() + place(OUTCOMES, outcome);
        self.writes.add(index, &[&self.name, written.mode, outcome]);
        let record = &written.record;
        self.payload_bytes.inc_by(written.payload_bytes as u64);
        self.raw_bytes.inc_by(record.raw.as_ref().map_or(0, Bytes::len) as u64);
        self.packed_bytes.inc_by(record.packed.as_ref().map_or(0, |p| p.bytes.len()) as u64);
        if written.outcome.as_ref().is_some_and(is_failure) {
            self.pack_failures.fetch_add(1, Ordering::Relaxed);
        }
        if let Some(packed_bytes) = written.packed_bytes {
            self.ratio.observe(written.payload_bytes as f64 / packed_bytes.max(1) as f64);
            // The first dictionary is the profile's own, which packs what no rule takes.
            if let Some((_, uses)) = self.dictionaries.first() {
                uses.inc();
            }
        }
        let time = written.pack_time.unwrap_or_default();
        if written.pack_time.is_some() {
            self.pack_seconds.observe(time.as_secs_f64());
        }
        self.recent.add_write(written.payload_bytes, record.stored_bytes());
        if let Some(packed_bytes) = written.packed_bytes {
            self.recent.add(SampleKind::Write, written.payload_bytes, packed_bytes, time);
        }
    }

    /// Counts a read.
    pub fn read(&self, read: &Read) {
        let source = match read.source {
            Source::Raw => "raw",
            Source::Packed => "packed",
            Source::Foreign => "foreign",
        };
        self.reads.add(place(SOURCES, source), &[&self.name, source]);
        for finding in &read.findings {
            self.found(finding);
        }
        if let (Some(time), Some(payload), Some(packed_bytes)) =
            (read.unpack_time, &read.payload, read.packed_bytes)
        {
            self.unpack_seconds.observe(time.as_secs_f64());
            self.recent.add(SampleKind::Read, payload.len(), packed_bytes, time);
        }
    }

    /// Counts a record that could not be read at all.
    pub fn failed(&self, error: &DecodeError) {
        let kind = error.kind();
        self.decode_errors.add(place(KINDS, kind), &[&self.name, kind]);
    }

    fn found(&self, finding: &Finding) {
        let name = finding.name();
        self.findings.add(place(FINDINGS, name), &[&self.name, name]);
        if finding.is_critical() {
            self.critical.fetch_add(1, Ordering::Relaxed);
        }
        if let Finding::Undecodable(error) = finding {
            self.failed(error);
        }
    }

    /// What the stop rules of a rollout look at.
    pub fn health(&self) -> Health {
        let sum = |counts: &dyn Fn(usize) -> u64, length: usize| (0..length).map(counts).sum();
        Health {
            writes: sum(&|index| self.writes.count(index), MODES.len() * OUTCOMES.len()),
            reads: sum(&|index| self.reads.count(index), SOURCES.len()),
            mismatches: self.critical.load(Ordering::Relaxed),
            decode_errors: sum(&|index| self.decode_errors.count(index), KINDS.len()),
            pack_failures: self.pack_failures.load(Ordering::Relaxed),
            read_p99_us: self.recent.p99_us(SampleKind::Read),
            write_p99_us: self.recent.p99_us(SampleKind::Write),
        }
    }

    /// The latest calls that were taken as samples, and the latest minutes.
    pub fn export(&self) -> NamespaceExport {
        NamespaceExport { samples: self.recent.samples(), minutes: self.recent.minutes() }
    }
}

/// A time in whole nanoseconds, as samples hold it.
fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests;
