//! Document to Protobuf: members in the order of the payload, each by the first of its field's
//! alternatives that fits.
//!
//! It recurses, to the depth that other readers take and no further. What turns out not to fit is
//! taken back, and the record around it puts it into its rest.

use super::lengths::{Lengths, Mark};
use super::{EIGHT_BYTES, JSON_TAG, KEY_TAG, LENGTH, VARINT, wire_type};
use crate::document::{Document, Node};
use crate::encoding::Refusal;
use crate::encoding::cursor::text::{append, append_utf8};
use crate::encoding::tagged::{
    FAILED_TRIES_MAX, Met, bytes_of, check_map, elements, pairs, put_varint, put_zigzag, span_of,
    text_of,
};
use crate::json;
use crate::limits::SCHEMA_DEPTH_MAX;
use crate::schema::Outside;
use crate::schema::tagged::fits::{base64_of, double_of, float_of};
use crate::schema::tagged::{Alternative, Field, Form, Integer, Plan, Record};

/// Appends the document and answers how many members the rest took.
pub(super) fn encode(plan: &Plan, document: &Document, out: &mut Vec<u8>) -> Result<u64, Refusal> {
    out.reserve(document.text().len());
    let mut encoder =
        Encoder { plan, document, out, lengths: Lengths::default(), failed: 0, rest: 0 };
    encoder.record(plan.root(), 0, 1).map_err(|outside| outside.refusal(document))?;
    let Encoder { out, lengths, rest, .. } = encoder;
    lengths.fill(out);
    Ok(rest)
}

struct Encoder<'a> {
    plan: &'a Plan,
    document: &'a Document,
    out: &'a mut Vec<u8>,
    lengths: Lengths,
    /// How many values did not fit a way that was tried.
    failed: u32,
    /// How many members the rest took.
    rest: u64,
}

impl<'a> Encoder<'a> {
    /// Writes the fields of a record, without its length.
    fn record(&mut self, record: usize, node: usize, depth: usize) -> Result<(), Outside> {
        let plan = self.plan;
        let described = &plan.records()[record];
        if depth > SCHEMA_DEPTH_MAX {
            return Err(Outside { node, what: "it nests deeper than readers take" });
        }
        if described.is_value {
            return self.member(described, &described.fields[0], node, depth);
        }
        if !matches!(self.document.nodes()[node], Node::Object { .. }) {
            return Err(Outside { node, what: "it is no object" });
        }
        let (nodes, text) = (self.document.nodes(), self.document.text());
        let mut met = Met::none(described.fields.len());
        let mut likely = 0;
        for (key, value) in pairs(self.document, node) {
            let field = plan.field_of(record, text, span_of(self.document, key), likely);
            let outside = match field {
                None => Outside { node: value, what: "its key is none of the record's" },
                Some(field) if !met.insert(field) => {
                    Outside { node: value, what: "its key stands twice" }
                }
                Some(field) => {
                    likely = field + 1;
                    let field = &described.fields[field];
                    if let Some(way) = field.alternatives.first()
                        && self.simple(way, nodes[value])
                    {
                        continue;
                    }
                    match self.member(described, field, value, depth) {
                        Ok(()) => continue,
                        Err(outside) => outside,
                    }
                }
            };
            let Some(number) = described.rest else { return Err(outside) };
            self.put_aside(number, key, value)?;
        }
        met.check(described, node)
    }

    /// Writes a field by the first alternative that fits.
    fn member(
        &mut self,
        record: &Record,
        field: &Field,
        node: usize,
        depth: usize,
    ) -> Result<(), Outside> {
        let mut outside = Outside { node, what: "it is none of the types of its field" };
        for alternative in &field.alternatives {
            if self.simple(alternative, self.document.nodes()[node]) {
                return Ok(());
            }
            if !self.plan.fits(&alternative.form, self.document, node) {
                continue;
            }
            let mark = self.mark();
            match self.alternative(record, alternative, node, depth) {
                Ok(()) => return Ok(()),
                Err(found) => outside = found,
            }
            self.back_to(mark);
            self.failed += 1;
            if self.failed > FAILED_TRIES_MAX {
                break;
            }
        }
        Err(outside)
    }

