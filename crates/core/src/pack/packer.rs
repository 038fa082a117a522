//! The packer: one payload in, what is stored out, under one profile.
//!
//! All its buffers are reused. It never fails for a reason in the payload but its size: what the
//! encoding can't carry is packed verbatim, what does not shrink stays plain, and both are told in
//! the [`Outcome`] so that the caller can count them.

use std::sync::Arc;

use crate::codec::{Codec, CodecChoice, CompressError, Compressor, STORED, SetupError};
use crate::dictionary::Dictionary;
use crate::document::{Document, first_difference};
use crate::encoding::{DocumentEncoding, Encoding, Engine, Refusal, TextEncoder, WithSchema};
use crate::envelope::{FIELD_BASE, FIELD_SCHEMA, Field, Header, checksum, looks_like_envelope};
use crate::json;
use crate::limits::PAYLOAD_BYTES_MAX;
use crate::pack::{
    Unpacker, encoded_bytes_max, is_worth_packing, looks_like_interop, reason_to_leave,
};
use crate::profile::{Method, Profile, VerifyOnPack};
use crate::schema::Schema;

mod delta;

pub use delta::{DeltaOutcome, NotDelta};

/// One payload in this many is verified when verification is sampled.
const SAMPLED_EVERY: u64 = 64;

/// Why a payload stays plain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PlainReason {
    /// It is shorter than the profile's minimum.
    BelowMinSize,
    /// It is a bare number.
    Number,
    /// It starts like a compressed format.
    AlreadyCompressed,
    /// A rule of the profile leaves payloads of its size plain.
    Rule,
    /// It would shrink by less than the profile's minimum.
    GainTooSmall,
    /// The codec failed.
    CodecFailed(CompressError),
    /// The packed form did not unpack to the payload. This is a bug: count it and report it.
    VerificationFailed,
}

impl PlainReason {
    /// The name in metrics and reports.
    pub fn name(&self) -> &'static str {
        match self {
            PlainReason::BelowMinSize => "below min size",
            PlainReason::Number => "number",
            PlainReason::AlreadyCompressed => "already compressed",
            PlainReason::Rule => "rule",
            PlainReason::GainTooSmall => "gain too small",
            PlainReason::CodecFailed(_) => "codec failed",
            PlainReason::VerificationFailed => "verification failed",
        }
    }
}

/// What became of a payload.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// It is in an envelope.
    Packed {
        /// Why it was packed verbatim instead of in the profile's encoding, if it was.
        not_encoded: Option<NotEncoded>,
    },
    /// It started like an envelope, or like the interop form of one, and was wrapped in one,
    /// uncompressed.
    Wrapped,
    /// It is stored as it is.
    Plain(PlainReason),
}

/// Why the profile's encoding was not used for a payload.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NotEncoded {
    /// The payload is no JSON.
    NotJson(json::JsonError),
    /// The encoding can't carry the value.
    Refused(Refusal),
    /// The encoded form is longer than a decoder would allocate for it.
    TooLong,
    /// The encoded form did not decode to the value. This is a bug: count it and report it.
    NotTheSame,
}

/// Why a payload can't be packed at all.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PackError {
    /// The payload is longer than the packer takes.
    #[error("the payload has {got} bytes, the limit is {limit}")]
    TooLarge {
        /// The limit in bytes.
        limit: usize,
        /// The payload's length in bytes.
        got: usize,
    },
    /// The codec failed where the payload can't be left plain.
    #[error(transparent)]
    Codec(#[from] CompressError),
}

/// Packs payloads under one profile.
pub struct Packer {
    profile: Profile,
    /// For payloads that no rule takes.
    way: Way,
    /// The rules that pack, with their `max_bytes`: those that leave payloads plain are asked
    /// before, so that a payload which comes here belongs to the first that is large enough.
    ways_of_rules: Vec<(usize, Way)>,
    work: Work,
}

/// One method, ready to be used.
struct Way {
    encoding: &'static Encoding,
    codec: &'static dyn Codec,
    compressor: Box<dyn Compressor>,
    /// For an encoding of text.
    encoder: Option<Box<dyn TextEncoder>>,
    /// For an encoding with a schema.
    with_schema: Option<Box<dyn WithSchema>>,
    /// What names the schema in the header.
    schema_field: Vec<Field>,
    dictionary: Option<u32>,
}

