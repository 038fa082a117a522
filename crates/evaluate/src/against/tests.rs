//! Tests of the comparison: what is noise and what is not, and what follows for the profile. The
//! runs are made by hand, so that each differs in exactly what its test is about.

use super::*;
use crate::model::{HeldOut, Nanoseconds, Paired, SizeClass, Version};

/// A trial that ran over the whole corpus.
fn trial(name: &str, packed_bytes: u64, time_ns: f64) -> Trial {
    Trial {
        name: name.to_owned(),
        stage: "whole".to_owned(),
        bytes_in: 1_000_000,
        packed_bytes,
        timed_payloads: 500,
        pack_ns: Nanoseconds { mean: time_ns, ..Nanoseconds::default() },
        ..Trial::default()
    }
}

/// A run that recommends zstd:3.
fn run() -> Evaluation {
    let mut evaluation = Evaluation {
        format: 1,
        goal: "cache".to_owned(),
        from: "text".to_owned(),
        seed: 1,
        trials: vec![
            trial("verbatim+zstd:3", 200_000, 10_000.0),
            trial("verbatim+lz4:1", 300_000, 4_000.0),
            trial("json+zlib:6", 210_000, 40_000.0),
            trial("verbatim+stored", 1_000_000, 500.0),
        ],
        ..Evaluation::default()
    };
    evaluation.corpus.name = "carts".to_owned();
    evaluation.corpus.payloads = 1_000;
    evaluation.corpus.seen = 1_000;
    evaluation.corpus.json_payloads = 1_000;
    evaluation.corpus.size.p50 = 2_000;
    evaluation.corpus.size.p95 = 9_000;
    evaluation.recommended.name = "verbatim+zstd:3".to_owned();
    evaluation.baseline.name = "json+zlib:6".to_owned();
    evaluation.run.processor = "EPYC".to_owned();
    evaluation
}

fn change_of<'a>(model: &'a AgainstModel, name: &str) -> Option<&'a str> {
    model.trials.iter().find(|trial| trial.name == name).unwrap().change.as_deref()
}

/// A run in which lz4:1 is recommended, zstd:3 being this much worse.
fn overtaken(paired: Option<Paired>) -> Evaluation {
    let mut new = run();
    new.recommended.name = "verbatim+lz4:1".to_owned();
    new.trials[0].paired = paired;
    new
}

#[test]
fn a_run_against_itself_has_nothing_to_say_and_keeps_the_profile() {
    let model = compare(&run(), &run());
    assert!(model.caveats.is_empty(), "{:?}", model.caveats);
    assert!(model.drift.is_empty() && model.versions.is_empty());
    assert_eq!(model.trials.len(), 4);
    assert!(model.trials.iter().all(|trial| trial.change.is_none()));
    assert_eq!(model.decision, "keep");
}

#[test]
fn a_host_half_as_fast_changes_no_trial() {
    let mut slower = run();
    for trial in &mut slower.trials {
        trial.pack_ns.mean *= 2.0;
    }
    // One of them took three times as long: half as much again as the others.
    slower.trials[1].pack_ns.mean *= 1.5;
    let model = compare(&run(), &slower);
    assert_eq!(change_of(&model, "verbatim+zstd:3"), None);
    assert_eq!(change_of(&model, "verbatim+lz4:1"), Some("50 % slower than the other trials say"));
    assert!(model.caveats.iter().any(|c| c.contains("takes 200 % of its time")), "{model:?}");
    // Where rounds lay further apart than that, it is noise.
    slower.trials[1].round_spread = 0.6;
    assert_eq!(change_of(&compare(&run(), &slower), "verbatim+lz4:1"), None);
}

#[test]
fn the_single_pass_of_the_first_stage_is_no_time_to_compare() {
    let mut new = run();
    new.trials[1].pack_ns.mean *= 1.9;
    assert!(change_of(&compare(&run(), &new), "verbatim+lz4:1").is_some());
    new.trials[1].stage = "sizes".to_owned();
    let model = compare(&run(), &new);
    assert_eq!(change_of(&model, "verbatim+lz4:1"), None);
    assert_eq!(model.trials[1].time_now_ns, 0.0);
}

