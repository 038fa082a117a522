//! `.proto` files: written for a plan, and read, ours and those of others.
//!
//! What the language can't say of a field stands behind an `@` in its `json_name`, which is the one
//! annotation that needs no import: options of our own would need `descriptor.proto`, which not
//! every protoc comes with. spec/schema.md has the list.

mod read;
mod write;

use std::fmt::Write;

pub(crate) use read::read;
pub(crate) use write::write;

/// The message that says that a file is ours: a member that the schema has no place for.
const MEMBER: &str = "CinchMember";

/// What a string or a boolean stands for, where that is not itself.
const NULL: &str = "null";
const NUMBER: &str = "number";
const JSON: &str = "json";

/// What else may stand behind the `@`, to tell the fields of one key apart.
const OTHERS: &[&str] = &["bool", "int", "double", "text", "list", "map", "object"];

/// A key and what stands behind the `@`, as a `json_name`. A name in brackets is an extension's and
/// a NUL is not allowed, so both are written otherwise.
fn json_name(key: &str, how: Option<&str>) -> String {
    let mut name = String::new();
    for c in key.chars() {
        match c {
            '@' => name.push_str("@@"),
            '\0' => name.push_str("@0"),
            '[' if name.is_empty() => name.push_str("@["),
            c => name.push(c),
        }
    }
    if let Some(how) = how {
        let _ = write!(name, "@{how}");
    }
    name
}

/// The key, and what stands behind the `@`, of a `json_name` of ours.
fn parse_json_name(name: &str) -> (String, Option<&str>) {
    let mut key = String::new();
    let mut rest = name;
    while let Some((before, after)) = rest.split_once('@') {
        key.push_str(before);
        let is_how = is_how(after);
        match after.chars().next() {
            _ if is_how => return (key, Some(after)),
            Some('0') => key.push('\0'),
            Some(c) => key.push(c),
            None => {}
        }
        rest = after.get(after.chars().next().map_or(0, char::len_utf8)..).unwrap_or_default();
    }
    key.push_str(rest);
    (key, None)
}

/// Whether a text says how values stand: a word, behind it perhaps what a list or map holds, and
/// behind that perhaps the number of a field whose words another has too, as in `list-json-12`.
fn is_how(text: &str) -> bool {
    let mut parts = text.split('-');
    let is_first = |part: &str| [NULL, NUMBER, JSON].contains(&part) || OTHERS.contains(&part);
    let is_digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    parts.next().is_some_and(is_first)
        && parts.all(|part| [NUMBER, JSON].contains(&part) || is_digits(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_json_name_says_its_key_and_how() {
        for key in ["", "a", "@", "a@b", "@@null", "[x]", "nul\0", "@type", "a@null", "é@"] {
            for how in [None, Some(NULL), Some("list-json"), Some("int-12"), Some("text")] {
                let name = json_name(key, how);
                assert!(!name.contains('\0') && !name.starts_with('['), "{name}");
                assert_eq!(parse_json_name(&name), (key.to_owned(), how), "{name}");
            }
        }
    }
}
