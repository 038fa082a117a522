//! Document to Ion: one walk for the keys, which become the table in front, and one for the values.
//!
//! A key gets the next number when it is first met; the names of Ion's own symbols have theirs. No
//! table is written where there are no other keys.

use foldhash::fast::RandomState;
use std::collections::HashMap;

use super::super::Refusal;
use super::super::cursor::text;
use super::heads::{Content, Open, put_head, put_unsigned};
use super::{SYSTEM_SYMBOLS, VERSION_MARKER, kind, number, symbol};
use crate::document::{Document, Node, Span};

/// A list or struct that is being written.
struct Level {
    /// Index of the first node after it.
    end: usize,
    is_object: bool,
    open: Open,
}

pub(super) fn encode(document: &Document, out: &mut Vec<u8>) -> Result<(), Refusal> {
    let mut symbols = Symbols::default();
    let mut content = Content::default();
    content.bytes.reserve(document.text().len() + document.nodes().len());
    let nodes = document.nodes();
    let mut levels: Vec<Level> = Vec::new();
    let mut index = 0;
    loop {
        while let Some(level) = levels.pop_if(|level| level.end == index) {
            content.close(level.open);
        }
        if levels.last().is_some_and(|level| level.is_object)
            && let Some(&Node::String(span)) = nodes.get(index)
        {
            put_unsigned(symbols.number(document, span)?, &mut content.bytes);
            index += 1;
        }
        let Some(&node) = nodes.get(index) else { break };
        index += 1;
        let bytes = &mut content.bytes;
        match node {
            Node::Null => bytes.push(0x0F),
            Node::Bool(value) => bytes.push(kind::BOOL << 4 | u8::from(value)),
            Node::Int(value) => number::put_integer(value < 0, value.unsigned_abs(), bytes),
            Node::Uint(value) => number::put_integer(false, value, bytes),
            Node::Float(value) => number::put_float(value, bytes),
            Node::Decimal(span) => number::put_text(document.bytes(span), bytes)?,
            Node::String(span) => string(document, span, bytes)?,
            Node::Array { end, .. } | Node::Object { end, .. } => {
                let is_object = matches!(node, Node::Object { .. });
                let open = content.open(if is_object { kind::STRUCT } else { kind::LIST });
                levels.push(Level { end: end as usize, is_object, open });
            }
        }
    }
    out.extend_from_slice(&VERSION_MARKER);
    symbols.append_to(out);
    content.append_to(out);
    Ok(())
}

fn string(document: &Document, span: Span, out: &mut Vec<u8>) -> Result<(), Refusal> {
    text::checked(document, span)?;
    put_head(kind::STRING, span.length as usize, out);
    text::append(out, document, span);
    Ok(())
}

/// The keys of a payload and their numbers.
struct Symbols<'d> {
    numbers: HashMap<&'d [u8], u64, RandomState>,
    /// The table's list: each key as a string.
    list: Vec<u8>,
}

impl Default for Symbols<'_> {
    fn default() -> Self {
        let system = SYSTEM_SYMBOLS.iter().map(|name| name.as_bytes());
        Symbols { numbers: system.zip(1..).collect(), list: Vec::new() }
    }
}

impl<'d> Symbols<'d> {
    fn number(&mut self, document: &'d Document, span: Span) -> Result<u64, Refusal> {
        let next = self.numbers.len() as u64 + 1;
        let key = text::checked(document, span)?;
        let number = *self.numbers.entry(key).or_insert(next);
        if number == next {
            string(document, span, &mut self.list)?;
        }
        Ok(number)
    }

    /// The table, which is a struct with an annotation.
    fn append_to(&self, out: &mut Vec<u8>) {
        if self.list.is_empty() {
            return;
        }
        let mut table = Content::default();
        let annotated = table.open(kind::ANNOTATION);
        // One annotation.
        put_unsigned(1, &mut table.bytes);
        put_unsigned(symbol::SYMBOL_TABLE, &mut table.bytes);
        let fields = table.open(kind::STRUCT);
        put_unsigned(symbol::SYMBOLS, &mut table.bytes);
        let list = table.open(kind::LIST);
        table.bytes.extend_from_slice(&self.list);
        table.close(list);
        table.close(fields);
        table.close(annotated);
        table.append_to(out);
    }
}
