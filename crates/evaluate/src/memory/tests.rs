//! Tests of the records: what comes back, what does not, and that nothing in a folder can hurt an
//! evaluation.

use std::sync::Arc;
use std::time::Duration;

use cinch_core::dictionary::Dictionary;
use tempfile::TempDir;

use super::*;
use crate::candidate::Learned;

fn question() -> Question {
    Question {
        corpus_sha256: "00".repeat(32),
        goal: "fastest".to_owned(),
        from: "text".to_owned(),
        seed: u64::MAX,
        time_ms: 60_000,
        split_by: Some("group".to_owned()),
        budgets: vec!["pack_p99=20ms".to_owned()],
        baseline: "json+zlib:6".to_owned(),
        beat_baseline: false,
        encodings: None,
        codecs: Some(vec!["zstd:3".to_owned()]),
        all: false,
        portable: false,
        no_schema: false,
        no_dictionary: false,
        versions: vec![("cinch".to_owned(), "0.1.0".to_owned())],
        processor: "a processor".to_owned(),
    }
}

fn memory() -> (TempDir, Memory) {
    let folder = tempfile::tempdir().unwrap();
    let memory = Memory { folder: folder.path().join("cinch/evaluations"), forgets: false };
    (folder, memory)
}

fn plain() -> Candidate {
    Candidate::parse("verbatim+lz4:-5").unwrap()
}

fn with_dictionary(content: u8) -> Candidate {
    let learned = Learned {
        label: "16K".to_owned(),
        dictionary: Dictionary::new(vec![content; 16 << 10]).unwrap(),
        build_seconds: 0.0,
        sample_payloads: 0,
        sample_bytes: 0,
    };
    Candidate { learned: Some(Arc::new(learned)), ..Candidate::parse("verbatim+zstd:-3").unwrap() }
}

/// The name that is recalled, if any is.
fn name(memory: &Memory, question: &Question) -> Option<String> {
    memory.recall(question).unwrap().map(|recalled| recalled.name)
}

#[test]
fn what_was_recommended_comes_back_for_the_same_question() {
    let (_folder, memory) = memory();
    assert_eq!(name(&memory, &question()), None);
    let before = SystemTime::now() - Duration::from_secs(2);
    memory.keep(&question(), &plain()).unwrap();
    let recalled = memory.recall(&question()).unwrap().unwrap();
    assert_eq!(recalled.candidate([].into_iter()), Some(plain()));
    assert!(recalled.at >= before && recalled.at <= SystemTime::now());
    memory.keep(&question(), &Candidate::parse("verbatim+snappy").unwrap()).unwrap();
    assert_eq!(name(&memory, &question()).as_deref(), Some("verbatim+snappy"));
    assert_eq!(fs::read_dir(&memory.folder).unwrap().count(), 1);
    memory.forget(&question()).unwrap();
    memory.forget(&question()).unwrap();
    assert_eq!(name(&memory, &question()), None);
}

#[test]
fn another_question_has_no_answer() {
    let (_folder, memory) = memory();
    memory.keep(&question(), &plain()).unwrap();
    let changes: [fn(&mut Question); 18] = [
        |q| q.corpus_sha256 = "01".repeat(32),
        |q| q.goal = "cache".to_owned(),
        |q| q.from = "value".to_owned(),
        |q| q.seed = 1,
        |q| q.time_ms = 30_000,
        |q| q.split_by = None,
        |q| q.budgets.clear(),
        |q| q.baseline = "json+gzip:6".to_owned(),
        |q| q.beat_baseline = true,
        |q| q.encodings = Some(vec![]),
        |q| q.codecs = None,
        |q| q.all = true,
        |q| q.portable = true,
        |q| q.no_schema = true,
        |q| q.no_dictionary = true,
        |q| q.versions[0].1 = "0.2.0".to_owned(),
        |q| q.processor = "another processor".to_owned(),
        |q| q.versions.push(("lz4".to_owned(), "1.10".to_owned())),
    ];
    for (place, change) in changes.into_iter().enumerate() {
        let mut other = question();
        change(&mut other);
        assert_eq!(name(&memory, &other), None, "change {place}");
        // Nor under a name that it does not have.
        fs::copy(memory.path(&question()), memory.path(&other)).unwrap();
        let error = memory.recall(&other).unwrap_err();
        assert!(matches!(error, MemoryError::Damaged { .. }), "change {place}: {error}");
    }
}

