//! Tests of a whole evaluation on small corpora: what it recommends, what it takes out and by which
//! rule, and that it says the same twice.
//!
//! No test asserts a time; where the winner depends on times, only what is certain is asserted.

mod recall;

use std::sync::atomic::AtomicBool;

use super::*;
use crate::candidate::parse_encodings;
use crate::goal::{GOALS, goal_named};
use crate::measure::Progress;
use crate::model::Trial;
use cinch_core::codec::CodecChoice;

struct Silent;

impl Progress for Silent {
    fn begin(&mut self, _: &str, _: u64) {}
    fn advance(&mut self, _: u64) {}
}

fn request() -> Request<'static> {
    Request {
        name: "test",
        goal: &GOALS[0],
        budgets: Vec::new(),
        baseline: None,
        wanted: Wanted::default(),
        from: TimedFrom::Text,
        beat_baseline: false,
        split_by: Some(SplitBy::Group),
        time_seconds: 1.0,
        seed: 1,
        launch: None,
        link: None,
        capacity: None,
        behind: Vec::new(),
        schemas: Vec::new(),
        against: None,
        memory: None,
    }
}

fn run(corpus: &Corpus, request: &Request<'_>) -> Evaluation {
    let stop = AtomicBool::new(false);
    evaluate(corpus, request, &mut Watch { progress: &mut Silent, stop: &stop }).unwrap()
}

/// Carts that share keys and words, each different.
fn carts(count: usize) -> Corpus {
    let cart = |index: usize| {
        let item = |line: usize| {
            format!(
                r#"{{"sku":"SKU-{:05}","title":"cup no. {}","price":{}.{:02},"quantity":{}}}"#,
                index * 7919 % 99_991 + line,
                line * index % 17,
                index % 90,
                line * 37 % 100,
                1 + line % 3,
            )
        };
        let items: Vec<String> = (0..2 + index % 9).map(item).collect();
        format!(r#"{{"cart":{index},"items":[{}]}}"#, items.join(",")).into_bytes()
    };
    Corpus::from_payloads("carts", (0..count).map(cart))
}

fn find<'a>(evaluation: &'a Evaluation, name: &str) -> &'a Trial {
    evaluation.trials.iter().find(|trial| trial.name == name).unwrap_or_else(|| panic!("{name}"))
}

fn only(encodings: &str, codecs: &str) -> Wanted {
    Wanted {
        encodings: Some(parse_encodings(encodings).unwrap()),
        codecs: Some(CodecChoice::parse_list(codecs).unwrap()),
        ..Wanted::default()
    }
}

#[test]
fn the_same_seed_sizes_the_same_trials_to_the_same_bytes() {
    let corpus = carts(150);
    let sizes = |evaluation: &Evaluation| {
        let mut sizes: Vec<_> = evaluation
            .trials
            .iter()
            .filter(|trial| trial.stage == "whole")
            .map(|trial| (trial.name.clone(), trial.bytes_out, trial.packed_bytes))
            .collect();
        sizes.sort();
        sizes
    };
    let smallest = Request { goal: goal_named("smallest").unwrap(), ..request() };
    let (first, second) = (run(&corpus, &smallest), run(&corpus, &smallest));
    let always = ["json+zlib:6", "verbatim+gzip:6", "verbatim+stored", "verbatim+zstd:3"];
    for name in always {
        let mine = |e: &Evaluation| find(e, name).packed_bytes;
        assert_eq!(mine(&first), mine(&second));
        assert_eq!(find(&first, name).payloads, 150);
    }
    assert_eq!(first.recommended.name, second.recommended.name);
    assert!(!sizes(&first).is_empty());
}

#[test]
fn smallest_is_the_smallest_of_an_exhaustive_run() {
    let corpus = carts(60);
    let smallest = Request { goal: goal_named("smallest").unwrap(), ..request() };
    let all = Request {
        goal: goal_named("smallest").unwrap(),
        wanted: Wanted { all: true, ..only("all", "snappy,lz4:9,zlib:6,zstd:1-19,brotli:1-9") },
        ..request()
    };
    let narrow =
        Request { wanted: only("all", "snappy,lz4:9,zlib:6,zstd:1-19,brotli:1-9"), ..smallest };
    let exhaustive = run(&corpus, &all);
    // Trials that were sized on fewer payloads than others can't be compared by their bytes.
    let whole = exhaustive.trials.iter().filter(|trial| trial.stage == "whole");
    let least = whole.map(|trial| trial.packed_bytes).min().unwrap();
    let chosen = run(&corpus, &narrow);
    let chosen = find(&chosen, &chosen.recommended.name);
    assert_eq!(chosen.stage, "whole");
    assert!(chosen.packed_bytes as f64 <= least as f64 * 1.01, "{} of {least}", chosen.name);
}

