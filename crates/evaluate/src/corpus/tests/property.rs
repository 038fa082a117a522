//! Properties that hold for any source: every layout gives the payloads back, and how a source is
//! cut into reads changes nothing.
//!
//! Values are made as text, so that number texts and duplicate keys are part of what is tested.

use super::*;
use proptest::prelude::*;
use proptest::sample::Index;

/// The text of any JSON value, with white space inside it.
fn value() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("null".to_owned()),
        Just("true".to_owned()),
        "-?(0|[1-9][0-9]{0,3})(\\.[0-9]{1,2})?([eE][+-]?[0-9])?",
        "\"([a-z{}\\[\\],: é]|\\\\[\"\\\\n/]|\\\\u00e9){0,6}\"",
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        let space = prop_oneof![Just(""), Just(" "), Just("\n  "), Just("\r\n\t")];
        let pair =
            ("\"[ab\\[{]{0,2}\"", inner.clone()).prop_map(|(key, value)| format!("{key}:{value}"));
        prop_oneof![
            (proptest::collection::vec(inner, 0..4), space.clone())
                .prop_map(|(items, space)| format!("[{}]", items.join(&format!(",{space}")))),
            (proptest::collection::vec(pair, 0..4), space).prop_map(|(pairs, space)| format!(
                "{{{space}{}}}",
                pairs.join(&format!("{space},"))
            )),
        ]
    })
}

fn separator() -> impl Strategy<Value = &'static str> {
    prop_oneof![
        Just("\n"),
        Just("\n"),
        Just("\n"),
        Just("\r\n"),
        Just(" "),
        Just(""),
        Just("\n\n \t"),
        Just("\n\x1e"),
        Just("\x1e"),
    ]
}

/// Values and the text that they are laid out in. Two words need something between them.
fn laid_out() -> impl Strategy<Value = (Vec<String>, String)> {
    proptest::collection::vec((value(), separator()), 0..12).prop_map(|items| {
        let mut text = String::new();
        for (value, separator) in &items {
            let is_word = |c: char| !"{}[]\"".contains(c) && !c.is_whitespace() && c != '\x1e';
            if text.ends_with(is_word) && value.starts_with(is_word) {
                text.push(' ');
            }
            text.push_str(value);
            text.push_str(separator);
        }
        (items.into_iter().map(|(value, _)| value).collect(), text)
    })
}

fn texts(payloads: &[String]) -> Vec<&str> {
    payloads.iter().map(|payload| payload.split_once(": ").unwrap().1).collect()
}

fn outcome_of(source: &mut dyn Read, options: &ReadOptions) -> (Vec<Payload>, Problems) {
    match read_from(source, options) {
        Ok(corpus) => (corpus.payloads, corpus.problems),
        Err(CorpusError::NoPayloads { problems, .. }) => (Vec::new(), problems),
        Err(error) => panic!("{error}"),
    }
}

proptest! {
    #[test]
    fn any_layout_gives_the_values_back((values, text) in laid_out()) {
        let (payloads, problems) = json_of(&text);
        prop_assert_eq!(texts(&payloads), values.clone());
        prop_assert!(problems.is_empty() || values.is_empty());
        for payload in &payloads {
            let (line, value) = payload.split_once(": ").unwrap();
            let rest = text.split_inclusive('\n').skip(line.parse::<usize>().unwrap() - 1);
            prop_assert!(rest.collect::<String>().contains(value));
        }
    }

    #[test]
    fn any_array_gives_its_elements_back(
        values in proptest::collection::vec(value(), 0..8),
        separator in "[ \n]{0,2},[ \n]{0,2}",
    ) {
        let text = format!("[{}]\n", values.join(&separator));
        let (payloads, problems) =
            outcome(text.as_bytes(), &ReadOptions { split: true, ..json_options() });
        prop_assert_eq!(texts(&payloads), values);
        prop_assert!(problems.is_empty());
    }

    /// Any text, mostly damaged: reads of every size see the same.
    #[test]
    fn reads_of_any_size_see_the_same(
        (_, text) in laid_out(),
        damage in proptest::collection::vec((any::<Index>(), "[{}\\[\\]\",:x\n1é]"), 0..4),
        at_once in 1usize..9,
        split: bool,
        is_lines: bool,
        payload_bytes_max in prop_oneof![Just(1usize << 20), 1usize..40],
    ) {
        let mut bytes = text.into_bytes();
        for (at, inserted) in damage {
            let at = at.index(bytes.len() + 1);
            bytes.splice(at..at, inserted.bytes());
        }
        let format = if is_lines { Format::Lines } else { Format::Json };
        let options = ReadOptions { format, split, payload_bytes_max, ..ReadOptions::default() };
        let whole = outcome_of(&mut &bytes[..], &options);
        let dribbled = outcome_of(&mut Dribble { rest: &bytes, at_once }, &options);
        prop_assert_eq!(whole.0, dribbled.0);
        prop_assert_eq!(whole.1.count, dribbled.1.count);
    }

    /// Whatever the bytes, what comes out is JSON, and nothing panics.
    #[test]
    fn any_bytes_are_read(bytes in proptest::collection::vec(any::<u8>(), 0..200), split: bool) {
        let options = ReadOptions { split, ..json_options() };
        for payload in outcome_of(&mut &bytes[..], &options).0 {
            let mut document = Document::new();
            prop_assert!(json::parse(Parser::Ordinary, &payload.bytes, &mut document).is_ok());
        }
        let auto = ReadOptions { split, ..ReadOptions::default() };
        outcome_of(&mut &bytes[..], &auto);
    }
}
