//! How the measurement went: counts, seconds, the host, and what the user should know, so that a
//! reader can judge how far to trust the figures.

use serde::{Deserialize, Serialize};

/// How the measurement went.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
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
    /// Where the time of stage 2 went.
    pub stage2: StageTwo,
    /// Time spent training dictionaries, in seconds.
    pub training_seconds: f64,
    /// Whether the host was quiet while times were taken.
    pub noise: Noise,
    /// What the user should know about the measurement.
    pub notices: Vec<String>,
    /// The processor, as the system names it.
    pub processor: String,
    /// How many logical processors there are.
    pub processors: u64,
    /// What the system says of the host, as name and value, for whoever repeats the run.
    pub host: Vec<(String, String)>,
}

/// Where the wall time of stage 2 went, in seconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct StageTwo {
    /// Inside measured calls.
    pub measured_seconds: f64,
    /// Checking what came back, before the rounds.
    pub comparison_seconds: f64,
    /// Everything else: clocks, turns, evicting caches, starting processes.
    pub other_seconds: f64,
    /// `other_seconds` over the wall time less comparison.
    pub overhead_share: f64,
}

/// Whether the host was quiet.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Noise {
    /// Whether any of the signs below was above its bound.
    pub is_noisy: bool,
    /// The signs that were, as sentences.
    pub signs: Vec<String>,
    /// Share of the timed round trips that the system interrupted.
    pub preempted_share: f64,
    /// CPU time over wall time of the measuring thread.
    pub cpu_share: f64,
    /// Mean over the trials of how far their rounds lay apart.
    pub round_spread: f64,
}