    /// Writes a field of one of the forms that most have, in one go, if the value is of it.
    #[inline(always)]
    fn simple(&mut self, way: &Alternative, value: Node) -> bool {
        match (&way.form, value) {
            (Form::Text, Node::String(span)) => {
                let start = self.out.len();
                match short_tag(way.number, LENGTH) {
                    Some(tag) if span.length < 0x80 => {
                        self.out.extend_from_slice(&[tag, span.length as u8]);
                    }
                    _ => {
                        self.tag(way.number, LENGTH);
                        self.varint(span.length.into());
                    }
                }
                let is_text = append_utf8(self.out, self.document.text(), span);
                if !is_text {
                    self.out.truncate(start);
                }
                is_text
            }
            (Form::Integer(Integer::I32 | Integer::I64), Node::Int(value @ 0..0x80)) => {
                match short_tag(way.number, VARINT) {
                    Some(tag) => self.out.extend_from_slice(&[tag, value as u8]),
                    None => {
                        self.tag(way.number, VARINT);
                        self.out.push(value as u8);
                    }
                }
                true
            }
            (Form::Double, found) => {
                let Some(value) = double_of(self.document, found) else { return false };
                match short_tag(way.number, EIGHT_BYTES) {
                    Some(tag) => {
                        let mut field = [tag, 0, 0, 0, 0, 0, 0, 0, 0];
                        field[1..].copy_from_slice(&value.to_le_bytes());
                        self.out.extend_from_slice(&field);
                    }
                    None => {
                        self.tag(way.number, EIGHT_BYTES);
                        self.out.extend_from_slice(&value.to_le_bytes());
                    }
                }
                true
            }
            _ => false,
        }
    }

    fn alternative(
        &mut self,
        record: &Record,
        alternative: &Alternative,
        node: usize,
        depth: usize,
    ) -> Result<(), Outside> {
        let number = alternative.number;
        match &alternative.form {
            Form::List(_) | Form::Map(_) if self.document.end_of(node) == node + 1 => {
                let what = "it is empty, which the record can't tell from absent";
                let empties = record.empties.ok_or(Outside { node, what })?;
                self.tag(empties, VARINT);
                self.varint(u64::from(number));
                Ok(())
            }
            Form::List(element) if wire_type(element) != LENGTH => {
                self.tag(number, LENGTH);
                let open = self.lengths.open(self.out);
                for node in elements(self.document, node) {
                    self.checked(element, node, depth)?;
                }
                self.lengths.close(open, self.out);
                Ok(())
            }
            Form::List(element) => {
                for node in elements(self.document, node) {
                    self.tag(number, LENGTH);
                    match (element.as_ref(), self.document.nodes()[node]) {
                        (Form::Record(_), Node::Object { .. }) => {
                            self.value(element, node, depth)?;
                        }
                        _ => self.checked(element, node, depth)?,
                    }
                }
                Ok(())
            }
            Form::Map(value_form) => {
                check_map(self.document, node)?;
                for (key, value) in pairs(self.document, node) {
                    self.tag(number, LENGTH);
                    let open = self.lengths.open(self.out);
                    self.out.push(KEY_TAG);
                    self.text(key)?;
                    self.tag(2, wire_type(value_form));
                    self.checked(value_form, value, depth)?;
                    self.lengths.close(open, self.out);
                }
                Ok(())
            }
            form => {
                self.tag(number, wire_type(form));
                self.value(form, node, depth)
            }
        }
    }

    /// Writes an element of a list or a value of a map, which nobody has looked at yet.
    #[inline]
    fn checked(&mut self, form: &Form, node: usize, depth: usize) -> Result<(), Outside> {
        // Whether a double fits shows when it is written.
        if !matches!(form, Form::Double) && !self.plan.fits(form, self.document, node) {
            return Err(Outside { node, what: "it is not of the type of its list or map" });
        }
        self.value(form, node, depth)
    }

