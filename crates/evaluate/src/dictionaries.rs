//! Dictionaries as candidates: trained on the payloads that train, in the form that a codec will
//! see, and tried with every candidate whose codec takes one.
//!
//! A dictionary for an encoding other than the payload's own text is trained on encoded payloads,
//! because those are what the codec compresses. For the columnar encoding that takes two steps: its
//! model is learned first, and the codec's part from what payloads are under that model.

use std::sync::Arc;
use std::time::Instant;

use cinch_core::codec::DictionaryUse;
use cinch_core::dictionary::{Dictionary, write_file};
use cinch_core::document::Document;
use cinch_core::encoding::{Encoding, Engine, columnar};
use cinch_core::json;

use crate::candidate::{Candidate, Learned};
use crate::corpus::Corpus;
use crate::groups::Groups;
use crate::train::{
    DICTIONARY_BYTES, SAMPLE_BYTES_FACTOR, TRAIN_BYTES_MAX, TrainError, Trained, dictionary_id,
    train, usable_bytes,
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

/// A model holds only what so many groups of payloads had, each of which stands for an entity:
/// dictionaries are handed around, and what few had may be private.
const ENTITIES_MIN: u32 = 10;

/// Trains dictionaries on these payloads, for those of the candidates that can use one; with `all`
/// for every level of every encoding.
pub fn learn(
    corpus: &Corpus,
    groups: &Groups,
    training: &[usize],
    candidates: &[Candidate],
    all: bool,
) -> Training {
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
            .filter(|candidate| candidate.encoding == encoding && may_take(candidate, all))
            .collect();
        if takers.is_empty() {
            continue;
        }
        let start = Instant::now();
        let model = match encoding.engine {
            Engine::Text(_) => model_of(corpus, groups, training),
            _ => None,
        };
        found.seconds += start.elapsed().as_secs_f64();
        let samples = encoded(corpus, training, encoding, model.as_deref());
        let samples: Vec<&[u8]> = samples.iter().map(Vec::as_slice).collect();
        for bytes in sizes(usable_bytes(&samples), is_main(encoding)) {
            match train(&samples, bytes, TRAIN_LEVEL) {
                Ok(trained) => {
                    found.seconds += trained.build_seconds;
                    let with = with_dictionary(&takers, bytes, &trained, model.as_deref());
                    found.candidates.extend(with);
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

/// Whether every size and level is tried with an encoding.
fn is_main(encoding: &Encoding) -> bool {
    matches!(encoding.engine, Engine::Verbatim | Engine::Text(_))
}

/// What payloads share, as a model for the columnar encoding.
fn model_of(corpus: &Corpus, groups: &Groups, training: &[usize]) -> Option<Vec<u8>> {
    let mut payloads: Vec<(&[u8], u32)> = Vec::new();
    let mut bytes = 0;
    for &index in training {
        let payload = &corpus.payloads[index];
        bytes += payload.bytes.len();
        if bytes > TRAIN_BYTES_MAX {
            break;
        }
        payloads.push((&payload.bytes, groups.of[index]));
    }
    payloads.sort_by_key(|&(_, group)| group);
    columnar::learn(&payloads, ENTITIES_MIN)
}

/// A dictionary for a codec, put into a file with a model.
fn with_model(codec_part: &Dictionary, model: &[u8]) -> Option<Arc<Dictionary>> {
    // Its id has to tell it from a file with another model.
    let mut parts = codec_part.bytes().to_vec();
    parts.extend_from_slice(model);
    let id = dictionary_id(&parts);
    let description = serde_json::json!({ "entities_min": ENTITIES_MIN }).to_string();
    Dictionary::new(write_file(id, codec_part.bytes(), Some(model), &description)).ok()
}

fn may_take(candidate: &Candidate, all: bool) -> bool {
    let takes = candidate.codec.codec.info().dictionary_use != DictionaryUse::None;
    let is_level = || OTHER_ENCODINGS_LEVELS.contains(&candidate.codec.level);
    takes && (all || is_main(candidate.encoding) || is_level())
}

/// The candidates with the dictionary in the form that their codec takes, where it takes it.
fn with_dictionary(
    takers: &[&Candidate],
    bytes: usize,
    trained: &Trained,
    model: Option<&[u8]>,
) -> Vec<Candidate> {
    let learned = |dictionary: Arc<Dictionary>| {
        let dictionary = match model {
            Some(model) => with_model(&dictionary, model)?,
            None => dictionary,
        };
        Some(Arc::new(Learned {
            label: format!("{}K", bytes >> 10),
            dictionary,
            build_seconds: trained.build_seconds,
            sample_payloads: trained.sample_payloads as u64,
            sample_bytes: trained.sample_bytes as u64,
        }))
    };
    let own = learned(Arc::clone(&trained.dictionary));
    let raw = trained.raw().ok().and_then(|raw| learned(raw.dictionary));
    takers
        .iter()
        .filter_map(|&taker| {
            let learned = match taker.codec.codec.info().dictionary_use {
                DictionaryUse::EveryLevel => own.clone()?,
                DictionaryUse::HighLevels => raw.clone()?,
                DictionaryUse::None => return None,
            };
            let candidate = Candidate { learned: Some(learned), ..taker.clone() };
            candidate.is_possible().then_some(candidate)
        })
        .collect()
}

/// The training payloads as the codec will see them, as many as the trainer takes.
fn encoded(
    corpus: &Corpus,
    training: &[usize],
    encoding: &Encoding,
    model: Option<&[u8]>,
) -> Vec<Vec<u8>> {
    let mut document = Document::new();
    let mut encoder = match encoding.engine {
        Engine::Text(engine) => {
            Some(model.and_then(columnar::encoder_for).unwrap_or_else(|| engine.encoder(None)))
        }
        _ => None,
    };
    let total: usize = training.iter().map(|&index| corpus.payloads[index].bytes.len()).sum();
    // Every so many-th payload, so that the sample is spread over all of them.
    let stride = (total / TRAIN_BYTES_MAX + 1).max(1);
    let mut samples = Vec::new();
    for &index in training.iter().step_by(stride) {
        let payload = &corpus.payloads[index];
        match encoding.engine {
            Engine::Verbatim => samples.push(payload.bytes.to_vec()),
            Engine::Text(_) => {
                let mut bytes = Vec::new();
                if let Some(encoder) = &mut encoder
                    && encoder.encode(&payload.bytes, &mut bytes).is_ok()
                {
                    samples.push(bytes);
                }
            }
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
