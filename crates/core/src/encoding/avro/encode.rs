//! Document to Avro: a record's members are found first, then written in the order of the schema.
//!
//! It recurses, to the depth that other readers take and no further. What turns out not to fit is
//! taken back, and the record around it puts it into its rest, if the field may be absent.

use super::MEMBER;
use crate::document::{Document, Node};
use crate::encoding::Refusal;
use crate::encoding::cursor::text::{append, append_utf8};
use crate::encoding::tagged::{
    FAILED_TRIES_MAX, bytes_of, check_map, elements, pairs, put_zigzag, span_of, text_of,
};
use crate::json;
use crate::limits::SCHEMA_DEPTH_MAX;
use crate::schema::Outside;
use crate::schema::avro::{Field, Plan, Type};
use crate::schema::tagged::fits::{base64_of, double_of, float_of, is_number};

/// Appends the document and answers how many members the rest took.
pub(super) fn encode(plan: &Plan, document: &Document, out: &mut Vec<u8>) -> Result<u64, Refusal> {
    out.reserve(document.text().len());
    let (values, order) = (Vec::new(), Vec::new());
    let mut encoder = Encoder { plan, document, out, values, order, failed: 0, rest: 0 };
    encoder.checked(plan.root(), 0, 1).map_err(|outside| outside.refusal(document))?;
    Ok(encoder.rest)
}

struct Encoder<'a> {
    plan: &'a Plan,
    document: &'a Document,
    out: &'a mut Vec<u8>,
    /// The members of the records that are open, by the fields of each; the innermost stand last.
    values: Vec<usize>,
    /// The pairs of the records that are open, in the order of the payload.
    order: Vec<Pair>,
    /// How many values did not fit a branch that was tried.
    failed: u32,
    /// How many members the rest took.
    rest: u64,
}

/// No member of the payload has the field's key, or no field a member's.
const NONE: usize = usize::MAX;

/// A pair of a record: its field, and the nodes of its key and value.
#[derive(Clone, Copy)]
struct Pair {
    field: usize,
    key: usize,
    value: usize,
}

impl<'a> Encoder<'a> {
    fn record(&mut self, record: usize, node: usize, depth: usize) -> Result<(), Outside> {
        let (values, order) = (self.values.len(), self.order.len());
        let written = self.open_record(record, node, depth);
        self.values.truncate(values);
        self.order.truncate(order);
        written
    }

    /// Writes a record, whose members are left behind the others'.
    fn open_record(&mut self, record: usize, node: usize, depth: usize) -> Result<(), Outside> {
        let plan = self.plan;
        let described = &plan.records()[record];
        let (values, order) = (self.values.len(), self.order.len());
        self.values.resize(values + described.fields.len(), NONE);
        let mut likely = 0;
        for (key, value) in pairs(self.document, node) {
            let text = self.document.text();
            let field = plan.field_of(record, text, span_of(self.document, key), likely);
            let field = field.filter(|&field| self.values[values + field] == NONE);
            if let Some(field) = field {
                likely = field + 1;
                self.values[values + field] = value;
            } else if !described.has_rest {
                let what = "its key is none of the record's, or stands twice";
                return Err(Outside { node: value, what });
            }
            self.order.push(Pair { field: field.unwrap_or(NONE), key, value });
        }
        for (index, field) in described.fields.iter().enumerate() {
            let value = self.values[values + index];
            if self.simple(field, value)
                || self.field(field, value, node, described.has_rest, depth)?
            {
                continue;
            }
            for pair in &mut self.order[order..] {
                if pair.field == index {
                    pair.field = NONE;
                }
            }
        }
        if described.has_rest {
            self.rest(order)?;
        } else if !self.order[order..].is_sorted_by_key(|pair| pair.field) {
            let what = "its keys are in another order than the schema's";
            return Err(Outside { node, what });
        }
        Ok(())
    }

