//! A dictionary: bytes learned from a corpus that a codec may refer back to, under an id.
//!
//! The same wrong bytes under the right id decode *silently wrong*, which is why an envelope that
//! names a dictionary always carries a checksum. Codecs prepare a dictionary (hash tables, entropy
//! tables) once for a level; the prepared form lives here, so that every context of every thread
//! shares it and a call never loads it again.

use std::any::Any;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Arc, Mutex};

use sha2::{Digest, Sha256};
use xxhash_rust::xxh64::xxh64;

pub use evidence::Evidence;
pub use file::{DictionaryParts, FileContent, damaged_file, write_file};

use crate::codec::CodecId;
use crate::encoding::columnar::Model;
use crate::limits::DICTIONARY_BYTES_MAX;

mod evidence;
mod file;

/// The first four bytes of a dictionary in zstd's own format (RFC 8878, section 5), little endian.
const ZSTD_DICTIONARY_MAGIC: [u8; 4] = [0x37, 0xA4, 0x30, 0xEC];

/// RFC 8878 reserves ids below 32,768 and from 2^31 for a registry; ours stay between.
const ID_MIN: u32 = 32_768;
const ID_END: u32 = 1 << 31;

type Prepared = Arc<dyn Any + Send + Sync>;

/// Whether bytes start like a dictionary with a format, cinch's own or zstd's.
pub fn looks_like_dictionary(bytes: &[u8]) -> bool {
    file::is_file(bytes) || bytes.starts_with(&ZSTD_DICTIONARY_MAGIC)
}

/// Whether a prepared dictionary serves compression (at a level) or decompression.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Purpose {
    /// Compression at this level.
    Compress(i32),
    /// Decompression.
    Decompress,
}

/// Why bytes are not a dictionary.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DictionaryError {
    /// A dictionary of no or almost no bytes.
    #[error("a dictionary has at least 8 bytes, this one has {got}")]
    TooShort {
        /// Its length in bytes.
        got: usize,
    },
    /// A dictionary above [`DICTIONARY_BYTES_MAX`].
    #[error("a dictionary has at most {limit} bytes, this one has {got}")]
    TooLarge {
        /// The limit in bytes.
        limit: usize,
        /// Its length in bytes.
        got: usize,
    },
    /// A file of cinch's own format that breaks its rules or was changed.
    #[error("the dictionary file is damaged: {what}")]
    Damaged {
        /// What is wrong.
        what: &'static str,
    },
    /// A file of cinch's own format with a part that this version neither knows nor may skip.
    #[error("the dictionary file has a part of kind {kind:#04x}, which a newer cinch reads")]
    UnknownPart {
        /// The kind.
        kind: u8,
    },
}

/// An immutable dictionary and its prepared forms.
pub struct Dictionary {
    id: u32,
    sha256: [u8; 32],
    bytes: Vec<u8>,
    /// Where the codec's part stands in the bytes.
    codec_part: Range<usize>,
    model: Option<Model>,
    description: Option<String>,
    evidence: Option<Evidence>,
    prepared: Mutex<BTreeMap<(CodecId, Purpose), Prepared>>,
}

impl Dictionary {
    /// Takes the bytes of a dictionary file: cinch's own format of spec/dictionary.md, with a model
    /// for the columnar encoding; or zstd's own format, whose id it keeps; or raw content, whose id
    /// is made of its XXH64 so that the same content always has the same id.
    pub fn new(bytes: Vec<u8>) -> Result<Arc<Dictionary>, DictionaryError> {
        let got = bytes.len();
        if got < 8 {
            return Err(DictionaryError::TooShort { got });
        }
        if got > DICTIONARY_BYTES_MAX {
            return Err(DictionaryError::TooLarge { limit: DICTIONARY_BYTES_MAX, got });
        }
        let sha256 = Sha256::digest(&bytes).into();
        if file::is_file(&bytes) {
            let DictionaryParts { id, codec_part, model, description, evidence } =
                file::read(&bytes)?;
            let prepared = Mutex::default();
            let description = Some(description);
            return Ok(Arc::new(Dictionary {
                id,
                sha256,
                bytes,
                codec_part,
                model,
                description,
                evidence,
                prepared,
            }));
        }
        let id = if bytes.starts_with(&ZSTD_DICTIONARY_MAGIC) {
            u32::from_le_bytes([bytes[4], bytes[5], bytes[6], bytes[7]])
        } else {
            ID_MIN + (xxh64(&bytes, 0) % u64::from(ID_END - ID_MIN)) as u32
        };
        Ok(Arc::new(Dictionary {
            id,
            sha256,
            codec_part: 0..got,
            bytes,
            model: None,
            description: None,
            evidence: None,
            prepared: Mutex::default(),
        }))
    }

    /// The id that envelopes carry.
    pub fn id(&self) -> u32 {
        self.id
    }

    /// The SHA-256 of the bytes.
    pub fn sha256(&self) -> &[u8; 32] {
        &self.sha256
    }

    /// The bytes as they were given.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The part that codecs refer back to.
    pub fn codec_bytes(&self) -> &[u8] {
        &self.bytes[self.codec_part.clone()]
    }

    /// The part that the columnar encoding refers back to, if there is one.
    pub fn model(&self) -> Option<&Model> {
        self.model.as_ref()
    }

    /// What the file says of itself, as JSON: what it was trained on and how.
    pub fn description(&self) -> Option<&str> {
        self.description.as_deref()
    }

    /// How many entities had what it holds, where the file says so.
    pub fn evidence(&self) -> Option<&Evidence> {
        self.evidence.as_ref()
    }

    /// The prepared form for a codec and purpose, made by `prepare` the first time.
    pub(crate) fn prepared<T, E>(
        &self,
        codec: CodecId,
        purpose: Purpose,
        prepare: impl FnOnce(&[u8]) -> Result<T, E>,
    ) -> Result<Arc<T>, E>
    where
        T: Any + Send + Sync,
    {
        let mut prepared = self.prepared.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if let Some(found) = prepared.get(&(codec, purpose))
            && let Ok(found) = Arc::clone(found).downcast::<T>()
        {
            return Ok(found);
        }
        let made = Arc::new(prepare(self.codec_bytes())?);
        prepared.insert((codec, purpose), Arc::clone(&made) as Prepared);
        Ok(made)
    }
}

impl std::fmt::Debug for Dictionary {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Dictionary")
            .field("id", &format_args!("{:#010x}", self.id))
            .field("bytes", &self.bytes.len())
            .finish_non_exhaustive()
    }
}
