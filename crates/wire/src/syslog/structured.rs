//! Structured data of RFC 5424: `[id name="value" …]…`. Elements and parameters are found as they
//! are iterated; values are unescaped only when asked.

use std::borrow::Cow;

/// The elements of structured data, in order.
#[derive(Debug, Clone)]
pub struct Elements<'a> {
    rest: &'a [u8],
}

/// One element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Element<'a> {
    /// Its name, such as `exampleSDID@32473`.
    pub id: &'a [u8],
    parameters: &'a [u8],
}

/// The parameters of an element as name and escaped value; [`unescape`] reads the value.
#[derive(Debug, Clone)]
pub struct Parameters<'a> {
    rest: &'a [u8],
}

impl<'a> Elements<'a> {
    /// Reads the structured data at the front of `text` and what follows it. `None` if it breaks
    /// the grammar; `-` is none.
    pub(super) fn split(text: &'a [u8]) -> Option<(&'a [u8], &'a [u8])> {
        if let Some(rest) = text.strip_prefix(b"-") {
            return Some((&[], rest));
        }
        let mut rest = text;
        while rest.first() == Some(&b'[') {
            (_, rest) = element(rest)?;
        }
        let length = text.len() - rest.len();
        (length > 0).then_some((&text[..length], rest))
    }

    /// The elements of data that [`split`](Elements::split) has found.
    pub(super) fn new(data: &'a [u8]) -> Elements<'a> {
        Elements { rest: data }
    }
}

impl<'a> Iterator for Elements<'a> {
    type Item = Element<'a>;

    fn next(&mut self) -> Option<Element<'a>> {
        let (element, rest) = element(self.rest)?;
        self.rest = rest;
        Some(element)
    }
}

impl<'a> Element<'a> {
    /// The parameters, in order. A name may come again.
    pub fn parameters(self) -> Parameters<'a> {
        Parameters { rest: self.parameters }
    }
}

impl<'a> Iterator for Parameters<'a> {
    type Item = (&'a [u8], &'a [u8]);

    fn next(&mut self) -> Option<(&'a [u8], &'a [u8])> {
        let (name, value, rest) = parameter(self.rest)?;
        self.rest = rest;
        Some((name, value))
    }
}

/// The value of a parameter without its escapes `\"`, `\\` and `\]`. Any other backslash stands
/// for itself, as the RFC says.
pub fn unescape(value: &[u8]) -> Cow<'_, [u8]> {
    let Some(first) = memchr::memchr(b'\\', value) else { return Cow::Borrowed(value) };
    let mut text = value[..first].to_vec();
    let mut bytes = value[first..].iter().copied().peekable();
    while let Some(byte) = bytes.next() {
        let escaped = bytes.next_if(|next| byte == b'\\' && matches!(next, b'"' | b'\\' | b']'));
        text.push(escaped.unwrap_or(byte));
    }
    Cow::Owned(text)
}

/// The element at the front and what follows.
fn element(text: &[u8]) -> Option<(Element<'_>, &[u8])> {
    let (id, behind_id) = name(text.strip_prefix(b"[")?)?;
    let mut rest = behind_id;
    while let Some((_, _, behind)) = parameter(rest) {
        rest = behind;
    }
    let parameters = &behind_id[..behind_id.len() - rest.len()];
    Some((Element { id, parameters }, rest.strip_prefix(b"]")?))
}

/// The parameter at the front with the space before it, and what follows.
fn parameter(text: &[u8]) -> Option<(&[u8], &[u8], &[u8])> {
    let (name, rest) = name(text.strip_prefix(b" ")?)?;
    let value = rest.strip_prefix(b"=\"")?;
    let mut from = 0;
    loop {
        let end = from + memchr::memchr2(b'"', b'\\', &value[from..])?;
        if value[end] == b'"' {
            return Some((name, &value[..end], &value[end + 1..]));
        }
        // Whatever follows a backslash does not end the value.
        from = end + 2;
        if from > value.len() {
            return None;
        }
    }
}

/// A name: visible ASCII but `=`, `]` and `"`, at least one byte.
fn name(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let is_name = |byte: &u8| byte.is_ascii_graphic() && !matches!(byte, b'=' | b']' | b'"');
    let length = text.iter().position(|byte| !is_name(byte)).unwrap_or(text.len());
    (length > 0).then(|| text.split_at(length))
}
