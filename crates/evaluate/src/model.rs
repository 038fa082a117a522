//! What an evaluation found: the one model that the terminal table, the HTML report and the JSON
//! file render, so that they can't disagree. spec/evaluation.md defines every figure.
//!
//! The names of the fields are the names in the JSON file; they are added to, never changed.

mod against;
mod behind;
mod capacity;
mod link;
mod run;
mod trial;

use serde::{Deserialize, Serialize};

use crate::bootstrap::Interval;

pub use against::{AgainstModel, AgainstTrial};
pub use behind::{BehindModel, BehindRow};
pub use capacity::{CapacityModel, CapacityRow};
pub use link::{LinkModel, LinkTrial};
pub use run::{Noise, Run, StageTwo};
pub use trial::{
    Calls, DictionaryCost, FirstCall, HeldOut, Nanoseconds, Paired, Regimes, RoundTrip, Spread,
    Trial,
};

/// The shares at which [`Spread`] is told.
pub const QUANTILES: [f64; 13] =
    [0.0, 0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.995, 0.999, 1.0];

/// A whole evaluation.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
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
    /// The schemas that trials were measured with.
    pub schemas: Vec<SchemaFile>,
    /// The shares at which every `spread` is told.
    pub quantiles: Vec<f64>,
    /// The time over a link, where one was given.
    pub link: Option<LinkModel>,
    /// Days and money on a disk, where one was given.
    pub capacity: Option<CapacityModel>,
    /// The net gain behind a store that compresses already, one for each store that was named.
    pub behind: Vec<BehindModel>,
    /// What changed since an older run, where one was given.
    pub against: Option<AgainstModel>,
    /// How the measurement went.
    pub run: Run,
    /// What decides every random choice.
    pub seed: u64,
    /// cinch and every library that did the work.
    pub versions: Vec<Version>,
}

/// The payloads of an evaluation.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
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
    /// How many groups of near-duplicates there are, a payload without any being its own.
    pub groups: u64,
    /// How many payloads the largest group has.
    pub largest_group: u64,
    /// Which payloads trained, chose and reported.
    pub split: SplitSummary,
    /// Sizes in bytes.
    pub size: SizeSummary,
    /// Payloads by size class.
    pub classes: Vec<SizeClass>,
    /// What could not be read.
    pub problems: ProblemSummary,
    /// Files of a folder that hold no payloads by their name.
    pub skipped_files: Vec<String>,
}

/// Which payloads trained, chose and reported. Where there were too few to part, each part is all
/// of them.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct SplitSummary {
    /// `group`, `order`, or nothing where there was no split.
    pub by: Option<String>,
    /// Payloads that trained dictionaries.
    pub train: u64,
    /// Payloads that chose the winner.
    pub select: u64,
    /// Payloads that the held-out figures are of.
    pub report: u64,
}

/// Sizes of payloads in bytes.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
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
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct SizeClass {
    /// The name, such as `1 to 4 KiB`.
    pub name: String,
    /// The longest payload of the class in bytes; nothing for the last class.
    pub max_bytes: Option<u64>,
    /// How many payloads.
    pub payloads: u64,
    /// Their bytes.
    pub bytes: u64,
    /// The best trial of this class under the goal; nothing where none pays or was timed.
    pub winner: Option<String>,
    /// The trials that can't be told from the winner in this class.
    pub ties: Vec<String>,
    /// How much better the winner is here than the trial that is recommended overall, as a share
    /// of the goal's score; 0 where it is the same or tied.
    pub gain: f64,
    /// The timed trials on the payloads of this class.
    pub trials: Vec<ClassTrial>,
}

/// One trial on the payloads of one size class that were timed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ClassTrial {
    /// The trial's name.
    pub name: String,
    /// How many payloads.
    pub payloads: u64,
    /// Their bytes as the application sees them.
    pub bytes_in: u64,
    /// Their bytes as the codec leaves them.
    pub bytes_out: u64,
    /// Their bytes as cinch stores them.
    pub packed_bytes: u64,
    /// `bytes_in / bytes_out`.
    pub ratio: f64,
    /// Encoded bytes to compressed bytes.
    pub compress_ns: Nanoseconds,
    /// Compressed bytes to encoded bytes.
    pub decompress_ns: Nanoseconds,
    /// All of packing.
    pub pack_ns: Nanoseconds,
    /// All of unpacking.
    pub unpack_ns: Nanoseconds,
    /// The goal's score on this class: less is better.
    pub score: Option<f64>,
}

/// What could not be read.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ProblemSummary {
    /// How many payloads or files.
    pub count: u64,
    /// The first of them, as `file:line: reason`.
    pub first: Vec<String>,
}

/// A trial on the front.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct FrontPoint {
    /// The trial's name.
    pub name: String,
    /// `bytes_in / packed_bytes`.
    pub packed_ratio: f64,
    /// Mean time to pack and unpack one payload, in nanoseconds.
    pub pack_unpack_ns: f64,
}

/// A trial that others are compared with.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
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
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
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
    /// The trials that can't be told from it under the goal, the recommended one left out.
    pub ties: Vec<String>,
    /// What would change the choice, as sentences with figures.
    pub flips: Vec<String>,
    /// What doing nothing and gzip -6 would cost instead, as sentences with figures.
    pub costs: Vec<String>,
    /// Below this many bytes a payload had better stay plain; nothing where all pay.
    pub min_size_bytes: Option<u64>,
    /// Sentences for people.
    pub reasons: Vec<String>,
    /// What was recommended when the same was asked before; nothing where it was not, or where that
    /// is not remembered.
    pub remembered: Option<Remembered>,
    /// The profile file's text.
    pub profile: String,
    /// The text of a profile with a rule for each size class that another trial wins clearly;
    /// nothing where none does.
    pub profile_by_class: Option<String>,
    /// The files that profiles name beside themselves.
    pub dictionaries: Vec<DictionaryFile>,
    /// The further dictionaries that the profile by class names.
    pub dictionaries_by_class: Vec<DictionaryFile>,
}

/// What was recommended when the same was asked before.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Remembered {
    /// The trial's name.
    pub name: String,
    /// When it was recommended, in UTC, such as `2026-11-21T21:30:00Z`.
    pub at: String,
    /// Whether it is recommended again.
    pub is_kept: bool,
    /// Where it is, and this run alone would have recommended another trial: that one.
    pub anew: Option<String>,
    /// Where it is not, and its score says why: the trial with the best score.
    pub best: Option<String>,
    /// How far it is behind that trial, as a share: e to the difference of their scores, less 1.
    pub behind: Option<f64>,
    /// The 95 % interval of the same.
    pub behind_interval: Option<Interval>,
    /// Where it is not, and could not have been whatever its score: why.
    pub out_by: Option<String>,
}

/// A dictionary that a profile names.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct DictionaryFile {
    /// The file's name, beside the profile.
    pub file_name: String,
    /// The id that envelopes carry.
    pub id: String,
    /// The SHA-256 of the file.
    pub sha256: String,
    /// The file's bytes, written beside the profile and never into the JSON.
    #[serde(skip)]
    pub bytes: Vec<u8>,
}

/// A schema that trials were measured with.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SchemaFile {
    /// The file's name, in the report folder and beside the profile.
    pub file_name: String,
    /// Its language.
    pub language: String,
    /// The SHA-256 of the file.
    pub sha256: String,
    /// How many payloads it was inferred from; 0 for one that was given.
    pub trained_on_payloads: u64,
    /// The file's bytes, written beside the profile and never into the JSON.
    #[serde(skip)]
    pub bytes: Vec<u8>,
}

/// A component and its version.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Version {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
}
