//! Protobuf to document: fields in the order of the wire, which is the payload's.
//!
//! It recurses, to the depth that the usual readers take and no further. What the schema does not
//! say is an error: a field that is skipped would be lost in silence.

use super::{JSON_TAG, KEY_TAG, LENGTH, VARINT, wire_type};
use crate::document::{Document, Node};
use crate::encoding::DecodeError;
use crate::encoding::cursor::Cursor;
use crate::encoding::tagged::Met;
use crate::limits::SCHEMA_DEPTH_MAX;
use crate::schema::JsonText;
use crate::schema::tagged::fits::to_base64;
use crate::schema::tagged::{Form, Integer, Plan, Record, Target};

pub(super) fn decode(
    plan: &Plan,
    bytes: &[u8],
    document: &mut Document,
) -> Result<(), DecodeError> {
    let cursor = Cursor::start("protobuf", bytes, document)?;
    let mut decoder = Decoder { plan, cursor, document, json: JsonText::default() };
    decoder.record(plan.root(), bytes.len(), 1)?;
    decoder.cursor.finish()
}

struct Decoder<'a, 'd> {
    plan: &'a Plan,
    cursor: Cursor<'a>,
    document: &'d mut Document,
    json: JsonText,
}

impl<'a> Decoder<'a, '_> {
    /// Reads the fields of a record up to `end`.
    fn record(&mut self, record: usize, end: usize, depth: usize) -> Result<(), DecodeError> {
        let plan = self.plan;
        let described = &plan.records()[record];
        if depth > SCHEMA_DEPTH_MAX {
            return Err(self.cursor.corrupt("records nest too deep"));
        }
        if described.is_value {
            let before = self.document.nodes().len();
            self.field(record, described, &mut Met::none(1), end, depth)?;
            if self.cursor.position() != end || self.document.nodes().len() == before {
                return Err(self.cursor.corrupt("a record for one value has none or two"));
            }
            return Ok(());
        }
        self.document.open(true)?;
        let mut met = Met::none(described.fields.len());
        let mut length = 0;
        while self.cursor.position() < end {
            self.field(record, described, &mut met, end, depth)?;
            length += 1;
        }
        self.document.close(length);
        Ok(())
    }

    /// Reads a field, and its key where the record is an object.
    fn field(
        &mut self,
        record: usize,
        described: &'a Record,
        met: &mut Met,
        end: usize,
        depth: usize,
    ) -> Result<(), DecodeError> {
        if self.cursor.position() >= end {
            return Ok(());
        }
        let tag = self.varint(end)?;
        let number = u32::try_from(tag >> 3).unwrap_or(0);
        let wire = (tag & 7) as u8;
        let target = self.plan.target_of(record, number);
        let (field, alternative, is_empty) = match target {
            None => return Err(self.cursor.corrupt("a field that the schema does not have")),
            Some(Target::Rest) if wire == LENGTH => return self.rest_member(end),
            Some(Target::Empties) if wire == VARINT => {
                let number = u32::try_from(self.varint(end)?).unwrap_or(0);
                match self.plan.target_of(record, number) {
                    Some(Target::Member { field, alternative }) => (field, alternative, true),
                    _ => return Err(self.cursor.corrupt("an empty list of an unknown field")),
                }
            }
            Some(Target::Member { field, alternative }) => (field, alternative, false),
            Some(_) => return Err(self.cursor.corrupt("a wire type that is not the field's")),
        };
        if !met.insert(field) {
            return Err(self.cursor.corrupt("a field that stands twice"));
        }
        let field = &described.fields[field];
        if !described.is_value {
            self.document.push_string(field.key.as_bytes())?;
        }
        let form = &field.alternatives[alternative].form;
        if is_empty {
            let is_object = match form {
                Form::List(_) => false,
                Form::Map(_) => true,
                _ => return Err(self.cursor.corrupt("an empty list of a field that is none")),
            };
            self.document.open(is_object)?;
            self.document.close(0);
            return Ok(());
        }
        match form {
            Form::List(element) => self.list(element, tag, wire, end, depth),
            Form::Map(value) => self.map(value, tag, wire, end, depth),
            form if wire == wire_type(form) => self.value(form, end, depth),
            _ => Err(self.cursor.corrupt("a wire type that is not the field's")),
        }
    }

    /// Reads the elements of a list that stand together, packed or each with its tag.
    fn list(
        &mut self,
        element: &'a Form,
        first_tag: u64,
        first_wire: u8,
        end: usize,
        depth: usize,
    ) -> Result<(), DecodeError> {
        let own = wire_type(element);
        let (mut tag, mut wire) = (first_tag, first_wire);
        let mut length = 0;
        self.document.open(false)?;
        loop {
            if wire == own {
                self.value(element, end, depth)?;
                length += 1;
            } else if wire == LENGTH {
                let packed_end = self.length(end)?;
                while self.cursor.position() < packed_end {
                    self.value(element, packed_end, depth)?;
                    length += 1;
                }
            } else {
                return Err(self.cursor.corrupt("a wire type that is not the field's"));
            }
            let Some(next) = self.next_tag(end) else { break };
            if next >> 3 != tag >> 3 {
                break;
            }
            tag = self.varint(end)?;
            wire = (tag & 7) as u8;
        }
        self.document.close(length);
        Ok(())
    }

    /// Reads the entries of a map that stand together.
    fn map(
        &mut self,
        value: &'a Form,
        tag: u64,
        wire: u8,
        end: usize,
        depth: usize,
    ) -> Result<(), DecodeError> {
        if wire != LENGTH {
            return Err(self.cursor.corrupt("a wire type that is not the field's"));
        }
        let mut length = 0;
        self.document.open(true)?;
        loop {
            let entry_end = self.length(end)?;
            self.entry(value, entry_end, depth)?;
            length += 1;
            if self.next_tag(end) != Some(tag) {
                break;
            }
            self.varint(end)?;
        }
        self.document.close(length);
        Ok(())
    }

    /// Reads a map's entry: a key and a value, of which writers may leave out defaults.
    fn entry(&mut self, form: &'a Form, end: usize, depth: usize) -> Result<(), DecodeError> {
        let has_key = self.cursor.position() < end && self.cursor.peek() == Some(KEY_TAG);
        if has_key {
            self.cursor.byte()?;
            let key = self.text(end)?;
            self.document.push(key);
        } else {
            self.document.push_string(b"")?;
        }
        if self.cursor.position() == end {
            return self.default(form);
        }
        let tag = self.varint(end)?;
        if tag != 2 << 3 | u64::from(wire_type(form)) {
            return Err(self.cursor.corrupt("a map's entry that is not a key and a value"));
        }
        self.value(form, end, depth)?;
        if self.cursor.position() != end {
            return Err(self.cursor.corrupt("a map's entry that is not a key and a value"));
        }
        Ok(())
    }

    /// The value that a map's entry has where none is written.
    fn default(&mut self, form: &Form) -> Result<(), DecodeError> {
        match form {
            Form::Text | Form::Bytes => self.document.push_string(b"")?,
            Form::Bool => self.document.push(Node::Bool(false)),
            Form::Integer(_) => self.document.push(Node::Int(0)),
            Form::Double | Form::Float => self.document.push(Node::Float(0.0)),
            Form::Enum(names) => match names.name_of(0) {
                Some(name) => self.document.push_string(name.as_bytes())?,
                None => return Err(self.cursor.corrupt("an unknown number of an enumeration")),
            },
            Form::Record(index) if !self.plan.records()[*index].is_value => {
                self.document.open(true)?;
                self.document.close(0);
            }
            _ => return Err(self.cursor.corrupt("a map's entry without a value")),
        }
        Ok(())
    }

    fn value(&mut self, form: &'a Form, end: usize, depth: usize) -> Result<(), DecodeError> {
        let node = match form {
            Form::Text => self.text(end)?,
            Form::Integer(integer) => self.integer(*integer, end)?,
            Form::Bool => Node::Bool(self.varint(end)? != 0),
            Form::Null => match self.varint(end)? {
                1 => Node::Null,
                _ => return Err(self.cursor.corrupt("a null that is not set")),
            },
            Form::Double => {
                let start = self.cursor.position();
                let value = f64::from_le_bytes(self.bytes(end)?);
                self.cursor.float(value, start)?
            }
            Form::Float => {
                let start = self.cursor.position();
                let value = f32::from_le_bytes(self.bytes(end)?);
                self.cursor.float(f64::from(value), start)?
            }
            Form::NumberText | Form::Json => {
                let text_end = self.length(end)?;
                let text = self.cursor.take((text_end - self.cursor.position()) as u64)?;
                let read = match form {
                    Form::Json => self.json.read(text, self.document),
                    _ => self.json.read_number(text, self.document),
                };
                return read.map_err(|what| self.cursor.corrupt(what));
            }
            Form::Bytes => {
                let bytes_end = self.length(end)?;
                let bytes = self.cursor.take((bytes_end - self.cursor.position()) as u64)?;
                return Ok(self.document.push_string(&to_base64(bytes))?);
            }
            Form::Enum(names) => {
                let number = self.varint(end)? as i64;
                let name = i32::try_from(number).ok().and_then(|number| names.name_of(number));
                match name {
                    Some(name) => return Ok(self.document.push_string(name.as_bytes())?),
                    None => {
                        return Err(self.cursor.corrupt("an unknown number of an enumeration"));
                    }
                }
            }
            Form::Record(record) => {
                let record_end = self.length(end)?;
                return self.record(*record, record_end, depth + 1);
            }
            Form::List(_) | Form::Map(_) => {
                return Err(self.cursor.corrupt("a list or map where none can stand"));
            }
        };
        self.document.push(node);
        Ok(())
    }

    fn integer(&mut self, integer: Integer, end: usize) -> Result<Node, DecodeError> {
        let value = match integer {
            Integer::Fixed32 => i64::from(u32::from_le_bytes(self.bytes(end)?)),
            Integer::Sfixed32 => i64::from(i32::from_le_bytes(self.bytes(end)?)),
            Integer::Sfixed64 => i64::from_le_bytes(self.bytes(end)?),
            Integer::Fixed64 | Integer::U64 => {
                let value = match integer {
                    Integer::U64 => self.varint(end)?,
                    _ => u64::from_le_bytes(self.bytes(end)?),
                };
                return Ok(i64::try_from(value).map_or(Node::Uint(value), Node::Int));
            }
            Integer::S32 | Integer::S64 => self.within(end, Cursor::zigzag)?,
            _ => self.varint(end)? as i64,
        };
        if !integer.holds(value) {
            return Err(self.cursor.corrupt("an integer out of the range of its type"));
        }
        Ok(Node::Int(value))
    }

    /// Reads a member of the rest: a key and the JSON text of its value.
    fn rest_member(&mut self, end: usize) -> Result<(), DecodeError> {
        let member_end = self.length(end)?;
        let wrong = "a member of the rest that is not a key and a text";
        // Other writers leave out an empty key, which is the default.
        if self.cursor.position() < member_end && self.cursor.peek() == Some(KEY_TAG) {
            self.cursor.byte()?;
            let key = self.text(member_end)?;
            self.document.push(key);
        } else {
            self.document.push_string(b"")?;
        }
        if self.cursor.position() >= member_end || self.cursor.byte()? != JSON_TAG {
            return Err(self.cursor.corrupt(wrong));
        }
        let text_end = self.length(member_end)?;
        if text_end != member_end {
            return Err(self.cursor.corrupt(wrong));
        }
        let text = self.cursor.take((text_end - self.cursor.position()) as u64)?;
        self.json.read(text, self.document).map_err(|what| self.cursor.corrupt(what))
    }

    /// Reads a length and answers where what it measures ends.
    #[inline]
    fn length(&mut self, end: usize) -> Result<usize, DecodeError> {
        let length = self.varint(end)?;
        if length > (end - self.cursor.position()) as u64 {
            return Err(self.cursor.corrupt("a length beyond what holds it"));
        }
        Ok(self.cursor.position() + length as usize)
    }

    #[inline]
    fn text(&mut self, end: usize) -> Result<Node, DecodeError> {
        let text_end = self.length(end)?;
        let length = (text_end - self.cursor.position()) as u64;
        self.cursor.text(length).map(Node::String)
    }

    fn bytes<const N: usize>(&mut self, end: usize) -> Result<[u8; N], DecodeError> {
        if end - self.cursor.position() < N {
            return Err(self.cursor.corrupt("a number beyond what holds it"));
        }
        self.cursor.array()
    }

    /// The next tag, which stays the next one, if there is one before `end`.
    fn next_tag(&self, end: usize) -> Option<u64> {
        let mut value = 0;
        for place in 0..5 {
            if self.cursor.position() + place >= end {
                return None;
            }
            let byte = self.cursor.peek_at(place)?;
            value |= u64::from(byte & 0x7F) << (7 * place);
            if byte < 0x80 {
                return Some(value);
            }
        }
        None
    }

    #[inline]
    fn varint(&mut self, end: usize) -> Result<u64, DecodeError> {
        self.within(end, Cursor::varint)
    }

    /// Reads a number that has to end before `end`.
    #[inline]
    fn within<T>(
        &mut self,
        end: usize,
        read: impl FnOnce(&mut Cursor<'a>) -> Result<T, DecodeError>,
    ) -> Result<T, DecodeError> {
        let value = read(&mut self.cursor)?;
        if self.cursor.position() > end {
            return Err(self.cursor.corrupt("a number beyond what holds it"));
        }
        Ok(value)
    }
}
