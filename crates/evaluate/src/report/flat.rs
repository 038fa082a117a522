//! A part of the model as a flat list of paths and values, in the order of its fields.
//!
//! `serde_json::Value` would sort the fields by name; columns belong in the order in which the
//! model explains them.

use std::fmt;

use serde::Serialize;
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

/// A value at the end of a path.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Leaf {
    /// A number, a truth, or nothing: as it is written.
    Figure(String),
    /// Text, from a user or not.
    Text(String),
}

enum Node {
    Leaf(Leaf),
    Fields(Vec<(String, Node)>),
}

/// Every value with its path, the parts of a path joined with dots.
pub(super) fn flattened(of: &impl Serialize) -> Vec<(String, Leaf)> {
    let text = serde_json::to_string(of).expect("the model has only named fields");
    let node: Node = serde_json::from_str(&text).expect("what was just written reads back");
    let mut leaves = Vec::new();
    collect(node, "", &mut leaves);
    leaves
}

fn collect(node: Node, path: &str, leaves: &mut Vec<(String, Leaf)>) {
    match node {
        Node::Leaf(leaf) => leaves.push((path.to_owned(), leaf)),
        Node::Fields(fields) => {
            for (name, node) in fields {
                let path = if path.is_empty() { name } else { format!("{path}.{name}") };
                collect(node, &path, leaves);
            }
        }
    }
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Node, D::Error> {
        deserializer.deserialize_any(Reader)
    }
}

struct Reader;

fn figure<E>(value: impl fmt::Display) -> Result<Node, E> {
    Ok(Node::Leaf(Leaf::Figure(value.to_string())))
}

impl<'de> Visitor<'de> for Reader {
    type Value = Node;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("any JSON")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Node, E> {
        figure(value)
    }

    fn visit_i64<E>(self, value: i64) -> Result<Node, E> {
        figure(value)
    }

    fn visit_u64<E>(self, value: u64) -> Result<Node, E> {
        figure(value)
    }

    fn visit_f64<E>(self, value: f64) -> Result<Node, E> {
        figure(value)
    }

    fn visit_str<E>(self, text: &str) -> Result<Node, E> {
        Ok(Node::Leaf(Leaf::Text(text.to_owned())))
    }

    fn visit_unit<E>(self) -> Result<Node, E> {
        figure("")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Node, A::Error> {
        let mut fields = Vec::new();
        while let Some(node) = list.next_element()? {
            fields.push((fields.len().to_string(), node));
        }
        Ok(Node::Fields(fields))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Node, A::Error> {
        let mut fields = Vec::new();
        while let Some(field) = map.next_entry()? {
            fields.push(field);
        }
        Ok(Node::Fields(fields))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_keep_their_order_and_their_paths() {
        let text = r#"{"b": {"z": 1, "a": [0.5, "x"]}, "a": null, "c": true}"#;
        let node: Node = serde_json::from_str(text).unwrap();
        let mut leaves = Vec::new();
        collect(node, "", &mut leaves);
        let figure = |path: &str, text: &str| (path.to_owned(), Leaf::Figure(text.to_owned()));
        let expected = [
            figure("b.z", "1"),
            figure("b.a.0", "0.5"),
            ("b.a.1".to_owned(), Leaf::Text("x".to_owned())),
            figure("a", ""),
            figure("c", "true"),
        ];
        assert_eq!(leaves, expected);
    }
}
