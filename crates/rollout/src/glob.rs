//! Key patterns as Redis has them: `*`, `?`, `[a-z]`, `[^x]` and `\` before a character that is
//! meant as itself. Keys are bytes, so the usual glob crates, which match paths or text, don't fit.

use std::fmt;

/// The most wildcards of a pattern: each costs a hostile key a pass at worst.
const STARS_MAX: usize = 16;

/// A pattern that was checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Glob {
    text: String,
    parts: Vec<Part>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Byte(u8),
    Any,
    Star,
    Set { is_negated: bool, ranges: Vec<(u8, u8)> },
}

/// What is wrong with a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum GlobError {
    /// A bracket without its end.
    #[error("a [ without its ]")]
    OpenSet,
    /// A backslash at the end.
    #[error("a \\ with nothing after it")]
    OpenEscape,
    /// Too many wildcards.
    #[error("more than {STARS_MAX} wildcards")]
    TooManyStars,
}

impl Glob {
    /// Reads a pattern.
    ///
    /// # Errors
    /// [`GlobError`].
    pub fn parse(text: &str) -> Result<Glob, GlobError> {
        let mut parts = Vec::new();
        let mut bytes = text.bytes();
        while let Some(byte) = bytes.next() {
            let part = match byte {
                b'*' if parts.last() == Some(&Part::Star) => continue,
                b'*' => Part::Star,
                b'?' => Part::Any,
                b'\\' => Part::Byte(bytes.next().ok_or(GlobError::OpenEscape)?),
                b'[' => set(&mut bytes)?,
                byte => Part::Byte(byte),
            };
            parts.push(part);
        }
        if parts.iter().filter(|part| **part == Part::Star).count() > STARS_MAX {
            return Err(GlobError::TooManyStars);
        }
        Ok(Glob { text: text.to_owned(), parts })
    }

    /// Whether the whole key matches. Time is at most the key's length times the pattern's.
    pub fn matches(&self, key: &[u8]) -> bool {
        let (mut at, mut part) = (0, 0);
        // Where to go on when what follows the last star does not fit: one byte further.
        let mut last_star = None;
        while at < key.len() {
            match self.parts.get(part) {
                Some(Part::Star) => {
                    last_star = Some((part, at));
                    part += 1;
                }
                Some(found) if found.takes(key[at]) => {
                    at += 1;
                    part += 1;
                }
                _ => match last_star {
                    Some((star, from)) => {
                        last_star = Some((star, from + 1));
                        at = from + 1;
                        part = star + 1;
                    }
                    None => return false,
                },
            }
        }
        self.parts[part..].iter().all(|part| *part == Part::Star)
    }
}

fn set(bytes: &mut impl Iterator<Item = u8>) -> Result<Part, GlobError> {
    let mut is_negated = false;
    let mut ranges: Vec<(u8, u8)> = Vec::new();
    let mut is_first = true;
    let mut open_range = false;
    loop {
        let byte = bytes.next().ok_or(GlobError::OpenSet)?;
        let byte = match byte {
            b'^' if is_first => {
                is_negated = true;
                is_first = false;
                continue;
            }
            b']' => break,
            b'-' if !ranges.is_empty() && !open_range => {
                open_range = true;
                continue;
            }
            b'\\' => bytes.next().ok_or(GlobError::OpenSet)?,
            byte => byte,
        };
        is_first = false;
        match ranges.last_mut() {
            Some(range) if open_range => {
                *range = (range.0.min(byte), range.0.max(byte));
                open_range = false;
            }
            _ => ranges.push((byte, byte)),
        }
    }
    if open_range {
        ranges.push((b'-', b'-'));
    }
    Ok(Part::Set { is_negated, ranges })
}

impl Part {
    fn takes(&self, byte: u8) -> bool {
        match self {
            Part::Byte(own) => *own == byte,
            Part::Any => true,
            Part::Star => false,
            Part::Set { is_negated, ranges } => {
                ranges.iter().any(|(low, high)| (*low..=*high).contains(&byte)) != *is_negated
            }
        }
    }
}

impl fmt::Display for Glob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(pattern: &str, key: &str) -> bool {
        Glob::parse(pattern).unwrap().matches(key.as_bytes())
    }

    #[test]
    fn patterns_match_as_in_redis() {
        for (pattern, key, expected) in [
            ("cart:*", "cart:1", true),
            ("cart:*", "cart:", true),
            ("cart:*", "cat:1", false),
            ("*", "", true),
            ("h?llo", "hello", true),
            ("h?llo", "hllo", false),
            ("h[ae]llo", "hallo", true),
            ("h[^e]llo", "hello", false),
            ("h[a-c]llo", "hbllo", true),
            ("a*b*c", "aXbYbZc", true),
            ("a*b*c", "aXbYbZ", false),
            ("\\*", "*", true),
            ("\\*", "x", false),
            ("cart:*:total", "cart:7:total", true),
            ("cart:*:total", "cart:7:total:x", false),
            ("[a-]", "-", true),
        ] {
            assert_eq!(matches(pattern, key), expected, "{pattern} on {key}");
        }
    }

    #[test]
    fn keys_that_are_no_text_match_by_bytes() {
        assert!(Glob::parse("k:*").unwrap().matches(b"k:\xff\x00"));
    }

    #[test]
    fn what_is_open_is_refused() {
        assert_eq!(Glob::parse("a["), Err(GlobError::OpenSet));
        assert_eq!(Glob::parse("a\\"), Err(GlobError::OpenEscape));
        assert_eq!(Glob::parse(&"*a".repeat(17)), Err(GlobError::TooManyStars));
    }
}
