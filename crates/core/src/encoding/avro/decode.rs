//! Avro to document: fields in the order of the schema, put into the payload's order where the
//! record says that it was another.
//!
//! It recurses, to the depth that the encoder does and no further. A count is compared with what is
//! left before it is believed, so a list of what takes no bytes is refused.

use std::ops::Range;

use super::MEMBER;
use crate::document::{Document, Node};
use crate::encoding::DecodeError;
use crate::encoding::cursor::Cursor;
use crate::limits::SCHEMA_DEPTH_MAX;
use crate::schema::JsonText;
use crate::schema::avro::{Plan, Type};
use crate::schema::tagged::fits::to_base64;

pub(super) fn decode(
    plan: &Plan,
    bytes: &[u8],
    document: &mut Document,
) -> Result<(), DecodeError> {
    let cursor = Cursor::start("avro", bytes, document)?;
    let mut decoder = Decoder { plan, cursor, document, json: JsonText::default() };
    decoder.value(plan.root(), 1)?;
    decoder.cursor.finish()
}

struct Decoder<'a, 'd> {
    plan: &'a Plan,
    cursor: Cursor<'a>,
    document: &'d mut Document,
    json: JsonText,
}

impl<'a> Decoder<'a, '_> {
    fn record(&mut self, record: usize, depth: usize) -> Result<(), DecodeError> {
        let plan = self.plan;
        let described = &plan.records()[record];
        self.document.open(true)?;
        let first = self.document.nodes().len();
        let mut length = 0;
        // The fields that are there, and where their pairs begin; needed if the order was another.
        let mut starts: Vec<(usize, usize)> = Vec::new();
        for (index, field) in described.fields.iter().enumerate() {
            let start = self.document.nodes().len();
            let branch = match (&field.of, field.absent) {
                (Type::Union(branches), Some(absent)) => {
                    let branch = self.branch(branches.len())?;
                    if branch == absent {
                        continue;
                    }
                    Some(&branches[branch])
                }
                _ => None,
            };
            self.document.push_string(field.key.as_bytes())?;
            self.value(branch.unwrap_or(&field.of), depth)?;
            if described.has_rest {
                starts.push((index, start));
            }
            length += 1;
        }
        if described.has_rest && self.branch(2)? == 1 {
            length += self.rest(first, &starts)?;
        }
        self.document.close(length);
        Ok(())
    }

    /// Reads the order of keys and the members that have no place, and answers how many those are.
    fn rest(&mut self, first: usize, starts: &[(usize, usize)]) -> Result<u32, DecodeError> {
        let mut order = Vec::new();
        while let Some(count) = self.block(1)? {
            for _ in 0..count {
                order.push(self.long()?);
            }
        }
        let mut parts: Vec<Range<usize>> = Vec::new();
        while let Some(count) = self.block(2)? {
            for _ in 0..count {
                let start = self.document.nodes().len();
                let key = self.text()?;
                self.document.push(key);
                let text = self.bytes()?;
                self.json.read(text, self.document).map_err(|what| self.cursor.corrupt(what))?;
                parts.push(start..self.document.nodes().len());
            }
        }
        let members = parts.len() as u32;
        if order.is_empty() || self.document.is_overfull() {
            return Ok(members);
        }
        let end_of_fields = parts.first().map_or(self.document.nodes().len(), |part| part.start);
        let ends = starts.iter().skip(1).map(|(_, start)| *start).chain([end_of_fields]);
        let mut fields: Vec<Option<Range<usize>>> = Vec::new();
        let mut indices = Vec::new();
        for ((index, start), end) in starts.iter().zip(ends) {
            indices.push(*index as i64);
            fields.push(Some(*start..end));
        }
        let mut members_left = parts.into_iter();
        let mut all = Vec::with_capacity(order.len());
        for place in &order {
            let part = match *place {
                MEMBER => members_left.next(),
                index => {
                    let known = indices.binary_search(&index).ok();
                    known.and_then(|known| fields[known].take())
                }
            };
            all.push(
                part.ok_or_else(|| self.cursor.corrupt("an order of keys that are not there"))?,
            );
        }
        if members_left.next().is_some() || fields.iter().any(Option::is_some) {
            return Err(self.cursor.corrupt("an order that leaves out a key"));
        }
        self.document.reorder(first, &all);
        Ok(members)
    }

    fn value(&mut self, of: &'a Type, depth: usize) -> Result<(), DecodeError> {
        if depth > SCHEMA_DEPTH_MAX {
            return Err(self.cursor.corrupt("records nest too deep"));
        }
        let node = match of {
            Type::Null => Node::Null,
            Type::JsonNull => match self.long()? {
                0 => Node::Null,
                _ => return Err(self.cursor.corrupt("an unknown symbol of an enumeration")),
            },
            Type::Bool => match self.cursor.byte()? {
                0 => Node::Bool(false),
                1 => Node::Bool(true),
                _ => return Err(self.cursor.corrupt("a boolean that is neither")),
            },
            Type::Int => match self.long()? {
                value if i32::try_from(value).is_ok() => Node::Int(value),
                _ => return Err(self.cursor.corrupt("an integer of more than 32 bits")),
            },
            Type::Long => Node::Int(self.long()?),
            Type::Float => {
                let start = self.cursor.position();
                let value = f32::from_le_bytes(self.cursor.array()?);
                self.cursor.float(f64::from(value), start)?
            }
            Type::Double => {
                let start = self.cursor.position();
                let value = f64::from_le_bytes(self.cursor.array()?);
                self.cursor.float(value, start)?
            }
            Type::Text => self.text()?,
            Type::Bytes(length) => {
                let bytes = match length {
                    Some(length) => self.cursor.take(*length as u64)?,
                    None => self.bytes()?,
                };
                return Ok(self.document.push_string(&to_base64(bytes))?);
            }
            Type::Enum(names) => {
                let name = usize::try_from(self.long()?).ok().and_then(|index| names.get(index));
                let unknown = "an unknown symbol of an enumeration";
                let name = name.ok_or_else(|| self.cursor.corrupt(unknown))?;
                return Ok(self.document.push_string(name.as_bytes())?);
            }
            Type::NumberText | Type::Json => {
                let text = self.bytes()?;
                let read = match of {
                    Type::Json => self.json.read(text, self.document),
                    _ => self.json.read_number(text, self.document),
                };
                return read.map_err(|what| self.cursor.corrupt(what));
            }
            Type::List(element) => {
                let takes_bytes = self.plan.takes_bytes(element);
                self.document.open(false)?;
                let mut length = 0;
                while let Some(count) = self.block(1)? {
                    if !takes_bytes {
                        return Err(self.cursor.corrupt("a list of values that take no bytes"));
                    }
                    for _ in 0..count {
                        self.value(element, depth + 1)?;
                    }
                    length += count;
                }
                self.document.close(length);
                return Ok(());
            }
            Type::Map(value) => {
                self.document.open(true)?;
                let mut length = 0;
                while let Some(count) = self.block(1)? {
                    for _ in 0..count {
                        let key = self.text()?;
                        self.document.push(key);
                        self.value(value, depth + 1)?;
                    }
                    length += count;
                }
                self.document.close(length);
                return Ok(());
            }
            Type::Record(record) => return self.record(*record, depth + 1),
            Type::Union(branches) => {
                let branch = self.branch(branches.len())?;
                return self.value(&branches[branch], depth);
            }
        };
        self.document.push(node);
        Ok(())
    }

    /// The number of values in the next block of a list or map; nothing at its end.
    fn block(&mut self, bytes_each: u64) -> Result<Option<u32>, DecodeError> {
        let count = self.long()?;
        if count < 0 {
            // A block may say how many bytes it has, so that readers can skip it.
            self.long()?;
        }
        match count.unsigned_abs() {
            0 => Ok(None),
            count => self.cursor.count(count, bytes_each).map(Some),
        }
    }

    fn branch(&mut self, branches: usize) -> Result<usize, DecodeError> {
        let branch = self.long()?;
        let found = usize::try_from(branch).ok().filter(|&branch| branch < branches);
        found.ok_or_else(|| self.cursor.corrupt("an unknown branch of a union"))
    }

    fn text(&mut self) -> Result<Node, DecodeError> {
        let length = self.length()?;
        self.cursor.text(length).map(Node::String)
    }

    fn bytes(&mut self) -> Result<&'a [u8], DecodeError> {
        let length = self.length()?;
        self.cursor.take(length)
    }

    fn length(&mut self) -> Result<u64, DecodeError> {
        u64::try_from(self.long()?).map_err(|_| self.cursor.corrupt("a length below zero"))
    }

    #[inline]
    fn long(&mut self) -> Result<i64, DecodeError> {
        self.cursor.zigzag()
    }
}
