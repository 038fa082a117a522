//! Packing with a schema: the envelope names it, whoever unpacks needs that one, and what it does
//! not take is packed verbatim and told.

use std::sync::Arc;

use super::{pack, profile};
use crate::codec::SetupError;
use crate::encoding::tagged::testing::{every_form, schema};
use crate::encoding::{ENCODINGS, Engine, Refusal};
use crate::envelope::{FIELD_SCHEMA, Header, UnpackError};
use crate::pack::{NotEncoded, Outcome, Packer, Unpacker};
use crate::profile::Profile;
use crate::schema::{Language, Schema};

/// A payload that every schema of the tests takes.
fn payload() -> Vec<u8> {
    let text = "a text that is long enough to be worth an envelope, ".repeat(4);
    format!(r#"{{"t":"{text}","i":5,"b":null,"unknown":[1.50]}}"#).into_bytes()
}

fn profiles() -> Vec<(Profile, Arc<Schema>)> {
    let with = |name: &str, language| {
        let schema = schema(language, every_form());
        (Profile { schema: Some(Arc::clone(&schema)), ..profile(name, "zstd") }, schema)
    };
    vec![
        with("protobuf", Language::Protobuf),
        with("thrift-binary", Language::Thrift),
        with("thrift-compact", Language::Thrift),
    ]
}

#[test]
fn the_envelope_names_the_schema_and_only_that_one_unpacks_it() {
    for (profile, schema) in profiles() {
        let (packed, outcome) = pack(&profile, &payload());
        assert_eq!(outcome, Outcome::Packed { not_encoded: None });
        let (header, _) = Header::read(&packed).unwrap();
        let [field] = &header.fields[..] else { panic!("{:?}", header.fields) };
        assert_eq!((field.kind, &field.value[..]), (FIELD_SCHEMA, &schema.sha256()[..8]));
        let mut out = Vec::new();
        let mut reader = Unpacker::new([]).with_schemas([Arc::clone(&schema)]);
        reader.unpack(&packed, &mut out).unwrap();
        let expected = String::from_utf8(payload()).unwrap();
        assert_eq!(String::from_utf8(out.clone()).unwrap(), expected);
        let missing = Unpacker::new([]).unpack(&packed, &mut out);
        assert_eq!((missing, out.len()), (Err(UnpackError::MissingSchema), 0));
    }
}

#[test]
fn a_schema_in_another_language_or_none_is_refused_by_name() {
    for encoding in ENCODINGS {
        let Engine::Schema(engine) = encoding.engine else { continue };
        let error = Packer::new(&profile(encoding.name, "zstd")).err();
        assert_eq!(error, Some(SetupError::NoSchema { encoding: encoding.name }));
        let other = match engine.language() {
            Language::Protobuf => Language::Thrift,
            _ => Language::Protobuf,
        };
        let other = schema(other, every_form());
        let profile = Profile { schema: Some(other), ..profile(encoding.name, "zstd") };
        let error = Packer::new(&profile).err();
        assert!(matches!(error, Some(SetupError::OtherSchema { .. })), "{error:?}");
    }
}

#[test]
fn what_the_schema_does_not_take_is_packed_verbatim_and_needs_no_schema() {
    for (profile, _) in profiles() {
        let list = format!("[{}]", "\"the top is no object\",".repeat(20) + "1");
        let (packed, outcome) = pack(&profile, list.as_bytes());
        let Outcome::Packed { not_encoded: Some(NotEncoded::Refused(refusal)) } = outcome else {
            panic!("{outcome:?}")
        };
        assert!(matches!(refusal, Refusal::OutsideSchema { path, .. } if path == "$"));
        let mut out = Vec::new();
        Unpacker::new([]).unpack(&packed, &mut out).unwrap();
        assert_eq!(out, list.as_bytes());
    }
}
