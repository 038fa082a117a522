//! From a TOML file and `CINCH_*` variables to a [`Configuration`], or to the one line that says
//! what is wrong and where.
//!
//! A variable names a key by its path with two underscores between its parts:
//! `CINCH_COMPRESSION_ENABLED=false`, `CINCH_NAMESPACES__CARTS__WRITE_MODE=DUAL`. Its value is read
//! as TOML where that gives a value, else as text.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cinch_core::dictionary::{Dictionary, DictionaryError};
use cinch_core::document::Fidelity as EncodingFidelity;
use cinch_core::encoding::{Encoding, encoding_named};
use cinch_core::profile::{Profile, ProfileError};
use cinch_core::schema::Schema;

use super::position::{line_of, shown};
use super::table::{Defaults, Fidelity, File, Table};
use super::{
    Configuration, DICTIONARIES_BYTES_MAX, InputEnvelopes, Modes, NAMESPACES_MAX, Namespace,
    PAYLOAD_BYTES_MAX_DEFAULT, Slots,
};
use crate::glob::Glob;
use crate::modes::{ReadMode, SingleWrite, WriteMode, check_pair};
use crate::published::PublishedCodec;

/// How long an announcement counts unless the file says otherwise, in milliseconds.
const LEASE_MS_DEFAULT: u64 = 30_000;

/// The shortest lease, in milliseconds: a slow store must not make a live process look dead.
const LEASE_MS_MIN: u64 = 1_000;

/// The start of the variables that override settings.
const PREFIX: &str = "CINCH_";

/// Reads a schema file whose name ends as its language's files do; the text says what is wrong.
pub type SchemaReader = fn(&Path) -> Result<Arc<Schema>, String>;

/// What a configuration is made of.
#[derive(Debug, Clone, Default)]
pub struct Sources {
    /// The file's path, for errors and for the paths in it, which are relative to its folder.
    pub path: PathBuf,
    /// The file's text.
    pub text: String,
    /// The environment, of which only `CINCH_*` is looked at.
    pub variables: Vec<(String, String)>,
    /// The name of this process where neither the file nor a variable says one.
    pub process: String,
    /// Reads the schemas that profiles name. It brings the compilers of three languages with it,
    /// so that an application which needs no schema does not link them.
    pub schema_reader: Option<SchemaReader>,
}

/// Why there is no configuration. The text says where and what to do.
#[derive(Debug, thiserror::Error)]
pub enum ConfigurationError {
    /// The file can't be read.
    #[error("{}: {error}", .path.display())]
    Unreadable {
        /// Which file.
        path: PathBuf,
        /// The system's words.
        error: std::io::Error,
    },
    /// The file is no TOML, or a key has a wrong type or is not known.
    #[error("{}: {message}", .path.display())]
    Syntax {
        /// Which file.
        path: PathBuf,
        /// The parser's words, with the line.
        message: String,
    },
    /// A variable does not fit.
    #[error("{name}={value}: {message}")]
    Variable {
        /// Its name.
        name: String,
        /// Its value.
        value: String,
        /// What is wrong.
        message: String,
    },
    /// A setting is well-formed and wrong.
    #[error("{}{}: {message}{}", .path.display(), of_line(*.line), of_source(.source_line))]
    Setting {
        /// Which file.
        path: PathBuf,
        /// The line, counted from 1, where it stands in the file.
        line: Option<usize>,
        /// That line.
        source_line: Option<String>,
        /// What is wrong, and what would be right.
        message: String,
    },
}

fn of_line(line: Option<usize>) -> String {
    line.map_or(String::new(), |line| format!(":{line}"))
}

fn of_source(source_line: &Option<String>) -> String {
    source_line.as_ref().map_or(String::new(), |line| format!("\n  {line}"))
}

