//! Tests of what an earlier run bears on a later one.
//!
//! The goal is `smallest`, whose scores are the same in every run, so that what an earlier run
//! recommended can be made up.

use tempfile::TempDir;

use super::*;
use crate::memory::Question;

/// Levels of which some are tied and some are not.
fn asked(memory: &Memory) -> Request<'static> {
    Request {
        goal: goal_named("smallest").unwrap(),
        wanted: only("verbatim", "zstd:1,zstd:12,zstd:13,zlib:6,stored"),
        split_by: None,
        memory: Some(memory.clone()),
        ..request()
    }
}

fn memory() -> (TempDir, Memory) {
    let folder = tempfile::tempdir().unwrap();
    let memory = Memory { folder: folder.path().to_owned(), forgets: false };
    (folder, memory)
}

/// The question of a request whose baseline is the usual one.
fn question(corpus: &Corpus, request: &Request<'_>) -> Question {
    let baseline = Candidate::parse("json+zlib:6").unwrap();
    let processor = Host::read().processor;
    super::super::recall::question(corpus, request, &request.wanted, &baseline, &processor)
}

fn said(evaluation: &Evaluation) -> &str {
    let told = |reason: &&String| reason.contains("the run of ");
    evaluation.recommended.reasons.iter().find(told).map_or("", String::as_str)
}

#[test]
fn a_tied_trial_stays_and_the_report_says_which_the_run_alone_would_have_named() {
    let (corpus, (_folder, memory)) = (carts(150), memory());
    let request = asked(&memory);
    let first = run(&corpus, &request);
    assert_eq!((said(&first), &first.recommended.remembered), ("", &None));
    let again = run(&corpus, &request);
    assert_eq!(again.recommended.name, first.recommended.name);
    assert!(said(&again).ends_with(": still in the tie."), "{}", said(&again));

    let tied = first.recommended.ties.first().expect("two levels of zstd lie close together");
    memory.keep(&question(&corpus, &request), &Candidate::parse(tied).unwrap()).unwrap();
    let kept = run(&corpus, &request);
    assert_eq!(&kept.recommended.name, tied);
    let remembered = kept.recommended.remembered.as_ref().unwrap();
    assert!(remembered.is_kept && &remembered.name == tied);
    assert_eq!(remembered.anew.as_ref(), Some(&first.recommended.name));
    assert!(said(&kept).contains(&first.recommended.name), "{}", said(&kept));
    assert!(!kept.recommended.reasons[0].contains("then the smallest"));

    let forgets = Memory { forgets: true, ..memory.clone() };
    let forgotten = run(&corpus, &Request { memory: Some(forgets), ..asked(&memory) });
    assert_eq!(forgotten.recommended.name, first.recommended.name);
    assert_eq!(forgotten.recommended.remembered, None);
    assert_eq!(run(&corpus, &request).recommended.name, first.recommended.name);
}

#[test]
fn what_lost_is_dropped_and_the_report_says_by_how_much() {
    let (corpus, (_folder, memory)) = (carts(150), memory());
    let request = asked(&memory);
    let question = question(&corpus, &request);
    let alone = run(&corpus, &Request { memory: None, ..asked(&memory) });
    memory.keep(&question, &Candidate::parse("verbatim+zstd:1").unwrap()).unwrap();
    let changed = run(&corpus, &request);
    assert_eq!(changed.recommended.name, alone.recommended.name);
    let remembered = changed.recommended.remembered.as_ref().unwrap();
    assert!(!remembered.is_kept && remembered.name == "verbatim+zstd:1");
    // By the sizes themselves: the best of the run is the smallest. What wins is sized on a few
    // payloads more.
    let share = |name: &str| {
        let trial = find(&changed, name);
        trial.packed_bytes as f64 / trial.bytes_in as f64
    };
    let best = remembered.best.as_deref().unwrap();
    let behind = share("verbatim+zstd:1") / share(best) - 1.0;
    assert!((remembered.behind.unwrap() - behind).abs() < 0.01, "{remembered:?} {behind}");
    assert!(remembered.behind_interval.unwrap().contains(behind));
    assert!(said(&changed).contains(&format!("behind {best}")), "{}", said(&changed));
    // The new one has taken its place.
    assert!(run(&corpus, &request).recommended.remembered.unwrap().is_kept);

    // What does not pay could not have won, and it is said that this is why.
    memory.keep(&question, &Candidate::parse("verbatim+stored").unwrap()).unwrap();
    let changed = run(&corpus, &request);
    assert_eq!(changed.recommended.name, alone.recommended.name);
    assert!(said(&changed).contains("is out now (it stores "), "{}", said(&changed));
}

#[test]
fn a_memory_that_fails_costs_a_notice() {
    let (corpus, (folder, memory)) = (carts(40), memory());
    let is_noted = |found: &Evaluation| {
        found.run.notices.iter().filter(|notice| notice.contains("remembered")).count()
    };
    let nowhere = Memory { folder: folder.path().join("file/below"), ..memory.clone() };
    std::fs::write(folder.path().join("file"), "").unwrap();
    let found = run(&corpus, &asked(&nowhere));
    assert_eq!(is_noted(&found), 1, "{:?}", found.run.notices);
    let whole = run(&corpus, &asked(&memory));
    assert_eq!((is_noted(&whole), &whole.recommended.name), (0, &found.recommended.name));
}

#[test]
fn a_run_that_was_stopped_is_not_remembered() {
    let (corpus, (folder, memory)) = (carts(20), memory());
    let stop = AtomicBool::new(true);
    let mut watch = Watch { progress: &mut Silent, stop: &stop };
    assert!(evaluate(&corpus, &asked(&memory), &mut watch).unwrap().run.interrupted);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}
