//! `cinch inspect` of a dictionary: what it says of itself, and with `--contents` all that it
//! holds, with how many entities had it, so that its owner sees what would be handed around.

use std::fmt::Write;

use cinch_core::dictionary::Dictionary;
use serde::Serialize;
use serde_json::value::RawValue;

use crate::failure::Failure;

#[derive(Debug, Serialize)]
struct Shown<'a> {
    name: &'a str,
    form: &'static str,
    bytes: usize,
    id: String,
    sha256: String,
    codec_bytes: usize,
    has_model: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    contents: Option<Vec<Line>>,
}

/// One thing in a dictionary.
#[derive(Debug, Serialize)]
struct Line {
    /// How many entities had it; nothing where the file does not say.
    entities: Option<u32>,
    /// Where: `codec`, or a path of the model.
    place: String,
    kind: &'static str,
    text: String,
}

/// A dictionary file for people or machines.
pub fn shown(
    name: &str,
    value: Vec<u8>,
    with_contents: bool,
    as_json: bool,
) -> Result<String, Failure> {
    let dictionary = Dictionary::new(value)
        .map_err(|error| Failure::Dictionary { path: name.to_owned(), error })?;
    let shown = Shown {
        name,
        form: "dictionary",
        bytes: dictionary.bytes().len(),
        id: format!("{:#010x}", dictionary.id()),
        sha256: dictionary.sha256().iter().map(|byte| format!("{byte:02x}")).collect(),
        codec_bytes: dictionary.codec_bytes().len(),
        has_model: dictionary.model().is_some(),
        description: dictionary.description().and_then(|text| serde_json::from_str(text).ok()),
        contents: with_contents.then(|| contents(&dictionary)),
    };
    if as_json {
        return Ok(serde_json::to_string(&shown).unwrap_or_default() + "\n");
    }
    Ok(for_people(&shown))
}

fn contents(dictionary: &Dictionary) -> Vec<Line> {
    let mut lines = Vec::new();
    let evidence = dictionary.evidence();
    if let Some(model) = dictionary.model() {
        let counts = evidence.map_or(&[][..], |evidence| &evidence.model);
        for (at, content) in model.contents().into_iter().enumerate() {
            lines.push(Line {
                entities: counts.get(at).copied(),
                place: content.path,
                kind: content.kind,
                text: content.text,
            });
        }
    }
    let codec = dictionary.codec_bytes();
    let segments = evidence.map_or(&[][..], |evidence| &evidence.segments);
    let told: usize = segments.iter().map(|&(bytes, _)| bytes as usize).sum();
    let mut rest = &codec[codec.len().saturating_sub(told)..];
    if told == 0 || told > codec.len() {
        lines.push(Line {
            entities: None,
            place: "codec".to_owned(),
            kind: "all",
            text: readable(codec),
        });
        return lines;
    }
    for &(bytes, entities) in segments {
        let (segment, after) = rest.split_at(bytes as usize);
        rest = after;
        // What only stands between two texts was had by nobody.
        let entities = Some(entities).filter(|&entities| entities > 0);
        let kind = if entities.is_some() { "text" } else { "gap" };
        let place = "codec".to_owned();
        lines.push(Line { entities, place, kind, text: readable(segment) });
    }
    lines
}

/// Bytes as text; what is no printable ASCII or UTF-8 as `\xNN`.
fn readable(bytes: &[u8]) -> String {
    let mut text = String::new();
    for chunk in bytes.utf8_chunks() {
        for character in chunk.valid().chars() {
            if character.is_control() {
                let mut utf8 = [0; 4];
                for byte in character.encode_utf8(&mut utf8).bytes() {
                    let _ = write!(text, "\\x{byte:02x}");
                }
            } else {
                text.push(character);
            }
        }
        for byte in chunk.invalid() {
            let _ = write!(text, "\\x{byte:02x}");
        }
    }
    text
}

fn for_people(shown: &Shown<'_>) -> String {
    let mut text = format!("{}\n", shown.name);
    let mut line = |name: &str, value: String| text.push_str(&format!("  {name:<12} {value}\n"));
    line("form", shown.form.to_owned());
    line("bytes", shown.bytes.to_string());
    line("id", shown.id.clone());
    line("sha256", shown.sha256.clone());
    line("codec part", format!("{} bytes", shown.codec_bytes));
    line("model", if shown.has_model { "columnar" } else { "none" }.to_owned());
    if let Some(description) = shown.description {
        line("description", description.get().to_owned());
    }
    if let Some(contents) = &shown.contents {
        text.push_str("\n  entities  what\n");
        for line in contents {
            let entities = line.entities.map_or("?".to_owned(), |entities| entities.to_string());
            let entities = if line.kind == "gap" { "-".to_owned() } else { entities };
            let Line { place, kind, text: what, .. } = line;
            text.push_str(&format!("  {entities:>8}  {place} {kind} {what}\n"));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_can_not_be_printed_is_spelled() {
        assert_eq!(readable(b"a\xff\n\"z\xc3\xa4"), "a\\xff\\x0a\"z\u{e4}");
    }
}