#[test]
fn two_trials_do_not_tell_the_host_from_themselves() {
    let (mut old, mut new) = (run(), run());
    old.trials.truncate(2);
    new.trials[0].pack_ns.mean *= 3.0;
    let model = compare(&old, &new);
    assert_eq!(change_of(&model, "verbatim+zstd:3"), None);
    assert!(model.caveats.iter().any(|caveat| caveat.starts_with("Too few trials")));
}

#[test]
fn sizes_change_by_their_intervals_and_without_them_by_a_bound() {
    let mut new = run();
    new.trials[0].packed_bytes = 201_900;
    new.trials[1].packed_bytes = 303_100;
    let model = compare(&run(), &new);
    assert_eq!(change_of(&model, "verbatim+zstd:3"), None);
    assert_eq!(change_of(&model, "verbatim+lz4:1"), Some("1.0 % larger"));
    // A sample of other payloads is no measure of a change.
    new.trials[1].stage = "sizes".to_owned();
    assert_eq!(change_of(&compare(&run(), &new), "verbatim+lz4:1"), None);

    let held_out = |share: f64, low: f64, high: f64| {
        Some(HeldOut {
            bytes_in: 1_000,
            packed_share: share,
            packed_share_interval: Interval { low, high },
            ..HeldOut::default()
        })
    };
    let mut old = run();
    old.trials[1].held_out = held_out(0.30, 0.28, 0.32);
    new.trials[1].held_out = held_out(0.33, 0.31, 0.35);
    assert_eq!(change_of(&compare(&old, &new), "verbatim+lz4:1"), None);
    new.trials[1].held_out = held_out(0.36, 0.33, 0.38);
    assert_eq!(change_of(&compare(&old, &new), "verbatim+lz4:1"), Some("20 % larger"));
}

#[test]
fn the_profile_changes_only_where_it_is_beaten_beyond_a_tie() {
    let by = |difference: f64, is_tie: bool| {
        let interval = Interval { low: difference - 0.01, high: difference + 0.01 };
        let paired = Paired {
            score_difference: difference,
            score_interval: interval,
            is_tie,
            ..Paired::default()
        };
        compare(&run(), &overtaken(Some(paired)))
    };
    assert_eq!(by(0.005, true).decision, "keep");
    let beaten = by(0.08, false);
    assert_eq!(beaten.decision, "change");
    assert_eq!(
        beaten.verdict,
        "Change from verbatim+zstd:3 to verbatim+lz4:1: it is 8.0 % better under the goal (95 % \
         confidence: 7.0 % to 9.0 %)."
    );
    assert_eq!(
        (&*beaten.recommended_then, &*beaten.recommended_now),
        ("verbatim+zstd:3", "verbatim+lz4:1")
    );
    // Not compared payload by payload: equal scores are a tie, others are not clear.
    let mut new = overtaken(None);
    assert_eq!(compare(&run(), &new).decision, "unclear");
    (new.trials[0].score, new.trials[1].score) = (Some(5.005), Some(5.0));
    assert_eq!(compare(&run(), &new).decision, "keep");
    new.trials[0].score = Some(6.0);
    assert_eq!(compare(&run(), &new).decision, "unclear");
}

#[test]
fn what_is_unfit_changes_and_what_cannot_be_compared_is_unclear() {
    let mut new = overtaken(None);
    new.trials[0].eliminated_by = Some("failed: cart 7 did not come back".to_owned());
    let model = compare(&run(), &new);
    assert_eq!(model.decision, "change");
    assert!(model.verdict.contains("cart 7"), "{}", model.verdict);

    let mut new = overtaken(Some(Paired { score_difference: 0.5, ..Paired::default() }));
    new.goal = "smallest".to_owned();
    let model = compare(&run(), &new);
    assert_eq!(model.decision, "unclear");
    assert!(model.caveats[0].starts_with("The goal was cache then and is smallest now"));

    let mut new = overtaken(None);
    new.trials.remove(0);
    let model = compare(&run(), &new);
    assert_eq!(model.decision, "unclear");
    assert!(model.verdict.contains("was not tried"), "{}", model.verdict);
}