/// What all ways share: the buffers, and what verifies.
struct Work {
    unpacker: Unpacker,
    document: Document,
    decoded: Document,
    encoded: Vec<u8>,
    text: Vec<u8>,
    body: Vec<u8>,
    verified: Vec<u8>,
    /// A delta's header and body, until it is known to be worth its base.
    delta: Vec<u8>,
    /// The one field of a delta, whose value is written anew for each.
    base_field: Vec<Field>,
    count: u64,
}

impl Way {
    fn new(
        encoding: &'static Encoding,
        choice: &CodecChoice,
        dictionary: Option<&Arc<Dictionary>>,
        schema: Option<&Arc<Schema>>,
    ) -> Result<Way, SetupError> {
        let with_schema = encoding.with_schema(schema)?;
        let named = schema.filter(|_| with_schema.is_some());
        let name =
            |schema: &Arc<Schema>| Field { kind: FIELD_SCHEMA, value: schema.prefix().to_vec() };
        let codec = choice.codec.bare_form().unwrap_or(choice.codec);
        Ok(Way {
            encoding,
            codec,
            compressor: codec.compressor(choice.level, dictionary)?,
            encoder: match encoding.engine {
                Engine::Text(engine) => Some(engine.encoder(dictionary.map(Arc::as_ref))),
                _ => None,
            },
            schema_field: named.map(name).into_iter().collect(),
            with_schema,
            dictionary: dictionary.map(|dictionary| dictionary.id()),
        })
    }
}

impl Packer {
    /// A packer for a profile, with its own contexts, one for each rule that packs and one for
    /// all other payloads; one packer for each thread.
    ///
    /// # Errors
    /// Where a codec has no such level, or does not take the dictionary that goes with it.
    pub fn new(profile: &Profile) -> Result<Packer, SetupError> {
        let mut ways_of_rules = Vec::new();
        for rule in &profile.rules {
            if let Some(Method { encoding, codec, dictionary, schema }) = &rule.method {
                let way = Way::new(encoding, codec, dictionary.as_ref(), schema.as_ref())?;
                ways_of_rules.push((rule.max_bytes, way));
            }
        }
        Ok(Packer {
            profile: profile.clone(),
            way: Way::new(
                profile.encoding,
                &profile.codec,
                profile.dictionary.as_ref(),
                profile.schema.as_ref(),
            )?,
            ways_of_rules,
            work: Work {
                unpacker: Unpacker::new(profile.dictionaries().map(Arc::clone))
                    .with_schemas(profile.schemas().map(Arc::clone)),
                document: Document::new(),
                decoded: Document::new(),
                encoded: Vec::new(),
                text: Vec::new(),
                body: Vec::new(),
                verified: Vec::new(),
                delta: Vec::new(),
                base_field: vec![Field { kind: FIELD_BASE, value: vec![0; size_of::<u64>()] }],
                count: 0,
            },
        })
    }

    /// Packs one payload into `out`, whose content is replaced.
    ///
    /// # Errors
    /// [`PackError::TooLarge`] above [`PAYLOAD_BYTES_MAX`]; `out` is then empty.
    pub fn pack(&mut self, payload: &[u8], out: &mut Vec<u8>) -> Result<Outcome, PackError> {
        out.clear();
        if payload.len() > PAYLOAD_BYTES_MAX {
            return Err(PackError::TooLarge { limit: PAYLOAD_BYTES_MAX, got: payload.len() });
        }
        self.work.count += 1;
        if looks_like_envelope(payload) || looks_like_interop(payload) {
            wrap(payload, out);
            return Ok(Outcome::Wrapped);
        }
        let reason = match reason_to_leave(&self.profile, payload) {
            Some(reason) => reason,
            None => {
                let (profile, way, work) = self.parts_for(payload.len());
                match work.pack(profile, way, payload, out) {
                    Ok(not_encoded) => return Ok(Outcome::Packed { not_encoded }),
                    Err(reason) => reason,
                }
            }
        };
        out.clear();
        out.extend_from_slice(payload);
        Ok(Outcome::Plain(reason))
    }

    /// What packs payloads of this length.
    fn parts_for(&mut self, payload_bytes: usize) -> (&Profile, &mut Way, &mut Work) {
        let of_rule =
            self.ways_of_rules.iter_mut().find(|(max_bytes, _)| payload_bytes <= *max_bytes);
        (&self.profile, of_rule.map_or(&mut self.way, |(_, way)| way), &mut self.work)
    }
}

