//! Ion to document, without recursion: a stack of where each list and struct must end.
//!
//! A length is compared with what is around it before it is believed. Tables of symbols stand in
//! front of the value and may add to each other; padding is passed over.

use super::super::DecodeError;
use super::super::cursor::Cursor;
use super::super::cursor::number::big;
use super::{LONG, NULL_OF_KIND, SYSTEM_SYMBOLS, VERSION_MARKER, kind, number, symbol};
use crate::document::{Document, Node, Span};

/// The most bytes of a number of 7-bit groups: enough for 63 bits and some padding.
const GROUPS_MAX: usize = 10;

/// A list or struct that is being read.
struct Level {
    /// Offset of the first byte after it.
    end: usize,
    count: u32,
    is_struct: bool,
}

/// What a head says.
#[derive(Clone, Copy)]
struct Head {
    /// Where it stands.
    at: usize,
    kind: u8,
    /// The lower half of its byte.
    low: u8,
    /// Where its value ends.
    end: usize,
}

/// The texts of symbols, from number 1; those of unknown text have none.
type Symbols = Vec<Option<Span>>;

pub(super) fn decode(bytes: &[u8], document: &mut Document) -> Result<(), DecodeError> {
    let mut cursor = Cursor::start("ion", bytes, document)?;
    let system = system_symbols(document)?;
    let mut symbols = system.clone();
    let is_marked = cursor.array().is_ok_and(|marker: [u8; 4]| marker == VERSION_MARKER);
    if !is_marked {
        return Err(cursor.corrupt_at(0, "no version marker of Ion 1.0"));
    }
    // What stands before the value: padding, tables of symbols, markers that empty the table.
    let mut head = loop {
        if bytes[cursor.position()..].starts_with(&VERSION_MARKER) {
            cursor.take(VERSION_MARKER.len() as u64)?;
            symbols.clone_from(&system);
            continue;
        }
        let head = read_head(&mut cursor, bytes.len())?;
        if is_padding(head) {
            cursor.take((head.end - cursor.position()) as u64)?;
        } else if head.kind == kind::ANNOTATION {
            symbol_table(&mut cursor, head, &system, &mut symbols)?;
        } else {
            break head;
        }
    };
    let mut levels: Vec<Level> = Vec::new();
    loop {
        if matches!(head.kind, kind::LIST | kind::STRUCT) && head.low != NULL_OF_KIND {
            let is_struct = head.kind == kind::STRUCT;
            document.open(is_struct)?;
            levels.push(Level { end: head.end, count: 0, is_struct });
        } else {
            let node = scalar(&mut cursor, head, &symbols, document)?;
            document.push(node);
        }
        head = loop {
            let Some(level) = levels.last_mut() else { return cursor.finish() };
            if cursor.position() == level.end {
                document.close(level.count);
                levels.pop();
                continue;
            }
            let field = if level.is_struct { Some(read_unsigned(&mut cursor)?) } else { None };
            let place = cursor.position();
            let head = read_head(&mut cursor, level.end)?;
            if is_padding(head) {
                cursor.take((head.end - cursor.position()) as u64)?;
                continue;
            }
            if let Some(number) = field {
                document.push(Node::String(text_of(&cursor, number, place, &symbols)?));
            }
            level.count += 1;
            break head;
        };
    }
}

/// The names of Ion's own symbols, behind the input.
fn system_symbols(document: &mut Document) -> Result<Symbols, DecodeError> {
    let push = |name: &&str| Ok(Some(document.push_text(name.as_bytes())?));
    SYSTEM_SYMBOLS.iter().map(push).collect()
}

fn is_padding(head: Head) -> bool {
    head.kind == kind::NULL && head.low != NULL_OF_KIND
}

/// A head whose value must end at `limit` at the latest.
#[inline]
fn read_head(cursor: &mut Cursor<'_>, limit: usize) -> Result<Head, DecodeError> {
    let at = cursor.position();
    let byte = cursor.byte()?;
    let (kind, low) = (byte >> 4, byte & 0x0F);
    // A struct of length 1 is one whose keys are sorted, and has its length behind the head.
    let is_sorted = kind == kind::STRUCT && low == 1;
    let length = match low {
        _ if kind == kind::BOOL => 0,
        LONG => read_unsigned(cursor)?,
        _ if is_sorted => read_unsigned(cursor)?,
        NULL_OF_KIND => 0,
        _ => u64::from(low),
    };
    if is_sorted && length == 0 {
        return Err(cursor.corrupt_at(at, "a sorted struct without fields"));
    }
    if length > cursor.remaining() as u64 {
        return Err(cursor.ends_early());
    }
    let end = cursor.position() + length as usize;
    if end > limit {
        return Err(cursor.corrupt_at(at, "a value that reaches past the one around it"));
    }
    Ok(Head { at, kind, low, end })
}