impl Sources {
    /// Reads the file of a path.
    ///
    /// # Errors
    /// [`ConfigurationError::Unreadable`].
    pub fn read(
        path: &Path,
        variables: impl IntoIterator<Item = (String, String)>,
        process: String,
    ) -> Result<Sources, ConfigurationError> {
        let text = fs::read_to_string(path)
            .map_err(|error| ConfigurationError::Unreadable { path: path.to_owned(), error })?;
        Ok(Sources {
            path: path.to_owned(),
            text,
            variables: variables.into_iter().collect(),
            process,
            schema_reader: None,
        })
    }

    /// The same sources, in which profiles may name schemas.
    pub fn with_schemas(self, reader: SchemaReader) -> Sources {
        Sources { schema_reader: Some(reader), ..self }
    }

    /// The configuration, with its profiles and dictionaries read.
    ///
    /// # Errors
    /// [`ConfigurationError`]; nothing of a configuration with an error is used.
    pub fn configuration(&self) -> Result<Configuration, ConfigurationError> {
        let file = self.file()?;
        let mut warnings = self.strangers();
        if file.namespaces.len() > NAMESPACES_MAX {
            let got = file.namespaces.len();
            let message = format!("{got} namespaces, at most {NAMESPACES_MAX} are allowed");
            return Err(self.wrong(&["namespaces"], message));
        }
        let lease_ms = file.fleet.lease_ms.unwrap_or(LEASE_MS_DEFAULT);
        if lease_ms < LEASE_MS_MIN {
            let message = format!("lease_ms is {lease_ms}, at least {LEASE_MS_MIN} is needed");
            return Err(self.wrong(&["fleet", "lease_ms"], message));
        }
        let mut dictionaries = BTreeMap::new();
        let mut namespaces = BTreeMap::new();
        for (name, table) in file.namespaces {
            let namespace =
                self.namespace(&name, table, &file.defaults, &mut dictionaries, &mut warnings)?;
            namespaces.insert(name, Arc::new(namespace));
        }
        Ok(Configuration {
            compression_enabled: file.compression_enabled,
            process: file.process.unwrap_or_else(|| self.process.clone()),
            fleet: file.fleet.expected,
            lease_ms,
            namespaces,
            warnings,
        })
    }

    fn file(&self) -> Result<File, ConfigurationError> {
        let syntax = |error: toml::de::Error| ConfigurationError::Syntax {
            path: self.path.clone(),
            message: error.to_string().trim_end().to_owned(),
        };
        let file: File = toml::from_str(&self.text).map_err(syntax)?;
        let mut value: Option<toml::Table> = None;
        for (name, text) in self.overrides() {
            let table = match &mut value {
                Some(table) => table,
                none => none.insert(toml::from_str(&self.text).map_err(syntax)?),
            };
            set(table, name, text)?;
            // Tried one by one, so that the error names the variable that does not fit.
            if let Err(error) = table.clone().try_into::<File>() {
                return Err(ConfigurationError::Variable {
                    name: name.to_owned(),
                    value: text.to_owned(),
                    message: error.message().to_owned(),
                });
            }
        }
        match value {
            Some(table) => table.try_into().map_err(syntax),
            None => Ok(file),
        }
    }

    /// The variables that override a setting: those whose first part is a key of the file.
    pub(super) fn overrides(&self) -> impl Iterator<Item = (&str, &str)> {
        const KEYS: &[&str] = &[
            "COMPRESSION_ENABLED",
            "COMPRESSION_CODEC",
            "WRITE_MODE",
            "READ_MODE",
            "PROCESS",
            "FLEET",
            "NAMESPACES",
            "PROXY",
        ];
        self.variables.iter().filter_map(|(name, value)| {
            let first = name.strip_prefix(PREFIX)?.split("__").next()?;
            KEYS.contains(&first).then_some((name.as_str(), value.as_str()))
        })
    }

    /// Variables that look like settings and are none, which is likelier a slip than a purpose.
    fn strangers(&self) -> Vec<String> {
        let known: Vec<&str> = self.overrides().map(|(name, _)| name).collect();
        let names = self.variables.iter().map(|(name, _)| name.as_str());
        names
            .filter(|name| name.starts_with(PREFIX) && name.contains("__") && !known.contains(name))
            .map(|name| format!("{name} is set and names no setting"))
            .collect()
    }

