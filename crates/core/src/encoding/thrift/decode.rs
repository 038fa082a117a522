//! Thrift to document: fields in the order of the wire, which is the payload's, with the members of
//! the rest where they stood.
//!
//! It recurses, to the depth that the usual readers take and no further. What the schema does not
//! say is an error: a field that is skipped would be lost in silence.

use std::collections::VecDeque;

use super::protocol::{Head, Protocol, Type, type_of};
use super::{MEMBER_JSON, MEMBER_KEY, MEMBER_PLACE};
use crate::document::{Document, Node};
use crate::encoding::DecodeError;
use crate::encoding::cursor::Cursor;
use crate::encoding::tagged::Met;
use crate::limits::SCHEMA_DEPTH_MAX;
use crate::schema::JsonText;
use crate::schema::tagged::fits::to_base64;
use crate::schema::tagged::{Form, Plan, Target};

pub(super) fn decode<P: Protocol>(
    plan: &Plan,
    bytes: &[u8],
    document: &mut Document,
) -> Result<(), DecodeError> {
    let cursor = Cursor::start(P::NAME, bytes, document)?;
    let mut decoder = Decoder { plan, cursor, document, json: JsonText::default() };
    decoder.record::<P>(plan.root(), 1)?;
    decoder.cursor.finish()
}

struct Decoder<'a, 'd> {
    plan: &'a Plan,
    cursor: Cursor<'a>,
    document: &'d mut Document,
    json: JsonText,
}

/// A member of the rest whose place has not come.
struct Aside<'a> {
    key: Node,
    json: &'a [u8],
    place: i64,
}

