//! The net gain: what packing adds where the store compresses already.
//!
//! A store that compresses sees plain payloads at their best: text, and often many of them
//! together. Packed payloads it can't shrink again. So each row here models what one store does
//! with payloads and with packed payloads alike, and the two are compared. What each leaves out
//! stands in its file and in spec/evaluation.md, "Models".

use std::fmt;

use cinch_core::codec::{ChoiceError, CompressError, SetupError};

use crate::model::{BehindModel, BehindRow};

mod batches;
mod pages;
pub mod pglz;
mod squeeze;
mod toast;

/// A net gain is modelled on at most this many bytes of payloads, from the start of the corpus:
/// enough for hundreds of pages and batches, and a second or two of work.
pub const PAYLOAD_BYTES_MAX: usize = 16 << 20;

/// A gain or loss below this, as a share, is told as none.
const TOLD_MIN: f64 = 0.005;

/// A store that compresses, or does not.
pub struct Behind {
    /// The name on the command line.
    pub name: &'static str,
    /// What is modelled, in a sentence.
    pub summary: &'static str,
    /// The store as verdicts name it.
    pub store: &'static str,
    /// What a piece is that the store compresses on its own: a value, a page, a batch or a body.
    pub pieces: &'static str,
    /// Where what is modelled is written down.
    pub source: &'static str,
    /// Whether anything lies at rest; if not, only the network is modelled.
    pub has_rest: bool,
    store_all: fn(&[&[u8]]) -> Result<Stored, BehindError>,
}

impl fmt::Debug for Behind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl PartialEq for Behind {
    fn eq(&self, other: &Behind) -> bool {
        self.name == other.name
    }
}

/// What a store makes of payloads.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Stored {
    network_bytes: u64,
    at_rest_bytes: u64,
    /// How many values, pages, batches or bodies there were, and how many of them the store's own
    /// compression made no smaller.
    pieces: u64,
    pieces_as_they_are: u64,
}

impl Stored {
    /// The share of the pieces that the store's own compression made smaller.
    fn shrunk_share(&self) -> f64 {
        1.0 - self.pieces_as_they_are as f64 / self.pieces.max(1) as f64
    }
}