    /// Writes a value that fits, after its tag.
    fn value(&mut self, form: &Form, node: usize, depth: usize) -> Result<(), Outside> {
        let document = self.document;
        let found = document.nodes()[node];
        let gone = Outside { node, what: "it is none of the types of its field" };
        match form {
            Form::Text => self.text(node)?,
            Form::Integer(integer) => self.integer(*integer, found),
            Form::Bool => self.out.push(u8::from(found == Node::Bool(true))),
            Form::Null => self.out.push(1),
            Form::Double => {
                let value = double_of(document, found).ok_or(gone)?;
                self.out.extend_from_slice(&value.to_le_bytes());
            }
            Form::Float => {
                let value = float_of(document, found).ok_or(gone)?;
                self.out.extend_from_slice(&value.to_le_bytes());
            }
            Form::NumberText | Form::Json => {
                let open = self.lengths.open(self.out);
                json::write_value(document, node, self.out);
                self.lengths.close(open, self.out);
            }
            Form::Bytes => {
                let bytes = base64_of(bytes_of(document, node)).ok_or(gone)?;
                self.varint(bytes.len() as u64);
                self.out.extend_from_slice(&bytes);
            }
            Form::Enum(names) => {
                let number = names.number_of(bytes_of(document, node)).ok_or(gone)?;
                self.varint(i64::from(number) as u64);
            }
            Form::Record(record) => {
                let open = self.lengths.open(self.out);
                self.record(*record, node, depth + 1)?;
                self.lengths.close(open, self.out);
            }
            // Lists and maps stand in fields only; the plan's reader sees to it.
            Form::List(_) | Form::Map(_) => {
                return Err(Outside { node, what: "a list or map stands where none can" });
            }
        }
        Ok(())
    }

    fn integer(&mut self, integer: Integer, node: Node) {
        let value = match node {
            Node::Int(value) => value,
            Node::Uint(value) => value as i64,
            _ => 0,
        };
        match integer {
            Integer::S32 | Integer::S64 => put_zigzag(self.out, value),
            Integer::Fixed32 | Integer::Sfixed32 => {
                self.out.extend_from_slice(&(value as u32).to_le_bytes());
            }
            Integer::Fixed64 | Integer::Sfixed64 => {
                self.out.extend_from_slice(&value.to_le_bytes());
            }
            _ => self.varint(value as u64),
        }
    }

    /// Writes the length and bytes of a string or key.
    #[inline]
    fn text(&mut self, node: usize) -> Result<(), Outside> {
        let span = text_of(self.document, node)?;
        self.varint(span.length.into());
        append(self.out, self.document, span);
        Ok(())
    }

    /// Puts a member into the record's rest.
    fn put_aside(&mut self, number: u32, key: usize, value: usize) -> Result<(), Outside> {
        self.rest += 1;
        self.tag(number, LENGTH);
        let open = self.lengths.open(self.out);
        self.out.push(KEY_TAG);
        self.text(key)?;
        self.out.push(JSON_TAG);
        let text = self.lengths.open(self.out);
        json::write_value(self.document, value, self.out);
        self.lengths.close(text, self.out);
        self.lengths.close(open, self.out);
        Ok(())
    }

    #[inline]
    fn tag(&mut self, number: u32, wire_type: u8) {
        self.varint(u64::from(number) << 3 | u64::from(wire_type));
    }

    #[inline]
    fn varint(&mut self, value: u64) {
        put_varint(self.out, value);
    }

    fn mark(&self) -> (usize, Mark, u64) {
        (self.out.len(), self.lengths.mark(), self.rest)
    }

    fn back_to(&mut self, (length, mark, rest): (usize, Mark, u64)) {
        self.out.truncate(length);
        self.lengths.back_to(mark);
        self.rest = rest;
    }
}

/// The tag of a field whose number is small, which is one byte.
#[inline]
fn short_tag(number: u32, wire_type: u8) -> Option<u8> {
    (number < 16).then_some((number as u8) << 3 | wire_type)
}
