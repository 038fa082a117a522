//! The words of a `.thrift` file, with their lines. No crate reads the language without
//! generating code, which cinch has no use for.

use std::fmt;

use crate::ReadError;

/// A word, a number, a text or a sign.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Token {
    /// A name or a keyword, with dots.
    Word(String),
    /// A number, as it is written.
    Number(String),
    /// The content of a string literal.
    Text(String),
    /// Any other character.
    Sign(char),
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Token::Word(text) | Token::Number(text) => write!(f, "{text}"),
            Token::Text(text) => write!(f, "{text:?}"),
            Token::Sign(sign) => write!(f, "{sign}"),
        }
    }
}

/// The tokens of a file, each with its line.
pub(super) fn tokens(text: &str) -> Result<Vec<(Token, usize)>, ReadError> {
    let mut found = Vec::new();
    let mut line = 1;
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let length = match c {
            '\n' => {
                line += 1;
                1
            }
            c if c.is_whitespace() => c.len_utf8(),
            '#' => to_line_end(rest),
            '/' if rest.starts_with("//") => to_line_end(rest),
            '/' if rest.starts_with("/*") => {
                let end = rest.find("*/").ok_or_else(|| wrong(line, "a comment without an end"))?;
                line += rest[..end].matches('\n').count();
                end + 2
            }
            '"' | '\'' => {
                let end = rest[1..].find(c).ok_or_else(|| wrong(line, "a text without an end"))?;
                let content = &rest[1..=end];
                found.push((Token::Text(content.to_owned()), line));
                line += content.matches('\n').count();
                end + 2
            }
            c if c.is_ascii_alphabetic() || c == '_' => {
                let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-');
                let end = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
                found.push((Token::Word(rest[..end].to_owned()), line));
                end
            }
            c if c.is_ascii_digit() || matches!(c, '-' | '+') => {
                let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '+');
                let end = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
                found.push((Token::Number(rest[..end].to_owned()), line));
                end
            }
            c => {
                found.push((Token::Sign(c), line));
                c.len_utf8()
            }
        };
        rest = &rest[length..];
    }
    Ok(found)
}

fn to_line_end(rest: &str) -> usize {
    rest.find('\n').unwrap_or(rest.len())
}

/// The error of a line.
pub(super) fn wrong(line: usize, what: impl Into<String>) -> ReadError {
    ReadError::Syntax { line, what: what.into() }
}
