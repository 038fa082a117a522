//! The names of the fields, all of which an address may change, and the forms of keys and raw
//! copies.

use crate::address::Address;
use crate::error::StoreError;

/// Our parameters of an address.
const OURS: [&str; 11] = [
    "key",
    "key_form",
    "raw",
    "raw_form",
    "container",
    "compressed",
    "metadata",
    "updated",
    "stamp",
    "expires",
    "timeout_ms",
];

/// Those of the driver that are handed on.
const CLIENTS: [&str; 29] = [
    "appName",
    "authMechanism",
    "authMechanismProperties",
    "authSource",
    "compressors",
    "connectTimeoutMS",
    "directConnection",
    "heartbeatFrequencyMS",
    "journal",
    "loadBalanced",
    "localThresholdMS",
    "maxIdleTimeMS",
    "maxPoolSize",
    "maxStalenessSeconds",
    "minPoolSize",
    "readConcernLevel",
    "readPreference",
    "readPreferenceTags",
    "replicaSet",
    "retryReads",
    "retryWrites",
    "serverSelectionTimeoutMS",
    "ssl",
    "tls",
    "tlsCAFile",
    "tlsCertificateKeyFile",
    "tlsInsecure",
    "w",
    "wTimeoutMS",
];

/// What keys are in the documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyForm {
    /// Texts; keys that are no UTF-8 are binary.
    Text,
    /// Object ids, which a key names by 24 hexadecimal digits in lower case.
    ObjectId,
    /// Whole numbers of 64 bits.
    Integer,
}

impl KeyForm {
    pub(super) fn name(self) -> &'static str {
        match self {
            KeyForm::Text => "text",
            KeyForm::ObjectId => "object id of 24 digits",
            KeyForm::Integer => "whole number",
        }
    }
}

/// What a raw copy is written as. Both are read, and so is an embedded document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RawForm {
    /// Text, as it was published; what is no UTF-8 is binary.
    Text,
    /// Binary.
    Binary,
}

/// The names of the fields of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MongoNames {
    /// The key; where it is not `_id`, a unique index on it alone is asked for.
    pub key: String,
    /// What keys are.
    pub key_form: KeyForm,
    /// The raw copy.
    pub raw: String,
    /// What raw copies are written as.
    pub raw_form: RawForm,
    /// The published `compressedData`.
    pub container: String,
    /// The published `compressedCart` in it.
    pub compressed: String,
    /// The published `compressionMetadata` in it.
    pub metadata: String,
    /// The published `lastUpdatedDate` of the document, set by every write but a rewrite of exactly
    /// what was read; `None` leaves it to the application.
    pub updated: Option<String>,
    /// The version stamp, an integer of 64 bits.
    pub stamp: Option<String>,
    /// The date after which the document counts as absent, on which a TTL index may be.
    pub expires: Option<String>,
}

impl Default for MongoNames {
    /// The published names, `_id` as the key, no stamp and no expiry.
    fn default() -> MongoNames {
        MongoNames {
            key: "_id".to_owned(),
            key_form: KeyForm::Text,
            raw: "cart".to_owned(),
            raw_form: RawForm::Text,
            container: "compressedData".to_owned(),
            compressed: "compressedCart".to_owned(),
            metadata: "compressionMetadata".to_owned(),
            updated: Some("lastUpdatedDate".to_owned()),
            stamp: None,
            expires: None,
        }
    }
}

impl MongoNames {
    /// Takes the names out of an address. An empty `updated` leaves that field alone.
    pub(super) fn take(address: &mut Address) -> Result<MongoNames, StoreError> {
        let default = MongoNames::default();
        let names = MongoNames {
            key: address.take("key").unwrap_or(default.key),
            key_form: match address.take("key_form").as_deref() {
                None | Some("text") => KeyForm::Text,
                Some("objectid") => KeyForm::ObjectId,
                Some("integer") => KeyForm::Integer,
                Some(_) => return Err(address.bad("key_form is text, objectid or integer")),
            },
            raw: address.take("raw").unwrap_or(default.raw),
            raw_form: match address.take("raw_form").as_deref() {
                None | Some("text") => RawForm::Text,
                Some("binary") => RawForm::Binary,
                Some(_) => return Err(address.bad("raw_form is text or binary")),
            },
            container: address.take("container").unwrap_or(default.container),
            compressed: address.take("compressed").unwrap_or(default.compressed),
            metadata: address.take("metadata").unwrap_or(default.metadata),
            updated: address.take("updated").or(default.updated).filter(|name| !name.is_empty()),
            stamp: address.take("stamp"),
            expires: address.take("expires"),
        };
        address.only_known(&OURS, &CLIENTS)?;
        names.check().map_err(|message| address.bad(&message))?;
        Ok(names)
    }

    /// Names that an update could not set one by one.
    fn check(&self) -> Result<(), String> {
        let optional = [&self.updated, &self.stamp, &self.expires].into_iter().flatten();
        let mut top = vec![&self.key, &self.raw, &self.container];
        top.extend(optional);
        for name in top.iter().copied().chain([&self.compressed, &self.metadata]) {
            if name.is_empty() || name.contains(['.', '\0']) || name.starts_with('$') {
                return Err(format!("{name:?} is no name of a field"));
            }
        }
        top.sort_unstable();
        match top.windows(2).find(|pair| pair[0] == pair[1]) {
            Some(pair) => Err(format!("{} is the name of two fields", pair[0])),
            None => Ok(()),
        }
    }

    /// The fields that a write sets or removes, whatever the record.
    pub(super) fn written(&self) -> Vec<&str> {
        [&self.raw, &self.container].into_iter().chain(&self.stamp).map(String::as_str).collect()
    }
}
