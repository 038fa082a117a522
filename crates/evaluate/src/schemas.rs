//! Schemas as candidates need them: inferred from the payloads that train, one for each language,
//! or given by the user.
//!
//! An inferred schema is written as a file and read again before it is used, so that what is
//! measured is what the report folder holds.

use std::sync::Arc;
use std::time::Instant;

use cinch_core::document::Document;
use cinch_core::encoding::{Encoding, Engine, Parser};
use cinch_core::json;
use cinch_core::schema::{Language, Schema};
use cinch_schema::{Model, Observations};

use crate::candidate::Candidate;
use crate::corpus::Corpus;

/// The schemas of a run.
#[derive(Default)]
pub struct Schemas {
    /// At most one of each language.
    pub found: Vec<Arc<Schema>>,
    /// The languages whose schema the user gave.
    pub given: Vec<Language>,
    /// How many payloads the others were inferred from.
    pub payloads: u64,
    /// Time to infer them, in seconds.
    pub seconds: f64,
}

/// The language of an encoding's schemas, for one that needs a schema.
pub fn language_of(encoding: &Encoding) -> Option<Language> {
    match encoding.engine {
        Engine::Schema(engine) => Some(engine.language()),
        _ => None,
    }
}

impl Schemas {
    /// The given schemas, and for those of the candidates' languages that have none, one inferred
    /// from the payloads that train.
    pub fn of(
        corpus: &Corpus,
        training: &[usize],
        candidates: &[Candidate],
        given: &[Arc<Schema>],
    ) -> Schemas {
        let mut schemas = Schemas {
            found: given.to_vec(),
            given: given.iter().map(|schema| schema.language()).collect(),
            ..Schemas::default()
        };
        let mut languages: Vec<Language> = candidates
            .iter()
            .filter_map(|candidate| language_of(candidate.encoding))
            .filter(|language| !schemas.given.contains(language))
            .collect();
        languages.sort_unstable();
        languages.dedup();
        if languages.is_empty() || training.is_empty() {
            return schemas;
        }
        let start = Instant::now();
        let mut observations = Observations::new();
        let mut document = Document::new();
        for &index in training {
            let bytes = &corpus.payloads[index].bytes;
            if json::parse(Parser::Simd, bytes, &mut document).is_ok() {
                observations.observe(&document);
            }
        }
        schemas.payloads = observations.payloads();
        if schemas.payloads > 0 {
            let model = Model::of(&observations);
            for language in languages {
                let written = cinch_schema::write(language, &model, None, true);
                let read = written
                    .ok()
                    .and_then(|written| cinch_schema::read(language, written.text.as_bytes()).ok());
                schemas.found.extend(read);
            }
        }
        schemas.seconds = start.elapsed().as_secs_f64();
        schemas
    }

    /// Gives a candidate the schema of its encoding's language.
    pub fn attach(&self, candidate: &mut Candidate) {
        let Some(language) = language_of(candidate.encoding) else { return };
        candidate.schema = self.found.iter().find(|schema| schema.language() == language).cloned();
    }
}

/// The name of a schema's file in the report folder.
pub fn file_name(schema: &Schema) -> String {
    format!("schema.{}", schema.language().extension())
}
