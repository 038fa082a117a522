//! The published `compressionMetadata` as JSON text, for stores that keep it in one column.
//!
//! The names are those of the document, so that whoever knows one store reads the other. What is
//! not ours is ignored when it is read. A checksum is text of 16 hexadecimal digits: a number of 64
//! bits loses digits in most readers of JSON.

use cinch_rollout::Metadata;
use serde_json::{Map, Value, json};

/// The published name of the codec's name.
pub(crate) const CODEC: &str = "codec";
/// The published name of the packed length.
pub(crate) const COMPRESSED_SIZE: &str = "compressedSize";
/// The published name of the payload's length.
pub(crate) const UNCOMPRESSED_SIZE: &str = "uncompressedSize";
/// The published name of the time of packing.
pub(crate) const LAST_UPDATED: &str = "lastUpdatedDate";
/// Our name of the raw copy's checksum.
pub(crate) const RAW_CHECKSUM: &str = "rawChecksum";
/// Our name of the mark of a raw copy that we emptied.
pub(crate) const RAW_NULLED: &str = "rawNulled";

/// The text of metadata.
pub(crate) fn to_json(metadata: &Metadata) -> String {
    let mut fields = Map::new();
    fields.insert(CODEC.to_owned(), json!(metadata.codec));
    fields.insert(COMPRESSED_SIZE.to_owned(), json!(metadata.compressed_size));
    fields.insert(UNCOMPRESSED_SIZE.to_owned(), json!(metadata.uncompressed_size));
    fields.insert(LAST_UPDATED.to_owned(), json!(metadata.last_updated_ms));
    if let Some(checksum) = metadata.raw_checksum {
        fields.insert(RAW_CHECKSUM.to_owned(), json!(checksum_text(checksum)));
    }
    if let Some(nulled) = metadata.raw_nulled {
        fields.insert(RAW_NULLED.to_owned(), json!(nulled));
    }
    Value::Object(fields).to_string()
}

/// Reads metadata; the message says what is wrong with it.
pub(crate) fn from_json(text: &[u8]) -> Result<Metadata, String> {
    let value: Value = serde_json::from_slice(text)
        .map_err(|error| format!("the metadata is no JSON: {error}"))?;
    let wrong = |name: &str| format!("{name} is missing from the metadata, or of another type");
    let size = |name: &str| value.get(name).and_then(whole_number).ok_or_else(|| wrong(name));
    let codec = value.get(CODEC).and_then(Value::as_str).ok_or_else(|| wrong(CODEC))?;
    Ok(Metadata {
        codec: codec.to_owned(),
        compressed_size: size(COMPRESSED_SIZE)?,
        uncompressed_size: size(UNCOMPRESSED_SIZE)?,
        // It is for people, so that a strange one is no reason to refuse a payload.
        last_updated_ms: value.get(LAST_UPDATED).and_then(Value::as_i64).unwrap_or_default(),
        raw_checksum: match value.get(RAW_CHECKSUM) {
            None | Some(Value::Null) => None,
            Some(found) => {
                Some(found.as_str().and_then(checksum_of_text).ok_or_else(|| wrong(RAW_CHECKSUM))?)
            }
        },
        raw_nulled: match value.get(RAW_NULLED) {
            None | Some(Value::Null) => None,
            Some(found) => Some(found.as_bool().ok_or_else(|| wrong(RAW_NULLED))?),
        },
    })
}

/// A checksum as text.
pub(crate) fn checksum_text(checksum: u64) -> String {
    format!("{checksum:016x}")
}

/// The checksum of a text of hexadecimal digits.
pub(crate) fn checksum_of_text(text: &str) -> Option<u64> {
    // A sign would be taken for a number too.
    let is_hex = text.len() == 16 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_hex.then(|| u64::from_str_radix(text, 16).ok()).flatten()
}

/// A size that somebody wrote, perhaps as `3095.0`.
fn whole_number(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| value.as_f64().and_then(size_of_double))
}

/// A size that was written as a double: whole, and exact in one.
pub(crate) fn size_of_double(number: f64) -> Option<u64> {
    /// Above it a double skips whole numbers.
    const EXACT_MAX: f64 = 9_007_199_254_740_992.0;
    let is_size = number.fract() == 0.0 && (0.0..=EXACT_MAX).contains(&number);
    is_size.then_some(number as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn full() -> Metadata {
        Metadata {
            codec: "LZ4_HIGH".to_owned(),
            compressed_size: 3095,
            uncompressed_size: u64::from(u32::MAX),
            last_updated_ms: -1,
            raw_checksum: Some(u64::MAX - 1),
            raw_nulled: Some(false),
        }
    }

    #[test]
    fn metadata_comes_back_as_it_was() {
        let bare = Metadata { raw_checksum: None, raw_nulled: None, ..full() };
        for metadata in [full(), bare] {
            assert_eq!(from_json(to_json(&metadata).as_bytes()), Ok(metadata));
        }
    }

    #[test]
    fn what_others_wrote_is_read_and_what_is_wrong_is_named() {
        let published = br#"{"codec":"GZIP","compressedSize":3095.0,"uncompressedSize":6485,
            "lastUpdatedDate":"2016-09-03T00:47:44.406Z","note":[1]}"#;
        let read = from_json(published).unwrap();
        assert_eq!(
            (read.codec.as_str(), read.compressed_size, read.uncompressed_size),
            ("GZIP", 3095, 6485)
        );
        for (text, name) in [
            (r#"{"compressedSize":1,"uncompressedSize":1}"#, CODEC),
            (r#"{"codec":"GZIP","compressedSize":-1,"uncompressedSize":1}"#, COMPRESSED_SIZE),
            (r#"{"codec":"GZIP","compressedSize":1,"uncompressedSize":1.5}"#, UNCOMPRESSED_SIZE),
            (
                r#"{"codec":"GZIP","compressedSize":1,"uncompressedSize":1,
                    "rawChecksum":"+123456789abcdef"}"#,
                RAW_CHECKSUM,
            ),
            ("[1", "no JSON"),
        ] {
            assert!(from_json(text.as_bytes()).unwrap_err().contains(name), "{text}");
        }
    }
}
