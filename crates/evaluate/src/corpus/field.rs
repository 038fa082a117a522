//! Picks one member out of a JSON text, as the bytes that stand there.
//!
//! The text is walked and not built again from the parsed value, because the payload is what the
//! service wrote: its white space, number texts and escapes. The text must have passed the parser;
//! nothing here recurses, whatever its depth.

use std::fmt;

use cinch_core::document::{Document, Node};
use cinch_core::encoding::Parser;
use cinch_core::json;

use super::scanner::{Scanner, Step};

/// A path to a member, like `order.items.0.price`: names of members and indices of elements.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldPath {
    segments: Vec<String>,
}

/// Why a text is not a path.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FieldPathError {
    /// The path, or what stands between two of its dots, is empty.
    #[error("the field path {path:?} has an empty name; write it like cart.items.0")]
    EmptyName {
        /// The path as it was given.
        path: String,
    },
    /// A backslash stands before something that needs none.
    #[error("in the field path {path:?} a backslash stands before neither a dot nor a backslash")]
    StrayBackslash {
        /// The path as it was given.
        path: String,
    },
}

impl FieldPath {
    /// Reads a path. A dot that is part of a name is written `\.`, a backslash `\\`.
    ///
    /// # Errors
    /// [`FieldPathError`] for an empty name or a stray backslash.
    pub fn parse(path: &str) -> Result<FieldPath, FieldPathError> {
        let mut segments = vec![String::new()];
        let mut characters = path.chars();
        while let Some(character) = characters.next() {
            let kept = match character {
                '.' => {
                    segments.push(String::new());
                    continue;
                }
                '\\' => match characters.next() {
                    Some(escaped @ ('.' | '\\')) => escaped,
                    _ => return Err(FieldPathError::StrayBackslash { path: path.to_owned() }),
                },
                other => other,
            };
            segments.last_mut().expect("never empty").push(kept);
        }
        if segments.iter().any(String::is_empty) {
            return Err(FieldPathError::EmptyName { path: path.to_owned() });
        }
        Ok(FieldPath { segments })
    }

    /// The bytes of the member, or `None` where a part of the path is missing. Of a key that stands
    /// twice the first counts.
    pub fn pick<'a>(&self, text: &'a [u8]) -> Option<&'a [u8]> {
        let mut cursor = Cursor { text, at: 0 };
        for segment in &self.segments {
            match cursor.next()? {
                b'{' => cursor.enter_member(segment)?,
                b'[' => cursor.enter_element(segment)?,
                _ => return None,
            }
        }
        Some(cursor.value())
    }
}

impl fmt::Display for FieldPath {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, segment) in self.segments.iter().enumerate() {
            let dot = if index == 0 { "" } else { "." };
            write!(out, "{dot}{}", segment.replace('\\', "\\\\").replace('.', "\\."))?;
        }
        Ok(())
    }
}

/// What the string means that is all of a document; empty if it is no string.
pub(super) fn string_content(document: &Document) -> &[u8] {
    match document.nodes().first() {
        Some(&Node::String(span)) => document.bytes(span),
        _ => b"",
    }
}

/// A place in a valid JSON text.
struct Cursor<'a> {
    text: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    /// The next byte that is not white space, which is not passed.
    fn next(&mut self) -> Option<u8> {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.text.get(self.at) {
            self.at += 1;
        }
        self.text.get(self.at).copied()
    }

    /// Passes the next value and returns its bytes.
    fn value(&mut self) -> &'a [u8] {
        self.next();
        let rest = &self.text[self.at..];
        let length = match Scanner::new().advance(rest) {
            Step::End(length) => length,
            Step::More | Step::Damaged { .. } => rest.len(),
        };
        self.at += length;
        &rest[..length]
    }

    /// Goes to the value of the first member of that name.
    fn enter_member(&mut self, name: &str) -> Option<()> {
        self.at += 1;
        let mut document = Document::new();
        while self.next()? == b'"' {
            let key = self.value();
            if self.next()? != b':' {
                return None;
            }
            self.at += 1;
            if key_is(key, name, &mut document) {
                return Some(());
            }
            self.value();
            if self.next()? == b',' {
                self.at += 1;
            }
        }
        None
    }

    /// Goes to the element of that index.
    fn enter_element(&mut self, index: &str) -> Option<()> {
        let mut left: u64 = index.parse().ok()?;
        self.at += 1;
        while self.next()? != b']' {
            if left == 0 {
                return Some(());
            }
            left -= 1;
            self.value();
            if self.next()? == b',' {
                self.at += 1;
            }
        }
        None
    }
}

/// Whether a key, with its quotes, means `name`.
fn key_is(key: &[u8], name: &str, document: &mut Document) -> bool {
    if memchr::memchr(b'\\', key).is_none() {
        return key[1..].strip_suffix(b"\"") == Some(name.as_bytes());
    }
    json::parse(Parser::Simd, key, document).is_ok() && string_content(document) == name.as_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pick(path: &str, text: &str) -> Option<String> {
        let picked = FieldPath::parse(path).unwrap().pick(text.as_bytes())?;
        Some(String::from_utf8(picked.to_vec()).unwrap())
    }

    #[test]
    fn picks_the_bytes_that_stand_there() {
        let text = r#" {"x":[{"a" : 1}, {"b":[ 1.50 , "q"]}],"a.b":2,"x":3,"\u0061":{"n":null}} "#;
        assert_eq!(pick("x", text).unwrap(), r#"[{"a" : 1}, {"b":[ 1.50 , "q"]}]"#);
        assert_eq!(pick("x.0", text).unwrap(), r#"{"a" : 1}"#);
        assert_eq!(pick("x.1.b.0", text).unwrap(), "1.50");
        assert_eq!(pick("x.1.b.1", text).unwrap(), "\"q\"");
        assert_eq!(pick(r"a\.b", text).unwrap(), "2");
        assert_eq!(pick("a.n", text).unwrap(), "null");
    }

    #[test]
    fn a_missing_part_is_none() {
        for path in ["y", "x.2", "x.a", "x.0.a.b", "x.-1", "a.b.c"] {
            assert_eq!(pick(path, r#"{"x":[{"a":1},2],"a":{}}"#), None, "{path}");
        }
        assert_eq!(pick("a", "[]"), None);
        assert_eq!(pick("a", "{}"), None);
        assert_eq!(pick("a", "7"), None);
        assert_eq!(pick("0", r#"{"0":"key"}"#).unwrap(), "\"key\"");
    }

    #[test]
    fn paths_are_checked_and_printed_as_they_are_written() {
        for path in ["", "a..b", ".a", "a."] {
            let path = path.to_owned();
            assert_eq!(FieldPath::parse(&path), Err(FieldPathError::EmptyName { path }));
        }
        for path in [r"a\b", r"a\"] {
            let path = path.to_owned();
            assert_eq!(FieldPath::parse(&path), Err(FieldPathError::StrayBackslash { path }));
        }
        for path in ["a.b.0", r"a\.b.c\\d"] {
            assert_eq!(FieldPath::parse(path).unwrap().to_string(), path);
        }
    }
}
