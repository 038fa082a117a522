//! From a document to a record and back: what we write is the published shape, and what is read is
//! whatever somebody wrote in it by hand.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bson::oid::ObjectId;
use bson::spec::BinarySubtype;
use bson::{Binary, Bson, DateTime, Document, doc};
use bytes::Bytes;
use cinch_rollout::{Metadata, PackedField, Record, Stamp};

use super::names::{KeyForm, MongoNames, RawForm};
use crate::metadata::{
    CODEC, COMPRESSED_SIZE, LAST_UPDATED, RAW_CHECKSUM, RAW_NULLED, UNCOMPRESSED_SIZE,
    checksum_of_text, checksum_text, size_of_double,
};
use crate::store::{Found, Version};

/// The value of a key in a document; `None` where no document of this form can have it.
pub(super) fn key_value(form: KeyForm, key: &[u8]) -> Option<Bson> {
    let text = std::str::from_utf8(key);
    match form {
        KeyForm::Text => Some(match text {
            Ok(text) => Bson::String(text.to_owned()),
            Err(_) => binary(key),
        }),
        KeyForm::ObjectId => {
            let id = ObjectId::parse_str(text.ok()?).ok()?;
            (id.to_hex().as_bytes() == key).then_some(Bson::ObjectId(id))
        }
        KeyForm::Integer => {
            let number: i64 = text.ok()?.parse().ok()?;
            (number.to_string().as_bytes() == key).then_some(Bson::Int64(number))
        }
    }
}

/// The key of a value, if [`key_value`] gives the same value back.
pub(super) fn key_bytes(form: KeyForm, value: &Bson) -> Option<Vec<u8>> {
    match (form, value) {
        (KeyForm::Text, Bson::String(text)) => Some(text.clone().into_bytes()),
        (KeyForm::Text, Bson::Binary(binary)) => {
            let is_ours = binary.subtype == BinarySubtype::Generic
                && std::str::from_utf8(&binary.bytes).is_err();
            is_ours.then(|| binary.bytes.clone())
        }
        (KeyForm::ObjectId, Bson::ObjectId(id)) => Some(id.to_hex().into_bytes()),
        (KeyForm::Integer, Bson::Int64(number)) => Some(number.to_string().into_bytes()),
        (KeyForm::Integer, Bson::Int32(number)) => Some(number.to_string().into_bytes()),
        _ => None,
    }
}

/// What a cursor begins with: a key that the scan is behind, or the start of the binary keys.
const AFTER: u8 = b'>';
const BINARY_KEYS: &[u8] = b"binary";

/// The comparison that finds the keys from a cursor on; `None` where the cursor is none.
pub(super) fn scan_start(form: KeyForm, cursor: Option<&[u8]>) -> Option<Document> {
    Some(match (form, cursor) {
        (KeyForm::Text, None) => doc! { "$gte": "" },
        (KeyForm::Text, Some(BINARY_KEYS)) => doc! { "$gte": binary(&[]) },
        (KeyForm::ObjectId, None) => doc! { "$gte": ObjectId::from_bytes([0; 12]) },
        (KeyForm::Integer, None) => doc! { "$gte": i64::MIN },
        (form, Some(cursor)) => {
            let (_, key) = cursor.split_first().filter(|(mark, _)| **mark == AFTER)?;
            doc! { "$gt": key_value(form, key)? }
        }
    })
}

/// The cursor behind a page: its last key where it was full, else the start of the next type.
pub(super) fn scan_next(
    form: KeyForm,
    cursor: Option<&[u8]>,
    keys: &[Vec<u8>],
    is_full: bool,
) -> Option<Vec<u8>> {
    if let (true, Some(last)) = (is_full, keys.last()) {
        return Some([&[AFTER], last.as_slice()].concat());
    }
    // Texts come first, and this page was the last of its type.
    let is_text = |key: &[u8]| std::str::from_utf8(key).is_ok();
    let was_text = match cursor {
        None => true,
        Some(BINARY_KEYS) => false,
        Some(cursor) => is_text(cursor),
    };
    (form == KeyForm::Text && was_text).then(|| BINARY_KEYS.to_vec())
}

fn binary(bytes: &[u8]) -> Bson {
    Bson::Binary(Binary { subtype: BinarySubtype::Generic, bytes: bytes.to_vec() })
}

