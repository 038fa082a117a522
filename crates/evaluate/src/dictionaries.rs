//! Dictionaries as candidates: trained on the payloads that train, in the form that a codec will
//! see, and tried with every candidate whose codec takes one.
//!
//! A dictionary for an encoding other than the payload's own text is trained on encoded payloads,
//! because those are what the codec compresses.

use std::sync::Arc;

use cinch_core::codec::DictionaryUse;
use cinch_core::dictionary::Dictionary;
use cinch_core::document::Document;
use cinch_core::encoding::{Encoding, Engine};
use cinch_core::json;

use crate::candidate::{Candidate, Learned};
use crate::corpus::Corpus;
use crate::train::{
    DICTIONARY_BYTES, SAMPLE_BYTES_FACTOR, TRAIN_BYTES_MAX, TrainError, Trained, train,
};

/// The level that dictionaries are trained for: what most services use.
const TRAIN_LEVEL: i32 = 3;

/// Encodings other than the payload's own text get dictionaries of this size only: they are tried
/// to see whether the encoding is worth a closer look.
const OTHER_ENCODINGS_BYTES: usize = DICTIONARY_BYTES[DICTIONARY_BYTES.len() - 1];

/// The smallest dictionary that is tried.
const SMALLEST_BYTES: usize = 1 << 10;

/// The codecs that are tried with a dictionary under an encoding other than the payload's own text.
const OTHER_ENCODINGS_LEVELS: &[i32] = &[3, 19];

/// What came of training.
#[derive(Default)]
pub struct Training {
    /// The candidates that use what was learned.
    pub candidates: Vec<Candidate>,
    /// Time of the trainer, in seconds.
    pub seconds: f64,
    /// Why the first dictionary that could not be trained was not.
    pub trouble: Option<TrainError>,
}

/// Trains dictionaries on these payloads, for those of the candidates that can use one.
pub fn learn(corpus: &Corpus, training: &[usize], candidates: &[Candidate]) -> Training {
    let mut found = Training::default();
    let mut encodings: Vec<&'static Encoding> = Vec::new();
    for candidate in candidates {
        let is_text = candidate.encoding.is_json_text;
        if !encodings.contains(&candidate.encoding) && !is_text {
            encodings.push(candidate.encoding);
        }
    }
    for encoding in encodings {
        let takers: Vec<&Candidate> = candidates
            .iter()
            .filter(|candidate| candidate.encoding == encoding && may_take(candidate))
            .collect();
        if takers.is_empty() {
            continue;
        }
        let samples = encoded(corpus, training, encoding);
        let samples: Vec<&[u8]> = samples.iter().map(Vec::as_slice).collect();
        let sample_bytes: usize = samples.iter().map(|sample| sample.len()).sum();
        for bytes in sizes(sample_bytes, is_verbatim(encoding)) {
            match train(&samples, bytes, TRAIN_LEVEL) {
                Ok(trained) => {
                    found.seconds += trained.build_seconds;
                    found.candidates.extend(with_dictionary(&takers, bytes, &trained));
                }
                Err(error) => {
                    found.trouble.get_or_insert(error);
                }
            }
        }
    }
    found
}

/// The sizes that this many bytes of samples allow, for a corpus too small for the usual ones one
/// of its own.
fn sizes(sample_bytes: usize, all: bool) -> Vec<usize> {
    let largest = (sample_bytes / SAMPLE_BYTES_FACTOR) >> 10 << 10;
    let usual = DICTIONARY_BYTES.into_iter().filter(|&bytes| all || bytes == OTHER_ENCODINGS_BYTES);
    let mut sizes: Vec<usize> = usual.map(|bytes| bytes.min(largest).max(SMALLEST_BYTES)).collect();
    sizes.dedup();
    sizes
}

fn is_verbatim(encoding: &Encoding) -> bool {
    matches!(encoding.engine, Engine::Verbatim)
}

fn may_take(candidate: &Candidate) -> bool {
    let takes = candidate.codec.codec.info().dictionary_use != DictionaryUse::None;
    takes
        && (is_verbatim(candidate.encoding)
            || OTHER_ENCODINGS_LEVELS.contains(&candidate.codec.level))
}

/// The candidates with the dictionary in the form that their codec takes, where it takes it.
fn with_dictionary(takers: &[&Candidate], bytes: usize, trained: &Trained) -> Vec<Candidate> {
    let learned = |dictionary: Arc<Dictionary>| {
        Arc::new(Learned {
            label: format!("{}K", bytes >> 10),
            dictionary,
            build_seconds: trained.build_seconds,
            sample_payloads: trained.sample_payloads as u64,
            sample_bytes: trained.sample_bytes as u64,
        })
    };
    let own = learned(Arc::clone(&trained.dictionary));
    let raw = trained.raw().ok().map(|raw| learned(raw.dictionary));
    takers
        .iter()
        .filter_map(|&taker| {
            let learned = match taker.codec.codec.info().dictionary_use {
                DictionaryUse::EveryLevel => Arc::clone(&own),
                DictionaryUse::HighLevels => raw.clone()?,
                DictionaryUse::None => return None,
            };
            let candidate = Candidate { learned: Some(learned), ..taker.clone() };
            candidate.is_possible().then_some(candidate)
        })
        .collect()
}

/// The training payloads as the codec will see them, as many as the trainer takes.
fn encoded(corpus: &Corpus, training: &[usize], encoding: &Encoding) -> Vec<Vec<u8>> {
    let mut document = Document::new();
    let total: usize = training.iter().map(|&index| corpus.payloads[index].bytes.len()).sum();
    // Every so many-th payload, so that the sample is spread over all of them.
    let stride = (total / TRAIN_BYTES_MAX + 1).max(1);
    let mut samples = Vec::new();
    for &index in training.iter().step_by(stride) {
        let payload = &corpus.payloads[index];
        match encoding.engine {
            Engine::Verbatim => samples.push(payload.bytes.to_vec()),
            Engine::Document(engine) => {
                let mut bytes = Vec::new();
                if payload.is_json
                    && json::parse(encoding.parser, &payload.bytes, &mut document).is_ok()
                    && engine.encode(&document, &mut bytes).is_ok()
                {
                    samples.push(bytes);
                }
            }
        }
    }
    samples
}
