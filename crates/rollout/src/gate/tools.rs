//! One set of contexts of a namespace: what packs, what unpacks, and their buffers. It serves one
//! caller at a time, so that nothing in it needs a lock.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use cinch_core::codec::{Compressor, Decompressor, SetupError};
use cinch_core::pack::{Outcome, Packer, PlainReason, Unpacker, is_worth_packing, reason_to_leave};

use super::same::is_same;
use super::{DecodeError, PackOutcome, WriteError, looks_packed};
use crate::modes::SingleWrite;
use crate::published::{self, PublishedCodec};
use crate::record::{Metadata, PackedField, raw_checksum};
use crate::settings::{InputEnvelopes, Namespace};

/// What packs and unpacks the payloads of a namespace, for one caller at a time.
pub(super) struct Tools {
    namespace: Arc<Namespace>,
    packer: Option<Packer>,
    compressor: Option<Box<dyn Compressor>>,
    unpacker: Unpacker,
    decompressors: BTreeMap<PublishedCodec, Box<dyn Decompressor>>,
    out: Vec<u8>,
    check: Vec<u8>,
}

/// What was made for a store with one slot.
pub(super) struct MadeValue {
    pub value: Bytes,
    pub packed_bytes: Option<usize>,
    pub outcome: Option<PackOutcome>,
    pub was_tried: bool,
}

impl Tools {
    pub(super) fn new(namespace: Arc<Namespace>) -> Tools {
        let dictionaries = namespace.all_dictionaries().map(Arc::clone);
        let schemas = namespace.all_schemas().map(Arc::clone);
        let unpacker = Unpacker::new(dictionaries)
            .with_schemas(schemas)
            .with_limit(namespace.payload_bytes_max);
        Tools {
            unpacker,
            namespace,
            packer: None,
            compressor: None,
            decompressors: BTreeMap::new(),
            out: Vec::new(),
            check: Vec::new(),
        }
    }

    fn packer(&mut self) -> Result<&mut Packer, SetupError> {
        match self.packer {
            Some(ref mut packer) => Ok(packer),
            None => Ok(self.packer.insert(Packer::new(&self.namespace.profile)?)),
        }
    }

    /// The packed field of a payload, where it is worth having one.
    pub(super) fn pack_field(
        &mut self,
        payload: &[u8],
        now_ms: i64,
    ) -> Result<(Option<PackedField>, PackOutcome), WriteError> {
        let (bytes, codec, outcome) = match self.namespace.published {
            Some(published) => match self.pack_block(published, payload)? {
                Ok(()) => {
                    let packed = Outcome::Packed { not_encoded: None };
                    (Bytes::copy_from_slice(&self.out), published.name(), packed)
                }
                Err(reason) => return Ok((None, PackOutcome::Packer(Outcome::Plain(reason)))),
            },
            None => {
                let mut out = std::mem::take(&mut self.out);
                let outcome = self.packer()?.pack(payload, &mut out);
                self.out = out;
                match outcome? {
                    Outcome::Plain(reason) => {
                        return Ok((None, PackOutcome::Packer(Outcome::Plain(reason))));
                    }
                    // A payload that starts like an envelope: beside the raw field nobody takes it
                    // for one, so that there is nothing to gain by wrapping it.
                    Outcome::Wrapped => return Ok((None, PackOutcome::Packer(Outcome::Wrapped))),
                    packed => (Bytes::copy_from_slice(&self.out), Metadata::ENVELOPE, packed),
                }
            }
        };
        let metadata = Metadata {
            codec: codec.to_owned(),
            compressed_size: bytes.len() as u64,
            uncompressed_size: payload.len() as u64,
            last_updated_ms: now_ms,
            raw_checksum: Some(raw_checksum(payload)),
            raw_nulled: None,
        };
        Ok((Some(PackedField { bytes, metadata }), PackOutcome::Packer(outcome)))
    }

    /// A bare block of a payload in `self.out`, verified, or why there is none.
    fn pack_block(
        &mut self,
        published: PublishedCodec,
        payload: &[u8],
    ) -> Result<Result<(), PlainReason>, SetupError> {
        if let Some(reason) = reason_to_leave(&self.namespace.profile, payload) {
            return Ok(Err(reason));
        }
        let compressor = match self.compressor {
            Some(ref mut compressor) => compressor,
            None => self.compressor.insert(published.compressor()?),
        };
        if let Err(error) = published.compress(compressor.as_mut(), payload, &mut self.out) {
            return Ok(Err(PlainReason::CodecFailed(error)));
        }
        if !is_worth_packing(&self.namespace.profile, payload.len(), self.out.len()) {
            return Ok(Err(PlainReason::GainTooSmall));
        }
        // A block has no checksum, so that a reader could not tell what went wrong here.
        let block = std::mem::take(&mut self.out);
        let mut check = std::mem::take(&mut self.check);
        let unpacked = self.unpack_block(published, &block, payload.len(), &mut check);
        let is_same = unpacked.is_ok() && check == payload;
        (self.out, self.check) = (block, check);
        Ok(if is_same { Ok(()) } else { Err(PlainReason::VerificationFailed) })
    }