    /// That a setting is wrong, with its line.
    pub fn wrong(&self, path: &[&str], message: impl Into<String>) -> ConfigurationError {
        let line = line_of(&self.text, path);
        ConfigurationError::Setting {
            path: self.path.clone(),
            line,
            source_line: line.map(|line| shown(&self.text, line)),
            message: message.into(),
        }
    }

    fn namespace(
        &self,
        name: &str,
        table: Table,
        defaults: &Defaults,
        dictionaries: &mut BTreeMap<PathBuf, Arc<Dictionary>>,
        warnings: &mut Vec<String>,
    ) -> Result<Namespace, ConfigurationError> {
        let wrong = |key: &str, message: String| self.wrong(&["namespaces", name, key], message);
        if table.keys.is_empty() {
            return Err(wrong("keys", "keys is missing: which keys belong here?".to_owned()));
        }
        let mut keys = Vec::new();
        for text in &table.keys {
            let glob = Glob::parse(text);
            keys.push(glob.map_err(|error| wrong("keys", format!("{text:?} has {error}")))?);
        }
        let percent = table.percent.unwrap_or(100);
        if percent > 100 {
            return Err(wrong("percent", format!("percent is {percent}, at most 100 is possible")));
        }
        let (profile, published) = self.method(name, &table, defaults, dictionaries)?;
        let takes_value_fidelity = table.fidelity == Some(Fidelity::Value);
        let not_bytes = |encoding: &&Encoding| encoding.fidelity != EncodingFidelity::Bytes;
        if !takes_value_fidelity && let Some(encoding) = profile.encodings().find(not_bytes) {
            let message = format!(
                "the profile's encoding {} keeps the value but not the text; set \
                 fidelity = \"value\" if readers are content with that",
                encoding.name
            );
            return Err(wrong("profile", message));
        }
        let modes = self.modes(name, &table, defaults)?;
        if matches!(modes, Modes::One { write: SingleWrite::Packed }) && table.legacy_readers {
            let message = "write = \"packed\" while legacy_readers = true: they would be handed \
                           envelopes; write \"shadow\" until they are gone";
            return Err(wrong("write", message.to_owned()));
        }
        if let Modes::Two { write: WriteMode::CompressOnly, .. } = modes
            && table.legacy_readers
        {
            let message = "write_mode = COMPRESS_ONLY while legacy_readers = true: they would find \
                           an empty raw field; write DUAL until they are gone";
            return Err(wrong("write_mode", message.to_owned()));
        }
        if percent == 0 {
            warnings.push(format!("namespace {name}: percent = 0 leaves every key as it was"));
        }
        let mut of_others = Vec::new();
        for path in &table.dictionaries {
            let read = self.dictionary(path, dictionaries);
            of_others.push(read.map_err(|error| wrong("dictionaries", error))?);
        }
        let mut schemas = Vec::new();
        for path in &table.schemas {
            let read = self.schema_at(&self.beside(path));
            schemas.push(read.map_err(|error| wrong("schemas", error))?);
        }
        Ok(Namespace {
            name: name.to_owned(),
            keys,
            profile: Arc::new(profile),
            published,
            modes,
            percent,
            processes: table.processes,
            payload_bytes_max: table.payload_bytes_max.unwrap_or(PAYLOAD_BYTES_MAX_DEFAULT),
            input_envelopes: table.input_envelopes.unwrap_or(InputEnvelopes::Pass),
            takes_value_fidelity,
            is_cache: table.cache,
            has_legacy_readers: table.legacy_readers,
            has_legacy_writers: table.legacy_writers,
            dictionaries: of_others,
            schemas,
            foreign_formats: table.foreign_formats,
        })
    }