/// Why a net gain could not be modelled.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum BehindError {
    /// The store's codec is named wrongly here, a mistake of ours.
    #[error(transparent)]
    Choice(#[from] ChoiceError),
    /// The store's codec could not be set up.
    #[error(transparent)]
    Setup(#[from] SetupError),
    /// The store's codec failed.
    #[error(transparent)]
    Compress(#[from] CompressError),
}

/// No store of this name is modelled.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no store called {name:?} is modelled; use one of {}", names())]
pub struct UnknownBehind {
    name: String,
}

/// Every store that is modelled.
pub static BEHIND: &[Behind] = &[
    Behind {
        name: "none",
        summary: "A store that keeps what it is given, as Redis does.",
        store: "a store that does not compress",
        pieces: "values",
        source: "redis.io: values are kept as they are set",
        has_rest: true,
        store_all: uncompressed,
    },
    Behind {
        name: "snappy-block",
        summary: "WiredTiger (MongoDB) with Snappy, its default: documents in leaf pages of 32 \
                  KiB on disk, each page compressed when it is written.",
        store: "WiredTiger's Snappy",
        pieces: "pages",
        source: "source.wiredtiger.com, Tuning page size and compression",
        has_rest: true,
        store_all: pages::with_snappy,
    },
    Behind {
        name: "zstd-block",
        summary: "WiredTiger (MongoDB) with zstd at its level 6: documents in leaf pages of 32 \
                  KiB on disk, each page compressed when it is written.",
        store: "WiredTiger's zstd",
        pieces: "pages",
        source: "source.wiredtiger.com, Tuning page size and compression",
        has_rest: true,
        store_all: pages::with_zstd,
    },
    Behind {
        name: "zlib-block",
        summary: "WiredTiger (MongoDB) with zlib at its level 6: documents in leaf pages of 32 \
                  KiB on disk, each page compressed when it is written.",
        store: "WiredTiger's zlib",
        pieces: "pages",
        source: "source.wiredtiger.com, Tuning page size and compression",
        has_rest: true,
        store_all: pages::with_zlib,
    },
    Behind {
        name: "toast-pglz",
        summary: "PostgreSQL with pglz, its default: payloads in a bytea, text or json column, \
                  rows above 2,032 bytes compressed, then out of line in chunks of 1,996.",
        store: "PostgreSQL's pglz",
        pieces: "values",
        source: "postgresql.org/docs/current/storage-toast.html",
        has_rest: true,
        store_all: toast::with_pglz,
    },
    Behind {
        name: "toast-lz4",
        summary: "PostgreSQL with default_toast_compression = lz4: payloads in a bytea, text or \
                  json column, rows above 2,032 bytes compressed, then out of line in chunks.",
        store: "PostgreSQL's lz4",
        pieces: "values",
        source: "postgresql.org/docs/current/storage-toast.html",
        has_rest: true,
        store_all: toast::with_lz4,
    },
    Behind {
        name: "kafka-gzip",
        summary: "Kafka with compression.type=gzip (level 6): full batches of 16 KiB, compressed \
                  by the producer and kept so.",
        store: "Kafka's gzip",
        pieces: "batches",
        source: "kafka.apache.org/documentation, producer configs and message format",
        has_rest: true,
        store_all: batches::with_gzip,
    },
    Behind {
        name: "kafka-snappy",
        summary: "Kafka with compression.type=snappy: full batches of 16 KiB, compressed by the \
                  producer and kept so.",
        store: "Kafka's Snappy",
        pieces: "batches",
        source: "kafka.apache.org/documentation, producer configs and message format",
        has_rest: true,
        store_all: batches::with_snappy,
    },
    Behind {
        name: "kafka-lz4",
        summary: "Kafka with compression.type=lz4 (fast): full batches of 16 KiB, compressed by \
                  the producer and kept so.",
        store: "Kafka's lz4",
        pieces: "batches",
        source: "kafka.apache.org/documentation, producer configs and message format",
        has_rest: true,
        store_all: batches::with_lz4,
    },
    Behind {
        name: "kafka-zstd",
        summary: "Kafka with compression.type=zstd (level 3): full batches of 16 KiB, compressed \
                  by the producer and kept so.",
        store: "Kafka's zstd",
        pieces: "batches",
        source: "kafka.apache.org/documentation, producer configs and message format",
        has_rest: true,
        store_all: batches::with_zstd,
    },
    Behind {
        name: "http-gzip",
        summary: "An HTTP server or proxy that compresses each body with gzip at level 6, packed \
                  ones too; nothing lies at rest.",
        store: "HTTP's gzip",
        pieces: "bodies",
        source: "RFC 9110, section 8.4.1.3; nginx's gzip module",
        has_rest: false,
        store_all: http_gzip,
    },
];

/// The store of this name.
///
/// # Errors
/// Where none has it; the error lists them.
pub fn behind_named(name: &str) -> Result<&'static Behind, UnknownBehind> {
    let found = BEHIND.iter().find(|behind| behind.name == name);
    found.ok_or_else(|| UnknownBehind { name: name.to_owned() })
}

fn names() -> String {
    BEHIND.iter().map(|behind| behind.name).collect::<Vec<_>>().join(", ")
}

/// One trial's packed form of the payloads that are modelled, in their order.
pub struct BehindInput {
    /// The trial's name.
    pub name: String,
    /// Each payload as it is stored: its envelope, or the payload itself where packing does not
    /// pay.
    pub packed: Vec<Vec<u8>>,
}

/// The payloads that a net gain is modelled on: from the start of the corpus and in its order,
/// which is what pages and batches gain from, up to [`PAYLOAD_BYTES_MAX`] bytes; at least one.
pub fn window<'a, 'b>(payloads: &'a [&'b [u8]]) -> &'a [&'b [u8]] {
    let mut bytes = 0_usize;
    let fits = |payload: &&&[u8]| {
        bytes = bytes.saturating_add(payload.len());
        bytes <= PAYLOAD_BYTES_MAX
    };
    let count = payloads.iter().take_while(fits).count().max(1);
    &payloads[..count.min(payloads.len())]
}

