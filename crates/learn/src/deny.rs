//! What must not enter a dictionary whoever had it: texts that match a pattern.
//!
//! Payloads are changed before anything is learned of them: every letter and digit of a match
//! becomes another one, a different one each time. So the payload keeps its form, and what stands
//! in it instead is shared with no other payload and can't be learned.

use std::borrow::Cow;

use regex::bytes::Regex;
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// What is denied unless the user says otherwise, by name. An address or number may be that of a
/// company and stand in all payloads, but nobody can tell by looking at it.
const USUAL: &[(&str, &str)] = &[
    ("e-mail address", r"(?-u)[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+"),
    ("phone number", r"(?-u)\+[0-9](?:[ ()./-]{0,2}[0-9]){6,14}"),
    ("card number", r"(?-u)[2-6](?:[ -]?[0-9]){14,15}"),
];

/// The pattern that is checked further.
const CARD: usize = 2;

/// Patterns whose matches are not learned.
#[derive(Debug, Clone)]
pub struct Deny {
    patterns: Vec<Regex>,
    /// Whether the first patterns are the usual ones.
    has_usual: bool,
}

/// A pattern that is none.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{pattern} is no pattern: {reason}")]
pub struct PatternError {
    /// The pattern.
    pub pattern: String,
    /// What is wrong with it.
    pub reason: String,
}

impl Deny {
    /// Denies e-mail addresses, international phone numbers and card numbers (15 or 16 digits whose
    /// check digit holds) where `with_usual` says so, and what matches one of the patterns, in the
    /// syntax of the `regex` crate.
    ///
    /// # Errors
    /// A pattern that the crate does not take.
    pub fn new(patterns: &[String], with_usual: bool) -> Result<Deny, PatternError> {
        let usual = USUAL.iter().filter(|_| with_usual).map(|&(_, pattern)| pattern);
        let all = usual.chain(patterns.iter().map(String::as_str));
        let compile = |pattern: &str| {
            Regex::new(pattern).map_err(|error| PatternError {
                pattern: pattern.to_owned(),
                // The library draws the pattern on lines of their own; the last says what is wrong.
                reason: error.to_string().lines().last().unwrap_or_default().to_owned(),
            })
        };
        Ok(Deny { patterns: all.map(compile).collect::<Result<_, _>>()?, has_usual: with_usual })
    }

    /// Denies nothing.
    pub fn nothing() -> Deny {
        Deny { patterns: Vec::new(), has_usual: false }
    }

    /// What is denied: names, and patterns of the user.
    pub fn names(&self) -> Vec<String> {
        let usual = if self.has_usual { USUAL.len() } else { 0 };
        let names = USUAL.iter().take(usual).map(|&(name, _)| name.to_owned());
        names.chain(self.patterns[usual..].iter().map(|p| p.as_str().to_owned())).collect()
    }

    /// The payload with every match changed. `number` is the payload's, so that the same match
    /// becomes something else in every payload.
    pub fn scramble<'a>(&self, payload: &'a [u8], number: usize) -> Cow<'a, [u8]> {
        let mut scrambled = Cow::Borrowed(payload);
        for pattern in 0..self.patterns.len() {
            for (start, end) in self.found(pattern, payload) {
                scramble(scrambled.to_mut(), start, end, number as u64);
            }
        }
        scrambled
    }

    /// The places of the matches of a pattern.
    fn found(&self, pattern: usize, text: &[u8]) -> Vec<(usize, usize)> {
        let is_card = self.has_usual && pattern == CARD;
        self.patterns[pattern]
            .find_iter(text)
            .map(|found| (found.start(), found.end()))
            .filter(|&(start, end)| !is_card || is_card_number(text, start, end))
            .collect()
    }
}

impl Default for Deny {
    fn default() -> Deny {
        Deny::new(&[], true).expect("the usual patterns are patterns")
    }
}

/// Whether digits stand alone and their check digit (ISO/IEC 7812-1, annex B) holds.
fn is_card_number(text: &[u8], start: usize, end: usize) -> bool {
    let is_digit =
        |at: Option<usize>| at.and_then(|at| text.get(at)).is_some_and(u8::is_ascii_digit);
    if is_digit(start.checked_sub(1)) || is_digit(Some(end)) {
        return false;
    }
    let digits = text[start..end].iter().rev().filter(|byte| byte.is_ascii_digit());
    let sum: u32 = digits
        .enumerate()
        .map(|(place, digit)| {
            let digit = u32::from(digit - b'0');
            if place % 2 == 0 { digit } else { digit * 2 / 10 + digit * 2 % 10 }
        })
        .sum();
    sum.is_multiple_of(10)
}

/// Changes letters and digits to others of their kind. What belongs to an escape of JSON stays.
fn scramble(payload: &mut [u8], start: usize, end: usize, seed: u64) {
    let mut at = start;
    while at < end {
        let is_escaped = at > 0 && payload[at - 1] == b'\\';
        if is_escaped {
            at += if payload[at] == b'u' { 5 } else { 1 };
            continue;
        }
        let random = xxh3_64_with_seed(&(at as u64).to_le_bytes(), seed);
        payload[at] = match payload[at] {
            // No zero, which a number can't begin with.
            b'0'..=b'9' => b'1' + (random % 9) as u8,
            b'a'..=b'z' => b'a' + (random % 26) as u8,
            b'A'..=b'Z' => b'A' + (random % 26) as u8,
            other => other,
        };
        at += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_personal_is_changed_and_nothing_else() {
        let deny = Deny::default();
        let payload = br#"{"to":"Jo <jo.do@mail.example.org>","phone":"+49 151 234-5678","#;
        let payload =
            [payload.as_slice(), br#""card":4111111111111111,"id":4111111111111112}"#].concat();
        let scrambled = deny.scramble(&payload, 7);
        let text = std::str::from_utf8(&scrambled).unwrap();
        for private in ["jo.do", "example", "151 234", "4111111111111111"] {
            assert!(!text.contains(private), "{private} in {text}");
        }
        assert!(text.starts_with(r#"{"to":"Jo <"#) && text.contains(r#","id":4111111111111112}"#));
        assert_eq!(scrambled.len(), payload.len());
        assert_ne!(scrambled, deny.scramble(&payload, 8));
        assert_eq!(scrambled, deny.scramble(&payload, 7));
        let ordinary = br#"{"at":"2026-11-21T10:00:00+01:00","ms":1700000000000,"n":1.5e10}"#;
        assert!(matches!(deny.scramble(ordinary, 1), Cow::Borrowed(_)));
    }

    #[test]
    fn patterns_of_the_user_keep_escapes_whole() {
        let deny = Deny::new(&["Zo[^\"]*".to_owned()], false).unwrap();
        let scrambled = deny.scramble(br#"{"name":"Zo\u00eb \"Q\"x","mail":"a@b.c"}"#, 1);
        let text = std::str::from_utf8(&scrambled).unwrap();
        assert!(text.contains(r"\u00eb") && text.contains(r#"\""#) && text.contains("a@b.c"));
        assert!(!text.contains("Zo"));
        let error = Deny::new(&["(".to_owned()], true).unwrap_err();
        assert!(error.to_string().starts_with("( is no pattern"), "{error}");
    }
}