impl Work {
    fn pack(
        &mut self,
        profile: &Profile,
        way: &mut Way,
        payload: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<Option<NotEncoded>, PlainReason> {
        let not_encoded = match (&way.encoding.engine, &mut way.encoder, &way.with_schema) {
            (Engine::Document(engine), ..) => self.encode(way.encoding, *engine, payload).err(),
            (.., Some(engine)) => self.encode(way.encoding, engine.as_ref(), payload).err(),
            (_, Some(encoder), _) => self.encode_text(encoder.as_mut(), payload).err(),
            _ => None,
        };
        let is_verbatim = matches!(way.encoding.engine, Engine::Verbatim) || not_encoded.is_some();
        let (encoding, text, encoded): (_, &[u8], &[u8]) = if is_verbatim {
            (None, payload, payload)
        } else if way.encoding.is_json_text {
            (Some(way.encoding.id), &self.encoded, &self.encoded)
        } else if way.encoder.is_some() {
            (Some(way.encoding.id), payload, &self.encoded)
        } else {
            (Some(way.encoding.id), &self.text, &self.encoded)
        };
        let header = Header {
            codec: way.codec.info().id,
            encoding,
            payload_bytes: text.len() as u32,
            dictionary: way.dictionary,
            checksum: Some(checksum(text)),
            fields: if is_verbatim { Vec::new() } else { way.schema_field.clone() },
        };
        header.write(out);

        let bound = way.codec.compress_bound(encoded.len());
        if self.body.len() < bound {
            self.body.resize(bound, 0);
        }
        let body_bytes =
            way.compressor.compress(encoded, &mut self.body).map_err(PlainReason::CodecFailed)?;
        if !is_worth_packing(profile, payload.len(), out.len() + body_bytes) {
            return Err(PlainReason::GainTooSmall);
        }
        out.extend_from_slice(&self.body[..body_bytes]);
        if self.is_verified(profile) {
            let unpacked = self.unpacker.unpack(out, &mut self.verified);
            if unpacked.is_err() || self.verified != text {
                return Err(PlainReason::VerificationFailed);
            }
        }
        Ok(not_encoded)
    }

    /// Whether the payload at hand is unpacked again and compared.
    fn is_verified(&self, profile: &Profile) -> bool {
        match profile.verify_on_pack {
            VerifyOnPack::Always => true,
            VerifyOnPack::Sampled => self.count.is_multiple_of(SAMPLED_EVERY),
            VerifyOnPack::Never => false,
        }
    }

    /// Encodes the payload's text into `self.encoded`; decoding gives the same text.
    fn encode_text(
        &mut self,
        encoder: &mut dyn TextEncoder,
        payload: &[u8],
    ) -> Result<(), NotEncoded> {
        self.encoded.clear();
        encoder.encode(payload, &mut self.encoded).map_err(NotEncoded::Refused)?;
        if self.encoded.len() > encoded_bytes_max(payload.len()) {
            return Err(NotEncoded::TooLong);
        }
        Ok(())
    }

    /// Encodes the payload into `self.encoded`, and into `self.text` what decoding it gives.
    fn encode(
        &mut self,
        encoding: &'static Encoding,
        engine: &dyn DocumentEncoding,
        payload: &[u8],
    ) -> Result<(), NotEncoded> {
        json::parse(encoding.parser, payload, &mut self.document).map_err(NotEncoded::NotJson)?;
        self.encoded.clear();
        engine.encode(&self.document, &mut self.encoded).map_err(NotEncoded::Refused)?;
        if encoding.is_json_text {
            return Ok(());
        }
        // What unpacking returns is the decoded value's text, so it has to be made here: the
        // header carries its length and checksum. The comparison costs little beside that.
        engine.decode(&self.encoded, &mut self.decoded).map_err(|_| NotEncoded::NotTheSame)?;
        if first_difference(&self.document, &self.decoded, encoding.fidelity).is_some() {
            return Err(NotEncoded::NotTheSame);
        }
        self.text.clear();
        json::write(&self.decoded, &mut self.text);
        if self.text.len() > PAYLOAD_BYTES_MAX
            || self.encoded.len() > encoded_bytes_max(self.text.len())
        {
            return Err(NotEncoded::TooLong);
        }
        Ok(())
    }
}

/// Puts a payload that starts like an envelope into one, uncompressed.
fn wrap(payload: &[u8], out: &mut Vec<u8>) {
    let header = Header {
        codec: STORED,
        encoding: None,
        payload_bytes: payload.len() as u32,
        dictionary: None,
        checksum: Some(checksum(payload)),
        fields: Vec::new(),
    };
    header.write(out);
    out.extend_from_slice(payload);
}
