//! What is too long, too deep or made to be slow: exact or refused, in bounded memory and in linear
//! time.
//!
//! Nothing large is held: sources are generated while they are read, and what the reader asks for
//! shows how much it holds. A quadratic reader would not end within the patience of a test run.

use super::*;
use cinch_core::limits::NESTING_DEPTH_MAX;

const GIGABYTE: u64 = 1 << 30;

fn small(format: Format) -> ReadOptions {
    ReadOptions { format, payload_bytes_max: 1 << 20, ..ReadOptions::default() }
}

fn between<'a>(before: &'a str, unit: &'a [u8], bytes: u64, after: &'a str) -> impl Read + 'a {
    before.as_bytes().chain(Repeat::new(unit, bytes)).chain(after.as_bytes())
}

#[test]
fn a_line_of_a_gigabyte_is_passed_over() {
    let mut source = between("{\"a\":1}\n{\"a\":\"", b"x", GIGABYTE, "\"}\n{\"a\":3}\n");
    let corpus = read_from(&mut source, &small(Format::Json)).unwrap();
    assert_eq!(listed(&corpus), ["1: {\"a\":1}", "3: {\"a\":3}"]);
    assert_eq!(problem_lines(&corpus.problems), [2]);
    assert_eq!(corpus.problems.first[0].reason, "longer than the limit of 1048576 bytes");

    let mut source = between("one\n", b"x", GIGABYTE, "\nthree\n");
    let corpus = read_from(&mut source, &small(Format::Lines)).unwrap();
    assert_eq!(listed(&corpus), ["1: one", "3: three"]);
    assert_eq!(problem_lines(&corpus.problems), [2]);
}

#[test]
fn no_more_than_the_limit_and_a_read_is_held() {
    for unit in [&b"x"[..], b"{\"a\":", b"[1,", b"7", b"\"x\","] {
        let mut counted = 0;
        let mut source = between("[1]\n[", unit, 50 << 20, "\n[3]\n");
        let mut window = Window::new(Box::new(&mut source), Packing::None, 1 << 20);
        let options = small(Format::Json);
        let mut report = |progress: Progress| {
            counted = progress.bytes;
            ControlFlow::Continue(())
        };
        let sampler = Sampler::new(1, None, 1 << 30);
        let mut sink = Sink::new(&options, 1 << 20, sampler, Meter::new(&mut report, 1));
        values::read(&mut window, &mut sink);
        let held = window.buffer_bytes();
        assert!(held <= (1 << 20) + 2 * window::CHUNK_BYTES, "{held}");
        drop(sink);
        assert!(counted > 49 << 20);
    }
}

#[test]
fn the_limit_is_exact() {
    let options = ReadOptions { payload_bytes_max: 10, ..json_options() };
    let (payloads, problems) = outcome(
        b"\"12345678\"\n\"123456789\"\n[\n123456\n]\n[\n12345678]\n7\n12345678901",
        &options,
    );
    assert_eq!(payloads, ["1: \"12345678\"", "3: [\n123456\n]", "8: 7"]);
    assert_eq!(problems, [2, 6, 9]);
    let options = ReadOptions { format: Format::Lines, ..options };
    let (payloads, problems) = outcome(b"1234567890\r\n12345678901\n1234567890", &options);
    assert_eq!(payloads, ["1: 1234567890", "3: 1234567890"]);
    assert_eq!(problems, [2]);
    let options = ReadOptions { format: Format::Binary, ..options };
    assert_eq!(outcome(b"1234567890", &options).0.len(), 1);
    assert_eq!(outcome(b"12345678901", &options), (vec![], vec![0]));
}

#[test]
fn elements_of_an_array_longer_than_any_limit_are_a_stream() {
    let options =
        ReadOptions { split: true, sample: Some(10), sample_bytes_max: 1 << 20, ..json_options() };
    let options = ReadOptions { payload_bytes_max: 100, ..options };
    let mut source = between("[", b"{\"a\":[1,2]},\n", 13 * 2_000_000, "7]");
    let corpus = read_from(&mut source, &options).unwrap();
    assert_eq!((corpus.seen, corpus.payloads.len(), corpus.problems.count), (2_000_001, 10, 0));

    let mut source = between("[", b"{\"a\":[1,2]},\n", 13 * 1_000, "7]");
    let whole = ReadOptions { split: false, ..options };
    let error = read_from(&mut source, &whole).unwrap_err().to_string();
    assert!(error.contains("split"), "{error}");
}

#[test]
fn nesting() {
    let deep = |levels: usize| "[".repeat(levels) + &"]".repeat(levels);
    let objects = "{\"a\":".repeat(100_000) + "1" + &"}".repeat(100_000);
    for text in [deep(100_000), objects, deep(100_000).replace('[', "[\n")] {
        let (payloads, problems) = json_of(&format!("{text}\n{{}}\n"));
        assert_eq!(payloads.len(), 2);
        assert_eq!(payloads[0], format!("1: {text}"));
        assert!(problems.is_empty());
    }
    let too_deep = deep(NESTING_DEPTH_MAX + 1);
    let corpus = read_with(format!("1\n{too_deep}\n3\n").as_bytes(), &json_options()).unwrap();
    assert_eq!(listed(&corpus), ["1: 1", "3: 3"]);
    assert_eq!(problem_lines(&corpus.problems), [2]);
    assert!(corpus.problems.first[0].reason.contains("deeper"), "{}", corpus.problems);
}

#[test]
fn inputs_that_are_made_to_be_slow_are_read_in_linear_time() {
    let units: [&[u8]; 12] = [
        b"[\n",
        b"[",
        b"{\"a\":\n",
        b"{\"a\":",
        b"{}",
        b"\"",
        b"1 ",
        b"[1,\n[2]\n",
        b"[1,\n",
        b"\\",
        b"{\"a\":\"\n",
        b"\x1e[",
    ];
    for unit in units {
        for split in [false, true] {
            let options = ReadOptions { split, sample: Some(10), ..small(Format::Json) };
            let mut source = between("{}\n", unit, 3 << 20, "\n{}\n");
            let corpus = read_from(&mut source, &options).unwrap();
            assert!(corpus.seen >= 1);
        }
    }
}
