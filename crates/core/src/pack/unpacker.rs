//! The unpacker: reads every envelope that this version knows, from bytes that may be hostile.
//!
//! The length in the header is checked against the caller's limit before anything is allocated, and
//! what was unpacked must have exactly that length and checksum. On any error the output is empty:
//! bytes that were not unpacked are never handed out.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::Arc;

use crate::codec::{CodecId, DecompressError, Decompressor, SetupError, decoder_of};
use crate::dictionary::Dictionary;
use crate::document::Document;
use crate::encoding::{
    DecodeError, DocumentEncoding, EncodingId, Engine, SchemaEncoding, TextDecoder, WithSchema,
    encoding_of,
};
use crate::envelope::{
    FIELD_BASE, FIELD_SCHEMA, Field, Header, UnpackError, base_id, checksum, looks_like_envelope,
};
use crate::json;
use crate::limits::PAYLOAD_BYTES_MAX;
use crate::pack::encoded_bytes_max;
use crate::schema::Schema;

/// What a stored value turned out to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
    /// A plain payload.
    Plain,
    /// An envelope with this header.
    Envelope(Header),
}

/// The fewest bytes of a SHA-256 that name a schema.
const SCHEMA_PREFIX_BYTES_MIN: usize = 4;

/// Unpacks envelopes. It keeps one context for each codec and dictionary it has met.
pub struct Unpacker {
    dictionaries: BTreeMap<u32, Arc<Dictionary>>,
    decompressors: BTreeMap<(CodecId, Option<u32>), Box<dyn Decompressor>>,
    decoders: BTreeMap<(EncodingId, Option<u32>), Box<dyn TextDecoder>>,
    schemas: Vec<Arc<Schema>>,
    with_schemas: BTreeMap<(EncodingId, [u8; 32]), Box<dyn WithSchema>>,
    encoded: Vec<u8>,
    document: Document,
    limit_bytes: usize,
}

impl Unpacker {
    /// An unpacker that knows these dictionaries and takes payloads up to [`PAYLOAD_BYTES_MAX`].
    pub fn new(dictionaries: impl IntoIterator<Item = Arc<Dictionary>>) -> Unpacker {
        Unpacker {
            dictionaries: dictionaries.into_iter().map(|found| (found.id(), found)).collect(),
            decompressors: BTreeMap::new(),
            decoders: BTreeMap::new(),
            schemas: Vec::new(),
            with_schemas: BTreeMap::new(),
            encoded: Vec::new(),
            document: Document::new(),
            limit_bytes: PAYLOAD_BYTES_MAX,
        }
    }

    /// The same unpacker, which knows these schemas too.
    pub fn with_schemas(mut self, schemas: impl IntoIterator<Item = Arc<Schema>>) -> Unpacker {
        self.schemas.extend(schemas);
        self
    }

    /// The same unpacker, which takes payloads up to `limit_bytes` only.
    pub fn with_limit(mut self, limit_bytes: usize) -> Unpacker {
        self.limit_bytes = limit_bytes.min(PAYLOAD_BYTES_MAX);
        self
    }

    /// Reads a stored value, plain or in an envelope, into `out`, whose content is replaced.
    ///
    /// # Errors
    /// As [`Unpacker::unpack`]; `out` is then empty.
    pub fn read(&mut self, value: &[u8], out: &mut Vec<u8>) -> Result<Found, UnpackError> {
        self.read_against(|_| None, value, out)
    }

    /// Reads a stored value as [`Unpacker::read`] does, also where it is a delta: `base_of` is
    /// asked for the payload of an id ([`base_id`]), and may answer with the one version that it
    /// has, whatever the id. What is not the base named is [`UnpackError::MissingBase`].
    ///
    /// # Errors
    /// As [`Unpacker::unpack`]; `out` is then empty.
    pub fn read_against<'b>(
        &mut self,
        base_of: impl FnMut(u64) -> Option<&'b [u8]>,
        value: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<Found, UnpackError> {
        if looks_like_envelope(value) {
            return self.unpack_against(base_of, value, out).map(Found::Envelope);
        }
        out.clear();
        if value.len() > self.limit_bytes {
            return Err(UnpackError::TooLarge { limit: self.limit_bytes, got: value.len() });
        }
        out.extend_from_slice(value);
        Ok(Found::Plain)
    }

    /// Unpacks an envelope into `out`, whose content is replaced, and returns its header.
    ///
    /// # Errors
    /// Every [`UnpackError`]; `out` is then empty.
    pub fn unpack(&mut self, envelope: &[u8], out: &mut Vec<u8>) -> Result<Header, UnpackError> {
        self.unpack_against(|_| None, envelope, out)
    }