impl<'a> Decoder<'a, '_> {
    fn record<P: Protocol>(&mut self, record: usize, depth: usize) -> Result<(), DecodeError> {
        let plan = self.plan;
        let described = &plan.records()[record];
        if depth > SCHEMA_DEPTH_MAX {
            return Err(self.cursor.corrupt("records nest too deep"));
        }
        if !described.is_value {
            self.document.open(true)?;
        }
        let mut met = Met::none(described.fields.len());
        let mut asides = VecDeque::new();
        let (mut length, mut last) = (0u32, 0);
        while let Some(head) = P::read_head(&mut self.cursor, last)? {
            last = head.number;
            let number = u32::try_from(head.number).unwrap_or(0);
            let (field, alternative) = match plan.target_of(record, number) {
                Some(Target::Member { field, alternative }) => (field, alternative),
                Some(Target::Rest) if head.of == Type::List && asides.is_empty() => {
                    asides = self.asides::<P>()?;
                    continue;
                }
                _ => return Err(self.cursor.corrupt("a field that the schema does not have")),
            };
            if !met.insert(field) {
                return Err(self.cursor.corrupt("a field that stands twice"));
            }
            while asides.front().is_some_and(|aside: &Aside<'_>| aside.place <= length.into()) {
                length += self.next_aside(&mut asides)?;
            }
            let field = &described.fields[field];
            if !described.is_value {
                self.document.push_string(field.key.as_bytes())?;
            }
            self.field::<P>(&field.alternatives[alternative].form, head, depth)?;
            length += 1;
        }
        while !asides.is_empty() {
            length += self.next_aside(&mut asides)?;
        }
        if !described.is_value {
            self.document.close(length);
        } else if length != 1 {
            return Err(self.cursor.corrupt("a record for one value has none or two"));
        }
        Ok(())
    }

    fn field<P: Protocol>(
        &mut self,
        form: &'a Form,
        head: Head,
        depth: usize,
    ) -> Result<(), DecodeError> {
        if head.of != type_of(form) {
            return Err(self.cursor.corrupt("a type that is not the field's"));
        }
        match (form, head.value) {
            (Form::Null, Some(true)) => self.document.push(Node::Null),
            (Form::Null, Some(false)) => {
                return Err(self.cursor.corrupt("a null that is not set"));
            }
            (_, Some(value)) => self.document.push(Node::Bool(value)),
            (_, None) => return self.value::<P>(form, depth),
        }
        Ok(())
    }

    fn value<P: Protocol>(&mut self, form: &'a Form, depth: usize) -> Result<(), DecodeError> {
        let node = match form {
            Form::Text => {
                let length = P::read_length(&mut self.cursor)?;
                Node::String(self.cursor.text(length)?)
            }
            Form::Integer(_) => Node::Int(P::read_integer(&mut self.cursor, type_of(form))?),
            Form::Bool => Node::Bool(P::read_bool(&mut self.cursor)?),
            Form::Null => match P::read_bool(&mut self.cursor)? {
                true => Node::Null,
                false => return Err(self.cursor.corrupt("a null that is not set")),
            },
            Form::Double | Form::Float => {
                let start = self.cursor.position();
                let value = P::read_double(&mut self.cursor)?;
                self.cursor.float(value, start)?
            }
            Form::NumberText | Form::Json | Form::Bytes => {
                let bytes = self.bytes::<P>()?;
                let read = match form {
                    Form::Json => self.json.read(bytes, self.document),
                    Form::NumberText => self.json.read_number(bytes, self.document),
                    _ => return Ok(self.document.push_string(&to_base64(bytes))?),
                };
                return read.map_err(|what| self.cursor.corrupt(what));
            }
            Form::Enum(names) => {
                let number = P::read_integer(&mut self.cursor, Type::I32)?;
                let name = i32::try_from(number).ok().and_then(|number| names.name_of(number));
                let unknown = "an unknown number of an enumeration";
                let name = name.ok_or_else(|| self.cursor.corrupt(unknown))?;
                return Ok(self.document.push_string(name.as_bytes())?);
            }
            Form::Record(record) => return self.record::<P>(*record, depth + 1),
            Form::List(element) => return self.list::<P>(element, depth),
            Form::Map(value) => return self.map::<P>(value, depth),
        };
        self.document.push(node);
        Ok(())
    }

    fn list<P: Protocol>(&mut self, element: &'a Form, depth: usize) -> Result<(), DecodeError> {
        if depth >= SCHEMA_DEPTH_MAX {
            return Err(self.cursor.corrupt("lists nest too deep"));
        }
        let (of, length) = P::read_list(&mut self.cursor)?;
        if of.is_some_and(|of| of != type_of(element)) {
            return Err(self.cursor.corrupt("a list of another type"));
        }
        let length = self.cursor.count(length, 1)?;
        self.document.open(false)?;
        for _ in 0..length {
            self.value::<P>(element, depth + 1)?;
        }
        self.document.close(length);
        Ok(())
    }

    fn map<P: Protocol>(&mut self, value: &'a Form, depth: usize) -> Result<(), DecodeError> {
        if depth >= SCHEMA_DEPTH_MAX {
            return Err(self.cursor.corrupt("maps nest too deep"));
        }
        let (types, length) = P::read_map(&mut self.cursor)?;
        if types.is_some_and(|types| types != (Type::Binary, type_of(value))) {
            return Err(self.cursor.corrupt("a map of other types"));
        }
        let length = self.cursor.count(length, 2)?;
        self.document.open(true)?;
        for _ in 0..length {
            let bytes = P::read_length(&mut self.cursor)?;
            let key = self.cursor.text(bytes)?;
            self.document.push(Node::String(key));
            self.value::<P>(value, depth + 1)?;
        }
        self.document.close(length);
        Ok(())
    }

    fn bytes<P: Protocol>(&mut self) -> Result<&'a [u8], DecodeError> {
        let length = P::read_length(&mut self.cursor)?;
        self.cursor.take(length)
    }

    /// Reads the field for the rest.
    fn asides<P: Protocol>(&mut self) -> Result<VecDeque<Aside<'a>>, DecodeError> {
        let (of, length) = P::read_list(&mut self.cursor)?;
        if of.is_some_and(|of| of != Type::Struct) {
            return Err(self.cursor.corrupt("a rest that is no list of members"));
        }
        let length = self.cursor.count(length, 1)?;
        let mut asides = VecDeque::new();
        for _ in 0..length {
            let (mut key, mut json, mut place, mut last) = (None, None, 0, 0);
            while let Some(head) = P::read_head(&mut self.cursor, last)? {
                last = head.number;
                match (head.number, head.of) {
                    (MEMBER_KEY, Type::Binary) => {
                        let length = P::read_length(&mut self.cursor)?;
                        key = Some(Node::String(self.cursor.text(length)?));
                    }
                    (MEMBER_JSON, Type::Binary) => json = Some(self.bytes::<P>()?),
                    (MEMBER_PLACE, Type::I32) => {
                        place = P::read_integer(&mut self.cursor, Type::I32)?;
                    }
                    _ => return Err(self.cursor.corrupt("a rest that is no list of members")),
                }
            }
            let (Some(key), Some(json)) = (key, json) else {
                return Err(self.cursor.corrupt("a member of the rest without a key or text"));
            };
            asides.push_back(Aside { key, json, place });
        }
        Ok(asides)
    }

    /// Appends the next member of the rest, and answers how many there were.
    fn next_aside(&mut self, asides: &mut VecDeque<Aside<'a>>) -> Result<u32, DecodeError> {
        let Some(Aside { key, json, .. }) = asides.pop_front() else { return Ok(0) };
        self.document.push(key);
        self.json.read(json, self.document).map_err(|what| self.cursor.corrupt(what))?;
        Ok(1)
    }
}