/// The fields of a record that are set; what is not among them is removed.
pub(super) fn fields(record: &Record, stamp: Option<i64>, names: &MongoNames) -> Document {
    let mut fields = Document::new();
    let raw = match &record.raw {
        None => Bson::Null,
        Some(raw) => match (names.raw_form, std::str::from_utf8(raw)) {
            (RawForm::Text, Ok(text)) => Bson::String(text.to_owned()),
            _ => binary(raw),
        },
    };
    fields.insert(&names.raw, raw);
    if let Some(PackedField { bytes, metadata }) = &record.packed {
        let mut described = doc! {
            CODEC: &metadata.codec,
            COMPRESSED_SIZE: size(metadata.compressed_size),
            UNCOMPRESSED_SIZE: size(metadata.uncompressed_size),
            LAST_UPDATED: DateTime::from_millis(metadata.last_updated_ms),
        };
        if let Some(checksum) = metadata.raw_checksum {
            described.insert(RAW_CHECKSUM, checksum_text(checksum));
        }
        if let Some(nulled) = metadata.raw_nulled {
            described.insert(RAW_NULLED, nulled);
        }
        let container = doc! { &names.compressed: binary(bytes), &names.metadata: described };
        fields.insert(&names.container, container);
    }
    if let (Some(name), Some(stamp)) = (&names.stamp, stamp) {
        fields.insert(name, stamp);
    }
    fields
}

/// A size in the type that the published documents have, where it fits.
fn size(size: u64) -> Bson {
    match (i32::try_from(size), i64::try_from(size)) {
        (Ok(size), _) => Bson::Int32(size),
        (_, Ok(size)) => Bson::Int64(size),
        // No document can be that long; the reader refuses it.
        _ => Bson::Int64(-1),
    }
}

/// Reads a document with its state; the message says what is wrong with it.
pub(super) fn found(
    document: Document,
    names: &MongoNames,
    now: DateTime,
) -> Result<Found, String> {
    let expires = names.expires.as_ref().and_then(|name| document.get(name));
    let expires_in_ms = match expires {
        Some(Bson::DateTime(at)) => {
            let left = at.timestamp_millis().saturating_sub(now.timestamp_millis());
            Some(u64::try_from(left).unwrap_or(0))
        }
        _ => None,
    };
    let version = version(&document, names)?;
    Ok(Found { record: record(document, names)?, version, expires_in_ms })
}

/// Reads a document; the message says what is wrong with it.
pub(super) fn record(mut document: Document, names: &MongoNames) -> Result<Record, String> {
    let raw = match document.remove(&names.raw) {
        None | Some(Bson::Null) => None,
        Some(Bson::String(text)) => Some(text.into_bytes()),
        Some(Bson::Binary(binary)) => Some(binary.bytes),
        // An embedded document, or a number: its JSON text. Dates and ids are Extended JSON.
        Some(other) => Some(serde_json::to_vec(&other).map_err(|error| error.to_string())?),
    };
    let packed = match document.remove(&names.container) {
        None | Some(Bson::Null) => None,
        Some(Bson::Document(container)) => packed(container, names)?,
        Some(other) => {
            let found = other.element_type();
            return Err(format!("{} is a {found:?} and no document", names.container));
        }
    };
    let stamp = match names.stamp.as_ref().and_then(|name| document.get(name)) {
        None | Some(Bson::Null) => None,
        Some(value) => {
            let wrong = || format!("the version stamp is {value}, and no whole number");
            Some(Stamp(whole_number(value).ok_or_else(wrong)?))
        }
    };
    Ok(Record { raw: raw.map(Bytes::from), packed, stamp })
}

fn packed(mut container: Document, names: &MongoNames) -> Result<Option<PackedField>, String> {
    let bytes = match container.remove(&names.compressed) {
        None | Some(Bson::Null) => return Ok(None),
        Some(Bson::Binary(binary)) => binary.bytes,
        Some(Bson::String(text)) => STANDARD
            .decode(text)
            .map_err(|error| format!("{} is a text and no base64: {error}", names.compressed))?,
        Some(other) => {
            let found = other.element_type();
            return Err(format!("{} is a {found:?} and not binary", names.compressed));
        }
    };
    let metadata = container.get_document(&names.metadata);
    let metadata = metadata.map_err(|_| format!("{} is no document", names.metadata))?;
    let wrong = |name: &str| format!("{name} is missing from {}, or wrong", names.metadata);
    let size = |name: &str| metadata.get(name).and_then(whole_number).ok_or_else(|| wrong(name));
    let metadata = Metadata {
        codec: metadata.get_str(CODEC).map_err(|_| wrong(CODEC))?.to_owned(),
        compressed_size: size(COMPRESSED_SIZE)?,
        uncompressed_size: size(UNCOMPRESSED_SIZE)?,
        // It is for people, so that a strange one is no reason to refuse a payload.
        last_updated_ms: match metadata.get(LAST_UPDATED) {
            Some(Bson::DateTime(at)) => at.timestamp_millis(),
            Some(Bson::Int64(at)) => *at,
            _ => 0,
        },
        raw_checksum: match metadata.get(RAW_CHECKSUM) {
            None | Some(Bson::Null) => None,
            Some(Bson::String(text)) => {
                Some(checksum_of_text(text).ok_or_else(|| wrong(RAW_CHECKSUM))?)
            }
            Some(_) => return Err(wrong(RAW_CHECKSUM)),
        },
        raw_nulled: match metadata.get(RAW_NULLED) {
            None | Some(Bson::Null) => None,
            Some(Bson::Boolean(nulled)) => Some(*nulled),
            Some(_) => return Err(wrong(RAW_NULLED)),
        },
    };
    Ok(Some(PackedField { bytes: bytes.into(), metadata }))
}