    /// Unpacks an envelope as [`Unpacker::unpack`] does, also where it is a delta against a payload
    /// that `base_of` has, as in [`Unpacker::read_against`].
    ///
    /// # Errors
    /// Every [`UnpackError`]; `out` is then empty.
    pub fn unpack_against<'b>(
        &mut self,
        mut base_of: impl FnMut(u64) -> Option<&'b [u8]>,
        envelope: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<Header, UnpackError> {
        let result = self.unpack_into(&mut base_of, envelope, out);
        if result.is_err() {
            out.clear();
        }
        result
    }

    fn unpack_into<'b>(
        &mut self,
        base_of: &mut dyn FnMut(u64) -> Option<&'b [u8]>,
        envelope: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<Header, UnpackError> {
        let (header, header_bytes) = Header::read(envelope)?;
        let body = &envelope[header_bytes..];
        let (mut base, mut schema) = (None, None);
        for field in &header.fields {
            match field.kind {
                FIELD_SCHEMA => schema = Some(self.named_schema(field)?),
                FIELD_BASE => base = Some(named_base(field, base_of)?),
                _ => {}
            }
        }
        let (engine, encoding) = match header.encoding {
            None => (&Engine::Verbatim, EncodingId(0)),
            Some(id) => {
                let found = encoding_of(id).ok_or(UnpackError::UnknownEncoding { id: id.0 })?;
                // JSON text is what the reader gets, as it was written.
                (if found.is_json_text { &Engine::Verbatim } else { &found.engine }, id)
            }
        };
        let payload_bytes = header.payload_bytes as usize;
        if payload_bytes > self.limit_bytes {
            return Err(UnpackError::TooLarge { limit: self.limit_bytes, got: payload_bytes });
        }
        self.prepare(&header)?;
        if let Engine::Schema(engine) = engine {
            self.prepare_schema(*engine, encoding, schema.as_ref())?;
        }
        let decompressor = self
            .decompressors
            .get_mut(&(header.codec, header.dictionary))
            .ok_or(UnpackError::UnknownCodec { id: header.codec.0 })?;
        let encoded = match (engine, base) {
            (Engine::Verbatim, None) => {
                // Every byte is written below or the whole is cleared, so only growth is zeroed.
                out.resize(payload_bytes, 0);
                decompressor.decompress_exact(body, out).map(|()| &[][..])
            }
            (_, Some(base)) => {
                let decompressor = decompressor
                    .with_prefix()
                    .ok_or(UnpackError::damaged("a codec that takes no base", 4))?;
                out.resize(payload_bytes, 0);
                decompressor.decompress_exact_after(base, body, out).map(|()| &[][..])
            }
            _ => decompress_encoded(decompressor.as_mut(), body, &mut self.encoded, payload_bytes),
        };
        let encoded = encoded.map_err(|error| UnpackError::of_body(&error, header_bytes))?;
        match engine {
            Engine::Verbatim => {}
            Engine::Document(engine) => {
                decode(*engine, encoded, &mut self.document, payload_bytes, out)
                    .map_err(|what| UnpackError::damaged(what, header_bytes))?;
            }
            Engine::Schema(_) => {
                let prepared =
                    schema.and_then(|schema| self.with_schemas.get(&(encoding, *schema.sha256())));
                let engine = prepared.ok_or(UnpackError::MissingSchema)?;
                decode(engine.as_ref(), encoded, &mut self.document, payload_bytes, out)
                    .map_err(|what| UnpackError::damaged(what, header_bytes))?;
            }
            Engine::Text(engine) => {
                let dictionary = header.dictionary.and_then(|id| self.dictionaries.get(&id));
                let decoder = self
                    .decoders
                    .entry((encoding, header.dictionary))
                    .or_insert_with(|| engine.decoder(dictionary.map(Arc::as_ref)));
                out.clear();
                decoder.decode(encoded, payload_bytes, out).map_err(|_| {
                    UnpackError::damaged("a body that does not decode", header_bytes)
                })?;
            }
        }
        if out.len() != payload_bytes {
            return Err(UnpackError::damaged("a payload not as long as announced", header_bytes));
        }
        if let Some(expected) = header.checksum {
            let got = checksum(out);
            if got != expected {
                return Err(UnpackError::ChecksumMismatch { expected, got });
            }
        }
        Ok(header)
    }