#[test]
fn every_figure_of_a_trial_is_there_and_finite() {
    let evaluation = run(&carts(40), &request());
    for trial in &evaluation.trials {
        for times in [trial.compress_ns, trial.decompress_ns, trial.pack_ns, trial.unpack_ns] {
            assert!(times.p50 <= times.p95 && times.p95 <= times.p99, "{}", trial.name);
        }
        assert!(trial.ratio > 0.5 && trial.packed_bytes > 0, "{}", trial.name);
        assert!(trial.p99_is_max, "{}", trial.name);
        assert_eq!(trial.failures, 0, "{:?}", trial.failure);
        // The levels of a codec share the tables and the code that a first call pays for.
        let is_family = |other: &&Trial| {
            other.codec == trial.codec && other.dictionary.is_some() == trial.dictionary.is_some()
        };
        let calls = evaluation.trials.iter().filter(is_family).map(|other| other.first_call_ns);
        let is_called = calls.into_iter().any(|first_call_ns| first_call_ns > 0.0);
        assert!(trial.stage == "sizes" || is_called, "{}", trial.name);
    }
    let baseline = find(&evaluation, "json+zlib:6");
    assert_eq!((baseline.size_factor, baseline.speed_factor), (1.0, 1.0));
}

#[test]
fn what_never_shrinks_had_better_stay_plain() {
    let mut state = 7u64;
    let noise = (0..30).map(|_| {
        (0..400)
            .map(|_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                (state >> 56) as u8
            })
            .collect()
    });
    let evaluation = run(&Corpus::from_payloads("noise", noise), &request());
    assert_eq!(evaluation.recommended.name, "verbatim+stored");
    assert!(evaluation.recommended.reasons[0].starts_with("Nothing pays"));
    assert!(evaluation.trials.iter().all(|trial| trial.encoding == "verbatim"));
}

#[test]
fn an_encoding_that_refuses_many_payloads_is_out_and_says_why() {
    let corpus = Corpus::from_payloads(
        "arrays",
        (0..40).map(|i| format!("[{i},{},1e400]", "\"text\",".repeat(20) + "1").into_bytes()),
    );
    let wanted = only("all", "zlib:6,zstd:3");
    let evaluation = run(&corpus, &Request { wanted, ..request() });
    for (encoding, why) in [("bson", "not an object"), ("msgpack", "1e400")] {
        let trial = find(&evaluation, &format!("{encoding}+zlib:6"));
        let rule = trial.eliminated_by.as_deref().unwrap();
        // A schema is inferred from three fifths, which then report on nothing.
        assert!(rule.starts_with("refused: 8 of 8 payloads") && rule.contains(why), "{rule}");
    }
    let cbor = find(&evaluation, "cbor+zlib:6");
    assert_eq!((cbor.refused, cbor.failures), (0, 0));
}

#[test]
fn a_budget_that_nothing_keeps_leaves_nothing() {
    let budgets = vec![Budget::parse("pack_mean=0.0001ns").unwrap()];
    let evaluation = run(&carts(20), &Request { budgets, ..request() });
    let timed: Vec<_> = evaluation.trials.iter().filter(|t| t.stage != "sizes").collect();
    assert!(!timed.is_empty());
    for trial in timed {
        let rule = trial.eliminated_by.as_deref().unwrap_or_default();
        assert!(rule.starts_with("budget pack_mean=0.0001ns"), "{}: {rule}", trial.name);
    }
    assert_eq!(evaluation.recommended.name, "verbatim+stored");
}

#[test]
fn a_run_that_is_stopped_at_once_still_answers() {
    let stop = AtomicBool::new(true);
    let mut watch = Watch { progress: &mut Silent, stop: &stop };
    let evaluation = evaluate(&carts(20), &request(), &mut watch).unwrap();
    assert!(evaluation.run.interrupted && evaluation.front.is_empty());
    let rule = evaluation.trials[0].eliminated_by.as_deref().unwrap_or_default();
    assert!(rule.starts_with("interrupted"), "{rule}");
}

#[test]
fn one_payload_is_a_corpus() {
    let evaluation = run(&carts(1), &request());
    assert_eq!((evaluation.corpus.payloads, evaluation.corpus.classes.len()), (1, 1));
}

#[test]
fn no_front_point_is_beaten_in_size_and_time() {
    let evaluation = run(&carts(80), &request());
    let by_size: Vec<_> = evaluation.front.iter().collect();
    assert!(by_size.len() >= 2);
    for pair in by_size.windows(2) {
        assert!(pair[0].packed_ratio >= pair[1].packed_ratio);
        assert!(pair[0].pack_unpack_ns > pair[1].pack_unpack_ns);
    }
}
