//! What a model holds, line by line, for whoever wants to see it before it is handed around.
//! A dictionary is handed around, and what it holds may be somebody's.

use std::mem;

use super::model::{Affixes, Model, Variant};

/// One thing that a model holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Content {
    /// The path from the root, which is `$`; `[]` stands for the elements of an array, `[0]` for
    /// the first of a tuple.
    pub path: String,
    /// `path`, `constant`, `text`, `number`, `hex`, `object`, `array` or `tuple`.
    pub kind: &'static str,
    /// What stands there: the text of a constant, the keys of an object, what stands around a text.
    pub text: String,
}

impl Model {
    /// Everything in the model, in the order of the format: a line for each path, and then one for
    /// each way in which a value there is written.
    pub fn contents(&self) -> Vec<Content> {
        let mut contents = Vec::new();
        let mut paths = vec![String::new(); self.slots.len()];
        paths[0].push('$');
        for id in self.in_order() {
            let path = mem::take(&mut paths[id as usize]);
            let slot = &self.slots[id as usize];
            let content = |kind, text| Content { path: path.clone(), kind, text };
            contents.push(content("path", String::new()));
            for variant in &slot.variants {
                let (kind, text) = match variant {
                    Variant::Constant(text) => ("constant", readable(text)),
                    Variant::Text(affixes) => ("text", around(affixes)),
                    Variant::Number(affixes, form, base) => {
                        ("number", format!("{} {} from {base}", around(affixes), form.name()))
                    }
                    Variant::Bytes(affixes, hex) => {
                        ("hex", format!("{} {} bytes", around(affixes), hex.bytes))
                    }
                    Variant::Object(keys) => {
                        let keys: Vec<String> = keys
                            .iter()
                            .map(|&key| readable(slot.children[key as usize].key()))
                            .collect();
                        ("object", keys.join(", "))
                    }
                    Variant::Array => ("array", String::new()),
                    Variant::Tuple(length) => ("tuple", length.to_string()),
                };
                contents.push(content(kind, text));
            }
            for child in &slot.children {
                paths[child.slot as usize] = format!("{path}.{}", readable(child.key()));
            }
            for (at, &position) in slot.positions.iter().enumerate() {
                paths[position as usize] = format!("{path}[{at}]");
            }
            if let Some(element) = slot.element {
                paths[element as usize] = format!("{path}[]");
            }
        }
        contents
    }
}

fn readable(text: &[u8]) -> String {
    String::from_utf8_lossy(text).into_owned()
}

fn around(affixes: &Affixes) -> String {
    format!("{}…{}", readable(&affixes.prefix), readable(&affixes.suffix))
}