    fn modes(
        &self,
        name: &str,
        table: &Table,
        defaults: &Defaults,
    ) -> Result<Modes, ConfigurationError> {
        let wrong = |key: &str, message: &str| self.wrong(&["namespaces", name, key], message);
        let slots = slots_of(table);
        if table.managed {
            if table.write.is_some() || table.write_mode.is_some() {
                return Err(wrong("managed", "managed = true beside a mode: which one holds?"));
            }
            return Ok(Modes::Managed(slots));
        }
        match slots {
            Slots::One => {
                if table.write_mode.is_some() || table.read_mode.is_some() {
                    let message = "a store with one slot has write = \"plain\", \"shadow\" or \
                                   \"packed\", and reads everything";
                    return Err(wrong("write_mode", message));
                }
                Ok(Modes::One { write: table.write.unwrap_or(SingleWrite::Plain) })
            }
            Slots::Two => {
                if table.write.is_some() {
                    let message = "a store with two slots has write_mode = NO_COMPRESS, DUAL or \
                                   COMPRESS_ONLY";
                    return Err(wrong("write", message));
                }
                let write =
                    table.write_mode.or(defaults.write_mode).unwrap_or(WriteMode::NoCompress);
                let read = table.read_mode.or(defaults.read_mode).unwrap_or(ReadMode::NoCompress);
                check_pair(write, read).map_err(|error| wrong("write_mode", &error.to_string()))?;
                Ok(Modes::Two { write, read })
            }
        }
    }

    fn method(
        &self,
        name: &str,
        table: &Table,
        defaults: &Defaults,
        dictionaries: &mut BTreeMap<PathBuf, Arc<Dictionary>>,
    ) -> Result<(Profile, Option<PublishedCodec>), ConfigurationError> {
        let wrong = |key: &str, message: String| self.wrong(&["namespaces", name, key], message);
        let Some(path) = &table.profile else {
            let codec = table.compression_codec.as_ref().or(defaults.compression_codec.as_ref());
            let published = match codec {
                None => PublishedCodec::DEFAULT,
                Some(codec) => PublishedCodec::named(codec)
                    .ok_or_else(|| wrong("compression_codec", unknown_codec(codec)))?,
            };
            let mut profile = Profile::new(verbatim(), published.choice());
            profile.name = published.name().to_owned();
            thresholds(&mut profile, table);
            // Without metadata beside it a block can't say what it is, so one slot has envelopes.
            return Ok((profile, (slots_of(table) == Slots::Two).then_some(published)));
        };
        if table.compression_codec.is_some() {
            let message = "a profile and compression_codec: name one of them".to_owned();
            return Err(wrong("compression_codec", message));
        }
        let full = self.beside(path);
        let text = fs::read_to_string(&full)
            .map_err(|error| wrong("profile", format!("{}: {error}", full.display())))?;
        let folder = full.parent().unwrap_or(Path::new("")).to_owned();
        let read_dictionary = |dictionary: &str| {
            self.dictionary_at(folder.join(dictionary), dictionaries).map_err(ReadError::File)
        };
        let read_schema =
            |schema: &str| self.schema_at(&folder.join(schema)).map_err(ReadError::File);
        let mut profile = Profile::from_toml(&text, read_dictionary, read_schema)
            .map_err(|error: ReadError| wrong("profile", format!("{}: {error}", full.display())))?;
        thresholds(&mut profile, table);
        Ok((profile, None))
    }

    fn schema_at(&self, path: &Path) -> Result<Arc<Schema>, String> {
        let reader = self.schema_reader.ok_or_else(|| {
            let path = path.display();
            format!(
                "{path}: this program was not given a reader of schemas (Sources::with_schemas)"
            )
        })?;
        reader(path)
    }

    fn beside(&self, path: &str) -> PathBuf {
        self.path.parent().unwrap_or(Path::new("")).join(path)
    }

    fn dictionary(
        &self,
        path: &str,
        known: &mut BTreeMap<PathBuf, Arc<Dictionary>>,
    ) -> Result<Arc<Dictionary>, String> {
        self.dictionary_at(self.beside(path), known)
    }