/// A `VarUInt`.
#[inline]
fn read_unsigned(cursor: &mut Cursor<'_>) -> Result<u64, DecodeError> {
    let mut value: u64 = 0;
    for _ in 0..GROUPS_MAX {
        let byte = cursor.byte()?;
        if value >> 56 != 0 {
            break;
        }
        value = value << 7 | u64::from(byte & 0x7F);
        if byte >= 0x80 {
            return Ok(value);
        }
    }
    Err(cursor.corrupt("a number of more than 63 bits"))
}

/// A `VarInt`, which must end before `limit`.
fn read_signed(cursor: &mut Cursor<'_>, limit: usize) -> Result<i64, DecodeError> {
    let first = cursor.byte()?;
    let mut magnitude = i64::from(first & 0x3F);
    let mut is_last = first >= 0x80;
    for _ in 1..GROUPS_MAX {
        if is_last {
            break;
        }
        if magnitude >> 56 != 0 {
            return Err(cursor.corrupt("a number of more than 63 bits"));
        }
        let byte = cursor.byte()?;
        magnitude = magnitude << 7 | i64::from(byte & 0x7F);
        is_last = byte >= 0x80;
    }
    if !is_last {
        return Err(cursor.corrupt("a number of more than 63 bits"));
    }
    if cursor.position() > limit {
        return Err(cursor.corrupt("a number that reaches past its value"));
    }
    Ok(if first & 0x40 != 0 { -magnitude } else { magnitude })
}

/// The text of a symbol.
fn text_of(
    cursor: &Cursor<'_>,
    number: u64,
    at: usize,
    symbols: &[Option<Span>],
) -> Result<Span, DecodeError> {
    let Some(index) = number.checked_sub(1) else {
        return Err(cursor.not_json_at(at, "a symbol of unknown text"));
    };
    match usize::try_from(index).ok().and_then(|index| symbols.get(index)) {
        Some(Some(span)) => Ok(*span),
        Some(None) => Err(cursor.not_json_at(at, "a symbol of unknown text")),
        None => Err(cursor.corrupt_at(at, "a symbol that is in no table")),
    }
}

/// What follows the head of an annotation, where only a table of symbols may stand.
fn symbol_table(
    cursor: &mut Cursor<'_>,
    head: Head,
    system: &[Option<Span>],
    symbols: &mut Symbols,
) -> Result<(), DecodeError> {
    if head.low < 3 || head.low == NULL_OF_KIND {
        return Err(cursor.corrupt_at(head.at, "an annotation without a value"));
    }
    let length = read_unsigned(cursor)?;
    let first = cursor.position();
    let number = read_unsigned(cursor)?;
    let annotations_end = (first as u64).saturating_add(length);
    if annotations_end < cursor.position() as u64 || annotations_end >= head.end as u64 {
        return Err(cursor.corrupt_at(head.at, "an annotation without a value"));
    }
    if number != symbol::SYMBOL_TABLE {
        return Err(cursor.not_json_at(head.at, "an annotation"));
    }
    cursor.take(annotations_end - cursor.position() as u64)?;
    let table = read_head(cursor, head.end)?;
    if table.kind != kind::STRUCT || table.low == NULL_OF_KIND || table.end != head.end {
        return Err(cursor.corrupt_at(table.at, "a table of symbols that is no struct"));
    }
    let mut is_addition = false;
    let mut added: Option<Symbols> = None;
    while cursor.position() < table.end {
        let field = read_unsigned(cursor)?;
        let value = read_head(cursor, table.end)?;
        match field {
            symbol::SYMBOLS if value.kind == kind::LIST => {
                if added.is_some() {
                    return Err(cursor.corrupt_at(value.at, "a table with two lists of symbols"));
                }
                added = Some(symbol_list(cursor, value.end)?);
            }
            symbol::IMPORTS if value.kind == kind::SYMBOL => {
                is_addition = read_magnitude(cursor, value)? == symbol::SYMBOL_TABLE;
            }
            symbol::IMPORTS if value.kind == kind::LIST && value.end > cursor.position() => {
                return Err(cursor.not_json_at(value.at, "an import of symbols from elsewhere"));
            }
            _ => drop(cursor.take((value.end - cursor.position()) as u64)?),
        }
    }
    if !is_addition {
        symbols.clear();
        symbols.extend_from_slice(system);
    }
    symbols.extend(added.unwrap_or_default());
    Ok(())
}

