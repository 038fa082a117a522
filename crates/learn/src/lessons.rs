//! The payloads that teach, and what they are under an encoding.
//!
//! What is denied is changed in them before anything else sees them. For the columnar encoding
//! learning takes two steps: its model comes first, and the codec's part is learned from what
//! payloads are under that model.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::Arc;

use cinch_core::dictionary::{Dictionary, DictionaryError, Evidence, write_file};
use cinch_core::document::Document;
use cinch_core::encoding::columnar::{self, LearnedModel};
use cinch_core::encoding::{Encoding, Engine};
use cinch_core::json;
use sha2::{Digest, Sha256};

use crate::content::Parameters;
use crate::deny::Deny;
use crate::description::Description;
use crate::part::{CodecPart, Ground, LearnError, dictionary_id};
use crate::samples::{Sample, TRAIN_BYTES_MAX};

/// Payloads that teach, each with the number of its entity.
pub struct Lessons<'a> {
    payloads: Vec<(Cow<'a, [u8]>, u32)>,
    /// How many of them were changed.
    denied: usize,
    sha256: [u8; 32],
    denied_names: Vec<String>,
}

impl<'a> Lessons<'a> {
    /// All of the payloads, or evenly spread ones of about [`TRAIN_BYTES_MAX`] bytes.
    pub fn of(payloads: &[(&'a [u8], u32)], deny: &Deny) -> Lessons<'a> {
        let total: usize = payloads.iter().map(|(payload, _)| payload.len()).sum();
        let stride = (total / TRAIN_BYTES_MAX + 1).max(1);
        let mut taken: Vec<(usize, &(&[u8], u32))> =
            payloads.iter().enumerate().step_by(stride).collect();
        // A learner tells entities apart by their change.
        taken.sort_by_key(|(_, (_, entity))| *entity);
        let mut denied = 0;
        let mut hash = Sha256::new();
        let changed = taken.iter().map(|&(number, &(payload, entity))| {
            hash.update(payload);
            hash.update(b"\n");
            let changed = deny.scramble(payload, number);
            denied += usize::from(matches!(changed, Cow::Owned(_)));
            (changed, entity)
        });
        let payloads = changed.collect();
        let denied_names = deny.names();
        Lessons { payloads, denied, sha256: hash.finalize().into(), denied_names }
    }

    /// How many payloads held something that is denied.
    pub fn denied(&self) -> usize {
        self.denied
    }

    /// How many payloads there are.
    pub fn count(&self) -> usize {
        self.payloads.len()
    }

    /// What a dictionary says of itself that these payloads trained.
    pub fn description(&self, encoding: &Encoding, level: i32, entities_min: u32) -> Description {
        Description {
            cinch: env!("CARGO_PKG_VERSION").to_owned(),
            encoder: columnar::ENCODER_VERSION,
            encoding: encoding.name.to_owned(),
            level,
            payloads: self.payloads.len() as u64,
            payload_bytes: self.payloads.iter().map(|(payload, _)| payload.len() as u64).sum(),
            payloads_sha256: self.sha256.iter().map(|byte| format!("{byte:02x}")).collect(),
            entities: self.entities() as u64,
            entities_min,
            entity_field: None,
            denied: self.denied_names.clone(),
            trained: None,
            held_out: None,
        }
    }

    /// How many different entities there are.
    pub fn entities(&self) -> usize {
        self.payloads.iter().map(|(_, entity)| entity).collect::<HashSet<_>>().len()
    }

    /// What payloads share, as a model for the columnar encoding.
    fn model(&self, entities_min: u32) -> Option<LearnedModel> {
        let mut bytes = 0;
        let payloads: Vec<(&[u8], u32)> = self
            .payloads
            .iter()
            .take_while(|(payload, _)| {
                bytes += payload.len();
                bytes <= TRAIN_BYTES_MAX
            })
            .map(|(payload, entity)| (&**payload, *entity))
            .collect();
        columnar::learn(&payloads, entities_min)
    }

    /// The payloads as the codec will see them; those that the encoding refuses teach nothing.
    fn encoded(&self, encoding: &Encoding, model: Option<&[u8]>) -> Vec<(Vec<u8>, u32)> {
        let mut encode = encoder(encoding, model);
        let encoded = |(payload, entity): &(Cow<'_, [u8]>, u32)| Some((encode(payload)?, *entity));
        self.payloads.iter().filter_map(encoded).collect()
    }

    /// Evenly spread payloads of at most about so many bytes as the codec will see them, as they
    /// are where the encoding refuses them.
    pub(crate) fn encoded_within(
        &self,
        encoding: &Encoding,
        model: Option<&[u8]>,
        limit_bytes: usize,
    ) -> Vec<Vec<u8>> {
        let total: usize = self.payloads.iter().map(|(payload, _)| payload.len()).sum();
        let stride = (total / limit_bytes + 1).max(1);
        let mut encode = encoder(encoding, model);
        let taken = self.payloads.iter().step_by(stride);
        taken.map(|(payload, _)| encode(payload).unwrap_or_else(|| payload.to_vec())).collect()
    }
}

/// Encodes payloads; nothing for what the encoding refuses.
fn encoder<'a>(
    encoding: &'a Encoding,
    model: Option<&[u8]>,
) -> impl FnMut(&[u8]) -> Option<Vec<u8>> + 'a {
    let mut document = Document::new();
    let mut encoder = match encoding.engine {
        Engine::Text(engine) => {
            Some(model.and_then(columnar::encoder_for).unwrap_or_else(|| engine.encoder(None)))
        }
        _ => None,
    };
    move |payload: &[u8]| {
        let mut bytes = Vec::new();
        let is_encoded = match (&encoding.engine, &mut encoder) {
            (Engine::Document(engine), _) => {
                json::parse(encoding.parser, payload, &mut document).is_ok()
                    && engine.encode(&document, &mut bytes).is_ok()
            }
            (_, Some(encoder)) => encoder.encode(payload, &mut bytes).is_ok(),
            _ => {
                bytes.extend_from_slice(payload);
                true
            }
        };
        is_encoded.then_some(bytes)
    }
}

/// What is to be learned for one encoding.
pub struct Course {
    model: Option<LearnedModel>,
    ground: Ground,
}

impl Course {
    /// Learns the model, if the encoding has one, and looks for what at least `entities_min`
    /// entities share under it.
    ///
    /// # Errors
    /// [`LearnError`] where the payloads are too few or have nothing in common.
    pub fn new(
        lessons: &Lessons<'_>,
        encoding: &Encoding,
        entities_min: u32,
    ) -> Result<Course, LearnError> {
        let model = match encoding.engine {
            Engine::Text(_) => lessons.model(entities_min),
            _ => None,
        };
        let encoded = lessons.encoded(encoding, model.as_ref().map(|model| &*model.bytes));
        let samples: Vec<Sample<'_>> =
            encoded.iter().map(|(bytes, entity)| Sample { bytes, entity: *entity }).collect();
        Ok(Course { model, ground: Ground::of(&samples, entities_min)? })
    }

    /// The columnar encoding's model, as a dictionary file holds it.
    pub fn model_bytes(&self) -> Option<&[u8]> {
        self.model.as_ref().map(|model| &*model.bytes)
    }

    /// The most bytes that a dictionary of these payloads may have.
    pub fn bytes_max(&self) -> usize {
        self.ground.bytes_max()
    }

    /// Makes the codec's part; see [`Ground::part`].
    ///
    /// # Errors
    /// As [`Ground::part`].
    pub fn part(
        &mut self,
        parameters: Parameters,
        bytes: usize,
        level: i32,
    ) -> Result<CodecPart, LearnError> {
        self.ground.part(parameters, bytes, level)
    }

    /// A dictionary file with this part in zstd's format and the model.
    ///
    /// # Errors
    /// Where it would be longer than a dictionary may be.
    pub fn file(
        &self,
        part: &CodecPart,
        description: &str,
    ) -> Result<Arc<Dictionary>, DictionaryError> {
        self.file_with(part.dictionary.codec_bytes(), part, description)
    }

    /// The same, with the part's content alone, for codecs other than zstd.
    ///
    /// # Errors
    /// As [`Course::file`].
    pub fn raw_file(
        &self,
        part: &CodecPart,
        description: &str,
    ) -> Result<Arc<Dictionary>, DictionaryError> {
        self.file_with(part.content(), part, description)
    }

    fn file_with(
        &self,
        codec: &[u8],
        part: &CodecPart,
        description: &str,
    ) -> Result<Arc<Dictionary>, DictionaryError> {
        let model = self.model_bytes();
        // The id has to tell the file from one with another model.
        let id = dictionary_id(&[codec, model.unwrap_or_default()].concat());
        let segments = part.segments.iter();
        let evidence = Evidence {
            segments: segments.map(|s| (s.bytes as u32, s.entities as u32)).collect(),
            model: self.model.as_ref().map(|model| model.entities.clone()).unwrap_or_default(),
        };
        Dictionary::new(write_file(id, codec, model, description, Some(&evidence)))
    }
}