    /// Writes a field of one of the types that most have, in one go, if the value is of it.
    #[inline(always)]
    fn simple(&mut self, field: &Field, value: usize) -> bool {
        if value == NONE {
            return false;
        }
        let (of, start) = (&field.of, self.out.len());
        match (of, self.document.nodes()[value]) {
            (Type::Text, Node::String(span)) => {
                self.long(span.length.into());
                let is_text = append_utf8(self.out, self.document.text(), span);
                if !is_text {
                    self.out.truncate(start);
                }
                is_text
            }
            (Type::Int, Node::Int(value)) if i32::try_from(value).is_ok() => {
                self.long(value);
                true
            }
            (Type::Long, Node::Int(value)) => {
                self.long(value);
                true
            }
            (Type::Double, found) => match double_of(self.document, found) {
                Some(value) => {
                    self.out.extend_from_slice(&value.to_le_bytes());
                    true
                }
                None => false,
            },
            _ => false,
        }
    }

    /// Writes a field and answers whether it took the value: if not, it is written as absent.
    fn field(
        &mut self,
        field: &Field,
        value: usize,
        record: usize,
        has_rest: bool,
        depth: usize,
    ) -> Result<bool, Outside> {
        if value == NONE {
            let what = "a key that the schema has in every payload is missing";
            let absent = field.absent.ok_or(Outside { node: record, what })?;
            self.long(absent as i64);
            return Ok(true);
        }
        let (start, rest) = (self.out.len(), self.rest);
        let result = match (&field.of, field.absent) {
            (Type::Union(branches), absent) => self.union(branches, absent, value, depth),
            (of, _) => self.checked(of, value, depth),
        };
        match (result, field.absent) {
            (Ok(()), _) => Ok(true),
            (Err(_), Some(absent)) if has_rest => {
                self.out.truncate(start);
                self.rest = rest;
                self.long(absent as i64);
                Ok(false)
            }
            (Err(outside), _) => Err(outside),
        }
    }

    /// Writes what the payload has beside the fields: its order of keys, where that is not the
    /// schema's with the rest behind, and the members that have no place. The record's pairs start
    /// at `first`.
    fn rest(&mut self, first: usize) -> Result<(), Outside> {
        let is_usual = self.order[first..].is_sorted_by_key(|pair| pair.field);
        let members = self.order[first..].iter().filter(|pair| pair.field == NONE).count();
        if is_usual && members == 0 {
            self.long(0);
            return Ok(());
        }
        self.long(1);
        if !is_usual {
            self.long((self.order.len() - first) as i64);
            for index in first..self.order.len() {
                let field = self.order[index].field;
                self.long(if field == NONE { MEMBER } else { field as i64 });
            }
        }
        self.long(0);
        if members > 0 {
            self.long(members as i64);
            self.rest += members as u64;
            for index in first..self.order.len() {
                let pair = self.order[index];
                if pair.field == NONE {
                    self.text(pair.key)?;
                    self.json(pair.value);
                }
            }
        }
        self.long(0);
        Ok(())
    }

    fn union(
        &mut self,
        branches: &[Type],
        absent: Option<usize>,
        node: usize,
        depth: usize,
    ) -> Result<(), Outside> {
        let mut outside = Outside { node, what: "it is none of the types of its union" };
        for (index, branch) in branches.iter().enumerate() {
            if Some(index) == absent {
                continue;
            }
            if matches!(branch, Type::Double) {
                // To know whether it fits is to have it.
                let Some(value) = double_of(self.document, self.document.nodes()[node]) else {
                    continue;
                };
                self.long(index as i64);
                self.out.extend_from_slice(&value.to_le_bytes());
                return Ok(());
            }
            if !fits(branch, self.document, node) {
                continue;
            }
            let (start, rest) = (self.out.len(), self.rest);
            self.long(index as i64);
            match self.value(branch, node, depth) {
                Ok(()) => return Ok(()),
                Err(found) => outside = found,
            }
            self.out.truncate(start);
            self.rest = rest;
            self.failed += 1;
            if self.failed > FAILED_TRIES_MAX {
                break;
            }
        }
        Err(outside)
    }

    fn checked(&mut self, of: &Type, node: usize, depth: usize) -> Result<(), Outside> {
        // Whether a double fits shows when it is written.
        if !matches!(of, Type::Double) && !fits(of, self.document, node) {
            return Err(Outside { node, what: "it is not of the type that stands there" });
        }
        self.value(of, node, depth)
    }