/// The strings of a list; what is no string is a symbol of unknown text.
fn symbol_list(cursor: &mut Cursor<'_>, end: usize) -> Result<Symbols, DecodeError> {
    let mut found = Vec::new();
    while cursor.position() < end {
        let head = read_head(cursor, end)?;
        let length = (head.end - cursor.position()) as u64;
        if head.kind == kind::STRING && head.low != NULL_OF_KIND {
            found.push(Some(cursor.text(length)?));
            continue;
        }
        cursor.take(length)?;
        if !is_padding(head) {
            found.push(None);
        }
    }
    Ok(found)
}

/// An unsigned number of up to eight bytes, as symbols have.
fn read_magnitude(cursor: &mut Cursor<'_>, head: Head) -> Result<u64, DecodeError> {
    let bytes = cursor.take((head.end - cursor.position()) as u64)?;
    if bytes.len() > 8 {
        return Err(cursor.corrupt_at(head.at, "a number of more than 64 bits"));
    }
    Ok(bytes.iter().fold(0, |value, &byte| value << 8 | u64::from(byte)))
}

/// Everything but lists and structs.
fn scalar(
    cursor: &mut Cursor<'_>,
    head: Head,
    symbols: &[Option<Span>],
    document: &mut Document,
) -> Result<Node, DecodeError> {
    let is_null = head.low == NULL_OF_KIND && head.kind <= kind::STRUCT;
    if is_null {
        return Ok(Node::Null);
    }
    let length = head.end - cursor.position();
    Ok(match head.kind {
        kind::BOOL if head.low <= 1 => Node::Bool(head.low == 1),
        kind::BOOL => return Err(cursor.corrupt_at(head.at, "a boolean that is neither")),
        kind::POSITIVE | kind::NEGATIVE => integer(cursor, head, document)?,
        kind::FLOAT => float(cursor, head)?,
        kind::DECIMAL => decimal(cursor, head, document)?,
        kind::STRING => Node::String(cursor.text(length as u64)?),
        kind::SYMBOL => {
            let number = read_magnitude(cursor, head)?;
            Node::String(text_of(cursor, number, head.at, symbols)?)
        }
        kind::TIMESTAMP => return Err(cursor.not_json_at(head.at, "a timestamp")),
        kind::CLOB | kind::BLOB => return Err(cursor.not_json_at(head.at, "binary data")),
        kind::S_EXPRESSION => return Err(cursor.not_json_at(head.at, "an S-expression")),
        kind::ANNOTATION => return Err(cursor.not_json_at(head.at, "an annotation")),
        _ => return Err(cursor.corrupt_at(head.at, "a type that there is not")),
    })
}

fn integer(
    cursor: &mut Cursor<'_>,
    head: Head,
    document: &mut Document,
) -> Result<Node, DecodeError> {
    let is_negative = head.kind == kind::NEGATIVE;
    let bytes = big::without_leading(cursor.take((head.end - cursor.position()) as u64)?, 0);
    if is_negative && bytes.is_empty() {
        return Err(cursor.corrupt_at(head.at, "a negative zero"));
    }
    if bytes.len() < 8 {
        let value = bytes.iter().fold(0, |value, &byte| value << 8 | i64::from(byte));
        return Ok(Node::Int(if is_negative { -value } else { value }));
    }
    let mut text = if is_negative { b"-".to_vec() } else { Vec::new() };
    append_digits(cursor, head, bytes, &mut text)?;
    Ok(number::integer_node(&text, document)?)
}

fn append_digits(
    cursor: &Cursor<'_>,
    head: Head,
    magnitude: &[u8],
    text: &mut Vec<u8>,
) -> Result<(), DecodeError> {
    if !big::append_digits(magnitude, text) {
        return Err(cursor.not_json_at(head.at, "a number with more digits than the limit"));
    }
    Ok(())
}

fn float(cursor: &mut Cursor<'_>, head: Head) -> Result<Node, DecodeError> {
    let value = match head.end - cursor.position() {
        0 => 0.0,
        4 => f64::from(f32::from_be_bytes(cursor.array()?)),
        8 => f64::from_be_bytes(cursor.array()?),
        _ => return Err(cursor.corrupt_at(head.at, "a float of another length than 0, 4 and 8")),
    };
    cursor.float(value, head.at)
}

fn decimal(
    cursor: &mut Cursor<'_>,
    head: Head,
    document: &mut Document,
) -> Result<Node, DecodeError> {
    if head.end == cursor.position() {
        // A decimal of no bytes is 0d0.
        return Ok(Node::Int(0));
    }
    let exponent = read_signed(cursor, head.end)?;
    let mut magnitude = cursor.take((head.end - cursor.position()) as u64)?.to_vec();
    let mut text = Vec::new();
    if let Some(first) = magnitude.first_mut()
        && *first >= 0x80
    {
        *first &= 0x7F;
        text.push(b'-');
    }
    append_digits(cursor, head, &magnitude, &mut text)?;
    Ok(number::decimal_node(&text, exponent, document)?)
}
