//! The figures of one trial, as every report prints them.
//!
//! Times are over payloads unless a field says that they are over calls; what was not measured is
//! nothing, never 0.

use serde::{Deserialize, Serialize};

use crate::bootstrap::Interval;

/// A time over payloads, in nanoseconds: of each payload's median over the rounds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Nanoseconds {
    /// The mean.
    pub mean: f64,
    /// Half are at most this.
    pub p50: f64,
    /// 95 % are at most this.
    pub p95: f64,
    /// 99 % are at most this; below 299 payloads this is the maximum (see `p99_is_max`).
    pub p99: f64,
}

/// One (encoding, codec, level, dictionary) and what was measured of it.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Trial {
    /// The name, such as `msgpack+zlib:6` or `verbatim+zstd:3+dict-110K`.
    pub name: String,
    /// The encoding.
    pub encoding: String,
    /// The codec.
    pub codec: String,
    /// The level.
    pub level: i32,
    /// The dictionary's id, or nothing.
    pub dictionary: Option<String>,
    /// Whether it only stands there for comparison: doing nothing, gzip -6, zstd -3.
    pub is_control: bool,
    /// The last stage it went through: `sizes`, `times` or `whole`.
    pub stage: String,
    /// How many payloads the sizes are of.
    pub payloads: u64,
    /// Their bytes as the application sees them.
    pub bytes_in: u64,
    /// Their bytes as the codec leaves them, in its standard form, without an envelope.
    pub bytes_out: u64,
    /// Their bytes as cinch stores them: envelopes, and plain where packing does not pay.
    pub packed_bytes: u64,
    /// `bytes_in / bytes_out`: what decides about money.
    pub ratio: f64,
    /// The median over payloads of each one's own ratio: what decides about the tail.
    pub median_ratio: f64,
    /// The mean over payloads of each one's own `bytes_out / bytes_in`, as DoorDash told it.
    pub mean_share: f64,
    /// Sizes of the payloads that neither trained nor chose; nothing where there was no split or
    /// the trial did not come that far.
    pub held_out: Option<HeldOut>,
    /// What a round trip keeps.
    pub fidelity: String,
    /// How many payloads the times are of.
    pub timed_payloads: u64,
    /// How often each was timed.
    pub rounds: u32,
    /// Whether every `p99` of this trial is the maximum, for want of 299 payloads.
    pub p99_is_max: bool,
    /// JSON text to the in-memory value.
    pub parse_ns: Nanoseconds,
    /// In-memory value to encoded bytes.
    pub encode_ns: Nanoseconds,
    /// Encoded bytes to compressed bytes.
    pub compress_ns: Nanoseconds,
    /// Compressed bytes to encoded bytes.
    pub decompress_ns: Nanoseconds,
    /// Encoded bytes to the in-memory value.
    pub decode_ns: Nanoseconds,
    /// In-memory value to JSON text.
    pub write_ns: Nanoseconds,
    /// The envelope's checksum of the payload: once while packing and once while unpacking.
    pub checksum_ns: Nanoseconds,
    /// All that stands between the application and the stored bytes (see `from`).
    pub pack_ns: Nanoseconds,
    /// The same on the way back.
    pub unpack_ns: Nanoseconds,
    /// How payload sizes and times are spread, at the shares of `quantiles`.
    pub spread: Option<Spread>,
    /// Pack and unpack over raw calls: what a service sees.
    pub calls: Option<Calls>,
    /// The same calls with a warm payload, with cold caches, and with new contexts.
    pub regimes: Option<Regimes>,
    /// A new context and its first call, on a payload of median size: the median over processes
    /// where it was measured in fresh ones.
    pub first_call_ns: f64,
    /// First calls in fresh processes.
    pub first_call: Option<FirstCall>,
    /// The largest spread of a payload's mean time between rounds, as a share of the median.
    pub round_spread: f64,
    /// What the contexts hold between calls, compressor and decompressor together.
    pub memory_bytes: u64,
    /// What the compressor alone holds.
    pub compressor_memory_bytes: u64,
    /// What the decompressor alone holds.
    pub decompressor_memory_bytes: u64,
    /// What the dictionary costs, where there is one.
    pub dictionary_cost: Option<DictionaryCost>,
    /// Payloads that the encoding can't carry; they were packed verbatim.
    pub refused: u64,
    /// `refused / payloads`.
    pub refused_share: f64,
    /// The first refusal, naming its payload.
    pub refusal: Option<String>,
    /// Payloads that did not come back as they were.
    pub failures: u64,
    /// The first failure, naming its payload.
    pub failure: Option<String>,
    /// The trial's bytes over the baseline's.
    pub size_factor: f64,
    /// The trial's time over the baseline's, packing and unpacking together.
    pub speed_factor: f64,
    /// What the goal ranks by: less is better.
    pub score: Option<f64>,
    /// The trial against the recommended one, payload by payload.
    pub paired: Option<Paired>,
    /// The rule that took it out, a colon, and why; or nothing.
    pub eliminated_by: Option<String>,
}

