//! Document to Thrift: members in the order of the payload, each by the first of its field's
//! alternatives that fits.
//!
//! Members that turn out to have no place are put before the others once all are known, which moves
//! the record's bytes, so that a payload within the schema costs nothing for them.

use super::protocol::{Protocol, Type, type_of};
use super::{MEMBER_JSON, MEMBER_KEY, MEMBER_PLACE};
use crate::document::{Document, Node};
use crate::encoding::Refusal;
use crate::encoding::cursor::text::{append, append_utf8};
use crate::encoding::tagged::{
    FAILED_TRIES_MAX, Met, bytes_of, check_map, elements, pairs, span_of, text_of,
};
use crate::json;
use crate::limits::SCHEMA_DEPTH_MAX;
use crate::schema::Outside;
use crate::schema::tagged::fits::{base64_of, double_of};
use crate::schema::tagged::{Alternative, Field, Form, Plan, Target};

/// Appends the document and answers how many members the rest took.
pub(super) fn encode<P: Protocol>(
    plan: &Plan,
    document: &Document,
    out: &mut Vec<u8>,
) -> Result<u64, Refusal> {
    out.reserve(document.text().len());
    let mut encoder = Encoder { plan, document, out, failed: 0, rest: 0 };
    encoder.record::<P>(plan.root(), 0, 1).map_err(|outside| outside.refusal(document))?;
    Ok(encoder.rest)
}

struct Encoder<'a> {
    plan: &'a Plan,
    document: &'a Document,
    out: &'a mut Vec<u8>,
    /// How many values did not fit a way that was tried.
    failed: u32,
    /// How many members the rest took.
    rest: u64,
}

/// A member that has no place: its key, its value, and which of the pairs it is.
struct Aside {
    key: usize,
    value: usize,
    place: u32,
}

