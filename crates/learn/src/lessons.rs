//! The payloads that teach, and what they are under an encoding.
//!
//! What is denied is changed in them before anything else sees them. For the columnar encoding
//! learning takes two steps: its model comes first, and the codec's part is learned from what
//! payloads are under that model.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::Arc;

use cinch_core::codec::codec_named;
use cinch_core::dictionary::{Dictionary, DictionaryError, Evidence, FileContent, write_file};
use cinch_core::document::Document;
use cinch_core::encoding::columnar::{self, LearnedModel};
use cinch_core::encoding::{DocumentEncoding, Encoding, Engine, TextEncoder};
use cinch_core::json;
use cinch_core::schema::Schema;
use sha2::{Digest, Sha256};

use crate::content::Parameters;
use crate::deny::Deny;
use crate::description::Description;
use crate::part::{CodecPart, Ground, LearnError, dictionary_id};
use crate::samples::{Sample, TRAIN_BYTES_MAX};
use crate::search::packed_bytes;

/// Payloads that teach, each with the number of its entity.
pub struct Lessons<'a> {
    payloads: Vec<(Cow<'a, [u8]>, u32)>,
    /// How many of them were changed.
    denied: usize,
    sha256: [u8; 32],
    denied_names: Vec<String>,
    schemas: Vec<Arc<Schema>>,
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
        let (sha256, schemas) = (hash.finalize().into(), Vec::new());
        Lessons { payloads, denied, sha256, denied_names, schemas }
    }

    /// The same with schemas, at most one of each language, for the encodings that need one: under
    /// those whose schema is not here the payloads teach nothing.
    pub fn with_schemas(self, schemas: &[Arc<Schema>]) -> Lessons<'a> {
        Lessons { schemas: schemas.to_vec(), ..self }
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
    fn encoded(&self, encoding: &Encoding, under: Under<'_>) -> Vec<(Vec<u8>, u32)> {
        let mut encode = self.encoder(encoding, under);
        let encoded = |(payload, entity): &(Cow<'_, [u8]>, u32)| Some((encode(payload)?, *entity));
        self.payloads.iter().filter_map(encoded).collect()
    }

    /// Evenly spread payloads of at most about so many bytes as the codec will see them, as they
    /// are where the encoding refuses them.
    pub(crate) fn encoded_within(
        &self,
        encoding: &Encoding,
        under: Under<'_>,
        limit_bytes: usize,
    ) -> Vec<Vec<u8>> {
        let total: usize = self.payloads.iter().map(|(payload, _)| payload.len()).sum();
        let stride = (total / limit_bytes + 1).max(1);
        let mut encode = self.encoder(encoding, under);
        let taken = self.payloads.iter().step_by(stride);
        taken.map(|(payload, _)| encode(payload).unwrap_or_else(|| payload.to_vec())).collect()
    }

    /// Encodes payloads; nothing for what the encoding refuses.
    fn encoder<'e>(
        &self,
        encoding: &'e Encoding,
        under: Under<'_>,
    ) -> impl FnMut(&[u8]) -> Option<Vec<u8>> + use<'e> {
        let mut document = Document::new();
        let mut encoder = match encoding.engine {
            Engine::Text(engine) => Some(under.encoder().unwrap_or_else(|| engine.encoder(None))),
            _ => None,
        };
        let of_schema = |schema| encoding.with_schema(Some(schema)).ok().flatten();
        let with_schema = self.schemas.iter().find_map(of_schema);
        move |payload: &[u8]| {
            let mut bytes = Vec::new();
            let document_encoding: Option<&dyn DocumentEncoding> = match &encoding.engine {
                Engine::Document(engine) => Some(*engine),
                Engine::Schema(_) => Some(with_schema.as_deref()?),
                _ => None,
            };
            let is_encoded = match (document_encoding, &mut encoder) {
                (Some(engine), _) => {
                    json::parse(encoding.parser, payload, &mut document).is_ok()
                        && engine.encode(&document, &mut bytes).is_ok()
                }
                (None, Some(encoder)) => encoder.encode(payload, &mut bytes).is_ok(),
                (None, None) => {
                    bytes.extend_from_slice(payload);
                    true
                }
            };
            is_encoded.then_some(bytes)
        }
    }
}

/// What the columnar encoding refers back to; nothing for any other.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Under<'a> {
    pub(crate) model: Option<&'a [u8]>,
    pub(crate) texts_in_order: bool,
}