#[test]
fn a_trial_comes_back_with_its_own_dictionary_only() {
    let (_folder, memory) = memory();
    memory.keep(&question(), &with_dictionary(1)).unwrap();
    let recalled = memory.recall(&question()).unwrap().unwrap();
    assert_eq!(recalled.name, "verbatim+zstd:-3+dict-16K");
    let [same, other] = [1, 2].map(with_dictionary);
    // The dictionary may be known from another level only.
    let elsewhere =
        Candidate { learned: same.learned.clone(), ..Candidate::parse("verbatim+zstd:9").unwrap() };
    assert_eq!(recalled.candidate([&plain(), &other, &elsewhere].into_iter()), Some(same));
    assert_eq!(recalled.candidate([&plain(), &other].into_iter()), None);
}

#[test]
fn what_is_to_be_forgotten_is_not_read_and_is_replaced() {
    let (_folder, memory) = memory();
    memory.keep(&question(), &plain()).unwrap();
    let forgets = Memory { forgets: true, ..memory.clone() };
    assert_eq!(name(&forgets, &question()), None);
    forgets.keep(&question(), &with_dictionary(1)).unwrap();
    assert_eq!(name(&memory, &question()).as_deref(), Some("verbatim+zstd:-3+dict-16K"));
}

#[test]
fn a_damaged_record_is_an_error_and_can_be_replaced() {
    let (_folder, memory) = memory();
    memory.keep(&question(), &plain()).unwrap();
    let path = memory.path(&question());
    let whole = fs::read_to_string(&path).unwrap();
    let texts = [
        String::new(),
        "{}".to_owned(),
        "\u{0}".repeat(1 << 20),
        "[".repeat(10_000),
        whole[..whole.len() / 2].to_owned(),
        whole.replace("lz4:-5", "lz4:999"),
        whole.replace("verbatim+lz4:-5", "verbatim"),
        whole.replace("verbatim+lz4:-5", "verbatim+lz4:-5+dict-16K"),
        whole.replace("verbatim+lz4:-5", "verbatim+lz4:-5+dict-\\u001b[31m"),
        whole.replace("\"format\": 1", "\"format\": 2"),
        whole.replace("T", "\\u001b"),
    ];
    for text in texts {
        assert_ne!(text, whole);
        fs::write(&path, &text).unwrap();
        let error = memory.recall(&question()).unwrap_err();
        assert!(matches!(error, MemoryError::Damaged { .. }), "{text}: {error}");
        memory.keep(&question(), &plain()).unwrap();
        assert_eq!(name(&memory, &question()).as_deref(), Some("verbatim+lz4:-5"));
    }
}

#[test]
fn a_place_that_can_not_hold_records_is_an_error() {
    let (folder, memory) = memory();
    // A folder without permission to write is no hindrance for root, a file in its place is.
    fs::write(folder.path().join("cinch"), "").unwrap();
    assert!(matches!(memory.keep(&question(), &plain()), Err(MemoryError::File { .. })));
    memory.forget(&question()).unwrap();
    fs::remove_file(folder.path().join("cinch")).unwrap();
    fs::create_dir_all(memory.path(&question())).unwrap();
    assert!(matches!(memory.recall(&question()), Err(MemoryError::File { .. })));
    assert!(matches!(memory.keep(&question(), &plain()), Err(MemoryError::File { .. })));
}

#[test]
fn the_oldest_records_go_and_what_is_not_ours_stays() {
    let (_folder, memory) = memory();
    let questions: Vec<Question> = (0..6).map(|seed| Question { seed, ..question() }).collect();
    let now = SystemTime::now();
    let age = |name: &Path, seconds: u64| {
        let file = File::options().write(true).open(name).unwrap();
        file.set_modified(now - Duration::from_secs(seconds)).unwrap();
    };
    for (place, question) in questions.iter().enumerate() {
        memory.keep(question, &plain()).unwrap();
        age(&memory.path(question), 100 - place as u64);
    }
    let [ours, foreign] = [".cinch-half", "notes.json"].map(|name| memory.folder.join(name));
    for path in [&ours, &foreign] {
        fs::write(path, "").unwrap();
        age(path, 1000);
    }
    forget_the_oldest(&memory.folder, 4).unwrap();
    assert!(!ours.exists() && foreign.exists());
    let known = questions.iter().map(|question| name(&memory, question).is_some());
    assert_eq!(known.collect::<Vec<_>>(), [false, false, true, true, true, true]);
}

#[test]
fn the_order_and_the_borders_of_payloads_count() {
    let of = |payloads: &[&str]| {
        let payloads = payloads.iter().map(|payload| payload.as_bytes().to_vec());
        corpus_sha256(&Corpus::from_payloads("a name", payloads))
    };
    assert_eq!(of(&["ab", "c"]), of(&["ab", "c"]));
    assert_ne!(of(&["ab", "c"]), of(&["a", "bc"]));
    assert_ne!(of(&["ab", "c"]), of(&["c", "ab"]));
}
