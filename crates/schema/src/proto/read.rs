//! A `.proto` file as a plan. The syntax and the names are protox's work; what is done here is to
//! say which JSON value each field is.
//!
//! The key of a field is what the file names explicitly by `json_name`, else the field's name as it
//! stands there: payloads that have snake_case keys were there before the file.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use cinch_core::schema::tagged::{Alternative, Field, Form, Integer, Names, Plan, Record};
use prost_reflect::{Cardinality, FieldDescriptor, Kind, MessageDescriptor};
use prost_types::DescriptorProto;
use protox::Compiler;
use protox::file::{ChainFileResolver, File, FileResolver, GoogleFileResolver};

use super::{JSON, MEMBER, NULL, NUMBER, parse_json_name};
use crate::ReadError;
use crate::plan::{EMPTIES_NAME, REST_NAME};

/// The name under which the file is compiled.
const FILE_NAME: &str = "schema.proto";

/// What the names of a value message's fields end with, which no key's do: that of the empty key
/// is `x`.
const VALUE_ENDING: &str = "_value";

/// The one file that there is.
struct Source(String);

impl FileResolver for Source {
    fn open_file(&self, name: &str) -> Result<File, protox::Error> {
        match name {
            FILE_NAME => File::from_source(name, &self.0),
            _ => Err(protox::Error::file_not_found(name)),
        }
    }
}

/// Reads a file.
pub(crate) fn read(text: &str) -> Result<Plan, ReadError> {
    let syntax =
        |error: protox::Error| ReadError::Syntax { line: line_of(&error), what: error.to_string() };
    let explicit = explicit_names(&File::from_source(FILE_NAME, text).map_err(syntax)?);
    let mut resolver = ChainFileResolver::new();
    resolver.add(Source(text.to_owned()));
    resolver.add(GoogleFileResolver::new());
    let mut compiler = Compiler::with_file_resolver(resolver);
    compiler.include_imports(true);
    compiler.open_file(FILE_NAME).map_err(syntax)?;
    let pool = compiler.descriptor_pool();
    let file = pool
        .get_file_by_name(FILE_NAME)
        .ok_or_else(|| ReadError::unsupported(FILE_NAME, "the file has no content"))?;
    let own = |message: &MessageDescriptor| message.parent_file() == file;
    let messages: Vec<MessageDescriptor> =
        pool.all_messages().filter(|message| own(message) && !message.is_map_entry()).collect();
    let is_ours = messages.iter().any(|message| message.full_name() == MEMBER);
    let root = messages[root(&messages, is_ours)?].clone();
    let mut reader = Reader { is_ours, explicit, records: Vec::new(), indices: BTreeMap::new() };
    // The root is the first record; what its fields use is met on the way.
    reader.record(&root)?;
    let mut next = 0;
    let mut met = vec![root];
    while next < met.len() {
        let message = met[next].clone();
        reader.fields(&message, &mut met)?;
        next += 1;
    }
    Ok(Plan::new(reader.records, 0)?)
}

/// The line of an error, as far as its text tells.
fn line_of(error: &protox::Error) -> usize {
    let text = format!("{error:?}");
    let mut places = text.split(':').filter_map(|part| part.trim().parse().ok());
    places.next().unwrap_or(1)
}

/// The JSON names that the file gives itself, by message and number: once compiled, every field has
/// one.
fn explicit_names(file: &File) -> BTreeMap<(String, i32), String> {
    fn add(prefix: &str, message: &DescriptorProto, names: &mut BTreeMap<(String, i32), String>) {
        let name = match prefix {
            "" => message.name().to_owned(),
            prefix => format!("{prefix}.{}", message.name()),
        };
        for field in &message.field {
            if let Some(json_name) = &field.json_name {
                names.insert((name.clone(), field.number()), json_name.clone());
            }
        }
        for inner in &message.nested_type {
            add(&name, inner, names);
        }
    }
    let mut names = BTreeMap::new();
    let file = file.file_descriptor_proto();
    for message in &file.message_type {
        add(file.package(), message, &mut names);
    }
    names
}

/// The message that a payload is.
fn root(messages: &[MessageDescriptor], is_ours: bool) -> Result<usize, ReadError> {
    if is_ours {
        return Ok(0);
    }
    let mut is_used = vec![false; messages.len()];
    for (index, message) in messages.iter().enumerate() {
        for field in message.fields() {
            let kind = match field.kind() {
                Kind::Message(entry) if field.is_map() => entry.map_entry_value_field().kind(),
                kind => kind,
            };
            if let Kind::Message(used) = kind
                && let Some(place) = messages.iter().position(|message| *message == used)
                && place != index
            {
                is_used[place] = true;
            }
        }
    }
    let top = |index: &usize| messages[*index].parent_message().is_none();
    let free = (0..messages.len()).rev().filter(top).find(|&index| !is_used[index]);
    let last = || (0..messages.len()).rev().find(top);
    free.or_else(last).ok_or_else(|| ReadError::unsupported(FILE_NAME, "it has no message"))
}

struct Reader {
    /// The file is one that we wrote.
    is_ours: bool,
    explicit: BTreeMap<(String, i32), String>,
    records: Vec<Record>,
    indices: BTreeMap<String, usize>,
}

impl Reader {
    /// The index of a message's record, whose fields are read later.
    fn record(&mut self, message: &MessageDescriptor) -> Result<usize, ReadError> {
        if let Some(&index) = self.indices.get(message.full_name()) {
            return Ok(index);
        }
        let index = self.records.len();
        self.records.push(Record {
            name: message.name().to_owned(),
            is_value: self.is_ours && message.fields().any(|field| self.key(message, &field).2),
            ..Record::default()
        });
        self.indices.insert(message.full_name().to_owned(), index);
        Ok(index)
    }