impl Under<'_> {
    /// An encoder for it, if there is a model.
    fn encoder(self) -> Option<Box<dyn TextEncoder>> {
        columnar::encoder_for(self.model?, self.texts_in_order)
    }
}

/// What is to be learned for one encoding.
pub struct Course {
    model: Option<LearnedModel>,
    texts_in_order: bool,
    ground: Ground,
}

/// What the orders of texts are tried on, in bytes.
const TRIED_ON_BYTES: usize = 2_000_000;

/// Both orders of texts are tried with a part of at most so many bytes.
const TRIED_BYTES: usize = 32 << 10;

/// Texts stand in the order of the payload only where that makes payloads smaller by this share:
/// slot by slot they compress better under codecs without a dictionary.
const ORDER_GAIN_MIN: f64 = 0.01;

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
        let by_slots = Course::with_order(lessons, encoding, entities_min, model, false)?;
        if by_slots.model.is_none() {
            return Ok(by_slots);
        }
        let model = by_slots.model.clone();
        let in_order = Course::with_order(lessons, encoding, entities_min, model, true)?;
        let [mut by_slots, mut in_order] = [by_slots, in_order];
        let bytes_in_order = in_order.tried_bytes(lessons, encoding);
        let bytes_by_slots = by_slots.tried_bytes(lessons, encoding);
        let is_better = match (bytes_in_order, bytes_by_slots) {
            (Some(new), Some(old)) => (new as f64) < old as f64 * (1.0 - ORDER_GAIN_MIN),
            _ => false,
        };
        Ok(if is_better { in_order } else { by_slots })
    }

    fn with_order(
        lessons: &Lessons<'_>,
        encoding: &Encoding,
        entities_min: u32,
        model: Option<LearnedModel>,
        texts_in_order: bool,
    ) -> Result<Course, LearnError> {
        let under = Under { model: model.as_ref().map(|model| &*model.bytes), texts_in_order };
        let encoded = lessons.encoded(encoding, under);
        let samples: Vec<Sample<'_>> =
            encoded.iter().map(|(bytes, entity)| Sample { bytes, entity: *entity }).collect();
        Ok(Course { texts_in_order, ground: Ground::of(&samples, entities_min)?, model })
    }

    /// The bytes of the payloads with a small part. They trained it, but what is in it was had by
    /// enough entities, so that it serves others as well.
    fn tried_bytes(&mut self, lessons: &Lessons<'_>, encoding: &Encoding) -> Option<u64> {
        let bytes = TRIED_BYTES.min(self.bytes_max());
        let part = self.part(Parameters::default(), bytes, 3).ok()?;
        let encoded = lessons.encoded_within(encoding, self.under(), TRIED_ON_BYTES);
        let zstd = codec_named("zstd-bare")?;
        let compressor = zstd.compressor(3, Some(&part.dictionary)).ok()?;
        packed_bytes(zstd, compressor, &encoded).ok()
    }

    /// What payloads are encoded under.
    pub(crate) fn under(&self) -> Under<'_> {
        Under { model: self.model_bytes(), texts_in_order: self.texts_in_order }
    }

    /// The columnar encoding's model, as a dictionary file holds it.
    pub fn model_bytes(&self) -> Option<&[u8]> {
        self.model.as_ref().map(|model| &*model.bytes)
    }

    /// The most bytes that a dictionary of these payloads may have.
    pub fn bytes_max(&self) -> usize {
        self.ground.bytes_max()
    }

    /// Makes the codec's part, with content of at most `bytes` bytes, for a level of zstd. The same
    /// payloads give the same bytes.
    ///
    /// # Errors
    /// [`LearnError`] where there are too few payloads for so many bytes.
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
        let order = [u8::from(self.texts_in_order)];
        let id = dictionary_id(&[codec, model.unwrap_or_default(), &order].concat());
        let segments = part.segments.iter();
        let evidence = Evidence {
            segments: segments.map(|s| (s.bytes as u32, s.entities as u32)).collect(),
            model: self.model.as_ref().map(|model| model.entities.clone()).unwrap_or_default(),
        };
        let content = FileContent {
            codec,
            model,
            texts_in_order: self.texts_in_order,
            description,
            evidence: Some(&evidence),
        };
        Dictionary::new(write_file(id, content))
    }
}
