//! The choices that a configuration offers by name. A name that is not here is refused with its
//! line and with those that are.

use cinch_wire::native::Durability;
use cinch_wire::stream::StreamCodec;
use serde::Deserialize;

/// How records are cut from what a connection sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Protocol {
    /// The messages of CAL clients; the pool is that of the label.
    Cal,
    /// Lines that end in a newline.
    Lines,
    /// Records after their length, a big-endian u32.
    LengthPrefixed,
    /// Syslog of RFC 5424 or 3164, counted or ended by a newline as RFC 6587 has it.
    Syslog,
    /// The forward protocol of Fluentd and Fluent Bit, in all its modes.
    Forward,
    /// HTTP: OTLP, the bulk forms of Elasticsearch and Loki, lines.
    Http,
    /// OTLP logs over gRPC.
    OtlpGrpc,
    /// Batches that are acknowledged (spec/ingest-native.md); the client names the pool.
    Native,
}

impl Protocol {
    /// Whether clients name their pool themselves.
    pub fn names_pool(self) -> bool {
        matches!(self, Protocol::Cal | Protocol::Native)
    }

    /// Whether clients are answered.
    pub fn answers(self) -> bool {
        use Protocol::{Forward, Http, Native, OtlpGrpc};
        matches!(self, Forward | Http | Native | OtlpGrpc)
    }

    /// Whether a datagram can hold one of its records whole.
    pub fn fits_datagrams(self) -> bool {
        matches!(self, Protocol::Lines | Protocol::Syslog)
    }
}

/// How bytes come from clients.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Transport {
    /// Connections over the network; with `tls`, encrypted ones.
    Tcp,
    /// Datagrams over the network, each one record.
    Udp,
    /// Connections through a socket in the file system.
    Unix,
    /// Datagrams through a socket in the file system, each one record.
    UnixDatagram,
}

/// How a connection is compressed, from its first byte to its last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Compression {
    /// gzip members.
    Gzip,
    /// zstd frames.
    Zstd,
    /// LZ4 frames.
    Lz4,
}

impl Compression {
    /// The same in the words of the protocols.
    pub fn codec(self) -> StreamCodec {
        match self {
            Compression::Gzip => StreamCodec::Gzip,
            Compression::Zstd => StreamCodec::Zstd,
            Compression::Lz4 => StreamCodec::Lz4,
        }
    }
}

/// How the text of a batch is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum BatchForm {
    /// As it is, in a zstd frame: `zstd -dc` prints it.
    Plain,
    /// As templates and columns where that is smaller: only `cinch logs` turns these back.
    Columnar,
}

/// When a batch is acknowledged to clients that wait for it, at the least.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AckWhen {
    /// When it is in memory.
    Received,
    /// When it is part of a compressed batch before its sink.
    Batched,
    /// When its sink has it.
    Written,
}

impl AckWhen {
    /// The same in the words of the native protocol.
    pub fn durability(self) -> Durability {
        match self {
            AckWhen::Received => Durability::Received,
            AckWhen::Batched => Durability::Batched,
            AckWhen::Written => Durability::Written,
        }
    }
}

/// What happens to a pool's records when its sink is slow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum WhenSlow {
    /// Whole batches are dropped and counted.
    Drop,
    /// The pool's connections are not read until there is room.
    Backpressure,
    /// Batches wait on the local disk, and are written in order later.
    Spill,
}

/// When a batch's file is told to reach the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Fsync {
    /// Never: the system writes when it likes, and a power cut may take what it did not.
    None,
    /// When a file is closed.
    Close,
    /// After each batch, before it counts as written.
    Batch,
}

/// What decides to which partition of its topic a batch goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum KafkaKey {
    /// Its pool: all batches of a pool are in one partition.
    Pool,
    /// Its pool and the worker that made it: a pool has as many partitions as there are workers,
    /// and the batches of one connection are in one of them.
    Worker,
}

/// How windows of metrics are written for others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MetricForm {
    /// An object of JSON.
    Json,
    /// Avro's single-object encoding of the schema in spec/ingest.md.
    Avro,
}