/// A number that somebody wrote, in whichever type their driver chose.
fn whole_number(value: &Bson) -> Option<u64> {
    match value {
        Bson::Int32(number) => u64::try_from(*number).ok(),
        Bson::Int64(number) => u64::try_from(*number).ok(),
        Bson::Double(number) => size_of_double(*number),
        _ => None,
    }
}

/// The exact old values of our fields, those that are there.
fn version(document: &Document, names: &MongoNames) -> Result<Version, String> {
    let mut old = Document::new();
    for name in names.written() {
        if let Some(value) = document.get(name) {
            old.insert(name, value.clone());
        }
    }
    old.to_vec().map(|old| Version(old.into())).map_err(|error| error.to_string())
}

/// The comparisons that hold for exactly the old values.
pub(super) fn state_filter(version: &Version, names: &MongoNames) -> Option<Document> {
    let old = Document::from_reader(&version.0[..]).ok()?;
    let written = names.written();
    if old.keys().any(|name| !written.contains(&name.as_str())) {
        return None;
    }
    let mut filter = Document::new();
    for name in written {
        let is_same = match old.get(name) {
            None => doc! { "$exists": false },
            // Null alone would also find documents without the field.
            Some(Bson::Null) => doc! { "$eq": Bson::Null, "$exists": true },
            Some(value) => doc! { "$eq": value.clone() },
        };
        filter.insert(name, is_same);
    }
    Some(filter)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_come_back_in_every_form() {
        for (form, key) in [
            (KeyForm::Text, &b""[..]),
            (KeyForm::Text, "\u{e9}\0".as_bytes()),
            (KeyForm::Text, b"\xff\x00"),
            (KeyForm::ObjectId, b"560ae017a054fc715524e27a"),
            (KeyForm::Integer, b"-7"),
        ] {
            let value = key_value(form, key).unwrap();
            assert_eq!(key_bytes(form, &value).as_deref(), Some(key));
        }
        assert_eq!(key_value(KeyForm::ObjectId, b"560AE017A054FC715524E27A"), None);
        assert_eq!(key_value(KeyForm::Integer, b"07"), None);
        assert_eq!(key_bytes(KeyForm::Text, &Bson::Int32(1)), None);
    }

    #[test]
    fn documents_written_by_hand_are_read() {
        let names = MongoNames { stamp: Some("v".to_owned()), ..MongoNames::default() };
        let read = |document: Document| {
            found(document, &names, DateTime::from_millis(0)).map(|found| found.record)
        };
        let metadata = doc! { CODEC: "GZIP", COMPRESSED_SIZE: 3.0, UNCOMPRESSED_SIZE: 6_485_i64 };
        let binary = Binary { subtype: BinarySubtype::UserDefined(0x85), bytes: b"abc".to_vec() };
        for compressed in [Bson::Binary(binary), Bson::String("YWJj".to_owned())] {
            let record = read(doc! { "cart": { "b": 1, "a": [true, "x"] }, "v": 5.0,
            "compressedData": { "compressedCart": compressed,
                "compressionMetadata": metadata.clone() } })
            .unwrap();
            assert_eq!(record.raw.as_deref(), Some(&br#"{"b":1,"a":[true,"x"]}"#[..]));
            let packed = record.packed.unwrap();
            assert_eq!(packed.bytes, "abc");
            let sizes = (packed.metadata.compressed_size, packed.metadata.uncompressed_size);
            assert_eq!(sizes, (3, 6485));
            assert_eq!(record.stamp, Some(Stamp(5)));
        }
        assert_eq!(read(doc! { "user": "x" }), Ok(Record::default()));
        assert_eq!(
            read(doc! { "compressedData": { "compressedCart": null } }),
            Ok(Record::default())
        );
        for wrong in [
            doc! { "compressedData": 5 },
            doc! { "compressedData": { "compressedCart": "no base64!" } },
            doc! { "compressedData": { "compressedCart": "YWJj" } },
            doc! { "compressedData": { "compressedCart": "YWJj",
            "compressionMetadata": { CODEC: "GZIP", COMPRESSED_SIZE: -1 } } },
            doc! { "v": "5" },
        ] {
            assert!(read(wrong.clone()).is_err(), "{wrong}");
        }
    }
}
