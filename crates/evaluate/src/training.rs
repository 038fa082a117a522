//! Training a dictionary in full: what `cinch train` does.
//!
//! An evaluation trains dictionaries in passing, to see whether one is worth it. Here parameters
//! and sizes are searched at the level that will be used, for each encoding, the best is trained
//! again on all payloads but those that report, and these decide whether it is worth handing
//! around. "No dictionary" is an answer like any other.

mod contest;
mod decision;
mod entities;
mod result;
mod text;

use std::sync::Arc;

use cinch_core::codec::{CodecChoice, DictionaryUse};
use cinch_core::dictionary::Dictionary;
use cinch_core::encoding::{Encoding, encoding_named};
use cinch_core::pack::PackError;
use cinch_core::profile::Profile;
use cinch_learn::deny::Deny;
use cinch_learn::{CodecPart, Course, Found, HeldOut, LearnError, Lessons, SIZES, SearchError};

use crate::corpus::{Corpus, FieldPath};
use crate::groups::{Groups, near_duplicates};
use crate::measure::Watch;
use crate::report::human;
use crate::split::{Split, SplitBy, split};

pub use contest::Contender;
pub use decision::{Decision, SMALLER_BY_MIN, TIME_TOLERANCE};
pub use result::{DictionaryFacts, Privacy, TrainingResult, TriedSize};
pub use text::render;

/// Fewer payloads make a dictionary that later ones may not look like.
pub const PAYLOADS_FEW: usize = 100;

/// What the user asked for.
pub struct TrainingRequest {
    /// The encodings that are tried; with none, the columnar one for JSON, and the payload's own
    /// text.
    pub encodings: Vec<&'static Encoding>,
    /// The codec that the dictionary is for.
    pub codec: CodecChoice,
    /// What fewer entities had is not learned.
    pub entities_min: u32,
    /// The member of a payload that tells its entity; near-duplicates are one otherwise.
    pub entity_field: Option<FieldPath>,
    /// What is not learned whoever had it.
    pub deny: Deny,
    /// The dictionary that is in use.
    pub against: Option<Arc<Dictionary>>,
    /// How the payloads are parted.
    pub split_by: SplitBy,
    /// The seed of every choice.
    pub seed: u64,
    /// The time that the dictionary says it was trained at.
    pub trained: Option<String>,
}

/// Why nothing could be trained or judged.
#[derive(Debug, thiserror::Error)]
pub enum TrainingError {
    /// The codec takes no dictionary.
    #[error("{codec} takes no dictionary; zstd and lz4 do")]
    NoDictionary {
        /// The codec.
        codec: String,
    },
    /// The codec failed while it was judged.
    #[error(transparent)]
    Search(#[from] SearchError),
    /// A payload could not be packed.
    #[error(transparent)]
    Pack(#[from] PackError),
    /// The user stopped it.
    #[error("interrupted: no dictionary was written")]
    Interrupted,
}

/// A dictionary that was learned, and how the search for it went.
struct Learned {
    encoding: &'static Encoding,
    found: Found,
}

/// A dictionary that was trained on all payloads but those that report.
struct Made<'a> {
    lessons: Lessons<'a>,
    course: Course,
    part: CodecPart,
}

/// Trains a dictionary and judges it.
///
/// # Errors
/// [`TrainingError`]; payloads that have nothing in common are a result and no error.
pub fn train(
    corpus: &Corpus,
    request: &TrainingRequest,
    watch: &mut Watch<'_>,
) -> Result<TrainingResult, TrainingError> {
    if request.codec.codec.info().dictionary_use == DictionaryUse::None {
        let codec = request.codec.codec.info().name.to_owned();
        return Err(TrainingError::NoDictionary { codec });
    }
    let groups = near_duplicates(corpus);
    let entities = entities::of(corpus, &groups, request.entity_field.as_ref());
    let parts = split(corpus, &groups, request.split_by, request.seed);
    let trainer = Trainer { corpus, request, groups, entities, parts };
    let encodings = trainer.encodings();
    watch.progress.begin("training", cinch_learn::steps() * encodings.len() as u64 + 3);
    let mut result = trainer.result();
    let mut learned: Vec<Learned> = Vec::new();
    for &encoding in &encodings {
        match trainer.search(encoding, watch) {
            Ok(found) => {
                result.add_tried(encoding, &found);
                learned.push(Learned { encoding, found });
            }
            Err(SearchError::Learn(error)) => {
                result.warnings.push(format!("With {}: {error}.", encoding.name));
            }
            Err(error) => return Err(error.into()),
        }
        if watch.stopped() {
            return Err(TrainingError::Interrupted);
        }
    }
    let best = learned.into_iter().min_by_key(|learned| learned.found.best.judged_bytes);
    let Some(best) = best else {
        result.decision = decision::nothing_in_common();
        return Ok(result);
    };
    trainer.finish(&best, &encodings, &mut result, watch)?;
    Ok(result)
}

struct Trainer<'a> {
    corpus: &'a Corpus,
    request: &'a TrainingRequest,
    groups: Groups,
    entities: entities::Entities,
    parts: Split,
}

