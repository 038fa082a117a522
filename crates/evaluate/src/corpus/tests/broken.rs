//! Damage of every kind: it is counted with its line, and costs no payload around it.
//!
//! Where a bad value could be read as something else, nothing is made up from its parts.

use super::*;

#[test]
fn a_bad_line_costs_itself_only() {
    for bad in [
        "{\"a\":1,}",
        "{\"a\":{\"b\":1}",
        "{\"a\":[1,2,",
        "{\"a\":\"x",
        "{\"a\":\"x\"y\"}",
        "}",
        "plain text, 5",
        "12 monkeys",
        "true story {}",
        "{\"a\":2},",
        "{\"a\":2}]",
        "'a'",
        "NaN",
        "01",
        "\"tab\there\"",
        "{\"a\":tru}",
        "{\"a\" 1}",
        "[",
    ] {
        let text = format!("{{\"n\":1}}\n{bad}\n{{\"n\":3}}\n4\n{{\"n\":5}}\n");
        let (payloads, problems) = json_of(&text);
        assert_eq!(payloads, ["1: {\"n\":1}", "3: {\"n\":3}", "4: 4", "5: {\"n\":5}"], "{bad}");
        assert_eq!(problems, [2], "{bad}");
    }
}

#[test]
fn a_bad_first_line_costs_itself_only() {
    for bad in ["{\"a\":1,}", "{\"a\":{\"b\":1}", "oops", "{\"a\":\"x", "}"] {
        let (payloads, problems) = json_of(&format!("{bad}\n{{\"n\":2}}\n{{\"n\":3}}\n"));
        assert_eq!(payloads, ["2: {\"n\":2}", "3: {\"n\":3}"], "{bad}");
        assert_eq!(problems, [1], "{bad}");
    }
}

#[test]
fn invalid_utf8_is_reported_with_its_line() {
    let text = b"{\"a\":1}\n{\"a\":\"\xFF\"}\n{\"a\":3}\n";
    let corpus = read_with(text, &json_options()).unwrap();
    assert_eq!(listed(&corpus), ["1: {\"a\":1}", "3: {\"a\":3}"]);
    let problem = &corpus.problems.first[0];
    assert_eq!((problem.file.as_str(), problem.line), ("-", 2));
    assert!(problem.reason.contains("invalid UTF-8 at byte 6"), "{problem}");
}

#[test]
fn the_reason_is_the_parsers() {
    let corpus = read_with(b"{}\n{\"a\":1 \"b\":2}\n", &json_options()).unwrap();
    let reason = &corpus.problems.first[0].reason;
    let parsers = json::parse(Parser::Simd, b"{\"a\":1 \"b\":2}", &mut Document::new());
    assert_eq!(*reason, parsers.unwrap_err().to_string());
}

#[test]
fn a_bad_pretty_value_costs_itself_only() {
    let good = "{\n  \"a\": {\n    \"b\": 1\n  }\n}";
    for bad in [
        "{\n  \"a\": {\n    \"b\": x\n  },\n  \"c\": [\n    5\n  ]\n}",
        "{ \"a\": tru,\n  \"c\": [\n    5\n  ]\n}",
        "{\n  \"a\": 1,\n",
        "{\n  \"a\": 1,,\n  \"b\": \"x\"\n}",
        "{\n  \"a\": [1, {\n\n",
    ] {
        let after = 7 + bad.matches('\n').count();
        let (payloads, problems) = json_of(&format!("{good}\n{bad}\n{good}\n"));
        assert_eq!(payloads, [format!("1: {good}"), format!("{after}: {good}")], "{bad}");
        assert_eq!(problems, [6], "{bad}");
        let (payloads, problems) = json_of(&format!("{bad}\n{good}\n"));
        assert_eq!(payloads, [format!("{}: {good}", after - 5)], "{bad}");
        assert_eq!(problems, [1], "{bad}");
    }
}

#[test]
fn a_truncated_last_value_is_a_problem_with_its_line() {
    for cut in ["{\"a\":", "[1,2", "\"x", "tru", "{\"a\":\"\\"] {
        let (payloads, problems) = json_of(&format!("{{\"n\":1}}\n[2]\n{cut}"));
        assert_eq!(payloads, ["1: {\"n\":1}", "2: [2]"], "{cut}");
        assert_eq!(problems, [3], "{cut}");
    }
    // Where values are lines, what an open bracket took in is looked at again.
    let (payloads, problems) = json_of("{\"n\":1}\n[2,\n{\"n\":3},\n{\"n\":4}");
    assert_eq!(payloads, ["1: {\"n\":1}", "4: {\"n\":4}"]);
    assert_eq!(problems, [2, 3]);
    let (payloads, problems) = json_of("{\n  \"a\": 1\n}\n{\n  \"b\": [\n    {\n");
    assert_eq!(payloads, ["1: {\n  \"a\": 1\n}"]);
    assert_eq!(problems, [4]);
}

#[test]
fn text_under_a_json_name_is_problems_and_an_error_that_shows_them() {
    let error = read_with(b"hello\nthere\nnothing\nhere\n", &json_options()).unwrap_err();
    let CorpusError::NoPayloads { problems, .. } = &error else { panic!("{error}") };
    assert!(problems.count >= 1);
    let message = error.to_string();
    assert!(message.contains("-:1: ") && message.contains("format"), "{message}");
    let message = read_with(b" \n", &json_options()).unwrap_err().to_string();
    assert!(message.contains("empty"), "{message}");
}

#[test]
fn only_the_first_problems_are_kept_and_all_are_counted() {
    let text = "{}\n".to_owned() + &"bad\n".repeat(1_000);
    let corpus = read_with(text.as_bytes(), &json_options()).unwrap();
    assert_eq!((corpus.problems.count, corpus.problems.first.len()), (1_000, 20));
    assert_eq!(corpus.problems.first[19].line, 21);
    let message = corpus.problems.to_string();
    assert!(message.ends_with("and 997 more"), "{message}");
}

#[test]
fn a_bad_element_costs_itself_only() {
    let options = ReadOptions { split: true, ..json_options() };
    for (text, payloads, problems) in [
        ("[1,{\"a\":2,},3]\n4", &["1: 1", "1: 3", "2: 4"][..], &[1][..]),
        ("[\n{\"a\":1},\n{\"a\":2,},\n{\"a\":3}\n]", &["2: {\"a\":1}", "4: {\"a\":3}"], &[3]),
        (
            "[\n  {\n    \"a\": [\n      {}\n    ] x\n  },\n  {\n    \"b\": 1\n  }\n]\n5",
            &["7: {\n    \"b\": 1\n  }", "11: 5"],
            &[2],
        ),
        ("[1 2]", &["1: 1", "1: 2"], &[1]),
        ("[1,]", &["1: 1"], &[1]),
        ("[,1]", &["1: 1"], &[1]),
        ("[1,,2]", &["1: 1", "1: 2"], &[1]),
        ("[tru,2]", &["1: 2"], &[1]),
        ("[1,oops,2]", &["1: 1", "1: 2"], &[1]),
        ("[1,2", &["1: 1", "1: 2"], &[1]),
        ("[1,\n{\"a\":", &["1: 1"], &[2]),
        ("[1}\n[2]", &["1: 1", "2: 2"], &[1]),
        ("[1] x\n[2]", &["1: 1", "2: 2"], &[1]),
    ] {
        let (found, lines) = outcome(text.as_bytes(), &options);
        assert_eq!(found, payloads, "{text}");
        assert_eq!(lines, problems, "{text}");
    }
}
