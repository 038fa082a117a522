//! The parts of the grammar that both parsers share: numbers, literals and the escapes of strings.
//!
//! They work on the text alone, so that the two parsers differ only in how they find structure.

use crate::document::{Document, DocumentError, Node, Span};
use crate::json::JsonError;

/// Parses the number that starts at `start` and returns its node and the offset after it.
#[inline]
pub(super) fn number(text: &[u8], start: usize) -> Result<(Node, usize), JsonError> {
    let negative = text[start] == b'-';
    let first = start + usize::from(negative);
    let mut at = first;
    let mut value: u64 = 0;
    // Wrapping is harmless: above 19 digits the value is not used.
    while let Some(digit) = digit(text, at) {
        value = value.wrapping_mul(10).wrapping_add(u64::from(digit));
        at += 1;
    }
    let digits = at - first;
    if digits == 0 {
        return Err(JsonError::syntax("a number without digits", at));
    }
    if digits > 1 && text[first] == b'0' {
        return Err(JsonError::syntax("a number with a leading zero", first));
    }
    if !matches!(text.get(at), Some(b'.' | b'e' | b'E')) {
        let fits = digits <= 19;
        if fits && !negative {
            let node = i64::try_from(value).map_or(Node::Uint(value), Node::Int);
            return Ok((node, at));
        }
        // A minus sign before zero is not the text of any integer, so "-0" stays a text.
        if fits && value != 0 && value <= 1 << 63 {
            return Ok((Node::Int((value as i64).wrapping_neg()), at));
        }
        // Twenty digits may still fit 64 bits without a sign.
        let text = &text[start..at];
        if !negative
            && digits == 20
            && let Some(value) = twenty_digits(text)
        {
            return Ok((Node::Uint(value), at));
        }
        return Ok((Node::Decimal(span(start, at)), at));
    }
    if text[at] == b'.' {
        at = digits_after(text, at + 1, "a decimal point without digits after it")?;
    }
    if matches!(text.get(at), Some(b'e' | b'E')) {
        at += 1;
        if matches!(text.get(at), Some(b'+' | b'-')) {
            at += 1;
        }
        at = digits_after(text, at, "an exponent without digits")?;
    }
    Ok((Node::Decimal(span(start, at)), at))
}

fn twenty_digits(text: &[u8]) -> Option<u64> {
    str::from_utf8(text).ok()?.parse().ok()
}

#[inline]
fn digit(text: &[u8], at: usize) -> Option<u8> {
    text.get(at).map(|byte| byte.wrapping_sub(b'0')).filter(|&digit| digit < 10)
}

#[inline]
fn digits_after(text: &[u8], start: usize, what: &'static str) -> Result<usize, JsonError> {
    let mut at = start;
    while digit(text, at).is_some() {
        at += 1;
    }
    if at == start { Err(JsonError::syntax(what, at)) } else { Ok(at) }
}

/// Parses `true`, `false` or `null` at `start` and returns its node and the offset after it.
#[inline]
pub(super) fn literal(text: &[u8], start: usize) -> Result<(Node, usize), JsonError> {
    let rest = &text[start..];
    if rest.starts_with(b"true") {
        Ok((Node::Bool(true), start + 4))
    } else if rest.starts_with(b"false") {
        Ok((Node::Bool(false), start + 5))
    } else if rest.starts_with(b"null") {
        Ok((Node::Null, start + 4))
    } else {
        Err(JsonError::syntax("something that is no JSON value", start))
    }
}

/// The span of `text[start..end]`. Texts are below 2^28 bytes, so 32 bits hold both.
#[inline]
pub(super) fn span(start: usize, end: usize) -> Span {
    Span { start: start as u32, length: (end - start) as u32 }
}

/// Appends the string `text[start..end]`, in which a backslash stands at or after `escape`, to
/// the document, its escapes resolved.
pub(super) fn unescape(
    text: &[u8],
    start: usize,
    end: usize,
    document: &mut Document,
) -> Result<(), JsonError> {
    let begin = document.push_text(&[])?.start;
    let mut at = start;
    while at < end {
        let run = memchr::memchr(b'\\', &text[at..end]).unwrap_or(end - at);
        document.push_text(&text[at..at + run])?;
        at += run;
        if at < end {
            at = escape(text, at, end, document)?;
        }
    }
    let after = document.push_text(&[])?.start;
    document.push(Node::String(Span { start: begin, length: after - begin }));
    Ok(())
}

/// Resolves the escape whose backslash is at `at`; returns the offset after it.
fn escape(text: &[u8], at: usize, end: usize, document: &mut Document) -> Result<usize, JsonError> {
    let inside = &text[..end];
    let byte = match inside.get(at + 1) {
        Some(b'"') => b'"',
        Some(b'\\') => b'\\',
        Some(b'/') => b'/',
        Some(b'b') => 0x08,
        Some(b'f') => 0x0C,
        Some(b'n') => b'\n',
        Some(b'r') => b'\r',
        Some(b't') => b'\t',
        Some(b'u') => return unicode_escape(inside, at, document),
        _ => return Err(JsonError::syntax("an unknown escape", at)),
    };
    document.push_text(&[byte])?;
    Ok(at + 2)
}

/// Resolves a `\uXXXX` escape, or two of them where they are a surrogate pair.
fn unicode_escape(inside: &[u8], at: usize, document: &mut Document) -> Result<usize, JsonError> {
    let unit = hex_unit(inside, at)?;
    if (0xD800..0xDC00).contains(&unit)
        && inside.get(at + 6..at + 8) == Some(b"\\u")
        && let Ok(low @ 0xDC00..0xE000) = hex_unit(inside, at + 6)
    {
        let code = 0x10000 + ((u32::from(unit) & 0x3FF) << 10) + (u32::from(low) & 0x3FF);
        push_code_point(code, document)?;
        return Ok(at + 12);
    }
    push_code_point(u32::from(unit), document)?;
    Ok(at + 6)
}

fn hex_unit(inside: &[u8], at: usize) -> Result<u16, JsonError> {
    let error = JsonError::syntax("a \\u escape without four hexadecimal digits", at);
    let digits = inside.get(at + 2..at + 6).ok_or(error.clone())?;
    digits.iter().try_fold(0u16, |unit, &digit| {
        let value = (digit as char).to_digit(16).ok_or(error.clone())?;
        Ok(unit << 4 | value as u16)
    })
}

/// Appends a code point, a lone surrogate in its three-byte form (WTF-8).
fn push_code_point(code: u32, document: &mut Document) -> Result<(), DocumentError> {
    let mut buffer = [0; 4];
    let bytes: &[u8] = match char::from_u32(code) {
        Some(character) => character.encode_utf8(&mut buffer).as_bytes(),
        None => {
            buffer[0] = 0xED;
            buffer[1] = 0x80 | (code >> 6 & 0x3F) as u8;
            buffer[2] = 0x80 | (code & 0x3F) as u8;
            &buffer[..3]
        }
    };
    document.push_text(bytes)?;
    Ok(())
}