    /// A dictionary file, read once however often it is named.
    fn dictionary_at(
        &self,
        path: PathBuf,
        known: &mut BTreeMap<PathBuf, Arc<Dictionary>>,
    ) -> Result<Arc<Dictionary>, String> {
        if let Some(found) = known.get(&path) {
            return Ok(Arc::clone(found));
        }
        let bytes = fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        let read: Result<_, DictionaryError> = Dictionary::new(bytes);
        let dictionary = read.map_err(|error| format!("{}: {error}", path.display()))?;
        let same = known.values().find(|other| other.id() == dictionary.id());
        if let Some(other) = same
            && other.sha256() != dictionary.sha256()
        {
            let id = dictionary.id();
            return Err(format!("{}: another dictionary has the id {id:#010x}", path.display()));
        }
        let bytes_of = |dictionary: &Arc<Dictionary>| dictionary.bytes().len();
        let got = known.values().map(bytes_of).sum::<usize>() + bytes_of(&dictionary);
        if got > DICTIONARIES_BYTES_MAX {
            return Err(format!(
                "{}: all dictionaries together have {got} bytes, at most {DICTIONARIES_BYTES_MAX} \
                 are kept in memory; leave out what no value names any more (cinch verify counts)",
                path.display()
            ));
        }
        known.insert(path, Arc::clone(&dictionary));
        Ok(dictionary)
    }
}

fn unknown_codec(codec: &str) -> String {
    let names: Vec<&str> = PublishedCodec::all().map(PublishedCodec::name).collect();
    let names = names.join(", ");
    format!("compression_codec is {codec:?}; it is one of {names}, or name a profile instead")
}

/// A namespace that says `write` has one slot, one that says nothing has two.
fn slots_of(table: &Table) -> Slots {
    match (table.slots, table.write) {
        (Some(slots), _) => slots,
        (None, Some(_)) => Slots::One,
        (None, None) => Slots::Two,
    }
}

fn verbatim() -> &'static Encoding {
    // The registry's first row, which a test of core checks.
    encoding_named("verbatim").expect("verbatim is registered")
}

fn thresholds(profile: &mut Profile, table: &Table) {
    profile.min_size_bytes = table.min_size_bytes.unwrap_or(profile.min_size_bytes);
    profile.min_gain = table.min_gain.unwrap_or(profile.min_gain);
}

/// Why a profile can't be read.
#[derive(Debug, thiserror::Error)]
enum ReadError {
    #[error(transparent)]
    Profile(#[from] ProfileError),
    #[error("{0}")]
    File(String),
}

/// Puts a variable's value where its name says.
pub(super) fn set(
    table: &mut toml::Table,
    name: &str,
    text: &str,
) -> Result<(), ConfigurationError> {
    let path = name.strip_prefix(PREFIX).unwrap_or(name).to_lowercase();
    let wrong = |message: &str| ConfigurationError::Variable {
        name: name.to_owned(),
        value: text.to_owned(),
        message: message.to_owned(),
    };
    let mut parts: Vec<&str> = path.split("__").collect();
    let last = parts.pop().filter(|part| !part.is_empty());
    let last = last.ok_or_else(|| wrong("the name ends in __"))?;
    let mut at = table;
    for part in parts {
        let key = at.keys().find(|key| key.eq_ignore_ascii_case(part)).cloned();
        let key = key.unwrap_or_else(|| part.to_owned());
        let entry = at.entry(key).or_insert_with(|| toml::Value::Table(toml::Table::new()));
        at = entry.as_table_mut().ok_or_else(|| wrong("a part of the name is no table"))?;
    }
    let value = format!("value = {text}")
        .parse::<toml::Table>()
        .ok()
        .and_then(|mut parsed| if parsed.len() == 1 { parsed.remove("value") } else { None })
        .unwrap_or_else(|| toml::Value::String(text.to_owned()));
    // The file may have the key under a published spelling, which would then be there twice.
    at.retain(|key, _| key.to_lowercase().replace('_', "") != last.replace('_', ""));
    at.insert(last.to_owned(), value);
    Ok(())
}
