//! Dictionaries as candidates: trained on the payloads that train, in the form that a codec will
//! see, and tried with every candidate whose codec takes one.
//!
//! A dictionary for an encoding other than the payload's own text is trained on encoded payloads,
//! because those are what the codec compresses. For the columnar encoding that takes two steps: its
//! model is learned first, and the codec's part from what payloads are under that model.

use std::sync::Arc;
use std::time::Instant;

use cinch_core::codec::DictionaryUse;
use cinch_core::dictionary::Dictionary;
use cinch_core::encoding::{Encoding, Engine};
use cinch_core::schema::Schema;
use cinch_learn::deny::Deny;
use cinch_learn::{CodecPart, Course, LearnError, Lessons, Parameters};

use crate::candidate::{Candidate, Learned};
use crate::corpus::Corpus;
use crate::groups::Groups;

/// The sizes of dictionaries that are tried: one that stays in a processor's first-level cache, and
/// the usual one.
const DICTIONARY_BYTES: [usize; 2] = [16 << 10, 110 << 10];

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
    pub trouble: Option<LearnError>,
}

/// A dictionary holds only what so many groups of payloads had, each of which stands for an entity:
/// dictionaries are handed around, and what few had may be private.
pub const ENTITIES_MIN: u32 = 10;

/// Trains dictionaries on these payloads, for those of the candidates that can use one; with `all`
/// for every level of every encoding. Candidates that need a schema have theirs, which is one of
/// `schemas`.
pub fn learn(
    corpus: &Corpus,
    groups: &Groups,
    training: &[usize],
    candidates: &[Candidate],
    schemas: &[Arc<Schema>],
    all: bool,
) -> Training {
    let mut found = Training::default();
    let mut encodings: Vec<&'static Encoding> = Vec::new();
    for candidate in candidates {
        let is_text = candidate.encoding.is_json_text;
        let lacks_schema = candidate.encoding.needs_schema && candidate.schema.is_none();
        if !encodings.contains(&candidate.encoding) && !is_text && !lacks_schema {
            encodings.push(candidate.encoding);
        }
    }
    let payloads: Vec<(&[u8], u32)> =
        training.iter().map(|&index| (&*corpus.payloads[index].bytes, groups.of[index])).collect();
    let start = Instant::now();
    let lessons = Lessons::of(&payloads, &Deny::default()).with_schemas(schemas);
    for encoding in encodings {
        let takers: Vec<&Candidate> = candidates
            .iter()
            .filter(|candidate| candidate.encoding == encoding && may_take(candidate, all))
            .collect();
        if takers.is_empty() {
            continue;
        }
        if let Err(error) = learn_for(&lessons, encoding, &takers, &mut found) {
            found.trouble.get_or_insert(error);
        }
    }
    found.seconds = start.elapsed().as_secs_f64();
    found
}

/// Trains dictionaries for the candidates of one encoding.
fn learn_for(
    lessons: &Lessons<'_>,
    encoding: &'static Encoding,
    takers: &[&Candidate],
    found: &mut Training,
) -> Result<(), LearnError> {
    let mut course = Course::new(lessons, encoding, ENTITIES_MIN)?;
    let mut last = None;
    for bytes in sizes(course.bytes_max(), is_main(encoding)) {
        let part = course.part(Parameters::default(), bytes, TRAIN_LEVEL)?;
        // A larger size holds no more where no more is shared.
        if last.replace(part.content().len()) != Some(part.content().len()) {
            found.candidates.extend(with_dictionary(lessons, &course, takers, &part)?);
        }
    }
    Ok(())
}

/// The sizes up to one, for a corpus too small for the usual ones one of its own.
fn sizes(bytes_max: usize, all: bool) -> Vec<usize> {
    let largest = bytes_max >> 10 << 10;
    let usual = DICTIONARY_BYTES.into_iter().filter(|&bytes| all || bytes == OTHER_ENCODINGS_BYTES);
    let mut sizes: Vec<usize> = usual.map(|bytes| bytes.min(largest).max(SMALLEST_BYTES)).collect();
    sizes.dedup();
    sizes
}

/// Whether every size and level is tried with an encoding.
fn is_main(encoding: &Encoding) -> bool {
    matches!(encoding.engine, Engine::Verbatim | Engine::Text(_))
}

fn may_take(candidate: &Candidate, all: bool) -> bool {
    let takes = candidate.codec.codec.info().dictionary_use != DictionaryUse::None;
    let is_level = || OTHER_ENCODINGS_LEVELS.contains(&candidate.codec.level);
    takes && (all || is_main(candidate.encoding) || is_level())
}

/// The candidates with the dictionary in the form that their codec takes, where it takes it.
fn with_dictionary(
    lessons: &Lessons<'_>,
    course: &Course,
    takers: &[&Candidate],
    part: &CodecPart,
) -> Result<Vec<Candidate>, LearnError> {
    let Some(encoding) = takers.first().map(|taker| taker.encoding) else { return Ok(Vec::new()) };
    let description = lessons.description(encoding, TRAIN_LEVEL, ENTITIES_MIN).to_json();
    let learned = |dictionary: Arc<Dictionary>| {
        Arc::new(Learned {
            label: format!("{}K", (dictionary.bytes().len() >> 10).max(1)),
            dictionary,
            build_seconds: part.build_seconds,
            sample_payloads: part.sample_payloads as u64,
            sample_bytes: part.sample_bytes as u64,
        })
    };
    let own = learned(course.file(part, &description)?);
    let raw = learned(course.raw_file(part, &description)?);
    let candidates = takers.iter().filter_map(|&taker| {
        let learned = match taker.codec.codec.info().dictionary_use {
            DictionaryUse::EveryLevel => Arc::clone(&own),
            DictionaryUse::HighLevels => Arc::clone(&raw),
            DictionaryUse::None => return None,
        };
        let candidate = Candidate { learned: Some(learned), ..taker.clone() };
        candidate.is_possible().then_some(candidate)
    });
    Ok(candidates.collect())
}
