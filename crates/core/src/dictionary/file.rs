//! cinch's own dictionary file, as in spec/dictionary.md: an id, then parts, then a checksum of all
//! of them.
//!
//! One file holds all that a profile refers back to, because a codec's part that was trained on the
//! encoded forms of one model is worth nothing beside another model.

use std::ops::Range;

use sha2::{Digest, Sha256};

use super::evidence::Evidence;
use super::{DictionaryError, ID_END, ID_MIN};
use crate::encoding::columnar::Model;
use crate::envelope::{read_varint, write_varint};

/// The first bytes: the name of the format and its version.
const MAGIC: &[u8; 8] = b"cinchdi\x01";

/// The bit of the hints that has the columnar encoder write texts in the order of the payload.
const TEXTS_IN_ORDER: u8 = 1;

/// The bytes of the checksum at the end.
const SHA256_BYTES: usize = 32;

/// Kinds of parts. The top bit says that a reader who does not know it may not go on.
const DESCRIPTION: u8 = 0x01;
const EVIDENCE: u8 = 0x02;
const HINTS: u8 = 0x03;
const CODEC: u8 = 0x82;
const MODEL: u8 = 0x83;

/// What a file holds.
#[derive(Debug)]
pub struct DictionaryParts {
    /// The id that envelopes carry.
    pub id: u32,
    /// Where the codec's part stands in the file.
    pub codec_part: Range<usize>,
    /// The columnar encoding's part.
    pub model: Option<Model>,
    /// What it was trained on and how, as JSON.
    pub description: String,
    /// How many entities had what it holds.
    pub evidence: Option<Evidence>,
}

/// Whether bytes are meant as a file of this format, of whatever version: those of a later one must
/// not be taken for raw content.
pub(super) fn is_file(bytes: &[u8]) -> bool {
    bytes.starts_with(&MAGIC[..MAGIC.len() - 1])
}

/// The error for a file that breaks the rules.
pub fn damaged_file(what: &'static str) -> DictionaryError {
    DictionaryError::Damaged { what }
}

/// What goes into a file.
#[derive(Debug, Clone, Copy, Default)]
pub struct FileContent<'a> {
    /// At least 8 bytes that codecs refer back to.
    pub codec: &'a [u8],
    /// What the columnar encoding refers back to.
    pub model: Option<&'a [u8]>,
    /// Whether the columnar encoder writes texts in the order of the payload, where one text tells
    /// much of the next, or slot by slot.
    pub texts_in_order: bool,
    /// What it was trained on and how, as JSON, or nothing.
    pub description: &'a str,
    /// How many entities had what it holds.
    pub evidence: Option<&'a Evidence>,
}

/// Writes a file.
pub fn write_file(id: u32, content: FileContent<'_>) -> Vec<u8> {
    let FileContent { codec, model, texts_in_order, description, evidence } = content;
    let mut file = MAGIC.to_vec();
    file.extend_from_slice(&id.to_le_bytes());
    let mut part = |kind: u8, bytes: &[u8]| {
        file.push(kind);
        write_varint(bytes.len() as u32, &mut file);
        file.extend_from_slice(bytes);
    };
    part(DESCRIPTION, description.as_bytes());
    if let Some(evidence) = evidence {
        let mut bytes = Vec::new();
        evidence.write(&mut bytes);
        part(EVIDENCE, &bytes);
    }
    if texts_in_order {
        part(HINTS, &[TEXTS_IN_ORDER]);
    }
    part(CODEC, codec);
    if let Some(model) = model {
        part(MODEL, model);
    }
    let sha256: [u8; SHA256_BYTES] = Sha256::digest(&file).into();
    file.extend_from_slice(&sha256);
    file
}