    /// The schema that a field names by the start of its SHA-256, if it is at hand.
    fn named_schema(&self, field: &Field) -> Result<Arc<Schema>, UnpackError> {
        let is_named = |schema: &&Arc<Schema>| schema.sha256().starts_with(&field.value);
        let found = self.schemas.iter().find(is_named);
        let found = found.filter(|_| field.value.len() >= SCHEMA_PREFIX_BYTES_MIN);
        found.cloned().ok_or(UnpackError::MissingSchema)
    }

    /// Prepares an encoding with a schema, if it is not.
    fn prepare_schema(
        &mut self,
        engine: &dyn SchemaEncoding,
        encoding: EncodingId,
        schema: Option<&Arc<Schema>>,
    ) -> Result<(), UnpackError> {
        let missing = "an encoding that needs a schema, without one";
        let schema = schema.ok_or(UnpackError::damaged(missing, 4))?;
        if let Entry::Vacant(place) = self.with_schemas.entry((encoding, *schema.sha256())) {
            let other = "a schema in another language than its encoding's";
            place.insert(engine.with_schema(schema).ok_or(UnpackError::damaged(other, 4))?);
        }
        Ok(())
    }

    /// Makes the context for a header's codec and dictionary, if there is none yet.
    fn prepare(&mut self, header: &Header) -> Result<(), UnpackError> {
        let codec =
            decoder_of(header.codec).ok_or(UnpackError::UnknownCodec { id: header.codec.0 })?;
        let dictionary = match header.dictionary {
            None => None,
            Some(id) => {
                Some(self.dictionaries.get(&id).ok_or(UnpackError::MissingDictionary { id })?)
            }
        };
        let key = (header.codec, header.dictionary);
        if self.decompressors.contains_key(&key) {
            return Ok(());
        }
        let decompressor = codec.decompressor(dictionary).map_err(|error| match error {
            SetupError::BadDictionary { id, .. } => UnpackError::MissingDictionary { id },
            _ => UnpackError::damaged("a codec that does not take the dictionary named", 4),
        })?;
        self.decompressors.insert(key, decompressor);
        Ok(())
    }
}

/// The payload that a field names as the base, if it is at hand and is that one.
fn named_base<'b>(
    field: &Field,
    base_of: &mut dyn FnMut(u64) -> Option<&'b [u8]>,
) -> Result<&'b [u8], UnpackError> {
    let id = field.base().ok_or(UnpackError::MissingBase { id: None })?;
    base_of(id)
        .filter(|found| base_id(found) == id)
        .ok_or(UnpackError::MissingBase { id: Some(id) })
}

/// Decompresses a body whose exact length is not known, only its bound.
fn decompress_encoded<'a>(
    decompressor: &mut dyn Decompressor,
    body: &[u8],
    encoded: &'a mut Vec<u8>,
    payload_bytes: usize,
) -> Result<&'a [u8], DecompressError> {
    let bound = encoded_bytes_max(payload_bytes);
    // An encoded form is rarely longer than the text, so the bound is allocated only when needed.
    // Neither depends on earlier payloads, or a verdict could.
    let likely = (2 * payload_bytes + 64).min(bound);
    for capacity in [likely, bound] {
        if encoded.len() < capacity {
            encoded.resize(capacity, 0);
        }
        match decompressor.decompress(body, &mut encoded[..capacity]) {
            Err(DecompressError::OutputTooSmall { .. }) if capacity < bound => {}
            result => return result.map(|length| &encoded[..length]),
        }
    }
    unreachable!("the last capacity is the bound, and a result at the bound is returned")
}

/// Decodes to the payload's text, which must have `payload_bytes` bytes; what would be longer is
/// given up before it takes memory.
fn decode(
    engine: &dyn DocumentEncoding,
    encoded: &[u8],
    document: &mut Document,
    payload_bytes: usize,
    out: &mut Vec<u8>,
) -> Result<(), &'static str> {
    // Every value and every key takes at least one byte of text.
    document.limit_nodes(payload_bytes);
    engine.decode(encoded, document).map_err(|error| match error {
        DecodeError::Corrupt { .. } | DecodeError::Body { .. } => "a body that does not decode",
        DecodeError::NotJson { .. } => "a body that decodes to what JSON can't say",
        DecodeError::Document(_) => "a body that decodes to more than the limits allow",
    })?;
    out.clear();
    if document.is_overfull() || !json::write_at_most(document, payload_bytes, out) {
        return Err("a payload not as long as announced");
    }
    Ok(())
}