impl Trainer<'_> {
    /// The encodings that are tried.
    fn encodings(&self) -> Vec<&'static Encoding> {
        if !self.request.encodings.is_empty() {
            return self.request.encodings.clone();
        }
        let current = self.request.against.as_deref().map(|dictionary| dictionary.model());
        let names: &[&str] = match current {
            // Another encoding would be a change of the profile as well.
            Some(Some(_)) => &["columnar"],
            Some(None) => &["verbatim"],
            None if self.corpus.payloads.iter().any(|payload| payload.is_json) => {
                &["columnar", "verbatim"]
            }
            None => &["verbatim"],
        };
        names.iter().filter_map(|name| encoding_named(name)).collect()
    }

    fn result(&self) -> TrainingResult {
        let mut warnings: Vec<String> = self.parts.notice.iter().cloned().collect();
        let count = self.corpus.payloads.len();
        if count < PAYLOADS_FEW {
            warnings.push(format!(
                "The corpus has {}, fewer than {PAYLOADS_FEW}: later payloads may not look like \
                 these.",
                human::counted(count as u64, "payload")
            ));
        }
        warnings.extend(self.entities.notice.clone());
        TrainingResult {
            payloads: count,
            payload_bytes: self.corpus.payloads.iter().map(|p| p.bytes.len() as u64).sum(),
            groups: self.groups.count,
            entities: self.entities.count,
            parts: [self.parts.train.len(), self.parts.select.len(), self.parts.report.len()],
            codec: self.request.codec.to_string(),
            tried: Vec::new(),
            held_out: Vec::new(),
            privacy: None,
            facts: None,
            warnings,
            decision: decision::nothing_in_common(),
            dictionary: None,
        }
    }

    /// Payloads with their entities.
    fn taken(&self, indices: &[usize]) -> Vec<(&[u8], u32)> {
        let payload =
            |&index: &usize| (&*self.corpus.payloads[index].bytes, self.entities.of[index]);
        indices.iter().map(payload).collect()
    }

    fn search(
        &self,
        encoding: &'static Encoding,
        watch: &mut Watch<'_>,
    ) -> Result<Found, SearchError> {
        let deny = &self.request.deny;
        let lessons = Lessons::of(&self.taken(&self.parts.train), deny);
        let none = Deny::nothing();
        let judges = Lessons::of(&self.taken(&self.parts.select), &none);
        let mut course = Course::new(&lessons, encoding, self.request.entities_min)?;
        let progress = &mut *watch.progress;
        course.search(encoding, &self.request.codec, &judges, || progress.advance(1))
    }

    /// The payloads that train in the end: all but those that report.
    fn lessons_indices(&self) -> Vec<usize> {
        let mut indices = self.parts.train.clone();
        if self.parts.by.is_some() {
            indices.extend(&self.parts.select);
            indices.sort_unstable();
        }
        indices
    }

    /// Trains what the search found on more payloads.
    fn learn(
        &self,
        best: &Learned,
        bytes: usize,
        entities_min: u32,
        deny: &Deny,
    ) -> Result<Made<'_>, LearnError> {
        let lessons = Lessons::of(&self.taken(&self.lessons_indices()), deny);
        let mut course = Course::new(&lessons, best.encoding, entities_min)?;
        let bytes = bytes.min(course.bytes_max());
        let part = course.part(best.found.best.parameters, bytes, self.request.codec.level)?;
        Ok(Made { lessons, course, part })
    }

    /// The file of what was trained.
    fn file(&self, made: &Made<'_>, description: &str) -> Result<Arc<Dictionary>, LearnError> {
        Ok(match self.request.codec.codec.info().dictionary_use {
            DictionaryUse::EveryLevel => made.course.file(&made.part, description)?,
            _ => made.course.raw_file(&made.part, description)?,
        })
    }

    /// Trains the best on all payloads but those that report, and has these judge it.
    fn finish(
        &self,
        best: &Learned,
        encodings: &[&'static Encoding],
        result: &mut TrainingResult,
        watch: &mut Watch<'_>,
    ) -> Result<(), TrainingError> {
        let request = self.request;
        let profile = |encoding: &'static Encoding, dictionary: Option<Arc<Dictionary>>| {
            let mut profile = Profile::new(encoding, request.codec);
            profile.dictionary = dictionary;
            profile
        };
        let bytes = best.found.best.bytes;
        let made = self.learn(best, bytes, request.entities_min, &request.deny);
        let made = made.and_then(|made| Ok((self.file(&made, "")?, made)));
        let (dictionary, made) = match made {
            Ok(made) => made,
            Err(error) => {
                result.warnings.push(format!("{error}."));
                return Ok(());
            }
        };
        watch.progress.advance(1);
        let mut contest = contest::Contest::new(self.taken(&self.parts.report));
        for &encoding in encodings {
            contest.enter("no dictionary", profile(encoding, None))?;
        }
        if let Some(current) = &request.against {
            let name = if current.model().is_some() { "columnar" } else { "verbatim" };
            if let Some(encoding) = encoding_named(name) {
                contest.enter("current", profile(encoding, Some(Arc::clone(current))))?;
            }
        }
        contest.enter("new", profile(best.encoding, Some(Arc::clone(&dictionary))))?;
        result.held_out = contest.run(watch)?;
        watch.progress.advance(1);
        // Without privacy: what anybody had, whoever they are, as much of it as there may be.
        let open = self.learn(best, SIZES[SIZES.len() - 1], 1, &Deny::nothing());
        if let Ok(open) = open.and_then(|open| self.file(&open, "")) {
            let bytes = contest.bytes_of(&profile(best.encoding, Some(open)))?;
            result.privacy =
                Some(Privacy { entities_min: request.entities_min, bytes, bytes_open: bytes });
        }
        watch.progress.advance(1);
        result.decision =
            decision::decide(&result.held_out, best.encoding, self.parts.by.is_some());
        let new_bytes = result.held_out.last().map_or(0, |new| new.bytes);
        if let Some(privacy) = &mut result.privacy {
            privacy.bytes = new_bytes;
        }
        let held_out = HeldOut {
            payloads: self.parts.report.len() as u64,
            bytes: contest.text_bytes(),
            bytes_without: result.smallest_without(),
            bytes_with: new_bytes,
        };
        let level = request.codec.level;
        let mut description = made.lessons.description(best.encoding, level, request.entities_min);
        description.entity_field = request.entity_field.as_ref().map(ToString::to_string);
        description.trained.clone_from(&request.trained);
        description.held_out = Some(held_out);
        if let Ok(dictionary) = self.file(&made, &description.to_json()) {
            result.facts = Some(DictionaryFacts {
                id: dictionary.id(),
                encoding: best.encoding.name.to_owned(),
                file_bytes: dictionary.bytes().len(),
                content_bytes: made.part.content().len(),
                model_bytes: made.course.model_bytes().map_or(0, <[u8]>::len),
                payloads: made.lessons.count(),
                entities: made.lessons.entities(),
                denied_payloads: made.lessons.denied(),
                build_seconds: made.part.build_seconds,
            });
            result.dictionary = Some(dictionary);
        }
        Ok(())
    }
}