/// Sizes of the payloads that neither trained nor chose.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct HeldOut {
    /// How many payloads.
    pub payloads: u64,
    /// Their bytes as the application sees them.
    pub bytes_in: u64,
    /// Their bytes as the codec leaves them.
    pub bytes_out: u64,
    /// Their bytes as cinch stores them.
    pub packed_bytes: u64,
    /// `packed_bytes / bytes_in`.
    pub packed_share: f64,
    /// Where `packed_share` lies with 95 % confidence.
    pub packed_share_interval: Interval,
}

/// How payload sizes and times are spread. Each list has one figure for each share of
/// [`crate::model::Evaluation::quantiles`].
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Spread {
    /// Stored bytes of a payload.
    pub packed_bytes: Vec<f64>,
    /// Time to pack a payload, in nanoseconds.
    pub pack_ns: Vec<f64>,
    /// Time to unpack a payload, in nanoseconds.
    pub unpack_ns: Vec<f64>,
}

/// Figures over raw calls of stage 2, all rounds together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Calls {
    /// How many round trips were made.
    pub count: u64,
    /// How many of them the system interrupted; they are left out of every time.
    pub preempted: u64,
    /// Wall time of a round trip, mean, in nanoseconds, interrupted ones included.
    pub wall_ns: f64,
    /// CPU time of a round trip by the thread's own clock, mean, in nanoseconds.
    pub cpu_ns: f64,
    /// 99 % of the packing calls took at most this, in nanoseconds.
    pub pack_p99_ns: f64,
    /// 99.9 % of them.
    pub pack_p999_ns: f64,
    /// 99 % of the unpacking calls took at most this, in nanoseconds.
    pub unpack_p99_ns: f64,
    /// 99.9 % of them.
    pub unpack_p999_ns: f64,
}

/// The cache regimes and context life cycles beside the default one, which is rotating payloads
/// with reused contexts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Regimes {
    /// How many payloads these figures are of.
    pub payloads: u64,
    /// The least of repeated calls on the same payload: the style of lzbench, a lower bound.
    pub same_payload: RoundTrip,
    /// Rotating payloads on the same choice of payloads, to compare with.
    pub rotating: RoundTrip,
    /// Caches filled with something else before each call.
    pub cold_cache: RoundTrip,
    /// A new context for each call.
    pub fresh_context: RoundTrip,
}

/// Times of packing and unpacking.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct RoundTrip {
    /// Packing.
    pub pack_ns: Nanoseconds,
    /// Unpacking.
    pub unpack_ns: Nanoseconds,
}

/// First calls, each in a process of its own.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct FirstCall {
    /// How many processes.
    pub processes: u64,
    /// A new context and the first packing call, median over the processes, in nanoseconds.
    pub pack_p50_ns: f64,
    /// The longest of them.
    pub pack_max_ns: f64,
    /// A new context and the first unpacking call, median, in nanoseconds.
    pub unpack_p50_ns: f64,
    /// The longest of them.
    pub unpack_max_ns: f64,
}

/// What a dictionary costs.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct DictionaryCost {
    /// The dictionary's id in envelopes.
    pub id: String,
    /// Bytes to distribute to every reader and writer.
    pub bytes: u64,
    /// Memory of the form prepared for packing, once per process.
    pub compress_memory_bytes: u64,
    /// Memory of the form prepared for unpacking, once per process.
    pub decompress_memory_bytes: u64,
    /// Time to train it, in seconds.
    pub build_seconds: f64,
    /// How many payloads trained it; none of them measured it.
    pub trained_on_payloads: u64,
    /// Their bytes.
    pub trained_on_bytes: u64,
    /// How much smaller the same trial is with it than without, as a share, on held-out payloads.
    pub gain: f64,
    /// Where the gain lies with 95 % confidence.
    pub gain_interval: Interval,
}

/// A trial against the recommended one on the same payloads: above 1 is worse.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Paired {
    /// Stored bytes over those of the recommended trial.
    pub size_ratio: f64,
    /// Where that lies with 95 % confidence.
    pub size_interval: Interval,
    /// Time to pack and unpack over that of the recommended trial.
    pub time_ratio: f64,
    /// Where that lies with 95 % confidence.
    pub time_interval: Interval,
    /// The goal's score less that of the recommended trial: 0.02 is about 2 % worse.
    pub score_difference: f64,
    /// Where that lies with 95 % confidence.
    pub score_interval: Interval,
    /// Whether the two can't be told apart under the goal.
    pub is_tie: bool,
}