/// Reads a file whose start is that of one.
pub(super) fn read(bytes: &[u8]) -> Result<DictionaryParts, DictionaryError> {
    if !bytes.starts_with(MAGIC) {
        return Err(damaged_file("it is of another version"));
    }
    let header = MAGIC.len() + 4;
    let end = bytes.len().checked_sub(SHA256_BYTES).filter(|&end| end >= header);
    let end = end.ok_or(damaged_file("it is cut short"))?;
    let (content, sha256) = bytes.split_at(end);
    if Sha256::digest(content)[..] != *sha256 {
        return Err(damaged_file("its checksum does not hold"));
    }
    let id = u32::from_le_bytes([content[8], content[9], content[10], content[11]]);
    if !(ID_MIN..ID_END).contains(&id) {
        return Err(damaged_file("its id is a reserved one"));
    }
    let (mut codec_part, mut model, mut evidence) = (None, None, None);
    let (mut description, mut hints) = (String::new(), 0);
    let (mut at, mut last) = (header, 0);
    while at < end {
        let kind = content[at];
        let (length, length_bytes) =
            read_varint(&content[at + 1..]).ok_or(damaged_file("a part without a length"))?;
        let start = at + 1 + length_bytes;
        let range = start..start.saturating_add(length as usize);
        let part = content.get(range.clone()).ok_or(damaged_file("a part is cut short"))?;
        if kind <= last {
            return Err(damaged_file("its parts are out of order"));
        }
        match kind {
            DESCRIPTION => {
                description = str::from_utf8(part)
                    .map_err(|_| damaged_file("its description is no UTF-8"))?
                    .to_owned();
            }
            EVIDENCE => {
                let read = Evidence::read(part).ok_or(damaged_file("its evidence is none"))?;
                evidence = Some(read);
            }
            // Bits of a later version are none of ours.
            HINTS => hints = part.first().copied().unwrap_or(0),
            CODEC => codec_part = Some(range.clone()),
            MODEL => {
                let read = Model::read(part).map_err(|what| damaged_file(what.0))?;
                model = Some(read.with_texts_in_order(hints & TEXTS_IN_ORDER != 0));
            }
            _ if kind & 0x80 != 0 => return Err(DictionaryError::UnknownPart { kind }),
            _ => {}
        }
        (at, last) = (range.end, kind);
    }
    let codec_part = codec_part.ok_or(damaged_file("it has no part for a codec"))?;
    if codec_part.len() < 8 {
        return Err(damaged_file("its part for a codec is too short"));
    }
    Ok(DictionaryParts { id, codec_part, model, description, evidence })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dictionary::Dictionary;

    fn content() -> FileContent<'static> {
        FileContent { codec: b"content of a codec", ..FileContent::default() }
    }

    #[test]
    fn what_is_written_is_read() {
        let model = [1, 1];
        let file = write_file(
            40_000,
            FileContent { model: Some(&model), description: "{\"k\":10}", ..content() },
        );
        let dictionary = Dictionary::new(file.clone()).unwrap();
        assert_eq!(dictionary.id(), 40_000);
        assert_eq!(dictionary.codec_bytes(), b"content of a codec");
        assert_eq!(dictionary.description(), Some("{\"k\":10}"));
        assert!(dictionary.model().is_some());
        assert_eq!(dictionary.evidence(), None);
        let evidence = Evidence { segments: vec![(17, 300), (1, 0)], model: vec![12, 11] };
        let told = write_file(40_000, FileContent { evidence: Some(&evidence), ..content() });
        assert_eq!(Dictionary::new(told).unwrap().evidence(), Some(&evidence));
        let without = write_file(40_000, content());
        assert!(Dictionary::new(without).unwrap().model().is_none());
    }

    #[test]
    fn any_change_is_an_error() {
        let file = write_file(
            40_000,
            FileContent {
                model: Some(&[1, 1]),
                description: "{}",
                texts_in_order: true,
                ..content()
            },
        );
        for at in MAGIC.len() - 1..file.len() {
            let mut changed = file.clone();
            changed[at] ^= 1;
            let error = Dictionary::new(changed).unwrap_err();
            assert!(matches!(error, DictionaryError::Damaged { .. }), "{at}: {error}");
        }
        for end in 8..file.len() {
            assert!(Dictionary::new(file[..end].to_vec()).is_err(), "{end}");
        }
    }

    #[test]
    fn parts_of_the_future_are_skipped_or_refused_by_name() {
        let with = |kind: u8| {
            let mut file = write_file(40_000, content());
            file.truncate(file.len() - SHA256_BYTES);
            file.extend_from_slice(&[kind, 1, 7]);
            let sha256: [u8; SHA256_BYTES] = Sha256::digest(&file).into();
            file.extend_from_slice(&sha256);
            Dictionary::new(file)
        };
        assert_eq!(with(0x90).unwrap_err(), DictionaryError::UnknownPart { kind: 0x90 });
        assert_eq!(with(0x02).unwrap_err(), damaged_file("its parts are out of order"));
        assert_eq!(with(0x83).unwrap_err(), damaged_file("the end inside a column"));
    }
}
