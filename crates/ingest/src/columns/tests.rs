//! Columns come back as the text that they were made of, whatever it is; and what nobody wrote is
//! an error within the room that was announced.

use proptest::prelude::*;

use super::*;

/// The columns of a text as one, if it has them.
fn columns(text: &[u8]) -> Option<Vec<u8>> {
    let mut writer = ColumnsWriter::default();
    writer.write(text).map(|parts| parts.concat())
}

/// The columns of a text in the form of lines, whether they come back or not.
fn lines(text: &[u8]) -> Vec<u8> {
    let mut writer = ColumnsWriter::default();
    writer.write_lines(text).expect("any text comes back from its lines");
    writer.content
}

#[track_caller]
fn text_of(content: &[u8], bytes: usize) -> Vec<u8> {
    let mut text = Vec::new();
    read_columns(content, bytes, &mut text).unwrap();
    text
}

const LOG: &str = "\
2026-11-21 09:00:01,007 INFO [worker-3] took block blk_-16089 of 10.0.0.7 in 12 ms
2026-11-21 09:00:01,910 INFO [worker-3] took block blk_98 of 10.0.0.7 in 7 ms
2026-11-21 09:00:02,000 WARN [worker-12] request 550e8400-e29b-41d4-a716-446655440000 failed
";

#[test]
fn lines_of_one_statement_share_a_template_and_the_time_is_one_column_of_all() {
    let content = lines(LOG.as_bytes());
    let structure = String::from_utf8_lossy(&content);
    let took = "\\x01-\\x01-\\x01 \\x01:\\x01:\\x01,\\x01 INFO [worker-\\x01] took block blk_\
                -\\x01 of \\x02 in \\x01 ms\\n";
    let took = took.replace("\\x01", "\u{1}").replace("\\x02", "\u{2}").replace("\\n", "\n");
    assert_eq!(structure.matches(&took).count(), 1, "{structure:?}");
    assert!(structure.contains("request \u{2} failed\n"), "{structure:?}");
    // Seven numbers of the time, then 5 and 4 and 2 of what the three templates do not share.
    let mut columns = super::lines::Columns::default();
    let mut of = Vec::new();
    let template = took.trim_end();
    columns.of(template.as_bytes(), &mut of).unwrap();
    let shared = of.clone();
    of.clear();
    columns.of(template.replace("INFO", "WARN").as_bytes(), &mut of).unwrap();
    assert_eq!(of[..7], shared[..7]);
    assert_ne!(of[7], shared[7]);
}

#[test]
fn objects_come_back_with_both_ways_to_write_commas() {
    for text in [
        "{\"a\":1,\"b\":\"x,{\"}\n{\"a\":2,\"b\":\"\\\"],\"}\n",
        "{\"a\": 1, \"b\": [1, 2]}\n{\"a\": 2, \"b\": []}\n",
        "{\"a\":1}\n{\"a\":2}",
    ] {
        let content = columns(text.as_bytes()).unwrap();
        assert_ne!(content[0], LINES, "{text}");
        assert_eq!(text_of(&content, text.len()), text.as_bytes());
    }
}

#[test]
fn what_looks_like_objects_and_is_none_comes_back_as_lines() {
    for text in ["{\"a\":1},{\"a\":2}\n{}\n", "{\"a\":1}\n{\"a\"}\n", "{ }\n{\"a\":1,  \"b\":2}\n"]
    {
        let content = columns(text.as_bytes()).unwrap();
        assert_eq!(content[0], LINES, "{text}");
        assert_eq!(text_of(&content, text.len()), text.as_bytes());
    }
}

#[test]
fn few_bytes_do_not_announce_many() {
    // A million lines of a template that has a thousand marks, each of one text of a table.
    let mut structure = vec![];
    varint::write(1_000_000, &mut structure);
    structure.extend_from_slice(&[1, 1]);
    structure.extend_from_slice(&[2; 1_000]);
    structure.push(b'\n');
    (0..1_000).for_each(|_| structure.extend_from_slice(&[1, 1]));
    let numbers = vec![0; 1_000_000];
    let mut content = vec![LINES];
    varint::write(structure.len() as u64, &mut content);
    varint::write(numbers.len() as u64, &mut content);
    content.extend_from_slice(&structure);
    content.extend_from_slice(&numbers);
    content.extend_from_slice(&b"x\n".repeat(1_000));
    let mut text = Vec::new();
    let result = read_columns(&content, 2_000_000, &mut text);
    assert_eq!(result, Err(ColumnsError::Damaged("more than the text has bytes")));
    assert!(text.capacity() <= 2_000_000);
}

/// Lines as programs write them, and as nobody does.
fn texts() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        4 => "[a-c]{1,2}[0-9]{0,3}",
        3 => "[0-9]{1,21}",
        2 => "0{0,4}[0-9]{1,3}",
        1 => "[0-9]{1,3}\\.[0-9]{1,3}\\.[0-9]{1,3}\\.[0-9]{1,3}",
        1 => "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}",
        1 => "[\u{1}\u{2}\u{0}\r\\-: ]{1,2}",
        1 => "[{}\\[\\]\",:é]{1,4}",
        2 => Just(" user=".to_owned()),
        3 => Just("\n".to_owned()),
    ];
    prop::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat().into_bytes())
}

proptest! {
    #[test]
    fn any_text_comes_back_from_its_columns(text in texts()) {
        prop_assert_eq!(text_of(&lines(&text), text.len()), text.clone());
        if let Some(content) = columns(&text) {
            prop_assert_eq!(text_of(&content, text.len()), text);
        }
    }

    #[test]
    fn any_bytes_come_back_from_their_columns(text in prop::collection::vec(any::<u8>(), 0..200)) {
        prop_assert_eq!(text_of(&lines(&text), text.len()), text);
    }

    #[test]
    fn changed_and_cut_columns_are_errors_or_texts_of_the_announced_length(
        text in texts(),
        json in any::<bool>(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
        cut in any::<prop::sample::Index>(),
        bytes in 0..2_000usize,
    ) {
        let objects = b"{\"a\":1,\"b\":\"x\"}\n{\"a\":2,\"b\":\"y\"}\n{\"a\":3,\"b\":\"x\"}\n";
        let mut content = if json { columns(objects).unwrap() } else { lines(&text) };
        for (at, byte) in changes {
            let at = at.index(content.len());
            content[at] = byte;
        }
        for content in [&content[..], &content[..cut.index(content.len())]] {
            for announced in [text.len(), objects.len(), bytes] {
                let mut out = Vec::new();
                if read_columns(content, announced, &mut out).is_ok() {
                    prop_assert_eq!(out.len(), announced);
                }
                let room = 4 * (announced + content.len()) + 4_096;
                prop_assert!(out.capacity() <= room, "{} for {announced}", out.capacity());
            }
        }
    }
}