#[test]
fn drift_tells_what_moved_and_nothing_else() {
    let mut new = run();
    new.corpus.size.p50 = 2_600;
    new.corpus.size.p95 = 9_100;
    new.corpus.json_payloads = 900;
    new.corpus.duplicates = 10;
    let class = |name: &str, payloads| SizeClass {
        name: name.to_owned(),
        payloads,
        ..SizeClass::default()
    };
    let mut old = run();
    old.corpus.classes = vec![class("up to 1 KiB", 500), class("1 to 4 KiB", 500)];
    new.corpus.classes = vec![class("up to 1 KiB", 510), class("1 to 4 KiB", 390)];
    assert_eq!(
        compare(&old, &new).drift,
        [
            "The median payload has 2.60 KB; it was 2.00 KB then (+30 %).",
            "Payloads that are JSON: 90 %; it was 100 % then.",
            "Payloads of 1 to 4 KiB: 39 %; it was 50 % then.",
        ]
    );
}

#[test]
fn hosts_versions_and_noise_are_told() {
    let (mut old, mut new) = (run(), run());
    let version =
        |name: &str, version: &str| Version { name: name.to_owned(), version: version.to_owned() };
    old.versions = vec![version("zstd", "1.5.6"), version("gone", "1")];
    new.versions = vec![version("zstd", "1.5.7"), version("lz4", "1.10.0")];
    new.run.processor = "Xeon".to_owned();
    new.run.noise.is_noisy = true;
    old.run.notices = vec!["The machine was busy: rounds lay 40 % apart.".to_owned()];
    old.corpus.seen = 10_000;
    let model = compare(&old, &new);
    let triple = |a: &str, b: &str, c: &str| (a.to_owned(), b.to_owned(), c.to_owned());
    assert_eq!(
        model.versions,
        [
            triple("gone", "1", "none"),
            triple("lz4", "none", "1.10.0"),
            triple("zstd", "1.5.6", "1.5.7"),
        ]
    );
    assert_eq!(
        model.caveats,
        [
            "The sample was 10 % of the payloads then and is all payloads now: the sizes are of \
             other choices.",
            "The host differs: processor EPYC then, Xeon now.",
            "The machine was busy then. Sizes are exact, times are not.",
            "The machine was busy now. Sizes are exact, times are not.",
        ]
    );
}

#[test]
fn older_files_are_read_and_others_are_refused_clearly() {
    let text = serde_json::to_string(&run()).unwrap();
    assert_eq!(read(&text).unwrap().recommended.name, "verbatim+zstd:3");
    // The first release wrote fewer fields.
    let least = r#"{"format":1,"goal":"cache","trials":[{"name":"a","bytes_in":1}]}"#;
    assert_eq!(read(least).unwrap().trials.len(), 1);
    assert!(read(least).unwrap().link.is_none());
    let newer = read(r#"{"format":2,"trials":{}}"#).unwrap_err().to_string();
    assert!(newer.contains("format 2") && newer.contains("upgrade cinch"), "{newer}");
    for text in ["{}", "[]", "7", r#"{"format":1}"#, r#"{"format":"1","trials":[{}]}"#] {
        assert!(matches!(read(text), Err(AgainstError::NotEvaluation)), "{text}");
    }
    for text in ["", "{", r#"{"format":1,"trials":7}"#] {
        assert!(matches!(read(text), Err(AgainstError::NotRead(_))), "{text}");
    }
}

#[test]
fn empty_runs_are_compared_without_figures_that_are_not_finite() {
    let mut empty = run();
    empty.trials[0].packed_bytes = 0;
    empty.trials[1].bytes_in = 0;
    empty.trials[2].pack_ns.mean = 0.0;
    for (old, new) in [
        (empty.clone(), run()),
        (run(), empty),
        (Evaluation::default(), run()),
        (run(), Evaluation::default()),
    ] {
        let text = serde_json::to_string(&compare(&old, &new)).unwrap();
        assert!(!text.contains("inf ") && !text.contains("NaN"), "{text}");
        // A figure that is not finite is written as null, which is no figure when read.
        let _: AgainstModel = serde_json::from_str(&text).unwrap();
    }
}
