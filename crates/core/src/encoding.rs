//! Encodings: payload to bytes and back. This file is the front door: the trait, its errors and the
//! registry table `ENCODINGS`.
//!
//! An encoding works on a [`Document`] (the in-memory value), or, where its form is text or
//! opaque, on the payload itself. What it can't carry it refuses, per payload and by name: it never
//! writes a different value in silence.

use std::sync::Arc;

use crate::codec::SetupError;
use crate::dictionary::Dictionary;
use crate::document::{Document, DocumentError, Fidelity};
use crate::schema::{Language, Schema};

/// The id of an encoding in an envelope, 0x10 to 0x7F.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EncodingId(pub u8);

/// How an encoding does its work.
pub enum Engine {
    /// The payload's own bytes are its encoded form: any payload, JSON or not.
    Verbatim,
    /// It writes and reads the in-memory value.
    Document(&'static dyn DocumentEncoding),
    /// It writes and reads JSON text, with contexts that may know a dictionary.
    Text(&'static dyn TextEncoding),
    /// It writes and reads the in-memory value by a schema.
    Schema(&'static dyn SchemaEncoding),
}

/// Which of the two JSON parsers turns the payload's text into the in-memory value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Parser {
    /// The byte-by-byte parser: the reference.
    Ordinary,
    /// The parser that finds structure 64 bytes at a time.
    Simd,
}

/// One row of the registry.
pub struct Encoding {
    /// The decoder's id; rows that share it read each other's bytes.
    pub id: EncodingId,
    /// The name used in profiles, arguments and reports.
    pub name: &'static str,
    /// One line for help texts and documentation.
    pub summary: &'static str,
    /// How it works.
    pub engine: Engine,
    /// The parser for its payloads.
    pub parser: Parser,
    /// Whether its bytes are JSON text, which a reader needs no decoder for.
    pub is_json_text: bool,
    /// What a round trip keeps.
    pub fidelity: Fidelity,
    /// Whether common libraries of several languages read its bytes.
    pub portable: bool,
    /// Whether it works only with a schema that writer and reader share.
    pub needs_schema: bool,
    /// What it refuses, as a sentence for users.
    pub refuses: &'static str,
    /// The first release that had it.
    pub since: &'static str,
    /// The release that stopped writing it, if one did.
    pub until: Option<&'static str>,
}

impl std::fmt::Debug for Encoding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Encoding({})", self.name)
    }
}

impl Encoding {
    /// The encoding with its schema, where it is one that needs a schema.
    ///
    /// # Errors
    /// Where it needs one and there is none, or one in another language.
    pub fn with_schema(
        &self,
        schema: Option<&Arc<Schema>>,
    ) -> Result<Option<Box<dyn WithSchema>>, SetupError> {
        let Engine::Schema(engine) = self.engine else { return Ok(None) };
        let schema = schema.ok_or(SetupError::NoSchema { encoding: self.name })?;
        let language = schema.language().name();
        let made = engine.with_schema(schema);
        made.map(Some).ok_or(SetupError::OtherSchema { encoding: self.name, language })
    }
}

impl PartialEq for Encoding {
    fn eq(&self, other: &Encoding) -> bool {
        self.name == other.name
    }
}

/// Why a value can't be carried by an encoding. Nothing is wrong with the payload.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The encoding needs an object at the top.
    #[error("the top of the payload is not an object")]
    TopIsNotAnObject,
    /// A number is outside what the encoding can hold exactly.
    #[error("the number {text} can't be held exactly")]
    Number {
        /// The number's JSON text, at most its first 64 bytes.
        text: String,
    },
    /// A string holds a lone surrogate, which is no Unicode text.
    #[error("a string holds a lone surrogate")]
    LoneSurrogate,
    /// A key holds a NUL, which the encoding uses as a terminator.
    #[error("a key holds a NUL character")]
    NulInKey,
    /// An object has the same key twice.
    #[error("the key {key:?} stands twice in one object")]
    DuplicateKey {
        /// The key, at most its first 64 bytes.
        key: String,
    },
    /// A string, array, object or the whole is longer than the encoding can say.
    #[error("{what} is longer than the encoding's {limit}")]
    TooLong {
        /// What is too long.
        what: &'static str,
        /// The encoding's limit.
        limit: u64,
    },
    /// The payload is no JSON text.
    #[error("the payload is no JSON")]
    NotJson,
    /// White space stands in a way that the encoding does not bring back.
    #[error("its white space is in none of the usual styles")]
    WhiteSpace,
    /// There are more different keys, or ways in which values are written, than the encoding takes.
    #[error("it has too many different keys")]
    TooManyKeys,
    /// A value is none that the schema describes.
    #[error("the value at {path} is outside the schema: {what}")]
    OutsideSchema {
        /// Where it stands, as in `$.trips[3].fare`.
        path: String,
        /// What is wrong with it.
        what: &'static str,
    },
    /// Arrays and objects nest deeper than the encoding's readers take.
    #[error("arrays and objects nest deeper than {limit} levels")]
    TooDeep {
        /// The limit in levels.
        limit: usize,
    },
}