impl Encoder<'_> {
    fn record<P: Protocol>(
        &mut self,
        record: usize,
        node: usize,
        depth: usize,
    ) -> Result<(), Outside> {
        let plan = self.plan;
        let described = &plan.records()[record];
        if depth > SCHEMA_DEPTH_MAX {
            return Err(Outside { node, what: "it nests deeper than readers take" });
        }
        if described.is_value {
            self.member::<P>(&described.fields[0], node, 0, depth)?;
            self.out.push(0);
            return Ok(());
        }
        if !matches!(self.document.nodes()[node], Node::Object { .. }) {
            return Err(Outside { node, what: "it is no object" });
        }
        let (nodes, text) = (self.document.nodes(), self.document.text());
        let (start, end) = (self.out.len(), self.document.end_of(node));
        let mut met = Met::none(described.fields.len());
        let (mut likely, mut last, mut first) = (0, 0, None);
        let mut asides: Vec<Aside> = Vec::new();
        let (mut next, mut place) = (node + 1, 0);
        while next < end {
            let (key, value) = (next, next + 1);
            next = self.document.end_of(value);
            place += 1;
            let field = plan.field_of(record, text, span_of(self.document, key), likely);
            let outside = match field {
                None => Outside { node: value, what: "its key is none of the record's" },
                Some(field) if !met.insert(field) => {
                    Outside { node: value, what: "its key stands twice" }
                }
                Some(field) => {
                    likely = field + 1;
                    let field = &described.fields[field];
                    let written = match field.alternatives.first() {
                        Some(way) if self.simple::<P>(way, nodes[value], last) => {
                            Ok(way.number as i16)
                        }
                        _ => self.member::<P>(field, value, last, depth),
                    };
                    match written {
                        Ok(number) => {
                            if last == 0 {
                                first = Some((number, value));
                            }
                            last = number;
                            continue;
                        }
                        Err(outside) => outside,
                    }
                }
            };
            if described.rest.is_none() {
                return Err(outside);
            }
            asides.push(Aside { key, value, place: place - 1 });
        }
        met.check(described, node)?;
        if let (Some(number), false) = (described.rest, asides.is_empty()) {
            let members = self.out.split_off(start);
            self.put_aside::<P>(number as i16, &asides)?;
            if let Some((next, node)) = first {
                // The head of what is now the second field counts from the first.
                let before = self.head_again::<P>(record, next, node, 0);
                let bytes = self.out.len() - before;
                self.out.truncate(before);
                self.head_again::<P>(record, next, node, number as i16);
                self.out.extend_from_slice(&members[bytes..]);
            }
        }
        self.out.push(0);
        Ok(())
    }

    /// Writes the head that a field has behind the field `last`, and answers where it starts.
    fn head_again<P: Protocol>(
        &mut self,
        record: usize,
        number: i16,
        node: usize,
        last: i16,
    ) -> usize {
        let start = self.out.len();
        let target = self.plan.target_of(record, number as u32);
        if let Some(Target::Member { field, alternative }) = target {
            let described = &self.plan.records()[record].fields[field];
            let of = type_of(&described.alternatives[alternative].form);
            P::head(self.out, of, number, last, self.in_head(of, node));
        }
        start
    }

    /// The value of a boolean, for which a head may have room.
    #[inline]
    fn in_head(&self, of: Type, node: usize) -> Option<bool> {
        (of == Type::Bool).then(|| self.document.nodes()[node] != Node::Bool(false))
    }

    /// Writes a field by the first alternative that fits and answers its number; `last` is the
    /// number before it.
    fn member<P: Protocol>(
        &mut self,
        field: &Field,
        node: usize,
        last: i16,
        depth: usize,
    ) -> Result<i16, Outside> {
        let mut outside = Outside { node, what: "it is none of the types of its field" };
        for alternative in &field.alternatives {
            let number = alternative.number as i16;
            if self.simple::<P>(alternative, self.document.nodes()[node], last) {
                return Ok(number);
            }
            if !self.plan.fits(&alternative.form, self.document, node) {
                continue;
            }
            let (start, rest) = (self.out.len(), self.rest);
            let of = type_of(&alternative.form);
            if P::head(self.out, of, number, last, self.in_head(of, node)) {
                return Ok(number);
            }
            match self.value::<P>(&alternative.form, node, depth) {
                Ok(()) => return Ok(number),
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

    /// Writes a field of one of the forms that most have, in one go, if the value is of it.
    #[inline(always)]
    fn simple<P: Protocol>(&mut self, way: &Alternative, value: Node, last: i16) -> bool {
        let number = way.number as i16;
        match (&way.form, value) {
            (Form::Text, Node::String(span)) => {
                let start = self.out.len();
                P::text_field(self.out, number, last, span.length);
                let is_text = append_utf8(self.out, self.document.text(), span);
                if !is_text {
                    self.out.truncate(start);
                }
                is_text
            }
            (Form::Integer(integer), Node::Int(value)) if integer.holds(value) => {
                P::integer_field(self.out, type_of(&way.form), number, last, value);
                true
            }
            (Form::Double, found) => match double_of(self.document, found) {
                Some(value) => {
                    P::double_field(self.out, number, last, value);
                    true
                }
                None => false,
            },
            _ => false,
        }
    }

    /// Writes an element of a list or a value of a map, which nobody has looked at yet.
    fn checked<P: Protocol>(
        &mut self,
        form: &Form,
        node: usize,
        depth: usize,
    ) -> Result<(), Outside> {
        // Whether a double fits shows when it is written.
        if !matches!(form, Form::Double) && !self.plan.fits(form, self.document, node) {
            return Err(Outside { node, what: "it is not of the type of its list or map" });
        }
        self.value::<P>(form, node, depth)
    }

    /// Writes a value that fits.
    fn value<P: Protocol>(
        &mut self,
        form: &Form,
        node: usize,
        depth: usize,
    ) -> Result<(), Outside> {
        let document = self.document;
        let found = document.nodes()[node];
        let gone = Outside { node, what: "it is none of the types of its field" };
        match form {
            Form::Text => self.text::<P>(node)?,
            Form::Integer(_) => {
                let Node::Int(value) = found else { return Err(gone) };
                P::integer(self.out, type_of(form), value);
            }
            Form::Null => P::bool(self.out, true),
            Form::Bool => P::bool(self.out, found == Node::Bool(true)),
            Form::Double | Form::Float => {
                P::double(self.out, double_of(document, found).ok_or(gone)?);
            }
            Form::NumberText | Form::Json => {
                let mut text = Vec::new();
                json::write_value(document, node, &mut text);
                self.bytes::<P>(&text);
            }
            Form::Bytes => {
                let bytes = base64_of(bytes_of(document, node)).ok_or(gone)?;
                self.bytes::<P>(&bytes);
            }
            Form::Enum(names) => {
                let number = names.number_of(bytes_of(document, node)).ok_or(gone)?;
                P::integer(self.out, Type::I32, i64::from(number));
            }
            Form::Record(record) => self.record::<P>(*record, node, depth + 1)?,
            Form::List(element) => {
                let Node::Array { length, .. } = found else { return Err(gone) };
                if depth >= SCHEMA_DEPTH_MAX {
                    return Err(Outside { node, what: "it nests deeper than readers take" });
                }
                P::list(self.out, type_of(element), length);
                for node in elements(document, node) {
                    match (element.as_ref(), document.nodes()[node]) {
                        (Form::Record(record), Node::Object { .. }) => {
                            self.record::<P>(*record, node, depth + 2)?;
                        }
                        _ => self.checked::<P>(element, node, depth + 1)?,
                    }
                }
            }
            Form::Map(value_form) => {
                let Node::Object { length, .. } = found else { return Err(gone) };
                check_map(document, node)?;
                if depth >= SCHEMA_DEPTH_MAX {
                    return Err(Outside { node, what: "it nests deeper than readers take" });
                }
                P::map(self.out, type_of(value_form), length);
                for (key, value) in pairs(document, node) {
                    self.text::<P>(key)?;
                    self.checked::<P>(value_form, value, depth + 1)?;
                }
            }
        }
        Ok(())
    }

    /// Writes the length and bytes of a string or key.
    #[inline]
    fn text<P: Protocol>(&mut self, node: usize) -> Result<(), Outside> {
        let span = text_of(self.document, node)?;
        P::length(self.out, span.length);
        append(self.out, self.document, span);
        Ok(())
    }

    fn bytes<P: Protocol>(&mut self, bytes: &[u8]) {
        P::length(self.out, bytes.len() as u32);
        self.out.extend_from_slice(bytes);
    }

    /// Writes the field for the rest.
    fn put_aside<P: Protocol>(&mut self, number: i16, asides: &[Aside]) -> Result<(), Outside> {
        self.rest += asides.len() as u64;
        P::head(self.out, Type::List, number, 0, None);
        P::list(self.out, Type::Struct, asides.len() as u32);
        let mut text = Vec::new();
        for aside in asides {
            P::head(self.out, Type::Binary, MEMBER_KEY, 0, None);
            self.text::<P>(aside.key)?;
            P::head(self.out, Type::Binary, MEMBER_JSON, MEMBER_KEY, None);
            text.clear();
            json::write_value(self.document, aside.value, &mut text);
            self.bytes::<P>(&text);
            P::head(self.out, Type::I32, MEMBER_PLACE, MEMBER_JSON, None);
            P::integer(self.out, Type::I32, i64::from(aside.place));
            self.out.push(0);
        }
        Ok(())
    }
}
