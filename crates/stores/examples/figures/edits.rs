//! What customers do to a document, and which of its fields then differ: the fields that a
//! selective write sets, in the dotted paths of MongoDB's `$set`.
//!
//! Recorded updates were never published and the corpora have none, so that these are made: the
//! smallest change there is, one that makes a list longer, and one that moves all of a list.

use serde_json::Value;

/// A change of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Edit {
    /// One number in the middle of the longest list of objects grows by one.
    Number,
    /// The longest list of objects gets one more.
    Added,
    /// The longest list of objects loses its first.
    Removed,
}

impl Edit {
    /// All of them.
    pub const ALL: [Edit; 3] = [Edit::Number, Edit::Added, Edit::Removed];

    /// What it does, for a title.
    pub fn name(self) -> &'static str {
        match self {
            Edit::Number => "one number of one entry changes",
            Edit::Added => "an entry is added at the end",
            Edit::Removed => "the first entry is removed",
        }
    }

    /// The document after the change; `None` where it has no list of two objects or no number.
    pub fn made(self, before: &Value) -> Option<Value> {
        let mut after = before.clone();
        let list = after.pointer_mut(&longest_list(before)?)?.as_array_mut()?;
        let middle = list.len() / 2;
        match self {
            Edit::Number => grow(&mut list[middle]).then_some(())?,
            Edit::Added => {
                let mut entry = list[middle].clone();
                grow(&mut entry).then_some(())?;
                list.push(entry);
            }
            Edit::Removed => drop(list.remove(0)),
        }
        Some(after)
    }
}

/// Where the list of most objects is, as a JSON pointer.
fn longest_list(document: &Value) -> Option<String> {
    let mut longest: Option<(usize, String)> = None;
    let mut waiting = vec![(String::new(), document)];
    while let Some((path, value)) = waiting.pop() {
        match value {
            Value::Array(list) => {
                let is_longer = longest.as_ref().is_none_or(|(length, _)| list.len() > *length);
                if is_longer && list.len() > 1 && list.iter().all(Value::is_object) {
                    longest = Some((list.len(), path.clone()));
                }
                waiting.extend(list.iter().enumerate().map(|(i, v)| (format!("{path}/{i}"), v)));
            }
            Value::Object(fields) => {
                let escaped = |name: &str| name.replace('~', "~0").replace('/', "~1");
                let inner = fields.iter().map(|(n, v)| (format!("{path}/{}", escaped(n)), v));
                waiting.extend(inner);
            }
            _ => {}
        }
    }
    longest.map(|(_, path)| path)
}

/// Lets the first number in a value grow by one; false where there is none.
fn grow(value: &mut Value) -> bool {
    match value {
        Value::Number(number) => {
            let grown = match number.as_i64().and_then(|number| number.checked_add(1)) {
                Some(grown) => Value::from(grown),
                None => Value::from(number.as_f64().unwrap_or_default() + 1.0),
            };
            *value = grown;
            true
        }
        Value::Array(list) => list.iter_mut().any(grow),
        Value::Object(fields) => fields.values_mut().any(grow),
        _ => false,
    }
}

/// The fields in which two documents differ.
#[derive(Debug, Default, PartialEq)]
pub struct Changes {
    /// Paths with their new values.
    pub set: Vec<(String, Value)>,
    /// Paths that are gone.
    pub unset: Vec<String>,
}

/// The fields that lead from one value at a path to another. A list that became shorter is set as a
/// whole: no `$set` takes an element out.
pub fn changes(path: &str, before: &Value, after: &Value) -> Changes {
    let mut changes = Changes::default();
    collect(path, before, after, &mut changes);
    changes
}

fn collect(path: &str, before: &Value, after: &Value, changes: &mut Changes) {
    match (before, after) {
        (before, after) if before == after => {}
        (Value::Object(old), Value::Object(new))
            if old.keys().chain(new.keys()).all(|name| is_addressable(name)) =>
        {
            for (name, value) in new {
                let path = format!("{path}.{name}");
                match old.get(name) {
                    Some(before) => collect(&path, before, value, changes),
                    None => changes.set.push((path, value.clone())),
                }
            }
            let gone = old.keys().filter(|name| !new.contains_key(*name));
            changes.unset.extend(gone.map(|name| format!("{path}.{name}")));
        }
        (Value::Array(old), Value::Array(new)) if new.len() >= old.len() => {
            for (index, value) in new.iter().enumerate() {
                let path = format!("{path}.{index}");
                match old.get(index) {
                    Some(before) => collect(&path, before, value, changes),
                    None => changes.set.push((path, value.clone())),
                }
            }
        }
        (_, after) => changes.set.push((path.to_owned(), after.clone())),
    }
}

/// Whether a dotted path can name a field.
fn is_addressable(name: &str) -> bool {
    !name.is_empty() && !name.contains(['.', '\0']) && !name.starts_with('$')
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn cart() -> Value {
        json!({"user": "a", "a/b": {"few": [{"n": 1}, {"n": 2}]},
               "lines": [{"s": "x", "n": 1}, {"s": "y", "n": 2}, {"s": "z", "n": 3.5}]})
    }

    fn of(edit: Edit) -> Changes {
        changes("cart", &cart(), &edit.made(&cart()).unwrap())
    }

    #[test]
    fn the_smallest_edit_sets_one_field() {
        assert_eq!(of(Edit::Number).set, [("cart.lines.1.n".to_owned(), json!(3))]);
    }

    #[test]
    fn an_added_entry_is_set_behind_the_last() {
        let added = json!({"s": "y", "n": 3});
        assert_eq!(of(Edit::Added).set, [("cart.lines.3".to_owned(), added)]);
    }

    #[test]
    fn a_removed_entry_sets_the_whole_list() {
        let left = json!([{"s": "y", "n": 2}, {"s": "z", "n": 3.5}]);
        assert_eq!(of(Edit::Removed).set, [("cart.lines".to_owned(), left)]);
    }

    #[test]
    fn fields_that_come_go_or_have_no_path_are_told() {
        let got = changes("c", &json!({"a": 1, "b": 2}), &json!({"b": 2, "d": {"e": 1}}));
        let expected = Changes {
            set: vec![("c.d".to_owned(), json!({"e": 1}))],
            unset: vec!["c.a".to_owned()],
        };
        assert_eq!(got, expected);
        // A dot in a name is no step of a path, and neither is a sign before an operator.
        for name in ["a.b", "$a", ""] {
            let (before, after) = (json!({"x": {name: 1}}), json!({"x": {name: 2}}));
            let got = changes("c", &before, &after);
            assert_eq!(got.set, [("c.x".to_owned(), json!({name: 2}))], "{name}");
        }
        assert_eq!(changes("c", &cart(), &cart()), Changes::default());
    }

    #[test]
    fn what_has_no_list_of_objects_is_not_edited() {
        for document in [json!({"a": [1, 2, 3]}), json!([{"a": 1}]), json!(7)] {
            assert!(Edit::ALL.iter().all(|edit| edit.made(&document).is_none()), "{document}");
        }
        assert_eq!(Edit::Number.made(&json!([{"a": "b"}, {"a": "c"}])), None);
    }
}
