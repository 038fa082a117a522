//! What came of training, for the terminal and for machines.
//! The dictionary itself is beside it, because it is written only if it is worth it.

use std::sync::Arc;

use cinch_core::dictionary::Dictionary;
use cinch_core::encoding::Encoding;
use cinch_learn::Found;
use serde::Serialize;

use super::contest::Contender;
use super::decision::Decision;

/// What came of training.
#[derive(Debug, Clone, Serialize)]
pub struct TrainingResult {
    /// How many payloads there are.
    pub payloads: usize,
    /// Their bytes.
    pub payload_bytes: u64,
    /// How many groups of near-duplicates they are.
    pub groups: usize,
    /// How many entities they are of.
    pub entities: usize,
    /// How many payloads trained, selected and report.
    pub parts: [usize; 3],
    /// The codec.
    pub codec: String,
    /// The sizes and parameters that were tried.
    pub tried: Vec<TriedSize>,
    /// What each contender made of the payloads that report; the new dictionary last.
    pub held_out: Vec<Contender>,
    /// What leaving out what few had costs.
    pub privacy: Option<Privacy>,
    /// The dictionary that was learned.
    pub facts: Option<DictionaryFacts>,
    /// What the user should know, in sentences.
    pub warnings: Vec<String>,
    /// Whether it is worth it.
    pub decision: Decision,
    /// The dictionary.
    #[serde(skip)]
    pub dictionary: Option<Arc<Dictionary>>,
}

/// A size that was tried.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TriedSize {
    /// The encoding.
    pub encoding: &'static str,
    /// The most bytes of content.
    pub bytes: usize,
    /// The bytes of the parts that were counted.
    pub part_bytes: usize,
    /// What a text cost beside its bytes.
    pub piece_cost_bytes: u64,
    /// The bytes of the payloads that select.
    pub judged_bytes: u64,
    /// The same without a dictionary.
    pub judged_bytes_without: u64,
    /// Whether it was taken for its encoding.
    pub is_best: bool,
}

/// A dictionary that was learned.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DictionaryFacts {
    /// Its id.
    pub id: u32,
    /// The encoding that it is for.
    pub encoding: String,
    /// The bytes to distribute.
    pub file_bytes: usize,
    /// The bytes that codecs refer back to.
    pub content_bytes: usize,
    /// The bytes of the columnar encoding's model.
    pub model_bytes: usize,
    /// How many payloads trained it.
    pub payloads: usize,
    /// How many entities they are of.
    pub entities: usize,
    /// How many of them held something that is denied.
    pub denied_payloads: usize,
    /// How long learning took, in seconds.
    pub build_seconds: f64,
}

/// What leaving out what few had costs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Privacy {
    /// How many entities had everything in the dictionary.
    pub entities_min: u32,
    /// The bytes of the payloads that report with it.
    pub bytes: u64,
    /// The same with a dictionary that holds what anybody had.
    pub bytes_open: u64,
}

impl Privacy {
    /// How much larger payloads are for it, as a share.
    pub fn price(&self) -> f64 {
        self.bytes as f64 / self.bytes_open.max(1) as f64 - 1.0
    }
}

impl TrainingResult {
    pub(super) fn add_tried(&mut self, encoding: &Encoding, found: &Found) {
        self.tried.extend(found.tried.iter().map(|tried| TriedSize {
            encoding: encoding.name,
            bytes: tried.bytes,
            part_bytes: tried.parameters.part_bytes,
            piece_cost_bytes: tried.parameters.piece_cost_bytes,
            judged_bytes: tried.judged_bytes,
            judged_bytes_without: found.judged_bytes_without,
            is_best: *tried == found.best,
        }));
    }

    /// The least bytes of the payloads that report without a dictionary.
    pub(super) fn smallest_without(&self) -> u64 {
        let without = self.held_out.iter().filter(|contender| contender.name == "no dictionary");
        without.map(|contender| contender.bytes).min().unwrap_or(0)
    }
}