    /// Reads the fields of a message whose record there is; `met` takes the messages that they use.
    fn fields(
        &mut self,
        message: &MessageDescriptor,
        met: &mut Vec<MessageDescriptor>,
    ) -> Result<(), ReadError> {
        let index = self.record(message)?;
        let mut choices: BTreeMap<String, BTreeSet<usize>> = BTreeMap::new();
        // As they stand in the file: that is the order of keys in most payloads.
        for declared in &message.descriptor_proto().field {
            let Some(field) = message.get_field(declared.number() as u32) else { continue };
            if self.is_ours && field.is_list() {
                match (field.name(), field.kind()) {
                    (REST_NAME, Kind::Message(of)) if of.full_name() == MEMBER => {
                        self.records[index].rest = Some(field.number());
                        continue;
                    }
                    (EMPTIES_NAME, Kind::Uint32) => {
                        self.records[index].empties = Some(field.number());
                        continue;
                    }
                    _ => {}
                }
            }
            let (key, how, _) = self.key(message, &field);
            let words = how.as_deref().unwrap_or_default();
            let said = words.split('-').find(|word| [NULL, NUMBER, JSON].contains(word));
            let form = self.form(&field, said.unwrap_or_default(), met)?;
            let alternative =
                Alternative { number: field.number(), name: field.name().to_owned(), form };
            let record = &mut self.records[index];
            let place = record.fields.iter().position(|known| known.key == key);
            let place = place.unwrap_or_else(|| {
                record.fields.push(Field { key, alternatives: Vec::new() });
                record.fields.len() - 1
            });
            record.fields[place].alternatives.push(alternative);
            if field.cardinality() == Cardinality::Required {
                record.required.push(place);
            }
            if let Some(choice) = field.containing_oneof() {
                choices.entry(choice.name().to_owned()).or_default().insert(place);
            }
        }
        let record = &mut self.records[index];
        let choices = choices.into_values().filter(|fields| fields.len() > 1);
        record.choices = choices.map(|fields| fields.into_iter().collect()).collect();
        for field in &mut record.fields {
            field.alternatives.sort_by_key(|alternative| alternative.number);
        }
        Ok(())
    }

    /// The key of a field, what it says of how its values stand, and whether it is the value of
    /// its message.
    fn key(
        &self,
        message: &MessageDescriptor,
        field: &FieldDescriptor,
    ) -> (String, Option<String>, bool) {
        let explicit = (message.full_name().to_owned(), field.number() as i32);
        let Some(name) = self.explicit.get(&explicit) else {
            return (field.name().to_owned(), None, false);
        };
        if !self.is_ours {
            return (name.clone(), None, false);
        }
        let (key, how) = parse_json_name(name);
        let is_value = key.is_empty() && how.is_some() && field.name().ends_with(VALUE_ENDING);
        (key, how.map(str::to_owned), is_value)
    }

    fn form(
        &mut self,
        field: &FieldDescriptor,
        how: &str,
        met: &mut Vec<MessageDescriptor>,
    ) -> Result<Form, ReadError> {
        if field.is_map() {
            let Kind::Message(entry) = field.kind() else {
                return Err(ReadError::unsupported(field.full_name(), "a map without entries"));
            };
            if entry.map_entry_key_field().kind() != Kind::String {
                let what = "keys of JSON objects are strings; this map has others";
                return Err(ReadError::unsupported(field.full_name(), what));
            }
            let value = self.single(&entry.map_entry_value_field(), how, met)?;
            return Ok(Form::Map(Box::new(value)));
        }
        let single = self.single(field, how, met)?;
        Ok(if field.is_list() { Form::List(Box::new(single)) } else { single })
    }

    fn single(
        &mut self,
        field: &FieldDescriptor,
        how: &str,
        met: &mut Vec<MessageDescriptor>,
    ) -> Result<Form, ReadError> {
        Ok(match field.kind() {
            Kind::Bool if how == NULL => Form::Null,
            Kind::Bool => Form::Bool,
            Kind::String => match how {
                NUMBER => Form::NumberText,
                JSON => Form::Json,
                _ => Form::Text,
            },
            Kind::Double => Form::Double,
            Kind::Float => Form::Float,
            Kind::Bytes => Form::Bytes,
            Kind::Int32 => Form::Integer(Integer::I32),
            Kind::Int64 => Form::Integer(Integer::I64),
            Kind::Uint32 => Form::Integer(Integer::U32),
            Kind::Uint64 => Form::Integer(Integer::U64),
            Kind::Sint32 => Form::Integer(Integer::S32),
            Kind::Sint64 => Form::Integer(Integer::S64),
            Kind::Fixed32 => Form::Integer(Integer::Fixed32),
            Kind::Fixed64 => Form::Integer(Integer::Fixed64),
            Kind::Sfixed32 => Form::Integer(Integer::Sfixed32),
            Kind::Sfixed64 => Form::Integer(Integer::Sfixed64),
            Kind::Enum(of) => {
                // As they stand in the file: of names with one number the first is read back.
                let declared = of.enum_descriptor_proto().value.iter();
                let names = declared.map(|value| (value.name().to_owned(), value.number()));
                Form::Enum(Arc::new(Names::new(names)))
            }
            Kind::Message(_) if field.is_group() => {
                return Err(ReadError::unsupported(field.full_name(), "groups are not read"));
            }
            Kind::Message(message) => {
                let count = self.records.len();
                let index = self.record(&message)?;
                if index == count {
                    met.push(message);
                }
                Form::Record(index)
            }
        })
    }
}