/// Why bytes could not be decoded. Caused by the bytes.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// The bytes break the encoding's rules.
    #[error("{encoding}: {what} at byte {offset}")]
    Corrupt {
        /// The encoding's name.
        encoding: &'static str,
        /// What was found or missing.
        what: &'static str,
        /// Where, in bytes from the start.
        offset: usize,
    },
    /// The bytes are well formed but hold what JSON can't say (binary data, dates, NaN).
    #[error("{encoding}: {what} at byte {offset} has no JSON form")]
    NotJson {
        /// The encoding's name.
        encoding: &'static str,
        /// What was found.
        what: &'static str,
        /// Where, in bytes from the start.
        offset: usize,
    },
    /// The bytes break the encoding's rules, in a place that has no offset of its own.
    #[error("{encoding}: {what}")]
    Body {
        /// The encoding's name.
        encoding: &'static str,
        /// What was found or missing.
        what: &'static str,
    },
    /// The document would pass a limit.
    #[error(transparent)]
    Document(#[from] DocumentError),
}

/// An encoding of the in-memory value.
pub trait DocumentEncoding: Sync {
    /// Appends the encoded document to `out`. On a refusal `out` may hold a part of it.
    fn encode(&self, document: &Document, out: &mut Vec<u8>) -> Result<(), Refusal>;

    /// Decodes all of `bytes` into `document`, which is cleared first. Bytes after the value are
    /// an error.
    fn decode(&self, bytes: &[u8], document: &mut Document) -> Result<(), DecodeError>;
}

/// An encoding that needs a schema.
pub trait SchemaEncoding: Sync {
    /// The language of its schemas.
    fn language(&self) -> Language;

    /// The encoding with a schema, which may be shared by threads; `None` where the schema is in
    /// another language.
    fn with_schema(&self, schema: &Arc<Schema>) -> Option<Box<dyn WithSchema>>;
}

/// An encoding that has its schema.
pub trait WithSchema: DocumentEncoding + Send {
    /// As [`DocumentEncoding::encode`]; answers how many members of objects the schema has no place
    /// for, which travel as JSON text.
    fn encode_counting(&self, document: &Document, out: &mut Vec<u8>) -> Result<u64, Refusal>;
}

/// An encoding of JSON text.
pub trait TextEncoding: Sync {
    /// A context for encoding with what a dictionary knows.
    fn encoder(&self, dictionary: Option<&Dictionary>) -> Box<dyn TextEncoder>;

    /// A context for decoding what was encoded with the same dictionary.
    fn decoder(&self, dictionary: Option<&Dictionary>) -> Box<dyn TextDecoder>;
}

/// Encodes JSON texts, one after the other; one for each thread.
pub trait TextEncoder: Send {
    /// Appends the encoded form of a text to `out`. On a refusal `out` may hold a part of it.
    fn encode(&mut self, text: &[u8], out: &mut Vec<u8>) -> Result<(), Refusal>;
}

/// Decodes to JSON texts, one after the other; one for each thread.
pub trait TextDecoder: Send {
    /// Appends the text of all of `bytes` to `out`, which has exactly `text_bytes` bytes. On an
    /// error `out` may hold a part of it.
    fn decode(
        &mut self,
        bytes: &[u8],
        text_bytes: usize,
        out: &mut Vec<u8>,
    ) -> Result<(), DecodeError>;

