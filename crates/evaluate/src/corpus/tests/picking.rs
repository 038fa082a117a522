//! Members, samples and corpora from memory.
//!
//! What is kept must be the same for the same seed, and in the order of the source.

use super::*;

fn field(path: &str) -> ReadOptions {
    ReadOptions { field: Some(FieldPath::parse(path).unwrap()), ..json_options() }
}

#[test]
fn a_member_is_the_payload() {
    let text = b"{\"c\":{\"x\" : [1.0]}}\n{\"d\":1}\n{\"c\":\"{\\\"y\\\":\\\"\\u00e9\\\"} \"}\n\
        {\"c\":\"plain\"}\n{\"c\":\"{bad\"}\n{\"c\":7,\"c\":8}\n";
    let corpus = read_with(text, &field("c")).unwrap();
    let expected =
        ["1: {\"x\" : [1.0]}", "3: {\"y\":\"é\"}", "4: \"plain\"", "5: \"{bad\"", "6: 7"];
    assert_eq!(listed(&corpus), expected);
    assert!(corpus.payloads.iter().all(|payload| payload.is_json));
    assert_eq!(problem_lines(&corpus.problems), [2]);
    assert_eq!(corpus.problems.first[0].reason, "has no member c");
}

#[test]
fn a_member_of_elements_and_of_lines() {
    let options = ReadOptions { split: true, ..field("a.1") };
    let (payloads, problems) = outcome(b"[{\"a\":[1,2]},{\"a\":[1]}]", &options);
    assert_eq!((payloads, problems), (vec!["1: 2".to_owned()], vec![1]));
    let options = ReadOptions { format: Format::Lines, ..field("a") };
    let (payloads, problems) = outcome(b"text\n{\"a\":\"lone \\ud800\"}\n", &options);
    assert_eq!(payloads, ["2: \"lone \\ud800\""]);
    assert_eq!(problems, [1]);
}

#[test]
fn a_sample_is_bounded_and_in_order() {
    let text: String = (0..5_000).map(|number| format!("{number}\n")).collect();
    let options = ReadOptions { sample: Some(100), ..json_options() };
    let corpus = read_with(text.as_bytes(), &options).unwrap();
    assert_eq!((corpus.seen, corpus.seen_bytes, corpus.payloads.len()), (5_000, 18_890, 100));
    assert!(corpus.payloads.is_sorted_by_key(|payload| payload.origin.line));
    for (index, payload) in corpus.payloads.iter().enumerate() {
        let line = payload.origin.line;
        assert_eq!(*payload.bytes, *(line - 1).to_string().as_bytes());
        assert_eq!(corpus.describe(index), format!("-:{line}"));
    }
    let again = read_with(text.as_bytes(), &options).unwrap();
    assert_eq!(corpus.payloads, again.payloads);
    let bounded = ReadOptions { sample_bytes_max: 20_000, ..json_options() };
    let corpus = read_with(text.as_bytes(), &bounded).unwrap();
    assert!((200..300).contains(&corpus.payloads.len()), "{}", corpus.payloads.len());
}

#[test]
fn duplicates_are_counted_among_what_is_kept() {
    let corpus = read_with(b"1\n2\n1\n1\n[1]\n[1]\n[ 1]\n", &json_options()).unwrap();
    assert_eq!((corpus.payloads.len(), corpus.duplicates), (7, 3));
}

#[test]
fn a_corpus_from_memory() {
    let payloads = [&b"{}"[..], b"{", b"{}", b"\xFF"].map(<[u8]>::to_vec);
    let corpus = Corpus::from_payloads("made", payloads);
    assert_eq!((corpus.seen, corpus.seen_bytes, corpus.total_bytes()), (4, 6, 6));
    assert_eq!(corpus.duplicates, 1);
    assert_eq!(corpus.describe(3), "made:4");
    let json: Vec<bool> = corpus.payloads.iter().map(|payload| payload.is_json).collect();
    assert_eq!(json, [true, false, true, false]);
}

#[test]
fn a_stop_keeps_what_was_read() {
    let mut source = Repeat::new(b"{\"a\":1}\n", 1 << 40);
    let mut calls = 0;
    let corpus = read(&["-".to_owned()], &mut source, &ReadOptions::default(), &mut |progress| {
        calls += 1;
        assert_eq!((progress.files_done, progress.files_total), (0, 1));
        if calls == 3 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })
    .unwrap();
    assert_eq!(calls, 3);
    assert!(corpus.seen > 100_000 && corpus.seen < 1 << 20, "{}", corpus.seen);
    assert_eq!(corpus.problems.count, 0);
}