    /// The value of a payload for a store with one slot.
    pub(super) fn pack_value(
        &mut self,
        mode: SingleWrite,
        payload: &Bytes,
    ) -> Result<MadeValue, WriteError> {
        if looks_packed(payload) {
            return self.pack_look_alike(payload);
        }
        if mode == SingleWrite::Plain {
            let value = payload.clone();
            return Ok(MadeValue { value, packed_bytes: None, outcome: None, was_tried: false });
        }
        let mut out = std::mem::take(&mut self.out);
        let packed = self.packer()?.pack(payload, &mut out);
        self.out = out;
        let outcome = packed?;
        let is_packed = matches!(outcome, Outcome::Packed { .. });
        let packed_bytes = is_packed.then_some(self.out.len());
        if mode == SingleWrite::Packed {
            let value = Bytes::copy_from_slice(&self.out);
            let outcome = Some(PackOutcome::Packer(outcome));
            return Ok(MadeValue { value, packed_bytes, outcome, was_tried: true });
        }
        let envelope = std::mem::take(&mut self.out);
        let mut check = std::mem::take(&mut self.check);
        let is_same = !is_packed
            || self.unpacker.read(&envelope, &mut check).is_ok()
                && is_same(&self.namespace, payload, &check);
        (self.out, self.check) = (envelope, check);
        let outcome = match is_same {
            true => PackOutcome::Packer(outcome),
            false => PackOutcome::ShadowMismatch,
        };
        let value = payload.clone();
        Ok(MadeValue { value, packed_bytes, outcome: Some(outcome), was_tried: true })
    }

    /// A payload that a reader would take for an envelope: it is one, and is passed on, or it is
    /// wrapped, in every mode.
    fn pack_look_alike(&mut self, payload: &Bytes) -> Result<MadeValue, WriteError> {
        let mut check = std::mem::take(&mut self.check);
        let is_sound = self.unpacker.unpack(payload, &mut check).is_ok();
        self.check = check;
        if self.namespace.input_envelopes == InputEnvelopes::Pass && is_sound {
            return Ok(MadeValue {
                value: payload.clone(),
                packed_bytes: Some(payload.len()),
                outcome: Some(PackOutcome::PassedOn),
                was_tried: false,
            });
        }
        let mut out = std::mem::take(&mut self.out);
        let packed = self.packer()?.pack(payload, &mut out);
        self.out = out;
        let outcome = Some(PackOutcome::Packer(packed?));
        let value = Bytes::copy_from_slice(&self.out);
        Ok(MadeValue { packed_bytes: None, value, outcome, was_tried: true })
    }

    /// Unpacks an envelope into `out`.
    pub(super) fn unpack(&mut self, value: &[u8], out: &mut Vec<u8>) -> Result<(), DecodeError> {
        self.unpacker.unpack(value, out)?;
        Ok(())
    }

    /// Reads a packed field into `out`, by what its metadata says.
    pub(super) fn unpack_field(
        &mut self,
        packed: &PackedField,
        out: &mut Vec<u8>,
    ) -> Result<(), DecodeError> {
        let metadata = &packed.metadata;
        if metadata.codec == Metadata::ENVELOPE {
            self.unpacker.unpack(&packed.bytes, out)?;
            return Ok(());
        }
        let Some(published) = PublishedCodec::named(&metadata.codec) else {
            return Err(DecodeError::UnknownCodec(metadata.codec.clone()));
        };
        let limit = self.namespace.payload_bytes_max;
        let length = usize::try_from(metadata.uncompressed_size).unwrap_or(usize::MAX);
        if length > limit {
            let error = cinch_core::envelope::UnpackError::TooLarge { limit, got: length };
            return Err(error.into());
        }
        self.unpack_block(published, &packed.bytes, length, out)
    }

    fn unpack_block(
        &mut self,
        published: PublishedCodec,
        block: &[u8],
        payload_bytes: usize,
        out: &mut Vec<u8>,
    ) -> Result<(), DecodeError> {
        use std::collections::btree_map::Entry;
        let decompressor = match self.decompressors.entry(published) {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(entry) => {
                entry.insert(published.decompressor().map_err(DecodeError::Setup)?)
            }
        };
        published::decompress(decompressor.as_mut(), block, payload_bytes, out).map_err(|_| {
            DecodeError::Block {
                codec: published.name().to_owned(),
                expected: payload_bytes as u64,
            }
        })
    }
}

#[cfg(test)]
mod tests;
