//! What an evaluation found: the one model that the terminal table, the HTML report and the JSON
//! file render, so that they can't disagree. spec/evaluation.md defines every figure.
//!
//! The names of the fields are the names in the JSON file; they are added to, never changed.

use serde::{Deserialize, Serialize};

/// A whole evaluation.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Evaluation {
    /// The version of this model: raised when a field changes its meaning.
    pub format: u32,
    /// The payloads.
    pub corpus: CorpusSummary,
    /// The goal that ranked the trials.
    pub goal: String,
    /// Where the application's time starts and ends: `text` or `value`.
    pub from: String,
    /// The budgets, as they were given.
    pub budgets: Vec<String>,
    /// Every trial, in the order of the table: timed ones by rank, then the rest by size.
    pub trials: Vec<Trial>,
    /// The trials that no other beats in both size and time, smallest first.
    pub front: Vec<FrontPoint>,
    /// The trial that factors compare with.
    pub baseline: Reference,
    /// What to use, and why.
    pub recommended: Recommendation,
    /// How the measurement went.
    pub run: Run,
    /// What decides every random choice.
    pub seed: u64,
    /// cinch and every library that did the work.
    pub versions: Vec<Version>,
}

/// The payloads of an evaluation.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct CorpusSummary {
    /// The name in titles: the sources, or what was generated.
    pub name: String,
    /// How many payloads were kept.
    pub payloads: u64,
    /// Their bytes.
    pub bytes: u64,
    /// How many of them are JSON.
    pub json_payloads: u64,
    /// How many payloads the sources hold, sampled or not.
    pub seen: u64,
    /// The bytes of those.
    pub seen_bytes: u64,
    /// How many kept payloads are exact copies of an earlier one.
    pub duplicates: u64,
    /// Sizes in bytes.
    pub size: SizeSummary,
    /// Payloads by size class.
    pub classes: Vec<SizeClass>,
    /// What could not be read.
    pub problems: ProblemSummary,
    /// Files of a folder that hold no payloads by their name.
    pub skipped_files: Vec<String>,
}

/// Sizes of payloads in bytes.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct SizeSummary {
    /// The smallest.
    pub min: u64,
    /// The mean.
    pub mean: f64,
    /// Half are at most this.
    pub p50: u64,
    /// 95 % are at most this.
    pub p95: u64,
    /// 99 % are at most this.
    pub p99: u64,
    /// The largest.
    pub max: u64,
}

/// Payloads of about one size.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct SizeClass {
    /// The name, such as `1-4 KiB`.
    pub name: String,
    /// How many payloads.
    pub payloads: u64,
    /// Their bytes.
    pub bytes: u64,
    /// The best trial of this class under the goal; nothing where none pays or was timed.
    pub winner: Option<String>,
}

/// What could not be read.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct ProblemSummary {
    /// How many payloads or files.
    pub count: u64,
    /// The first of them, as `file:line: reason`.
    pub first: Vec<String>,
}

/// A time over payloads, in nanoseconds: of each payload's median over the rounds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
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
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Trial {
    /// The name, such as `msgpack+zlib:6`.
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
    /// All that stands between the application and the stored bytes (see `from`).
    pub pack_ns: Nanoseconds,
    /// The same on the way back.
    pub unpack_ns: Nanoseconds,
    /// A new context and its first call, on a payload of median size.
    pub first_call_ns: f64,
    /// The largest spread of a payload's mean time between rounds, as a share of the median.
    pub round_spread: f64,
    /// What the contexts hold between calls.
    pub memory_bytes: u64,
    /// Payloads that the encoding can't carry; they were packed verbatim.
    pub refused: u64,
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
    /// The rule that took it out, a colon, and why; or nothing.
    pub eliminated_by: Option<String>,
}

/// A trial on the front.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct FrontPoint {
    /// The trial's name.
    pub name: String,
    /// `bytes_in / packed_bytes`.
    pub packed_ratio: f64,
    /// Mean time to pack and unpack one payload, in nanoseconds.
    pub pack_unpack_ns: f64,
}

/// A trial that others are compared with.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Reference {
    /// The trial's name.
    pub name: String,
    /// The encoding.
    pub encoding: String,
    /// The codec.
    pub codec: String,
    /// The level.
    pub level: i32,
}

/// What to use, and why.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Recommendation {
    /// The trial's name.
    pub name: String,
    /// The encoding.
    pub encoding: String,
    /// The codec.
    pub codec: String,
    /// The level.
    pub level: i32,
    /// The dictionary's id, or nothing.
    pub dictionary: Option<String>,
    /// What a round trip keeps.
    pub fidelity: String,
    /// The trial that comes next under the goal, if there is one.
    pub runner_up: Option<String>,
    /// Sentences for people.
    pub reasons: Vec<String>,
    /// The profile file's text.
    pub profile: String,
}

/// How the measurement went.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Run {
    /// Whether it was cut short, so that some trials have fewer payloads or rounds.
    pub interrupted: bool,
    /// How many payloads stage 1 sized.
    pub stage1_payloads: u64,
    /// How many trials stage 1 sized.
    pub stage1_trials: u64,
    /// How many payloads stage 2 timed.
    pub stage2_payloads: u64,
    /// How many trials stage 2 timed.
    pub stage2_trials: u64,
    /// How many rounds stage 2 made.
    pub stage2_rounds: u32,
    /// How many trials stage 3 ran over the whole corpus.
    pub stage3_trials: u64,
    /// Wall time of the three stages in seconds.
    pub stage_seconds: [f64; 3],
    /// What the user should know about the measurement.
    pub notices: Vec<String>,
    /// The processor, as the system names it.
    pub processor: String,
    /// How many logical processors there are.
    pub processors: u64,
}

/// A component and its version.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Version {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
}