    /// What it holds, in bytes: the dictionary's part and the buffers that it keeps.
    fn memory_bytes(&self) -> usize;
}

mod avro;
mod bson;
mod by_schema;
mod cbor;
pub mod columnar;
mod cursor;
mod flexbuffers;
mod ion;
mod json;
mod msgpack;
mod protobuf;
mod smile;
pub(crate) mod tagged;
mod thrift;

use by_schema::BySchema;

pub(crate) use cursor::number::exact_float;

/// Every encoding, in the order in which help texts and tables list them. The first row of an id
/// is the one that decodes that id.
pub static ENCODINGS: &[Encoding] = &[
    Encoding {
        id: EncodingId(0x10),
        name: "verbatim",
        summary: "the payload's own bytes, JSON or not",
        engine: Engine::Verbatim,
        parser: Parser::Simd,
        is_json_text: false,
        fidelity: Fidelity::Bytes,
        portable: true,
        needs_schema: false,
        refuses: "nothing",
        since: "0.1.0",
        until: None,
    },
    Encoding {
        id: EncodingId(0x11),
        name: "json-simd",
        summary: "minified JSON text, parsed 64 bytes at a time",
        engine: Engine::Document(&json::Json { parser: Parser::Simd }),
        parser: Parser::Simd,
        is_json_text: true,
        fidelity: Fidelity::ValueAndText,
        portable: true,
        needs_schema: false,
        refuses: "nothing that is JSON",
        since: "0.1.0",
        until: None,
    },
    Encoding {
        id: EncodingId(0x11),
        name: "json",
        summary: "minified JSON text, parsed byte by byte",
        engine: Engine::Document(&json::Json { parser: Parser::Ordinary }),
        parser: Parser::Ordinary,
        is_json_text: true,
        fidelity: Fidelity::ValueAndText,
        portable: true,
        needs_schema: false,
        refuses: "nothing that is JSON",
        since: "0.1.0",
        until: None,
    },
    Encoding {
        id: EncodingId(0x12),
        name: "msgpack",
        summary: "MessagePack",
        engine: Engine::Document(&msgpack::MessagePack),
        parser: Parser::Simd,
        is_json_text: false,
        fidelity: Fidelity::Value,
        portable: true,
        needs_schema: false,
        refuses: "numbers that neither 64-bit integers nor doubles hold exactly; lone surrogates",
        since: "0.1.0",
        until: None,
    },
    Encoding {
        id: EncodingId(0x13),
        name: "cbor",
        summary: "CBOR (RFC 8949) with bignums and decimal fractions",
        engine: Engine::Document(&cbor::Cbor),
        parser: Parser::Simd,
        is_json_text: false,
        fidelity: Fidelity::Value,
        portable: true,
        needs_schema: false,
        refuses: "numbers of more than 8,192 digits or exponents beyond 64 bits; lone surrogates",
        since: "0.1.0",
        until: None,
    },
    Encoding {
        id: EncodingId(0x14),
        name: "bson",
        summary: "BSON 1.1",
        engine: Engine::Document(&bson::Bson),
        parser: Parser::Simd,
        is_json_text: false,
        fidelity: Fidelity::Value,
        portable: true,
        needs_schema: false,
        refuses: "payloads that are not an object; numbers that neither signed 64-bit integers \
                  nor doubles hold exactly; lone surrogates; keys with a NUL; above 2 GiB",
        since: "0.1.0",
        until: None,
    },
    Encoding {
        id: EncodingId(0x15),
        name: "smile",
        summary: "Smile 1.0 with shared names and strings",
        engine: Engine::Document(&smile::Smile),
        parser: Parser::Simd,
        is_json_text: false,
        fidelity: Fidelity::Value,
        portable: true,
        needs_schema: false,
        refuses: "numbers of more than 8,192 digits or scales beyond 32 bits; lone surrogates",
        since: "0.1.0",
        until: None,
    },
    Encoding {
        id: EncodingId(0x16),
        name: "columnar",
        summary: "columns by path; with a dictionary, payloads without keys and structure",
        engine: Engine::Text(&columnar::Columnar),
        parser: Parser::Simd,
        is_json_text: false,
        fidelity: Fidelity::Bytes,
        portable: false,
        needs_schema: false,
        refuses: "white space in no usual style; more than 256 levels or 16,384 different paths",
        since: "0.1.0",
        until: None,
    },
    Encoding {
        id: EncodingId(0x17),
        name: "protobuf",
        summary: "Protocol Buffers, by a schema that is given or inferred",
        engine: Engine::Schema(&BySchema::<protobuf::Protobuf>::new()),
        parser: Parser::Simd,
        is_json_text: false,
        fidelity: Fidelity::Value,
        portable: true,
        needs_schema: true,
        refuses: REFUSES_OUTSIDE,
        since: "0.1.0",
        until: None,
    },
    Encoding {
        id: EncodingId(0x18),
        name: "thrift-binary",
        summary: "Apache Thrift, binary protocol, by a schema that is given or inferred",
        engine: Engine::Schema(&BySchema::<thrift::Thrift<thrift::Binary>>::new()),
        parser: Parser::Simd,
        is_json_text: false,
        fidelity: Fidelity::Value,
        portable: true,
        needs_schema: true,
        refuses: REFUSES_OUTSIDE,
        since: "0.1.0",
        until: None,
    },
    Encoding {
        id: EncodingId(0x19),
        name: "thrift-compact",
        summary: "Apache Thrift, compact protocol, by a schema that is given or inferred",
        engine: Engine::Schema(&BySchema::<thrift::Thrift<thrift::Compact>>::new()),
        parser: Parser::Simd,
        is_json_text: false,
        fidelity: Fidelity::Value,
        portable: true,
        needs_schema: true,
        refuses: REFUSES_OUTSIDE,
        since: "0.1.0",
        until: None,
    },
    Encoding {
        id: EncodingId(0x1A),
        name: "avro",
        summary: "Apache Avro, by a schema that is given or inferred",
        engine: Engine::Schema(&BySchema::<avro::Avro>::new()),
        parser: Parser::Simd,
        is_json_text: false,
        fidelity: Fidelity::Value,
        portable: true,
        needs_schema: true,
        refuses: REFUSES_OUTSIDE_OR_LACKING,
        since: "0.1.0",
        until: None,
    },
    Encoding {
        id: EncodingId(0x1B),
        name: "flexbuffers",
        summary: "FlexBuffers, whose values are read in place without decoding",
        engine: Engine::Document(&flexbuffers::FlexBuffers),
        parser: Parser::Simd,
        is_json_text: false,
        fidelity: Fidelity::Value,
        portable: true,
        needs_schema: false,
        refuses: "numbers that neither 64-bit integers nor doubles hold exactly; lone surrogates; \
                  keys with a NUL; above 4 GiB",
        since: "0.1.0",
        until: None,
    },
    Encoding {
        id: EncodingId(0x1C),
        name: "ion",
        summary: "Amazon Ion 1.0, binary, with decimals and a table of the keys",
        engine: Engine::Document(&ion::Ion),
        parser: Parser::Simd,
        is_json_text: false,
        fidelity: Fidelity::Value,
        portable: true,
        needs_schema: false,
        refuses: "numbers of more than 8,192 digits or exponents beyond 64 bits; lone surrogates",
        since: "0.1.0",
        until: None,
    },
];

/// What Avro refuses.
const REFUSES_OUTSIDE_OR_LACKING: &str = "payloads without a key that the schema has in every one; \
                                          what is outside it, where it has no field for the rest";

/// What encodings with a schema refuse.
const REFUSES_OUTSIDE: &str = "what is outside the schema, where it has no field for the rest; \
                               more than 100 levels of records";

/// The encoding of this name.
pub fn encoding_named(name: &str) -> Option<&'static Encoding> {
    ENCODINGS.iter().find(|encoding| encoding.name == name)
}

/// The encoding that decodes this id.
pub fn encoding_of(id: EncodingId) -> Option<&'static Encoding> {
    ENCODINGS.iter().find(|encoding| encoding.id == id)
}

#[cfg(test)]
mod tests;
