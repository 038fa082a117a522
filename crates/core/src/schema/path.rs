//! Where a value stands in a payload, as people write it: `$.trips[3].fare`.
//!
//! Encoders know nodes; a path is made only when a payload is refused, and then from the root.

use crate::document::{Document, Node};

/// The most bytes of a path; what is longer ends with dots.
const PATH_BYTES_MAX: usize = 256;

/// The path of the value that starts with this node.
pub(crate) fn path_of(document: &Document, target: usize) -> String {
    let mut path = "$".to_owned();
    let mut at = 0;
    while at < target && path.len() < PATH_BYTES_MAX {
        match document.nodes()[at] {
            Node::Object { .. } => {
                let mut key = at + 1;
                while document.end_of(key + 1) <= target {
                    key = document.end_of(key + 1);
                }
                let Node::String(span) = document.nodes()[key] else { break };
                append_key(&mut path, &String::from_utf8_lossy(document.bytes(span)));
                if target == key {
                    break;
                }
                at = key + 1;
            }
            Node::Array { .. } => {
                let (mut element, mut index) = (at + 1, 0);
                while document.end_of(element) <= target {
                    element = document.end_of(element);
                    index += 1;
                }
                path.push_str(&format!("[{index}]"));
                at = element;
            }
            _ => break,
        }
    }
    if path.len() > PATH_BYTES_MAX {
        path.truncate(path.floor_char_boundary(PATH_BYTES_MAX));
        path.push_str("...");
    }
    path
}

fn append_key(path: &mut String, key: &str) {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '$';
    if !key.is_empty() && key.chars().all(is_plain) {
        path.push('.');
        path.push_str(key);
    } else {
        path.push_str(&format!("[{key:?}]"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encoding::Parser;
    use crate::json;

    #[test]
    fn a_path_names_keys_and_places() {
        let mut document = Document::new();
        let text = br#"{"a":{"x":1},"b c":[[],{"d":7}],"e":[]}"#;
        json::parse(Parser::Ordinary, text, &mut document).unwrap();
        let paths: Vec<String> =
            (0..document.nodes().len()).map(|node| path_of(&document, node)).collect();
        assert_eq!(paths[0], "$");
        let seven = document.nodes().iter().position(|node| *node == Node::Int(7)).unwrap();
        assert_eq!(paths[seven], r#"$["b c"][1].d"#);
        assert_eq!(paths[2], "$.a");
        assert_eq!(paths[4], "$.a.x");
        assert_eq!(paths[document.nodes().len() - 1], "$.e");
    }
}