    /// Writes a value that fits.
    fn value(&mut self, of: &Type, node: usize, depth: usize) -> Result<(), Outside> {
        let document = self.document;
        let found = document.nodes()[node];
        let gone = Outside { node, what: "it is not of the type that stands there" };
        if depth > SCHEMA_DEPTH_MAX {
            return Err(Outside { node, what: "it nests deeper than readers take" });
        }
        match of {
            Type::Null => {}
            Type::JsonNull => self.long(0),
            Type::Bool => self.out.push(u8::from(found == Node::Bool(true))),
            Type::Int | Type::Long => {
                let Node::Int(value) = found else { return Err(gone) };
                self.long(value);
            }
            Type::Float => {
                let value = float_of(document, found).ok_or(gone)?;
                self.out.extend_from_slice(&value.to_le_bytes());
            }
            Type::Double => {
                let value = double_of(document, found).ok_or(gone)?;
                self.out.extend_from_slice(&value.to_le_bytes());
            }
            Type::Text => self.text(node)?,
            Type::Bytes(length) => {
                let bytes = base64_of(bytes_of(document, node)).ok_or(gone)?;
                if length.is_none() {
                    self.long(bytes.len() as i64);
                }
                self.out.extend_from_slice(&bytes);
            }
            Type::Enum(names) => {
                let name = bytes_of(document, node);
                let index = names.iter().position(|other| other.as_bytes() == name).ok_or(gone)?;
                self.long(index as i64);
            }
            Type::NumberText | Type::Json => self.json(node),
            Type::List(element) => {
                let Node::Array { length, .. } = found else { return Err(gone) };
                if length > 0 {
                    if !self.plan.takes_bytes(element) {
                        return Err(Outside { node, what: "its elements would take no bytes" });
                    }
                    self.long(i64::from(length));
                    for node in elements(document, node) {
                        match (element.as_ref(), document.nodes()[node]) {
                            (Type::Record(record), Node::Object { .. })
                                if depth < SCHEMA_DEPTH_MAX =>
                            {
                                self.record(*record, node, depth + 2)?;
                            }
                            _ => self.checked(element, node, depth + 1)?,
                        }
                    }
                }
                self.long(0);
            }
            Type::Map(value_type) => {
                let Node::Object { length, .. } = found else { return Err(gone) };
                check_map(document, node)?;
                if length > 0 {
                    self.long(i64::from(length));
                    for (key, value) in pairs(document, node) {
                        self.text(key)?;
                        self.checked(value_type, value, depth + 1)?;
                    }
                }
                self.long(0);
            }
            Type::Record(record) => self.record(*record, node, depth + 1)?,
            Type::Union(branches) => self.union(branches, None, node, depth)?,
        }
        Ok(())
    }

    fn text(&mut self, node: usize) -> Result<(), Outside> {
        let span = text_of(self.document, node)?;
        self.long(span.length.into());
        append(self.out, self.document, span);
        Ok(())
    }

    /// Writes a value as its JSON text.
    fn json(&mut self, node: usize) {
        let mut text = Vec::new();
        json::write_value(self.document, node, &mut text);
        self.long(text.len() as i64);
        self.out.extend_from_slice(&text);
    }

    #[inline]
    fn long(&mut self, value: i64) {
        put_zigzag(self.out, value);
    }
}

/// Whether a value may be written as a type, as far as the value itself says.
#[inline]
fn fits(of: &Type, document: &Document, index: usize) -> bool {
    let node = document.nodes()[index];
    match of {
        Type::Text => matches!(node, Node::String(_)),
        Type::Null | Type::JsonNull => node == Node::Null,
        Type::Int => matches!(node, Node::Int(value) if i32::try_from(value).is_ok()),
        Type::Long => matches!(node, Node::Int(_)),
        Type::Bool => matches!(node, Node::Bool(_)),
        Type::Record(_) | Type::Map(_) => matches!(node, Node::Object { .. }),
        Type::List(_) => matches!(node, Node::Array { .. }),
        Type::Double => double_of(document, node).is_some(),
        Type::Float => float_of(document, node).is_some(),
        Type::NumberText => is_number(node),
        Type::Json => true,
        Type::Union(branches) => branches.iter().any(|branch| fits(branch, document, index)),
        Type::Bytes(length) => match node {
            Node::String(span) => base64_of(document.bytes(span))
                .is_some_and(|bytes| length.is_none_or(|length| length == bytes.len())),
            _ => false,
        },
        Type::Enum(names) => match node {
            Node::String(span) => names.iter().any(|name| name.as_bytes() == document.bytes(span)),
            _ => false,
        },
    }
}
