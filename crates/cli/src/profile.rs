//! Reading a profile and the dictionaries it names.
//!
//! The path of a dictionary is meant relative to the profile file, so that both move together.

use std::fs;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use cinch_core::codec::CodecChoice;
use cinch_core::dictionary::Dictionary;
use cinch_core::encoding::encoding_named;
use cinch_core::limits::{DICTIONARY_BYTES_MAX, SCHEMA_BYTES_MAX};
use cinch_core::profile::{Profile, ProfileError};
use cinch_core::schema::{Language, Schema};

use crate::arguments::ProfileArguments;
use crate::failure::Failure;

/// The most bytes of a profile file: a page of text, not a corpus named by mistake.
const PROFILE_BYTES_MAX: u64 = 1 << 20;

/// The profile that the arguments name or spell out.
pub fn read(arguments: &ProfileArguments) -> Result<Profile, Failure> {
    if let Some(path) = &arguments.profile {
        return read_file(path);
    }
    let name = arguments.encoding.as_deref().unwrap_or("verbatim");
    let encoding = encoding_named(name).ok_or_else(|| {
        Failure::Argument(ProfileError::UnknownEncoding { name: name.to_owned() }.to_string())
    })?;
    let codec = CodecChoice::parse(arguments.codec.as_deref().unwrap_or("zstd"))?;
    let mut profile = Profile::new(encoding, codec);
    profile.dictionary = arguments.dictionary.as_deref().map(read_dictionary).transpose()?;
    if arguments.schema.is_some() && !encoding.needs_schema {
        return Err(Failure::Argument(format!("{name} takes no schema")));
    }
    profile.schema = arguments.schema.as_deref().map(read_schema).transpose()?;
    Ok(profile)
}

/// The profile in a file, with the dictionaries that it names.
pub fn read_file(path: &Path) -> Result<Profile, Failure> {
    let name = || path.display().to_string();
    let bytes = read_at_most(path, PROFILE_BYTES_MAX)?;
    let text = String::from_utf8(bytes)
        .map_err(|_| Failure::Argument(format!("{}: a profile is UTF-8 text", name())))?;
    let folder = path.parent().unwrap_or(Path::new(""));
    Profile::from_toml(
        &text,
        |dictionary| read_dictionary(&folder.join(dictionary)),
        |schema| read_schema(&folder.join(schema)),
    )
    .map_err(|failure| match failure {
        Failure::AnyProfile(error) => Failure::Profile { path: name(), error },
        other => other,
    })
}

/// Reads a schema file, whose ending names its language.
pub fn read_schema(path: &Path) -> Result<Arc<Schema>, Failure> {
    let ending = path.extension().unwrap_or_default();
    let language = Language::ALL.into_iter().find(|language| language.extension() == ending);
    let language = language.ok_or_else(|| {
        let name = path.display();
        Failure::Argument(format!("{name}: a schema's name ends with .proto, .thrift or .avsc"))
    })?;
    let bytes = read_at_most(path, SCHEMA_BYTES_MAX as u64)?;
    cinch_schema::read(language, &bytes)
        .map_err(|error| Failure::Schema { path: path.display().to_string(), error })
}

/// Reads a dictionary file.
pub fn read_dictionary(path: &Path) -> Result<Arc<Dictionary>, Failure> {
    let bytes = read_at_most(path, DICTIONARY_BYTES_MAX as u64)?;
    Dictionary::new(bytes)
        .map_err(|error| Failure::Dictionary { path: path.display().to_string(), error })
}

/// Reads a file of at most this many bytes.
pub fn read_at_most(path: &Path, limit_bytes: u64) -> Result<Vec<u8>, Failure> {
    let fail = |error| Failure::file(path, error);
    let mut bytes = Vec::new();
    let file = fs::File::open(path).map_err(fail)?;
    file.take(limit_bytes + 1).read_to_end(&mut bytes).map_err(fail)?;
    if bytes.len() as u64 > limit_bytes {
        let error = std::io::Error::other(format!("is larger than {limit_bytes} bytes"));
        return Err(fail(error));
    }
    Ok(bytes)
}