/// What the trials leave to gain in front of this store. The payloads are those of [`window`]; the
/// verdict is on the first trial, which should be the recommended one.
///
/// # Errors
/// Where the store's own codec can't be set up or fails.
pub fn model(
    behind: &Behind,
    payloads: &[&[u8]],
    trials: &[BehindInput],
) -> Result<BehindModel, BehindError> {
    let plain = (behind.store_all)(payloads)?;
    let mut rows = vec![row("nothing", &plain, &plain)];
    let mut first = None;
    for trial in trials {
        let packed: Vec<&[u8]> = trial.packed.iter().map(Vec::as_slice).collect();
        let stored = (behind.store_all)(&packed)?;
        rows.push(row(&trial.name, &plain, &stored));
        first.get_or_insert(stored);
    }
    let verdict = match (first, rows.get(1)) {
        (Some(packed), Some(row)) => verdict(behind, row, &plain, &packed),
        _ => "There is no trial to put in front of it.".to_owned(),
    };
    Ok(BehindModel {
        name: behind.name.to_owned(),
        summary: behind.summary.to_owned(),
        payloads: payloads.len() as u64,
        bytes_in: payloads.iter().map(|payload| payload.len() as u64).sum(),
        rows,
        verdict,
    })
}

fn row(name: &str, plain: &Stored, stored: &Stored) -> BehindRow {
    let gain = |before: u64, after: u64| match before {
        0 => 0.0,
        before => 1.0 - after as f64 / before as f64,
    };
    BehindRow {
        name: name.to_owned(),
        network_bytes: stored.network_bytes,
        at_rest_bytes: stored.at_rest_bytes,
        network_gain: gain(plain.network_bytes, stored.network_bytes),
        at_rest_gain: gain(plain.at_rest_bytes, stored.at_rest_bytes),
    }
}

/// What packing adds, whether the store still shrinks anything, and what to do, as sentences.
fn verdict(behind: &Behind, row: &BehindRow, plain: &Stored, packed: &Stored) -> String {
    let (network, rest) = (row.network_gain, row.at_rest_gain);
    let is_alike = (network - rest).abs() < TOLD_MIN;
    let what = match (behind.has_rest, is_alike) {
        (false, _) => told(network, "on the network"),
        (true, true) => told(network, "on the network and at rest alike"),
        (true, false) if network >= TOLD_MIN && rest >= TOLD_MIN => {
            format!("saves {} on the network and {} at rest", percent(network), percent(rest))
        }
        (true, false) => {
            format!("{} and {}", told(network, "on the network"), told(rest, "at rest"))
        }
    };
    let advice = match (network < TOLD_MIN, !behind.has_rest || rest < TOLD_MIN) {
        (true, true) => " Leave the payloads plain there.",
        (false, true) if behind.has_rest => {
            " Pack for the network only: for the disk alone, leave the payloads plain there."
        }
        _ => "",
    };
    let (shrinks_plain, shrinks_packed) = (plain.shrunk_share(), packed.shrunk_share());
    let shrinks = match shrinks_plain - shrinks_packed {
        difference if difference < TOLD_MIN => String::new(),
        _ => format!(
            " It shrinks {} of the plain {} and {} of the packed ones.",
            share(shrinks_plain),
            behind.pieces,
            share(shrinks_packed),
        ),
    };
    format!("In front of {}, {} {what}.{shrinks}{advice}", behind.store, row.name)
}

/// A gain or loss somewhere, in words.
fn told(gain: f64, place: &str) -> String {
    match gain {
        gain if gain >= TOLD_MIN => format!("saves {} {place}", percent(gain)),
        gain if gain <= -TOLD_MIN => format!("takes {} more {place}", percent(-gain)),
        _ => format!("makes no difference {place}"),
    }
}

/// A share of pieces, in words where it is all or none.
fn share(share: f64) -> String {
    match share {
        share if share < TOLD_MIN => "none".to_owned(),
        share if share > 1.0 - TOLD_MIN => "all".to_owned(),
        share => percent(share),
    }
}

fn percent(share: f64) -> String {
    format!("{:.0} %", 100.0 * share)
}

fn uncompressed(payloads: &[&[u8]]) -> Result<Stored, BehindError> {
    let bytes = payloads.iter().map(|payload| payload.len() as u64).sum();
    let pieces = payloads.len() as u64;
    Ok(Stored { network_bytes: bytes, at_rest_bytes: bytes, pieces, pieces_as_they_are: pieces })
}

fn http_gzip(payloads: &[&[u8]]) -> Result<Stored, BehindError> {
    let mut gzip = squeeze::Squeeze::new("gzip:6")?;
    let mut stored = Stored { pieces: payloads.len() as u64, ..Stored::default() };
    for payload in payloads {
        let compressed = gzip.length(payload)?;
        stored.network_bytes += compressed as u64;
        stored.pieces_as_they_are += u64::from(compressed >= payload.len());
    }
    Ok(stored)
}

#[cfg(test)]
mod tests;
