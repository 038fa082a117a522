//! `stored`: the payload as it is. An envelope uses it for payloads that must be wrapped but are
//! not worth compressing, so it must never refuse a payload, whatever its bytes.

use std::sync::Arc;

use crate::codec::named::{Named, check_compressor, check_decompressor};
use crate::codec::{
    Codec, CodecId, CodecInfo, CompressError, Compressor, DecompressError, Decompressor,
    DictionaryUse, Levels, SetupError,
};
use crate::dictionary::Dictionary;

static INFO: CodecInfo = CodecInfo {
    id: CodecId(0x10),
    name: "stored",
    summary: "no compression: the payload as it is",
    library: || "cinch".to_owned(),
    levels: Levels::ONE,
    dictionary_use: DictionaryUse::None,
    takes_prefix: false,
    since: "0.1.0",
    until: None,
};

/// The registry row.
pub(super) struct Stored;

struct Copier;

impl Codec for Stored {
    fn info(&self) -> &'static CodecInfo {
        &INFO
    }

    fn compress_bound(&self, length: usize) -> usize {
        length
    }

    fn compressor(
        &self,
        level: i32,
        dictionary: Option<&Arc<Dictionary>>,
    ) -> Result<Box<dyn Compressor>, SetupError> {
        check_compressor(&INFO, level, dictionary)?;
        Ok(Box::new(Copier))
    }

    fn decompressor(
        &self,
        dictionary: Option<&Arc<Dictionary>>,
    ) -> Result<Box<dyn Decompressor>, SetupError> {
        check_decompressor(&INFO, dictionary)?;
        Ok(Box::new(Copier))
    }
}

impl Compressor for Copier {
    fn compress(&mut self, input: &[u8], output: &mut [u8]) -> Result<usize, CompressError> {
        match output.get_mut(..input.len()) {
            Some(room) => room.copy_from_slice(input),
            None => return Err(Named::of(&INFO).no_room(output)),
        }
        Ok(input.len())
    }

    fn memory_bytes(&self) -> usize {
        0
    }
}

impl Decompressor for Copier {
    fn decompress(&mut self, input: &[u8], output: &mut [u8]) -> Result<usize, DecompressError> {
        match output.get_mut(..input.len()) {
            Some(room) => room.copy_from_slice(input),
            None => return Err(Named::of(&INFO).too_long(output.len())),
        }
        Ok(input.len())
    }

    fn memory_bytes(&self) -> usize {
        0
    }

    fn name(&self) -> &'static str {
        INFO.name
    }
}
